"""Encoders in Python: any object with `train(data)` and `encode(data)`.

    class Mean:
        dimension = 2
        deterministic = True
        def train(self, data): ...                 # what it has to say: nothing, a loss, or a dict
        def encode(self, data): return data.mean(axis=1)          # (rows, dimension)
        def state(self): return {}                 # what a checkpoint holds: arrays by name
        def set_state(self, state): ...

`data` has a row per individual, in the task's shape and type. `encode` is called before the first
`train`, too. It may give a pair: descriptors, and an error per row, which selection by surprise
needs; the distance to what `reconstruct(data)` gives, if there is such a method, does as well.
`begin(dimension, shape, seed)`, if there, is called when a search begins; `train` is given a `seed`
if it has a parameter of that name: random numbers that follow from it are the same after a resume.
"""
from __future__ import annotations

import inspect
import pickle
import re
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

# "weights.float64-3x64": an array that is no float32, with its type and shape.
OTHER = re.compile(r"(.+)\.(bool|u?int\d+|float\d+)-((?:\d+x)*\d*)")
Saved = tuple[str, list[int], bytes, bool]


def adapted(encoder: Optional[object]) -> Optional[Adapter]:
    if encoder is None or isinstance(encoder, Adapter):
        return encoder
    return Adapter(encoder)


def with_dimension(
    settings: dict[str, object], encoder: Optional[Adapter], variant: Optional[str]
) -> dict[str, object]:
    """An encoder that knows its dimension says it, unless somebody else does."""
    if variant is None and encoder is not None and encoder.dimension is not None:
        settings.setdefault("descriptor.dimension", encoder.dimension)
    return settings


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


class Adapter:
    """An encoder of the user's, with types and shapes seen to, as the library calls it."""

    def __init__(self, encoder: Any):
        for method in ("train", "encode"):
            if not callable(getattr(encoder, method, None)):
                raise ValueError(
                    f"an encoder has the methods train(data) and encode(data); "
                    f"{type(encoder).__name__} has no {method}"
                )
        if callable(getattr(encoder, "state", None)) != callable(
            getattr(encoder, "set_state", None)
        ):
            raise ValueError("an encoder has both state() and set_state(state), or neither")
        self.encoder = encoder
        self._dimension = 0
        self._features = 0

    @property
    def name(self) -> str:
        return type(self.encoder).__name__

    @property
    def dimension(self) -> Optional[int]:
        """What the encoder says; None if it takes any."""
        said = getattr(self.encoder, "dimension", None)
        return None if said is None or callable(said) else int(said)

    def remarks(self) -> list[str]:
        """What run.json should say about it."""
        found = []
        deterministic = getattr(self.encoder, "deterministic", None)
        if deterministic is None:
            found.append(f"the encoder {self.name} does not say whether it is deterministic")
        elif not deterministic:
            found.append(
                f"the encoder {self.name} is not deterministic: another run of this configuration "
                "gives another container"
            )
        if not callable(getattr(self.encoder, "state", None)):
            found.append(f"the encoder {self.name} saves no state: a resumed run is another run")
        return found

    # --- What the library calls ---

    def begin(self, dimension: int, shape: Sequence[int], seed: int) -> None:
        if self.dimension is not None and self.dimension != dimension:
            raise ValueError(
                f"the encoder {self.name} has {self.dimension} dimensions, and "
                f"descriptor.dimension is {dimension}"
            )
        self._dimension = dimension
        self._features = int(np.prod(shape))
        if callable(getattr(self.encoder, "begin", None)):
            self.encoder.begin(dimension, tuple(shape), seed)

    def train(self, data: NDArray[Any], seed: int) -> dict[str, float]:
        more = {"seed": seed} if _takes(self.encoder.train, "seed") else {}
        told = self.encoder.train(data, **more)
        if told is None:
            return {}
        if isinstance(told, Mapping):
            return {str(name): float(value) for name, value in told.items()}
        return {"loss": float(told), "validation_loss": float(told)}

    def encode(
        self, data: NDArray[Any], with_errors: bool
    ) -> tuple[NDArray[np.float32], Optional[NDArray[np.float32]]]:
        result = self.encoder.encode(data)
        pair = isinstance(result, tuple)
        descriptors = self._floats(
            result[0] if pair else result, (len(data), self._dimension), "encode"
        )
        if not with_errors:
            return descriptors, None
        if pair:
            return descriptors, self._floats(result[1], (len(data),), "encode, as errors,")
        if not callable(getattr(self.encoder, "reconstruct", None)):
            raise ValueError(
                f"the encoder {self.name} gives no errors, and the search needs them: let encode "
                "give a pair, or add reconstruct(data)"
            )
        difference = _features(data) - self.reconstruct(data)
        return descriptors, np.sqrt((difference**2).sum(axis=1)).astype(np.float32)

    def reconstruct(self, data: NDArray[Any]) -> NDArray[np.float32]:
        """NaN where the encoder has no decoder."""
        shape = (len(data), self._features)
        if not callable(getattr(self.encoder, "reconstruct", None)):
            return np.full(shape, np.nan, np.float32)
        result = np.asarray(self.encoder.reconstruct(data))
        return self._floats(result.reshape(len(data), -1), shape, "reconstruct")

    def state(self) -> list[Saved]:
        if not callable(getattr(self.encoder, "state", None)):
            return []
        saved: list[Saved] = []
        for name, value in self.encoder.state().items():
            array = np.asarray(value)
            if array.dtype.kind not in "fiub":
                raise ValueError(f"the state '{name}' of {self.name} is no array of numbers")
            plain = array.dtype == np.float32
            if OTHER.fullmatch(name) or not re.fullmatch(r"[\w.-]+", name, re.ASCII):
                raise ValueError(
                    f"a state of an encoder cannot be called '{name}': letters, digits, '.', '_' "
                    "and '-', and no type at the end"
                )
            full = name
            if not plain:
                full = f"{name}.{array.dtype.name}-{'x'.join(map(str, array.shape))}"
            saved.append((full, list(array.shape), array.tobytes(), not plain))
        return saved

    def set_state(self, saved: Sequence[tuple[str, Sequence[int], NDArray[np.float32]]]) -> None:
        if not callable(getattr(self.encoder, "set_state", None)):
            return
        state = {}
        for name, shape, values in saved:
            other = OTHER.fullmatch(name)
            if other is None:
                state[name] = values.reshape(tuple(shape))
                continue
            extents = tuple(int(extent) for extent in other[3].split("x") if extent)
            dtype = np.dtype(other[2])
            size = int(np.prod(extents)) * dtype.itemsize
            data = values.astype("<u2").tobytes()[:size]
            state[other[1]] = np.frombuffer(data, dtype).reshape(extents).copy()
        self.encoder.set_state(state)

    def _floats(self, given: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float32]:
        array = np.asarray(given)
        if array.shape != shape:
            raise ValueError(
                f"the encoder {self.name} must give the shape {shape} ({what}), not {array.shape}"
            )
        return np.ascontiguousarray(array, np.float32)


