"""Ask and tell."""
from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

import numpy as np
import pandas as pd

import aurora_qd as aurora
from thrower import task, throw
from tiny import InFolder

SMALL = {"variant": "aurora-csc-uniform-2", "seed": 3, "config": {"run.batch": 32}}


def told(scheduler: aurora.Scheduler, iterations: int) -> aurora.Scheduler:
    for _ in range(iterations):
        scheduler.tell(*throw(scheduler.ask()))
    return scheduler


class AskAndTell(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.search = told(aurora.Scheduler(task, **SMALL), 12)

    def test_solutions_are_genes(self) -> None:
        solutions = aurora.Scheduler(task, **SMALL).ask()
        self.assertEqual((solutions.shape, solutions.dtype), ((32, 3), np.float32))
        self.assertTrue(((solutions >= 0) & (solutions <= 1)).all())

    def test_arrays_belong_to_who_asked(self) -> None:
        scheduler = aurora.Scheduler(task, **SMALL)
        first = scheduler.ask()
        before = first.copy()
        scheduler.tell(*throw(first))
        scheduler.ask()
        self.assertTrue(np.array_equal(first, before))

    def test_out_of_turn(self) -> None:
        scheduler = aurora.Scheduler(task, **SMALL)
        with self.assertRaisesRegex(RuntimeError, "tell was called without ask"):
            scheduler.tell([], [], [])
        solutions = scheduler.ask()
        with self.assertRaisesRegex(RuntimeError, "ask was called twice"):
            scheduler.ask()
        scheduler.tell(*throw(solutions))
        with self.assertRaisesRegex(RuntimeError, "tell was called without ask"):
            scheduler.tell(*throw(solutions))

    def test_wrong_shapes_and_types_can_be_told_again(self) -> None:
        scheduler = aurora.Scheduler(task, **SMALL)
        fitness, sensory, truth = throw(scheduler.ask())
        for wrong, says in (
            ((fitness[:-1], sensory, truth), r"fitness must have the shape \(32,\)"),
            ((fitness, sensory[:, :-1], truth), r"sensory must have the shape \(32, 32, 2\)"),
            ((fitness, sensory, truth[:, :1]), r"ground_truth must have the shape \(32, 2\)"),
            ((fitness.astype(str), sensory, truth), "fitness must be numbers"),
            ((fitness, sensory.astype(complex), truth), "sensory must be numbers"),
        ):
            with self.assertRaisesRegex(ValueError, says):
                scheduler.tell(*wrong)
        report = scheduler.tell(list(fitness), sensory.astype(float), truth)
        self.assertEqual(report["added"] + report["replaced"] + report["rejected"], 32)

    def test_what_is_not_finite_is_left_out(self) -> None:
        scheduler = aurora.Scheduler(task, **SMALL)
        fitness, sensory, truth = throw(scheduler.ask())
        fitness[3], sensory[5, 2, 1], truth[7, 0] = np.nan, np.inf, np.nan
        self.assertEqual(scheduler.tell(fitness, sensory, truth)["invalid"], 3)
        self.assertTrue(np.isfinite(scheduler.archive.data("objective")).all())

    def test_pictures_are_bytes(self) -> None:
        pictures = aurora.Task(4, (8, 8, 3), {"x": (0, 1), "y": (0, 1)}, dtype=np.uint8)
        scheduler = aurora.Scheduler(
            pictures, variant="aurora-csc-uniform-2", run_batch=8, encoder_kind="pca"
        )
        n = len(scheduler.ask())
        seen = np.random.default_rng(1).integers(0, 256, (n, 8, 8, 3), np.uint8)
        with self.assertRaisesRegex(ValueError, "sensory must be uint8, values from 0 to 255"):
            scheduler.tell(np.zeros(n), seen / 255, np.zeros((n, 2)))
        scheduler.tell(np.zeros(n), seen, np.zeros((n, 2)))
        self.assertEqual(scheduler.archive.data("sensory").dtype, np.uint8)

    def test_settings_are_checked(self) -> None:
        for settings, says in (
            ({"variant": "aurora-csc-uniforn-2"}, "did you mean"),
            ({"container_target_size": 0}, "container.target_size must be an integer from 1"),
            ({"config": {"container.k_nearest": 3}}, "there is no option"),
            ({"threads": 0}, "run.threads must be"),
        ):
            with self.assertRaisesRegex(ValueError, says):
                aurora.Scheduler(task, **settings)
        for wrong, says in (
            ({"genes": 0}, "at least 1"),
            ({"dtype": np.float64}, "float32 or uint8"),
            ({"ground_truth": {"x": (0, 1)}}, "at least two ground-truth axes"),
            ({"name": "a task"}, "must have a name of letters"),
            ({"hand_coded_size": 3}, "of 1 to 2 values, not 3"),
        ):
            whole = {"genes": 3, "sensory": (4,), "ground_truth": {"x": (0, 1), "y": (0, 1)}}
            with self.assertRaisesRegex(ValueError, says):
                aurora.Scheduler(aurora.Task(**{**whole, **wrong}))
        known = aurora.Scheduler(task, container_target_size=77, **SMALL).settings
        self.assertEqual(known["container.target_size"], "77")

    def test_hand_coded_descriptors_of_more_values(self) -> None:
        feet = {name: (0, 1) for name in ("left", "middle", "right")}
        walker = aurora.Task(4, (2,), feet, worst_fitness=-1, hand_coded_size=3)
        scheduler = aurora.Scheduler(walker, **{**SMALL, "variant": "hc-csc-uniform"})
        solutions = scheduler.ask()
        scheduler.tell(-solutions[:, 3], solutions[:, :2], solutions[:, :3])
        archive = scheduler.archive
        np.testing.assert_array_equal(archive.data("measures"), archive.data("ground_truth"))
        self.assertEqual(archive.data("measures").shape[1], 3)
        walker.save(self.folder / "walker.json")
        again = aurora.Task.load(self.folder / "walker.json")
        self.assertEqual((again.hand_coded_size, again.axes), (3, walker.axes))

    def test_archive(self) -> None:
        archive = self.search.archive
        data = archive.data()
        self.assertEqual(len(archive), len(data["solution"]))
        self.assertFalse(archive.empty)
        self.assertTrue((np.diff(data["id"].astype(int)) > 0).all())  # the oldest first
        solutions, fitness = archive.data(["genotypes", "objective"], return_type="tuple")
        self.assertTrue(np.array_equal(solutions, data["solution"]))
        again = throw(solutions)
        self.assertTrue(np.array_equal(again[0], fitness))
        self.assertTrue(np.array_equal(again[1], archive.data("sensory")))
        frame = archive.data(return_type="pandas")
        self.assertIsInstance(frame, pd.DataFrame)
        for column in ("solution_2", "objective", "measures_1", "x", "y", "id", "index"):
            self.assertIn(column, frame)
        with self.assertRaisesRegex(ValueError, "there is no field 'novelty'"):
            archive.data("novelty")
        with self.assertRaisesRegex(ValueError, "return_type is"):
            archive.data(return_type="numpy")
        best = archive.best_elite
        self.assertEqual(best["objective"], fitness.max())
        self.assertEqual([elite["index"] for elite in archive], list(range(len(archive))))

    def test_retrieve(self) -> None:
        archive = self.search.archive
        measures = archive.data("measures")
        occupied, found = archive.retrieve(measures[[4, 2]] + 1e-6)
        self.assertTrue(occupied.all())
        self.assertEqual(list(found["index"]), [4, 2])
        there, one = archive.retrieve_single(measures[9])
        self.assertEqual((there, one["index"]), (True, 9))
        with self.assertRaisesRegex(ValueError, "shape"):
            archive.retrieve([[0.0]])
        with self.assertRaisesRegex(ValueError, "one axis"):
            archive.retrieve_single([[0.0, 0.0]])
        empty = aurora.Scheduler(task, **SMALL).archive
        with self.assertRaisesRegex(RuntimeError, "nobody"):
            empty.retrieve_single([0.0, 0.0])
        with self.assertRaisesRegex(IndexError, "nobody"):
            empty.sample_elites(1)
        self.assertIsNone(empty.best_elite)

    def test_samples(self) -> None:
        archive = self.search.archive
        self.assertEqual(archive.sample_elites(5)["solution"].shape, (5, 3))
        everyone = archive.sample_elites(len(archive), replace=False)
        self.assertEqual(sorted(everyone["index"]), list(range(len(archive))))
        with self.assertRaisesRegex(ValueError, "cannot be had"):
            archive.sample_elites(len(archive) + 1, replace=False)

    def test_stats(self) -> None:
        stats = self.search.archive.stats
        self.assertEqual(stats.num_elites, len(self.search.archive))
        self.assertTrue(0 < stats.coverage < 1)
        self.assertAlmostEqual(100 * stats.coverage, stats.metrics["coverage"])
        self.assertEqual(stats.obj_max, self.search.archive.data("objective").max())
        self.assertIsNone(aurora.Scheduler(task, **SMALL).archive.stats.obj_max)

    def test_saved_and_loaded(self) -> None:
        here = aurora.Scheduler(task, **SMALL)
        told(here, 5)
        asked = here.ask()
        here.save(self.folder / "state")
        there = aurora.Scheduler.load(self.folder / "state", threads=1)
        self.assertEqual(there.iterations, 5)
        self.assertTrue(np.array_equal(there.ask(), asked))
        for scheduler in (here, there):
            scheduler.tell(*throw(asked))
            told(scheduler, 6)
        self.assertEqual(here.archive.hash, there.archive.hash)
        self.assertEqual(here.archive.hash, self.search.archive.hash)
        here.save(self.folder / "state")  # again, in the same place
        self.assertEqual(aurora.Scheduler.load(self.folder / "state").iterations, 12)

    def test_what_cannot_be_loaded(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "no config.toml"):
            aurora.Scheduler.load(self.folder / "nowhere")
        self.search.save(self.folder / "other")
        wrong = aurora.Task(3, (32, 2), {"x": (0, 5), "y": (0, 3)}, -36, name="thrower")
        with self.assertRaisesRegex(ValueError, "another specification"):
            aurora.Scheduler.load(self.folder / "other", wrong)
        full = self.folder / "full"
        full.mkdir()
        (full / "mine").write_text("x")
        with self.assertRaisesRegex(OSError, "is not empty"):
            self.search.save(full)


class OurTasks(unittest.TestCase):
    def test_the_maze(self) -> None:
        scheduler = aurora.Scheduler("maze", variant="hc-csc-uniform", run_batch=8, threads=1)
        self.assertEqual(scheduler.task.name, "maze")
        self.assertEqual(scheduler.task.dtype, np.uint8)
        for _ in range(3):
            scheduler.tell(*aurora.evaluate("maze", scheduler.ask(), threads=1))
        self.assertGreater(len(scheduler.archive), 0)
        self.assertEqual(aurora.describe("maze").genes, scheduler.archive.solution_dim)
        with self.assertRaisesRegex(ValueError, "genes in"):
            aurora.evaluate("maze", np.full((1, scheduler.task.genes), 2.0))
        with self.assertRaisesRegex(ValueError, "genes, not 1"):
            aurora.evaluate("maze", [[0.5]])
        with self.assertRaisesRegex(ValueError, "there is no task 'maaze'"):
            aurora.Scheduler("maaze")


class OnesOwnSolutions(unittest.TestCase):
    """What is asked for instead of children."""

    def test_they_come_first_and_the_rest_is_drawn(self) -> None:
        scheduler = aurora.Scheduler(task, "aurora-csc-uniform-2", 1)
        drawn = aurora.Scheduler(task, "aurora-csc-uniform-2", 1).ask()
        own = np.random.default_rng(1).random((5, task.genes))
        asked = scheduler.ask(own)
        self.assertTrue(np.array_equal(asked[:5], own.astype(np.float32)))
        self.assertTrue(np.array_equal(asked[5:], drawn[5:]))
        scheduler.tell(*throw(asked))
        genotypes = scheduler.archive.data("genotypes")
        self.assertTrue(
            (genotypes[:, None] == own.astype(np.float32)).all(axis=2).any(axis=0).any()
        )
        self.assertEqual(scheduler.ask(own[0]).shape, (128, task.genes))  # later, too

    def test_wrong_ones_change_nothing(self) -> None:
        scheduler = aurora.Scheduler(task, "aurora-csc-uniform-2", 1)
        with self.assertRaisesRegex(
            ValueError, r"at most 128 rows \(run.batch\) of 3 genes, not 129"
        ):
            scheduler.ask(np.zeros((129, 3)))
        with self.assertRaisesRegex(ValueError, "not 2 of 4"):
            scheduler.ask(np.zeros((2, 4)))
        for wrong in (1.5, np.nan):
            with self.assertRaisesRegex(ValueError, r"genes in \[0, 1\]"):
                scheduler.ask(np.full((2, 3), wrong))
        other = aurora.Scheduler(task, "aurora-csc-uniform-2", 1)
        self.assertTrue(np.array_equal(scheduler.ask(), other.ask()))

    def test_sensory_data_that_is_the_ground_truth(self) -> None:
        plain = aurora.Task(3, 2, {"x": (0, 1), "y": (0, 1)}, worst_fitness=-3)
        hashes = set()
        for once in (True, False):
            scheduler = aurora.Scheduler(plain, "map-elites", 1)
            for _ in range(3):
                x = scheduler.ask()
                more = () if once else (x[:, :2],)
                scheduler.tell(-(x**2).sum(axis=1), x[:, :2], *more)
            hashes.add(scheduler.archive.hash)
        self.assertEqual(len(hashes), 1)
        scheduler = aurora.Scheduler(task)
        fitness, sensory, _ = throw(scheduler.ask())
        with self.assertRaisesRegex(ValueError, "needs fitness, sensory data and ground truth"):
            scheduler.tell(fitness, sensory)


if __name__ == "__main__":
    unittest.main()
