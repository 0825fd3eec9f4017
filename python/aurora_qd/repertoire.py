"""What a run has found, put to use: the nearest to a goal, descriptors, replays, a plot."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ._extension import core
from .encoders import adapted
from .evaluation import Batch, Evaluate
from .task import Task, array_of, task_of

if TYPE_CHECKING:
    from .runs import Run


@dataclass(frozen=True)
class Means:
    """What a run in Python was made with, and its files do not hold."""

    task: Union[None, Task, str] = None
    evaluate: Optional[Evaluate] = None
    encoder: Optional[object] = None
    per_solution: bool = False


@dataclass(frozen=True)
class Replay:
    """An individual evaluated again."""

    id: int
    genotype: NDArray[np.float32]
    fitness: float
    sensory: NDArray[Any]
    ground_truth: NDArray[np.float32]
    same: bool  # as what is stored, to the bit
    picture: Optional[NDArray[np.uint8]] = None  # of the whole episode, if the task draws
    frames: list[NDArray[np.uint8]] = field(default_factory=list)  # (height, width, 3) each
    seconds_per_frame: float = 0.05


def nearest(
    run: Run, goal: Optional[ArrayLike], descriptor: Optional[ArrayLike], count: int
) -> pd.DataFrame:
    if (goal is None) == (descriptor is None):
        raise ValueError("nearest to what? Say goal, a place in the ground truth, or descriptor")
    container = run.container
    if goal is not None:
        place = np.asarray(goal, np.float64)
        most = len(container.axes)
        if place.ndim != 1 or not 1 <= len(place) <= most or not np.isfinite(place).all():
            raise ValueError(
                f"a goal is 1 to {most} finite numbers, for {', '.join(container.axes)}"
            )
        low, high = container.bounds[: len(place)].T
        length = np.where(high > low, high - low, 1)
        offsets = (container["ground_truth"][:, : len(place)] - place) / length
    else:
        place = np.asarray(descriptor, np.float64)
        size = container["descriptors"].shape[1]
        if place.shape != (size,) or not np.isfinite(place).all():
            raise ValueError(f"a descriptor of this run is {size} finite numbers")
        offsets = container["descriptors"] - place
    distances = np.sqrt((offsets.astype(np.float64) ** 2).sum(axis=1))
    if count < 1:
        raise ValueError("the number of individuals must be at least 1")
    rows = np.argsort(distances, kind="stable")[:count]  # rows are in order of age
    frame = container.frame().iloc[rows].reset_index(drop=True)
    frame.insert(1, "distance", distances[rows])
    return frame


def task_and_plan(run: Run) -> tuple[Task, core.Plan]:
    """From what was said when the run was opened, or from its files."""
    means: Means = run.means or Means()
    given = means.task
    if given is None:
        given = run.task if run.task in core.tasks() else _task_of_files(run)
    encoder = adapted(means.encoder)
    if encoder is None and run.settings.get("encoder.kind") == "python":
        raise ValueError(
            f"the encoder of '{run.path}' is an object of Python's: say "
            "aurora.open_run(path, encoder=...)"
        )
    plan = core.Plan(
        given if isinstance(given, str) else given.spec(), None, [], str(run.path), None, encoder
    )
    return (task_of(plan.spec) if isinstance(given, str) else given), plan


def _task_of_files(run: Run) -> Task:
    container = run.container
    sensory = container["sensory"]
    return Task(
        genes=container["genotypes"].shape[1],
        sensory=sensory.shape[1:],
        ground_truth=container.space,
        name=run.task,
        dtype=sensory.dtype,
        title=run.title,
    )


def encode(
    run: Run, observations: ArrayLike, with_errors: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    task, plan = task_and_plan(run)
    array = np.asarray(observations)
    if array.shape == tuple(task.sensory):
        array = array[None]
    array = array_of("observations", array, (len(array), *task.sensory), task.dtype)
    if not np.isfinite(array).all():
        raise ValueError("observations must be finite")
    return core.encode(plan, str(run.path), array, with_errors)


def replay(run: Run, id: int) -> Replay:
    container = run.container
    found = np.flatnonzero(container["ids"] == id)
    if not len(found):
        ids = container["ids"]
        near = ids[np.argmin(np.abs(ids.astype(np.int64) - int(id)))]
        raise ValueError(f"there is no individual {id} in '{run.path}'; the nearest id is {near}")
    row = int(found[0])
    genotype = np.ascontiguousarray(container["genotypes"][row : row + 1])
    task, plan = task_and_plan(run)
    means: Means = run.means or Means()
    picture: Optional[NDArray[np.uint8]] = None
    frames: list[NDArray[np.uint8]] = []
    seconds = 0.05
    if means.evaluate is not None:
        result = Batch(task, means.evaluate, None, means.per_solution)(genotype)
        frames = list(task.draw(genotype[0])) if task.draw else []
    elif run.task in core.tasks() and not isinstance(means.task, Task):
        result = plan.evaluate(genotype)
        picture, frames, seconds = plan.draw(genotype)
    else:
        raise ValueError(
            f"the robot of '{run.path}' is in Python: say aurora.open_run(path, task=..., "
            "evaluate=...)"
        )
    stored = (container["fitness"], container["sensory"], container["ground_truth"])
    same = all(a[0].tobytes() == b[row].tobytes() for a, b in zip(result, stored))
    return Replay(
        int(id),
        genotype[0],
        float(result[0][0]),
        result[1][0],
        result[2][0],
        same,
        picture,
        frames,
        seconds,
    )


def plot(run: Run, ax: Any = None, **options: Any) -> Any:
    import matplotlib.pyplot as plt

    container = run.container
    axes = ax if ax is not None else plt.subplots()[1]
    x, y = container["ground_truth"][:, :2].T
    dots = axes.scatter(x, y, c=container["fitness"], **{"s": 2, **options})
    for axis, limit, label in zip(
        container.space, (axes.set_xlim, axes.set_ylim), (axes.set_xlabel, axes.set_ylabel)
    ):
        ends = (axis.min, axis.max) if axis.direction == "up" else (axis.max, axis.min)
        limit(*ends)
        label(axis.label)
    axes.figure.colorbar(dots, ax=axes, label="fitness")
    axes.set_title(f"{run.title}: {len(container)} behaviours")
    return axes
