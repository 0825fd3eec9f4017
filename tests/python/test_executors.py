"""aurora.run by the executors of MPI, Dask and Ray: one hash, also if a worker is killed.
Needs them: scripts/python-extras."""
from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

from tiny import InFolder

POOLS = Path(__file__).with_name("pools.py")
ITERATIONS = 12
LONG = 60  # enough for a worker to die on the way


class Executors(InFolder):
    def command(self, kind: str, out: Path, iterations: int) -> list[str]:
        words = [str(POOLS), kind, str(out), str(iterations), str(out) + ".marker"]
        if kind != "mpi":
            return [sys.executable, *words]
        return [
            "mpiexec",
            "--oversubscribe",
            "-n",
            "3",
            sys.executable,
            "-m",
            "mpi4py.futures",
        ] + words

    def start(self, kind: str, out: Path, iterations: int) -> subprocess.Popen:
        return subprocess.Popen(
            self.command(kind, out, iterations),
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finished(self, kind: str, out: Path, iterations: int) -> str:
        process = self.start(kind, out, iterations)
        said, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, errors)
        hash, invalid = said.split()[-2:]
        self.assertEqual(invalid, "0")  # nobody is to blame for a worker
        return hash

    def try_it(self, kind: str, module: str, survives: bool) -> None:
        if importlib.util.find_spec(module) is None:
            self.skipTest(f"{module} is not installed (make test-python-extras)")
        if kind == "mpi" and not shutil.which("mpiexec"):
            self.skipTest("there is no mpiexec (openmpi-bin)")
        plain = self.finished("none", self.folder / f"{kind}-none", ITERATIONS)
        began = time.monotonic()
        self.assertEqual(self.finished(kind, self.folder / kind, ITERATIONS), plain)
        print(f"{kind}: {time.monotonic() - began:.1f} s", file=sys.stderr)

        out = self.folder / f"{kind}-killed"
        marker = Path(f"{out}.marker")
        process = self.start(kind, out, LONG)
        limit = time.monotonic() + 120
        while not (out / "checkpoint" / "manifest.json").exists():
            self.assertLess(time.monotonic(), limit)
            self.assertIsNone(process.poll(), "it ended before its first checkpoint")
            time.sleep(0.02)
        marker.touch()
        said, errors = process.communicate(timeout=300)
        self.assertFalse(marker.exists(), "no worker died")
        whole = self.finished("none", self.folder / f"{kind}-long", LONG)
        if survives:
            self.assertEqual(process.returncode, 0, errors)
            self.assertEqual(said.split()[-2:], [whole, "0"])
        else:
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(errors, "executor failed|signal 9|Killed")
            self.assertEqual(self.finished(kind, out, LONG), whole)

    def test_mpi(self) -> None:
        self.try_it("mpi", "mpi4py", survives=False)

    def test_dask(self) -> None:
        self.try_it("dask", "distributed", survives=True)

    def test_ray(self) -> None:
        self.try_it("ray", "ray", survives=False)


if __name__ == "__main__":
    unittest.main()
