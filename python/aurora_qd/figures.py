"""The figures of a report. Each function draws one and returns it, or None if the runs have nothing
to show. They know no task: what is about the paper's is in paper_figures.py."""
from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.spatial import cKDTree

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
    wrapped,
)
from .runs import Axis, Container, Run
from .study import SHORT, Arm, Study, clock_of

PHASES = {
    "simulate": BLUE,
    "encode": SKY,
    "train": ORANGE,
    "container": GREEN,
    "variation": PURPLE,
    "metrics": RED,
    "io": BLACK,
}
CLOCKS = {"iteration": "iterations", "evaluations": "evaluations"}
# Ranges that differ by more than this are drawn with scales of their own.
MOST_UNEQUAL = 4.0
SAMPLE = 200  # pictures that show what lies behind all of them
SHARE_AS_SEEN = 0.9  # of them, in which the robot must be seen where it is
VORONOI_PIXELS = 400
ABREAST = 6  # reconstructions


def _curves(
    axes: Axes,
    arms: Sequence[Arm],
    metric: str,
    shown: dict[str, dict[str, object]],
    table: str,
    clock: str,
) -> None:
    """Medians with inter-quartile bands."""
    for arm in arms:
        curve = arm.curve(metric, table, clock)
        curve = curve[np.isfinite(curve["median"])]
        look = dict(shown[arm.label])
        if len(curve) < 3 and not look["marker"]:  # a line of one point is none
            look.update(marker=".", markersize=8)
        axes.plot(
            curve.index,
            curve["median"],
            label=wrapped(arm.label, 90),
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
    axes.set_xlabel(CLOCKS[clock])
    axes.set_ylabel(text(metric_label(metric, arms)))


def progress(
    arms: Sequence[Arm],
    metrics: Sequence[str],
    table: str = "metrics",
    among: Sequence[Arm] = (),
) -> Optional[Figure]:
    """Columns of metrics.csv, or of encoder.csv, over the iterations, a panel each. The arms look
    as they do `among` others, which other figures show."""
    arms, among = ordered(arms), ordered(among or arms)
    clock = clock_of(among) if table == "metrics" else "iteration"
    shown = {metric: [arm for arm in arms if arm.has(metric, table)] for metric in metrics}
    if "threshold" in shown:  # the population-based variants have none, or write 0
        shown["threshold"] = [
            arm for arm in shown["threshold"] if (arm.curve("threshold", table)["median"] > 0).any()
        ]
    shown = {metric: having for metric, having in shown.items() if having}
    if not shown:
        return None
    columns = 3 if len(shown) in (3, 5, 6) else 2
    figure, panels = make_panels(len(shown), columns, 3.4 if columns == 3 else 4.2, 3.0)
    for axes, (metric, having) in zip(panels, shown.items()):
        _curves(axes, having, metric, looks(among), table, clock)
        if metric == "threshold":
            axes.set_yscale("log")
        if metric == "container_size":
            for size in {
                arm.target_size
                for arm in having
                if arm.settings.get("container.kind") == "unstructured"
            }:
                axes.axhline(size, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)))
    legend_below(figure, panels)
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


def with_container(arms: Iterable[Arm]) -> list[Arm]:
    """Digests need not have one."""
    return [arm for arm in arms if arm.example().has_container]


def maps(arms: Sequence[Arm]) -> Optional[Figure]:
    """What each configuration found, coloured by fitness, before what the robot's camera sees; the
    replication with the median coverage. One alone is drawn large."""
    arms = [arm for arm in ordered(with_container(arms)) if len(arm.example().container.axes) > 1]
    if not arms:
        return None
    alone = len(arms) == 1
    found = [arm.example().container for arm in arms]
    low, high = _fitness_range(found)
    width = 5.2 if alone else 3.2 if len(arms) < 4 else 2.6
    figure, panels = make_panels(len(arms), 4, width, width)
    for axes, arm, container in zip(panels, arms, found):
        _space(axes, container)
        cells = cell_values(arm, container)
        if cells is None:
            shown = _points(axes, container, _dot(container, width))
        else:
            shown = _image(axes, cells, container)
        shown.set_clim(low, high)
        behind = seen_from_above(container)
        if behind is not None:
            _image(axes, _walls(behind), container, "bilinear")
        title = wrapped(arm.label, int(12 * width))
        axes.set_title(f"{title}\n{len(container)} individuals")
    colorbar(figure, shown, panels, "fitness", extend="both")
    return figure


