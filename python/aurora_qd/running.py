"""Runs from Python: the driver of the program, with a robot in Python or one of the library's."""
from __future__ import annotations

import signal
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Union

import numpy as np

from ._extension import core
from .encoders import adapted, with_dimension
from .evaluation import Batch, Check, Evaluate, Executor, RunEvaluation, check as check_purity
from .progress import Progress
from .repertoire import Means
from .runs import PathLike, Run, RunError, load
from .task import Task, plan_of, task_of


TERMINATED = 128 + signal.SIGTERM  # the status of a process that SIGTERM has ended


class ImpureWarning(UserWarning):
    """An evaluation depends on more than its genotype."""


def run(
    task: Union[Task, str],
    evaluate: Optional[Evaluate] = None,
    iterations: Optional[int] = None,
    out: Optional[PathLike] = None,
    *,
    variant: Optional[str] = None,
    seed: Optional[int] = None,
    executor: Optional[Executor] = None,
    per_solution: Optional[bool] = None,
    resume: bool = True,
    check: bool = True,
    encoder: Optional[object] = None,
    threads: Optional[int] = None,
    progress: bool = True,
    config: Mapping[str, object] = {},
    **settings: object,
) -> Run:
    """A whole run, as `aurora run` does it: a directory of plain files, checkpoints every minute,
    progress on stderr. Gives the run, opened.

    `evaluate` is a function over a batch, (n, genes) to (fitness, sensory, ground_truth), or, with
    `per_solution` or an `executor`, over one genotype; an executor is whatever has a `map`. A task
    of the library's, by its name, needs none. Solutions whose evaluation raises, or is not finite,
    are left out and kept in `out`/failures; evaluations that hang are reported.

    If there is a run in `out`, it goes on from its last checkpoint, to the very bits that it would
    have had, or is given as it is if it is finished; without `resume`, `out` must be new. Ctrl-C
    and SIGTERM end the run after its iteration, a second one at once; everything is saved, and
    KeyboardInterrupt raised, or SystemExit with the status 143 for SIGTERM. Signals that somebody
    else handles are left to them, and so are all of them in threads that are not the main one.

    Before anything is written, `check` looks whether a few solutions give the same bits however
    they are evaluated (aurora.check), and, if the run goes on, whether stored solutions still give
    what is stored.
    """
    said = {**config, **settings}
    for key, value in (
        ("run.iterations", iterations),
        ("run.seed", seed),
        ("run.threads", threads),
    ):
        if value is not None:
            said[key] = value
    adapter = adapted(encoder)
    with_dimension(said, adapter, variant)
    stop = core.Stop()
    batch = None
    if isinstance(task, Task):
        if evaluate is None:
            raise ValueError(f"the task '{task.name}' needs evaluate, a function of solutions")
        batch = Batch(task, evaluate, executor, per_solution)
    elif evaluate is not None:
        raise ValueError(f"'{task}' is a task of the library's, which evaluates it itself")
    evaluation = RunEvaluation(batch, stop) if batch else None

    goes_on = resume and out is not None and (Path(out) / "config.toml").is_file()
    plan = plan_of(
        task,
        variant,
        said,
        run=str(out) if goes_on else None,
        evaluate=evaluation,
        encoder=adapter,
    )
    folder = Path(out) if out is not None else _free_folder(plan)
    told = Progress(quiet=not progress)
    for note in plan.notes:
        told.note(note)

    remarks = adapter.remarks() if adapter and plan.learned else []
    if batch and check:
        if goes_on:
            _check_stored(batch, folder)
        else:
            remarks += _check_pure(batch)
    with _signals(stop, told) as received:
        try:
            whole = core.run(plan, str(folder), resume and out is not None, told, stop, remarks)
        except InterruptedError:
            if signal.SIGTERM in received:  # workers of an executor got it, too
                raise SystemExit(TERMINATED) from None
            if evaluation and evaluation.error:
                raise evaluation.error from None
            raise
    if not whole:
        if evaluation and isinstance(evaluation.error, SystemExit):
            raise evaluation.error
        if signal.SIGTERM in received:
            raise SystemExit(TERMINATED)
        raise KeyboardInterrupt(f"the run in '{folder}' was interrupted; it can be resumed")
    return open_run(
        folder, task=task, evaluate=evaluate, encoder=encoder, per_solution=per_solution
    )


