"""Arms, sweeps and verdicts, on runs made up so that the answers are known."""
from __future__ import annotations

import re
import unittest
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pandas as pd

from aurora_qd.claims import (
    CLAIMS,
    FAILS,
    HOLDS,
    UNKNOWN,
    Finding,
    Verdict,
    entanglement,
    judge,
    verdicts,
)
from aurora_qd.runs import Loaded, Run
from aurora_qd.study import DIMENSION, PARTS, T_C, VARIANTS, Study, clock_of, family_of
from made_up import run, runs
from tiny import aurora


def verdict(study: Study, id: str) -> Verdict:
    _, claim, p, find = next(entry for entry in CLAIMS if entry[0] == id)
    return judge(Verdict(id, claim, p, find(study)))


class Arms(unittest.TestCase):
    def test_replications_are_gathered(self) -> None:
        study = Study(Loaded(runs(3, "maze", "ns") + runs(2, "maze", "taxons-10")))
        self.assertEqual(
            [(arm.label, arm.family, arm.dimension, arm.replications) for arm in study.arms],
            [("ns", "ns", None, 3), ("taxons-10", "taxons", 10, 2)],
        )
        self.assertEqual(study.notes, [])

    def test_what_differs_is_said(self) -> None:
        study = Study(
            Loaded(
                runs(2, "maze", "aurora-csc-uniform-10", t_c=500)
                + runs(2, "maze", "aurora-csc-uniform-10")
            )
        )
        self.assertEqual(
            [arm.label for arm in study.arms],
            ["aurora-csc-uniform-10", "aurora-csc-uniform-10 (T_C = 500)"],
        )
        self.assertEqual([arm.label for arm in study.main("maze")], ["aurora-csc-uniform-10"])
        self.assertEqual(list(study.sweep("maze", "aurora-csc-uniform", T_C)), [10, 500])
        self.assertEqual(study.sweep("maze", "aurora-csc-uniform", DIMENSION), {})

    def test_sweeps_over_the_latent_size_stay_out_of_the_comparison(self) -> None:
        study = Study(
            Loaded(
                [run("maze", f"aurora-csc-uniform-{n}", 1) for n in (2, 10, 20)]
                + runs(1, "maze", "ns")
            )
        )
        self.assertEqual([arm.label for arm in study.main("maze")], ["aurora-csc-uniform-10", "ns"])
        self.assertEqual(list(study.sweep("maze", "aurora-csc-uniform", DIMENSION)), [2, 10, 20])

    def test_a_repeated_run_counts_once(self) -> None:
        study = Study(Loaded([run("maze", "ns", 1), run("maze", "ns", 1), run("maze", "ns", 2)]))
        self.assertEqual(study.arms[0].replications, 2)
        self.assertRegex(study.notes[0], "left out, it repeats")

    def test_unfinished_runs_and_versions_are_noted(self) -> None:
        study = Study(
            Loaded(
                [
                    run("maze", "ns", 1),
                    run("maze", "ns", 2, "interrupted"),
                    run("maze", "ns", 3, version="2"),
                    run("hexapod", "ns", 1, "failed"),
                    run("hexapod", "random-search", 1),
                ],
                ["a line"],
            )
        )
        notes = "\n".join(study.notes)
        for part in (
            "a line",
            "interrupted at iteration 1000: left out",
            "failed at iteration 1000: shown as it stands",
            r"different versions are compared: 1 \(4\), 2 \(1\)",
            "hexapod: fewer than two finished replications",
        ):
            self.assertRegex(notes, part)
        self.assertEqual([arm.replications for arm in study.arms], [2, 0, 1])

    def test_values_and_curves(self) -> None:
        arm = Study(
            Loaded([run("maze", "ns", seed, coverage=float(10 * seed)) for seed in (1, 2, 3)])
        ).arms[0]
        self.assertEqual(arm.values("coverage").tolist(), [10, 20, 30])
        self.assertEqual(arm.values("coverage", 550).tolist(), [5, 10, 15])
        self.assertEqual(arm.curve("coverage").loc[1000].tolist(), [15, 20, 25])
        self.assertFalse(arm.has("orientation_coverage"))
        self.assertEqual(arm.example().seed, 2)


