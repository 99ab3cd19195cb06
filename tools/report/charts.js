// Charts of bands and rooflines: Chart.js with logarithmic axes, its legend as check boxes that keys reach,
// and points that arrow keys step through.

const charts = [];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Colours are CSS variables' names in `tint`, so that a change of theme reaches the charts.
function paint(chart) {
  for (const dataset of chart.data.datasets) {
    const solid = colour(dataset.tint);
    dataset.backgroundColor = solid + (dataset.alpha ?? "");
    dataset.borderColor = dataset.showLine ? dataset.backgroundColor : solid;
  }
  for (const scale of Object.values(chart.options.scales)) {
    scale.grid.color = scale.grid.borderColor = colour("line");
    scale.ticks.color = scale.title.color = colour("muted");
  }
  const tooltip = chart.options.plugins.tooltip;
  tooltip.backgroundColor = colour("surface");
  tooltip.borderColor = colour("muted");
  tooltip.titleColor = tooltip.bodyColor = colour("text");
  chart.update("none");
}

function wrapped(text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length >= width)
      lines.push(word);
    else
      lines[last] += (lines[last] ? " " : "") + word;
  }
  return lines;
}

// Characters of a tooltip's line: Chart.js does not break lines, nor keep them within a narrow chart.
function lineLength(chart) {
  return Math.max(24, Math.min(60, Math.floor(chart.width / 9)));
}

function logarithmic(title, least, most, ticks, text) {
  return {
    type: "logarithmic",
    min: least,
    max: most,
    grid: {},
    title: {display: true, text: title},
    ticks: {callback: text, maxRotation: 0, autoSkipPadding: 12},
    afterBuildTicks: axis => {
      axis.ticks = ticks(least, most).map(value => ({value, major: false}));
    }
  };
}

function powersOfTwo(least, most) {
  const step = Math.max(1, Math.round(Math.log2(most / least) / 8));
  const between = most / least < 8 ? [1, 1.25, 1.5, 1.75] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log2(least)); power <= Math.log2(most); power += step)
    ticks.push(...between.map(times => times * 2 ** power).filter(tick => tick >= least && tick <= most));
  return ticks;
}

function oneTwoFive(least, most) {
  const ticks = [];
  const few = most / least > 1e3 ? [1] : most / least > 10 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  for (let decade = 10 ** Math.floor(Math.log10(least)); decade <= most; decade *= 10)
    ticks.push(...few.map(times => times * decade).filter(tick => tick >= least && tick <= most));
  return ticks;
}

function tickText(value) {
  return String(Number(value.toPrecision(3)));
}

// A figure with a chart. Datasets have `name` (of the attribute data-marks-name that says how many of them
// were drawn), `label`, `tint`, and data of {x, y, mark}, where a mark is what the tooltip shows; `plugin`
// draws under them.
function chartFigure(caption, datasets, scales, textOf, plugin = {}) {
  const canvas = element("canvas", {tabIndex: 0, role: "img"});
  canvas.setAttribute(
      "aria-label",
      `${caption}. Arrow keys left and right step through the points, up and down ` +
          "through what is shown.");
  const detail = element("p", {className: "detail screen-only", "aria-live": "polite"});
  const legend = element("div", {className: "controls"});
  const figure = element(
      "figure", {}, legend, element("div", {className: "canvas"}, canvas), element("figcaption", {}, caption),
      detail);
  const chart = new Chart(canvas, {
    type: "scatter",
    data: {datasets},
    plugins: [{id: "under", beforeDatasetsDraw: plugin.draw ?? (() => {})}],
    options: {
      animation: false,
      parsing: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: {mode: "nearest", intersect: true},
      scales,
      plugins: {
        legend: {display: false},
        tooltip: {
          borderWidth: 1,
          displayColors: false,
          filter: (item, i) => i === 0,
          callbacks: {
            title: items => items.length ? wrapped(textOf(items[0].raw)[0], lineLength(items[0].chart)) : "",
            label: item => textOf(item.raw).slice(1).flatMap(line => wrapped(line, lineLength(item.chart)))
          }
        }
      }
    }
  });
  charts.push(chart);
  paint(chart);
  const count = () => {
    datasets.forEach((dataset, i) => {
      figure.dataset[`marks${dataset.name[0].toUpperCase()}${dataset.name.slice(1)}`] =
          chart.getDatasetMeta(i).data.length;
    });
  };
  count();
  addLegend(chart, legend);
  stepByKeys(chart, canvas, datasets, point => {
    detail.textContent = point ? textOf(point).join("; ") : "";
  });
  return {figure, chart, count};
}

