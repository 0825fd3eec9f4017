"""Ask and tell: a search whose solutions somebody else evaluates."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._extension import core
from .archive import Archive
from .encoders import adapted, with_dimension
from .runs import PathLike
from .task import Task, plan_of, task_of

TASK_FILE = "task.json"


class Scheduler:
    """Proposes solutions and learns from what they do.

        scheduler = aurora.Scheduler(task, variant="aurora-csc-uniform-2", seed=1)
        for _ in range(500):
            solutions = scheduler.ask()                  # (n, genes), in [0, 1]
            fitness, sensory, truth = throw(solutions)
            scheduler.tell(fitness, sensory, ground_truth=truth)

    `task` is a Task or the name of one of the library's. Settings are those of `aurora list
    options`, as keywords with an underscore for the dot (container_target_size=500) or in `config`
    under their own names ({"container.target_size": 500}). `encoder` is an object with `train` and
    `encode`, in place of the auto-encoder. The number of threads changes no result.
    """

    def __init__(
        self,
        task: Union[Task, str],
        variant: Optional[str] = None,
        seed: Optional[int] = None,
        *,
        config: Mapping[str, object] = {},
        encoder: Optional[object] = None,
        threads: Optional[int] = None,
        **settings: object,
    ):
        said = {**config, **settings}
        if seed is not None:
            said["run.seed"] = seed
        if threads is not None:
            said["run.threads"] = threads
        adapter = adapted(encoder)
        with_dimension(said, adapter, variant)
        self._begin(plan_of(task, variant, said, encoder=adapter), task)

    def _begin(self, plan: core.Plan, task: Union[Task, str]) -> None:
        self._plan = plan
        self._task = task_of(plan.spec) if isinstance(task, str) else task
        self._given = task
        self._search = core.Search(plan)
        self._archive = Archive(self._search, self._task, self.settings)

    @property
    def task(self) -> Task:
        return self._task

    @property
    def archive(self) -> Archive:
        return self._archive

    @property
    def result_archive(self) -> Archive:
        """The same: there is one."""
        return self._archive

    @property
    def iterations(self) -> int:
        """How often it was told."""
        return self._search.iterations

    @property
    def seconds(self) -> dict[str, float]:
        """Spent by the search itself, phase by phase."""
        return self._search.seconds

    @property
    def settings(self) -> dict[str, str]:
        """Every setting that matters, as it would stand in config.toml."""
        return dict(self._plan.settings)

    def ask(self, solutions: Optional[ArrayLike] = None) -> NDArray[np.float32]:
        """Solutions to be evaluated, a row each; the array is yours. RuntimeError if the last ones
        were not told.

        `solutions` of your own, at most run.batch rows of genes in [0, 1], come in place of
        children, in their order; the rest of the batch is then drawn at random. A search can so
        begin with what is known."""
        if solutions is None:
            return self._search.ask()
        return self._search.ask(np.ascontiguousarray(np.atleast_2d(solutions), np.float32))

    def tell(
        self, fitness: ArrayLike, sensory: ArrayLike, ground_truth: Optional[ArrayLike] = None
    ) -> dict[str, int]:
        """What the solutions of the last ask() did, row by row; says how many were `added`,
        `replaced`, `rejected` or `invalid`. A row with NaN somewhere is invalid: so is told that an
        evaluation failed. RuntimeError without ask(), ValueError for wrong shapes or types; it may
        then be told again. A task that senses nothing but its ground truth is told it once:
        tell(objective, measures), as pyribs has it."""
        rows = self._search.waiting()
        if ground_truth is None:
            if self._task.sensory != (len(self._task.axes),):
                raise ValueError(
                    "tell needs fitness, sensory data and ground truth, unless the last two are "
                    f"the same; '{self._task.name}' senses {self._task.sensory}"
                )
            ground_truth = sensory = np.ascontiguousarray(sensory)  # copied once
        return self._search.tell(*self._task.checked(fitness, sensory, ground_truth, rows))

    def save(self, directory: PathLike) -> None:
        """Writes the whole state into a directory of its own, as the checkpoints of runs are; what
        was saved before is kept beside it. `aurora.run` can go on from there, too."""
        self._search.save(str(directory))
        if isinstance(self._given, Task):
            self._task.save(Path(directory) / TASK_FILE)

    @classmethod
    def load(
        cls,
        directory: PathLike,
        task: Union[None, Task, str] = None,
        *,
        encoder: Optional[object] = None,
        threads: Optional[int] = None,
    ) -> Scheduler:
        """Goes on from a directory that `save` or a run has written, to the very bits. A task is
        needed for a run of a task in Python, and an encoder where the search had one."""
        folder = Path(directory)
        if not (folder / "config.toml").is_file():
            raise FileNotFoundError(f"'{folder}' holds no state: there is no config.toml in it")
        if task is None:
            file = folder / TASK_FILE
            task = Task.load(file) if file.is_file() else _name_of_task(folder)
        settings: dict[str, object] = {} if threads is None else {"run.threads": threads}
        scheduler = cls.__new__(cls)
        scheduler._begin(
            plan_of(task, None, settings, run=str(folder), encoder=adapted(encoder)), task
        )
        scheduler._search.load(str(folder))
        return scheduler

    def __repr__(self) -> str:
        return (
            f"<aurora.Scheduler: {self._task.name}, {self._plan.variant}, seed {self._plan.seed}, "
            f"{self.iterations} iterations, {len(self.archive)} individuals>"
        )


def _name_of_task(folder: Path) -> str:
    for line in (folder / "config.toml").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "task":
            name = value.strip().strip('"')
            if name in core.tasks():
                return name
            raise ValueError(f"'{folder}' is of a task of its own, '{name}': say task=...")
    raise ValueError(f"'{folder}/config.toml' names no task")


def describe(name: str, **options: Any) -> Task:
    """A task of the library's by its name, with what it says of itself."""
    settings = {f"task.{option}": value for option, value in options.items()}
    return task_of(plan_of(name, None, settings).spec)
