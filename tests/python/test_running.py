"""aurora.run: the same bits as the program and as ask and tell, whatever happens on the way."""
from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import unittest
import warnings
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import aurora_qd as aurora
from thrower import task, throw
from tiny import InFolder

HOW: dict[str, Any] = {"variant": "aurora-csc-uniform-2", "seed": 5}
QUICK: dict[str, Any] = {**HOW, "progress": False}
# Of robots that take solutions one by one, and of workers that have to be asked for each.
FEW: dict[str, Any] = {**QUICK, "config": {"run.batch": 32}}
ITERATIONS = 25

SCRIPT = """
import sys, time
import aurora_qd as aurora
from thrower import task, throw
def slow(genes):
    time.sleep(0.02)
    return throw(genes)
run = aurora.run(task, slow, iterations=int(sys.argv[2]), out=sys.argv[1],
                 variant="aurora-csc-uniform-2", seed=5, config={"run.checkpoint_seconds": 0.05})
print(run.summary["container_hash"])
"""


def one(genotype: np.ndarray) -> dict[str, Any]:
    fitness, sensory, truth = throw(genotype[None])
    return {"fitness": fitness[0], "sensory": sensory[0], "ground_truth": truth[0]}


def dies(genotype: np.ndarray) -> Any:
    os._exit(3)


