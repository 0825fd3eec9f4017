"""aurora.gym: real episodes of Ant (MuJoCo) and LunarLander (Box2D), the same bits in any process.
Needs Gymnasium: scripts/python-extras."""
from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

try:
    import gymnasium
except ModuleNotFoundError:
    print("skipped: Gymnasium is not installed (make test-python-extras)", file=sys.stderr)
    sys.exit(0)

import aurora_qd as aurora
from aurora_qd.environments import smaller
from tiny import InFolder

QUICK: dict[str, Any] = {
    "variant": "aurora-csc-uniform-2",
    "seed": 3,
    "progress": False,
    "config": {"run.batch": 16, "container.target_size": 50},
}


def height(episode: aurora.Episode) -> float:
    """Of the torso, at most."""
    return max(float(observation[0]) for observation in episode.observations)


def ant(**changes: Any) -> Any:
    how: dict[str, Any] = {
        "controller": aurora.SineGait(),
        "sensory": aurora.Trajectory(["x_position", "y_position", 0], samples=10),
        "ground_truth": {
            "x": ("x_position", -2, 2, "m"),
            "y": ("y_position", -2, 2, "m"),
            "height": (height, 0, 2, "m"),
        },
        "worst_fitness": -500,
        "steps": 40,
    }
    return aurora.gym("Ant-v5", **{**how, **changes})


def lander(**changes: Any) -> Any:
    how: dict[str, Any] = {
        "controller": aurora.Mlp(hidden=(6,)),
        "sensory": aurora.Trajectory([0, 1, 4], samples=12),
        "ground_truth": {"x": (0, -1, 1), "y": (1, 0, 1.5)},
        "worst_fitness": -1000,
        "steps": 200,
    }
    return aurora.gym("LunarLander-v3", **{**how, **changes})


SCRIPT = """
import sys
import aurora_qd as aurora
from test_gym import QUICK, lander
task, evaluate = lander()
how = {**QUICK, "config": {**QUICK["config"], "run.checkpoint_seconds": 0.05}}
aurora.run(task, evaluate, 30, sys.argv[1], **how)
"""


