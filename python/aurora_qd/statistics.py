"""The paper's statistics: two-sided Wilcoxon rank-sum tests on all pairs, Holm-Bonferroni
correction, medians with inter-quartile ranges, and Vargha and Delaney's effect size."""
from __future__ import annotations

from itertools import combinations, count
from typing import Iterable, Mapping, NamedTuple, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

# Up to here the distribution of the rank sum is counted out; beyond, it is as good as normal.
EXACT_UP_TO = 80


class Quartiles(NamedTuple):
    median: float
    low: float  # the first quartile
    high: float  # the third

    def __str__(self) -> str:
        return f"{self.median:.4g} [{self.low:.4g}, {self.high:.4g}]"


def quartiles(values: ArrayLike) -> Quartiles:
    low, median, high = np.percentile(np.asarray(values, float), [25, 50, 75])
    return Quartiles(float(median), float(low), float(high))


def rank_sum(a: ArrayLike, b: ArrayLike) -> float:
    """p of the two-sided Wilcoxon rank-sum (Mann-Whitney) test that a and b come from one
    distribution. Exact, ties included, up to 80 values in all: the share of all ways to deal the
    ranks in which the rank sum of `a` is at least as far from its mean. ValueError if a sample is
    empty or holds NaN."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if not len(a) or not len(b) or np.isnan(a).any() or np.isnan(b).any():
        raise ValueError("the rank-sum test needs two samples of numbers, neither of them empty")
    if len(a) + len(b) > EXACT_UP_TO:
        if np.ptp(np.concatenate([a, b])) == 0:
            return 1.0
        return float(stats.mannwhitneyu(a, b, alternative="two-sided", method="asymptotic").pvalue)
    # Twice the mid-ranks, which are whole numbers. ways[k, s]: how many sets of k of the ranks seen
    # so far have the sum s.
    ranks = np.rint(2 * stats.rankdata(np.concatenate([a, b]))).astype(int)
    ways = np.zeros((len(a) + 1, int(ranks.sum()) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    distance = np.abs(np.arange(ways.shape[1]) * len(ranks) - len(a) * ranks.sum())
    observed = abs(int(ranks[: len(a)].sum()) * len(ranks) - len(a) * int(ranks.sum()))
    return float(min(1.0, ways[-1, distance >= observed].sum() / ways[-1].sum()))


def smallest_p(a: int, b: int) -> float:
    """The smallest p that the test can give for samples of these sizes."""
    return rank_sum(np.arange(a), a + np.arange(b)) if a and b else 1.0


def a12(a: ArrayLike, b: ArrayLike) -> float:
    """Vargha and Delaney's A: the probability that a value of `a` is larger than one of `b`, ties
    counting one half. 0.5 means no difference."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    ranks = stats.rankdata(np.concatenate([a, b]))[: len(a)]
    return float((ranks.sum() / len(a) - (len(a) + 1) / 2) / len(b))


def holm(p: ArrayLike) -> np.ndarray:
    """Holm-Bonferroni: p-values corrected for being the best of many, in the order given."""
    p = np.asarray(p, float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1)
    return corrected


def _median(values: ArrayLike) -> float:
    return float(np.median(np.asarray(values, float)))


def compare(pairs: Iterable[tuple[str, str, ArrayLike, ArrayLike]]) -> pd.DataFrame:
    """The test on pairs of named samples: a, b, median_a, median_b, a12, p, and p_holm corrected
    over the pairs."""
    rows = [
        (a, b, _median(of_a), _median(of_b), a12(of_a, of_b), rank_sum(of_a, of_b))
        for a, b, of_a, of_b in pairs
    ]
    table = pd.DataFrame(rows, columns=["a", "b", "median_a", "median_b", "a12", "p"])
    table["p_holm"] = holm(table["p"].to_numpy(float))
    return table


def all_pairs(samples: Mapping[str, Sequence[float] | np.ndarray]) -> pd.DataFrame:
    """The test on all pairs of samples. Those of fewer than two values are left out."""
    enough = [name for name, values in samples.items() if len(values) >= 2]
    return compare((a, b, samples[a], samples[b]) for a, b in combinations(enough, 2))


def seeds_needed(pairs: int, level: float) -> int:
    """How many values either sample must have so that the best of so many pairs can come out below
    the level, corrected."""
    return next(n for n in count(2) if pairs * smallest_p(n, n) < level)
