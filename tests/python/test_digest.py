"""Digests: small, with all that a report says in numbers, and harmless to what is there."""
from __future__ import annotations

import json
import shutil
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from aurora_qd import RunError, load, load_many
from aurora_qd.claims import c17
from aurora_qd.digest import SAMPLE, step_of, thinned, write_digest
from aurora_qd.figures import cell_values
from aurora_qd.study import Study
from tiny import InFolder, aurora, edit_json, make_run, report


class Thinning(unittest.TestCase):
    def test_steps_are_round_and_few_enough(self) -> None:
        for last in (*range(1, 3000), 9_999, 10_000, 10_001, 15_000, 123_456_789):
            step = step_of(last, 200)
            self.assertLessEqual(last / step, 200)
            self.assertIn(str(step).rstrip("0"), ("1", "2", "5"))
            if step > 1:  # the next smaller one would be too many
                smaller = step // 2 if str(step)[0] != "5" else step * 2 // 5
                self.assertGreater(last / smaller, 200)

    def test_what_was_counted_is_still_counted(self) -> None:
        random = np.random.default_rng(5)
        for every, last in ((1, 5), (10, 2_000), (10, 10_000), (7, 4_321), (300, 3_000)):
            iterations = np.arange(every, last + 1, every)
            table = pd.DataFrame(
                {
                    "iteration": iterations,
                    "coverage": random.random(len(iterations)),
                    "added": random.integers(0, 9, len(iterations)),
                    "lost": random.integers(0, 9, len(iterations)),
                }
            )
            kept = thinned(table, 100)
            self.assertLessEqual(len(kept), 101)
            self.assertEqual(kept["iteration"].iloc[-1], iterations[-1])
            before = 0
            for row in kept.itertuples():
                since = table[(table["iteration"] > before) & (table["iteration"] <= row.iteration)]
                self.assertEqual(row.added, since["added"].sum())
                self.assertEqual(row.lost, since["lost"].sum())
                self.assertEqual(row.coverage, since["coverage"].iloc[-1])
                before = row.iteration

    def test_runs_of_a_length_keep_the_same_rows(self) -> None:
        often, seldom = (
            thinned(pd.DataFrame({"iteration": np.arange(every, 10_001, every)}))
            for every in (1, 50)
        )
        self.assertEqual(list(often["iteration"]), list(seldom["iteration"]))


