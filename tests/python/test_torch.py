"""The encoder of examples/torch_encoder.py: PyTorch in the place of the auto-encoder. Needs PyTorch:
scripts/python-extras, or Debian's python3-torch."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import numpy as np

try:
    import torch
except ModuleNotFoundError:
    print("skipped: PyTorch is not installed (make test-python-extras)", file=sys.stderr)
    sys.exit(0)

import aurora_qd as aurora
from thrower import task, throw
from tiny import InFolder
from torch_encoder import ConvVae

HOW = {"variant": "aurora-csc-uniform-2", "seed": 3, "progress": False}
ITERATIONS = 34  # the encoder is trained after 10 and 30

SCRIPT = """
import sys, time
import aurora_qd as aurora
from thrower import task, throw
from torch_encoder import ConvVae
def slow(genes):
    time.sleep(0.05)
    return throw(genes)
aurora.run(task, slow, int(sys.argv[2]), sys.argv[1], variant="aurora-csc-uniform-2", seed=3,
           encoder=ConvVae(epochs=5), progress=False, config={"run.checkpoint_seconds": 0.05})
"""


def vae(**options: object) -> ConvVae:
    return ConvVae(epochs=5, **options)  # type: ignore[arg-type]


class Torch(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        torch.set_num_threads(1)
        cls.whole = aurora.run(task, throw, ITERATIONS, cls.folder / "whole", encoder=vae(), **HOW)
        cls.hash = cls.whole.summary["container_hash"]

    def test_it_learns_and_says_so(self) -> None:
        told = self.whole.encoder
        self.assertEqual(list(told["iteration"]), [10, 30])
        self.assertEqual(list(told["epochs"]), [5, 5])
        self.assertLess(told["train_loss"].iloc[-1], told["train_loss"].iloc[0])
        self.assertTrue((told["divergence"] > 0).all())
        self.assertNotIn("remarks", self.whole.summary)  # on the processor it is deterministic

    def test_another_run_is_the_same(self) -> None:
        again = aurora.run(task, throw, ITERATIONS, self.folder / "again", encoder=vae(), **HOW)
        self.assertEqual(again.summary["container_hash"], self.hash)

    def test_killed_and_resumed_it_is_the_same(self) -> None:
        out = self.folder / "killed"
        manifest = out / "checkpoint" / "manifest.json"
        for share in (0.3, 0.6, 0.9):  # before the first training, between the two, after both
            process = subprocess.Popen(
                [sys.executable, "-c", SCRIPT, str(out), str(ITERATIONS)],
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            limit = time.monotonic() + 300
            while self.iteration(manifest) < share * ITERATIONS and process.poll() is None:
                self.assertLess(time.monotonic(), limit)
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
        run = aurora.run(task, throw, ITERATIONS, out, encoder=vae(), **HOW)
        self.assertEqual(run.summary["container_hash"], self.hash)

    @staticmethod
    def iteration(manifest: Path) -> int:
        try:
            return int(json.loads(manifest.read_text())["iteration"])
        except (OSError, ValueError, KeyError):
            return 0

    def test_ask_and_tell_and_its_state(self) -> None:
        how = {"variant": HOW["variant"], "seed": HOW["seed"]}
        here = aurora.Scheduler(task, encoder=vae(), **how)
        for _ in range(20):
            here.tell(*throw(here.ask()))
        here.save(self.folder / "state")
        there = aurora.Scheduler.load(self.folder / "state", encoder=vae())
        for _ in range(ITERATIONS - 20):
            there.tell(*throw(there.ask()))
        self.assertEqual(there.archive.hash, self.hash)

    def test_opened_later_it_encodes(self) -> None:
        later = aurora.open_run(self.whole.path, encoder=vae())
        container = later.container
        np.testing.assert_allclose(
            later.encode(container.sensory), container.descriptors, rtol=1e-4, atol=1e-4
        )

    def test_what_is_not_deterministic_is_said(self) -> None:
        other = vae()
        other.deterministic = False  # as on a graphics card
        run = aurora.run(task, throw, 2, self.folder / "said", encoder=other, **HOW)
        self.assertIn("ConvVae is not deterministic", run.summary["remarks"][0])

    @unittest.skipUnless(torch.cuda.is_available(), "there is no graphics card")
    def test_on_a_graphics_card(self) -> None:
        out = self.folder / "cuda"
        for iterations in (20, ITERATIONS):
            run = aurora.run(task, throw, iterations, out, encoder=vae(device="cuda"), **HOW)
        self.assertIn("ConvVae is not deterministic", run.summary["remarks"][0])
        self.assertEqual(list(run.encoder["iteration"]), [10, 30])
        here = aurora.open_run(out, encoder=vae())  # the state is not bound to the device
        np.testing.assert_allclose(
            here.encode(run.container.sensory), run.container.descriptors, rtol=1e-2, atol=1e-2
        )


if __name__ == "__main__":
    unittest.main()
