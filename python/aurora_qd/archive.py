"""What a search has found so far, in the words of pyribs."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ._extension import core
from .runs import Axis, Container, Run
from .task import Task

# What pyribs calls our columns, and its plural where ours is one.
FIELDS = {
    "solution": "genotypes",
    "objective": "fitness",
    "measures": "descriptors",
    "id": "ids",
}
OWN = (
    "genotypes",
    "fitness",
    "descriptors",
    "ground_truth",
    "sensory",
    "reconstruction_error",
    "ids",
)
DEFAULT = ("solution", "objective", "measures", "ground_truth", "id", "index")


@dataclass(frozen=True)
class Stats:
    """How good an archive is. Coverage and QD score are those of a grid over the first two values
    of the ground truth, whatever the archive itself looks like: docs/metrics.md."""

    num_elites: int
    coverage: float  # a share of the grid's cells, from 0 to 1
    qd_score: float
    norm_qd_score: float  # a cell's share of it
    obj_max: Optional[float]  # None if there is nobody
    obj_mean: Optional[float]
    metrics: dict[str, float]  # all that a run would write, as a run writes it (coverage in %)


Data = Union[dict[str, NDArray[Any]], tuple[NDArray[Any], ...], pd.DataFrame, NDArray[Any]]


class Archive:
    """The individuals of a search: a view of what is there now, the oldest first. Arrays that it
    gives are copies; the search goes on without changing them.

    Fields have the names of pyribs (`solution`, `objective`, `measures`, `index`) or ours
    (`genotypes`, `fitness`, `descriptors`, `ids`, `ground_truth`, `sensory`, ...). `index` is a row
    of the archive as it is now; an `id` stays with its individual.
    """

    def __init__(self, search: core.Search, task: Task, settings: Mapping[str, str]):
        self._search = search
        self._task = task
        self._settings = settings  # as words of TOML
        self._cells = int(settings.get("metrics.grid.resolution", 40)) ** 2  # coverage is of these
        self._random = np.random.default_rng(int(settings["run.seed"]))

    def __len__(self) -> int:
        return len(self._search)

    @property
    def empty(self) -> bool:
        return len(self) == 0

    @property
    def field_list(self) -> list[str]:
        return [*DEFAULT, "sensory", "reconstruction_error", *self._search.extra]

    @property
    def solution_dim(self) -> int:
        return self._task.genes

    @property
    def measure_dim(self) -> int:
        return self._search.column("descriptors").shape[1]

    @property
    def hash(self) -> str:
        """Of the container, as run.json has it: equal if every bit is."""
        return self._search.hash

    def _column(self, name: str) -> NDArray[Any]:
        if name == "index":
            return np.arange(len(self))
        own = FIELDS.get(name, name)
        if own not in OWN and own not in self._search.extra:
            known = sorted({*self.field_list, *OWN})
            raise ValueError(f"there is no field '{name}'; there are {', '.join(known)}")
        return self._search.column(own)

    def data(
        self, fields: Union[None, str, Sequence[str]] = None, return_type: str = "dict"
    ) -> Data:
        """Columns of all individuals: a dictionary, a tuple in the order of the fields, or a data
        frame ("pandas"). One field by its name alone is its array. Without fields, all but the
        sensory data."""
        if isinstance(fields, str):
            return self._column(fields)
        names = list(DEFAULT if fields is None else fields)
        columns = {name: self._column(name) for name in names}
        if return_type == "dict":
            return columns
        if return_type == "tuple":
            return tuple(columns.values())
        if return_type == "pandas":
            return self._frame(columns)
        raise ValueError(f"return_type is 'dict', 'tuple' or 'pandas', not '{return_type}'")

    def _frame(self, columns: dict[str, NDArray[Any]]) -> pd.DataFrame:
        table: dict[str, NDArray[Any]] = {}
        for name, values in columns.items():
            if values.ndim == 1:
                table[name] = values
            elif name == "ground_truth":
                table.update(zip((axis.name for axis in self._task.axes), values.T))
            else:
                flat = values.reshape(len(values), -1)
                table.update((f"{name}_{i}", column) for i, column in enumerate(flat.T))
        return pd.DataFrame(table)

    @property
    def stats(self) -> Stats:
        metrics = self._search.measure()
        some = len(self) > 0
        coverage = metrics.get("coverage", np.nan) / 100
        score = metrics.get("qd_score", np.nan)
        return Stats(
            len(self),
            coverage,
            score,
            score / self._cells,
            metrics.get("best_fitness") if some else None,
            metrics.get("mean_fitness") if some else None,
            metrics,
        )

    @property
    def best_elite(self) -> Optional[dict[str, Any]]:
        """The fittest; None if there is nobody."""
        return None if self.empty else self._rows(int(np.argmax(self._column("objective"))))

    def _rows(self, rows: Any, fields: Sequence[str] = DEFAULT) -> dict[str, Any]:
        return {name: self._column(name)[rows] for name in fields}

    def _near(self, measures: NDArray[np.float64]) -> NDArray[np.intp]:
        descriptors = self._column("measures").astype(np.float64)
        nearest = np.empty(len(measures), np.intp)
        for i, wanted in enumerate(measures):
            nearest[i] = np.argmin(((descriptors - wanted) ** 2).sum(axis=1))
        return nearest

    def retrieve(self, measures: ArrayLike) -> tuple[NDArray[np.bool_], dict[str, Any]]:
        """For each row of `measures` the individual with the nearest descriptor, as pyribs'
        archives without cells do it; the flags say whether there was anybody."""
        wanted = np.asarray(measures, np.float64)
        size = self.measure_dim
        if wanted.ndim != 2 or wanted.shape[1] != size:
            raise ValueError(f"measures must have the shape (n, {size}), not {wanted.shape}")
        if not np.isfinite(wanted).all():
            raise ValueError("measures must be finite")
        if self.empty:
            raise RuntimeError("there is nobody in the archive yet, so nobody is near")
        return np.ones(len(wanted), bool), self._rows(self._near(wanted))

    def retrieve_single(self, measures: ArrayLike) -> tuple[bool, dict[str, Any]]:
        wanted = np.asarray(measures, np.float64)
        if wanted.ndim != 1:
            raise ValueError(f"measures of one individual have one axis, not {wanted.ndim}")
        _, found = self.retrieve(wanted[None, :])
        return True, {name: values[0] for name, values in found.items()}

    def sample_elites(self, n: int, replace: bool = True) -> dict[str, Any]:
        """`n` individuals at random, with their fields as arrays."""
        if self.empty:
            raise IndexError("there is nobody in the archive yet")
        if not replace and n > len(self):
            raise ValueError(f"{n} different individuals of {len(self)} cannot be had")
        return self._rows(self._random.choice(len(self), size=n, replace=replace))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        columns = {name: self._column(name) for name in DEFAULT}
        for row in range(len(self)):
            yield {name: values[row] for name, values in columns.items()}

    def __repr__(self) -> str:
        return f"<aurora.Archive: {len(self)} individuals of '{self._task.name}'>"


@dataclass(frozen=True)
class Individuals:
    """What an archive, a run and a container have in common."""

    column: Callable[[str], NDArray[Any]]  # by our names
    axes: Sequence[Axis]
    settings: Mapping[str, Any]

    def setting(self, key: str, otherwise: Any) -> str:
        return str(self.settings.get(key, otherwise)).strip('"')


def individuals_of(found: Union[Archive, Run, Container]) -> Individuals:
    if isinstance(found, Archive):
        return Individuals(found._column, found._task.axes, found._settings)
    if isinstance(found, Run):
        return Individuals(found.container.__getitem__, found.container.space, found.settings)
    if isinstance(found, Container):
        return Individuals(found.__getitem__, found.space, {})
    raise ValueError(
        f"individuals are those of a scheduler's archive, a run or its container, not of "
        f"{type(found).__name__}"
    )