class Mixes(unittest.TestCase):
    """Configurations of the user's own, that start from a variant of ours."""

    def mixed(self, count: int, **changes: Any) -> list[Run]:
        """Replications of a variant of ours with settings of the user's, "_" for the dot."""
        made = runs(count, "maze", "aurora-csc-uniform-10")
        parts = {"threshold_kind": "csc", "selection_kind": "uniform"}
        for one in made:
            for key, value in {**parts, **changes}.items():
                section, name = key.split("_", 1)
                one.config.setdefault(section, {})[name] = value
        return made

    def labels(self, *made: list[Run]) -> list[str]:
        return [arm.label for arm in Study(Loaded(sum(made, []))).arms]

    def test_a_label_says_what_is_not_the_variant_s(self) -> None:
        mix = self.mixed(4, threshold_kind="vat", selection_kind="surprise")
        label = "aurora-csc-uniform-10 (selection = surprise, threshold = vat)"
        self.assertEqual(self.labels(mix), [label])  # also if it is alone
        # More seeds do not make it the variant.
        plain = self.mixed(2, container_target_size=500)
        study = Study(Loaded(mix + plain))
        self.assertEqual(
            [arm.label for arm in study.arms],
            ["aurora-csc-uniform-10", label.replace("vat", "vat, N = 100")],
        )
        self.assertEqual(study.find("maze", "aurora-csc-uniform").replications, 2)
        self.assertIsNone(Study(Loaded(mix)).find("maze", "aurora-csc-uniform"))

    def test_variants_are_compared_where_they_have_the_same_part(self) -> None:
        others = runs(3, "maze", "ns") + runs(3, "maze", "aurora-vat-uniform-10")
        larger = self.mixed(2, container_target_size=500)
        self.assertEqual(
            self.labels(others, larger),
            ["ns", "aurora-vat-uniform-10", "aurora-csc-uniform-10 (N = 500)"],
        )
        other_part = self.mixed(2, container_kind="dns", container_k=3)
        self.assertEqual(
            self.labels(others, other_part)[-1], "aurora-csc-uniform-10 (container = dns)"
        )

    def test_settings_of_a_part_that_others_lack_tell_runs_apart(self) -> None:
        made = [
            self.mixed(2, threshold_kind="vat", threshold_vat_constant=constant)
            for constant in (9, 18)
        ]
        study = Study(Loaded(sum(made, self.mixed(2, threshold_kind="csc"))))
        self.assertEqual([arm.replications for arm in study.arms], [2, 2, 2])
        self.assertEqual(len({arm.label for arm in study.arms}), 3)

    def test_settings_that_mean_nothing_for_some_tell_the_others_apart(self) -> None:
        plain, settled = (
            self.mixed(2, encoder_training="full", encoder_progress=progress)
            for progress in (0.0, 0.01)
        )
        untrained = self.mixed(2, encoder_training="none")  # and no progress
        others = [
            self.mixed(2, encoder_training="full", encoder_progress=0.0, container_target_size=size)
            for size in (200, 300)
        ]
        study = Study(Loaded(sum([settled, untrained, plain, *others], [])))
        self.assertEqual([arm.replications for arm in study.arms], [2] * 5)
        name = "aurora-csc-uniform-10"
        labels = ["", " (encoder.progress = 0.01)", " (encoder.training = none)"]
        labels += [" (N = 200)", " (N = 300)"]
        self.assertEqual({arm.label for arm in study.arms}, {name + label for label in labels})
        for key, values in (
            ("encoder.progress", [0.0, 0.01]),
            ("encoder.training", ["full", "none"]),
            ("container.target_size", [100, 200, 300]),
        ):
            swept = study.sweep("maze", "aurora-csc-uniform", key)
            self.assertEqual(list(swept), values, key)
            self.assertIn(name, {arm.label for arm in swept.values()}, key)

    def test_what_changes_no_result_splits_no_replications(self) -> None:
        made = self.mixed(5)
        for one, (key, value) in zip(
            made,
            (
                ("log_every", 50),
                ("snapshot_every", 7),
                ("checkpoint_seconds", 1.0),
                ("failure_share", 0.1),
                ("evaluation_seconds", 5.0),
            ),
        ):
            for other in made:
                other.config["run"].setdefault(key, 10)
            one.config["run"][key] = value
        made[0].config["metrics"] = {"also": ["fitness"]}
        for other in made[1:]:
            other.config["metrics"] = {"also": []}
        self.assertEqual(self.labels(made), ["aurora-csc-uniform-10"])
        # An encoder's settings do nothing where descriptors are hand-coded.
        self.assertEqual(
            self.labels([run("maze", "ns", 1, t_e=10), run("maze", "ns", 2, t_e=50)]), ["ns"]
        )

    def test_a_study_gives_labels(self) -> None:
        mix = self.mixed(2, selection_kind="novelty")
        plain = self.mixed(2)
        for one in mix:
            one.summary["label"] = "ours"
        self.assertEqual(self.labels(plain, mix), ["aurora-csc-uniform-10", "ours"])
        for one in plain:  # of one study with two configurations
            one.summary["label"] = "ours"
        self.assertEqual(
            self.labels(plain, mix),
            ["ours: aurora-csc-uniform-10", "ours: aurora-csc-uniform-10 (selection = novelty)"],
        )

    def test_any_setting_can_be_swept(self) -> None:
        made = [self.mixed(1, variation_rate=rate) for rate in (0.1, 0.05, 0.2)]
        hidden = self.mixed(1, variation_rate=0.05, encoder_hidden=[16, 4])
        for one in sum(made, []):
            one.config["encoder"]["hidden"] = [32, 8]
        study = Study(Loaded(sum(made, hidden)))
        self.assertEqual(set(study.swept("maze")), {"variation.rate", "encoder.hidden"})
        found = study.sweep("maze", "aurora-csc-uniform", "variation.rate")
        self.assertEqual(list(found), [0.05, 0.1, 0.2])

    def test_batches_of_different_sizes_are_compared_by_evaluations(self) -> None:
        made = [self.mixed(2, run_batch=batch) for batch in (8, 16)]
        for one in sum(made, []):
            one.metrics["evaluations"] = one.metrics["iteration"] * one.config["run"]["batch"]
        study = Study(Loaded(sum(made, [])))
        self.assertEqual(clock_of(study.arms), "evaluations")
        self.assertEqual(clock_of(study.arms[:1]), "iteration")
        large = next(arm for arm in study.arms if arm.settings["run.batch"] == 16)
        at = large.values("coverage", 8000, "evaluations")
        self.assertEqual(at.tolist(), large.values("coverage", 500).tolist())
        self.assertEqual(large.curve("coverage", clock="evaluations").index[-1], 16000)

    def test_our_variants_are_those_of_the_program(self) -> None:
        listed = aurora("list", "variants").stdout.partition("\n\n")[0].splitlines()
        said = {}
        for head, settings in zip(listed[::2], listed[1::2]):
            name = head.split()[0]
            pairs: dict = dict(word.split("=", 1) for word in settings.split())
            known = {"true": True, "4": 4}
            pairs = {key: known.get(value, value) for key, value in pairs.items()}
            self.assertEqual(pairs.pop(DIMENSION, None), "n" if name.endswith("-n") else None)
            said[name.removesuffix("-n")] = pairs
        defaults = {**PARTS, "threshold.kind": "csc"}
        self.assertEqual(
            {name: {**defaults, **says} for name, says in VARIANTS.items()},
            {name: {**defaults, **says} for name, says in said.items()},
        )
        options = aurora("list", "options").stdout
        for key, value in defaults.items():
            self.assertRegex(options, rf'(?m)^ *{re.escape(key)} .*"{value}"')


