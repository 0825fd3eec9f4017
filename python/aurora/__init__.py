"""AURORA's results in Python: arrays, data frames, statistics, figures.

    import aurora
    run = aurora.load("runs/one")
    run.metrics                   # a data frame, a row per logged iteration
    run.container.ground_truth    # arrays, a row per individual

`python3 -m aurora --help` lists the commands; docs/results-from-python.md tells the rest.
"""
from .runs import Axis, Container, Loaded, Run, RunError, load, load_many

__all__ = ["Axis", "Container", "Loaded", "Run", "RunError", "load", "load_many"]