function addLegend(chart, legend) {
  chart.data.datasets.forEach((dataset, i) => {
    if (dataset.absent) return;
    const box = element("input", {type: "checkbox", checked: chart.isDatasetVisible(i)});
    const swatch = element("span", {className: dataset.showLine ? "swatch line" : "swatch"});
    swatch.style.background = `var(--${dataset.tint})`;
    box.addEventListener("change", () => {
      chart.setDatasetVisibility(i, box.checked);
      chart.update("none");
    });
    legend.append(element("label", {}, box, swatch, dataset.label));
  });
}

function stepByKeys(chart, canvas, datasets, tell) {
  let dataset = -1, index = 0;
  const show = () => {
    const at = [{datasetIndex: dataset, index}];
    chart.setActiveElements(at);
    chart.tooltip.setActiveElements(at, {x: 0, y: 0});
    chart.update("none");
    tell(datasets[dataset].data[index]);
  };
  const clear = () => {
    chart.setActiveElements([]);
    chart.tooltip.setActiveElements([], {x: 0, y: 0});
    chart.update("none");
    tell(null);
  };
  const reachable = i => chart.isDatasetVisible(i) && datasets[i].data.length > 0;
  const next = step => {
    for (let tried = 0; tried < datasets.length; ++tried) {
      dataset = (dataset + step + datasets.length) % datasets.length;
      if (reachable(dataset)) return true;
    }
    return false;
  };
  canvas.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity}[event.key];
    const other = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (event.key === "Escape") return clear();
    if (step === undefined && other === undefined) return undefined;
    event.preventDefault();
    const fresh = dataset < 0 || !reachable(dataset);
    if ((fresh || other !== undefined) && !next(other ?? 1)) return undefined;
    const last = datasets[dataset].data.length - 1;
    index = fresh || other !== undefined ? Math.min(index, last) : Math.max(0, Math.min(last, index + step));
    return show();
  });
  canvas.addEventListener("blur", clear);
}

function alignmentsOf(group) {
  const found = new Set([...group.bands.map(band => band.alignment), ...group.alignments]);
  return [...found].sort((a, b) => a - b);
}

function pointOf(mark) {
  return {x: mark.problem.working_set, y: gbPerS(mark), mark};
}

// What a pick gets that is aligned so: of the winners that serve it, the one of the widest class.
function winnersFor(group, alignment) {
  return group.problems.map(problem => problem.winners.filter(winner => winner.alignment <= alignment).at(-1))
      .filter(winner => winner)
      .map(pointOf);
}

// The band's configuration at every problem where it was measured.
function servedBy(group, alignment) {
  const points = [];
  for (const problem of group.problems) {
    const band = group.bands.find(
        each => each.alignment === alignment && each.lo <= problem.working_set &&
            (each.hi === null || problem.working_set < each.hi));
    const mark = band && problem.marks.find(each => each.configuration === band.configuration);
    if (mark) points.push(pointOf(mark));
  }
  return points;
}

// Every other band shaded, each numbered as in the table below, and the last-level cache's size.
function bandPlugin(group, chosen) {
  return {
    draw(chart) {
      const {ctx, chartArea: area, scales: {x}} = chart;
      const at = bytes =>
          Math.min(area.right, Math.max(area.left, x.getPixelForValue(Math.max(bytes, x.min))));
      ctx.save();
      ctx.font = "11px system-ui, sans-serif";
      ctx.textBaseline = "top";
      ctx.textAlign = "center";
      let labelled = area.left;
      group.bands.filter(band => band.alignment === chosen.alignment).forEach((band, i) => {
        const left = at(band.lo), right = band.hi === null ? area.right : at(band.hi);
        ctx.fillStyle = colour("stripe");
        if (i % 2 === 0) ctx.fillRect(left, area.top, right - left, area.bottom - area.top);
        ctx.fillStyle = colour("muted");
        const middle = (left + right) / 2;
        if (right - left > 8 && middle - labelled > 9) {
          ctx.fillText(String(i + 1), middle, area.top + 3);
          labelled = middle;
        }
      });
      const cache = group.device.last_level_cache_bytes;
      if (cache > x.min && cache < x.max) {
        ctx.strokeStyle = colour("muted");
        ctx.setLineDash([2, 3]);
        ctx.beginPath();
        ctx.moveTo(at(cache), area.top);
        ctx.lineTo(at(cache), area.bottom);
        ctx.stroke();
        ctx.textAlign = at(cache) > (area.left + area.right) / 2 ? "right" : "left";
        ctx.fillText(` cache ${bytesText(cache)} `, at(cache), area.bottom - 16);
      }
      ctx.restore();
    }
  };
}