def _features(data: NDArray[Any]) -> NDArray[np.float32]:
    """A row each; bytes as value / 255."""
    flat = data.reshape(len(data), -1)
    return (flat / np.float32(255) if flat.dtype == np.uint8 else flat).astype(np.float32)


class Transformer:
    """A transformer in the way of scikit-learn (`fit`, `transform`, perhaps `inverse_transform`) as
    an encoder: PCA, KernelPCA, UMAP and their like. Until its first training it is fitted to the
    first data that it sees. Its state is a pickle: load none that is not yours.

        aurora.Scheduler(task, encoder=aurora.Transformer(PCA(n_components=3)))
    """

    def __init__(self, transformer: Any, deterministic: Optional[bool] = None):
        self.transformer = transformer
        self.deterministic = deterministic
        self._fitted = False
        if callable(getattr(transformer, "inverse_transform", None)):
            self.reconstruct = self._reconstruct
        dimension = getattr(transformer, "n_components", None)
        if isinstance(dimension, (int, np.integer)):
            self.dimension = int(dimension)

    def train(self, data: NDArray[Any]) -> None:
        self.transformer.fit(_features(data))
        self._fitted = True

    def encode(self, data: NDArray[Any]) -> NDArray[Any]:
        if not self._fitted:
            self.train(data)
        return self.transformer.transform(_features(data))

    def _reconstruct(self, data: NDArray[Any]) -> NDArray[Any]:
        return self.transformer.inverse_transform(self.encode(data))

    def state(self) -> dict[str, NDArray[Any]]:
        content = pickle.dumps((self.transformer, self._fitted), protocol=5)
        return {"pickle": np.frombuffer(content, np.uint8)}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        self.transformer, self._fitted = pickle.loads(state["pickle"].tobytes())
