"""Times launches beside PyTorch's: captured into CUDA graphs, by device events."""
import torch

GRAPH_SECONDS = 0.004


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