// Winners and what the bands serve stay empty here: they are of the alignment that is chosen.
function bandsDatasets(group, least, most) {
  const peak = group.device.peak;
  const dots = {pointRadius: 1.6, pointHoverRadius: 4, pointHitRadius: 3, borderWidth: 0};
  const points = {pointBorderWidth: 1, pointRadius: 2.5, pointHoverRadius: 5, pointHitRadius: 5};
  const line = {showLine: true, borderWidth: 2, data: [], ...points};
  const candidates = race => group.marks.filter(mark => mark.race > 0 === race).map(pointOf);
  const datasets = [
    {...line, name: "winners", label: "winners", tint: "winner", order: 1, absent: group.alignments.length === 0},
    {...line, name: "bands", label: "what the bands serve", tint: "band", alpha: "88", borderWidth: 7, order: 2,
     absent: group.bands.length === 0},
    {...dots, name: "races", label: "candidates, raced", tint: "race", alpha: "99", order: 4, data: candidates(true)},
    {...dots, name: "looks", label: "candidates, first look", tint: "look", alpha: "66", order: 5,
     data: candidates(false)}
  ];
  for (const dataset of datasets.slice(2)) dataset.absent = dataset.data.length === 0;
  if (peak) {
    const label = `memory's peak, ${peak.text}`;
    const data = [least, most].map(x => ({x, y: peak.gb_per_s, text: [label]}));
    datasets.push({...line, name: "peak", label, tint: "peak", pointRadius: 0, borderWidth: 1.5, order: 3, data});
  }
  return datasets;
}

function noBandsText(group) {
  if (group.device.backend === "external") return "No bands: these measurements are another tuner's.";
  if (group.problems[0].shape.includes(" ")) return "No bands: those are of families with one dimension.";
  return `No bands: \`hone tune ${group.family.name} --sweep 1MiB:1GiB\` finds them.`;
}

function bandsFigure(group) {
  const alignments = alignmentsOf(group);
  const chosen = {alignment: alignments.at(-1) ?? 1};
  const least = group.problems[0].working_set / 1.2, most = group.problems.at(-1).working_set * 1.2;
  let lowest = Infinity, highest = group.device.peak ? group.device.peak.gb_per_s : 0;
  for (const mark of group.marks) {
    lowest = Math.min(lowest, gbPerS(mark));
    highest = Math.max(highest, gbPerS(mark));
  }
  const datasets = bandsDatasets(group, least, most);
  const scales = {
    x: logarithmic("working set", least, most, powersOfTwo, bytesText),
    y: logarithmic("GB/s", lowest / 1.1, highest * 1.2, oneTwoFive, tickText)
  };
  const textOf = point =>
      point.text ?? [configurationText(group.family, point.mark.configuration), ...markLines(point.mark)];
  const fill = () => {
    datasets[0].data = winnersFor(group, chosen.alignment);
    datasets[1].data = servedBy(group, chosen.alignment);
  };
  fill();
  const {figure, chart, count} = chartFigure(
      `Throughput of every candidate over the working set, ${group.type}`, datasets, scales, textOf,
      bandPlugin(group, chosen));
  const below = element("div");
  const update = () => {
    fill();
    chart.update("none");
    count();
    below.replaceChildren(
        group.bands.length > 0 ?
            bandsTable(group, chosen.alignment) :
            element("p", {className: "note"}, noBandsText(group)));
  };
  const aligned = choice(
      "pointers aligned to",
      (alignments.length ? alignments : [1]).map(each => [String(each), plural(each, "byte", "bytes")]),
      String(chosen.alignment), () => {
        chosen.alignment = Number(aligned.select.value);
        update();
      });
  figure.prepend(element("p", {className: "controls"}, aligned.label));
  figure.classList.add("bands");
  update();
  return element("div", {}, figure, below);
}