def open_run(
    path: PathLike,
    *,
    task: Union[None, Task, str] = None,
    evaluate: Optional[Evaluate] = None,
    encoder: Optional[object] = None,
    per_solution: Optional[bool] = None,
) -> Run:
    """Opens a run directory. For `Run.replay` of a robot in Python, and `Run.encode` where the
    encoder is in Python, those are needed again."""
    opened = load(path)
    object.__setattr__(opened, "means", Means(task, evaluate, encoder, bool(per_solution)))
    return opened


def _free_folder(plan: core.Plan) -> Path:
    name = f"{plan.spec.name}-{plan.variant}-seed{plan.seed}"
    folder = Path("runs") / name
    number = 2
    while folder.exists():
        folder = folder.with_name(f"{name}-{number}")
        number += 1
    return folder


def _check_pure(batch: Batch) -> list[str]:
    found: Check = check_purity(
        batch.task, batch.evaluate, executor=batch.executor, per_solution=batch.per_solution
    )
    if found.ok:
        return []
    name = batch.task.name
    raised = any("it raises" in line for line in found.differences)
    what = (
        f"evaluations of '{name}' fail; such solutions are left out"
        if raised
        else f"the evaluation of '{name}' is not a pure function of the genotype; the run goes on, "
        "but may not be the same again"
    )
    warnings.warn(f"{what}:\n{found}", ImpureWarning, stacklevel=3)
    said = "evaluations fail" if raised else "the evaluation is not pure"
    return [f"{said}: {line}" for line in found.differences]


def _check_stored(batch: Batch, folder: Path) -> None:
    """A run that goes on with another robot would be neither's."""
    stored = _stored(folder)
    if stored is None or not len(stored["fitness"]):
        return
    rows = np.unique(np.linspace(0, len(stored["fitness"]) - 1, 4).astype(int))
    batch.forget()
    again = batch(np.ascontiguousarray(stored["genotypes"][rows], np.float32))
    names = ("fitness", "sensory", "ground_truth")
    near = all(
        np.allclose(stored[name][rows], values, rtol=1e-3, atol=1e-5)
        for name, values in zip(names, again)
    )
    if not near:
        raise ValueError(
            f"the run in '{folder}' was begun with another evaluation: its solutions no longer give "
            "what is stored. Choose another directory, or pass resume=False to be told if one is "
            "in use; raise Task.version when an evaluation changes"
        )
    if not all(np.array_equal(stored[name][rows], values) for name, values in zip(names, again)):
        warnings.warn(
            f"solutions of the run in '{folder}' do not give the very bits that are stored",
            ImpureWarning,
            stacklevel=3,
        )


def _stored(folder: Path) -> Optional[dict[str, Any]]:
    for place in ("checkpoint/container.", "container/"):
        try:
            return {
                name: np.load(folder / f"{place}{name}.npy", mmap_mode="r")
                for name in ("genotypes", "fitness", "sensory", "ground_truth")
            }
        except (OSError, ValueError, OverflowError):
            continue
    return None


@contextmanager
def _signals(stop: core.Stop, told: Progress) -> Iterator[list[int]]:
    """While it lasts, the first Ctrl-C or SIGTERM asks the run to end, and the second one raises
    KeyboardInterrupt or SystemExit wherever Python is. Gives those that came."""
    received: list[int] = []

    def handle(number: int, frame: object) -> None:
        received.append(number)
        if stop.wanted:
            raise SystemExit(TERMINATED) if number == signal.SIGTERM else KeyboardInterrupt
        stop.set()
        name = "SIGTERM" if number == signal.SIGTERM else "Ctrl-C"
        told.note(f"the run ends after this iteration; {name} again ends it at once")

    ours = ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL))
    mine = threading.current_thread() is threading.main_thread()
    before = {
        number: signal.signal(number, handle)
        for number, usual in ours
        if mine and signal.getsignal(number) is usual
    }
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


__all__ = ["ImpureWarning", "RunError", "open_run", "run", "task_of"]