class Strangers(unittest.TestCase):
    """Tasks, variants and metrics that nobody has heard of."""

    def labels(self, study: Study, task: str = "juggling") -> list[str]:
        return [arm.label for arm in study.main(task)]

    def test_every_variant_is_compared_under_its_own_name(self) -> None:
        study = Study(
            Loaded(
                runs(2, "juggling", "aurora-csc-uniform-10")
                + runs(2, "juggling", "my-idea-1", dimension=10)
                + runs(2, "juggling", "my-idea-2", dimension=10)
                + runs(2, "juggling", "small", dimension=3)
                + runs(2, "juggling", "plain")
            )
        )
        names = ["aurora-csc-uniform-10", "my-idea-1", "my-idea-2", "small", "plain"]
        self.assertEqual(self.labels(study), names)
        self.assertEqual(study.families("juggling"), ["aurora-csc-uniform", *names[1:]])
        self.assertEqual(study.find("juggling", "my-idea-2").replications, 2)
        # The claims are about one dimension; a comparison takes what there is.
        self.assertIsNone(study.find("juggling", "small"))
        self.assertEqual(study.notes, [])

    def test_a_stranger_may_be_swept_too(self) -> None:
        study = Study(Loaded([run("juggling", f"my-idea-{n}", 1, dimension=n) for n in (2, 10)]))
        self.assertEqual(study.families("juggling"), ["my-idea"])
        self.assertEqual(self.labels(study), ["my-idea-10"])
        self.assertEqual(list(study.sweep("juggling", "my-idea", DIMENSION)), [2, 10])

    def test_what_the_number_at_the_end_is(self) -> None:
        self.assertEqual(family_of("my-idea-2", [2]), "my-idea")
        self.assertEqual(family_of("my-idea-2", [10]), "my-idea-2")
        self.assertEqual(family_of("taxons-10", [2]), "taxons")
        self.assertEqual(family_of("2", [2]), "2")

    def test_a_dimension_that_the_name_does_not_say_is_said(self) -> None:
        swept = [run("juggling", "taxons-10", 1, dimension=n) for n in (2, 5)]
        study = Study(Loaded(swept))
        self.assertEqual(
            [arm.label for arm in study.arms], ["taxons-10 (n = 2)", "taxons-10 (n = 5)"]
        )
        self.assertEqual(self.labels(study), ["taxons-10 (n = 2)"])
        study = Study(Loaded([*swept, run("juggling", "taxons-10", 1)]))
        self.assertEqual(self.labels(study), ["taxons-10"])
        self.assertEqual(list(study.sweep("juggling", "taxons", DIMENSION)), [2, 5, 10])

    def test_a_hand_coded_descriptor_is_another_thing(self) -> None:
        study = Study(
            Loaded(runs(3, "juggling", "taxons-10", dimension=0) + runs(2, "juggling", "taxons-10"))
        )
        self.assertEqual(
            study.families("juggling"), ["taxons", "taxons-10 (descriptor = hand-coded)"]
        )
        self.assertEqual(study.find("juggling", "taxons").dimension, 10)

    def test_tasks_have_titles_and_the_order_of_the_runs(self) -> None:
        study = Study(
            Loaded(
                [
                    run("walking", "ns", 1),
                    run("juggling", "ns", 1),
                    run("juggling", "ns", 2, title="Juggling Balls"),
                ]
            )
        )
        self.assertEqual(study.tasks, ["walking", "juggling"])
        self.assertEqual([study.title(task) for task in study.tasks], ["walking", "Juggling Balls"])

    def test_columns_nobody_knows_are_further_metrics(self) -> None:
        made = runs(2, "juggling", "ns", title="J", zeal=1.0, energy=3.0) + runs(2, "walking", "ns")
        study = Study(Loaded(made))
        self.assertEqual(study.further("juggling"), ["zeal", "energy"])
        self.assertEqual(study.further("walking"), [])
        self.assertEqual(study.arms[0].unit("energy"), "J")
        self.assertEqual(study.arms[0].unit("zeal"), "")

    def test_a_column_that_some_lack_is_noted(self) -> None:
        study = Study(Loaded([run("juggling", "ns", 1, zeal=1.0), run("juggling", "ns", 2)]))
        self.assertEqual(study.further("juggling"), [])
        self.assertEqual(
            study.notes,
            ["juggling, ns: not all runs have 'zeal' in metrics.csv, so it is not shown"],
        )

    def test_values_that_are_no_numbers_are_passed_over(self) -> None:
        made = runs(3, "juggling", "ns", zeal=10.0)
        for one in made:
            one.metrics.loc[one.metrics["iteration"] > 500, "zeal"] = np.nan
            one.metrics["coverage"] = np.nan
        made[0].metrics.loc[:3, "zeal"] = -np.inf
        arm = Study(Loaded(made)).arms[0]
        np.testing.assert_allclose(arm.values("zeal"), [5.005, 5.01, 5.015])
        self.assertEqual(len(arm.values("zeal", 400)), 2)
        self.assertFalse(arm.has("coverage"))
        self.assertEqual(arm.example().seed, 2)  # by the size of the container

    def test_claims_without_their_metrics_are_open(self) -> None:
        bare = the_paper(3)
        for one in bare:
            columns = set(one.metrics) - {"iteration", "container_size"}
            one.metrics.drop(columns=list(columns), inplace=True)
        for found in (verdict(Study(Loaded(bare)), id) for id, *_ in CLAIMS[:-1]):
            if found.id != "C11":  # about sizes
                self.assertEqual(found.verdict, UNKNOWN, found.id)


