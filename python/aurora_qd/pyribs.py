"""To pyribs and back: archives of theirs from what a search of ours has found, and searches of ours
that begin with what an archive of theirs holds. pyribs is needed where an archive of it is made."""
from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._extension import core
from .archive import Archive, Individuals, individuals_of
from .evaluation import Evaluate, fields_of
from .runs import Container, Run
from .scheduler import Scheduler

MEASURES = ("descriptors", "ground_truth")


def to_ribs(
    found: Union[Archive, Run, Container],
    archive: Optional[Any] = None,
    *,
    measures: str = "descriptors",
) -> Any:
    """An archive of pyribs with the individuals of `found`: of a scheduler's archive, of a run, or
    of a container.

    Without `archive`, it is made: a GridArchive or a CVTArchive with the same cells for the
    containers grid and cvt, a ProximityArchive that takes everybody for the others; with
    `measures="ground_truth"`, a GridArchive over the first two values of the ground truth, cell by
    cell the grid that coverage is about. Ground truth, sensory data and ids come along as the fields
    `ground_truth`, `sensory` and `id`.

    An `archive` of yours takes the individuals by its own rules, with those of the fields that it
    has.
    """
    if measures not in MEASURES:
        raise ValueError(f"measures are {' or '.join(MEASURES)}, not '{measures}'")
    seen = individuals_of(found)
    points = seen.column(measures)
    if archive is None:
        archive = _made(seen, measures, points.shape[1])
    size = archive.measure_dim
    if measures == "ground_truth":
        points = points[:, :size]
    if points.shape[1] != size:
        raise ValueError(
            f"an archive of pyribs with {size} measures cannot take {measures} of {points.shape[1]}"
        )
    fields = {
        name: np.asarray(seen.column(own))
        for name, own in (("ground_truth", "ground_truth"), ("sensory", "sensory"), ("id", "ids"))
        if name in archive.field_list
    }
    if len(points):
        archive.add(seen.column("genotypes"), seen.column("fitness"), points, **fields)
    return archive


def _made(seen: Individuals, measures: str, dimension: int) -> Any:
    try:
        from ribs.archives import CVTArchive, GridArchive, ProximityArchive
    except ModuleNotFoundError:
        raise ImportError("this needs pyribs: pip install ribs") from None
    truth, sensory = seen.column("ground_truth"), seen.column("sensory")
    common: dict[str, Any] = {
        "solution_dim": seen.column("genotypes").shape[1],
        "solution_dtype": np.float32,
        "objective_dtype": np.float32,
        "measures_dtype": np.float64,  # so that cells are computed as ours are
        "extra_fields": {
            "ground_truth": (truth.shape[1:], np.float32),
            "sensory": (sensory.shape[1:], sensory.dtype),
            "id": ((), np.uint64),
        },
    }
    box = [(axis.min, axis.max) for axis in seen.axes[:2]]
    kind = "metrics" if measures == "ground_truth" else seen.setting("container.kind", "")
    if kind in ("grid", "metrics"):
        if kind == "grid":
            cells = int(seen.setting("container.target_size", 0))
            resolution = max(round(cells ** (1 / len(box))), 1)
        else:
            resolution = int(seen.setting("metrics.grid.resolution", 40))
        return GridArchive(dims=[resolution] * 2, ranges=box, epsilon=0.0, **common)
    if kind == "cvt":
        low, high = np.array(box).T
        if not np.allclose(high - low, (high - low)[0]):
            raise ValueError(
                "the cells of this container are those of axes scaled to one length, which pyribs "
                "does not do: scale them yourself, and say archive=..."
            )
        cells, seed = (int(seen.setting(key, 0)) for key in ("container.target_size", "run.seed"))
        centroids = low + core.voronoi_centroids(cells, len(box), seed) * (high - low)
        return CVTArchive(centroids=centroids, ranges=box, **common)
    return ProximityArchive(
        measure_dim=dimension,
        k_neighbors=int(seen.setting("container.k", 15)),
        novelty_threshold=0.0,
        **common,
    )


def from_ribs(
    archive: Any,
    scheduler: Scheduler,
    evaluate: Evaluate,
    *,
    bounds: tuple[ArrayLike, ArrayLike] = (0, 1),
) -> Scheduler:
    """Begins a search with the solutions of an archive of pyribs: they are asked, evaluated and
    told, a batch an iteration, and enter the container by its rules; what is left of the last batch
    is drawn at random. `bounds` are what the genes 0 and 1 stand for there, a number or a row each.
    `evaluate` is a function of a batch. Gives the scheduler, which goes on from there."""
    solutions = np.asarray(archive.data("solution"), np.float64)
    low, high = (np.asarray(end, np.float64) for end in bounds)
    genes = ((solutions - low) / (high - low)).astype(np.float32)
    if genes.ndim != 2 or genes.shape[1] != scheduler.task.genes:
        raise ValueError(
            f"solutions of '{scheduler.task.name}' have {scheduler.task.genes} genes; those of the "
            f"archive have the shape {solutions.shape[1:]}"
        )
    outside = ~((genes >= 0) & (genes <= 1)).all(axis=1)
    if outside.any():
        raise ValueError(
            f"{np.count_nonzero(outside)} of {len(genes)} solutions are outside the bounds, e.g. "
            f"{solutions[outside][0]}: say bounds=(low, high)"
        )
    batch = int(scheduler.settings["run.batch"])
    for first in range(0, len(genes), batch):
        asked = scheduler.ask(genes[first : first + batch])
        scheduler.tell(*fields_of(evaluate(asked)))
    return scheduler
