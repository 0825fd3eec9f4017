"""The container of a run as one file that other programs read."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from .runs import PathLike, Run


def to_csv(run: Run, file: PathLike) -> None:
    """A line per individual: id, fitness, ground truth, descriptors, genes, extra columns. Numbers
    are written with as many digits as reading them back exactly takes."""
    frame = run.container.frame()
    with _whole(Path(file)) as aside:
        frame.to_csv(aside, index=False)


def to_npz(run: Run, file: PathLike) -> None:
    """Every column under its name, sensory data too, uncompressed: numpy.load(file)."""
    container = run.container
    with _whole(Path(file)) as aside, open(aside, "wb") as out:
        np.savez(out, **{column: container[column] for column in container.columns})


class _whole:
    """A name to write to, which becomes `path` if all went well: never half a file."""

    def __init__(self, path: Path):
        self.path = path
        self.aside = path.with_name(f".{path.name}.new")

    def __enter__(self) -> Path:
        return self.aside

    def __exit__(self, kind, *_) -> None:
        if kind is None:
            self.aside.replace(self.path)
        else:
            self.aside.unlink(missing_ok=True)
