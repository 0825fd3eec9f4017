"""The same lines of code with pyribs' archives and scheduler and with ours, where the concepts agree:
docs/python.md has the table; and archives of theirs from ours, and back. Needs pyribs:
scripts/python-extras."""
from __future__ import annotations

import sys
import unittest
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

try:
    from ribs.archives import CVTArchive, GridArchive, ProximityArchive
    from ribs.emitters import GaussianEmitter
    from ribs.schedulers import Scheduler
    from ribs.visualize import grid_archive_heatmap as their_heatmap
except ModuleNotFoundError:
    print("skipped: pyribs is not installed (make test-python-extras)", file=sys.stderr)
    sys.exit(0)

import aurora_qd as aurora
from aurora_qd.visualize import grid_archive_heatmap, proximity_archive_plot
from tiny import InFolder

task = aurora.Task(
    name="sphere",
    genes=3,
    sensory=2,  # the measures, which are the ground truth, too
    ground_truth={"x": (0, 1), "y": (0, 1)},
    worst_fitness=-3,
)

# What differs: imports, and how a search is put together.
THEIRS = """
from ribs.archives import GridArchive
from ribs.emitters import GaussianEmitter
from ribs.schedulers import Scheduler
from ribs.visualize import grid_archive_heatmap

archive = GridArchive(solution_dim=3, dims=[40, 40], ranges=[(0, 1), (0, 1)], seed=1)
emitters = [
    GaussianEmitter(archive, sigma=0.1, x0=[0.5] * 3, batch_size=32, bounds=[(0, 1)] * 3, seed=1)
]
scheduler = Scheduler(archive, emitters)
"""
OURS = """
from aurora_qd import Scheduler, Task
from aurora_qd.visualize import grid_archive_heatmap

task = Task(3, 2, {"x": (0, 1), "y": (0, 1)}, worst_fitness=-3)
scheduler = Scheduler(task, "map-elites", 1, run_batch=32, container_target_size=1600)
"""

# The course of pyribs' examples: search, look up, take along, draw.
EXAMPLE = """
for itr in range(1, 101):
    solutions = scheduler.ask()
    objectives = -np.sum(np.square(solutions), axis=1)
    measures = solutions[:, :2]
    scheduler.tell(objectives, measures)
    if itr % 50 == 0:
        stats = scheduler.archive.stats
        lines.append(f"{itr}: {stats.num_elites} elites, {stats.coverage:.3f}, {stats.obj_max:.2f}")

archive = scheduler.result_archive
occupied, elite = archive.retrieve_single([0.5, 0.5])
best = archive.best_elite
fields = archive.data(["measures", "objective"])
frame = archive.data(return_type="pandas").sort_values("objective", ascending=False)
parents = archive.sample_elites(4)["solution"]
reached = [tuple(elite["measures"]) for elite in archive if elite["objective"] > -1]

plt.figure(figsize=(8, 6))
grid_archive_heatmap(archive, vmin=-3.0, vmax=0.0, cmap="viridis")
plt.tight_layout()
colours = plt.gca().collections[0].get_array()
"""


def carried_out(head: str) -> dict[str, Any]:
    names: dict[str, Any] = {"np": np, "plt": plt, "lines": []}
    exec(head + EXAMPLE, names)
    plt.close("all")
    return names


def theirs() -> Any:
    archive = GridArchive(solution_dim=3, dims=[20, 20], ranges=[(0, 1), (0, 1)], seed=1)
    emitter = GaussianEmitter(
        archive, sigma=0.1, x0=[0.5] * 3, batch_size=32, bounds=[(0, 1)] * 3, seed=1
    )
    return Scheduler(archive, [emitter])


def ours(variant: str = "map-elites", **settings: Any) -> Any:
    return aurora.Scheduler(task, variant=variant, seed=1, run_batch=32, **settings)


