"""AURORA's results in Python: arrays, data frames, statistics, figures.

    import aurora
    run = aurora.load("runs/maze-aurora-csc-uniform-10-seed1")
    run.metrics                   # a data frame, a row per logged iteration
    run.container.ground_truth    # arrays, a row per individual

`python3 -m aurora --help` lists the commands; docs/results-from-python.md tells the rest.
"""
from .runs import Container, Loaded, Run, RunError, load, load_many

__all__ = ["Container", "Loaded", "Run", "RunError", "load", "load_many"]
