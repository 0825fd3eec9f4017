"""The extension module: what it says of itself, and the package without it."""
from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import aurora_qd as aurora
from aurora_qd import _core

SOURCES = Path(os.environ["AURORA_SOURCES"])


class Module(unittest.TestCase):
    def test_every_name_is_there(self) -> None:
        for name in aurora.__all__:
            self.assertIsNotNone(getattr(aurora, name))
            self.assertIn(name, dir(aurora))
        with self.assertRaises(AttributeError):
            aurora.nonsense

    def test_the_stub_says_what_there_is(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "_core.pyi"
            subprocess.run(
                [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "aurora_qd._core"]
                + ["--exclude-values", "-o", str(made)],
                check=True,
            )
            kept = SOURCES / "python" / "aurora_qd" / "_core.pyi"
            self.assertEqual(
                made.read_text(),
                kept.read_text(),
                f"make it anew: python -m nanobind.stubgen -m aurora_qd._core --exclude-values -o {kept}",
            )

    def test_types(self) -> None:
        try:
            import mypy  # noqa: F401
        except ModuleNotFoundError:
            self.skipTest("mypy is not installed")
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "python/aurora_qd"]
            + ["examples/thrower.py", "examples/torch_encoder.py"],
            cwd=SOURCES,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_tasks_and_variants(self) -> None:
        self.assertIn("maze", _core.tasks())
        self.assertIn("aurora-csc-uniform-n", dict(_core.variants()))

    def test_environments_need_gymnasium(self) -> None:
        if importlib.util.find_spec("gymnasium"):
            self.skipTest("Gymnasium is installed; test_gym.py is about that")
        with self.assertRaisesRegex(ImportError, r"pip install 'aurora-qd\[gym\]'"):
            aurora.gym(
                "Ant-v5",
                controller=aurora.SineGait(),
                sensory=aurora.Trajectory([0, 1]),
                ground_truth={"x": (0, 0, 1), "y": (1, 0, 1)},
                worst_fitness=0,
            )

    def test_reading_needs_no_module(self) -> None:
        program = (
            "import aurora_qd as aurora\n"
            "aurora.load, aurora.Run, aurora.statistics, aurora.Task, aurora.Scheduler\n"
            "task = aurora.Task(3, (2,), {'x': (0, 1), 'y': (0, 1)})\n"
            "try:\n"
            "    aurora.Scheduler(task)\n"
            "except ImportError as error:\n"
            "    print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": str(SOURCES / "python")},
            capture_output=True,
            text=True,
        )
        self.assertIn("this needs the extension module of aurora_qd", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
