"""The figures of the paper that are about one of its tasks: how a walking robot's body is turned,
and the ways of a puck. Each function draws one and returns it, or None if there is nothing to show.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from .drawing import BLACK, ROTATION, angle_bar, colorbar, make_panels, ordered, wrapped
from .figures import sweep_figure, with_container
from .paper import AIR_HOCKEY, HEXAPOD
from .study import DIMENSION, Arm, Study

if TYPE_CHECKING:
    from .report import Page

ORIENTATION_GRID, TRAJECTORY_GRID = 16, 10
MOST_TRAJECTORIES = 150


def sections(page: Page, study: Study) -> None:
    """Their part of the report."""
    page.section("orientation", "Hexapod: orientation")
    walking = study.main(HEXAPOD)
    page.figure(
        "orientation-latent-size",
        "Orientation coverage by latent size.",
        orientation_by_latent_size(study),
    )
    page.figure(
        "orientation-maps", "Individuals per cell of pitch and roll.", orientation_maps(walking)
    )

    page.section("trajectories", "Air-Hockey: trajectory diversity")
    hockey = study.main(AIR_HOCKEY)
    page.figure("diversity-maps", "Diversity score of each final cell.", diversity_maps(hockey))
    page.figure(
        "trajectories",
        "Trajectories that end in one cell (black square), coloured by the angle at "
        "which the puck starts.",
        trajectories_into_one_cell(hockey),
    )


# ---- Hexapod ----


def orientation_maps(arms: Sequence[Arm]) -> Optional[Figure]:
    """How many individuals lie in each cell of pitch and roll."""
    arms = [
        arm
        for arm in ordered(with_container(arms))
        if {"pitch", "roll"} <= set(arm.example().container.axes)
    ]
    if not arms:
        return None
    figure, panels = make_panels(len(arms), 4, 2.5, 2.5)
    counts = []
    for arm in arms:
        container = arm.example().container
        pitch, roll = (
            container.ground_truth[:, container.axes.index(name)] for name in ("pitch", "roll")
        )
        counts.append(np.histogram2d(roll, pitch, ORIENTATION_GRID, [(-np.pi, np.pi)] * 2)[0])
    most = max(count.max() for count in counts)
    for axes, arm, count in zip(panels, arms, counts):
        shown = axes.imshow(
            np.where(count > 0, count, np.nan),
            origin="lower",
            extent=[-np.pi, np.pi] * 2,
            cmap="viridis",
            norm=LogNorm(1, max(most, 2)),
        )
        axes.set_title(wrapped(arm.label, 30))
        axes.set_xlabel("pitch (rad)")
        axes.set_ylabel("roll (rad)")
        axes.grid(False)
    colorbar(figure, shown, panels, "individuals")
    return figure


def orientation_by_latent_size(study: Study) -> Optional[Figure]:
    """Beside what the hand-coded descriptor reaches."""
    sweep = study.sweep(HEXAPOD, "aurora-csc-uniform", DIMENSION)
    return sweep_figure(
        {"aurora-csc-uniform": sweep} if sweep else {},
        "latent size n",
        ["orientation_coverage"],
        study.find(HEXAPOD, "hc-csc-uniform"),
    )


# ---- Air-Hockey ----


def _trajectories(arms: Sequence[Arm]) -> list[tuple[Arm, np.ndarray]]:
    """The arms whose sensory data are trajectories, with those of an example: (individuals, points,
    2)."""
    found = []
    for arm in ordered(with_container(arms)):
        container = arm.example().container
        sensed = "sensory" in container.columns
        if arm.has("trajectory_diversity") and len(container) and sensed:
            found.append((arm, np.asarray(container.sensory).reshape(len(container), -1, 2)))
    return found


def _cells(points: np.ndarray) -> np.ndarray:
    """The cell of each point on the grid over [-1, 1]^2, -1 outside."""
    places = np.minimum(((points + 1) / 2 * TRAJECTORY_GRID).astype(int), TRAJECTORY_GRID - 1)
    inside = (np.abs(points) <= 1).all(axis=-1)
    return np.where(inside, places[..., 1] * TRAJECTORY_GRID + places[..., 0], -1)


def diversity_per_cell(trajectories: np.ndarray) -> np.ndarray:
    """For each cell, the % of cells visited by the trajectories that end in it; rows are y."""
    cells = _cells(trajectories)
    count = TRAJECTORY_GRID**2
    visited = np.zeros((count, count), bool)
    ends = np.broadcast_to(cells[:, -1:], cells.shape)
    inside = (cells >= 0) & (ends >= 0)
    visited[ends[inside], cells[inside]] = True
    return visited.mean(axis=1).reshape(TRAJECTORY_GRID, TRAJECTORY_GRID) * 100


def diversity_maps(arms: Sequence[Arm]) -> Optional[Figure]:
    found = _trajectories(arms)
    if not found:
        return None
    scores = [diversity_per_cell(trajectories) for _, trajectories in found]
    most = max(score.max() for score in scores)
    figure, panels = make_panels(len(found), 4, 2.6, 2.6)
    for axes, (arm, _), score in zip(panels, found, scores):
        shown = axes.imshow(
            score, origin="lower", extent=(-1, 1, -1, 1), cmap="viridis", vmin=0, vmax=most
        )
        axes.set_title(f"{wrapped(arm.label, 30)}\nmean {score.mean():.1f} %")
        axes.set_xlabel("final x (m)")
        axes.set_ylabel("final y (m)")
        axes.grid(False)
    colorbar(figure, shown, panels, "cells visited on the way (%)")
    return figure


def trajectories_into_one_cell(arms: Sequence[Arm]) -> Optional[Figure]:
    """Trajectories that end in one cell, of which all variants have many, coloured by the angle at
    which the puck first moves."""
    found = _trajectories(arms)
    if not found:
        return None
    ends = [_cells(trajectories[:, -1]) for _, trajectories in found]
    moves = [
        np.linalg.norm(trajectories[:, -1] - trajectories[:, 0], axis=1) > 0.05
        for _, trajectories in found
    ]
    counts = np.min(
        [
            np.bincount(end[(end >= 0) & moved], minlength=TRAJECTORY_GRID**2)
            for end, moved in zip(ends, moves)
        ],
        axis=0,
    )
    cell = int(counts.argmax())
    figure, panels = make_panels(len(found), 4, 2.6, 2.6)
    for axes, (arm, trajectories), end in zip(panels, found, ends):
        chosen = trajectories[end == cell]
        lines = _draw_trajectories(axes, chosen[:MOST_TRAJECTORIES])
        corner = (
            np.array([cell % TRAJECTORY_GRID, cell // TRAJECTORY_GRID]) / TRAJECTORY_GRID * 2 - 1
        )
        axes.add_patch(
            plt.Rectangle(
                corner,
                2 / TRAJECTORY_GRID,
                2 / TRAJECTORY_GRID,
                fill=False,
                color=BLACK,
                linewidth=1.5,
                zorder=3,
            )
        )
        axes.set_title(f"{wrapped(arm.label, 30)}\n{len(chosen)} end here")
        axes.set(xlim=(-1, 1), ylim=(-1, 1), xlabel="x (m)", ylabel="y (m)", aspect="equal")
        axes.grid(False)
    angle_bar(figure, lines, panels, "initial angle")
    return figure


def _draw_trajectories(axes: Axes, trajectories: np.ndarray) -> LineCollection:
    steps = np.diff(trajectories, axis=1)
    moving = np.linalg.norm(steps, axis=2) > 1e-4
    first = steps[np.arange(len(steps)), moving.argmax(axis=1)]
    lines = LineCollection(
        list(trajectories),
        array=np.arctan2(first[:, 1], first[:, 0]),
        cmap=ROTATION,
        linewidths=0.7,
        rasterized=True,
    )
    lines.set_clim(-np.pi, np.pi)
    axes.add_collection(lines)
    return lines
