"""aurora report as a user meets it: files, sections, pictures with something in them."""
from __future__ import annotations

import base64
import io
import os
import re
import shutil
import unittest
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import pandas as pd
from matplotlib import image
from matplotlib.text import Text

from aurora_qd import load, load_many
from aurora_qd.figures import maps, progress
from aurora_qd.paper_figures import diversity_per_cell
from aurora_qd.study import Study
from tiny import InFolder, as_format_2, aurora, change_table, edit_json, make_run, report

# Of a run with an encoder; the rest is there where runs have something to show.
SECTIONS = ["runs", "progress", "maps", "latent", "reconstructions", "container"]


class Reports(InFolder):
    def check_report(self, out: Path, *names: str, sections: Sequence[str] = SECTIONS) -> str:
        """Every section, every named figure beside the page and in it; returns the page's text."""
        page = (out / "report.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'<h2 id="([^"]+)">', page), list(sections))
        self.assertNotRegex(page, r'(src|href)="(?!data:|#)')  # it needs no other file
        self.assertEqual(sorted(path.stem for path in out.glob("*.png")), sorted(names))
        for path in out.glob("*.png"):
            self.check_picture(path.read_bytes(), path.name)
            self.assertEqual(path.with_suffix(".pdf").read_bytes()[:5], b"%PDF-")
        embedded = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
        self.assertEqual(len(embedded), len(names))
        self.assertEqual(
            {base64.b64decode(data) for data in embedded},
            {path.read_bytes() for path in out.glob("*.png")},
        )
        stems = {path.stem for path in out.iterdir()}
        self.assertEqual(len({stem.replace("s", "") for stem in stems}), len(stems))
        self.assertEqual((out / "claims.csv").exists(), "claims" in sections)
        if "claims" in sections:
            claims = pd.read_csv(out / "claims.csv")
            self.assertEqual(list(claims["id"]), [f"C{i}" for i in range(1, 18)])
        return page

    def check_picture(self, data: bytes, name: str) -> None:
        pixels = image.imread(io.BytesIO(data), format="png")[..., :3]
        self.assertGreater(min(pixels.shape[:2]), 100, name)
        coloured = np.ptp(pixels, axis=2) > 0.2  # what is drawn; axes and words are grey
        dark = pixels.max(axis=2) < 0.3
        self.assertGreater(np.count_nonzero(coloured | dark), 200, f"{name} is blank")


class OneRun(Reports):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.made = make_run(cls.folder, "maze", "aurora-csc-uniform-2", 1)
        cls.done = report(cls.made, "--out", cls.folder / "report")

    def test_gives_a_report(self) -> None:
        done = self.done
        self.assertEqual(
            (done.returncode, done.stdout), (0, f"{self.folder}/report/report.html\n"), done.stderr
        )
        self.assertEqual(done.stderr, "")  # nothing is missing that one run could have
        page = self.check_report(
            self.folder / "report",
            "progress-maze",
            "maps-maze",
            "latent-maze",
            "learning-maze",
            "reconstructions-maze",
            "container-maze",
            "seconds-maze",
        )
        self.assertIn(f"aurora retrain {self.made}", page)
        self.assertIn('<meta name="viewport" content="width=device-width', page)
        self.assertNotRegex(page, "paper|Hexapod|Air-Hockey|T_C|median|replication|p &lt;")
        self.assertEqual(list(pd.read_csv(self.folder / "report" / "medians.csv")["runs"]), [1])

    def test_is_written_again_the_same(self) -> None:
        page = self.folder / "report" / "report.html"
        before = page.read_bytes()
        done = report(self.made, "--out", page.parent)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(page.read_bytes(), before)

    def test_works_whatever_lies_in_the_current_directory(self) -> None:
        run = make_run(self.folder, "maze", "random-search", 3)
        here = self.folder / "here"
        here.mkdir()
        for name in ("numpy.py", "statistics.py", "aurora.py"):
            (here / name).write_text("raise SystemExit('imported from the current directory')")
        done = aurora("report", run, cwd=here)
        self.assertEqual((done.returncode, done.stdout), (0, "report/report.html\n"), done.stderr)
        self.assertTrue((here / "report" / "report.html").is_file())

    def test_what_is_retrained_is_drawn_beside_it(self) -> None:
        run = self.copy(self.made)
        done = aurora("retrain", run, "--epochs", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        widths = [image.imread(self.folder / "report" / "latent-maze.png").shape[1]]
        for name in ("after", "stale"):
            done = report(run, "--out", self.folder / name)
            self.assertEqual(done.returncode, 0, done.stderr)
            page = (self.folder / name / "report.html").read_text(encoding="utf-8")
            hint = f"aurora retrain {run}"
            (self.assertNotIn if name == "after" else self.assertIn)(hint, page)
            widths.append(image.imread(self.folder / name / "latent-maze.png").shape[1])
            # The run goes on: what was re-trained is of a container that is no more.
            done = aurora("run", "--resume", "--out", run, "--iterations", 30, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(widths[1], 1.2 * widths[0])
        self.assertLess(widths[2], 1.1 * widths[0])

    def test_a_run_of_an_earlier_version_has_no_reconstructions(self) -> None:
        run = make_run(self.folder, "maze", "aurora-csc-uniform-3", 1)
        shutil.rmtree(run / "reconstructions")
        done = report(run, "--out", self.folder / "old")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "old" / "report.html").read_text(encoding="utf-8")
        self.assertNotIn("Reconstructions", page)
        self.assertFalse((self.folder / "old" / "reconstructions-maze.png").exists())


class Interpreter(Reports):
    def test_one_without_the_modules_is_passed_over(self) -> None:
        run = make_run(self.folder, "maze", "random-search", 1)
        (self.folder / "bin").mkdir()
        python = self.folder / "bin" / "python3"
        python.write_text("#!/bin/sh\nexit 1\n")
        python.chmod(0o755)
        path = f"{python.parent}:{os.environ['PATH']}"
        done = aurora("export", run, "--csv", cwd=self.folder, env={**os.environ, "PATH": path})
        if done.returncode != 0:  # /usr/bin/python3 lacks them too
            self.assertRegex(
                done.stderr,
                "^aurora: error: this needs a python3 with .* apt-get install python3-numpy",
            )
        else:
            self.assertTrue((self.folder / done.stdout.strip()).is_file())


class ManyRuns(Reports):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.runs = cls.folder / "runs"
        cls.runs.mkdir()
        for seed in (1, 2):
            for variant in (
                "aurora-csc-uniform-10",
                "aurora-csc-uniform-2",
                "aurora-vat-uniform-10",
                "aurora-vat-uniform-2",
                "ns",
            ):
                make_run(cls.runs, "maze", variant, seed)
            make_run(cls.runs, "maze", "aurora-csc-uniform-10", seed, "container.update_period=5")
            make_run(cls.runs, "maze", "aurora-csc-uniform-10", seed, "encoder.update_step=5")

    def test_gives_a_report_and_a_line_for_what_is_wrong(self) -> None:
        broken = self.copy(self.runs / "maze-ns-1")
        (broken / "metrics.csv").unlink()
        deep = self.copy(self.runs / "maze-ns-2")
        (deep / "run.json").write_text("[" * 100_000)
        deeper = self.copy(self.runs / "maze-aurora-csc-uniform-2-1")
        (deeper / "config.toml").write_text("a" + ".a" * 50_000 + " = 1")
        foreign = self.folder / "foreign"
        foreign.mkdir(exist_ok=True)
        older = self.copy(self.runs / "maze-ns-2")
        edit_json(older / "run.json", version="0.0.1", seed=9)
        done = report(
            self.runs,
            broken,
            deep,
            deeper,
            foreign,
            older,
            self.folder / "nowhere",
            "--out",
            self.folder / "all",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.check_report(
            self.folder / "all",
            "progress-maze",
            "maps-maze",
            "latent-maze",
            "learning-maze",
            "latent-maze-2",
            "reconstructions-maze",
            "sweep-maze-n",
            "sweep-maze-T_C",
            "sweep-maze-T_E",
            "container-maze",
            "seconds-maze",
            sections=[*SECTIONS[:-1], "sweeps", "container", "moments", "statistics", "claims"],
        )
        for line in (
            "half-written: it has no metrics.csv yet",
            "run.json: is damaged or not ours: maximum recursion depth",
            "config.toml: is not ours: a key is nested more than 32 deep",
            "foreign: is no run directory, and holds none",
            "runs of different versions are compared: 0.0.1 (1)",
            "nowhere: there is no such directory",
        ):
            self.assertIn(line, page)
            self.assertEqual(done.stderr.count(line), 1, done.stderr)
        pairs = pd.read_csv(self.folder / "all" / "pairs.csv")
        self.assertEqual(set(pairs["metric"]), {"coverage", "grid_mean_fitness", "qd_score"})
        self.assertEqual(len(pairs), 3 * 21)  # all seven configurations in pairs
        self.assertIn("21 pairs of configurations need at least 6 seeds of each.", page)
        medians = pd.read_csv(self.folder / "all" / "medians.csv")
        self.assertEqual(len(medians), 7)
        self.assertEqual(medians["runs"].tolist().count(3), 1)  # ns, with the older one

    def test_a_mix_of_one_s_own_is_in_curves_tables_and_tests(self) -> None:
        runs = [self.runs / f"maze-aurora-csc-uniform-10-{seed}" for seed in (1, 2)]
        changed = ("threshold.kind=vat", "selection.kind=surprise", "container.target_size=20")
        for seed in range(1, 5):
            # How often a run is logged sets no replications apart.
            runs.append(
                make_run(
                    self.folder,
                    "maze",
                    "aurora-csc-uniform-10",
                    seed,
                    *changed,
                    f"run.log_every={4 * seed if seed < 3 else 2}",
                )
            )
        out = self.folder / "mix"
        done = report(*runs, "--out", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        mix = "aurora-csc-uniform-10 (selection = surprise, threshold = vat, N = 20)"
        medians = pd.read_csv(out / "medians.csv")
        self.assertEqual(
            dict(zip(medians["variant"], medians["runs"])), {"aurora-csc-uniform-10": 2, mix: 4}
        )
        pairs = pd.read_csv(out / "pairs.csv")
        self.assertEqual(set(zip(pairs["a"], pairs["b"])), {("aurora-csc-uniform-10", mix)})
        way = pd.read_csv(out / "moments.csv")
        self.assertEqual(set(way["variant"]), {"aurora-csc-uniform-10", mix})
        self.assertEqual(set(way["share"]), {0.1, 0.3, 1.0})
        self.assertIn("On the way", (out / "report.html").read_text(encoding="utf-8"))
        arms = Study(load_many(runs)).arms
        for figure in (progress(arms, ["coverage"]), maps(arms)):
            drawn = [line.get_text() for line in figure.findobj(Text)]
            self.assertTrue(any("threshold\u00a0=\u00a0vat" in line for line in drawn), drawn)

    def test_many_configurations_are_in_several_figures(self) -> None:
        runs = [
            make_run(self.folder, "maze", "ns", 1, f"variation.rate={i / 100}", iterations=4)
            for i in range(1, 15)
        ]
        out = self.folder / "rates"
        done = report(*runs, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list(out.glob("progress-*.png"))), 2)
        self.assertTrue((out / "sweep-maze-variation_rate.png").is_file())
        page = (out / "report.html").read_text(encoding="utf-8")
        self.assertIn("91 pairs of configurations need at least 8 seeds of each.", page)

    def test_nothing_to_report_is_an_error(self) -> None:
        done = aurora("report", self.folder / "nowhere", "--out", self.folder / "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("aurora: error: there is no run to report on", done.stderr)
        run = self.runs / "maze-aurora-csc-uniform-10-1"
        done = aurora("report", run, "--out", self.folder / "none", "--against", "nobody")
        self.assertEqual(done.returncode, 1)
        self.assertIn("aurora: error: no run is called 'nobody'", done.stderr)
        self.assertFalse((self.folder / "none").exists())
        self.assertEqual(aurora("report").returncode, 2)


class Strangers(Reports):
    """A task, variants, metrics and an encoder of somebody else's."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.made: dict[tuple[str, int], Path] = {}

    def make(self, variant: str, name: str, seed: int, **changes: Any) -> Path:
        if (variant, seed) not in self.made:
            self.made[variant, seed] = make_run(self.folder, "maze", variant, seed)
        run = self.copy(self.made[variant, seed])
        return as_format_2(
            run,
            **{
                "task": "juggling",
                "title": "Juggling <Balls>",
                "variant": name,
                "metrics": {"grip_force": float(seed)},
                "units": {"grip_force": "N"},
                "axes": [("cm", "up"), ("cm", "down")],
                "extra": ["curiosity"],
                **changes,
            },
        )

    def test_are_treated_like_any_other(self) -> None:
        runs = [
            self.make(variant, name, seed, **changes)
            for seed in (1, 2)
            for variant, name, changes in (
                ("aurora-csc-uniform-10", "my-idea-1", {"encoder": {"kl": 0.5}}),
                ("aurora-csc-uniform-3", "my-idea-2", {"encoder": {"kl": 0.5}}),
                ("hc-csc-uniform", "told", {"without": ["threshold", "qd_score"]}),
            )
        ]
        done = report(*runs, "--out", self.folder / "all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = self.check_report(
            self.folder / "all",
            "progress-juggling",
            "maps-juggling",
            "latent-juggling",
            "learning-juggling",
            "reconstructions-juggling",
            "container-juggling",
            "seconds-juggling",
            "further-juggling",
            "encoder-juggling",
            sections=[*SECTIONS, "further", "moments", "statistics"],
        )
        for line in (
            "<h1>AURORA: Juggling &lt;Balls&gt;</h1>",
            "Juggling &lt;Balls&gt;: grip force.",
            "Juggling &lt;Balls&gt;: of the encoder at its updates: kl.",
        ):
            self.assertIn(line, page)
        self.assertNotRegex(page, "Maze|Hexapod|Air-Hockey|paper")
        names = ["my-idea-1", "my-idea-2", "told"]
        medians = pd.read_csv(self.folder / "all" / "medians.csv")
        self.assertEqual(list(medians["variant"]), names)
        self.assertEqual(list(medians["grip_force"]), [1.5] * 3)
        pairs = pd.read_csv(self.folder / "all" / "pairs.csv")
        self.assertEqual(
            list(dict.fromkeys(pairs["metric"])),
            ["coverage", "grid_mean_fitness", "qd_score", "grip_force"],
        )
        self.assertEqual(
            list(zip(pairs["a"], pairs["b"]))[:3],
            [("my-idea-1", "my-idea-2"), ("my-idea-1", "told"), ("my-idea-2", "told")],
        )

    def test_many_metrics_are_in_several_figures(self) -> None:
        run = self.make("ns", "ns", 1, metrics={f"metric_{i}": 1.0 for i in range(9)})
        out = self.folder / "many"
        self.assertEqual(report(run, "--out", out).returncode, 0)
        found = sorted(path.stem for path in out.glob("further-*.png"))
        self.assertEqual(found, ["further-juggling", "further-juggling-2"])

    def test_tasks_whose_names_differ_in_odd_letters_have_files_of_their_own(self) -> None:
        runs = [self.make("ns", "ns", 1, task=task) for task in ("a b", "a/b")]
        out = self.folder / "odd"
        self.assertEqual(report(*runs, "--out", out).returncode, 0)
        found = sorted(path.stem for path in out.glob("progress-*.png"))
        self.assertEqual(found, ["progress-a_b", "progress-a_b-2"])

    def test_a_metric_that_begins_late_is_in_no_test_before(self) -> None:
        runs = [self.make("ns", name, seed) for name in ("short", "long") for seed in (1, 2)]
        for run in runs[2:]:
            change_table(
                run / "metrics.csv",
                lambda table: table.assign(
                    grip_force=table["grip_force"].where(table["iteration"] > 16)
                ),
            )
        for run in runs[:2]:
            change_table(run / "metrics.csv", lambda table: table[table["iteration"] <= 16])
        out = self.folder / "late"
        done = report(*runs, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        pairs = pd.read_csv(out / "pairs.csv")
        self.assertEqual(list(pairs["metric"]), ["coverage", "grid_mean_fitness", "qd_score"])


class Robots(Reports):
    def test_air_hockey(self) -> None:
        runs = [
            make_run(self.folder, "air-hockey", variant, seed)
            for variant in ("aurora-csc-uniform-10", "hc-csc-uniform")
            for seed in (1, 2)
        ]
        done = report(*runs, "--out", self.folder / "hockey")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_report(
            self.folder / "hockey",
            "progress-air-hockey",
            "maps-air-hockey",
            "latent-air-hockey",
            "learning-air-hockey",
            "reconstructions-air-hockey",
            "diversity-maps",
            "trajectories",
            "container-air-hockey",
            "seconds-air-hockey",
            "further-air-hockey",
            sections=[
                *SECTIONS[:-1],
                "trajectories",
                "container",
                "further",
                "moments",
                "statistics",
                "claims",
            ],
        )
        pairs = pd.read_csv(self.folder / "hockey" / "pairs.csv")
        self.assertEqual(
            list(pairs["metric"]),
            ["coverage", "grid_mean_fitness", "qd_score", "trajectory_diversity"],
        )
        run = load(runs[0])
        trajectories = np.asarray(run.container.sensory).reshape(len(run.container), -1, 2)
        self.assertAlmostEqual(
            diversity_per_cell(trajectories).mean(), run.metrics["trajectory_diversity"].iloc[-1]
        )

    def test_hexapod(self) -> None:
        runs = [
            make_run(self.folder, "hexapod", variant, 1, iterations=8)
            for variant in ("aurora-csc-uniform-10", "aurora-csc-uniform-2", "hc-csc-uniform")
        ]
        done = report(*runs, "--out", self.folder / "walk")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_report(
            self.folder / "walk",
            "progress-hexapod",
            "maps-hexapod",
            "latent-hexapod",
            "reconstructions-hexapod",
            "sweep-hexapod-n",
            "orientation-latent-size",
            "orientation-maps",
            "container-hexapod",
            "seconds-hexapod",
            "further-hexapod",
            sections=[
                *SECTIONS[:-1],
                "sweeps",
                "orientation",
                "container",
                "further",
                "moments",
                "statistics",
            ],
        )


if __name__ == "__main__":
    unittest.main()