class Judge(unittest.TestCase):
    def judged(self, *findings: Finding) -> str:
        return judge(Verdict("C0", "", "", list(findings))).verdict

    def test_verdicts(self) -> None:
        good, weak = Finding("", True, 0.001, 1.0, 0.0001), Finding("", True, 0.3, 0.6, 0.0001)
        few, wrong = Finding("", True, 0.1, 1.0, 0.1), Finding("", False, 0.5, 0.4, 0.0001)
        self.assertEqual(self.judged(good, good), HOLDS)
        self.assertEqual(self.judged(good, weak), FAILS)
        self.assertEqual(self.judged(good, wrong), FAILS)
        self.assertEqual(self.judged(few), UNKNOWN)
        self.assertEqual(self.judged(good, Finding("no runs")), UNKNOWN)
        self.assertEqual(self.judged(wrong, Finding("no runs")), FAILS)
        self.assertEqual(self.judged(Finding("no test", True)), HOLDS)
        self.assertEqual(self.judged(Finding("no test", False)), FAILS)
        self.assertEqual(self.judged(), UNKNOWN)

    def test_the_correction_is_over_the_claim(self) -> None:
        tested = judge(
            Verdict("C0", "", "", [Finding("", True, 0.01, 1.0)] * 3 + [Finding("no runs")])
        )
        self.assertAlmostEqual(tested.p, 0.03)
        self.assertEqual(tested.summary, "3 agree, 0 differ, 1 unknown")

    def test_too_few_for_the_correction_is_no_contradiction(self) -> None:
        self.assertEqual(self.judged(*[Finding("", True, 0.03, 1.0, 0.03)] * 3), UNKNOWN)