// The winner of each problem (the fastest, where it has none) by operations a byte, under what the memory can
// do.
function rooflineFigure(groups) {
  const device = groups[0].device, peak = device.peak;
  const best = problem => problem.winners.at(-1) ?? alike([problem.marks]).each[0];
  const styles = ["circle", "triangle", "rect", "rectRot", "cross", "star"];
  const datasets =
      groups
          .map((group, i) => ({
                 name: `series${i}`,
                 label: [group.type, group.layout, group.regime].filter(text => text).join(" "),
                 tint: `series-${i % 6}`,
                 alpha: "40",
                 pointStyle: styles[i % 6],
                 pointRadius: 4,
                 pointHoverRadius: 6,
                 borderWidth: 1,
                 order: 1,
                 data: group.problems.filter(problem => problem.work > 0).map(problem => {
                   const mark = best(problem);
                   return {x: problem.work / problem.working_set, y: problem.work / mark.median, mark, group};
                 })
               }))
          .filter(dataset => dataset.data.length > 0);
  if (datasets.length === 0)
    return element("p", {className: "note"}, "No roofline: the family's manifest counts no operations.");
  const points = datasets.flatMap(dataset => dataset.data);
  const xs = points.map(point => point.x), ys = points.map(point => point.y);
  const left = Math.min(...xs) / 4, right = Math.max(...xs) * 4;
  if (peak) {
    datasets.push({
      name: "ceiling",
      label: `memory, ${peak.text}`,
      tint: "peak",
      showLine: true,
      borderWidth: 2,
      pointRadius: 0,
      order: 2,
      data: [left, right].map(x => ({x, y: x * peak.gb_per_s, text: [`memory: ${peak.text}`]}))
    });
    ys.push(left * peak.gb_per_s, right * peak.gb_per_s);
  }
  const highest = Math.max(...ys), beyond = [];
  for (const [type, most] of Object.entries(device.work_peaks)) {
    if (!groups.some(group => group.type === type)) continue;
    const label = `operations on ${type}, ${numberText(most)} Gop/s given`;
    if (most > 30 * highest) {  // in the chart it would leave no room for the points
      beyond.push(label);
      continue;
    }
    datasets.push({
      name: `work${type}`,
      label,
      tint: "peak",
      showLine: true,
      borderDash: [6, 4],
      borderWidth: 2,
      pointRadius: 0,
      order: 2,
      data: [left, right].map(x => ({x, y: most, text: [label]}))
    });
    ys.push(most);
  }
  const scales = {
    x: logarithmic("operations a byte", left, right, oneTwoFive, tickText),
    y: logarithmic("Gop/s", Math.min(...ys) / 1.5, Math.max(...ys) * 1.5, oneTwoFive, tickText)
  };
  const textOf = point => point.text ?? [
    configurationText(point.group.family, point.mark.configuration),
    `${point.group.type}, ${numberText(point.y)} Gop/s`,
    ...(peak ? [`${percentText(point.y / (point.x * peak.gb_per_s))} of the memory's ceiling`] : []),
    ...(device.work_peaks[point.group.type] ?
            [`${percentText(point.y / device.work_peaks[point.group.type])} of the operations' ceiling`] :
            []),
    ...markLines(point.mark)
  ];
  const {figure} = chartFigure(
      "Roofline of the winners, or of the fastest where a problem has none", datasets, scales, textOf);
  figure.classList.add("roofline");
  const without = datasets.filter(dataset => dataset.name.startsWith("series"))
                      .map(dataset => dataset.data[0].group.type)
                      .filter((type, i, types) => types.indexOf(type) === i && !device.work_peaks[type]);
  const note = [
    peak ? "What stays in the cache may pass the memory's ceiling." :
           "The memory's ceiling is not on record: `hone db peak` gives it, and `hone tune copy` over 8 times the " +
            "cache measures it.",
    ...beyond.map(label => `Above the chart: ${label}.`),
    ...(without.length ? [`The ceiling of operations is not on record for ${without.join(", ")}: ` +
                          "`hone db peak --dtype` gives it."] :
                         [])
  ].join(" ");
  return element("div", {}, figure, element("p", {className: "note"}, note));
}
