"""The figures of a report. Each function draws one and returns it, or None if the runs have nothing
to show. Colours are Okabe and Ito's, which the colour-blind tell apart; line styles help."""
from __future__ import annotations

import math
import textwrap
from typing import Iterable, Optional, Sequence

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .runs import Container, Run
from .study import DIMENSION, T_C, T_E, Arm, Study

plt.rcParams.update(
    {
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.alpha": 0.3,
        "grid.linewidth": 0.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "savefig.dpi": 130,
    }
)

BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#000000",
    "#999999",
)
# A circle of colours, for angles.
ROTATION = LinearSegmentedColormap.from_list(
    "rotation", [BLUE, SKY, GREEN, ORANGE, RED, PURPLE, BLUE]
)
STYLES: dict[str, tuple[str, str]] = {
    "aurora-csc-uniform": (BLUE, "-"),
    "aurora-csc-novelty": (ORANGE, "-"),
    "aurora-csc-surprise": (RED, "-"),
    "aurora-vat-uniform": (BLUE, "--"),
    "aurora-vat-novelty": (ORANGE, "--"),
    "aurora-pid-uniform": (SKY, "-."),
    "taxons": (PURPLE, "-"),
    "hc-csc-uniform": (BLACK, "-"),
    "ns": (GREEN, "-"),
    "random-search": (GREY, "-"),
    "map-elites": (BLACK, ":"),
    "cvt-map-elites": (GREEN, ":"),
}
OTHERS = [(PURPLE, "--"), (SKY, ":"), (GREY, "--"), (RED, ":"), (GREEN, "--"), (ORANGE, ":")]
# How a table of variants reads best: AURORA, then what it is compared with.
ORDER = {family: i for i, family in enumerate(STYLES)}
LABELS = {
    "coverage": "coverage (%)",
    "grid_mean_fitness": "grid mean fitness",
    "container_size": "container size",
    "threshold": "distance threshold $l$",
    "loss_per_update": "container loss per update",
    "orientation_coverage": "orientation coverage (%)",
    "trajectory_diversity": "trajectory diversity (%)",
}
UNITS = {"maze": "", "hexapod": " (m)", "air-hockey": " (m)"}
PHASES = {
    "simulate": BLUE,
    "encode": SKY,
    "train": ORANGE,
    "container": GREEN,
    "variation": PURPLE,
    "metrics": RED,
    "io": BLACK,
}
ORIENTATION_GRID, TRAJECTORY_GRID = 16, 10
MOST_TRAJECTORIES = 150


def ordered(arms: Iterable[Arm]) -> list[Arm]:
    return sorted(
        arms,
        key=lambda arm: (
            ORDER.get(arm.family, len(ORDER)),
            arm.family,
            arm.dimension or 0,
            arm.label,
        ),
    )


def style(arm: Arm, arms: Sequence[Arm]) -> dict[str, str]:
    """The look of an arm, the same in all figures if the variant is one of ours."""
    strangers = sorted({other.family for other in arms} - set(STYLES))
    look = STYLES.get(arm.family) or OTHERS[strangers.index(arm.family) % len(OTHERS)]
    return {"color": look[0], "linestyle": look[1]}


def _legend_below(figure: Figure, axes: Axes, columns: int = 4) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=columns)


def _panels(count: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(width * columns, height * rows),
        squeeze=False,
        layout="constrained",
    )
    figure.get_layout_engine().set(wspace=0.06, hspace=0.04)
    axes = list(grid.flat)
    for unused in axes[count:]:
        unused.remove()
    return figure, axes[:count]


def _colorbar(
    figure: Figure, shown: ScalarMappable, panels: Sequence[Axes], label: str, **options
) -> Colorbar:
    """One for all panels, no taller than what it explains."""
    rows = panels[0].get_subplotspec().get_gridspec().nrows
    return figure.colorbar(shown, ax=panels, label=label, shrink=0.6, aspect=12 * rows, **options)


