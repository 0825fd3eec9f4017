"""Many runs as an experiment: replications are gathered into arms, and arms into sweeps."""
from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Iterable, Optional

import numpy as np
import pandas as pd

from .runs import ENCODER, METRICS, Loaded, Run

T_C, T_E, DIMENSION, BUDGET = (
    "container.update_period",
    "encoder.update_step",
    "descriptor.dimension",
    "run.iterations",
)
SHORT = {T_C: "T_C", T_E: "T_E", DIMENSION: "n", BUDGET: "iterations"}
# The paper's values of what it sweeps.
USUAL = {T_C: 10, T_E: 10}
MAIN_DIMENSION = 10
# Our own variants whose names end in a dimension, also where a setting gives them another.
NUMBERED = (
    "aurora-csc-uniform",
    "aurora-csc-novelty",
    "aurora-csc-surprise",
    "aurora-vat-uniform",
    "aurora-vat-novelty",
    "aurora-pid-uniform",
    "taxons",
)
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


@dataclass(frozen=True)
class Arm:
    """Replications: runs that differ in nothing but the seed (and in what changes no result)."""

    task: str
    variant: str
    settings: dict[str, Any]
    runs: list[Run]
    label: str  # the variant and, if there are several arms of it, what sets this one apart
    family: str  # the variant without the dimension of its learned descriptor

    @property
    def dimension(self) -> Optional[int]:
        """Of the learned descriptor; None if it is hand-coded."""
        return learned_dimension(self.settings)

    @property
    def target_size(self) -> float:
        return float(self.settings.get("container.target_size", np.nan))

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

    @property
    def last_iteration(self) -> int:
        """The last one that all the runs have logged."""
        return int(min(run.metrics["iteration"].iloc[-1] for run in self.runs))

    def has(self, metric: str, table: str = "metrics") -> bool:
        """Whether all its runs have measured it, by the last iteration that all have logged."""
        last = self.last_iteration
        return all(len(_numbers(run, metric, table, last)) for run in self.runs)

    def unit(self, metric: str) -> str:
        return next((run.units[metric] for run in self.runs if metric in run.units), "")

    def curve(self, metric: str, table: str = "metrics") -> pd.DataFrame:
        """Median and quartiles over the replications (columns low, median, high), by iteration."""
        values = pd.concat(
            [getattr(run, table).set_index("iteration")[metric] for run in self.runs],
            axis=1,
            join="inner",
        )
        quantiles = values.quantile([0.25, 0.5, 0.75], axis=1).T
        return quantiles.set_axis(["low", "median", "high"], axis=1)

    def values(self, metric: str, iteration: Optional[int] = None) -> np.ndarray:
        """One value per replication that has one: the last at or before the iteration."""
        iteration = self.last_iteration if iteration is None else iteration
        columns = (_numbers(run, metric, "metrics", iteration) for run in self.runs)
        return np.array([column.iloc[-1] for column in columns if len(column)], float)

    def example(self, metric: str = "coverage") -> Run:
        """The run in the middle; by the size of the container if the metric was not measured."""
        metric = metric if self.has(metric) else "container_size"

        def last(run: Run) -> float:
            return _numbers(run, metric, "metrics", np.inf).iloc[-1]

        return sorted(self.runs, key=last)[(len(self.runs) - 1) // 2]


def _numbers(run: Run, metric: str, table: str, iteration: float) -> pd.Series:
    """What a run measured up to an iteration. Cells may be NaN, and the column may be absent."""
    rows: pd.DataFrame = getattr(run, table)
    if metric not in rows or not pd.api.types.is_numeric_dtype(rows[metric]):
        return pd.Series(dtype=float)
    column = rows.loc[rows["iteration"] <= iteration, metric]
    return column[np.isfinite(column)]


class Study:
    """What a report is about. `notes` has a line for everything a reader should know of."""

    def __init__(self, loaded: Loaded):
        self.notes = list(loaded.problems)
        runs = loaded.runs
        versions = Counter(run.summary["version"] for run in runs)
        if len(versions) > 1:
            told = ", ".join(f"{version} ({count})" for version, count in sorted(versions.items()))
            self.notes.append(f"runs of different versions are compared: {told}")
        self.arms = [arm for group in self._grouped(runs) for arm in self._arms(group)]
        for task in self.tasks:
            few = [arm for arm in self.arms if arm.task == task and arm.replications < 2]
            single = [
                arm.label for arm in sorted(few, key=lambda arm: (arm.family, arm.dimension or 0))
            ]
            if single:
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
        for run in sorted(runs, key=lambda run: not run.finished):
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

    def _arms(self, runs: list[Run]) -> list[Arm]:
        """The arms of one variant of one task, the usual one first."""

        # Of [run], only the budget and the batch change results. A setting that only some versions
        # know says nothing.
        def counts(key: str) -> bool:
            return key.split(".")[0] != "run" or key in (BUDGET, "run.batch")

        known = set.intersection(*(set(run.settings) for run in runs))
        keys = sorted(key for key in known if counts(key))
        by_settings: dict[str, list[Run]] = defaultdict(list)
        for run in runs:
            by_settings[repr([run.settings[key] for key in keys])].append(run)
        groups = sorted(
            (self._finished(self._once(group)) for group in by_settings.values()),
            key=self._usual,
            reverse=True,
        )
        usual = dict(groups[0][0].settings)
        variant = groups[0][0].variant
        dimensions = [learned_dimension(group[0].settings) for group in groups]
        family = family_of(variant, dimensions) if any(dimensions) else variant
        if family != variant:  # what its name says is no surprise
            usual[DIMENSION] = int(variant[len(family) + 1 :])
        arms = []
        for group in groups:
            settings = {key: group[0].settings[key] for key in keys}
            apart = [
                f"{SHORT.get(key, key)} = {value}"
                for key, value in settings.items()
                if value != usual[key]
            ]
            label = variant + (f" ({', '.join(apart)})" if apart else "")
            learned = learned_dimension(settings) is not None
            arms.append(
                Arm(group[0].task, variant, settings, group, label, family if learned else variant)
            )
        return arms

    @staticmethod
    def _usual(runs: list[Run]) -> tuple:
        settings = runs[0].settings
        return (
            sum(settings.get(key) == value for key, value in USUAL.items()),
            len(runs),
            settings.get(BUDGET, 0),
        )

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
            return (-abs((arm.dimension or chosen) - chosen), *self._usual(arm.runs))

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

    def sweep(self, task: str, family: str, key: str) -> dict[int, Arm]:
        """Arms of a family that differ in nothing but one setting, by its value; of several such
        sets the one with the most values. Empty if the setting was never varied."""
        sets: dict[str, dict[int, Arm]] = defaultdict(dict)
        for arm in self.arms:
            if key == DIMENSION and not arm.dimension:
                continue  # a setting that does nothing
            if arm.task == task and arm.family == family and key in arm.settings:
                others = {k: v for k, v in arm.settings.items() if k != key}
                sets[repr(others)].setdefault(arm.settings[key], arm)
        best: dict[int, Arm] = max(sets.values(), key=len, default={})
        return dict(sorted(best.items())) if len(best) > 1 else {}


def _further(runs: Iterable[Run], table: str) -> list[str]:
    columns = (column for run in runs for column in getattr(run, table).columns)
    return list(dict.fromkeys(column for column in columns if column not in KNOWN[table]))
