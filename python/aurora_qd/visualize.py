"""Pictures of what was found, called as pyribs' `ribs.visualize` is. Each function draws into `ax`,
or the current axes, and gives them.

    from aurora_qd.visualize import grid_archive_heatmap
    grid_archive_heatmap(scheduler.archive, vmin=-36, vmax=0)       # or a run, or its container
"""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from .archive import Archive, individuals_of
from .runs import Axis, Container, Run

Found = Union[Archive, Run, Container]


def grid_archive_heatmap(
    archive: Found,
    ax: Optional[Any] = None,
    *,
    transpose_measures: bool = False,
    cmap: Any = "magma",
    aspect: Any = "auto",
    vmin: Optional[float] = None,
    vmax: Optional[float] = None,
    cbar: Any = "auto",
    cbar_kwargs: Optional[Mapping[str, Any]] = None,
    rasterized: bool = False,
    pcm_kwargs: Optional[Mapping[str, Any]] = None,
) -> Any:
    """The best fitness in each cell of the grid that coverage is about: over the first two values of
    the ground truth, whatever the container looks like."""
    seen = individuals_of(archive)
    resolution = int(seen.setting("metrics.grid.resolution", 40))
    axes = seen.axes[:2]
    best = best_of_cells(
        seen.column("ground_truth")[:, :2], seen.column("fitness"), axes, resolution
    )
    edges = [np.linspace(axis.min, axis.max, resolution + 1) for axis in axes]
    if transpose_measures:
        axes, edges, best = axes[::-1], edges[::-1], best.T
    drawn = _axes(ax)
    shown = drawn.pcolormesh(
        edges[0],
        edges[1],
        best.T,
        cmap=cmap,
        vmin=vmin,
        vmax=vmax,
        rasterized=rasterized,
        **(pcm_kwargs or {}),
    )
    _space(drawn, axes, aspect)
    _bar(drawn, shown, cbar, cbar_kwargs)
    return drawn


def proximity_archive_plot(
    archive: Found,
    ax: Optional[Any] = None,
    *,
    measures: str = "descriptors",
    transpose_measures: bool = False,
    cmap: Any = "magma",
    aspect: Any = "auto",
    ms: Optional[float] = None,
    lower_bounds: Optional[Sequence[float]] = None,
    upper_bounds: Optional[Sequence[float]] = None,
    vmin: Optional[float] = None,
    vmax: Optional[float] = None,
    cbar: Any = "auto",
    cbar_kwargs: Optional[Mapping[str, Any]] = None,
    rasterized: bool = False,
) -> Any:
    """A dot for each individual where its descriptor is, in the colour of its fitness; or, with
    `measures="ground_truth"`, where its first two values of that are."""
    seen = individuals_of(archive)
    points = seen.column(measures)
    order = [1, 0] if transpose_measures else [0, 1]
    if measures == "ground_truth":
        names = seen.axes[:2]
    else:
        if points.shape[1] != 2:
            raise ValueError(
                f"descriptors of {points.shape[1]} dimensions are no places in a plane: "
                'say measures="ground_truth"'
            )
        ends = zip(*_ends(points, lower_bounds, upper_bounds))
        names = [Axis(f"descriptor {i}", *end) for i, end in enumerate(ends)]
    drawn = _axes(ax)
    shown = drawn.scatter(
        points[:, order[0]],
        points[:, order[1]],
        s=None if ms is None else ms**2,
        c=seen.column("fitness"),
        cmap=cmap,
        vmin=vmin,
        vmax=vmax,
        rasterized=rasterized,
    )
    _space(drawn, [names[i] for i in order], aspect)
    _bar(drawn, shown, cbar, cbar_kwargs)
    return drawn


def best_of_cells(
    points: NDArray[Any], fitness: NDArray[Any], axes: Sequence[Axis], resolution: int
) -> NDArray[np.float64]:
    """[step along the first axis, along the second]; NaN where nobody is. Who is out of bounds is
    in no cell."""
    low, high = np.array([(axis.min, axis.max) for axis in axes], float).T
    unit = (points.astype(float) - low) / (high - low)
    inside = ((unit >= 0) & (unit <= 1)).all(axis=1)
    steps = np.minimum((unit[inside] * resolution).astype(int), resolution - 1)
    best = np.full((resolution, resolution), -np.inf)
    np.maximum.at(best, tuple(steps.T), fitness[inside])
    return np.where(np.isinf(best), np.nan, best)


def _ends(
    points: NDArray[Any], lower: Optional[Sequence[float]], upper: Optional[Sequence[float]]
) -> tuple[Sequence[float], Sequence[float]]:
    """As pyribs has it: somewhat more than what the points take, unless said."""
    if not len(points):
        points = np.array([[0.0, 0.0], [1.0, 1.0]])
    low, high = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    more = 0.01 * np.where(high > low, high - low, 1)
    return (low - more if lower is None else lower), (high + more if upper is None else upper)


def _axes(ax: Optional[Any]) -> Any:
    import matplotlib.pyplot as plt

    return plt.gca() if ax is None else ax


def _space(drawn: Any, axes: Sequence[Axis], aspect: Any) -> None:
    for axis, limit, label in zip(
        axes, (drawn.set_xlim, drawn.set_ylim), (drawn.set_xlabel, drawn.set_ylabel)
    ):
        ends = (axis.min, axis.max) if axis.direction == "up" else (axis.max, axis.min)
        limit(*ends)
        label(axis.label)
    drawn.set_aspect(aspect)


def _bar(drawn: Any, shown: Any, cbar: Any, more: Optional[Mapping[str, Any]]) -> None:
    """`cbar` is "auto", None, or axes for it."""
    if cbar is None:
        return
    where = {"ax": drawn} if isinstance(cbar, str) and cbar == "auto" else {"cax": cbar}
    drawn.figure.colorbar(shown, **where, **(more or {}))