class OneHash(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.whole = aurora.run(task, throw, ITERATIONS, cls.folder / "whole", **QUICK)
        cls.hash = cls.whole.summary["container_hash"]

    def test_the_program(self) -> None:
        program = os.environ["AURORA_OWN_TASK"]
        out = self.folder / "program"
        words = f"run thrower --variant {HOW['variant']} --seed {HOW['seed']} --quiet"
        subprocess.run(
            [program, *words.split(), "--iterations", str(ITERATIONS), "--out", str(out)],
            check=True,
            capture_output=True,
        )
        self.assertEqual(aurora.load(out).summary["container_hash"], self.hash)
        # Its files are read, and its state goes on, by ask and tell.
        there = aurora.Scheduler.load(out, task)
        self.assertEqual(there.archive.hash, self.hash)

    def test_ask_and_tell(self) -> None:
        scheduler = aurora.Scheduler(task, **HOW)
        for _ in range(ITERATIONS):
            scheduler.tell(*throw(scheduler.ask()))
        self.assertEqual(scheduler.archive.hash, self.hash)

    def test_executors(self) -> None:
        pools: list[tuple[str, Executor]] = [
            ("threads", ThreadPoolExecutor(2)),
            ("processes", ProcessPoolExecutor(2, mp_context=get_context("forkserver"))),
        ]
        for name, pool in pools:
            with self.subTest(name), pool:
                run = aurora.run(task, one, 4, self.folder / name, executor=pool, **FEW)
                by_batch = aurora.run(task, throw, 4, self.folder / f"{name}-4", **FEW)
                self.assertEqual(run.summary["container_hash"], by_batch.summary["container_hash"])

    def test_finished_runs_are_left_alone_or_made_longer(self) -> None:
        out = self.folder / "longer"
        aurora.run(task, throw, 10, out, **QUICK)
        aurora.run(task, throw, 10, out, **QUICK)
        longer = aurora.run(task, throw, ITERATIONS, out, **QUICK)
        self.assertEqual(longer.summary["container_hash"], self.hash)
        with self.assertRaisesRegex(OSError, "exists"):
            aurora.run(task, throw, ITERATIONS, out, resume=False, **QUICK)

    def test_goes_on_from_a_saved_search(self) -> None:
        scheduler = aurora.Scheduler(task, **HOW)
        for _ in range(7):
            scheduler.tell(*throw(scheduler.ask()))
        scheduler.save(self.folder / "saved")
        run = aurora.run(task, throw, ITERATIONS, self.folder / "saved", **QUICK)
        self.assertEqual(run.summary["container_hash"], self.hash)

    def test_killed_and_resumed(self) -> None:
        out = self.folder / "killed"
        for _ in range(3):
            process = subprocess.Popen(
                [sys.executable, "-c", SCRIPT, str(out), str(ITERATIONS)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            before = self.stamp(out)
            limit = time.monotonic() + 60
            while self.stamp(out) == before and process.poll() is None:
                self.assertLess(time.monotonic(), limit)
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
        run = aurora.run(task, throw, ITERATIONS, out, **QUICK)
        self.assertEqual(run.summary["container_hash"], self.hash)

    @staticmethod
    def stamp(out: Path) -> float:
        manifest = out / "checkpoint" / "manifest.json"
        return manifest.stat().st_mtime if manifest.exists() else 0

    def test_interrupted_and_resumed(self) -> None:
        for times in (1, 2):
            with self.subTest(times):
                out = self.folder / f"interrupted-{times}"
                process = subprocess.Popen(
                    [sys.executable, "-c", SCRIPT, str(out), "100000"],
                    stderr=subprocess.PIPE,
                    text=True,
                )
                while not (out / "checkpoint" / "manifest.json").exists():
                    time.sleep(0.01)
                    self.assertIsNone(process.poll())
                for _ in range(times):
                    process.send_signal(signal.SIGINT)
                    time.sleep(0.001)
                _, said = process.communicate(timeout=60)
                self.assertIn("KeyboardInterrupt", said)
                summary = json.loads((out / "run.json").read_text())
                self.assertEqual(summary["status"], "interrupted")
                done = summary["iterations"]
                run = aurora.run(task, throw, done + 3, out, **QUICK)
                straight = aurora.run(
                    task, throw, done + 3, self.folder / f"straight-{times}", **QUICK
                )
                self.assertEqual(run.summary["container_hash"], straight.summary["container_hash"])

    def test_terminated_and_resumed(self) -> None:
        for times in (1, 2):
            with self.subTest(times):
                out = self.folder / f"terminated-{times}"
                process = subprocess.Popen(
                    [sys.executable, "-c", SCRIPT, str(out), "100000"],
                    stderr=subprocess.PIPE,
                    text=True,
                )
                while not (out / "checkpoint" / "manifest.json").exists():
                    time.sleep(0.01)
                    self.assertIsNone(process.poll())
                for _ in range(times):
                    process.send_signal(signal.SIGTERM)
                    time.sleep(0.001)
                _, said = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 143)
                self.assertNotIn("Traceback", said)
                summary = json.loads((out / "run.json").read_text())
                self.assertEqual(summary["status"], "interrupted")
                done = summary["iterations"]
                run = aurora.run(task, throw, done + 3, out, **QUICK)
                straight = aurora.run(
                    task, throw, done + 3, self.folder / f"to-the-end-{times}", **QUICK
                )
                self.assertEqual(run.summary["container_hash"], straight.summary["container_hash"])

    def test_handlers_are_put_back_and_those_of_others_left_alone(self) -> None:
        seen = []

        def looks(genes: np.ndarray) -> Any:
            seen.append((signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)))
            return throw(genes)

        def runs(name: str) -> None:
            aurora.run(task, looks, 1, self.folder / name, check=False, **QUICK)

        usual = (signal.default_int_handler, signal.SIG_DFL)
        runs("handled")
        self.assertEqual(seen[-1][0], seen[-1][1])
        self.assertNotIn(seen[-1][0], usual)
        self.assertEqual((signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)), usual)

        def other(number: int, frame: object) -> None:
            ...

        signal.signal(signal.SIGTERM, other)
        self.addCleanup(signal.signal, signal.SIGTERM, signal.SIG_DFL)
        runs("others")
        self.assertIs(seen[-1][1], other)
        self.assertIs(signal.getsignal(signal.SIGTERM), other)
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(runs, "elsewhere").result()
        self.assertEqual(seen[-1], (signal.default_int_handler, other))


