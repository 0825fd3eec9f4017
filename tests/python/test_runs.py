"""The loader, on whole runs and on runs with exactly one thing wrong."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import aurora_qd as aurora
from aurora_qd import Axis, runs
from aurora_qd.export import to_csv, to_npz
from tiny import (
    InFolder,
    add_column,
    as_format_1,
    as_format_2,
    aurora as program,
    change_manifests,
    change_table,
    edit_json,
    make_run,
)


class Whole(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.path = make_run(cls.folder, "maze", "aurora-csc-uniform-3", 7)
        cls.run_ = aurora.load(cls.path)

    def test_says_what_it_is(self) -> None:
        run = self.run_
        self.assertEqual(
            (run.task, run.variant, run.seed, run.finished),
            ("maze", "aurora-csc-uniform-3", 7, True),
        )
        self.assertEqual(run.config["descriptor"]["dimension"], 3)
        self.assertEqual(run.settings["container.target_size"], 30)
        self.assertEqual(list(run.metrics["iteration"]), [4, 8, 12, 16, 20, 24])
        self.assertEqual(list(run.encoder["iteration"]), [10])

    def test_columns_are_those_of_the_files(self) -> None:
        container = self.run_.container
        self.assertEqual(len(container), self.run_.summary["container_size"])
        for column in container.columns:
            np.testing.assert_array_equal(
                container[column], np.load(self.path / "container" / f"{column}.npy")
            )
        self.assertEqual(container.axes, ["x", "y", "heading"])
        np.testing.assert_array_equal(container.bounds[0], [0, 600])
        self.assertIsInstance(container.sensory, np.memmap)
        self.assertEqual(container.sensory.shape[1:], (64, 64, 3))

    def test_knows_the_names_of_the_field(self) -> None:
        container = self.run_.container
        self.assertIs(container.solution, container.genotypes)
        self.assertIs(container.objective, container.fitness)
        self.assertIs(container["measures"], container.descriptors)
        with self.assertRaisesRegex(KeyError, "no column 'colour'.*genotypes"):
            container["colour"]
        with self.assertRaises(AttributeError):
            container.colour

    def test_reconstructions_are_of_some_of_its_individuals(self) -> None:
        some = self.run_.reconstructions
        self.assertEqual(some["reconstructions"].shape, (len(some), 64, 64, 3))
        self.assertEqual(len(some), min(12, len(self.run_.container)))
        self.assertTrue(np.isin(some.ids, self.run_.container.ids).all())
        sensed = self.run_.container.sensory[np.searchsorted(self.run_.container.ids, some.ids)]
        # Most of a picture is walls and floor, which any encoder of the maze knows.
        self.assertLess(np.abs(sensed / 255 - some["reconstructions"]).mean(), 0.1)

    def test_a_frame_has_a_row_per_individual(self) -> None:
        frame = self.run_.container.frame()
        self.assertEqual(
            list(frame.columns[:8]),
            ["id", "fitness", "x", "y", "heading", "descriptor_0", "descriptor_1", "descriptor_2"],
        )
        self.assertEqual(frame.shape, (len(self.run_.container), 8 + 42))
        self.assertEqual(
            list(self.run_.container.frame(aliases=True).columns[[1, 5, 8]]),
            ["objective", "measure_0", "solution_0"],
        )

    def test_metrics_agree_with_the_container(self) -> None:
        where = self.run_.container.ground_truth[:, :2]
        cells = {(int(x / 15), int(y / 15)) for x, y in where}
        self.assertEqual(self.run_.metrics["coverage"].iloc[-1], 100 * len(cells) / 1600)

    def test_many_are_tidy(self) -> None:
        make_run(self.folder, "maze", "hc-csc-uniform", 1)
        loaded = aurora.load_many([self.folder, self.path])
        self.assertEqual(len(loaded.runs), 2)
        self.assertEqual(loaded.problems, [])
        self.assertEqual(len(loaded.metrics), 12)
        self.assertEqual(set(loaded.metrics["variant"]), {"aurora-csc-uniform-3", "hc-csc-uniform"})
        self.assertEqual(loaded.encoder["path"].unique().tolist(), [str(self.path)])
        self.assertIn("seconds.train", loaded.summary)
        self.assertIn("container.target_size", loaded.summary)

    def test_exports_read_back_exactly(self) -> None:
        to_csv(self.run_, self.folder / "a.csv")
        table = pd.read_csv(self.folder / "a.csv", dtype={"id": np.uint64})
        container = self.run_.container
        np.testing.assert_array_equal(table["fitness"].to_numpy(np.float32), container.fitness)
        np.testing.assert_array_equal(
            table.filter(like="gene_").to_numpy(np.float32), container.genotypes
        )
        np.testing.assert_array_equal(table["id"], container.ids)
        to_npz(self.run_, self.folder / "a.npz")
        with np.load(self.folder / "a.npz") as columns:
            told = {"task", "title", "axes", "bounds", "units", "directions"}
            self.assertEqual(set(columns), set(container.columns) | told)
            np.testing.assert_array_equal(columns["sensory"], container.sensory)
            self.assertEqual(str(columns["task"]), "maze")
            self.assertEqual(str(columns["title"]), container.title)
            self.assertEqual(columns["axes"].tolist(), container.axes)
            np.testing.assert_array_equal(columns["bounds"], container.bounds)
            self.assertEqual(columns["units"].tolist(), [axis.unit for axis in container.space])
            self.assertEqual(
                columns["directions"].tolist(), [axis.direction for axis in container.space]
            )

    def test_the_exported_genes_are_evaluated(self) -> None:
        done = program("export", self.path, "--csv", "--out", self.folder / "genes.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = program("evaluate", "maze", "--genes", self.folder / "genes.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [json.loads(line)["fitness"] for line in done.stdout.splitlines()]
        np.testing.assert_array_equal(np.array(found, np.float32), self.run_.container.fitness)

    def test_public_modules_are_there_after_the_import(self) -> None:
        code = (
            "import aurora_qd as aurora, sys; "
            "assert aurora.statistics.quartiles([1, 2, 3]).median == 2; "
            "names = ('claims', 'export', 'paper', 'runs', 'statistics', 'study'); "
            "assert all(hasattr(aurora, name) and name in dir(aurora) for name in names); "
            "assert not hasattr(aurora, 'nonsense'); "
            "assert 'matplotlib' not in sys.modules"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_program_exports(self) -> None:
        done = program("export", self.path, "--csv", cwd=self.folder)
        self.assertEqual(
            (done.returncode, done.stdout), (0, f"{self.path.name}.csv\n"), done.stderr
        )
        self.assertTrue((self.folder / done.stdout.strip()).is_file())
        done = program("export", self.path, "--npz", "--out", self.folder / "no" / "b.npz")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^aurora: error: cannot write '.*b.npz': No such file")
        self.assertNotIn("Errno", done.stderr)
        self.assertEqual(program("export", self.path).returncode, 2)
        self.assertEqual(program("export", self.path, "--csv", "--npz").returncode, 2)


class Formats(InFolder):
    """What versions after 0.1.0 tell, and what is taken for it where it is absent."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.made = make_run(
            cls.folder, "maze", "aurora-csc-uniform-3", 7, "run.snapshot_every=8", iterations=24
        )

    def newer(self, **changes: Any) -> Path:
        return as_format_2(self.copy(self.made), **changes)

    def test_format_1_tells_less(self) -> None:
        path = as_format_1(self.copy(self.made))
        run = aurora.load(path)
        self.assertEqual((run.format, run.title, run.container.title), (1, "maze", "maze"))
        self.assertEqual(
            list(run.measured), ["coverage", "grid_mean_fitness", "qd_score", "threshold"]
        )
        self.assertEqual(run.measured["coverage"], run.metrics["coverage"].iloc[-1])
        self.assertEqual(run.units["coverage"], "%")
        self.assertEqual(
            {(axis.unit, axis.direction) for axis in run.container.space}, {("", "up")}
        )
        self.assertEqual(run.container.extra, {})
        run.container.check()

    def test_format_2_tells_titles_and_metrics(self) -> None:
        path = self.newer(
            title="A Labyrinth",
            metrics={"energy": 5.0, "seed": 1.0},
            units={"energy": "J"},
            encoder={"kl": 0.5},
        )
        run = aurora.load(path)
        self.assertEqual((run.format, run.task, run.title), (2, "maze", "A Labyrinth"))
        self.assertEqual(run.container.title, "A Labyrinth")
        self.assertEqual(list(run.measured)[-2:], ["energy", "seed"])
        self.assertEqual(run.measured["energy"], 5.0)
        self.assertEqual((run.units["energy"], run.units["coverage"]), ("J", "%"))
        self.assertEqual(list(run.metrics.columns[-2:]), ["energy", "seed"])
        self.assertEqual(run.metrics["energy"].iloc[-1], 5.0)
        self.assertEqual(run.encoder["kl"].tolist(), [0.5])

    def test_format_3_says_what_the_run_is_made_of(self) -> None:
        path = self.newer()
        files = [{"name": "metrics.csv", "bytes": 5}]
        edit_json(path / "run.json", format=3, label="ours", manifest=files, checksum="0" * 16)
        loaded = aurora.load_many([path])
        self.assertEqual(loaded.problems, [])
        self.assertEqual((loaded.runs[0].format, loaded.runs[0].label), (3, "ours"))
        self.assertNotIn("manifest", loaded.summary)
        self.assertNotIn("checksum", loaded.summary)
        self.assertEqual(aurora.load(self.newer()).label, "")

    def test_settings_are_flat(self) -> None:
        settings = aurora.load(self.made).settings
        self.assertEqual(settings["metrics.grid.resolution"], 40)
        self.assertFalse([value for value in settings.values() if isinstance(value, dict)])

    def test_many_of_both_formats_have_the_same_columns(self) -> None:
        old = as_format_1(self.copy(self.made))
        new = self.newer(metrics={"energy": 5.0, "seed": 1.0})
        loaded = aurora.load_many([old, new])
        self.assertEqual(loaded.problems, [])
        coverage = loaded.summary["coverage"].tolist()
        self.assertEqual(coverage, [loaded.runs[0].measured["coverage"]] * 2)
        self.assertEqual(loaded.summary["energy"].fillna(0).tolist(), [0, 5])
        self.assertEqual(
            [column for column in loaded.summary if column.startswith(("metrics.", "units."))],
            ["metrics.grid.resolution", "metrics.seed"],  # the first is a setting
        )
        # A metric may be called as the run's own words are.
        self.assertEqual(loaded.summary["seed"].tolist(), [7, 7])
        self.assertEqual(loaded.summary["metrics.seed"].iloc[1], 1)
        self.assertEqual(set(loaded.metrics["seed"]), {7})
        self.assertEqual(loaded.metrics["metrics.seed"].iloc[-1], 1)

    def test_metrics_may_be_absent_or_unknown(self) -> None:
        path = self.newer(without=["threshold", "coverage", "qd_score"])
        change_table(
            path / "metrics.csv",
            lambda table: table.assign(luck=[np.nan, 1, 2, np.nan, 3, np.nan]),
        )
        edit_json(path / "run.json", metrics={"luck": None})
        run = aurora.load(path)
        self.assertEqual((path / "metrics.csv").read_text().count("nan"), 3)
        self.assertNotIn("threshold", run.metrics)
        self.assertEqual(run.metrics["luck"].isna().sum(), 3)
        self.assertEqual(list(run.measured), ["luck"])
        self.assertTrue(np.isnan(run.measured["luck"]))

    def test_axes_have_units_and_directions(self) -> None:
        path = self.newer(axes=[("cm", "up"), ("cm", "down"), ("", "up")])
        for container in (aurora.load(path).container, aurora.load(path).snapshots[8]):
            self.assertEqual(
                container.space,
                [
                    Axis("x", 0, 600, "cm", "up"),
                    Axis("y", 0, 600, "cm", "down"),
                    Axis("heading", -np.pi, np.pi),
                ],
            )
            self.assertEqual(container.axes, ["x", "y", "heading"])
            self.assertEqual([axis.label for axis in container.space][1:], ["y (cm)", "heading"])

    def test_arrays_of_the_containers_state_are_no_columns(self) -> None:
        path = make_run(
            self.folder, "maze", "aurora-ensemble-2", 3, "container.relevance=0.5", iterations=20
        )
        names = {file.name for file in (path / "container").glob("state.*.npy")}
        self.assertEqual(
            names, {f"state.{c}.{what}.npy" for c in (1, 2, 3) for what in ("members", "ranked")}
        )
        container = aurora.load(path).container
        self.assertFalse([name for name in container.columns if name.startswith("state")])
        self.assertEqual(container.descriptors.shape, (len(container), 6))
        container.check()
        damaged = path / "container" / "state.2.ranked.npy"
        damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
        if runs.xxhash is not None:
            with self.assertRaisesRegex(aurora.RunError, "state.2.ranked.npy: is damaged"):
                container.check()

    def test_individuals_may_have_more_columns(self) -> None:
        path = self.newer(extra=["curiosity", "x"])  # one is called like an axis
        run = aurora.load(path)
        for container in (run.container, run.snapshots[8]):
            container.check()
            numbers = np.arange(len(container), dtype=np.float32)
            self.assertEqual(list(container.extra), ["curiosity", "x"])
            np.testing.assert_array_equal(container.extra["curiosity"], numbers)
            np.testing.assert_array_equal(container.curiosity, numbers)
            frame = container.frame()
            self.assertEqual(list(frame.columns[-2:]), ["curiosity", "extra_x"])
            np.testing.assert_array_equal(frame["curiosity"], numbers)
            np.testing.assert_array_equal(frame["x"], container.ground_truth[:, 0])
        to_csv(run, self.folder / "extra.csv")
        self.assertIn("curiosity", pd.read_csv(self.folder / "extra.csv"))
        to_npz(run, self.folder / "extra.npz")
        with np.load(self.folder / "extra.npz") as columns:
            np.testing.assert_array_equal(columns["curiosity"], run.container.extra["curiosity"])

    def test_what_makes_no_sense_is_refused(self) -> None:
        for changes, says in (
            ({"format": 4}, "format 4 is not read; only those up to 3"),
            ({"format": "2"}, "a strange 'format'"),
            ({"title": 5}, "a strange 'title'"),
            ({"label": 5}, "a strange 'label'"),
            ({"metrics": []}, "a strange 'metrics'"),
            ({"metrics": {"energy": "much"}}, "metric 'energy' is no number"),
            ({"units": {"energy": 5}}, "the unit of 'energy' is no word"),
        ):
            with self.subTest(changes):
                path = self.newer()
                edit_json(path / "run.json", **changes)
                with self.assertRaisesRegex(aurora.RunError, says):
                    aurora.load(path)

        def wide(folder: Path, manifest: dict[str, Any]) -> None:
            add_column(folder, manifest, "wide", np.zeros((manifest["count"], 2), np.float32))

        def nowhere(_: Path, manifest: dict[str, Any]) -> None:
            manifest["extra_columns"] = ["nowhere"]

        def sideways(_: Path, manifest: dict[str, Any]) -> None:
            manifest["ground_truth"][1]["direction"] = "left"

        for change, says in (
            (wide, "wide.npy: is not one value per individual"),
            (nowhere, "no file for the column 'nowhere'"),
            (sideways, "axis 'y' goes neither up nor down: 'left'"),
        ):
            with self.subTest(says):
                path = self.newer()
                change_manifests(path, change)
                with self.assertRaisesRegex(aurora.RunError, says):
                    aurora.load(path).container


