"""Robots in Python: functions over a batch of solutions or over one, and whether they are pure."""
from __future__ import annotations

import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Optional, Protocol, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._extension import core
from .task import Evaluated, Task, assignments

FIELDS = ("fitness", "sensory", "ground_truth")
Result = Union[Mapping[str, Any], Sequence[Any]]
Evaluate = Callable[[Any], Result]


class Executor(Protocol):
    """Whatever has a map: those of concurrent.futures, mpi4py.futures, Dask, Ray."""

    def map(self, function: Callable[..., Any], *rows: Iterable[Any]) -> Iterable[Any]:
        ...


class GivenUp(BaseException):
    """The batch cannot be evaluated, and it is not the fault of a solution."""


class SolutionError(Exception):
    """An evaluation raised, perhaps in another process; says what."""

    @property
    def aurora_reason(self) -> str:
        return str(self)


def fields_of(result: Result) -> tuple[Any, Any, Any]:
    """Fitness, sensory data and ground truth, from a tuple or a dictionary."""
    if isinstance(result, Mapping):
        missing = [name for name in FIELDS if name not in result]
        if missing:
            raise ValueError(f"an evaluation must have '{missing[0]}'; it has {sorted(result)}")
        return result["fitness"], result["sensory"], result["ground_truth"]
    if not isinstance(result, (tuple, list)) or len(result) != 3:
        raise ValueError(
            "an evaluation is a tuple (fitness, sensory, ground_truth) or a dictionary of them, "
            f"not {type(result).__name__}"
        )
    return result[0], result[1], result[2]


class _Told:
    """Calls a function for one solution, in whatever process; an exception comes back as words."""

    def __init__(self, evaluate: Evaluate):
        self.evaluate = evaluate

    def __call__(self, genotype: NDArray[np.float32]) -> tuple[Optional[Result], str]:
        try:
            return self.evaluate(genotype), ""
        except Exception as error:  # of the user's code: any
            return None, f"{type(error).__name__}: {error}"


