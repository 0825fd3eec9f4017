"""The figures of a report. Each function draws one and returns it, or None if the runs have nothing
to show. They know no task: what is about the paper's is in paper_figures.py."""
from __future__ import annotations

import textwrap
from typing import Iterable, Optional, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    ROTATION,
    SKY,
    angle_bar,
    colorbar,
    legend_below,
    looks,
    make_panels,
    metric_label,
    ordered,
    style,
    text,
)
from .runs import Axis, Container, Run
from .study import DIMENSION, T_C, T_E, Arm, Study

PHASES = {
    "simulate": BLUE,
    "encode": SKY,
    "train": ORANGE,
    "container": GREEN,
    "variation": PURPLE,
    "metrics": RED,
    "io": BLACK,
}
# Ranges that differ by more than this are drawn with scales of their own.
MOST_UNEQUAL = 4.0


def _curves(
    axes: Axes,
    arms: Sequence[Arm],
    metric: str,
    shown: dict[str, dict[str, object]],
    table: str = "metrics",
) -> None:
    """Medians with inter-quartile bands."""
    for arm in arms:
        curve = arm.curve(metric, table)
        curve = curve[np.isfinite(curve["median"])]
        look = dict(shown[arm.label])
        if len(curve) < 3 and not look["marker"]:  # a line of one point is none
            look.update(marker=".", markersize=8)
        axes.plot(
            curve.index,
            curve["median"],
            label=text(arm.label),
            linewidth=1.4,
            markevery=max(1, len(curve) // 8),
            **look,
        )
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
    axes.set_ylabel(metric_label(metric, arms))


def progress(
    arms: Sequence[Arm], metrics: Sequence[str], table: str = "metrics"
) -> Optional[Figure]:
    """Columns of metrics.csv, or of encoder.csv, over the iterations, a panel each."""
    arms = ordered(arms)
    shown = {metric: [arm for arm in arms if arm.has(metric, table)] for metric in metrics}
    if "threshold" in shown:  # the population-based variants have none, or write 0
        shown["threshold"] = [
            arm for arm in shown["threshold"] if (arm.curve("threshold", table)["median"] > 0).any()
        ]
    shown = {metric: having for metric, having in shown.items() if having}
    if not shown:
        return None
    figure, panels = make_panels(len(shown), 2, 4.6, 3.3)
    for axes, (metric, having) in zip(panels, shown.items()):
        _curves(axes, having, metric, looks(arms), table)
        if metric == "threshold":
            axes.set_yscale("log")
        if metric == "container_size":
            for size in {
                arm.target_size
                for arm in having
                if arm.settings.get("container.kind") == "unstructured"
            }:
                axes.axhline(size, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)))
    legend_below(figure, panels, 4 if len(shown) > 1 else 2)
    return figure


# ---- The hand-coded descriptor space ----


def _alike(across: Axis, along: Axis) -> bool:
    """Whether one scale fits both: the same unit, and ranges of about the same size."""
    shorter, longer = sorted([across.max - across.min, along.max - along.min])
    return across.unit == along.unit and longer <= MOST_UNEQUAL * shorter


def _limits(axes: Axes, across: Axis, along: Axis) -> None:
    """The bounds of the two, the second upside down if larger values lie further down."""
    axes.set_xlim(across.min, across.max)
    axes.set_ylim(along.min, along.max)
    if along.direction == "down":
        axes.invert_yaxis()


def _space(axes: Axes, container: Container) -> None:
    """Bounds, names and units of the hand-coded space."""
    across, along = container.space[:2]
    _limits(axes, across, along)
    axes.set_xlabel(text(across.label))
    axes.set_ylabel(text(along.label))
    axes.set_aspect("equal" if _alike(across, along) else "auto")
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
    figure, panels = make_panels(len(arms), 4, 2.4, 2.3)
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
        axes.set_title(f"{text(arm.label)}\n{len(container)} individuals")
    colorbar(figure, points, panels, "fitness", extend="both")
    return figure