def _fitness_range(containers: Sequence[Container]) -> np.ndarray:
    """All but the outermost 2 %."""
    fitness = [container.fitness for container in containers if len(container)]
    return np.percentile(np.concatenate(fitness or [np.zeros(1)]), [1, 99])


def _dot(container: Container, width: float) -> float:
    """How large points are drawn that share a square of so many inches."""
    return float(np.clip(600 * width**2 / max(len(container), 1), 2, 20))


def _points(axes: Axes, container: Container, size: float) -> ScalarMappable:
    order = np.argsort(container.fitness)  # the best on top
    x, y = container.ground_truth[order, :2].T
    return axes.scatter(x, y, c=container.fitness[order], s=size, linewidths=0, rasterized=True)


def _image(
    axes: Axes, values: np.ndarray, container: Container, interpolation: str = "nearest"
) -> ScalarMappable:
    """All over the hand-coded space; the first row has the smallest values of the second axis."""
    extent, aspect = container.bounds[:2].ravel(), axes.get_aspect()
    shown = axes.imshow(values, origin="lower", extent=extent, interpolation=interpolation)
    axes.set_aspect(aspect)  # an image sets its own, and limits too
    _limits(axes, *container.space[:2])
    return shown


def cell_values(arm: Arm, container: Container) -> Optional[np.ndarray]:
    """The fitness in the cells of MAP-Elites, NaN where there is none; None if the container has no
    cells in the hand-coded space, or is a sample of one."""
    if container.manifest.get("sample_of", len(container)) > len(container):
        return None
    kind = arm.settings.get("container.kind")
    if kind not in ("grid", "cvt") or arm.dimension or not len(container):
        return None
    if container.descriptors.shape[1] != 2:  # cells of more dimensions than are drawn
        return None
    low, high = container.bounds[:2].T
    where = (container.ground_truth[:, :2] - low) / (high - low)
    steps = round(np.sqrt(arm.target_size))
    if kind == "grid":
        values = np.full((steps, steps), np.nan)
        columns, rows = np.clip((where * steps).astype(int), 0, steps - 1).T
        values[rows, columns] = container.fitness
        return values
    # The centroids are not in a run: every place is its nearest member's, if that is near.
    middles = (np.arange(VORONOI_PIXELS) + 0.5) / VORONOI_PIXELS
    distance, nearest = cKDTree(where).query(np.stack(np.meshgrid(middles, middles), axis=-1))
    return np.where(distance < 1 / steps, container.fitness[nearest], np.nan)


def seen_from_above(container: Container) -> Optional[np.ndarray]:
    """What lies behind all individuals, if they sensed pictures that show the hand-coded space from
    above; its first row has the smallest values of the second axis. Pictures are such if what sets
    one apart from the median of all is, within half a pixel, where the ground truth says."""
    sensory = getattr(container, "sensory", None)  # a digest has none
    if sensory is None or sensory.ndim != 4 or len(container) < 10:
        return None
    rows = np.sort(np.random.default_rng(1).permutation(len(container))[:SAMPLE])
    pictures = _shades(sensory[rows])
    if container.space[1].direction == "up":
        pictures = pictures[:, ::-1]
    behind = np.median(pictures, axis=0)
    apart = np.abs(pictures - behind).sum(axis=-1)
    apart /= np.maximum(apart.sum(axis=(1, 2), keepdims=True), 1e-12)
    size = np.array([apart.shape[2], apart.shape[1]])
    seen = [apart.sum(axis=i) @ (np.arange(n) + 0.5) for i, n in zip((1, 2), size)]
    low, high = container.bounds[:2].T
    true = (container.ground_truth[rows, :2] - low) / (high - low) * size
    near = (np.abs(np.transpose(seen) - true) < 0.5).all(axis=1)
    return behind if near.mean() >= SHARE_AS_SEEN else None


def _walls(behind: np.ndarray) -> np.ndarray:
    """What stands out from the commonest colour, through which all the rest is seen."""
    colours, counts = np.unique(behind.reshape(-1, behind.shape[-1]), axis=0, return_counts=True)
    apart = np.abs(behind - colours[counts.argmax()]).max(axis=-1, keepdims=True)
    shades = np.broadcast_to(_as_seen(behind).reshape(*apart.shape[:2], -1), (*apart.shape[:2], 3))
    return np.concatenate([shades, 0.6 * np.clip(apart, 0, 1)], axis=-1)