class Retrained(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.made = make_run(cls.folder, "maze", "aurora-csc-uniform-3", 7)

    def setUp(self) -> None:
        self.path = self.copy(self.made)

    def test_a_retraining_is_of_the_same_individuals(self) -> None:
        path = self.path
        self.assertIsNone(aurora.load(path).retrained)
        done = program("retrain", path, "--epochs", 2, "--dimension", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = aurora.load(path)
        self.assertEqual(run.retrained.descriptors.shape, (len(run.container), 2))
        np.testing.assert_array_equal(run.retrained.ids, run.container.ids)
        self.assertEqual(run.retrained.manifest["settings"]["dimension"], 2)
        edit_json(path / "run.json", container_hash="another")
        self.assertIsNone(aurora.load(path).retrained)

    def test_a_damaged_retraining_is_noticed(self) -> None:
        path = self.path
        self.assertEqual(program("retrain", path, "--epochs", 2).returncode, 0)
        (path / "retrained" / "descriptors.npy").write_bytes(b"")
        problems = aurora.load_many([path]).problems
        self.assertEqual(len(problems), 1)
        self.assertIn("retrained/descriptors.npy: has 0 bytes", problems[0])


class Damaged(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.whole = make_run(cls.folder, "maze", "aurora-csc-uniform-2", 1)

    def refused(self, path: Path, says: str) -> None:
        """By load(), or when the container is read; and load_many() has a line for it."""
        with self.assertRaisesRegex(aurora.RunError, says):
            run = aurora.load(path)
            run.container.check()
        self.assertEqual(aurora.load_many([path]).runs, [])
        self.assertEqual(len(aurora.load_many([path]).problems), 1)

    def test_missing_or_foreign(self) -> None:
        self.refused(self.folder / "nowhere", "no such directory")
        foreign = self.folder / "foreign"
        foreign.mkdir()
        self.refused(foreign, "is no run directory")
        (foreign / "run.json").write_text("[]")
        self.refused(foreign, "not ours")
        (foreign / "run.json").write_text("{}")
        self.refused(foreign, "not ours: it has no 'version'")
        run = self.copy(self.whole)
        edit_json(run / "run.json", task=5)
        self.refused(run, "not ours: it has no 'task', or a strange one")

    def test_a_header_that_speaks_of_more_than_there_can_be(self) -> None:
        for count in (1 << 40, 1 << 61, 1 << 63):
            with self.subTest(count):
                run = self.copy(self.whole)
                path = run / "container" / "fitness.npy"
                data = path.read_bytes()
                shape = re.search(rb"'shape': \((\d+),\), }( *)", data)
                longer = b"'shape': (%d,), }" % count
                path.write_bytes(data.replace(shape[0], longer.ljust(len(shape[0]))))
                self.refused(run, "fitness.npy: is damaged: ")

    def test_half_written(self) -> None:
        for gone, says in (
            ("run.json", "half-written: it has no run.json yet"),
            ("metrics.csv", "half-written: it has no metrics.csv"),
            ("container", "half-written: it has no container yet"),
            ("config.toml", "no such file"),
            ("container/fitness.npy", "missing"),
            ("container/manifest.json", "no such file"),
        ):
            with self.subTest(gone):
                run = self.copy(self.whole)
                path = run / gone
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                self.refused(run, says)

    def test_broken_text(self) -> None:
        for name, text, says in (
            ("run.json", '{"version"', "damaged or not ours"),
            ("config.toml", "[run", "damaged"),
            ("metrics.csv", "", "damaged"),
            ("metrics.csv", "a,b\n1,2\n", "no column 'iteration'"),
            ("container/manifest.json", "{}", "damaged or not ours"),
            ("run.json", b"\xff", "cannot be read"),
        ):
            with self.subTest(name=name, text=text):
                run = self.copy(self.whole)
                (run / name).write_bytes(text if isinstance(text, bytes) else text.encode())
                self.refused(run, says)

    def test_metrics_without_rows_or_numbers(self) -> None:
        run = self.copy(self.whole)
        lines = (run / "metrics.csv").read_text().splitlines(keepends=True)
        (run / "metrics.csv").write_text(lines[0])
        self.refused(run, "has no row yet")
        (run / "metrics.csv").write_text(lines[0] + lines[1].replace("4,", "four,", 1))
        self.refused(run, "not all of column 'iteration' are numbers")

    def test_wrong_bytes(self) -> None:
        run = self.copy(self.whole)
        fitness = run / "container" / "fitness.npy"
        whole = fitness.read_bytes()
        fitness.write_bytes(whole + b"0")
        self.refused(run, "bytes, the manifest says")
        fitness.write_bytes(whole.replace(b"<f4", b"<i4"))
        self.refused(run, "type or shape")
        fitness.write_bytes(b"x" + whole[1:])
        self.refused(run, "damaged")

    @unittest.skipIf(runs.xxhash is None, "needs the module xxhash")
    def test_checksums(self) -> None:
        run = self.copy(self.whole)
        for name in ("fitness.npy", "sensory.npy"):
            path = run / "container" / name
            whole = path.read_bytes()
            path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
            with self.assertRaisesRegex(aurora.RunError, f"{name}: is damaged: its checksum"):
                aurora.load(run).container.check()
            path.write_bytes(whole)
        aurora.load(run).container.check()
        edit_json(run / "container" / "manifest.json", task="haze")
        self.refused(run, "manifest.json: is damaged: its checksum")

    def test_manifests_that_lie(self) -> None:
        for change, says in (
            ({"format_version": 2}, "format version 2 is not read"),
            ({"kind": "encoder"}, "not a container"),
            ({"count": 1}, "rows, the container 1"),
            ({"files": [{"name": "../x"}]}, "elsewhere"),
        ):
            with self.subTest(change):
                run = self.copy(self.whole)
                edit_json(run / "container" / "manifest.json", **change)
                self.refused(run, says)


if __name__ == "__main__":
    unittest.main()
