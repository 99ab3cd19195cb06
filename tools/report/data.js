// The data of the page, unpacked, and its figures as people read them.

const report = JSON.parse(document.getElementById("data").textContent);

// What packed() of tools/report_page.hpp wrote.
function unpack(text) {
  const bytes = atob(text);
  const numbers = [];
  let number = 0, scale = 1;
  for (let i = 0; i < bytes.length; ++i) {
    const byte = bytes.charCodeAt(i);
    number += (byte & 0x7f) * scale;  // no shift: numbers pass 32 bits
    scale *= 128;
    if (byte < 0x80) {
      numbers.push(number % 2 ? -(number + 1) / 2 : number / 2);
      number = 0;
      scale = 1;
    }
  }
  return numbers;
}

const unitsANanosecond = 100;
const partsOfMedian = 10000;

// Timings of configurations, in nanoseconds.
function unpackMarks(columns) {
  const [configuration, run, race, n, median, minimum, q1, q3] = [
    "configuration", "run", "race", "n", "median", "minimum", "q1", "q3"
  ].map(name => unpack(columns[name]));
  let before = 0;
  return median.map((units, i) => {
    const ns = units / unitsANanosecond;
    before += configuration[i];
    return {
      configuration: before,
      run: run[i],
      race: race[i],  // from 1 for the problem's newest on; 0: a first look
      n: n[i],
      median: ns,
      minimum: ns * (1 - minimum[i] / partsOfMedian),
      q1: ns * (1 - q1[i] / partsOfMedian),
      q3: ns * (1 + q3[i] / partsOfMedian)
    };
  });
}

for (const family of report.families) family.configurations = family.configurations.map(unpack);

// Marks, winners and points of the ladder go to the problems that they are of.
for (const group of report.groups) {
  group.family = report.families[group.family];
  group.device = report.devices[group.device];
  const marks = unpackMarks(group.marks), winners = unpackMarks(group.winners),
        ladder = unpackMarks(group.ladder);
  group.marks = marks;
  let mark = 0, winner = 0, point = 0;
  for (const problem of group.problems) {
    problem.marks = marks.slice(mark, mark += problem.marks);
    for (const each of problem.marks) each.problem = problem;
    const first = winner;
    problem.winners = winners.slice(winner, winner += problem.winners);
    problem.winners.forEach(
        (each, i) => Object.assign(
            each, {problem, alignment: group.alignments[first + i], tied: group.tied[first + i]}));
    problem.ladder = new Map(problem.ladder.map(place => [place, Object.assign(ladder[point++], {problem})]));
  }
}

// The place of a configuration's value of a parameter, or -1.
function valueOf(family, configuration, parameter) {
  return family.configurations[parameter][configuration] - 1;
}

function configurationText(family, configuration) {
  const words = [];
  family.parameters.forEach((parameter, i) => {
    const at = valueOf(family, configuration, i);
    if (at >= 0) words.push(i === 0 ? parameter.values[at] : `${parameter.name}=${parameter.values[at]}`);
  });
  return words.join(" ");
}

function gbPerS(mark) {
  return mark.problem.working_set / mark.median;
}

// As db::ties(): within 2 %, or the combined noise of both medians where that is more.
function ties(faster, slower) {
  const noise = mark => (mark.q3 - mark.q1) / 2 / mark.median;
  return slower.median <= faster.median * (1 + Math.max(0.02, Math.hypot(noise(faster), noise(slower))));
}

function fastest(marks) {
  return marks.reduce((best, mark) => best === null || mark.median < best.median ? mark : best, null);
}

// The fastest of each group of a problem's marks, taken alike, as AlikeFigures of tools/alike.hpp: in the newest
// race that every group's fastest at first look came through, else at first looks.
function alike(groups) {
  const of = race => {
    const marks = groups.map(group => group.filter(mark => mark.race === race));
    const each = marks.map(fastest);
    return {race, each, covered: each.filter(mark => mark).length,
            has: new Set(marks.flat().map(mark => mark.configuration))};
  };
  const looks = of(0);
  const decides = race => looks.each.every((look, i) => !look || race.each[i] && race.has.has(look.configuration));
  const races = [...new Set(groups.flat().map(mark => mark.race))].filter(race => race > 0).sort((a, b) => a - b);
  let best = looks, decided = false;
  for (const race of races.map(of)) {
    const now = decides(race);
    if (now === decided ? race.covered > best.covered : now && race.covered > 0) {
      best = race;
      decided = now;
    }
  }
  return best;
}

function plural(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function numberText(number) {
  return number >= 999.5 ? Math.round(number).toString() : number.toPrecision(number >= 100 ? 4 : 3);
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${Number(bytes.toPrecision(4))} ${units[unit]}`;
}

function timeText(ns) {
  const [scale, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "µs"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  return `${(ns / scale).toPrecision(4)} ${unit}`;
}

function percentText(part) {
  return `${(100 * part).toFixed(1)} %`;
}

function problemText(problem) {
  return `${problem.shape}, ${bytesText(problem.working_set)} of traffic`;
}

// What a mark is, line by line: its problem, its figure, its samples and where they are from.
function markLines(mark) {
  return [
    problemText(mark.problem), `${numberText(gbPerS(mark))} GB/s, median ${timeText(mark.median)}`,
    `n ${mark.n}, quartiles ${timeText(mark.q1)} to ${timeText(mark.q3)}, minimum ${timeText(mark.minimum)}`,
    `${mark.race > 0 ? "race" : "first look"} of run ${mark.run + 1}`,
    ...(mark.alignment ? [`winner for pointers aligned to ${mark.alignment}, others that tie: ${mark.tied}`] :
                         [])
  ];
}

function markText(family, mark) {
  return [configurationText(family, mark.configuration), ...markLines(mark)].join("; ");
}