def the_paper(count: int = 8) -> list[Run]:
    """A world in which every claim holds that can be told without containers."""
    coverage = {"novelty": 60.0, "surprise": 60.0, "taxons": 45.0, "ns": 70.0, "random": 20.0}
    made = []
    for task in ("maze", "hexapod", "air-hockey"):
        iterations = 6000 if task == "hexapod" else 1000

        def add(variant: str, **more: Any) -> None:
            vat, aurora = "vat" in variant, variant.startswith("aurora")
            word = next((word for word in coverage if word in variant), "")
            values = {
                "coverage": 40.0 if vat else coverage.get(word, 50.0),
                "grid_mean_fitness": -10.0 if aurora else -5.0 if "hc" in variant else -20.0,
                "orientation_coverage": 10.0
                if variant.endswith("-2")
                else 30.0
                if aurora
                else 20.0,
                "trajectory_diversity": 90.0 if aurora else 60.0,
                "container_size": 20.0 if vat else 100.0,
                "loss_per_update": (0.5 if task == "air-hockey" else 2.0) if vat else 1.0,
            }
            made.extend(runs(count, task, variant, iterations=iterations, **{**values, **more}))

        for variant in ("csc-uniform", "csc-novelty", "csc-surprise", "vat-uniform", "vat-novelty"):
            add(f"aurora-{variant}-10")
        for variant in ("taxons-10", "hc-csc-uniform", "ns", "random-search"):
            add(variant)
        add("aurora-csc-uniform-2")
        add("aurora-vat-uniform-2")
        add("aurora-csc-uniform-10", t_c=500, coverage=45.0)
        add("aurora-csc-uniform-10", t_e=200, coverage=45.0)
    for one in made:  # the surprise selector's coverage falls
        if one.task == "hexapod" and "surprise" in one.variant:
            one.metrics.loc[one.metrics["iteration"] > 5000, "coverage"] = 30.0 + one.seed
    return made


