"""Runs of a second, made by the program."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ["AURORA_PROGRAM"]
SMALL = ("run.batch=8", "container.target_size=30", "run.log_every=4", "run.threads=1")


def aurora(*words: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, **options)


def make_run(
    folder: Path, task: str, variant: str, seed: int, *settings: str, iterations: int = 24
) -> Path:
    out = folder / "-".join([task, variant, str(seed), *(s.replace("=", "_") for s in settings)])
    done = aurora(
        "run",
        task,
        "--variant",
        variant,
        "--seed",
        seed,
        "--iterations",
        iterations,
        "--quiet",
        "--out",
        out,
        *SMALL,
        *settings,
    )
    if "needs DART" in done.stderr or "needs Box2D" in done.stderr:
        raise unittest.SkipTest(done.stderr)
    assert done.returncode == 0, done.stderr
    return out


def edit_json(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}, indent=2) + "\n")


class InFolder(unittest.TestCase):
    """A fresh folder for each class, gone afterwards."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="aurora_python_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def copy(self, run: Path) -> Path:
        """A copy to be damaged, for this test alone."""
        copy = Path(tempfile.mkdtemp(dir=self.folder)) / run.name
        shutil.copytree(run, copy)
        return copy