def _angle_bar(figure: Figure, shown: ScalarMappable, panels: Sequence[Axes], label: str) -> None:
    bar = _colorbar(figure, shown, panels, label, ticks=[-np.pi, 0, np.pi])
    bar.ax.set_yticklabels([r"$-\pi$", "0", r"$\pi$"])


def _curves(axes: Axes, arms: Sequence[Arm], metric: str) -> None:
    """Medians with inter-quartile bands."""
    for arm in arms:
        curve = arm.curve(metric)
        curve = curve[np.isfinite(curve["median"])]
        look = style(arm, arms)
        axes.plot(curve.index, curve["median"], label=arm.label, linewidth=1.4, **look)
        if len(arm.runs) > 1:
            axes.fill_between(
                curve.index,
                curve["low"],
                curve["high"],
                color=look["color"],
                alpha=0.15,
                linewidth=0,
            )
    axes.set_xlabel("iteration")
    axes.set_ylabel(LABELS.get(metric, metric.replace("_", " ")))


def progress(arms: Sequence[Arm], metrics: Sequence[str]) -> Optional[Figure]:
    """Metrics over the iterations, a panel each."""
    arms = ordered(arms)
    shown = {metric: [arm for arm in arms if arm.has(metric)] for metric in metrics}
    if "threshold" in shown:  # the population-based variants have none: they write 0
        shown["threshold"] = [arm for arm in arms if (arm.curve("threshold")["median"] > 0).any()]
    shown = {metric: having for metric, having in shown.items() if having}
    if not shown:
        return None
    figure, panels = _panels(len(shown), 2, 4.6, 3.3)
    for axes, (metric, having) in zip(panels, shown.items()):
        _curves(axes, having, metric)
        if metric == "threshold":
            axes.set_yscale("log")
        if metric == "container_size":
            for size in {
                arm.target_size
                for arm in having
                if arm.settings.get("container.kind") == "unstructured"
            }:
                axes.axhline(size, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)))
    _legend_below(figure, panels[0], 4 if len(shown) > 1 else 2)
    return figure


# ---- The hand-coded descriptor space ----


def _space(axes: Axes, container: Container) -> None:
    """Bounds and names of the hand-coded space. The Maze's y goes down, as in its pictures."""
    axes.set_xlim(*container.bounds[0])
    axes.set_ylim(*container.bounds[1])
    if container.task == "maze":
        axes.invert_yaxis()
    unit = UNITS.get(container.task, "")
    axes.set_xlabel(container.axes[0] + unit)
    axes.set_ylabel(container.axes[1] + unit)
    axes.set_aspect("equal" if container.task in UNITS else "auto")
    axes.grid(False)


def containers(arms: Sequence[Arm]) -> Optional[Figure]:
    """What each variant found, coloured by fitness; the replication with the median coverage."""
    arms = [arm for arm in ordered(arms) if len(arm.example().container.axes) > 1]
    if not arms:
        return None
    found = [arm.example().container for arm in arms]
    fitness = np.concatenate(
        [container.fitness for container in found if len(container)] or [np.zeros(1)]
    )
    low, high = np.percentile(fitness, [1, 99])
    figure, panels = _panels(len(arms), 4, 2.4, 2.3)
    for axes, arm, container in zip(panels, arms, found):
        order = np.argsort(container.fitness)  # the best on top
        x, y = container.ground_truth[order, :2].T
        points = axes.scatter(
            x,
            y,
            c=container.fitness[order],
            s=1.5,
            cmap="viridis",
            vmin=low,
            vmax=high,
            linewidths=0,
            rasterized=True,
        )
        _space(axes, container)
        axes.set_title(f"{arm.label}\n{len(container)} individuals")
    _colorbar(figure, points, panels, "fitness", extend="both")
    return figure


