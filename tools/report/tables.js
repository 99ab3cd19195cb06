// Elements and tables. Texts only ever become text nodes: what the database holds is not trusted.

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made)
      made[name] = value;
    else
      made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// Columns are {title, number, long}; cells are texts, nodes or {text, part}, where part (0 to 1) is drawn as
// a bar.
function table(caption, columns, rows) {
  const kind = column => column.number ? "number" : column.long ? "long" : "";
  const head = columns.map(column => element("th", {scope: "col", className: kind(column)}, column.title));
  const body = rows.map(cells => element("tr", {}, ...cells.map((cell, i) => {
                          const made = element("td", {className: kind(columns[i])});
                          if (typeof cell === "object" && !(cell instanceof Node)) {
                            made.classList.add("bar");
                            made.style.setProperty("--part", `${100 * Math.min(1, cell.part)}%`);
                            made.append(cell.text);
                          } else {
                            made.append(cell ?? "");
                          }
                          return made;
                        })));
  return scrolling(
      caption,
      element(
          "table", {"aria-label": caption}, element("thead", {}, element("tr", {}, ...head)),
          element("tbody", {}, ...body)));
}

// A wide table scrolls by itself, by keys too.
function scrolling(name, content) {
  return element("div", {className: "scroll", tabIndex: 0, role: "region", "aria-label": name}, content);
}

function choice(label, options, chosen, change) {
  const select = element(
      "select", {},
      ...options.map(([value, text]) => element("option", {value, selected: value === chosen}, text)));
  select.addEventListener("change", change);
  return {select, label: element("label", {}, label, select)};
}