class Batch:
    """A user's function as a function over batches that gives checked arrays."""

    def __init__(
        self,
        task: Task,
        evaluate: Evaluate,
        executor: Optional[Executor] = None,
        per_solution: Optional[bool] = None,
    ):
        self.task = task
        self.evaluate = evaluate
        self.executor = executor
        self.per_solution = executor is not None if per_solution is None else per_solution
        if executor is not None and not self.per_solution:
            raise ValueError(
                "an executor maps over solutions: evaluate must be a function of one genotype "
                "(per_solution=True)"
            )
        if not callable(evaluate):
            raise ValueError(f"evaluate must be a function, not {type(evaluate).__name__}")
        self.strict = False  # whether a result of the wrong shape is a mistake of the user's
        self._known: dict[bytes, tuple[Optional[Evaluated], str]] = {}

    def forget(self) -> None:
        """What was evaluated is evaluated again."""
        self._known = {}

    def __call__(self, genotypes: NDArray[np.float32]) -> Evaluated:
        if self.per_solution:
            return self._by_solution(genotypes)
        return self.checked(self.evaluate(genotypes), len(genotypes))

    def checked(self, result: Result, rows: int) -> Evaluated:
        return self.task.checked(*fields_of(result), rows)

    def _by_solution(self, genotypes: NDArray[np.float32]) -> Evaluated:
        """If one fails, the library asks again for parts of the batch, to find out which: what is
        known is not evaluated again."""
        keys = [row.tobytes() for row in genotypes]
        if not all(key in self._known for key in keys):
            self._known = dict(zip(keys, self._map(genotypes)))
        rows = [self._known[key] for key in keys]
        reasons = [reason for _, reason in rows if reason]
        if reasons:
            raise SolutionError(reasons[0])
        found = [row for row, _ in rows if row is not None]
        if not found:
            return self.task.checked(*_nothing(self.task), 0)
        return tuple(np.concatenate(column) for column in zip(*found))  # type: ignore[return-value]

    def _map(self, genotypes: NDArray[np.float32]) -> list[tuple[Optional[Evaluated], str]]:
        told = _Told(self.evaluate)
        results: Iterable[tuple[Optional[Result], str]]
        if self.executor is None:
            results = map(told, genotypes)
        else:
            results = self._executed(told, genotypes)
        return [(None, why) if why else self._one(result) for result, why in results]

    def _executed(
        self, told: _Told, genotypes: NDArray[np.float32]
    ) -> list[tuple[Optional[Result], str]]:
        """What the user's code raises comes back as words: an exception is the executor's own."""
        assert self.executor is not None
        try:
            if isinstance(self.executor, ProcessPoolExecutor):
                workers = getattr(self.executor, "_max_workers", 1)
                chunk = max(1, len(genotypes) // (4 * workers))
                return list(self.executor.map(told, genotypes, chunksize=chunk))
            return list(self.executor.map(told, genotypes))
        except BrokenExecutor:
            raise
        except Exception as error:
            raise BrokenExecutor(f"the executor failed: {type(error).__name__}: {error}") from error

    def _one(self, result: Any) -> tuple[Optional[Evaluated], str]:
        """A result of another shape is a failure of its solution."""
        try:
            fitness, sensory, truth = fields_of(result)
            found = self.task.checked(
                np.reshape(fitness, (1,)) if np.size(fitness) == 1 else fitness,
                np.asarray(sensory)[None],
                np.asarray(truth)[None],
                1,
            )
        except ValueError as error:
            if self.strict:
                raise
            return None, str(error)
        return found, ""


def _nothing(task: Task) -> Evaluated:
    axes = len(task.axes)
    return (
        np.empty(0, np.float32),
        np.empty((0, *task.sensory), task.dtype),
        np.empty((0, axes), np.float32),
    )


class RunEvaluation:
    """What a run calls. Failures of solutions are exceptions, which the run isolates; a broken
    executor and an interrupt give the batch up, and the run ends before it."""

    def __init__(self, batch: Batch, stop: core.Stop):
        self._batch = batch
        self._stop = stop
        self.error: Optional[BaseException] = None

    def __call__(self, genotypes: NDArray[np.float32]) -> Evaluated:
        try:
            return self._batch(genotypes)
        except BrokenExecutor as error:
            raise self._given_up(error) from error
        except Exception as error:
            # Processes that got the same Ctrl-C die of it: no solution's fault either.
            if self._stop.wanted:
                raise self._given_up(error) from error
            raise
        except BaseException as error:  # KeyboardInterrupt, SystemExit
            self._stop.set()
            self.error = error
            raise

    def _given_up(self, error: Exception) -> GivenUp:
        self.error = error
        return GivenUp(str(error))


@dataclass(frozen=True)
class Check:
    """What aurora.check found."""

    differences: list[str] = field(default_factory=list)
    seconds: float = 0.0  # of one evaluation of all solutions
    solutions: int = 0

    @property
    def ok(self) -> bool:
        return not self.differences

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return (
                f"pure: {self.solutions} solutions gave the same bits however they were evaluated"
            )
        return "\n".join(self.differences)


def check(
    task: Task,
    evaluate: Evaluate,
    *,
    executor: Optional[Executor] = None,
    per_solution: Optional[bool] = None,
    solutions: Optional[int] = None,
    seed: int = 0,
) -> Check:
    """Evaluates random solutions in several ways and says what differs: an evaluation must be a
    pure function of the genotype, for only then is a run the same after it was killed, on other
    machines, and in whatever batches it is cut.

    NumPy is not as pure as it looks: `x @ W` gives a row other bits alone than in a batch, and so do
    sums over a batch; `einsum` and everything elementwise do not.

    ValueError if the results have wrong shapes or types.
    """
    batch = Batch(task, evaluate, executor, per_solution)
    batch.strict = True
    count = solutions or (8 if batch.per_solution else 64)
    genotypes = np.random.default_rng(seed).random((count, task.genes), np.float32)
    differences: list[str] = []

    def evaluated(rows: NDArray[np.intp], how: str) -> Optional[Evaluated]:
        given = genotypes[rows]
        before = given.copy()
        batch.forget()
        try:
            if batch.per_solution:
                found = batch(given)
            else:
                result = batch.evaluate(given)
        except ValueError:
            if batch.per_solution:
                raise
            differences.append(f"{how}: it raises {_words()}")
            return None
        except Exception:
            differences.append(f"{how}: it raises {_words()}")
            return None
        if not batch.per_solution:
            found = batch.checked(result, len(rows))
        if not np.array_equal(given, before):
            differences.append(f"{how}: it changes the solutions that it is given")
        return found

    everyone = np.arange(count)
    start = time.perf_counter()
    whole = evaluated(everyone, "all at once")
    seconds = time.perf_counter() - start
    if whole is None:
        return Check(differences, seconds, count)
    shuffled = np.random.default_rng(seed + 1).permutation(count)
    half = count // 2
    ways: list[tuple[str, list[NDArray[np.intp]]]] = [
        ("evaluated a second time", [everyone]),
        ("in another order", [shuffled]),
    ]
    if not batch.per_solution:
        ways.append(("in two pieces", [everyone[:half], everyone[half:]]))
        ways.append(("one by one", [everyone[i : i + 1] for i in range(min(count, 8))]))
    for how, pieces in ways:
        for rows in pieces:
            again = evaluated(rows, how)
            if again is not None:
                differences += _compare(how, whole, again, rows)
    unique = list(dict.fromkeys(differences))
    return Check(unique, seconds, count)


def _words() -> str:
    error = sys.exc_info()[1]
    if isinstance(error, SolutionError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _compare(how: str, whole: Evaluated, again: Evaluated, rows: NDArray[np.intp]) -> list[str]:
    found = []
    for name, column, other in zip(FIELDS, whole, again):
        before = column[rows]
        same = np.array(
            [a.tobytes() == b.tobytes() for a, b in zip(before, other)], dtype=bool
        ).reshape(-1)
        if same.all():
            continue
        with np.errstate(invalid="ignore"):
            most = np.nanmax(
                np.abs(before.astype(np.float64) - other.astype(np.float64)), initial=0
            )
        found.append(
            f"{how}: {name} of {np.count_nonzero(~same)} of {len(rows)} solutions differs "
            f"by up to {most:.3g}"
        )
    return found[:1] if how == "one by one" else found


def evaluate(
    task: str, genotypes: ArrayLike, *, threads: Optional[int] = None, **options: object
) -> Evaluated:
    """Evaluates solutions by a task of the library's: fitness, sensory data, ground truth. `options`
    are the task's."""
    settings: dict[str, object] = {f"task.{name}": value for name, value in options.items()}
    if threads is not None:
        settings["run.threads"] = threads
    plan = core.Plan(task, None, assignments(settings))
    array = np.ascontiguousarray(genotypes, np.float32)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or not ((array >= 0) & (array <= 1)).all():
        raise ValueError("genotypes are rows of genes in [0, 1]")
    return plan.evaluate(array)
