"""What the benches beside PyTorch share: their flags, the runtime, and timing launches, captured into CUDA
graphs, by device events."""
import argparse
import datetime
import os
import pathlib
import shlex
import sys

try:
    import torch
except ImportError:
    torch = None

from hone_library import HoneError, Runtime

ROUNDS = 15
GRAPH_SECONDS = 0.004


def parser_of(description):
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", default=str(root / "build/release/lib/libhone.so"), help="libhone.so (%(default)s)")
    parser.add_argument("--db", help="the tuning database (HONE_DB, else the user's own)")
    parser.add_argument("--out", default=".", help="folder to write to (%(default)s)")
    return parser


def exit_code_of(name, run, options):
    """What `run` of the options and a runtime returns; 3 where something it needs is missing."""
    try:
        if torch is None:
            raise HoneError("PyTorch is not installed for this Python")
        if not torch.cuda.is_available():
            raise HoneError("PyTorch sees no GPU")
        os.makedirs(options.out, exist_ok=True)
        runtime = Runtime(options.lib, options.db, "hip" if torch.version.hip else "cuda")
        code = run(options, runtime)
        torch.cuda.synchronize()  # nothing of the runtime's may run when it closes
        runtime.close()
        return code
    except HoneError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 3


def about(runtime):
    """What ran, where and when, and the command."""
    return (f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, hone {runtime.version()}, "
            f"{datetime.date.today()}; medians of {ROUNDS} rounds.\n\n    {shlex.join(['python3', *sys.argv])}")


def print_cells(cells, widths):
    print(" ".join(f"{cell:{width}}" for cell, width in zip(cells, widths)), flush=True)


def markdown_table(headings, rows):
    """Its lines."""
    return ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"] + [
        "| " + " | ".join(row.cells()) + " |" for row in rows]


def print_verdicts(verdicts, written):
    """Returns the exit code."""
    wrong, missed = verdicts.count("WRONG"), verdicts.count("missed")
    print(f"{len(verdicts)} comparisons: {wrong} wrong, {missed} missed; written to {written}")
    return 1 if wrong or missed else 0


def launches_of(launch):
    """How many make a graph of GRAPH_SECONDS, 20 to 200."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    launch()
    start.record()
    for _ in range(10):
        launch()
    end.record()
    end.synchronize()
    return min(200, max(20, int(GRAPH_SECONDS / (start.elapsed_time(end) / 1e3 / 10))))


def captured(launch, count):
    launch()  # what a first call loads must not be loaded inside a capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            launch()
    return graph


def timed(graph):
    """Nanoseconds of a replay. The one before it brings caches and clocks to this contender's state, and
    keeps the device busy while the host enqueues what is timed."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e6