def sphere(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    measures = solutions[:, :2]
    return -(solutions**2).sum(axis=1), measures, measures


def tell(scheduler: Any, solutions: np.ndarray) -> None:
    scheduler.tell(*sphere(solutions)[:2])


def searched(scheduler: Any, iterations: int = 20) -> Any:
    for _ in range(iterations):
        tell(scheduler, scheduler.ask())
    return scheduler


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

    def test_an_example(self) -> None:
        for head in (THEIRS, OURS):
            with self.subTest(head.split()[1]):
                names = carried_out(head)
                archive, size = names["archive"], len(names["archive"])
                self.assertEqual(len(names["lines"]), 2)
                self.assertEqual(names["elite"]["solution"].shape, (3,))
                self.assertEqual(names["best"]["objective"], names["fields"]["objective"].max())
                self.assertEqual(names["frame"]["objective"].iloc[0], names["best"]["objective"])
                self.assertEqual(names["parents"].shape, (4, 3))
                self.assertEqual((archive.solution_dim, archive.measure_dim), (3, 2))
                self.assertLessEqual(len(names["reached"]), size)
                # Both draw a cell for each elite: their grid is the container, and ours, too.
                self.assertEqual(np.count_nonzero(~np.ma.getmaskarray(names["colours"])), size)


class ToTheirs(InFolder):
    def same(self, theirs: Any, archive: Any) -> None:
        mine = archive.data(["id", "solution", "objective", "measures", "ground_truth", "sensory"])
        other = theirs.data()
        self.assertEqual(len(theirs), len(archive))
        order = np.argsort(other["id"])
        for name, column in mine.items():
            self.assertTrue(np.array_equal(other[name][order].astype(column.dtype), column), name)

    def test_a_grid_has_the_same_cells(self) -> None:
        archive = searched(ours(container_target_size=400)).archive
        grid = aurora.to_ribs(archive)
        self.assertIsInstance(grid, GridArchive)
        self.assertEqual(list(grid.dims), [20, 20])
        self.same(grid, archive)

    def test_voronoi_cells_are_the_same(self) -> None:
        archive = searched(ours("cvt-map-elites", container_target_size=200)).archive
        cells = aurora.to_ribs(archive)
        self.assertIsInstance(cells, CVTArchive)
        self.assertEqual(cells.cells, 200)
        self.same(cells, archive)
        wide = aurora.Task(3, 2, {"x": (0, 1), "y": (0, 2)}, worst_fitness=-3)
        scheduler = aurora.Scheduler(wide, "cvt-map-elites", 1, container_target_size=20)
        with self.assertRaisesRegex(ValueError, "scaled to one length"):
            aurora.to_ribs(searched(scheduler, 2).archive)

    def test_others_are_proximity_archives(self) -> None:
        archive = searched(ours("hc-csc-uniform", container_target_size=300)).archive
        near = aurora.to_ribs(archive)
        self.assertIsInstance(near, ProximityArchive)
        self.assertEqual(near.k_neighbors, 15)
        self.same(near, archive)
        wanted = np.random.default_rng(0).random((50, 2))
        self.assertTrue(
            np.array_equal(
                archive.retrieve(wanted)[1]["id"], near.retrieve(wanted)[1]["id"].astype(np.uint64)
            )
        )

    def test_the_grid_of_the_metrics(self) -> None:
        archive = searched(ours("hc-csc-uniform", container_target_size=3000), 40).archive
        grid = aurora.to_ribs(archive, measures="ground_truth")
        self.assertEqual(list(grid.dims), [40, 40])
        self.assertAlmostEqual(grid.stats.coverage, archive.stats.coverage)

    def test_of_a_run_and_an_archive_of_ones_own(self) -> None:
        run = aurora.run(
            task, sphere, 10, self.folder / "run", variant="aurora-csc-uniform-2", progress=False
        )
        self.same(aurora.to_ribs(run), aurora.Scheduler.load(run.path, task).archive)
        mine = GridArchive(solution_dim=3, dims=[5, 5], ranges=[(0, 1), (0, 1)])
        self.assertIs(aurora.to_ribs(run.container, mine, measures="ground_truth"), mine)
        self.assertTrue(0 < len(mine) <= 25)
        with self.assertRaisesRegex(ValueError, "measures are descriptors or ground_truth"):
            aurora.to_ribs(run, measures="genes")
        with self.assertRaisesRegex(ValueError, "not of dict"):
            aurora.to_ribs({})  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "with 3 measures cannot take descriptors of 2"):
            aurora.to_ribs(run, GridArchive(solution_dim=3, dims=[5] * 3, ranges=[(0, 1)] * 3))

    def test_nobody(self) -> None:
        self.assertEqual(len(aurora.to_ribs(ours().archive)), 0)