def latent(arms: Sequence[Arm]) -> Optional[Figure]:
    """The hand-coded space and what was learned in its place: latent spaces, of more than two
    dimensions by their first two principal components, and beside them the space of an encoder
    trained from scratch if there is one. Coloured by the ground truth (its direction from the
    median: a point has one colour in all) and by fitness."""
    arms = ordered(with_latent_space(arms))
    if not arms:
        return None
    columns = 4 if any(arm.retrained for arm in arms) else 3
    figure, panels = make_panels(columns * len(arms), columns, 3.3, 3.1)
    by_truth = ScalarMappable(Normalize(-np.pi, np.pi), ROTATION)
    by_fitness = ScalarMappable(
        Normalize(*_fitness_range([_latent_example(arm).container for arm in arms]))
    )
    for number, arm in enumerate(arms):
        run = _latent_example(arm)
        container = run.container
        where = container.ground_truth[:, :2]
        offset = (where - np.median(where, axis=0)) / np.maximum(
            np.ptp(container.bounds[:2], axis=1), 1e-9
        )
        angle = np.arctan2(offset[:, 1], offset[:, 0])
        learned, names = principal_components(container.descriptors)
        spaces = [
            (f"{wrapped(arm.label, 44)}\nhand-coded", where, angle, by_truth, ["", ""]),
            ("learned in the run, by ground truth", learned, angle, by_truth, names),
            ("learned in the run, by fitness", learned, container.fitness, by_fitness, names),
        ]
        if arm.retrained and run.retrained is not None:
            again, names = principal_components(run.retrained.descriptors)
            spaces.append(("re-trained from scratch", again, angle, by_truth, names))
        row = panels[columns * number : columns * (number + 1)]
        for axes, (title, points, values, scale, names) in zip(row, spaces):
            look = {"s": _dot(container, 2.5), "linewidths": 0, "rasterized": True}
            axes.scatter(*points.T, c=values, norm=scale.norm, cmap=scale.cmap, **look)
            axes.set(title=title, xlabel=names[0], ylabel=names[1])
            _robust_limits(axes, points)
            axes.grid(False)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(MaxNLocator(4))
        _space(row[0], container)
        for unused in row[len(spaces) :]:
            unused.axis("off")
            unused.text(0.5, 0.5, "not re-trained", ha="center", color=GREY)
    angle_bar(figure, by_truth, panels, "direction from the median")
    colorbar(figure, by_fitness, panels, "fitness", extend="both")
    return figure