function pairs(object) {
  return element(
      "dl", {className: "pairs"},
      ...Object.entries(object).flatMap(
          ([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}

function bandsTable(group, alignment) {
  const bands = group.bands.filter(band => band.alignment === alignment);
  const rows = bands.map(
      (band, i) =>
          [String(i + 1), bytesText(band.lo), band.hi === null ? "no end" : bytesText(band.hi),
           element("code", {}, configurationText(group.family, band.configuration)), percentText(band.regret),
           String(band.points), band.extrapolated]);
  return table(
      `Bands for pointers aligned to ${alignment}`,
      [
        {title: "band", number: true}, {title: "from", number: true}, {title: "to", number: true},
        {title: "configuration", long: true}, {title: "regret", number: true},
        {title: "points", number: true}, {title: "extrapolated"}
      ],
      rows);
}

function ladderTable(group, problem) {
  const peak = group.device.peak;
  const best = fastest([...problem.ladder.values()]);
  let baseline = null, previous = null;
  const rows = group.family.ladder.map((name, i) => {
    const mark = problem.ladder.get(i);
    if (!mark) return [name, "", "", ...(peak ? [""] : []), "", "", "not in this race"];
    baseline ??= mark;
    const row = [
      name, timeText(mark.median), {text: numberText(gbPerS(mark)), part: best.median / mark.median},
      ...(peak ? [percentText(gbPerS(mark) / peak.gb_per_s)] : []),
      (baseline.median / mark.median).toFixed(2), previous ? (previous.median / mark.median).toFixed(2) : "",
      element(
          "code", {title: markText(group.family, mark)}, configurationText(group.family, mark.configuration))
    ];
    previous = mark;
    return row;
  });
  return table(
      `Ladder of ${problemText(problem)}`,
      [
        {title: "point", long: true}, {title: "median", number: true}, {title: "GB/s", number: true},
        ...(peak ? [{title: "of peak", number: true}] : []), {title: "× first", number: true},
        {title: "× before", number: true}, {title: "configuration", long: true}
      ],
      rows);
}

// The places of a parameter's values that the problem has marks of: numbers by size, texts as in the manifest.
function valuesSeen(family, problem, parameter) {
  const {values} = family.parameters[parameter];
  const has = new Set(problem.marks.map(mark => valueOf(family, mark.configuration, parameter)));
  const seen = values.map((value, at) => ({value, at})).filter(({at}) => has.has(at));
  return seen.every(({value}) => typeof value === "number") ? seen.sort((a, b) => a.value - b.value) : seen;
}

// Two parameters against each other: in each cell the fastest of what was measured with both values, taken alike;
// what was not is in parentheses. One cell takes the focus, arrow keys move it; `show` is told of the mark that
// is pointed at or focused. With the table, a line that says what the figures are.
function heatTable(group, problem, rows, columns, show) {
  const family = group.family;
  const cells = new Map();
  for (const mark of problem.marks) {
    const places = [rows, columns].map(parameter => valueOf(family, mark.configuration, parameter));
    if (places.some(place => place < 0)) continue;
    const key = places.join();
    cells.set(key, [...cells.get(key) ?? [], mark]);
  }
  const compared = alike([...cells.values()]);
  const chosen = new Map([...cells.keys()].map((key, i) => [key, compared.each[i]]));
  const shown = compared.each.filter(mark => mark);
  const best = fastest(shown);
  const figures = shown.map(gbPerS);
  const least = Math.min(...figures), range = Math.max(...figures) - least;
  const part = mark => 8 + 52 * (range > 0 ? (gbPerS(mark) - least) / range : 1);
  let apart = false;
  const grid = [];
  const body = valuesSeen(family, problem, rows).map(row => {
    const line = valuesSeen(family, problem, columns).map(column => {
      const key = `${row.at},${column.at}`;
      if (!cells.has(key))
        return element("td", {className: "none", tabIndex: -1, "aria-label": "not measured"}, "–");
      const mark = chosen.get(key) ?? fastest(cells.get(key)), comparable = chosen.get(key) !== null;
      const figure = numberText(gbPerS(mark));
      const cell = element(
          "td", {tabIndex: -1, title: markText(family, mark)}, comparable ? figure : `(${figure})`);
      if (comparable) {
        cell.style.setProperty("--part", `${part(mark)}%`);
        cell.className = mark === best ? "best" : ties(best, mark) ? "tied" : "";
      }
      apart ||= !comparable;
      for (const event of ["focus", "pointerenter"]) cell.addEventListener(event, () => show(mark));
      return cell;
    });
    grid.push(line);
    return element("tr", {}, element("th", {scope: "row"}, String(row.value)), ...line);
  });
  const [rowName, columnName] = [family.parameters[rows].name, family.parameters[columns].name];
  const head = element(
      "tr", {}, element("th", {scope: "col"}, `${rowName} \\ ${columnName}`),
      ...valuesSeen(family, problem, columns).map(
          column => element("th", {scope: "col", className: "number"}, String(column.value))));
  const made = element(
      "table", {className: "heat", "aria-label": `GB/s by ${rowName} and ${columnName}`},
      element("thead", {}, head), element("tbody", {}, ...body));
  moveByKeys(made, grid);
  const runs = new Set(shown.map(mark => mark.run)).size;
  const samples = (compared.race > 0 ? "All of one race" : `First looks, by ${plural(runs, "run", "runs")}`) +
      (apart ? "; in parentheses what was taken otherwise and cannot be compared." : ".");
  return {table: scrolling("Heat map", made), samples};
}

// One tab stop for the whole grid.
function moveByKeys(made, grid) {
  if (grid.length === 0 || grid[0].length === 0) return;
  let row = 0, column = 0;
  grid[0][0].tabIndex = 0;
  const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  const go = (toRow, toColumn) => {
    if (!grid[toRow]?.[toColumn]) return;
    grid[row][column].tabIndex = -1;
    [row, column] = [toRow, toColumn];
    grid[row][column].tabIndex = 0;
    grid[row][column].focus();
  };
  made.addEventListener("keydown", event => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    go(row + move[0], column + move[1]);
  });
}

function failuresTable(family, device) {
  const kinds = report.failures.filter(
      kind => report.families[kind.family] === family && report.devices[kind.device] === device);
  if (kinds.length === 0) return element("p", {className: "note"}, "No configuration failed.");
  const shown = kinds.slice(0, 100);
  const most = kinds[0].count;
  const made = table(
      "Failures by kind",
      [
        {title: "outcome"}, {title: "count", number: true}, {title: "reason", long: true},
        {title: "for example", long: true}
      ],
      shown.map(
          kind =>
              [kind.outcome, {text: kind.count.toLocaleString("en"), part: kind.count / most}, kind.reason,
               element("code", {}, kind.example)]));
  if (shown.length === kinds.length) return made;
  return element(
      "div", {}, made,
      element(
          "p", {className: "note"},
          `${
              plural(
                  kinds.length - shown.length, "kind", "kinds")} more; \`hone query failures\` shows all.`));
}

function runsTable() {
  return table(
      "Runs",
      [
        {title: "run", number: true}, {title: "started"}, {title: "ended"},
        {title: "measurements", number: true}, {title: "device"}, {title: "command", long: true}
      ],
      report.runs.map(
          (run, i) =>
              [String(i + 1), run.started, run.ended, run.measurements.toLocaleString("en"),
               report.devices[run.device].name,
               element(
                   "div", {}, element("code", {}, run.command),
                   element("details", {}, element("summary", {}, "environment and settings"), pairs({
                             ...run.environment,
                             ...run.settings,
                             seed: run.seed,
                             hone: run.hone,
                             id: run.run
                           })))]));
}
