"""AURORA in Python: searches, runs with a robot or an encoder of one's own, and their results.

    import aurora_qd as aurora
    task = aurora.Task(genes=3, sensory=(32, 2), ground_truth={"x": (0, 4), "y": (0, 3)})
    scheduler = aurora.Scheduler(task, variant="aurora-csc-uniform-2", seed=1)    # ask and tell
    run = aurora.run(task, evaluate, iterations=500, out="runs/one")              # a whole run

    run = aurora.load("runs/one")
    run.metrics                   # a data frame, a row per logged iteration
    run.container.ground_truth    # arrays, a row per individual

Reading runs needs no more than NumPy and pandas; the rest needs the extension module `_core`. The
modules claims, export, paper, statistics, study and visualize are loaded when they are first used.
`python3 -m aurora_qd --help` lists the commands; docs/python.md and docs/results-from-python.md tell
the rest.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .runs import Axis, Container, Loaded, Run, RunError, load, load_many

if TYPE_CHECKING:
    from . import claims, export, paper, statistics, study, visualize
    from .archive import Archive, Stats
    from .encoders import Transformer
    from .environments import Episode, Mlp, Pictures, SineGait, Trajectory, gym
    from .evaluation import Check, check, evaluate
    from .pyribs import from_ribs, to_ribs
    from .repertoire import Replay
    from .running import ImpureWarning, open_run, run
    from .scheduler import Scheduler, describe
    from .task import Task

# None of them needs Matplotlib; some need SciPy, which takes its time to load.
_MODULES = ("claims", "export", "paper", "statistics", "study", "visualize")

# What a search needs, and where it is.
_NAMES = {
    "Archive": "archive",
    "Check": "evaluation",
    "Episode": "environments",
    "ImpureWarning": "running",
    "Mlp": "environments",
    "Pictures": "environments",
    "Replay": "repertoire",
    "Scheduler": "scheduler",
    "SineGait": "environments",
    "Stats": "archive",
    "Task": "task",
    "Trajectory": "environments",
    "Transformer": "encoders",
    "check": "evaluation",
    "describe": "scheduler",
    "evaluate": "evaluation",
    "from_ribs": "pyribs",
    "gym": "environments",
    "open_run": "running",
    "run": "running",
    "to_ribs": "pyribs",
}

__all__ = [
    "Archive",
    "Axis",
    "Check",
    "Container",
    "Episode",
    "ImpureWarning",
    "Loaded",
    "Mlp",
    "Pictures",
    "Replay",
    "Run",
    "RunError",
    "Scheduler",
    "SineGait",
    "Stats",
    "Task",
    "Trajectory",
    "Transformer",
    "check",
    "claims",
    "describe",
    "evaluate",
    "export",
    "from_ribs",
    "gym",
    "load",
    "load_many",
    "open_run",
    "paper",
    "run",
    "statistics",
    "study",
    "to_ribs",
    "visualize",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module 'aurora_qd' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_NAMES})
