"""Many runs as an experiment: replications are gathered into arms, and arms into sweeps."""
from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Iterable, Optional

import numpy as np
import pandas as pd

from .runs import Loaded, Run

TASKS = ("maze", "hexapod", "air-hockey")
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


@dataclass(frozen=True)
class Arm:
    """Replications: runs that differ in nothing but the seed (and in what changes no result)."""

    task: str
    variant: str
    settings: dict[str, Any]
    runs: list[Run]
    label: str  # the variant and, if there are several arms of it, what sets this one apart

    @property
    def family(self) -> str:
        """The variant without the dimension of its learned descriptor."""
        return re.sub(r"-\d+$", "", self.variant) if self.dimension else self.variant

    @property
    def dimension(self) -> Optional[int]:
        """Of the learned descriptor; None if it is hand-coded."""
        return (
            self.settings.get(DIMENSION)
            if self.settings.get("descriptor.kind") == "learned"
            else None
        )

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

    def has(self, metric: str) -> bool:
        """Whether all its runs have measured it."""
        return all(
            metric in run.metrics
            and pd.api.types.is_numeric_dtype(run.metrics[metric])
            and run.metrics[metric].notna().any()
            for run in self.runs
        )

    def curve(self, metric: str) -> pd.DataFrame:
        """Median and quartiles over the replications (columns low, median, high), by iteration."""
        values = pd.concat(
            [run.metrics.set_index("iteration")[metric] for run in self.runs], axis=1, join="inner"
        )
        quantiles = values.quantile([0.25, 0.5, 0.75], axis=1).T
        return quantiles.set_axis(["low", "median", "high"], axis=1)

    def values(self, metric: str, iteration: Optional[int] = None) -> np.ndarray:
        """One value per replication: the last one at or before the iteration."""
        iteration = self.last_iteration if iteration is None else iteration
        columns = (
            run.metrics.loc[run.metrics["iteration"] <= iteration, metric].dropna()
            for run in self.runs
        )
        return np.array([column.iloc[-1] for column in columns if len(column)], float)

    def example(self, metric: str = "coverage") -> Run:
        """The run in the middle."""
        return sorted(self.runs, key=lambda run: run.metrics[metric].iloc[-1])[
            (len(self.runs) - 1) // 2
        ]


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
        usual = groups[0][0].settings
        arms = []
        for group in groups:
            settings = {key: group[0].settings[key] for key in keys}
            apart = [
                f"{SHORT.get(key, key)} = {value}"
                for key, value in settings.items()
                if value != usual[key]
            ]
            label = group[0].variant + (f" ({', '.join(apart)})" if apart else "")
            arms.append(Arm(group[0].task, group[0].variant, settings, group, label))
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
        present = {arm.task for arm in self.arms}
        return [task for task in TASKS if task in present] + sorted(present - set(TASKS))

    def main(self, task: str) -> list[Arm]:
        """The arms that the variants are compared by: one per family, with the paper's n = 10 where
        it was run, else with the n that most have."""
        usual: dict[str, Arm] = {}  # by variant
        for arm in self.arms:
            if arm.task == task:
                usual.setdefault(arm.variant, arm)
        dimensions = Counter(arm.dimension for arm in usual.values() if arm.dimension)
        if not dimensions:
            return list(usual.values())
        chosen = MAIN_DIMENSION if MAIN_DIMENSION in dimensions else dimensions.most_common(1)[0][0]
        return [arm for arm in usual.values() if arm.dimension in (None, chosen)]

    def find(self, task: str, family: str) -> Optional[Arm]:
        return next((arm for arm in self.main(task) if arm.family == family), None)

    def sweep(self, task: str, family: str, key: str) -> dict[int, Arm]:
        """Arms of a family that differ in nothing but one setting, by its value; of several such
        sets the one with the most values. Empty if the setting was never varied."""
        sets: dict[str, dict[int, Arm]] = defaultdict(dict)
        for arm in self.arms:
            if arm.task == task and arm.family == family and key in arm.settings:
                others = {k: v for k, v in arm.settings.items() if k != key}
                sets[repr(others)].setdefault(arm.settings[key], arm)
        best: dict[int, Arm] = max(sets.values(), key=len, default={})
        return dict(sorted(best.items())) if len(best) > 1 else {}