class WhatGoesWrong(InFolder):
    def test_failures_are_left_out(self) -> None:
        def fragile(genes: np.ndarray) -> Any:
            if (genes[:, 0] > 0.95).any():
                raise ArithmeticError("it fell over")
            return throw(genes)

        def fragile_one(genotype: np.ndarray) -> Any:
            if genotype[0] > 0.95:
                raise ArithmeticError("it fell over")
            return one(genotype)

        def marked(genes: np.ndarray) -> Any:
            fitness, sensory, truth = throw(genes)
            fitness[genes[:, 0] > 0.95] = np.nan
            return fitness, sensory, truth

        hashes = set()
        for name, robot, how in (
            ("raises", fragile, {}),
            ("raises-one", fragile_one, {"per_solution": True}),
            ("nan", marked, {}),
        ):
            out = self.folder / name
            run = aurora.run(task, robot, 5, out, check=False, **how, **FEW)
            hashes.add(run.summary["container_hash"])
            kept = (out / "failures" / "genotypes.txt").read_text()
            self.assertIn("it fell over" if name != "nan" else "not finite", kept)
            self.assertGreater(run.summary["invalid"], 0)
            self.assertLessEqual(run.container.genotypes[:, 0].max(), np.float32(0.95))
        self.assertEqual(len(hashes), 1)

    def test_too_many_failures_end_it(self) -> None:
        def broken(genes: np.ndarray) -> Any:
            raise OSError("no simulator here")

        with self.assertRaisesRegex(RuntimeError, "evaluations failed.*no simulator here"):
            aurora.run(task, broken, 5, self.folder / "broken", check=False, **QUICK)

    def test_a_pool_that_breaks_is_nobodys_fault(self) -> None:
        out = self.folder / "pool"
        aurora.run(task, throw, 2, out, **QUICK)
        with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as pool:
            with self.assertRaisesRegex(Exception, "terminated abruptly"):
                aurora.run(task, dies, 5, out, executor=pool, check=False, **QUICK)
        run = aurora.run(task, throw, 5, out, **QUICK)
        straight = aurora.run(task, throw, 5, self.folder / "no-pool", **QUICK)
        self.assertEqual(run.summary["container_hash"], straight.summary["container_hash"])
        self.assertEqual(run.summary["invalid"], 0)

    def test_an_executor_that_fails_is_nobodys_fault_either(self) -> None:
        class Cluster:
            calls = 0

            def map(self, function: Any, rows: Any) -> Any:
                self.calls += 1
                if self.calls == 3:
                    raise OSError("the network is down")
                return map(function, rows)

        out = self.folder / "cluster"
        with self.assertRaisesRegex(BrokenExecutor, "executor failed: OSError: the network is"):
            aurora.run(task, one, 5, out, executor=Cluster(), check=False, **QUICK)
        self.assertEqual(json.loads((out / "run.json").read_text())["iterations"], 2)
        run = aurora.run(task, throw, 5, out, **QUICK)
        straight = aurora.run(task, throw, 5, self.folder / "no-cluster", **QUICK)
        self.assertEqual(run.summary["container_hash"], straight.summary["container_hash"])
        self.assertEqual(run.summary["invalid"], 0)

    def test_hangs_are_reported(self) -> None:
        def slow(genes: np.ndarray) -> Any:
            time.sleep(1.0)
            return throw(genes)

        out = self.folder / "hangs"
        aurora.run(task, slow, 1, out, check=False, config={"run.evaluation_seconds": 0.1}, **QUICK)
        self.assertIn("not back after", (out / "failures" / "hanging.txt").read_text())

    def test_wrong_results_are_found_before_anything_is_written(self) -> None:
        out = self.folder / "wrong"
        with self.assertRaisesRegex(ValueError, "sensory must have the shape"):
            aurora.run(task, lambda x: (x[:, 0], x, x[:, :2]), 5, out, **QUICK)
        with self.assertRaisesRegex(ValueError, "a tuple .fitness, sensory, ground_truth."):
            aurora.run(task, lambda x: x, 5, out, **QUICK)
        with self.assertRaisesRegex(ValueError, "must have 'sensory'"):
            aurora.run(task, lambda x: {"fitness": 1}, 5, out, **QUICK)
        self.assertFalse(out.exists())
        with self.assertRaisesRegex(ValueError, "needs evaluate"):
            aurora.run(task, None, 5, out)
        with self.assertRaisesRegex(ValueError, "evaluates it itself"):
            aurora.run("maze", throw, 5, out)
        with self.assertRaisesRegex(ValueError, "a function of one genotype"):
            aurora.run(task, throw, 5, out, executor=ThreadPoolExecutor(1), per_solution=False)

    def test_another_robot_does_not_go_on(self) -> None:
        out = self.folder / "mine"
        aurora.run(task, throw, 3, out, **QUICK)

        def other(genes: np.ndarray) -> Any:
            fitness, sensory, truth = throw(genes)
            return fitness - 1, sensory, truth

        with self.assertRaisesRegex(ValueError, "begun with another evaluation"):
            aurora.run(task, other, 6, out, **QUICK)

    def test_system_exit_ends_it_and_all_is_saved(self) -> None:
        calls = []

        def leaves(genes: np.ndarray) -> Any:
            calls.append(len(genes))
            if len(calls) == 4:
                raise SystemExit(7)
            return throw(genes)

        out = self.folder / "leaves"
        with self.assertRaises(SystemExit):
            aurora.run(task, leaves, 9, out, check=False, **QUICK)
        self.assertEqual(json.loads((out / "run.json").read_text())["iterations"], 3)
        run = aurora.run(task, throw, 9, out, **QUICK)
        straight = aurora.run(task, throw, 9, self.folder / "stays", **QUICK)
        self.assertEqual(run.summary["container_hash"], straight.summary["container_hash"])