def latent(arms: Sequence[Arm]) -> Optional[Figure]:
    """Two-dimensional latent spaces beside the hand-coded one, and beside both the space of an
    encoder trained from scratch if there is one. A point has one colour in all: that of its
    direction from the median of the hand-coded descriptors."""
    arms = ordered(two_dimensional(arms))
    if not arms:
        return None
    columns = 3 if any(arm.retrained for arm in arms) else 2
    figure, panels = _panels(columns * len(arms), columns, 3.6, 3.2)
    for number, arm in enumerate(arms):
        run = _latent_example(arm)
        container = run.container
        where = container.ground_truth[:, :2]
        offset = (where - np.median(where, axis=0)) / np.maximum(
            np.ptp(container.bounds[:2], axis=1), 1e-9
        )
        angle = np.arctan2(offset[:, 1], offset[:, 0])
        spaces = [
            (f"{textwrap.fill(arm.label, 40)}\nhand-coded", where),
            ("learned in the run", container.descriptors),
        ]
        if arm.retrained:
            spaces.append(("re-trained from scratch", run.retrained.descriptors))
        row = panels[columns * number : columns * (number + 1)]
        for axes, (title, points) in zip(row, spaces):
            axes.set_title(title)
            shown = axes.scatter(
                *points.T,
                c=angle,
                s=3,
                cmap=ROTATION,
                vmin=-np.pi,
                vmax=np.pi,
                linewidths=0,
                rasterized=True,
            )
        _space(row[0], container)
        for axes, (_, points) in zip(row[1:], spaces[1:]):
            _robust_limits(axes, points)
            axes.set(xlabel="latent 1", ylabel="latent 2")
            axes.grid(False)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(MaxNLocator(4))
        for unused in row[len(spaces) :]:
            unused.axis("off")
            unused.text(0.5, 0.5, "not re-trained", ha="center", color=GREY)
    _angle_bar(figure, shown, panels, "direction from the median")
    return figure


def two_dimensional(arms: Iterable[Arm]) -> list[Arm]:
    """Those whose latent space can be drawn beside the hand-coded one."""
    return [arm for arm in arms if arm.dimension == 2 and len(arm.example().container.axes) > 1]


def _latent_example(arm: Arm) -> Run:
    """The run in the middle, or one that was re-trained if that one was not."""
    example = arm.example()
    return example if example in arm.retrained else next(iter(arm.retrained), example)


def _robust_limits(axes: Axes, points: np.ndarray) -> None:
    """Shows all but the outermost 2 % of either axis: a few far points would hide the rest."""
    for set_limits, values in zip((axes.set_xlim, axes.set_ylim), points.T):
        low, high = np.percentile(values, [1, 99])
        margin = 0.05 * (high - low) or 1.0
        set_limits(low - margin, high + margin)


# ---- What encoders make of their input ----


def reconstructions(arms: Sequence[Arm]) -> Optional[Figure]:
    """What a dozen individuals sensed and what the encoder of the run makes of it: pictures above
    their reconstructions, or both as curves in one panel."""
    runs = {arm.label: arm.example() for arm in ordered(arms)}
    runs = {label: run for label, run in runs.items() if run.reconstructions}
    if not runs:
        return None
    pictures = next(iter(runs.values())).container.sensory.ndim == 4
    height = 2 if pictures else 1
    columns = max(len(run.reconstructions) for run in runs.values())
    figure, grid = plt.subplots(
        height * len(runs),
        columns,
        figsize=(0.95 * columns, (0.95 * height + 0.25) * len(runs)),
        squeeze=False,
        layout="constrained",
    )
    figure.get_layout_engine().set(h_pad=0.02, hspace=0)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(True)
    for number, (label, run) in enumerate(runs.items()):
        rows = grid[height * number : height * (number + 1)]
        rows[0, 0].set_title(label, loc="left")
        container, made = run.container, run.reconstructions
        places = np.searchsorted(container.ids, made.ids)
        for column, (sensed, again) in enumerate(
            zip(np.asarray(container.sensory[places]), made["reconstructions"])
        ):
            if pictures:
                _picture(rows[0, column], sensed / 255)
                _picture(rows[1, column], again)
            else:
                _sequence(rows[0, column], sensed, again, container)
        for unused in rows[:, len(made) :].flat:
            unused.remove()
        if pictures:
            rows[0, 0].set_ylabel("sensed")
            rows[1, 0].set_ylabel("reconstructed")
    if not pictures:
        _legend_below(figure, grid[0, 0], 3)
    return figure