def latent(arms: Sequence[Arm]) -> Optional[Figure]:
    """Two-dimensional latent spaces beside the hand-coded one, and beside both the space of an
    encoder trained from scratch if there is one. A point has one colour in all: that of its
    direction from the median of the hand-coded descriptors."""
    arms = ordered(two_dimensional(arms))
    if not arms:
        return None
    columns = 3 if any(arm.retrained for arm in arms) else 2
    figure, panels = make_panels(columns * len(arms), columns, 3.6, 3.2)
    for number, arm in enumerate(arms):
        run = _latent_example(arm)
        container = run.container
        where = container.ground_truth[:, :2]
        offset = (where - np.median(where, axis=0)) / np.maximum(
            np.ptp(container.bounds[:2], axis=1), 1e-9
        )
        angle = np.arctan2(offset[:, 1], offset[:, 0])
        spaces = [
            (f"{text(textwrap.fill(arm.label, 40))}\nhand-coded", where),
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
    angle_bar(figure, shown, panels, "direction from the median")
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
        rows[0, 0].set_title(text(label), loc="left")
        container, made = run.container, run.reconstructions
        places = np.searchsorted(container.ids, made.ids)
        for column, (sensed, again) in enumerate(
            zip(np.asarray(container.sensory[places]), made["reconstructions"])
        ):
            if pictures:
                scale = 255 if sensed.dtype == np.uint8 else 1
                _picture(rows[0, column], sensed / scale)
                _picture(rows[1, column], again)
            else:
                _sequence(rows[0, column], sensed, again, container)
        for unused in rows[:, len(made) :].flat:
            unused.remove()
        if pictures:
            rows[0, 0].set_ylabel("sensed")
            rows[1, 0].set_ylabel("reconstructed")
    if not pictures:
        legend_below(figure, [grid[0, 0]], 3)
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
        axes.set_aspect("equal")
        if _within(sensed, container):
            _limits(axes, *container.space[:2])


def _within(points: np.ndarray, container: Container) -> bool:
    """Whether they can be points of the hand-coded space, which is all that is known of them."""
    if len(container.space) < 2 or not _alike(*container.space[:2]):
        return False
    low, high = container.bounds[:2].T
    slack = 0.05 * (high - low)
    return bool(((points >= low - slack) & (points <= high + slack)).all())


# ---- Sweeps ----


def sweeps_over(study: Study, task: str, key: str) -> dict[str, dict[int, Arm]]:
    """Those of every variant that was run with several values of a setting, by family."""
    families = dict.fromkeys(arm.family for arm in ordered(study.of(task)))
    found = {family: study.sweep(task, family, key) for family in families}
    return {family: sweep for family, sweep in found.items() if sweep}


def latent_sizes(study: Study, task: str) -> Optional[Figure]:
    """Container size, coverage and loss by the size of the latent space."""
    return sweep_figure(
        sweeps_over(study, task, DIMENSION),
        "latent size n",
        ["container_size", "coverage", "loss_per_update"],
    )


def update_periods(study: Study, task: str) -> Optional[Figure]:
    """Coverage by T_C and by T_E."""
    shown = {
        "container-update period $T_C$": sweeps_over(study, task, T_C),
        "encoder step $T_E$": sweeps_over(study, task, T_E),
    }
    shown = {name: _measuring(sweeps, "coverage") for name, sweeps in shown.items()}
    shown = {name: sweeps for name, sweeps in shown.items() if sweeps}
    if not shown:
        return None
    figure, panels = make_panels(len(shown), 2, 4.2, 3.0)
    families = study.families(task)
    for axes, (name, sweeps) in zip(panels, shown.items()):
        _sweep_axes(axes, sweeps, name, "coverage", families)
    legend_below(figure, panels)
    return figure


def _measuring(sweeps: dict[str, dict[int, Arm]], metric: str) -> dict[str, dict[int, Arm]]:
    return {
        family: sweep
        for family, sweep in sweeps.items()
        if all(arm.has(metric) for arm in sweep.values())
    }


def _sweep_axes(
    axes: Axes,
    sweeps: dict[str, dict[int, Arm]],
    xlabel: str,
    metric: str,
    families: Iterable[str],
) -> None:
    keys = sorted({key for sweep in sweeps.values() for key in sweep})
    axes.set_xticks(range(len(keys)), [str(key) for key in keys])
    for family, sweep in sweeps.items():
        values = [arm.values(metric) for arm in sweep.values()]
        low, median, high = np.array([np.percentile(v, [25, 50, 75]) for v in values]).T
        places = [keys.index(key) for key in sweep]
        look = style(family, families)
        axes.plot(
            places,
            median,
            marker="o" if look["linestyle"] == "-" else "s",
            markersize=4,
            linewidth=1.4,
            label=text(family),
            **look,
        )
        if (low < high).any():
            axes.errorbar(
                places,
                median,
                [median - low, high - median],
                fmt="none",
                ecolor=look["color"],
                capsize=3,
            )
    axes.set_xlabel(xlabel)
    arms = [arm for sweep in sweeps.values() for arm in sweep.values()]
    axes.set_ylabel(metric_label(metric, arms))


def sweep_figure(
    sweeps: dict[str, dict[int, Arm]],
    xlabel: str,
    metrics: Sequence[str],
    reference: Optional[Arm] = None,
) -> Optional[Figure]:
    """A panel per metric, with a line per family; beside a reference that has no such setting."""
    shown = {metric: _measuring(sweeps, metric) for metric in metrics}
    shown = {metric: having for metric, having in shown.items() if having}
    if not shown:
        return None
    figure, panels = make_panels(len(shown), 3, 3.3, 2.9)
    for axes, (metric, having) in zip(panels, shown.items()):
        _sweep_axes(axes, having, xlabel, metric, sweeps)
        if metric == "container_size":
            target = next(iter(next(iter(having.values())).values())).target_size
            axes.axhline(
                target, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)), label="target size N"
            )
        if reference and reference.has(metric):
            axes.axhline(
                np.median(reference.values(metric)),
                color=BLACK,
                linewidth=1,
                label=text(reference.label),
            )
    legend_below(figure, panels)
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
    axes.set_yticks(range(len(arms)), [text(arm.label) for arm in arms])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("seconds per run")
    axes.xaxis.set_major_locator(MaxNLocator(8))
    legend_below(figure, [axes], len(PHASES))
    return figure
