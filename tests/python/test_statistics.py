"""The statistics against SciPy, against counting everything out, and against published examples."""
from __future__ import annotations

import unittest
from itertools import combinations

import numpy as np
from scipy import stats

from aurora_qd.statistics import (
    a12,
    all_pairs,
    holm,
    quartiles,
    rank_sum,
    seeds_needed,
    smallest_p,
)


def counted_out(a: np.ndarray, b: np.ndarray) -> float:
    ranks = stats.rankdata(np.concatenate([a, b]))
    expected = len(a) * (len(ranks) + 1) / 2
    far = abs(ranks[: len(a)].sum() - expected)
    sums = [sum(chosen) for chosen in combinations(ranks, len(a))]
    return float(np.mean([abs(total - expected) >= far - 1e-9 for total in sums]))


class RankSum(unittest.TestCase):
    def setUp(self) -> None:
        self.random = np.random.default_rng(20221)

    def test_without_ties_is_scipy_s_exact_test(self) -> None:
        for _ in range(200):
            a, b = self.random.normal(size=self.random.integers(1, 21)), self.random.normal(
                0.7, 1, self.random.integers(1, 21)
            )
            expected = stats.mannwhitneyu(a, b, alternative="two-sided", method="exact").pvalue
            self.assertAlmostEqual(rank_sum(a, b), expected, delta=1e-12)

    def test_with_ties_counts_all_deals(self) -> None:
        for _ in range(60):
            a, b = (self.random.integers(0, 4, size=self.random.integers(1, 7)) for _ in range(2))
            self.assertAlmostEqual(rank_sum(a, b), counted_out(a, b), delta=1e-12, msg=f"{a} {b}")

    def test_many_values_are_normal(self) -> None:
        a, b = self.random.normal(size=60), self.random.normal(0.4, 1, 60)
        expected = stats.ranksums(a, b).pvalue
        self.assertAlmostEqual(rank_sum(a, b), expected, delta=0.02 * expected)
        self.assertEqual(rank_sum(np.ones(60), np.ones(60)), 1.0)

    def test_published_example(self) -> None:
        """Hollander & Wolfe (1973), p. 69: permeability constants of the human chorioamnion."""
        at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
        early = [1.15, 0.88, 0.90, 0.74, 1.21]
        self.assertAlmostEqual(rank_sum(at_term, early), 0.2544, delta=5e-5)

    def test_smallest(self) -> None:
        self.assertAlmostEqual(smallest_p(3, 3), 0.1)
        self.assertAlmostEqual(smallest_p(4, 4), 2 / 70)
        self.assertEqual(smallest_p(0, 4), 1.0)

    def test_how_many_seeds_are_needed(self) -> None:
        for pairs, needed in ((1, 4), (3, 5), (36, 7)):
            self.assertEqual(seeds_needed(pairs, 0.05), needed)
            self.assertLess(pairs * smallest_p(needed, needed), 0.05)
            self.assertGreaterEqual(pairs * smallest_p(needed - 1, needed - 1), 0.05)

    def test_refuses_what_it_cannot_test(self) -> None:
        for a in ([], [np.nan, 1]):
            with self.assertRaises(ValueError):
                rank_sum(a, [1, 2])


class Others(unittest.TestCase):
    def test_a12_counts_pairs(self) -> None:
        random = np.random.default_rng(5)
        for _ in range(50):
            a, b = random.integers(0, 6, 7), random.integers(0, 6, 5)
            wins = np.mean([(x > y) + (x == y) / 2 for x in a for y in b])
            self.assertAlmostEqual(a12(a, b), wins)

    def test_holm_of_a_known_example(self) -> None:
        np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
        self.assertEqual(holm([0.6, 0.9]).tolist(), [1.0, 1.0])
        self.assertEqual(len(holm([])), 0)

    def test_holm_rejects_step_by_step(self) -> None:
        """The definition: go up from the smallest p while p_(i) < level / (m - i + 1)."""
        random = np.random.default_rng(6)
        for _ in range(100):
            p = random.random(8) ** 4
            rejected = set()
            for step, index in enumerate(np.argsort(p)):
                if p[index] >= 0.05 / (8 - step):
                    break
                rejected.add(index)
            self.assertEqual(set(np.flatnonzero(holm(p) < 0.05)), rejected)

    def test_quartiles(self) -> None:
        self.assertEqual(quartiles([1, 2, 3, 4, 5]), (3, 2, 4))
        self.assertEqual(str(quartiles([1.0])), "1 [1, 1]")

    def test_all_pairs(self) -> None:
        table = all_pairs({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8], "c": [5, 6, 7, 8], "single": [1]})
        self.assertEqual(list(zip(table["a"], table["b"])), [("a", "b"), ("a", "c"), ("b", "c")])
        self.assertEqual(table["a12"].tolist(), [0, 0, 0.5])
        np.testing.assert_allclose(table["p_holm"], [6 / 70, 6 / 70, 1])
        self.assertEqual(len(all_pairs({})), 0)


if __name__ == "__main__":
    unittest.main()
