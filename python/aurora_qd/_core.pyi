"""The library behind aurora_qd; use that."""

from collections.abc import Sequence

import numpy
import numpy.typing


version: str = ...

def instruction_kind() -> str:
    """Which instructions of the processor are used."""

class TaskSpec:
    """What a task says of itself."""

    def __init__(self, name: str, title: str, version: int, genes: int, sensory: Sequence[int], bytes: bool, axes: Sequence[tuple[str, float, float, str, bool]], worst_fitness: float, metrics: Sequence[str], defaults: Sequence[str], hand_coded_size: int) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def genes(self) -> int: ...

    @property
    def sensory(self) -> list[int]: ...

    @property
    def bytes(self) -> bool: ...

    @property
    def axes(self) -> list[tuple[str, float, float, str, bool]]: ...

    @property
    def worst_fitness(self) -> float: ...

    @property
    def metrics(self) -> list[str]: ...

    @property
    def defaults(self) -> list[str]: ...

    @property
    def hand_coded_size(self) -> int: ...

class Plan:
    """Everything that a run is, complete and checked."""

    def __init__(self, task: str | TaskSpec, variant: str | None, assignments: Sequence[str], run: str | None = ..., evaluate: object | None = ..., encoder: object | None = ...) -> None: ...

    @property
    def spec(self) -> TaskSpec: ...

    @property
    def variant(self) -> str: ...

    @property
    def seed(self) -> int: ...

    @property
    def batch(self) -> int: ...

    @property
    def iterations(self) -> int: ...

    @property
    def learned(self) -> bool: ...

    @property
    def descriptor_size(self) -> int: ...

    @property
    def notes(self) -> list[str]: ...

    @property
    def departures(self) -> list[str]: ...

    @property
    def settings(self) -> list[tuple[str, str]]:
        """Every key with its value as TOML."""

    def toml(self) -> str: ...

    def evaluate(self, genotypes: numpy.typing.NDArray[numpy.float32]) -> tuple[numpy.typing.NDArray, numpy.typing.NDArray, numpy.typing.NDArray]: ...

    def draw(self, genotypes: numpy.typing.NDArray[numpy.float32]) -> tuple[numpy.typing.NDArray | None, list[numpy.typing.NDArray], float]: ...

class Search:
    """Ask and tell."""

    def __init__(self, plan: Plan) -> None: ...

    def ask(self, given: numpy.typing.NDArray[numpy.float32] | None = ...) -> numpy.typing.NDArray[numpy.float32]: ...

    def waiting(self) -> int: ...

    def tell(self, fitness: numpy.typing.NDArray, sensory: numpy.typing.NDArray, ground_truth: numpy.typing.NDArray) -> dict[str, int]: ...

    @property
    def asked(self) -> bool: ...

    @property
    def iterations(self) -> int: ...

    @property
    def hash(self) -> str: ...

    @property
    def extra(self) -> list[str]: ...

    def __len__(self) -> int: ...

    @property
    def seconds(self) -> dict[str, float]: ...

    def measure(self) -> dict[str, float]: ...

    def column(self, name: str) -> numpy.typing.NDArray: ...

    def save(self, directory: str) -> None: ...

    def load(self, directory: str) -> None: ...

class Stop:
    """A flag that ends a run after its iteration."""

    def __init__(self) -> None: ...

    def set(self) -> None: ...

    @property
    def wanted(self) -> bool: ...

def run(plan: Plan, out: str, resume: bool, observer: object, stop: Stop, remarks: Sequence[str]) -> bool:
    """
    Carries a plan out; True if it came to its end, False if it was stopped.
    """

def encode(plan: Plan, run: str, observations: numpy.typing.NDArray, with_errors: bool) -> tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]]: ...

def voronoi_centroids(count: int, dimension: int, seed: int) -> numpy.typing.NDArray[numpy.float32]:
    """The cells of the container cvt, in the unit cube."""

def tasks() -> list[str]:
    """Names of the tasks of this build."""

def variants() -> list[tuple[str, str]]: ...
