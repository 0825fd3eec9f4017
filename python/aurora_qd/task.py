"""What a task says of itself, and what an evaluation must look like."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._extension import core
from .runs import Axis

Bounds = Union[Axis, Sequence[Any]]  # (min, max) or (min, max, unit)
Evaluated = tuple[NDArray[np.float32], NDArray[Any], NDArray[np.float32]]


@dataclass(frozen=True)
class Task:
    """A robot and its world: how many genes it has, what it senses, what the truth is.

    Genes lie in [0, 1]; the task maps them to what it needs. `sensory` is the shape of what one
    individual senses: (steps, values) of `dtype` float32, or a picture (height, width, channels) of
    uint8. `ground_truth` says what is known of the end of an episode, by name, with its bounds, at
    least two of them; the first two are what coverage is about, and the hand-coded descriptor
    unless `hand_coded_size` says that it is the first three, or more. No fitness is below
    `worst_fitness`.

    `defaults` are settings that runs of this task start from; raise `version` when a genotype's
    evaluation changes, and no run goes on with another. `draw`, a function of a genotype that gives
    frames (height, width, 3) of uint8, is for `Run.replay`.
    """

    genes: int
    sensory: Sequence[int]
    ground_truth: Union[Mapping[str, Bounds], Sequence[Axis]]
    worst_fitness: float = 0.0
    name: str = "task"
    dtype: Any = np.float32
    title: str = ""
    version: int = 1
    metrics: Sequence[str] = ()
    defaults: Mapping[str, object] = field(default_factory=dict)
    draw: Optional[Callable[[NDArray[np.float32]], Sequence[NDArray[np.uint8]]]] = None
    hand_coded_size: int = 2

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        if isinstance(self.sensory, (int, np.integer)):
            put("sensory", (self.sensory,))
        put("sensory", tuple(int(extent) for extent in self.sensory))
        put("ground_truth", tuple(_axes(self.ground_truth)))
        put("dtype", np.dtype(self.dtype))
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.uint8)):
            raise ValueError(
                f"the dtype of sensory data is float32 or uint8 (pictures), not {self.dtype}"
            )
        if int(self.genes) < 1 or any(extent < 1 for extent in self.sensory):
            raise ValueError("genes and the extents of the sensory data are at least 1")
        if int(self.hand_coded_size) != self.hand_coded_size or self.hand_coded_size < 1:
            raise ValueError(
                f"hand_coded_size is a number of values of the ground truth, not {self.hand_coded_size}"
            )
        put("hand_coded_size", int(self.hand_coded_size))

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.ground_truth  # type: ignore[return-value]

    def spec(self) -> core.TaskSpec:
        """For the library, which checks the rest."""
        return core.TaskSpec(
            self.name,
            self.title,
            self.version,
            self.genes,
            list(self.sensory),
            self.dtype == np.uint8,
            [(a.name, a.min, a.max, a.unit, a.direction == "down") for a in self.axes],
            self.worst_fitness,
            list(self.metrics),
            assignments(self.defaults),
            self.hand_coded_size,
        )

    def checked(
        self, fitness: ArrayLike, sensory: ArrayLike, ground_truth: ArrayLike, rows: int
    ) -> Evaluated:
        """An evaluation as the library wants it; ValueError if it is not one. Arrays of the right
        type are not copied."""
        return (
            array_of("fitness", fitness, (rows,), np.float32),
            array_of("sensory", sensory, (rows, *self.sensory), self.dtype),
            array_of("ground_truth", ground_truth, (rows, len(self.axes)), np.float32),
        )

    def save(self, path: Path) -> None:
        content = {
            "name": self.name,
            "title": self.title,
            "version": self.version,
            "genes": self.genes,
            "sensory": list(self.sensory),
            "dtype": str(self.dtype),
            "ground_truth": [vars(axis) for axis in self.axes],
            "worst_fitness": self.worst_fitness,
            "metrics": list(self.metrics),
            "defaults": dict(self.defaults),
            "hand_coded_size": self.hand_coded_size,
        }
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Task:
        content = json.loads(path.read_text(encoding="utf-8"))
        content["ground_truth"] = [Axis(**axis) for axis in content["ground_truth"]]
        return Task(**content)


def _axes(given: Union[Mapping[str, Bounds], Sequence[Axis]]) -> list[Axis]:
    if not isinstance(given, Mapping):
        return list(given)
    axes = []
    for name, bounds in given.items():
        if isinstance(bounds, Axis):
            axes.append(bounds)
            continue
        low, high, *unit = bounds
        axes.append(Axis(name, float(low), float(high), *map(str, unit)))
    return axes


def task_of(spec: core.TaskSpec) -> Task:
    """The description of a task of the library's."""
    return Task(
        genes=spec.genes,
        sensory=spec.sensory,
        ground_truth=[
            Axis(name, low, high, unit, "down" if down else "up")
            for name, low, high, unit, down in spec.axes
        ],
        worst_fitness=spec.worst_fitness,
        name=spec.name,
        dtype=np.uint8 if spec.bytes else np.float32,
        title=spec.title,
        version=spec.version,
        metrics=spec.metrics,
        hand_coded_size=spec.hand_coded_size,
    )


def array_of(what: str, given: ArrayLike, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    array = np.asarray(given)
    if array.shape != shape:
        rows = "" if array.shape[:1] == shape[:1] else f": there are {shape[0]} solutions"
        raise ValueError(f"{what} must have the shape {shape}, not {array.shape}{rows}")
    if dtype == np.uint8 and array.dtype != np.uint8:
        raise ValueError(
            f"{what} must be uint8, values from 0 to 255, not {array.dtype}: the task says so"
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{what} must be numbers, not {array.dtype}")
    return np.ascontiguousarray(array, dtype=dtype)


def assignments(settings: Mapping[str, object]) -> list[str]:
    """KEY=VALUE. A key without a dot has one where its first underscore is: as a keyword,
    container_target_size is container.target_size."""
    words = []
    for key, value in settings.items():
        name = key if "." in key else key.replace("_", ".", 1)
        words.append(f"{name}={_word(value)}")
    return words


def _word(value: object) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_word, value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return repr(value)
    return str(value)


def plan_of(
    task: Union[Task, str],
    variant: Optional[str],
    settings: Mapping[str, object],
    *,
    run: Optional[str] = None,
    evaluate: Optional[Callable[..., Any]] = None,
    encoder: Optional[object] = None,
) -> core.Plan:
    """Everything resolved and checked; ValueError says what is wrong."""
    return core.Plan(
        task if isinstance(task, str) else task.spec(),
        variant,
        assignments(settings),
        run,
        evaluate,
        encoder,
    )
