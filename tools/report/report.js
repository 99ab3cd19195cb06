// The page: a section for each family on each device, the runs, colours and printing.

window.addEventListener("error", event => {
  const line = document.getElementById("error");
  line.hidden = false;
  line.textContent = `This page could not be drawn whole: ${event.message}`;
});

function setTheme(chosen) {
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  charts.forEach(paint);
}

function card(title, ...children) {
  return element("section", {className: "card"}, element("h4", {}, title), ...children);
}

function problemChoice(problems, change) {
  const most = problems.reduce((best, problem) => problem.marks.length >= best.marks.length ? problem : best);
  const made = choice(
      "problem", problems.map((problem, i) => [String(i), problemText(problem)]),
      String(problems.indexOf(most)), change);
  return {label: made.label, chosen: () => problems[Number(made.select.value)]};
}

function ladderCard(group) {
  const problems = group.problems.filter(problem => problem.ladder.size > 0);
  if (group.family.ladder.length === 0)
    return card("Ladder", element("p", {className: "note"}, "The manifest names no points."));
  if (problems.length === 0)
    return card(
        "Ladder", element("p", {className: "note"}, "No race among all configurations is on record."));
  const below = element("div", {className: "ladder"});
  const update = () => below.replaceChildren(ladderTable(group, problem.chosen()));
  const problem = problemChoice(problems, update);
  update();
  return card("Ladder", element("p", {className: "controls"}, problem.label), below);
}

function heatCard(group) {
  const family = group.family;
  const several = family.parameters.map((parameter, i) => ({parameter, i})).filter(({i}) => {
    const first = valueOf(family, group.marks[0].configuration, i);
    return group.marks.some(mark => valueOf(family, mark.configuration, i) !== first);
  });
  if (several.length < 2)
    return card(
        "Heat map",
        element("p", {className: "note"}, "Fewer than two parameters were given several values."));
  const options = several.map(({parameter, i}) => [String(i), parameter.name]);
  const below = element("div"),
        detail = element("p", {className: "detail screen-only", "aria-live": "polite"});
  const samples = element("span");
  const show = mark => {
    detail.textContent = [configurationText(family, mark.configuration), ...markLines(mark)].join("\n");
  };
  const update = () => {
    detail.textContent = "";
    const made = heatTable(group, problem.chosen(), Number(rows.select.value), Number(columns.select.value), show);
    below.replaceChildren(made.table);
    samples.textContent = made.samples;
  };
  const problem = problemChoice(group.problems, update);
  const plain = options.filter(([i]) => i !== "0");
  const [first, second] = plain.length >= 2 ? plain : options;
  const rows = choice("rows", options, first[0], update),
        columns = choice("columns", options, second[0], update);
  update();
  return card(
      "Heat map", element("p", {className: "controls"}, problem.label, rows.label, columns.label),
      element("div", {className: "beside"}, below, detail),
      element(
          "p", {className: "note"},
          "GB/s of the fastest over the other parameters. ", samples, " Outlined: the fastest; bold: it ties. " +
              "A cell that is pointed at or focused shows its configuration and samples."));
}

function groupPart(group) {
  const title = [group.type, group.layout, group.regime].filter(text => text).join(", ");
  return element(
      "section", {className: "group"},
      element("section", {className: "card"}, element("h3", {}, title), bandsFigure(group)),
      ladderCard(group), heatCard(group));
}

function deviceFacts(device) {
  return [
    `${device.backend} ${device.architecture}`.trim(),
    device.compute_units > 0 ? plural(device.compute_units, "compute unit", "compute units") : "",
    device.memory_bytes > 0 ? `${bytesText(device.memory_bytes)} of memory` : "",
    device.last_level_cache_bytes > 0 ? `${bytesText(device.last_level_cache_bytes)} of last-level cache` :
                                        "",
    device.partition
  ].filter(text => text)
      .join(", ");
}

function section(title, ...children) {
  const id = `section-${document.getElementById("sections").childElementCount}`;
  document.getElementById("sections").append(element("li", {}, element("a", {href: `#${id}`}, title)));
  const made = element("section", {id}, element("h2", {}, title));
  document.getElementById("main").append(made);
  return made;
}

function addFamilyOnDevice(family, device) {
  const made = section(`${family.name} on ${device.name}`);
  made.append(
      element("p", {className: "facts"}, family.description),
      element("p", {className: "facts"}, deviceFacts(device)));
  const groups = report.groups.filter(group => group.family === family && group.device === device);
  for (const group of groups) made.append(groupPart(group));
  if (groups.length > 0) made.append(card("Roofline", rooflineFigure(groups)));
  made.append(card("Failures by kind", failuresTable(family, device)));
}

function summary() {
  const lines = [
    `${report.database}, ${report.made}, hone ${report.hone}.`,
    `${plural(report.measurements, "measurement", "measurements")} by ${
        plural(report.runs.length, "run", "runs")}; ` +
        `${plural(report.pairs, "pair", "pairs")} of configuration and problem timed` +
        (report.pruned > 0 ? `, ${report.pruned.toLocaleString("en")} never compiled (pruned)` : "") + ".",
    ...(report.older > 0 ? [`${
                               plural(
                                   report.older, "measurement",
                                   "measurements")} of sources that have changed since left out.`] :
                           []),
    ...(report.without_traffic > 0 ? [`${
                                         plural(
                                             report.without_traffic, "measurement",
                                             "measurements")} left out, since nobody told their working sets.`] :
                                     []),
    ...report.unreadable.map(line => `Left out: ${line}.`)
  ];
  document.getElementById("summary").textContent = lines.join(" ");
}

function prepareForPrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open])")];
    for (const details of opened) details.open = true;
    setTheme("light");
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    setTheme(document.getElementById("theme").value);
  });
  document.getElementById("print").addEventListener("click", () => print());
}

setTheme("");
summary();
for (const family of report.families) {
  const shows = device => report.groups.some(group => group.family === family && group.device === device) ||
      report.failures.some(
          kind => report.families[kind.family] === family && report.devices[kind.device] === device);
  for (const device of report.devices)
    if (shows(device)) addFamilyOnDevice(family, device);
}
section("Runs").append(element("div", {className: "card"}, runsTable()));
document.getElementById("theme").addEventListener("change", event => setTheme(event.target.value));
matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", () => setTheme(document.getElementById("theme").value));
prepareForPrint();
document.documentElement.dataset.drawn = "yes";
