"""Many runs as an experiment: replications are gathered into arms, and arms into sweeps."""
from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Iterable, Optional

import numpy as np
import pandas as pd

from .runs import ENCODER, METRICS, Loaded, Run

T_C, T_E, DIMENSION, BUDGET, BATCH, TARGET_SIZE = (
    "container.update_period",
    "encoder.update_step",
    "descriptor.dimension",
    "run.iterations",
    "run.batch",
    "container.target_size",
)
SHORT = {T_C: "T_C", T_E: "T_E", DIMENSION: "n", BUDGET: "iterations", TARGET_SIZE: "N"}
# Of [run], only these change results; and measuring more changes none.
COUNTING = (BUDGET, BATCH)
NOT_COUNTING = ("metrics.also",)
# The paper's values of what it sweeps.
USUAL = {T_C: 10, T_E: 10}
MAIN_DIMENSION = 10
# What our variants say: the parts that all of them have unless they say otherwise, and the rest.
PARTS = {
    "algorithm.kind": "quality-diversity",
    "container.kind": "unstructured",
    "encoder.kind": "auto",
    "selection.kind": "uniform",
    "variation.kind": "polynomial",
}
LEARNED, HAND_CODED = {"descriptor.kind": "learned"}, {"descriptor.kind": "hand-coded"}
TOURNAMENT = {
    "threshold.kind": "csc",
    "selection.kind": "tournament",
    "selection.criterion": "both",
    "selection.size": 4,
}
VARIANTS: dict[str, dict[str, Any]] = {
    **{
        f"aurora-{threshold}-{selection}": {
            **LEARNED,
            "threshold.kind": threshold,
            "selection.kind": selection,
        }
        for threshold, selection in (
            ("csc", "uniform"),
            ("csc", "novelty"),
            ("csc", "surprise"),
            ("vat", "uniform"),
            ("vat", "novelty"),
            ("pid", "uniform"),
        )
    },
    "taxons": {**LEARNED, "algorithm.kind": "taxons", "selection.kind": "novelty+surprise"},
    "hc-csc-uniform": {**HAND_CODED, "threshold.kind": "csc"},
    "random-search": {**HAND_CODED, "threshold.kind": "csc", "selection.kind": "none"},
    "ns": {**HAND_CODED, "algorithm.kind": "novelty-search", "selection.kind": "novelty"},
    "map-elites": {**HAND_CODED, "container.kind": "grid"},
    "cvt-map-elites": {**HAND_CODED, "container.kind": "cvt"},
    "aurora-dns": {**LEARNED, "container.kind": "dns"},
    "dns": {**HAND_CODED, "container.kind": "dns"},
    "aurora-uniform": {**LEARNED, "threshold.kind": "growing", "encoder.redraw": True},
    "hc-uniform": {**HAND_CODED, "threshold.kind": "growing"},
    "aurora-tournament": {**LEARNED, **TOURNAMENT, "encoder.redraw": True},
    "hc-tournament": {**HAND_CODED, **TOURNAMENT},
    "cma-me": {**HAND_CODED, "algorithm.kind": "cma-me", "container.kind": "grid"},
    "aurora-ensemble": {**LEARNED, "algorithm.kind": "ensemble", "threshold.kind": "csc"},
}
# Those whose names end in a dimension, also where a setting gives them another.
NUMBERED = [name for name, says in VARIANTS.items() if says["descriptor.kind"] == "learned"]
# The columns that need no explanation, by table.
KNOWN = {"metrics": METRICS, "encoder": ENCODER}


def learned_dimension(settings: dict[str, Any]) -> Optional[int]:
    """None if the descriptor is hand-coded."""
    return settings.get(DIMENSION) if settings.get("descriptor.kind") == "learned" else None


def family_of(variant: str, dimensions: Iterable[Optional[int]]) -> str:
    """The name without the dimension at its end, if that is what the number there is: a user's
    second idea of a kind may be called so too."""
    match = re.fullmatch(r"(.+)-(\d+)", variant)
    if match and (match[1] in NUMBERED or int(match[2]) in dimensions):
        return match[1]
    return variant


@cache
def said_by(variant: str) -> dict[str, Any]:
    """What a variant of ours says by its name; nothing of others."""
    family = family_of(variant, ())
    said = {**PARTS, **VARIANTS[family]} if family in VARIANTS else {}
    return {**said, DIMENSION: int(variant[len(family) + 1 :])} if family != variant else said


def counts(key: str, learned: bool) -> bool:
    """Whether a setting can matter to the result."""
    if key.startswith("run."):
        return key in COUNTING
    if key == DIMENSION or key.startswith("encoder."):
        return learned
    return key not in NOT_COUNTING


def kind_key(key: str) -> str:
    """The setting that says which part another one belongs to."""
    return f"{key.split('.')[0]}.kind"