class Purity(InFolder):
    @staticmethod
    def looks_around(genes: np.ndarray) -> Any:
        """Others in the batch change the last bits, as a matrix product may."""
        fitness, sensory, truth = throw(genes)
        return fitness, sensory + np.float32(1e-6) * genes.mean(), truth

    def test_pure(self) -> None:
        found = aurora.check(task, throw)
        self.assertTrue(found.ok, str(found))
        self.assertIn("pure: 64 solutions", str(found))
        self.assertTrue(aurora.check(task, one, per_solution=True))

    def test_who_looks_at_others_is_not(self) -> None:
        found = aurora.check(task, self.looks_around)
        self.assertIn("one by one", str(found))
        self.assertNotIn("second time", str(found))

    def test_noise_and_hands_that_do_not_stay_off(self) -> None:
        random = np.random.default_rng()

        def noisy(genes: np.ndarray) -> Any:
            fitness, sensory, truth = throw(genes)
            return fitness + random.random(len(genes)), sensory, truth

        self.assertIn(
            "evaluated a second time: fitness of 64 of 64", str(aurora.check(task, noisy))
        )

        def rude(genes: np.ndarray) -> Any:
            result = throw(genes)
            genes[:] = 0
            return result

        self.assertIn("changes the solutions", str(aurora.check(task, rude)))

        def raises(genes: np.ndarray) -> Any:
            raise KeyError("where")

        self.assertIn("raises KeyError", str(aurora.check(task, raises)))

    def test_a_run_says_so(self) -> None:
        with self.assertWarnsRegex(aurora.ImpureWarning, "not a pure function"):
            run = aurora.run(task, self.looks_around, 2, self.folder / "impure", **QUICK)
        self.assertIn("not pure", " ".join(run.summary["remarks"]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            aurora.run(task, throw, 2, self.folder / "pure", **QUICK)

        def fragile(genes: np.ndarray) -> Any:
            if len(genes) > 1 and (genes[:, 0] > 0.9).any():
                raise ArithmeticError("it fell over")
            return throw(genes)

        with self.assertWarnsRegex(aurora.ImpureWarning, "fail; such solutions are left out"):
            aurora.run(task, fragile, 2, self.folder / "fragile", **QUICK)


class Repertoire(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.run_ = aurora.run(task, throw, 20, cls.folder / "run", **QUICK)

    def test_nearest(self) -> None:
        container = self.run_.container
        found = self.run_.nearest([1.0, 0.5], count=3)
        offsets = (container.ground_truth - [1.0, 0.5]) / [4, 3]
        distances = np.sqrt((offsets.astype(float) ** 2).sum(axis=1))
        self.assertEqual(list(found["id"]), list(container.ids[np.argsort(distances)[:3]]))
        self.assertAlmostEqual(found["distance"][0], distances.min())
        exact = self.run_.nearest(descriptor=container.descriptors[7])
        self.assertEqual((exact["id"][0], exact["distance"][0]), (container.ids[7], 0))
        for wrong in ({}, {"goal": [1, 2, 3]}, {"descriptor": [1]}, {"goal": [1], "count": 0}):
            with self.assertRaises(ValueError):
                self.run_.nearest(**wrong)

    def test_encode(self) -> None:
        container = self.run_.container
        self.assertTrue(np.array_equal(self.run_.encode(container.sensory), container.descriptors))
        self.assertEqual(self.run_.encode(container.sensory[0]).shape, (1, 2))
        self.assertEqual(self.run_.surprise(container.sensory[:4]).shape, (4,))
        # Its files alone are enough.
        again = aurora.open_run(self.run_.path).encode(container.sensory[:9])
        self.assertTrue(np.array_equal(again, container.descriptors[:9]))
        with self.assertRaisesRegex(ValueError, "observations must have the shape"):
            self.run_.encode(np.zeros((3, 5)))
        with self.assertRaisesRegex(ValueError, "finite"):
            self.run_.encode(np.full((32, 2), np.nan))
        coded = aurora.run(
            task, throw, 2, self.folder / "hc", variant="hc-csc-uniform", progress=False
        )
        with self.assertRaisesRegex(ValueError, "hand-coded"):
            coded.encode(container.sensory[:1])

    def test_replay(self) -> None:
        id = int(self.run_.container.ids[3])
        shown = self.run_.replay(id)
        self.assertTrue(shown.same)
        self.assertEqual(shown.fitness, self.run_.container.fitness[3])
        with self.assertRaisesRegex(ValueError, "there is no individual"):
            self.run_.replay(10**9)
        with self.assertRaisesRegex(ValueError, "the robot of .* is in Python"):
            aurora.open_run(self.run_.path).replay(id)

    def test_replay_of_our_own(self) -> None:
        run = aurora.run(
            "maze",
            None,
            2,
            self.folder / "maze",
            variant="hc-csc-uniform",
            run_batch=8,
            progress=False,
        )
        shown = run.replay(int(run.container.ids[0]))
        self.assertTrue(shown.same)
        self.assertEqual(shown.frames[0].dtype, np.uint8)
        self.assertEqual(shown.frames[0].shape[2], 3)
        self.assertIsNotNone(shown.picture)

    def test_replay_draws(self) -> None:
        def draw(genotype: np.ndarray) -> list[np.ndarray]:
            return [np.full((4, 6, 3), int(255 * gene), np.uint8) for gene in genotype]

        drawn = dataclasses.replace(task, draw=draw)
        run = aurora.open_run(self.run_.path, task=drawn, evaluate=throw)
        self.assertEqual(
            [f.shape for f in run.replay(int(run.container.ids[0])).frames], [(4, 6, 3)] * 3
        )

    def test_plot(self) -> None:
        import matplotlib

        matplotlib.use("Agg")
        axes = self.run_.plot()
        self.assertEqual(axes.get_xlabel(), "x (m)")
        axes.figure.savefig(self.folder / "plot.png")


if __name__ == "__main__":
    unittest.main()
