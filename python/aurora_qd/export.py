"""The container of a run as one file that other programs read."""
from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from .runs import PathLike, Run, RunError, reason


def to_csv(run: Run, file: PathLike) -> None:
    """A line per individual: id, fitness, ground truth, descriptors, genes, extra columns. Numbers
    are written with as many digits as reading them back exactly takes."""
    frame = run.container.frame()
    with _whole(Path(file)) as aside:
        frame.to_csv(aside, index=False)


def to_npz(run: Run, file: PathLike) -> None:
    """Every column under its name, sensory data too, uncompressed: numpy.load(file). Besides, of the
    columns of `ground_truth`: `axes` (names), `bounds` (a row each: lower, upper), `units` and
    `directions` ("up" or "down"); and the `task`, with its `title`. A column of a run's own that is
    called like one of these takes its place."""
    container = run.container
    told = {
        "task": np.array(container.task),
        "title": np.array(container.title),
        "axes": np.array(container.axes, str),
        "bounds": container.bounds,
        "units": np.array([axis.unit for axis in container.space], str),
        "directions": np.array([axis.direction for axis in container.space], str),
    }
    columns = {column: container[column] for column in container.columns}
    with _whole(Path(file)) as aside, open(aside, "wb") as out:
        np.savez(out, **{**told, **columns})


class _whole:
    """A name to write to, which becomes `path` if all went well: never half a file."""

    def __init__(self, path: Path):
        self.path = path
        self.aside = path.with_name(f".{path.name}.new")

    def __enter__(self) -> Path:
        return self.aside

    def __exit__(self, kind: object, error: object, _: object) -> None:
        try:
            if kind is None:
                self.aside.replace(self.path)
                return
        except OSError as problem:
            error = problem
        with suppress(OSError):
            self.aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise RunError(f"cannot write '{self.path}': {reason(error)}") from None
