"""Encoders in Python."""
from __future__ import annotations

import json
import unittest
from typing import Any

import numpy as np

import aurora_qd as aurora
from aurora_qd.encoders import Adapter
from thrower import task, throw
from tiny import InFolder

try:
    from sklearn.decomposition import PCA
except ModuleNotFoundError:
    PCA = None
try:
    from umap import UMAP
except ModuleNotFoundError:
    UMAP = None

QUICK: dict[str, Any] = {"variant": "aurora-csc-uniform-2", "seed": 2, "progress": False}


class Components:
    """Principal components with NumPy, elementwise where rows are encoded."""

    dimension = 2
    deterministic = True

    def begin(self, dimension: int, shape: tuple[int, ...], seed: int) -> None:
        features = int(np.prod(shape))
        self.mean = np.zeros(features)  # float64: the state keeps it
        self.axes = np.random.default_rng(seed).normal(size=(dimension, features))
        self.updates = 0

    def train(self, data: np.ndarray) -> dict[str, float]:
        flat = data.reshape(len(data), -1).astype(float)
        self.mean = flat.mean(axis=0)
        _, variances, axes = np.linalg.svd(flat - self.mean, full_matrices=False)
        self.axes = axes[: self.dimension]
        self.updates += 1
        return {
            "loss": float((variances[self.dimension :] ** 2).sum() / flat.size),
            "updates": self.updates,
        }

    def encode(self, data: np.ndarray) -> np.ndarray:
        flat = data.reshape(len(data), -1) - self.mean
        return np.stack([(flat * axis).sum(axis=1) for axis in self.axes], axis=1)

    def reconstruct(self, data: np.ndarray) -> np.ndarray:
        return self.encode(data).astype(float) @ self.axes + self.mean

    def state(self) -> dict[str, np.ndarray]:
        return {
            "mean": self.mean,
            "axes": self.axes,
            "updates": np.array(self.updates),
            "half": self.mean.astype(np.float32),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        self.mean, self.axes = state["mean"], state["axes"]
        self.updates = int(state["updates"])


class Scikit:
    """What scikit-learn's transformers look like."""

    def __init__(self, n_components: int):
        self.n_components = n_components

    def fit(self, data: np.ndarray) -> None:
        self.mean = data.mean(axis=0)

    def transform(self, data: np.ndarray) -> np.ndarray:
        return (data - self.mean)[:, : self.n_components]

    def inverse_transform(self, codes: np.ndarray) -> np.ndarray:
        back = np.tile(self.mean, (len(codes), 1))
        back[:, : self.n_components] += codes
        return back


class InRuns(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.whole = aurora.run(task, throw, 34, cls.folder / "whole", encoder=Components(), **QUICK)

    def test_it_is_trained_and_its_state_kept(self) -> None:
        self.assertEqual(list(self.whole.encoder["iteration"]), [10, 30])
        self.assertEqual(list(self.whole.encoder["updates"]), [1, 2])
        self.assertTrue((self.whole.encoder["train_loss"] > 0).all())
        self.assertEqual(self.whole.settings["encoder.kind"], "python")
        self.assertNotIn("remarks", self.whole.summary)
        names = {path.name for path in (self.whole.path / "encoder").glob("*.npy")}
        self.assertIn("mean.float64-64.npy", names)
        self.assertIn("half.npy", names)
        self.assertEqual(self.whole.reconstructions["reconstructions"].shape[1:], (32, 2))

    def test_descriptors_are_its_own(self) -> None:
        container = self.whole.container
        self.assertTrue(np.array_equal(self.whole.encode(container.sensory), container.descriptors))
        again = aurora.open_run(self.whole.path, encoder=Components())
        self.assertTrue(np.array_equal(again.encode(container.sensory), container.descriptors))
        with self.assertRaisesRegex(ValueError, "an object of Python's"):
            aurora.open_run(self.whole.path).encode(container.sensory)

    def test_resumed_it_is_the_same(self) -> None:
        out = self.folder / "parts"
        for iterations in (7, 15, 34):
            run = aurora.run(task, throw, iterations, out, encoder=Components(), **QUICK)
        self.assertEqual(run.summary["container_hash"], self.whole.summary["container_hash"])

    def test_ask_and_tell(self) -> None:
        how = {"variant": "aurora-csc-uniform-2", "seed": 2}
        here = aurora.Scheduler(task, encoder=Components(), **how)
        for _ in range(20):
            here.tell(*throw(here.ask()))
        here.save(self.folder / "state")
        there = aurora.Scheduler.load(self.folder / "state", encoder=Components())
        for _ in range(14):
            there.tell(*throw(there.ask()))
        self.assertEqual(there.archive.hash, self.whole.summary["container_hash"])

    def test_surprise(self) -> None:
        how = {**QUICK, "variant": "aurora-csc-surprise-2"}
        run = aurora.run(task, throw, 12, self.folder / "surprise", encoder=Components(), **how)
        self.assertTrue((run.container.reconstruction_error > 0).any())

        class Blind(Components):
            reconstruct = None

        with self.assertRaisesRegex(ValueError, "gives no errors"):
            aurora.run(task, throw, 12, self.folder / "blind", encoder=Blind(), **how)

    def test_what_is_said_in_run_json(self) -> None:
        class Vague:
            def train(self, data: np.ndarray, seed: int) -> float:
                self.seed = seed
                return 0.5

            def encode(self, data: np.ndarray) -> np.ndarray:
                return data[:, -1]

        run = aurora.run(task, throw, 11, self.folder / "vague", encoder=Vague(), **QUICK)
        self.assertEqual(
            run.summary["remarks"],
            [
                "the encoder Vague does not say whether it is deterministic",
                "the encoder Vague saves no state: a resumed run is another run",
            ],
        )
        self.assertEqual(list(run.encoder["train_loss"]), [0.5])

        class Random(Components):
            deterministic = False

        run = aurora.run(task, throw, 2, self.folder / "random", encoder=Random(), **QUICK)
        self.assertIn("is not deterministic", run.summary["remarks"][0])

    def test_an_encoder_that_fails(self) -> None:
        class Fails(Components):
            def train(self, data: np.ndarray) -> Any:
                raise MemoryError("no room")

        out = self.folder / "fails"
        with self.assertRaisesRegex(MemoryError, "no room"):
            aurora.run(task, throw, 20, out, encoder=Fails(), **QUICK)
        self.assertEqual(json.loads((out / "run.json").read_text())["status"], "failed")
        scheduler = aurora.Scheduler(task, "aurora-csc-uniform-2", 2, encoder=Fails())
        with self.assertRaisesRegex(MemoryError, "no room"):
            for _ in range(11):
                scheduler.tell(*throw(scheduler.ask()))
        with self.assertRaisesRegex(ValueError, "failed half-way"):
            scheduler.ask()

    def test_wrong_ones(self) -> None:
        class Short(Components):
            def encode(self, data: np.ndarray) -> np.ndarray:
                return super().encode(data)[:, :1]

        with self.assertRaisesRegex(ValueError, r"must give the shape \(\d+, 2\)"):
            aurora.run(task, throw, 2, self.folder / "short", encoder=Short(), **QUICK)
        with self.assertRaisesRegex(ValueError, "has no train"):
            aurora.Scheduler(task, encoder=object())
        with self.assertRaisesRegex(ValueError, "has 2 dimensions"):
            aurora.Scheduler(task, "aurora-csc-uniform-3", encoder=Components())

        class HalfSaved:
            train = encode = state = print

        with self.assertRaisesRegex(ValueError, "both state"):
            aurora.Scheduler(task, encoder=HalfSaved())


class States(unittest.TestCase):
    def test_every_bit_comes_back(self) -> None:
        class Keeps:
            train = encode = print

            def __init__(self, state: dict[str, Any]):
                self.kept = state

            def state(self) -> dict[str, Any]:
                return self.kept

            def set_state(self, state: dict[str, Any]) -> None:
                self.kept = state

        given = {
            "a.weight": np.array([[1.5, np.nan], [-0.0, 3e38]], np.float32),
            "b": np.array([np.pi, -np.inf, 5e-324]),
            "c": np.array(2**62 + 1),
            "d": np.frombuffer(b"odd", np.uint8),
            "e": np.array([True, False]),
            "f": np.zeros((0, 3)),
        }
        saved = []
        for name, shape, data, words in Adapter(Keeps(given)).state():
            if words:  # as the library does it
                values = np.frombuffer(data + b"\0" * (len(data) % 2), "<u2").astype(np.float32)
                saved.append((name, [len(values)], values))
            else:
                saved.append((name, shape, np.frombuffer(data, np.float32)))
        other = Keeps({})
        Adapter(other).set_state(saved)
        for name, array in given.items():
            back = other.kept[name]
            self.assertEqual((back.dtype, back.shape), (array.dtype, array.shape))
            self.assertEqual(back.tobytes(), array.tobytes())
        for wrong in ("a b", "x.float64-3", "é"):
            with self.assertRaisesRegex(ValueError, "cannot be called"):
                Adapter(Keeps({wrong: np.zeros(1)})).state()
        with self.assertRaisesRegex(ValueError, "no array of numbers"):
            Adapter(Keeps({"a": "text"})).state()


class Transformers(InFolder):
    def both(self, name: str, make: Any) -> None:
        """Trained, stopped and resumed."""
        runs = []
        for out, parts in ((f"{name}-whole", (22,)), (f"{name}-parts", (5, 15, 22))):
            for iterations in parts:
                run = aurora.run(
                    task,
                    throw,
                    iterations,
                    self.folder / out,
                    encoder=aurora.Transformer(make(), deterministic=True),
                    **QUICK,
                )
            runs.append(run.summary["container_hash"])
        self.assertEqual(runs[0], runs[1])

    def test_like_scikit(self) -> None:
        self.both("like", lambda: Scikit(2))

    @unittest.skipIf(PCA is None, "scikit-learn is not installed")
    def test_scikit_itself(self) -> None:
        self.both("itself", lambda: PCA(n_components=2, svd_solver="full"))

    @unittest.skipUnless(UMAP, "UMAP is not installed: make test-python-extras")
    def test_umap(self) -> None:
        def encoder() -> aurora.Transformer:
            # With a seed it is deterministic; neighbours are those of its first data, too.
            return aurora.Transformer(
                UMAP(n_components=2, n_neighbors=10, n_epochs=50, random_state=1, n_jobs=1), True
            )

        how = {**QUICK, "container_target_size": 300}
        whole = aurora.run(task, throw, 14, self.folder / "umap", encoder=encoder(), **how)
        self.assertEqual(list(whole.encoder["iteration"]), [10])
        self.assertNotIn("remarks", whole.summary)
        self.assertEqual(whole.container.descriptors.shape[1], 2)
        for iterations in (6, 12, 14):
            parts = aurora.run(
                task, throw, iterations, self.folder / "umap-parts", encoder=encoder(), **how
            )
        self.assertEqual(parts.summary["container_hash"], whole.summary["container_hash"])


if __name__ == "__main__":
    unittest.main()