def principal_components(points: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The first two, with the share of the variance that each has. What is flat already is left as
    it is; a line has zeros beside it."""
    if points.shape[1] == 1:
        return np.pad(points, ((0, 0), (0, 1))), ["latent 1", ""]
    if points.shape[1] == 2:
        return points, ["latent 1", "latent 2"]
    centred = points.astype(float) - points.mean(axis=0)
    spread, axes = np.linalg.eigh(centred.T @ centred)  # the largest last
    share = 100 * spread[:-3:-1] / max(spread.sum(), 1e-300)
    names = [f"principal component {i + 1} ({abs(share[i]):.0f} %)" for i in range(2)]
    return centred @ axes[:, :-3:-1], names


def with_latent_space(arms: Iterable[Arm]) -> list[Arm]:
    """Those whose latent space can be drawn beside the hand-coded one."""
    return [
        arm
        for arm in with_container(arms)
        if arm.dimension and len(arm.example().container.axes) > 1 and len(arm.example().container)
    ]


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
    """What individuals sensed and what the encoder of the run makes of it: pictures above their
    reconstructions, or both as curves in one panel. Half a dozen of each arm, all of one alone."""
    runs = {arm.label: arm.example() for arm in ordered(arms)}
    runs = {label: run for label, run in runs.items() if run.reconstructions}
    if not runs:
        return None
    pictures = next(iter(runs.values())).container.sensory.ndim == 4
    most = 2 * ABREAST if len(runs) == 1 else ABREAST
    blocks = [
        (
            label if first == 0 else "",
            run,
            range(first, min(first + ABREAST, len(run.reconstructions or ()))),
        )
        for label, run in runs.items()
        for first in range(0, min(most, len(run.reconstructions or ())), ABREAST)
    ]
    height = 2 if pictures else 1
    size = (1.6 * ABREAST, (1.5 * height + 0.4) * len(blocks))
    figure = plt.figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.04, hspace=0)
    strips = figure.subfigures(len(blocks), 1, squeeze=False)[:, 0]
    for strip, (label, run, members) in zip(strips, blocks):
        rows = strip.subplots(height, ABREAST, squeeze=False)
        if label:
            strip.suptitle(text(label), x=0.01, ha="left", fontsize=9)
        if pictures:
            rows[0, 0].set_ylabel("sensed")
            rows[1, 0].set_ylabel("reconstructed")
        for axes in rows.flat:
            axes.set(xticks=[], yticks=[])
            axes.grid(False)
            axes.spines[:].set_visible(True)
        for column, member in enumerate(members):
            _reconstruction(rows[:, column], run, member)
        for unused in rows[:, len(members) :].flat:
            unused.axis("off")
    if not pictures:
        legend_below(figure, [strips[0].axes[0]])
    return figure


def _reconstruction(rows: Sequence[Axes], run: Run, member: int) -> None:
    """What one individual sensed, and what was made of it, with the root mean square of what they
    differ by."""
    container, made = run.container, run.reconstructions
    assert made is not None
    sensed = _shades(container.sensory[np.searchsorted(container.ids, made.ids[member])])
    again = made["reconstructions"][member]
    if len(rows) == 2:
        _picture(rows[0], sensed)
        _picture(rows[1], again)
    else:
        _sequence(rows[0], sensed, again, container)
    rows[-1].set_xlabel(f"error {np.sqrt(np.mean((sensed - again) ** 2)):.3g}")


def _shades(values: np.ndarray) -> np.ndarray:
    """Of a picture, from 0 to 1."""
    return np.asarray(values, float) / (255 if values.dtype == np.uint8 else 1)


def _as_seen(values: np.ndarray) -> np.ndarray:
    """As Matplotlib shows it: colours, or grey."""
    values = np.clip(np.nan_to_num(values), 0, 1)
    return values if values.shape[-1] == 3 else values.mean(axis=-1)  # how bright it is on average


def _picture(axes: Axes, values: np.ndarray) -> None:
    axes.imshow(_as_seen(values), cmap="gray", vmin=0, vmax=1, interpolation="nearest")


def _sequence(axes: Axes, sensed: np.ndarray, again: np.ndarray, container: Container) -> None:
    """Points of the plane as a path, everything else as values over the steps."""
    path = sensed.ndim == 2 and sensed.shape[1] == 2
    for values, look, label in (
        (sensed, {"color": BLACK}, "sensed"),
        (np.nan_to_num(again), {"color": ORANGE, "linestyle": "--"}, "reconstructed"),
    ):
        steps = np.arange(len(values))
        curves = [tuple(values.T)] if path else [(steps, v) for v in np.atleast_2d(values.T)]
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


def sweep(study: Study, task: str, key: str, metrics: Sequence[str]) -> Optional[Figure]:
    """Metrics by a setting, of every variant that was run with several values of it."""
    families = dict.fromkeys(arm.family for arm in ordered(study.of(task)))
    found = {family: study.sweep(task, family, key) for family in families}
    name = f"{key} ({SHORT[key]})" if key in SHORT else key
    return sweep_figure({family: arms for family, arms in found.items() if arms}, name, metrics)


def _measuring(sweeps: dict[str, dict[Any, Arm]], metric: str) -> dict[str, dict[Any, Arm]]:
    return {
        family: sweep
        for family, sweep in sweeps.items()
        if all(arm.has(metric) for arm in sweep.values())
    }


def _sweep_axes(
    axes: Axes,
    sweeps: dict[str, dict[Any, Arm]],
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
    axes.set_ylabel(text(metric_label(metric, arms)))


def sweep_figure(
    sweeps: dict[str, dict[Any, Arm]],
    xlabel: str,
    metrics: Sequence[str],
    reference: Optional[Arm] = None,
) -> Optional[Figure]:
    """A panel per metric, with a line per family; beside a reference that has no such setting."""
    shown = {metric: _measuring(sweeps, metric) for metric in metrics}
    shown = {metric: having for metric, having in shown.items() if having}
    if not shown:
        return None
    figure, panels = make_panels(len(shown), 4, 3.1, 2.9)
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
    axes.set_yticks(range(len(arms)), [wrapped(arm.label, 48) for arm in arms])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("seconds per run")
    axes.xaxis.set_major_locator(MaxNLocator(8))
    legend_below(figure, [axes])
    return figure