def is_kind(key: str) -> bool:
    return key == kind_key(key)


@dataclass(frozen=True)
class Arm:
    """Replications: runs that differ in nothing but the seed (and in what changes no result)."""

    task: str
    variant: str
    settings: dict[str, Any]
    runs: list[Run]
    label: str  # the study's; else the variant and what sets this arm apart from it
    family: str  # the variant without the dimension of its learned descriptor; the label of a mix

    @property
    def dimension(self) -> Optional[int]:
        """Of the learned descriptor; None if it is hand-coded."""
        return learned_dimension(self.settings)

    @property
    def target_size(self) -> float:
        return float(self.settings.get(TARGET_SIZE, np.nan))

    @property
    def replications(self) -> int:
        return sum(run.finished for run in self.runs)

    @property
    def retrained(self) -> list[Run]:
        """The runs whose encoder was trained again from scratch, with the same dimension."""
        return [
            run
            for run in self.runs
            if run.retrained is not None and run.retrained.descriptors.shape[1] == self.dimension
        ]

    @cached_property
    def departures(self) -> list[str]:
        """The settings in which it is not what its variant says, if that is one of ours; its
        dimension aside."""
        said = said_by(self.variant).items()
        return [k for k, v in said if k != DIMENSION and self.settings.get(k, v) != v]

    @property
    def plainness(self) -> tuple:
        """The larger, the more it is what one would take the variant for."""
        usual = sum(self.settings.get(key) == value for key, value in USUAL.items())
        return -len(self.departures), usual, len(self.runs), self.settings.get(BUDGET, 0)

    def last(self, clock: str) -> int:
        """The last iteration, or number of evaluations, that all the runs have logged."""
        return int(min(run.metrics[clock].iloc[-1] for run in self.runs))

    @property
    def last_iteration(self) -> int:
        return self.last("iteration")

    def has(self, metric: str, table: str = "metrics") -> bool:
        """Whether all its runs have measured it, by the last iteration that all have logged."""
        last = self.last_iteration
        return all(len(_numbers(run, metric, table, last)) for run in self.runs)

    def unit(self, metric: str) -> str:
        return next((run.units[metric] for run in self.runs if metric in run.units), "")

    def curve(self, metric: str, table: str = "metrics", clock: str = "iteration") -> pd.DataFrame:
        """Median and quartiles over the replications (columns low, median, high), by iteration or
        by number of evaluations."""
        values = pd.concat(
            [getattr(run, table).set_index(clock)[metric] for run in self.runs],
            axis=1,
            join="inner",
        )
        quantiles = values.quantile([0.25, 0.5, 0.75], axis=1).T
        return quantiles.set_axis(["low", "median", "high"], axis=1)

    def values(self, metric: str, at: Optional[int] = None, clock: str = "iteration") -> np.ndarray:
        """One value per replication that has one: the last at or before the iteration, or number of
        evaluations; the last that all have logged unless said."""
        at = self.last(clock) if at is None else at
        columns = (_numbers(run, metric, "metrics", at, clock) for run in self.runs)
        return np.array([column.iloc[-1] for column in columns if len(column)], float)

    def example(self, metric: str = "coverage") -> Run:
        """The run in the middle, of those whose container is there if it is of some; by the size of
        the container if the metric was not measured."""
        metric = metric if self.has(metric) else "container_size"
        runs = [run for run in self.runs if run.has_container] or self.runs

        def last(run: Run) -> float:
            return _numbers(run, metric, "metrics", np.inf).iloc[-1]

        return sorted(runs, key=last)[(len(runs) - 1) // 2]


def _numbers(
    run: Run, metric: str, table: str, until: float, clock: str = "iteration"
) -> pd.Series:
    """What a run measured up to an iteration. Cells may be NaN, and the column may be absent."""
    rows: pd.DataFrame = getattr(run, table)
    if metric not in rows or not pd.api.types.is_numeric_dtype(rows[metric]):
        return pd.Series(dtype=float)
    column = rows.loc[rows[clock] <= until, metric]
    return column[np.isfinite(column)]


def clock_of(arms: Iterable[Arm]) -> str:
    """What runs are compared by: iterations, or evaluations if an iteration of one has more of them
    than one of another."""
    arms = list(arms)
    told = all("evaluations" in run.metrics for arm in arms for run in arm.runs)
    return (
        "evaluations"
        if told and len({arm.settings.get(BATCH) for arm in arms}) > 1
        else "iteration"
    )


class Study:
    """What a report is about. `notes` has a line for everything a reader should know of."""

    def __init__(self, loaded: Loaded):
        self.notes = list(loaded.problems)
        runs = loaded.runs
        versions = Counter(run.summary["version"] for run in runs)
        if len(versions) > 1:
            told = ", ".join(f"{version} ({count})" for version, count in sorted(versions.items()))
            self.notes.append(f"runs of different versions are compared: {told}")
        digests = sum(run.is_digest for run in runs)
        if digests:
            self.notes.append(
                f"{digests} of {len(runs)} runs are digests: one of each configuration has a "
                "container, a sample of what it was"
            )
        arms = [arm for group in self._grouped(runs) for arm in self._replications(group)]
        self.arms = self._named(arms)
        for task in self.tasks:
            few = [arm for arm in self.arms if arm.task == task and arm.replications < 2]
            single = [
                arm.label for arm in sorted(few, key=lambda arm: (arm.family, arm.dimension or 0))
            ]
            if single and len(self.of(task)) > 1:
                labels = ", ".join(single)
                self.notes.append(
                    f"{task}: fewer than two finished replications, so no test, of {labels}"
                )
        self._note_what_some_lack()

    def _note_what_some_lack(self) -> None:
        for arm in self.arms:
            for table in KNOWN:
                for name in _further(arm.runs, table):
                    some = any(len(_numbers(run, name, table, np.inf)) for run in arm.runs)
                    if some and not arm.has(name, table):
                        self.notes.append(
                            f"{arm.task}, {arm.label}: not all runs have '{name}' in {table}.csv, "
                            "so it is not shown"
                        )

    def _once(self, runs: Iterable[Run]) -> list[Run]:
        """The same seed with the same settings is one replication, however often it was run."""
        kept: dict[int, Run] = {}
        for run in sorted(runs, key=lambda run: (not run.finished, run.is_digest)):
            if run.seed in kept:
                self.notes.append(f"{run.path}: left out, it repeats {kept[run.seed].path}")
            else:
                kept[run.seed] = run
        return list(kept.values())

    @staticmethod
    def _grouped(runs: Iterable[Run]) -> list[list[Run]]:
        groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
        for run in runs:
            groups[run.task, run.variant].append(run)
        return list(groups.values())

    def _replications(self, runs: list[Run]) -> list[Arm]:
        """The arms of one variant of one task, the plainest first, without their labels."""
        arms = []
        for settings, group in _told_apart(runs):
            kept = self._finished(self._once(group))
            arms.append(Arm(kept[0].task, kept[0].variant, settings, kept, "", ""))
        return sorted(arms, key=lambda arm: arm.plainness, reverse=True)

    @staticmethod
    def _named(arms: list[Arm]) -> list[Arm]:
        """With their labels and families."""
        plainest = sorted(arms, key=lambda arm: arm.plainness, reverse=True)
        found = []
        for arm in arms:
            dimensions = [other.dimension for other in arms if same_variant(arm, other)]
            family = arm.variant if arm.dimension is None else family_of(arm.variant, dimensions)
            said = said_by(arm.variant)
            if family != arm.variant:  # what its name says is no surprise
                said = {**said, DIMENSION: int(arm.variant[len(family) + 1 :])}
            apart = [
                f"{SHORT.get(key, key.removesuffix('.kind'))} = {value}"
                for key, value in sorted(
                    arm.settings.items(), key=lambda item: not is_kind(item[0])
                )
                if value != (said[key] if key in said else _usual_value(arm, key, plainest))
            ]
            label = arm.variant + (f" ({', '.join(apart)})" if apart else "")
            found.append(replace(arm, label=label, family=label if arm.departures else family))
        return _as_told(found)

    def _finished(self, runs: list[Run]) -> list[Run]:
        """Only finished runs, if there are any."""
        finished = [run for run in runs if run.finished]
        for run in runs:
            if not run.finished:
                what = (
                    "left out, others of its kind are finished"
                    if finished
                    else "shown as it stands, in no test"
                )
                stands = f"{run.summary['status']} at iteration {run.summary['iterations']}"
                self.notes.append(f"{run.path}: {stands}: {what}")
        return finished or runs

    @cached_property
    def tasks(self) -> list[str]:
        """In the order of the runs."""
        return list(dict.fromkeys(arm.task for arm in self.arms))

    def title(self, task: str) -> str:
        """As the runs tell it; those of format 1 know only the name."""
        titles = (run.title for arm in self.of(task) for run in arm.runs)
        return next((title for title in titles if title != task), task)

    def of(self, task: str) -> list[Arm]:
        return [arm for arm in self.arms if arm.task == task]

    def families(self, task: str) -> list[str]:
        return list(dict.fromkeys(arm.family for arm in self.of(task)))

    def further(self, task: str, table: str = "metrics") -> list[str]:
        """The columns of metrics.csv, or of encoder.csv, that not every run has: the task's own, an
        encoder's, a user's. In the order of the files."""
        arms = self.of(task)
        names = _further((run for arm in arms for run in arm.runs), table)
        return [name for name in names if any(arm.has(name, table) for arm in arms)]

    def main_dimension(self, task: str) -> int:
        """What the variants are compared with: the paper's n = 10 where any was run with it, else
        the n that most have."""
        pairs = dict.fromkeys((arm.family, arm.dimension) for arm in self.of(task))
        dimensions = Counter(dimension for _, dimension in pairs if dimension)
        if MAIN_DIMENSION in dimensions or not dimensions:
            return MAIN_DIMENSION
        return dimensions.most_common(1)[0][0]

    def main(self, task: str) -> list[Arm]:
        """The arms that the variants are compared by, one per family: with the main dimension, or
        with the nearest to it that the family was run with."""
        chosen = self.main_dimension(task)

        def fits(arm: Arm) -> tuple:
            return (-abs((arm.dimension or chosen) - chosen), *arm.plainness)

        families = self.families(task)
        return [
            max((arm for arm in self.of(task) if arm.family == family), key=fits)
            for family in families
        ]

    def find(self, task: str, family: str) -> Optional[Arm]:
        """With the main dimension, if it has one."""
        dimensions = (None, self.main_dimension(task))
        return next(
            (
                arm
                for arm in self.main(task)
                if arm.family == family and arm.dimension in dimensions
            ),
            None,
        )

    def swept(self, task: str) -> list[str]:
        """The settings of which there is a sweep; that of the budget is what curves show."""
        keys = dict.fromkeys(key for arm in self.of(task) for key in arm.settings if key != BUDGET)
        families = self.families(task)
        return [key for key in keys if any(self.sweep(task, family, key) for family in families)]

    def sweep(self, task: str, family: str, key: str) -> dict[Any, Arm]:
        """Arms of a family that differ in nothing but one setting, by its value; of several such
        sets the one with the most values. Empty if the setting was never varied."""
        arms = [arm for arm in self.of(task) if arm.family == family and key in arm.settings]
        # What some of them have no setting for, they do not differ in.
        others = set.intersection(*(set(arm.settings) for arm in arms)) - {key} if arms else set()
        sets: dict[str, dict[Any, Arm]] = defaultdict(dict)
        for arm in sorted(arms, key=lambda arm: len(arm.label)):  # who has least to say goes first
            value = arm.settings[key]
            value = str(value) if isinstance(value, list) else value
            sets[repr([arm.settings[k] for k in sorted(others)])].setdefault(value, arm)
        best: dict[Any, Arm] = max(sets.values(), key=len, default={})
        return dict(sorted(best.items())) if len(best) > 1 else {}


def _told_apart(runs: list[Run]) -> list[tuple[dict[str, Any], list[Run]]]:
    """The runs that have the same settings, with those. A setting that only some of them know says
    nothing: it is of another version, or means nothing for the others, as how to train where there
    is no training; those are told apart first, by what they all know."""
    known = set.intersection(*(set(run.settings) for run in runs))
    learned = any(learned_dimension(run.settings) for run in runs)
    keys = sorted(key for key in known if counts(key, learned))
    found: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        found[repr([run.settings[key] for key in keys])].append(run)
    if len(found) == 1:
        return [({key: runs[0].settings[key] for key in keys}, runs)]
    return [one for group in found.values() for one in _told_apart(group)]


def same_variant(one: Arm, other: Arm) -> bool:
    return (one.task, one.variant) == (other.task, other.variant)


def _usual_value(arm: Arm, key: str, plainest: list[Arm]) -> Any:
    """What a setting would be had nobody touched it, as far as the runs tell: what most have that
    can be compared, with the same part and the fewest departures. What a variant is made of, and
    any setting of one that is not ours, is its own affair."""

    def comparable(other: Arm) -> bool:
        if key not in other.settings or other.task != arm.task:
            return False
        ours = said_by(arm.variant) and said_by(other.variant) and not is_kind(key)
        same_part = arm.settings.get(kind_key(key)) == other.settings.get(kind_key(key))
        return bool(same_variant(arm, other) or ours) and (same_part or is_kind(key))

    found = [other for other in plainest if comparable(other)]
    fewest = len(found[0].departures)
    values = [other.settings[key] for other in found if len(other.departures) == fewest]
    return max(values, key=values.count)


def _as_told(arms: list[Arm]) -> list[Arm]:
    """Under the labels that the study gives, with what sets them apart where several have one."""
    told = [next((run.label for run in arm.runs if run.label), arm.label) for arm in arms]
    uses = Counter((arm.task, label) for arm, label in zip(arms, told))
    return [
        replace(arm, label=label if uses[arm.task, label] == 1 else f"{label}: {arm.label}")
        if label != arm.label
        else arm
        for arm, label in zip(arms, told)
    ]


def _further(runs: Iterable[Run], table: str) -> list[str]:
    columns = (column for run in runs for column in getattr(run, table).columns)
    return list(dict.fromkeys(column for column in columns if column not in KNOWN[table]))