class Episodes(unittest.TestCase):
    def test_are_pure(self) -> None:
        for task, evaluate in (ant(), lander()):
            with self.subTest(task.name):
                found = aurora.check(task, evaluate, solutions=8)
                self.assertTrue(found.ok, str(found))

    def test_are_those_of_the_environment(self) -> None:
        task, evaluate = ant()
        genotype = np.random.default_rng(1).random(task.genes, np.float32)
        env = gymnasium.make("Ant-v5", max_episode_steps=40)
        env.reset(seed=0)
        total, where, top = 0.0, [], 0.75
        for step in range(40):
            action = [
                a * math.sin(2 * math.pi * (2 * f * (step * 0.05) + p))
                for a, p, f in genotype.astype(float).reshape(3, 8).T
            ]
            observation, reward, ended, _, info = env.step(np.array(action, np.float32))
            total += reward
            top = max(top, observation[0])
            if step % 4 == 3:
                where.append([info["x_position"], info["y_position"], observation[0]])
            self.assertFalse(ended, "choose another genotype")
        fitness, sensory, truth = evaluate(genotype)
        np.testing.assert_allclose(fitness, total, rtol=1e-5)
        np.testing.assert_allclose(sensory, where, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(truth[:2], where[-1][:2], rtol=1e-4, atol=1e-5)
        self.assertAlmostEqual(truth[2], top, places=2)

    def test_networks_act_as_said(self) -> None:
        env = gymnasium.make("LunarLander-v3", continuous=True)
        seen = np.linspace(-1, 1, 8)
        for spaces in (env, gymnasium.make("LunarLander-v3")):
            network = aurora.Mlp(hidden=(5, 4), weights=3, inputs=(0, 2, 7))
            size = network.genes(spaces.action_space, spaces.observation_space)
            outputs = getattr(spaces.action_space, "n", 2)
            self.assertEqual(size, 4 * 5 + 6 * 4 + 5 * outputs)
            genes = np.random.default_rng(2).random(size)
            x, rest = seen[[0, 2, 7]], 6 * genes - 3
            for before, after in ((3, 5), (5, 4), (4, outputs)):
                layer = rest[: (before + 1) * after].reshape(after, before + 1)
                rest = rest[(before + 1) * after :]
                x = np.tanh(layer[:, :-1] @ x + layer[:, -1])
            action = network.policy(genes, spaces.action_space, spaces.observation_space)(seen, 0)
            if outputs == 2:
                np.testing.assert_allclose(action, x, rtol=1e-5)
            else:
                self.assertEqual(action, np.argmax(x))

    def test_early_ends_and_the_worst(self) -> None:
        task, evaluate = lander(worst_fitness=-50)
        genotypes = np.random.default_rng(0).random((8, task.genes), np.float32)
        fitness, sensory, truth = evaluate(genotypes)
        self.assertEqual(fitness.min(), -50)
        self.assertTrue(np.array_equal(sensory[:, -1, :2], truth))  # they stay where they fell
        self.assertGreater(len(np.unique(sensory[:, :, 1])), 20)
        for given, shape in ((genotypes[:1], (1, 12, 3)), (genotypes[0], (12, 3))):
            self.assertEqual(evaluate(given)[1].shape, shape)
        self.assertEqual(evaluate(genotypes[:0])[1].shape, (0, 12, 3))

    def test_pictures(self) -> None:
        for sensory, shape in (
            (aurora.Pictures(16, 24), (16, 24, 3)),
            (aurora.Pictures(16, 16, samples=4, colour=False), (16, 16, 4)),
        ):
            task, evaluate = lander(sensory=sensory, steps=40)
            self.assertEqual((task.sensory, task.dtype), (shape, np.uint8))
            found = aurora.check(task, evaluate, solutions=4)
            self.assertTrue(found.ok, str(found))
            seen = evaluate(np.random.default_rng(0).random((3, task.genes), np.float32))[1]
            self.assertGreater(int(seen.max()) - int(seen.min()), 50)  # sky, ground
        picture = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
        self.assertTrue(np.array_equal(smaller(picture, 5, 7), picture))
        self.assertEqual(smaller(picture, 1, 1)[0, 0, 0], picture[:, :, 0].astype(int).sum() // 35)
        self.assertEqual(smaller(picture, 2, 2)[0, 0, 1], picture[:2, :3, 1].astype(int).sum() // 6)

    def test_what_is_wrong_is_said(self) -> None:
        for changes, message in (
            ({"controller": aurora.SineGait()}, "sine gaits need actuators that take numbers"),
            ({"controller": aurora.Mlp(inputs=[8])}, "no component 8: observations have 0 to 7"),
            ({"ground_truth": {"x": (0, -1, 1), "y": (9, 0, 1)}}, "no component 9"),
            ({"sensory": aurora.Trajectory([0], samples=500)}, "1 to 200 samples in 200 steps"),
            ({"steps": 0}, "at least one step"),
        ):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                lander(**changes)
        with self.assertRaisesRegex(ValueError, "several samples"):
            aurora.Pictures(samples=2)
        task, evaluate = lander(sensory=aurora.Trajectory(["speed"], samples=2))
        with self.assertRaisesRegex(KeyError, "info has no 'speed'; it has"):
            evaluate(np.zeros(task.genes, np.float32))


class Runs(InFolder):
    def test_one_hash_whatever_evaluates(self) -> None:
        for task, evaluate in (ant(), lander()):
            plain = aurora.run(task, evaluate, 4, self.folder / task.name, **QUICK)
            pools = {
                "processes": ProcessPoolExecutor(2, mp_context=get_context("forkserver")),
                "threads": ThreadPoolExecutor(2),
            }
            for name, pool in pools.items():
                with self.subTest(f"{task.name}, {name}"), pool:
                    out = self.folder / f"{task.name}-{name}"
                    run = aurora.run(task, evaluate, 4, out, executor=pool, **QUICK)
                    self.assertNotIn("remarks", run.summary)  # it is pure
                    self.assertEqual(run.summary["container_hash"], plain.summary["container_hash"])
                    self.assertGreater(len(run.container), 5)

    def test_killed_and_resumed(self) -> None:
        out = self.folder / "killed"
        manifest = out / "checkpoint" / "manifest.json"
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(out)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        limit = time.monotonic() + 120
        while not manifest.exists():
            self.assertLess(time.monotonic(), limit)
            self.assertIsNone(process.poll(), "it ended before its first checkpoint")
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL)
        task, evaluate = lander()
        run = aurora.run(task, evaluate, 30, out, **QUICK)
        straight = aurora.run(task, evaluate, 30, self.folder / "straight", **QUICK)
        self.assertEqual(run.summary["container_hash"], straight.summary["container_hash"])

    def test_replay_has_frames(self) -> None:
        task, evaluate = lander(steps=60)
        run = aurora.run(task, evaluate, 2, self.folder / "replay", **QUICK)
        shown = run.replay(int(run.container.ids[0]))
        self.assertTrue(shown.same)
        self.assertGreater(len(shown.frames), 20)
        self.assertEqual(shown.frames[0].shape, (400, 600, 3))
        self.assertFalse(np.array_equal(shown.frames[0], shown.frames[-1]))


if __name__ == "__main__":
    unittest.main()