class ADigest(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.made = cls.folder / "made"
        for variant in ("aurora-csc-uniform-2", "hc-csc-uniform"):
            for seed in (1, 2):
                make_run(cls.made / variant, "maze", variant, seed)

    def setUp(self) -> None:
        own = self.folder / self._testMethodName
        self.runs, self.kept = own / "runs", own / "kept"
        shutil.copytree(self.made, self.runs)

    def test_gives_the_numbers_of_the_runs_report(self) -> None:
        done = aurora("digest", self.runs, "--out", self.kept)
        self.assertEqual((done.returncode, done.stdout), (0, f"4 runs in {self.kept}\n"))
        for folder in (self.runs, self.kept):
            self.assertEqual(report(folder, "--out", f"{folder}-report").returncode, 0)
        for table in ("medians.csv", "pairs.csv"):
            pd.testing.assert_frame_equal(
                *(pd.read_csv(Path(f"{folder}-report") / table) for folder in (self.runs, self.kept))
            )
        pictures = [
            {path.stem for path in Path(f"{folder}-report").glob("*.png")}
            for folder in (self.runs, self.kept)
        ]
        self.assertEqual(pictures[0] - pictures[1], {"reconstructions-maze"})
        self.assertLessEqual(pictures[1], pictures[0])

    def test_is_small_and_says_nothing_of_the_machine(self) -> None:
        written, notes = write_digest([self.runs], self.kept)
        self.assertEqual(notes, [])
        with_container = 0
        for place in written:
            size = sum(file.stat().st_size for file in place.glob("*.*"))
            self.assertLess(size, 20_000)
            whole, kept = load(self.runs / place.relative_to(self.kept)), load(place)
            self.assertTrue(kept.is_digest and not whole.is_digest)
            for key in ("container_hash", "metrics", "seed", "version"):
                self.assertEqual(kept.summary[key], whole.summary[key])
            self.assertEqual((kept.summary["host"], kept.summary["evaluator"]), ("", "threads"))
            self.assertNotIn(whole.summary["host"], (place / "run.json").read_text())
            self.assertEqual(kept.settings, whole.settings)
            self.assertEqual(len(kept.encoder), len(whole.encoder))
            with_container += kept.has_container
            if kept.has_container:
                kept.container.check()
                self.assertEqual(len(kept.container), min(SAMPLE, len(whole.container)))
                rows = np.searchsorted(whole.container.ids, kept.container.ids)
                for column in ("ids", "fitness", "descriptors", "ground_truth"):
                    np.testing.assert_array_equal(kept.container[column], whole.container[column][rows])
            else:
                with self.assertRaisesRegex(RunError, "is a digest without its container"):
                    kept.container
        self.assertEqual(with_container, 3)  # one of each configuration, and all of two dimensions

    def test_replaces_digests_and_nothing_else(self) -> None:
        first, _ = write_digest([self.runs], self.kept)
        run = self.runs / first[0].relative_to(self.kept)
        edit_json(run / "run.json", container_size=7)
        again, _ = write_digest([self.runs], self.kept)
        self.assertEqual(again, first)
        self.assertEqual(load(first[0]).summary["container_size"], 7)
        before = sorted(self.runs.rglob("*"))
        done = aurora("digest", self.kept, "--out", self.runs)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is there, and is no digest; nothing was written to it", done.stderr)
        self.assertEqual(sorted(self.runs.rglob("*")), before)
        shutil.rmtree(first[0])
        first[0].mkdir()
        (first[0] / "run.json").write_text(json.dumps({"mine": True}))
        with self.assertRaisesRegex(RunError, "is no digest"):
            write_digest([self.runs], self.kept)

    def test_no_two_runs_have_one_digest(self) -> None:
        folders = [self.runs / variant for variant in ("aurora-csc-uniform-2", "hc-csc-uniform")]
        for folder in folders:
            next(folder.iterdir()).rename(folder / "same")
        done = aurora("digest", *folders, "--out", self.kept)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"would both be {self.kept / 'same'}; nothing was written", done.stderr)
        self.assertFalse(self.kept.exists())

    def test_the_run_itself_counts_more(self) -> None:
        kept = self.runs / "kept"  # among the runs, and no run to digest the next time
        first, _ = write_digest([self.runs], kept)
        again, _ = write_digest([self.runs], kept)
        self.assertEqual(again, first)
        for arm in Study(load_many([self.runs])).arms:
            self.assertFalse(any(run.is_digest for run in arm.runs))
        done = aurora("verify", self.runs)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count("is not looked at: it is a digest of a run"), 4)
        self.assertEqual(done.stdout.count("is whole"), 4)

    def test_spaces_of_two_dimensions_are_judged_as_in_the_runs(self) -> None:
        learned = sorted((self.runs / "aurora-csc-uniform-2").iterdir())
        for run in learned:
            self.assertEqual(aurora("retrain", run, "--epochs", 2).returncode, 0)
        write_digest([self.runs], self.kept)
        said = [
            [(finding.what, finding.agrees) for finding in c17(Study(load_many([folder])))]
            for folder in (self.runs, self.kept)
        ]
        self.assertEqual(said[0], said[1])
        self.assertIsNotNone(said[0][0][1])
        for run in learned:
            place = self.kept / run.relative_to(self.runs)
            self.assertEqual(len(load(place).retrained), len(load(place).container))
            with self.assertRaisesRegex(RunError, "whose individuals have no genes"):
                load(place).container.frame()

    def test_cells_of_a_sample_are_not_drawn_as_all(self) -> None:
        run = make_run(self.runs / "cells", "maze", "map-elites", 1)
        for most, drawn in ((10_000, True), (5, False)):
            with mock.patch("aurora_qd.digest.SAMPLE", most):
                write_digest([run.parent], self.kept)
            (arm,) = Study(load_many([self.kept])).arms
            cells = cell_values(arm, arm.runs[0].container)
            self.assertEqual(cells is not None, drawn)

    def test_is_for_reports_alone(self) -> None:
        written, _ = write_digest([self.runs], self.kept)
        for place in written:
            for words in (
                ("verify", place),
                ("show", place),
                ("nearest", place, "1,1"),
                ("retrain", place),
                ("run", "--resume", "--out", place, "--iterations", 99),
            ):
                done = aurora(*words)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn("is a digest of a run, for aurora report", done.stderr)
            done = aurora("export", place, "--csv", "--out", self.folder / "table.csv")
            self.assertEqual(done.returncode, 1)
            self.assertIn("is a digest, whose individuals have no genes", done.stderr)

    def test_a_study_goes_on_from_digests(self) -> None:
        study = self.folder / "study.toml"
        study.write_text(
            "replications = 3\n[settings]\nrun.iterations = 8\nrun.batch = 8\n"
            "container.target_size = 30\n[[study]]\nname = 'two'\ntasks = ['maze']\n"
            "variants = ['hc-csc-uniform', 'ns']\n"
        )
        out, again = self.runs / "study", self.runs / "again"
        done = aurora("experiment", study, "--out", out, "--replications", 2)
        self.assertIn("4 runs: 4 finished now, 0 before, 0 failed", done.stdout)
        write_digest([out], self.kept)
        shutil.copytree(self.kept, again)
        before = {path: path.read_bytes() for path in again.rglob("*") if path.is_file()}
        done = aurora("experiment", study, "--out", again)
        self.assertIn("6 runs: 2 finished now, 4 before, 0 failed", done.stdout)
        for path, content in before.items():
            self.assertEqual(path.read_bytes(), content)
        written, _ = write_digest([again], self.kept)
        self.assertEqual(len(written), 6)
        for path, content in before.items():  # with the sample of a container, where there was one
            self.assertEqual((self.kept / path.relative_to(again)).read_bytes(), content)
        # Of another run it is no substitute.
        study.write_text(study.read_text().replace("run.batch = 8", "run.batch = 9"))
        done = aurora("experiment", study, "--out", again)
        self.assertIn("6 failed", done.stdout)
        self.assertIn("run.batch was 8, now it is 9", done.stdout)

    def test_an_unfinished_run_is_left_to_go_on(self) -> None:
        out = self.runs / "some"
        shutil.copytree(self.runs / "hc-csc-uniform" / "maze-hc-csc-uniform-1", out / "whole")
        shutil.copytree(out / "whole", out / "half")
        path = out / "half" / "run.json"
        summary = json.loads(path.read_text())
        path.write_text(json.dumps({**summary, "status": "interrupted", "seed": 99}))
        written, notes = write_digest([out], self.kept)
        self.assertEqual(written, [self.kept / "whole"])
        self.assertFalse((self.kept / "half").exists())
        self.assertIn("half: left out, as no study could go on", "; ".join(notes))

    def test_one_run_keeps_its_name(self) -> None:
        run = self.runs / "hc-csc-uniform" / "maze-hc-csc-uniform-1"
        self.assertTrue(run.is_dir())
        written, _ = write_digest([run], self.kept)
        self.assertEqual(written, [self.kept / run.name])

    def test_nothing_to_keep_is_an_error(self) -> None:
        (self.folder / "empty").mkdir()
        done = aurora("digest", self.folder / "empty", "--out", self.kept)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no run to keep anything of", done.stderr)
        self.assertFalse(self.kept.exists())


if __name__ == "__main__":
    unittest.main()
