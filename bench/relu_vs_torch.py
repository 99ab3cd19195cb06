#!/usr/bin/env python3
"""hone's relu beside PyTorch's, torch.clamp(x, min=0, out=y), on the GPU of this machine.

    python3 bench/relu_vs_torch.py --lib build/release/lib/libhone.so --db hone.db --out DIR

hone is used as an application does: libhone.so opens the database read-only, picks for each size and
launches on PyTorch's stream. Both compute from one x into one y, random bits of which every value is
compared. Launches are captured into CUDA graphs and timed by device events, the two in turn in random
order; figures are medians. MB is 2^20 bytes and GB/s 10^9 bytes a second, of bytes read and written.
Writes relu_vs_torch.csv, .md and .svg. Exit code 0: every target met; 1: some not, or a wrong value; 2:
usage; 3: PyTorch, GPU, library or database is missing.
"""
import argparse
import csv
import pathlib
import random
import statistics
import sys
from dataclasses import dataclass

from hone_library import HoneError
from line_plots import line_plots, size_name
from torch_bench import (ROUNDS, about, captured, exit_code_of, launches_of, markdown_table, parser_of,
                         print_cells, print_verdicts, timed, torch)

MB = 1 << 20
TORCH_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "i8": "int8"}
ELEMENT_SIZES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1}
SIZES = [1, 4, 8, 16, 32, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
MORE_SIZES = {"f32": [2 * 4 * 4096 * 393216 // MB]}

HALF = {1: 1.25, 4: 1.22, 8: 1.25, 16: 1.17, 32: 1.18, 48: 1.3}
TARGETS = {
    "f16": HALF,
    "bf16": HALF,
    "f32": {1: 1.10, 4: 1.10, 8: 1.10, 16: 1.10, 32: 1.10, 48: 1.3},
    "i8": {1: 1.28, 4: 1.5, 8: 1.8, 16: 1.95, 32: 2.1},
}
TARGETS_FROM_64 = {"f16": 1.03, "bf16": 1.0, "f32": 1.0, "i8": 1.25}
TIE = 0.02  # what counts as equal where the target is to be no slower

STUDY_DTYPE, STUDY_ELEMENTS, STUDY_ROUNDS = "i8", 16777216, 45
COMPARED_AT_ONCE = 1 << 26  # elements, so that comparing needs little memory


def target_of(dtype, mb):
    """None where none is set."""
    return TARGETS_FROM_64[dtype] if mb >= 64 else TARGETS[dtype].get(mb)


def verdict_of(ratio, target):
    if target is None:
        return "-"
    if ratio >= target:
        return "met"
    return "met (tie)" if target == 1.0 and ratio >= 1 - TIE else "missed"


@dataclass
class Row:
    """One problem: samples in nanoseconds a launch, in the order taken."""
    dtype: str
    elements: int
    rung: str
    configuration: str
    hone: list
    torch: list
    wrong: int  # elements that differ

    @property
    def mb(self):
        return 2 * self.elements * ELEMENT_SIZES[self.dtype] / MB

    def quartiles(self, contender):
        """First, median and third, GB/s."""
        slow = statistics.quantiles(getattr(self, contender), n=4, method="inclusive")
        return [self.mb * MB / ns for ns in reversed(slow)]

    @property
    def ratio(self):
        return statistics.median(self.torch) / statistics.median(self.hone)

    @property
    def target(self):
        return target_of(self.dtype, self.mb)

    @property
    def verdict(self):
        return "WRONG" if self.wrong else verdict_of(self.ratio, self.target)

    def cells(self):
        target = "-" if self.target is None else f"{self.target:.2f}"
        return [self.dtype, size_name(self.mb), f"{self.quartiles('hone')[1]:.0f}",
                f"{self.quartiles('torch')[1]:.0f}", f"{self.ratio:.3f}", target, self.verdict, self.rung,
                self.configuration]


HEADINGS = ["dtype", "traffic", "hone GB/s", "torch GB/s", "ratio", "target", "verdict", "rung",
            "configuration"]
WIDTHS = [5, 8, 9, 10, 6, 6, 9, 8, 0]


class Bench:
    def __init__(self, runtime, largest):
        """`largest`: bytes of the largest x."""
        self.runtime = runtime
        free, _ = torch.cuda.mem_get_info()
        if free < 2 * largest + COMPARED_AT_ONCE * 16:
            raise HoneError(f"{free / MB:.0f} MB of the GPU's memory are free, too few for "
                            f"{2 * largest / MB:.0f} MB of traffic; choose smaller --sizes")
        self.x = torch.empty(largest, dtype=torch.uint8, device="cuda")
        self.y = torch.empty_like(self.x)
        random.seed(1)
        torch.manual_seed(1)
        for part in self.x.split(COMPARED_AT_ONCE):
            part.random_(0, 256)

    def measure(self, dtype, elements, rounds):
        x, y = (self._view(buffer, dtype, elements) for buffer in (self.x, self.y))
        call = self.runtime.prepare("relu", dtype, [elements], [x.data_ptr(), y.data_ptr()])
        launches = {"hone": lambda: call.run(torch.cuda.current_stream().cuda_stream),
                    "torch": lambda: torch.clamp(x, min=0, out=y)}
        count = launches_of(launches["torch"])
        graphs = {name: captured(launch, count) for name, launch in launches.items()}
        samples = {name: [] for name in graphs}
        for _ in range(rounds):
            for name in random.sample(sorted(graphs), len(graphs)):
                samples[name].append(timed(graphs[name]) / count)
        y.view(torch.uint8).fill_(0xA5)  # negative in every type: no value that relu gives
        graphs["hone"].replay()
        return Row(dtype, elements, call.rung, call.configuration, samples["hone"], samples["torch"],
                   differing(x, y))

    @staticmethod
    def _view(buffer, dtype, elements):
        return buffer[: elements * ELEMENT_SIZES[dtype]].view(getattr(torch, TORCH_NAMES[dtype]))


def differing(x, y):
    """Elements of y that are not PyTorch's, by value: hone keeps -0.0 and NaNs' payloads, others may not."""
    count = 0
    for part, got in zip(x.split(COMPARED_AT_ONCE), y.split(COMPARED_AT_ONCE)):
        wanted = torch.clamp(part, min=0)
        same = wanted == got
        if wanted.is_floating_point():
            same |= wanted.isnan() & got.isnan()
        count += int((~same).sum())
    return count


def markdown(rows, study, runtime):
    lines = ["# relu: hone beside torch.clamp(x, min=0, out=y)", "", about(runtime), ""]
    lines += markdown_table(HEADINGS, rows)
    if study:
        lines += ["", "## L2-regime study", "", study_text(study), "",
                  "| | GB/s, first quartile | median | third quartile |", "|---|---|---|---|"]
        lines += [f"| {name} | " + " | ".join(f"{value:.0f}" for value in study.quartiles(name)) + " |"
                  for name in ("hone", "torch")]
    return "\n".join(lines) + "\n"


def study_text(study):
    return (f"{study.dtype}, {study.elements} elements ({size_name(study.mb)} of traffic), the two in turn "
            f"in one clock state, device time only, {len(study.hone)} rounds: {study.ratio:.3f} times "
            f"PyTorch (target {study.target:.2f}: {study.verdict}), by `{study.configuration}` "
            f"({study.rung}).")


def write_csv(path, rows):
    names = [f"{contender}_{part}_gbps" for contender in ("hone", "torch") for part in ("q1", "median", "q3")]
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["dtype", "elements", "traffic_bytes", "rounds", *names, "ratio", "target", "verdict",
                      "differing_elements", "rung", "configuration"])
        for row in rows:
            gbps = [f"{value:.1f}" for name in ("hone", "torch") for value in row.quartiles(name)]
            out.writerow([row.dtype, row.elements, int(row.mb * MB), len(row.hone), *gbps, f"{row.ratio:.4f}",
                          row.target or "", row.verdict, row.wrong, row.rung, row.configuration])


def plot(rows):
    panels = {}
    for row in rows:
        lines = panels.setdefault(row.dtype, {"hone": [], "torch.clamp": []})
        lines["hone"].append((row.mb, row.quartiles("hone")[1]))
        lines["torch.clamp"].append((row.mb, row.quartiles("torch")[1]))
    return line_plots(f"relu on {torch.cuda.get_device_name()}", panels, "GB/s read and written")


def problems_of(options):
    """(dtype, elements), each dtype's along its sizes."""
    for dtype in options.dtypes:
        for mb in options.sizes or SIZES + MORE_SIZES.get(dtype, []):
            yield dtype, int(mb * MB) // (2 * ELEMENT_SIZES[dtype])


def run(options, runtime):
    problems = list(problems_of(options))
    with_study = STUDY_DTYPE in options.dtypes
    largest = max([elements * ELEMENT_SIZES[dtype] for dtype, elements in problems]
                  + [STUDY_ELEMENTS * ELEMENT_SIZES[STUDY_DTYPE]] * with_study)
    bench = Bench(runtime, largest)

    rows = []
    print_cells(HEADINGS, WIDTHS)
    for dtype, elements in problems:
        rows.append(bench.measure(dtype, elements, ROUNDS))
        print_cells(rows[-1].cells(), WIDTHS)
    study = bench.measure(STUDY_DTYPE, STUDY_ELEMENTS, STUDY_ROUNDS) if with_study else None
    if study:
        print("L2-regime study:", study_text(study))
        for name in ("hone", "torch"):
            print(f"  {name:5} GB/s, quartiles:", *(f"{value:.0f}" for value in study.quartiles(name)))

    out = pathlib.Path(options.out) / "relu_vs_torch"
    write_csv(out.with_suffix(".csv"), rows + [study] * with_study)
    out.with_suffix(".md").write_text(markdown(rows, study, runtime))
    out.with_suffix(".svg").write_text(plot(rows))
    return print_verdicts([row.verdict for row in rows + [study] * with_study], f"{out}.csv, .md, .svg")


def a_list(convert):
    return lambda text: [convert(item) for item in text.split(",")]


def megabytes(text):
    if not 1 / 1024 <= float(text) <= 1 << 20:
        raise argparse.ArgumentTypeError(f"{text} MB is no size to measure")
    return float(text)


def dtype_named(text):
    if text not in TORCH_NAMES:
        raise argparse.ArgumentTypeError(f"no dtype {text}: choose from {', '.join(TORCH_NAMES)}")
    return text


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=a_list(megabytes), metavar="MB,...",
                        help="MB of traffic (1 to 8192, and 12288 for f32)")
    parser.add_argument("--dtypes", type=a_list(dtype_named), default=list(TORCH_NAMES), metavar="T,...",
                        help="f16,bf16,f32,i8")
    return exit_code_of("relu_vs_torch", run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
