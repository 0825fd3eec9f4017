"""The same lines of code with pyribs' archives and scheduler and with ours, where the concepts agree:
docs/python.md has the table. Needs pyribs: scripts/python-extras."""
from __future__ import annotations

import sys
import unittest
from typing import Any

import numpy as np

try:
    from ribs.archives import GridArchive, ProximityArchive
    from ribs.emitters import GaussianEmitter
    from ribs.schedulers import Scheduler
except ModuleNotFoundError:
    print("skipped: pyribs is not installed (make test-python-extras)", file=sys.stderr)
    sys.exit(0)

import aurora_qd as aurora

task = aurora.Task(
    name="sphere",
    genes=3,
    sensory=(3, 1),
    ground_truth={"x": (0, 1), "y": (0, 1)},
    worst_fitness=-3,
)


def theirs() -> Any:
    archive = GridArchive(solution_dim=3, dims=[20, 20], ranges=[(0, 1), (0, 1)], seed=1)
    emitter = GaussianEmitter(
        archive, sigma=0.1, x0=[0.5] * 3, batch_size=32, bounds=[(0, 1)] * 3, seed=1
    )
    return Scheduler(archive, [emitter])


def ours() -> Any:
    return aurora.Scheduler(task, variant="map-elites", seed=1, run_batch=32)


def tell(scheduler: Any, solutions: np.ndarray) -> None:
    """The one line that differs."""
    objective, measures = -(solutions**2).sum(axis=1), solutions[:, :2]
    if isinstance(scheduler, aurora.Scheduler):
        scheduler.tell(objective, solutions[:, :, None], measures)
    else:
        scheduler.tell(objective, measures)


class SameLines(unittest.TestCase):
    def test_a_search(self) -> None:
        for make in (theirs, ours):
            with self.subTest(make.__name__):
                scheduler = make()
                with self.assertRaises(RuntimeError):
                    tell(scheduler, np.zeros((32, 3)))
                with self.assertRaises(ValueError):
                    tell(scheduler, scheduler.ask()[:-1])
                scheduler = make()
                for _ in range(20):
                    tell(scheduler, scheduler.ask())
                archive = scheduler.archive
                self.assertFalse(archive.empty)
                stats = archive.stats
                self.assertEqual(stats.num_elites, len(archive))
                self.assertTrue(0 < float(stats.coverage) <= 1)

                data = archive.data()
                self.assertGreaterEqual(set(data), {"solution", "objective", "measures", "index"})
                self.assertEqual(data["solution"].shape, (len(archive), 3))
                np.testing.assert_allclose(
                    data["objective"], -(data["solution"] ** 2).sum(axis=1), rtol=1e-4
                )
                np.testing.assert_allclose(data["measures"], data["solution"][:, :2], atol=1e-6)
                objective, measures = archive.data(["objective", "measures"], return_type="tuple")
                self.assertTrue(np.array_equal(objective, archive.data("objective")))
                frame = archive.data(return_type="pandas")
                self.assertEqual(len(frame), len(archive))
                self.assertIn("objective", frame)
                self.assertIn("solution_0", frame)
                self.assertAlmostEqual(float(stats.obj_max), float(objective.max()), places=5)
                self.assertAlmostEqual(float(stats.obj_mean), float(objective.mean()), places=4)
                self.assertEqual(archive.best_elite["objective"], objective.max())

                occupied, elite = archive.retrieve_single(measures[3])
                self.assertTrue(occupied)
                self.assertTrue(np.array_equal(elite["measures"], measures[3]))
                occupied, elites = archive.retrieve(measures[:4])
                self.assertEqual((occupied.all(), len(elites["solution"])), (True, 4))
                self.assertEqual(archive.sample_elites(5)["solution"].shape, (5, 3))
                self.assertEqual(sum(1 for _ in archive), len(archive))
                with self.assertRaises(ValueError):
                    archive.retrieve_single([np.nan, 0])
                with self.assertRaises(IndexError):
                    make().archive.sample_elites(1)

    def test_the_nearest_is_that_of_a_proximity_archive(self) -> None:
        scheduler = ours()
        for _ in range(10):
            tell(scheduler, scheduler.ask())
        data = scheduler.archive.data()
        other = ProximityArchive(
            solution_dim=3, measure_dim=2, k_neighbors=1, novelty_threshold=0.0
        )
        other.add(data["solution"], data["objective"], data["measures"])
        self.assertEqual(len(other), len(scheduler.archive))
        wanted = np.random.default_rng(0).random((50, 2))
        np.testing.assert_allclose(
            scheduler.archive.retrieve(wanted)[1]["solution"],
            other.retrieve(wanted)[1]["solution"],
        )


if __name__ == "__main__":
    unittest.main()