def _picture(axes: Axes, values: np.ndarray) -> None:
    values = np.clip(np.nan_to_num(values), 0, 1)
    if values.shape[-1] not in (1, 3):  # no colours: how bright it is on average
        values = values.mean(axis=-1, keepdims=True)
    axes.imshow(
        values.squeeze(-1) if values.shape[-1] == 1 else values, cmap="gray", vmin=0, vmax=1
    )


def _sequence(axes: Axes, sensed: np.ndarray, again: np.ndarray, container: Container) -> None:
    """Points of the plane as a path, everything else as values over the steps."""
    path = sensed.ndim == 2 and sensed.shape[1] == 2
    for values, look, label in (
        (sensed, {"color": BLACK}, "sensed"),
        (np.nan_to_num(again), {"color": ORANGE, "linestyle": "--"}, "reconstructed"),
    ):
        curves = (
            [values.T] if path else [(np.arange(len(values)), v) for v in np.atleast_2d(values.T)]
        )
        for i, curve in enumerate(curves):
            axes.plot(*curve, linewidth=1, label=label if i == 0 else None, **look)
    if path:
        axes.plot(*sensed[0], "o", color=BLACK, markersize=3, label="begins here")
        axes.set(xlim=container.bounds[0], ylim=container.bounds[1], aspect="equal")


# ---- Hexapod ----


def orientation_maps(arms: Sequence[Arm]) -> Optional[Figure]:
    """How many individuals lie in each cell of pitch and roll."""
    arms = [arm for arm in ordered(arms) if {"pitch", "roll"} <= set(arm.example().container.axes)]
    if not arms:
        return None
    figure, panels = _panels(len(arms), 4, 2.5, 2.5)
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
        axes.set_title(arm.label)
        axes.set_xlabel("pitch (rad)")
        axes.set_ylabel("roll (rad)")
        axes.grid(False)
    _colorbar(figure, shown, panels, "individuals")
    return figure


# ---- Air-Hockey ----


def _trajectories(arms: Sequence[Arm]) -> list[tuple[Arm, np.ndarray]]:
    """The arms whose sensory data are trajectories, with those of an example: (individuals, points,
    2)."""
    found = []
    for arm in ordered(arms):
        container = arm.example().container
        if arm.has("trajectory_diversity") and len(container):
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
    figure, panels = _panels(len(found), 4, 2.6, 2.6)
    for axes, (arm, _), score in zip(panels, found, scores):
        shown = axes.imshow(
            score, origin="lower", extent=(-1, 1, -1, 1), cmap="viridis", vmin=0, vmax=most
        )
        axes.set_title(f"{arm.label}\nmean {score.mean():.1f} %")
        axes.set_xlabel("final x (m)")
        axes.set_ylabel("final y (m)")
        axes.grid(False)
    _colorbar(figure, shown, panels, "cells visited on the way (%)")
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
    figure, panels = _panels(len(found), 4, 2.6, 2.6)
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
        axes.set_title(f"{arm.label}\n{len(chosen)} end here")
        axes.set(xlim=(-1, 1), ylim=(-1, 1), xlabel="x (m)", ylabel="y (m)", aspect="equal")
        axes.grid(False)
    _angle_bar(figure, lines, panels, "initial angle")
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


# ---- Sweeps ----


def latent_sizes(study: Study, task: str) -> Optional[Figure]:
    """Container size, coverage and loss by the size of the latent space, CSC against VAT."""
    sweeps = {
        family: study.sweep(task, family, DIMENSION)
        for family in ("aurora-csc-uniform", "aurora-vat-uniform")
    }
    return _sweep_figure(
        {name: sweep for name, sweep in sweeps.items() if sweep},
        "latent size n",
        ["container_size", "coverage", "loss_per_update"],
    )


