#!/usr/bin/env python3
"""hone's addmm_glu, out = X + X * Y with X = A @ B + bias, beside PyTorch on the GPU of this machine.

    python3 bench/addmm_glu_vs_torch.py --lib build/release/lib/libhone.so --db hone.db --out DIR

Contenders, in turn in random order on the same inputs: hone, whose pick comes from the database; torch.mm, which is
the vendor's A @ B alone, without bias and gate; and torch.compile (max-autotune) of the whole. Launches are captured
into CUDA graphs and timed by device events; figures are medians. Errors are the largest |out - reference| of an
element over the largest |reference|, the reference in double precision, beside that of PyTorch's own unfused result.
Writes addmm_glu_vs_torch.csv and .md. Exit code 0: every target met; 1: some not, or an error larger than PyTorch's;
2: usage; 3: PyTorch, GPU, library or database is missing.
"""
import argparse
import csv
import pathlib
import random
import statistics
import sys
from dataclasses import dataclass

from torch_bench import (ROUNDS, about, captured, exit_code_of, launches_of, markdown_table, parser_of, print_cells,
                         print_verdicts, timed, torch)

TORCH_NAMES = {"f16": "float16", "bf16": "bfloat16"}
PROBLEMS = ["1024x21568x256", "1024x21568x512", "1024x21568x1024", "4096x14336x4096", "16x28672x4096"]
# Of hone's time over torch.mm's: the most it may be, and whether torch.compile has to be slower too.
TARGETS = {"1024x21568x256": (32 / 26.1, False), "1024x21568x512": (1.0, False), "1024x21568x1024": (1.02, False),
           "4096x14336x4096": (1 / 0.95, True), "16x28672x4096": (1.0, True)}
ROWS_AT_ONCE = 256  # of the reference


@dataclass
class Row:
    """One problem: samples in nanoseconds a launch, in the order taken."""
    dtype: str
    layout: str
    problem: str
    samples: dict
    error: float
    torch_error: float
    rung: str
    configuration: str

    def median(self, name):
        return statistics.median(self.samples[name]) if name in self.samples else None

    def over(self, name):
        other = self.median(name)
        return None if other is None else self.median("hone") / other

    @property
    def target(self):
        return TARGETS.get(self.problem)

    @property
    def verdict(self):
        if not self.error <= self.torch_error:
            return "WRONG"
        if self.target is None:
            return "-"
        most, ahead = self.target
        fast = self.over("mm") <= most and (not ahead or self.over("compile") is None or self.over("compile") < 1)
        return "met" if fast else "missed"

    def cells(self):
        def text(value, places):
            return "-" if value is None else f"{value:.{places}f}"
        us = [text(None if self.median(name) is None else self.median(name) / 1e3, 2)
              for name in ("hone", "mm", "compile")]
        most = "-" if self.target is None else f"{self.target[0]:.3f}"
        return [self.dtype, self.layout, self.problem, *us, text(self.over("mm"), 3), most,
                text(self.over("compile"), 3), f"{self.error:.1e}", f"{self.torch_error:.1e}", self.verdict,
                self.rung, self.configuration]


HEADINGS = ["dtype", "layout", "MxNxK", "hone us", "mm us", "compile us", "over mm", "target", "over compile", "error",
            "torch's", "verdict", "rung", "configuration"]
WIDTHS = [5, 6, 15, 7, 7, 10, 7, 6, 12, 7, 7, 7, 8, 0]


def fused(a, b, bias, y):
    x = torch.addmm(bias, a, b)
    return x + x * y


