"""What all figures share: colours, how variants look and are ordered, names of metrics, panels,
legends and bars. Colours are Okabe and Ito's, which the colour-blind tell apart; line styles help.
"""
from __future__ import annotations

import math
import textwrap
from itertools import count
from typing import Any, Iterable, Sequence

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from .study import MAIN_DIMENSION, Arm

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
    "aurora-dns": (SKY, "-"),
    "dns": (SKY, "--"),
}
# For everything else: first the looks that stand out most.
OTHERS = [(PURPLE, "--"), (RED, "--"), (GREY, "--"), (RED, ":"), (GREEN, "--"), (ORANGE, ":")]
OTHERS += [
    (color, line)
    for line in ("-.", "--", ":", "-")
    for color in (RED, GREEN, ORANGE, PURPLE, BLUE, BLACK, SKY, GREY)
    if (color, line) not in [*STYLES.values(), *OTHERS]
]
# For those that are left when the looks are used up.
MARKERS = ("", "o", "s", "^", "v", "D", "x", "+", "*")
# How a table of variants reads best: AURORA, then what it is compared with.
ORDER = {family: i for i, family in enumerate(STYLES)}
# Of metrics whose column does not say it well.
NAMES = {
    "qd_score": "QD score",
    "threshold": "distance threshold",
    "loss_per_update": "container loss per update",
    "truth_r2": "R² of the hand-coded descriptor",
}


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


def style(family: str, families: Iterable[str]) -> dict[str, str]:
    """The look of a variant among others; the same in all figures if it is one of ours."""
    strangers = sorted(set(families) - set(STYLES))
    color, line = STYLES.get(family) or OTHERS[strangers.index(family) % len(OTHERS)]
    return {"color": color, "linestyle": line}


def looks(arms: Sequence[Arm]) -> dict[str, dict[str, Any]]:
    """By label. A variant of ours looks the same in all figures, in that of its arms which is most
    as the paper has it; every other has a colour and line of its own, and a marker when those are
    used up."""

    def nearness(arm: Arm) -> tuple:
        return -abs((arm.dimension or MAIN_DIMENSION) - MAIN_DIMENSION), arm.plainness

    first = {arm.family: arm.label for arm in sorted(arms, key=nearness)}
    others = count()
    found: dict[str, dict[str, Any]] = {}
    for arm in arms:
        if arm.family in STYLES and arm.label == first[arm.family]:
            color, line, marker = (*STYLES[arm.family], "")
        else:
            round, place = divmod(next(others), len(OTHERS))
            color, line, marker = (*OTHERS[place], MARKERS[round % len(MARKERS)])
        found[arm.label] = {"color": color, "linestyle": line, "marker": marker, "markersize": 4}
    return found


def wrapped(words: str, width: int) -> str:
    """The same over several lines; a setting and its value stay together."""
    together = words.replace(" = ", "\u00a0=\u00a0")
    return text(textwrap.fill(together, width, break_on_hyphens=False))


def text(words: str) -> str:
    """A name from outside as Matplotlib shows it: a dollar would begin a formula, and what begins
    with an underscore is in no legend."""
    words = words.replace("$", r"\$")
    return " " + words if words.startswith("_") else words


def metric_name(metric: str) -> str:
    return NAMES.get(metric) or metric.replace("_", " ").strip()


def metric_label(metric: str, arms: Iterable[Arm]) -> str:
    """The name, with the unit if one of the arms tells it."""
    unit = next(filter(None, (arm.unit(metric) for arm in arms)), "")
    return f"{metric_name(metric)} ({unit})" if unit else metric_name(metric)


def legend_below(figure: Figure, panels: Iterable[Axes]) -> None:
    """Everything that has a label in any of the panels, once; in as many columns as fit."""
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            entries.setdefault(label, handle)
    longest = max((len(line) for label in entries for line in label.splitlines()), default=0)
    inches = 0.45 + 0.07 * longest  # of a column
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncol=max(1, min(len(entries), int(figure.get_figwidth() / inches))),
    )


def make_panels(count: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
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


def colorbar(
    figure: Figure, shown: ScalarMappable, panels: Sequence[Axes], label: str, **options: Any
) -> Colorbar:
    """One for all panels, no taller than what it explains."""
    rows = panels[0].get_subplotspec().get_gridspec().nrows
    return figure.colorbar(shown, ax=panels, label=label, shrink=0.6, aspect=12 * rows, **options)


def angle_bar(figure: Figure, shown: ScalarMappable, panels: Sequence[Axes], label: str) -> None:
    bar = colorbar(figure, shown, panels, label, ticks=[-np.pi, 0, np.pi])
    bar.ax.set_yticklabels([r"$-\pi$", "0", r"$\pi$"])