class Claims(unittest.TestCase):
    def test_the_paper_s_world(self) -> None:
        study = Study(Loaded(the_paper()))
        for id, *_ in CLAIMS[:-1]:
            found = verdict(study, id)
            with self.subTest(id):
                self.assertEqual(found.verdict, HOLDS, found.findings)

    def test_the_opposite_world(self) -> None:
        upside_down = the_paper()
        for one in upside_down:
            for metric in set(one.metrics) - {"iteration", "container_size"}:
                one.metrics[metric] *= -1
        study = Study(Loaded(upside_down))
        for id, *_ in CLAIMS[:-1]:
            if id not in ("C2", "C11"):  # close and near are so upside down too
                self.assertEqual(verdict(study, id).verdict, FAILS, id)

    def test_all_are_there_even_without_runs(self) -> None:
        found = verdicts(Study(Loaded(runs(1, "maze", "ns"))))
        self.assertEqual([v.id for v in found], [f"C{i}" for i in range(1, 18)])
        self.assertEqual({v.verdict for v in found}, {UNKNOWN})
        self.assertTrue(all(v.findings for v in found))

    def test_more_coverage_than_taxons(self) -> None:
        def study(coverage: float, count: int) -> Study:
            families = ("uniform", "novelty", "surprise")
            aurora = [
                r
                for f in families
                for r in runs(count, "air-hockey", f"aurora-csc-{f}-10", coverage=90.0)
            ]
            return Study(Loaded(aurora + runs(count, "air-hockey", "taxons-10", coverage=coverage)))

        holds = verdict(study(80.0, 8), "C1")
        self.assertEqual((holds.verdict, holds.effect), (HOLDS, 1.0))
        self.assertLess(holds.p, 0.05)
        self.assertEqual(verdict(study(95.0, 8), "C1").verdict, FAILS)
        self.assertEqual(verdict(study(80.0, 3), "C1").verdict, UNKNOWN)

    def test_a_metric_that_is_absent(self) -> None:
        study = Study(
            Loaded(
                runs(8, "air-hockey", "aurora-csc-uniform-10")
                + runs(8, "air-hockey", "hc-csc-uniform")
            )
        )
        self.assertIn(
            "aurora-csc-uniform has no trajectory_diversity", verdict(study, "C10").findings[0].what
        )

    def test_runs_too_short_for_the_claim(self) -> None:
        short = [
            r
            for f in ("uniform", "novelty", "surprise")
            for r in runs(4, "maze", f"aurora-csc-{f}-10", iterations=500)
        ]
        self.assertIn(
            "ends at iteration 500, the claim is about 1000",
            verdict(Study(Loaded(short)), "C4").findings[0].what,
        )

    def test_falling_coverage(self) -> None:
        falling = runs(6, "hexapod", "aurora-csc-surprise-10", iterations=6000)
        for one in falling:
            one.metrics["coverage"] = 6000.0 - one.metrics["iteration"] + one.seed
        self.assertEqual(verdict(Study(Loaded(falling)), "C5").verdict, HOLDS)

    def test_sweeps(self) -> None:
        sweep = runs(6, "hexapod", "aurora-csc-uniform-2", orientation_coverage=10.0)
        sweep += runs(6, "hexapod", "aurora-csc-uniform-10", orientation_coverage=30.0)
        hand_coded = runs(6, "hexapod", "hc-csc-uniform", orientation_coverage=20.0)
        study = Study(Loaded(sweep + hand_coded))
        self.assertEqual(verdict(study, "C8").verdict, HOLDS)
        self.assertEqual(verdict(study, "C9").verdict, HOLDS)

    def test_container_sizes(self) -> None:
        made = []
        for task in ("maze", "hexapod", "air-hockey"):
            for n in (2, 10):
                made += runs(3, task, f"aurora-csc-uniform-{n}", container_size=105.0)
                made += runs(
                    3, task, f"aurora-vat-uniform-{n}", container_size=100.0 if n == 2 else 20.0
                )
        self.assertEqual(verdict(Study(Loaded(made)), "C11").verdict, HOLDS)
        made += runs(3, "maze", "aurora-csc-uniform-20", container_size=150.0)
        self.assertEqual(verdict(Study(Loaded(made)), "C11").verdict, FAILS)

    def test_close_coverage(self) -> None:
        def study(hand_coded: float) -> Study:
            return Study(
                Loaded(
                    [
                        r
                        for task in ("maze", "hexapod", "air-hockey")
                        for r in runs(2, task, "aurora-csc-uniform-10", coverage=50.0)
                        + runs(2, task, "hc-csc-uniform", coverage=hand_coded)
                    ]
                )
            )

        self.assertEqual(verdict(study(51.0), "C2").verdict, HOLDS)
        self.assertEqual(verdict(study(60.0), "C2").verdict, FAILS)