class Operands:
    def __init__(self, dtype, layout, m, n, k):
        def uniform(*shape):
            return torch.empty(*shape, device="cuda").uniform_(-1, 1).to(getattr(torch, TORCH_NAMES[dtype]))
        torch.manual_seed(1)
        self.a, self.bias, self.y = uniform(m, k), uniform(n), uniform(m, n)
        self.b = uniform(k, n) if layout == "nn" else uniform(n, k).t()
        self.out = torch.empty_like(self.y)

    def pointers(self):
        return [t.data_ptr() for t in (self.a, self.b, self.bias, self.y, self.out)]

    def errors(self, *results):
        """Of each, the largest |result - reference| over the largest |reference|."""
        largest, worst = 0.0, [0.0] * len(results)
        b = self.b.double()
        for i in range(0, self.a.shape[0], ROWS_AT_ONCE):
            rows = slice(i, i + ROWS_AT_ONCE)
            reference = fused(self.a[rows].double(), b, self.bias.double(), self.y[rows].double())
            largest = max(largest, reference.abs().max().item())
            for j, result in enumerate(results):
                difference = (result[rows].double() - reference).abs().max().item()
                worst[j] = max(worst[j], difference) if difference == difference else float("nan")
        return [each / largest for each in worst]


def measure(runtime, dtype, layout, problem, with_compile):
    m, n, k = (int(part) for part in problem.split("x"))
    operands = Operands(dtype, layout, m, n, k)
    call = runtime.prepare("addmm_glu", dtype, [m, n, k], operands.pointers(), layout)
    if call.workspace_bytes:
        workspace = torch.zeros(call.workspace_bytes, dtype=torch.uint8, device="cuda")
        call.lend(workspace.data_ptr())
    product = torch.empty_like(operands.out)
    launches = {"hone": lambda: call.run(torch.cuda.current_stream().cuda_stream),
                "mm": lambda: torch.mm(operands.a, operands.b, out=product)}
    if with_compile:
        torch._dynamo.reset()
        compiled = torch.compile(fused, mode="max-autotune-no-cudagraphs", dynamic=False)
        launches["compile"] = lambda: compiled(operands.a, operands.b, operands.bias, operands.y)
        launches["compile"]()
    count = launches_of(launches["mm"])
    graphs = {name: captured(launch, count) for name, launch in launches.items()}
    samples = {name: [] for name in graphs}
    for _ in range(ROUNDS):
        for name in random.sample(sorted(graphs), len(graphs)):
            samples[name].append(timed(graphs[name]) / count)
    operands.out.fill_(float("nan"))
    graphs["hone"].replay()
    unfused = fused(operands.a, operands.b, operands.bias, operands.y)
    error, torch_error = operands.errors(operands.out, unfused)
    return Row(dtype, layout, problem, samples, error, torch_error, call.rung, call.configuration)


def run(options, runtime):
    random.seed(1)
    rows = []
    print_cells(HEADINGS, WIDTHS)
    for dtype in options.dtypes:
        for layout in options.layouts:
            for problem in options.problems:
                rows.append(measure(runtime, dtype, layout, problem, not options.no_compile))
                print_cells(rows[-1].cells(), WIDTHS)
    out = pathlib.Path(options.out) / "addmm_glu_vs_torch"
    with open(out.with_suffix(".csv"), "w", newline="") as file:
        csv.writer(file).writerows([HEADINGS] + [row.cells() for row in rows])
    lines = ["# addmm_glu: hone beside PyTorch", "", about(runtime), "", *markdown_table(HEADINGS, rows)]
    out.with_suffix(".md").write_text("\n".join(lines) + "\n")
    return print_verdicts([row.verdict for row in rows], f"{out}.csv and .md")


def named(choices):
    def parse(text):
        for item in text.split(","):
            if item not in choices:
                raise argparse.ArgumentTypeError(f"no `{item}`: choose from {', '.join(choices)}")
        return text.split(",")
    return parse


def problems(text):
    for item in text.split(","):
        parts = item.split("x")
        if len(parts) != 3 or not all(part.isdigit() and int(part) > 0 for part in parts):
            raise argparse.ArgumentTypeError(f"`{item}` is no MxNxK, like 1024x21568x256")
    return text.split(",")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--problems", type=problems, default=PROBLEMS, metavar="MxNxK,...")
    parser.add_argument("--dtypes", type=named(TORCH_NAMES), default=["f16"], metavar="T,...", help="f16,bf16")
    parser.add_argument("--layouts", type=named(["nn", "nt"]), default=["nn"], metavar="L,...", help="nn,nt")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out: tuning it takes minutes")
    return exit_code_of("addmm_glu_vs_torch", run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
