"""AURORA's results in Python: arrays, data frames, statistics, figures.

    import aurora
    run = aurora.load("runs/one")
    run.metrics                   # a data frame, a row per logged iteration
    run.container.ground_truth    # arrays, a row per individual

The modules claims, export, paper, statistics and study are loaded when they are first used.
`python3 -m aurora --help` lists the commands; docs/results-from-python.md tells the rest.
"""
from __future__ import annotations

from importlib import import_module
from types import ModuleType

from .runs import Axis, Container, Loaded, Run, RunError, load, load_many

# None of them needs Matplotlib; some need SciPy, which takes its time to load.
_MODULES = ("claims", "export", "paper", "statistics", "study")

__all__ = ["Axis", "Container", "Loaded", "Run", "RunError", "load", "load_many", *_MODULES]


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'aurora' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