def update_periods(study: Study, task: str) -> Optional[Figure]:
    """Coverage by T_C and by T_E."""
    figure = None
    shown = {
        "container-update period $T_C$": study.sweep(task, "aurora-csc-uniform", T_C),
        "encoder step $T_E$": study.sweep(task, "aurora-csc-uniform", T_E),
    }
    shown = {name: sweep for name, sweep in shown.items() if sweep}
    if shown:
        figure, panels = _panels(len(shown), 2, 4.2, 3.0)
        for axes, (name, sweep) in zip(panels, shown.items()):
            _sweep_axes(axes, {"aurora-csc-uniform": sweep}, name, "coverage")
    return figure


def orientation_by_latent_size(study: Study) -> Optional[Figure]:
    """Beside what the hand-coded descriptor reaches."""
    sweep = study.sweep("hexapod", "aurora-csc-uniform", DIMENSION)
    hand_coded = study.find("hexapod", "hc-csc-uniform")
    return _sweep_figure(
        {"aurora-csc-uniform": sweep} if sweep else {},
        "latent size n",
        ["orientation_coverage"],
        hand_coded,
    )


def _sweep_axes(axes: Axes, sweeps: dict[str, dict[int, Arm]], xlabel: str, metric: str) -> None:
    keys = sorted({key for sweep in sweeps.values() for key in sweep})
    axes.set_xticks(range(len(keys)), [str(key) for key in keys])
    for family, sweep in sweeps.items():
        values = [arm.values(metric) for arm in sweep.values()]
        low, median, high = np.array([np.percentile(v, [25, 50, 75]) for v in values]).T
        places = [keys.index(key) for key in sweep]
        color, line = STYLES.get(family, OTHERS[0])
        axes.plot(
            places,
            median,
            marker="o" if line == "-" else "s",
            markersize=4,
            linewidth=1.4,
            label=family,
            color=color,
            linestyle=line,
        )
        if (low < high).any():
            axes.errorbar(
                places, median, [median - low, high - median], fmt="none", ecolor=color, capsize=3
            )
    axes.set_xlabel(xlabel)
    axes.set_ylabel(LABELS.get(metric, metric))


def _sweep_figure(
    sweeps: dict[str, dict[int, Arm]],
    xlabel: str,
    metrics: Sequence[str],
    reference: Optional[Arm] = None,
) -> Optional[Figure]:
    metrics = [
        metric
        for metric in metrics
        if sweeps and all(arm.has(metric) for sweep in sweeps.values() for arm in sweep.values())
    ]
    if not metrics:
        return None
    figure, panels = _panels(len(metrics), 3, 3.3, 2.9)
    for axes, metric in zip(panels, metrics):
        _sweep_axes(axes, sweeps, xlabel, metric)
        if metric == "container_size":
            target = next(iter(next(iter(sweeps.values())).values())).target_size
            axes.axhline(
                target, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)), label="target size N"
            )
        if reference and reference.has(metric):
            axes.axhline(
                np.median(reference.values(metric)), color=BLACK, linewidth=1, label=reference.label
            )
    _legend_below(figure, panels[0])
    return figure


# ---- Time ----


def seconds(arms: Sequence[Arm]) -> Optional[Figure]:
    """Seconds of each phase: medians over the replications."""
    arms = ordered(arms)
    spent = [
        {
            phase: float(
                np.median([run.summary.get("seconds", {}).get(phase, 0.0) for run in arm.runs])
            )
            for phase in PHASES
        }
        for arm in arms
    ]
    if not any(sum(row.values()) for row in spent):
        return None
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.3 * len(arms)), layout="constrained")
    left = np.zeros(len(arms))
    for phase, color in PHASES.items():
        widths = np.array([row[phase] for row in spent])
        axes.barh(range(len(arms)), widths, left=left, color=color, label=phase, height=0.7)
        left += widths
    axes.set_yticks(range(len(arms)), [arm.label for arm in arms])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("seconds per run")
    axes.xaxis.set_major_locator(MaxNLocator(8))
    _legend_below(figure, axes, len(PHASES))
    return figure