class FromTheirs(unittest.TestCase):
    def test_a_search_begins_with_them(self) -> None:
        grid = searched(theirs()).archive
        scheduler = aurora.from_ribs(grid, ours(container_target_size=400), sphere)
        self.assertEqual(scheduler.iterations, -(-len(grid) // 32))
        # Of every cell the better is there: theirs, or what filled the last batch.
        back = aurora.to_ribs(scheduler.archive)
        self.assertGreaterEqual(len(back), len(grid))
        occupied, elites = back.retrieve(grid.data("measures").astype(np.float32))
        self.assertTrue(occupied.all())
        self.assertTrue((elites["objective"] >= grid.data("objective") - 1e-6).all())
        before = scheduler.archive.stats.qd_score
        self.assertGreater(searched(scheduler).archive.stats.qd_score, before)

    def test_other_bounds(self) -> None:
        other = GridArchive(solution_dim=3, dims=[5, 5], ranges=[(-1, 1), (-1, 1)])
        solutions = np.random.default_rng(1).uniform(-1, 1, (40, 3))
        other.add(solutions, -(solutions**2).sum(axis=1), solutions[:, :2])
        with self.assertRaisesRegex(ValueError, r"outside the bounds.*say bounds=\(low, high\)"):
            aurora.from_ribs(other, ours(), sphere)
        scheduler = ours()
        told = []
        aurora.from_ribs(other, scheduler, lambda x: (told.append(x), sphere(x))[1], bounds=(-1, 1))
        np.testing.assert_allclose(
            2 * np.concatenate(told)[: len(other)] - 1, other.data("solution"), atol=1e-6
        )
        wrong = aurora.Scheduler(aurora.Task(4, 2, {"x": (0, 1), "y": (0, 1)}), "map-elites")
        with self.assertRaisesRegex(ValueError, "have 4 genes"):
            aurora.from_ribs(other, wrong, sphere, bounds=(-1, 1))


class Pictures(InFolder):
    def tearDown(self) -> None:
        plt.close("all")

    def test_the_same_heat_map_as_theirs(self) -> None:
        archive = searched(ours(container_target_size=1600)).archive
        ours_drawn = grid_archive_heatmap(archive, plt.figure().gca(), vmin=-3, vmax=0)
        theirs_drawn = plt.figure().gca()
        their_heatmap(aurora.to_ribs(archive), theirs_drawn, vmin=-3, vmax=0)
        values = [
            np.ma.filled(axes.collections[0].get_array().astype(float), np.nan).ravel()
            for axes in (ours_drawn, theirs_drawn)
        ]
        self.assertTrue(np.array_equal(*values, equal_nan=True))
        self.assertEqual(ours_drawn.get_xlim(), theirs_drawn.get_xlim())
        self.assertEqual(ours_drawn.get_ylim(), theirs_drawn.get_ylim())

    def test_options(self) -> None:
        deep = aurora.Task(3, (3, 1), {"x": (0, 1), "y": (0, 1)}, worst_fitness=-3)
        run = aurora.run(
            deep,
            lambda x: (sphere(x)[0], x[:, :, None], x[:, :2]),
            5,
            self.folder / "run",
            variant="aurora-csc-uniform-3",
            progress=False,
        )
        figure, (left, right, bar) = plt.subplots(1, 3)
        drawn = grid_archive_heatmap(
            run, left, transpose_measures=True, cmap="viridis", aspect="equal", cbar=bar,
            cbar_kwargs={"label": "fitness"}, rasterized=True, pcm_kwargs={"edgecolor": "black"}
        )  # fmt: skip
        self.assertIs(drawn, left)
        self.assertEqual(
            (left.get_xlabel(), left.get_ylabel(), bar.get_ylabel()), ("y", "x", "fitness")
        )
        with self.assertRaisesRegex(ValueError, "3 dimensions are no places in a plane"):
            proximity_archive_plot(run, right)
        proximity_archive_plot(run.container, right, measures="ground_truth", ms=3, cbar=None)
        self.assertEqual(len(right.collections[0].get_offsets()), len(run.container))
        two = searched(ours("hc-csc-uniform"), 3).archive
        axes = proximity_archive_plot(
            two, plt.figure().gca(), lower_bounds=[0, 0], upper_bounds=[2, 2]
        )
        self.assertEqual(axes.get_xlim(), (0, 2))


if __name__ == "__main__":
    unittest.main()
