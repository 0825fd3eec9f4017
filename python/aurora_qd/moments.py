"""How far runs are at a tenth, three tenths and the end of their way, and which of them are better
there than those that they are held against."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np
import pandas as pd

from .runs import RunError
from .statistics import a12, holm, quartiles, rank_sum
from .study import Arm, Study, clock_of

SHARES = (0.1, 0.3, 1.0)
BETTER, WORSE, NEITHER = "better", "worse", ""


@dataclass(frozen=True)
class Duel:
    """A sample against each of several others: `p` is the largest of the two-sided p-values, `a12`
    the effect size nearest to no difference. Whoever is to be better than all must be so in each
    test, so that nothing has to be corrected for their number."""

    p: float
    a12: float
    verdict: str


def duel(values: np.ndarray, references: Sequence[np.ndarray], level: float) -> Duel:
    """Larger is better."""
    effects = np.array([a12(values, other) for other in references])
    p = max(rank_sum(values, other) for other in references)
    agreed = BETTER if (effects > 0.5).all() else WORSE if (effects < 0.5).all() else NEITHER
    nearest = effects[np.abs(effects - 0.5).argmin()]
    return Duel(p, float(nearest), agreed if p < level else NEITHER)


def moments(
    study: Study, task: str, metrics: Sequence[str], against: Sequence[str], level: float
) -> pd.DataFrame:
    """A row for each metric, moment and configuration that has come so far: metric, share, at (the
    iteration, or number of evaluations), variant, runs, median, low, high. Held against labels or
    variants, where all of them have come so far: p, a12, verdict, and p_holm, corrected over the
    configurations."""
    arms = study.of(task)
    clock = clock_of(arms)
    end = max(arm.last(clock) for arm in arms)
    rows = []
    for metric in metrics:
        for share in SHARES:
            at = round(share * end)
            there = [arm for arm in arms if arm.last(clock) >= at and arm.has(metric)]
            found = {arm.label: arm.values(metric, at, clock) for arm in there}
            values = {label: some for label, some in found.items() if len(some)}
            held = _duels(arms, values, against, level)
            corrected = dict(zip(held, holm([one.p for one in held.values()])))
            for label, some in values.items():
                median, low, high = quartiles(some)
                row = dict(metric=metric, share=share, at=at, variant=label, runs=len(some))
                row |= dict(median=median, low=low, high=high)
                if label in held:
                    row |= dict(p_holm=corrected[label], **vars(held[label]))
                rows.append(row)
    return pd.DataFrame(rows)


def _duels(
    arms: Sequence[Arm], values: dict[str, np.ndarray], against: Sequence[str], level: float
) -> dict[str, Duel]:
    """By label; of those with two values or more."""
    references = _references(arms, against)
    samples = [values.get(label, np.array([])) for label in references]
    if not samples or min(map(len, samples)) < 2:
        return {}
    return {
        label: duel(found, samples, level)
        for label, found in values.items()
        if label not in references and len(found) >= 2
    }


def _references(arms: Sequence[Arm], against: Sequence[str]) -> list[str]:
    """The labels that are named; where a variant is, and nobody is simply called so, all of it."""
    labels = {arm.label for arm in arms}
    return [
        arm.label
        for arm in arms
        if arm.label in against or (arm.variant in against and arm.variant not in labels)
    ]


def check(study: Study, against: Sequence[str]) -> None:
    """RunError for a name that no run has."""
    names = {name for arm in study.arms for name in (arm.variant, arm.label)}
    for name in against:
        if name not in names:
            known = ", ".join(sorted(names))
            raise RunError(f"no run is called '{name}', to hold others against; there are {known}")