class Individuals:
    """What the claims read of a container."""

    def __init__(self, truth: np.ndarray, descriptors: np.ndarray):
        self.ground_truth, self.descriptors = truth, descriptors

    def __len__(self) -> int:
        return len(self.ground_truth)


class LatentSpaces(unittest.TestCase):
    def setUp(self) -> None:
        random = np.random.default_rng(5)
        self.truth = random.uniform(size=(400, 2))
        self.turned = self.truth @ np.array([[0.6, -0.8], [0.8, 0.6]]) * 7
        self.unrelated = random.uniform(size=(400, 2))

    def study(self, own: np.ndarray, retrained: Optional[np.ndarray], count: int = 2) -> Study:
        made = []
        for task in ("maze", "hexapod", "air-hockey"):
            for one in runs(count, task, "aurora-csc-uniform-2"):
                # In the place of what would be read from files.
                one.__dict__["container"] = Individuals(self.truth, own)
                again = None if retrained is None else Individuals(self.truth, retrained)
                one.__dict__["retrained"] = again
                made.append(one)
        return Study(Loaded(made))

    def test_entanglement_is_how_far_neighbours_are(self) -> None:
        container = Individuals(self.truth, self.turned)
        self.assertLess(entanglement(container, self.turned), 0.02)
        self.assertAlmostEqual(entanglement(container, self.unrelated), 0.5, delta=0.03)
        # One half of the space folded onto the other: neighbours stay neighbours.
        folded = np.abs(self.truth - [0.5, 0])
        self.assertLess(entanglement(container, folded), 0.1)

    def test_retraining_untangles(self) -> None:
        tangled = 0.7 * self.turned + 2.5 * self.unrelated
        self.assertEqual(verdict(self.study(tangled, self.turned), "C17").verdict, HOLDS)
        worse = verdict(self.study(self.turned, tangled), "C17")
        self.assertEqual(worse.verdict, FAILS)
        self.assertIn("after re-training from scratch (2 run(s))", worse.findings[-1].what)

    def test_without_retraining_nothing_is_said(self) -> None:
        missing = verdict(self.study(self.turned, None), "C17")
        self.assertEqual(missing.verdict, UNKNOWN)
        self.assertIn("aurora retrain maze-aurora-csc-uniform-2-1", missing.findings[-1].what)
        self.assertEqual(verdict(self.study(self.turned, self.turned, 1), "C17").verdict, UNKNOWN)

    def test_another_dimension_is_not_compared(self) -> None:
        wider = np.hstack([self.turned, self.unrelated])
        self.assertIsNone(verdict(self.study(self.turned, wider), "C17").findings[-1].agrees)


if __name__ == "__main__":
    unittest.main()
