"""Runs on their way, held against others, on runs made up so that the answers are known."""
from __future__ import annotations

import unittest

import numpy as np
import pandas as pd
from made_up import run, runs

from aurora_qd.moments import BETTER, NEITHER, WORSE, check, duel, moments
from aurora_qd.runs import Loaded, RunError
from aurora_qd.study import Study

LOW, MIDDLE, HIGH = np.arange(5.0), np.arange(10.0, 15.0), np.arange(20.0, 25.0)
COMPLETE = 2 / 252  # p of five that are all above five others


class Duels(unittest.TestCase):
    def test_better_is_better_than_all(self) -> None:
        found = duel(HIGH, [LOW, MIDDLE], 0.05)
        self.assertAlmostEqual(found.p, COMPLETE)
        self.assertEqual((found.a12, found.verdict), (1.0, BETTER))
        self.assertEqual(duel(LOW, [HIGH, MIDDLE], 0.05).verdict, WORSE)

    def test_between_two_is_neither(self) -> None:
        found = duel(MIDDLE, [LOW, HIGH], 0.05)
        self.assertAlmostEqual(found.p, COMPLETE)
        self.assertEqual(found.verdict, NEITHER)

    def test_one_equal_is_enough_for_neither(self) -> None:
        found = duel(HIGH, [LOW, HIGH + 0.5], 0.05)
        self.assertGreater(found.p, 0.05)
        self.assertEqual(found.verdict, NEITHER)
        self.assertAlmostEqual(found.a12, 0.4)  # the nearest to none

    def test_too_few_are_neither(self) -> None:
        found = duel(HIGH[:3], [LOW[:3]], 0.05)
        self.assertAlmostEqual(found.p, 0.1)
        self.assertEqual((found.a12, found.verdict), (1.0, NEITHER))


class Moments(unittest.TestCase):
    def setUp(self) -> None:
        self.study = Study(
            Loaded(
                runs(5, "maze", "ns", coverage=60.0)
                + runs(5, "maze", "hc-csc-uniform", coverage=80.0)
                + runs(5, "maze", "random-search", coverage=40.0)
                + [run("maze", "map-elites", 1, iterations=300, status="interrupted", coverage=9.0)]
            )
        )

    def table(self, *against: str) -> pd.DataFrame:
        table = moments(self.study, "maze", ["coverage"], against, 0.05)
        table["variant"] = table["variant"].str.split().str[0]  # without what sets it apart
        return table.set_index(["variant", "share"])

    def test_medians_at_a_tenth_three_tenths_and_the_end(self) -> None:
        table = self.table()
        for share, at in ((0.1, 100), (0.3, 300), (1.0, 1000)):
            row = table.loc[("ns", share)]
            self.assertEqual((row["at"], row["runs"]), (at, 5))
            self.assertAlmostEqual(row["median"], share * 60 * 1.003)
        self.assertEqual(table.loc[("map-elites", 0.3), "runs"], 1)
        self.assertNotIn(("map-elites", 1.0), table.index)  # it has not come so far
        self.assertNotIn("p", table)

    def test_nothing_of_a_moment_before_anything_was_logged(self) -> None:
        study = Study(Loaded(runs(2, "maze", "ns", iterations=500)))
        table = moments(study, "maze", ["coverage"], ["ns"], 0.05)
        self.assertEqual(list(table["at"]), [150, 500])

    def test_held_against_one(self) -> None:
        table = self.table("ns")
        for share in (0.1, 0.3, 1.0):
            self.assertEqual(table.loc[("hc-csc-uniform", share), "verdict"], BETTER)
            self.assertEqual(table.loc[("random-search", share), "verdict"], WORSE)
            self.assertTrue(np.isnan(table.loc[("ns", share), "p"]))
        self.assertTrue(np.isnan(table.loc[("map-elites", 0.1), "p"]))  # one run is no sample
        row = table.loc[("hc-csc-uniform", 1.0)]
        self.assertAlmostEqual(row["p"], COMPLETE)
        self.assertAlmostEqual(row["p_holm"], 2 * COMPLETE)

    def test_held_against_several(self) -> None:
        table = self.table("ns", "random-search")
        self.assertEqual(table.loc[("hc-csc-uniform", 1.0), "verdict"], BETTER)
        table = self.table("hc-csc-uniform", "random-search")
        self.assertEqual(table.loc[("ns", 1.0), "verdict"], NEITHER)

    def test_a_variant_is_itself_and_not_its_sweeps(self) -> None:
        plain = runs(5, "maze", "aurora-csc-uniform-10", coverage=60.0)
        others = runs(5, "maze", "aurora-csc-uniform-10", coverage=90.0, t_c=50)
        study = Study(Loaded(plain + others + runs(5, "maze", "ns", coverage=80.0)))
        labels = {arm.label for arm in study.arms}
        self.assertIn("aurora-csc-uniform-10", labels)
        table = moments(study, "maze", ["coverage"], ["aurora-csc-uniform-10"], 0.05)
        table = table[table["share"] == 1].set_index("variant")
        self.assertTrue(np.isnan(table.loc["aurora-csc-uniform-10", "p"]))
        self.assertEqual(table.loc["ns", "verdict"], BETTER)
        self.assertEqual(sum(table["verdict"] == BETTER), 2)  # and the sweep is held against it

    def test_nobody_is_held_against_who_has_not_come_so_far(self) -> None:
        self.assertNotIn("p", self.table("map-elites"))

    def test_a_name_that_nobody_has_is_an_error(self) -> None:
        check(self.study, ["ns", "hc-csc-uniform"])
        with self.assertRaisesRegex(RunError, "no run is called 'nss'.*there are hc-csc-uniform,"):
            check(self.study, ["ns", "nss"])


if __name__ == "__main__":
    unittest.main()
