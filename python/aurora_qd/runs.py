"""Run directories as arrays and data frames.

What a run directory holds is told by aurora/runs/run_directory.hpp. Everything is checked against
the manifests before it is believed: sizes, types, shapes, and checksums where the module `xxhash`
is installed.
"""
from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Optional, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from .repertoire import Replay

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11
    try:
        import tomli as tomllib  # type: ignore[no-redef]
    except ModuleNotFoundError:
        tomllib = None  # type: ignore[assignment]
try:
    import xxhash
except ModuleNotFoundError:
    xxhash = None  # type: ignore[assignment]

PathLike = Union[str, Path]
DEEPEST = 32  # sections in sections of a config.toml
FORMAT_VERSION = 1  # of manifests
STATE = "state."  # what a container depends on besides its columns: arrays for the program alone
NEWEST_FORMAT = 3  # of run.json; 1 is that of version 0.1.0, which does not say so
# The names of our columns, and those that other quality-diversity libraries give them.
ALIASES = {"solution": "genotypes", "objective": "fitness", "measures": "descriptors"}
# What every run tells about itself.
SUMMARY: dict[str, type] = {
    "version": str,
    "task": str,
    "variant": str,
    "seed": int,
    "status": str,
    "iterations": int,
}
# What later formats tell besides, and a label where a study gives one.
TOLD: dict[str, type] = {
    "format": int,
    "title": str,
    "label": str,
    "metrics": dict,
    "units": dict,
}
# What of run.json is no column of a table of runs.
NO_COLUMNS = ("metrics", "units", "manifest", "checksum")
# Columns that the program itself writes. All others are a task's, an encoder's or a user's.
METRICS = (
    "iteration",
    "evaluations",
    "container_size",
    "coverage",
    "grid_mean_fitness",
    "qd_score",
    "best_fitness",
    "mean_fitness",
    "threshold",
    "added",
    "replaced",
    "rejected",
    "invalid",
    "lost",
    "container_updates",
    "loss_per_update",
)
ENCODER = (
    "iteration",
    "examples",
    "validation",
    "epochs",
    "train_loss",
    "validation_loss",
    "truth_r2",
    "seconds",
)
# What format 1 had in the place of "metrics", and the units that it did not tell.
METRICS_OF_FORMAT_1 = ("coverage", "grid_mean_fitness", "qd_score", "threshold")
UNITS_OF_FORMAT_1 = {"coverage": "%", "orientation_coverage": "%", "trajectory_diversity": "%"}


class RunError(Exception):
    """A run directory that is missing, unfinished, damaged or not ours; says which and where."""


def reason(error: Exception) -> str:
    """Without the number and the path that an OSError says, too."""
    return getattr(error, "strerror", None) or str(error)


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {reason(error)}") from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {reason(error)}") from None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RunError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path}: cannot be read: {reason(error)}") from None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path}: is damaged or not ours: {error}") from None
    if not isinstance(content, dict):
        raise RunError(f"{path}: is not ours: it holds no JSON object")
    return content


class Columns:
    """A directory with arrays of as many rows each, and what its manifest says besides. An array is
    read when it is first asked for, by its name."""

    def __init__(self, path: PathLike, *kinds: str):
        self.path = Path(path)
        where = self.path / "manifest.json"
        self.manifest = _read_json(where)
        try:
            if self.manifest["format_version"] != FORMAT_VERSION:
                found = self.manifest["format_version"]
                raise RunError(
                    f"{where}: format version {found} is not read; only {FORMAT_VERSION}"
                )
            if self.manifest["kind"] not in kinds:
                raise RunError(f"{where}: holds '{self.manifest['kind']}', not a {kinds[0]}")
            self._kind = kinds[0]
            self._count = int(self.manifest["count"])
            self._files = {entry["name"]: entry for entry in self.manifest["files"]}
            for name, entry in self._files.items():
                self._check_file(name, entry)
            self._read_manifest(self.manifest)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise RunError(f"{where}: is damaged or not ours: {error!r}") from None
        self._check_manifest_checksum(where)
        self._arrays: dict[str, np.ndarray] = {}

    def _read_manifest(self, manifest: dict[str, Any]) -> None:
        """What a kind of directory has to say besides."""

    def _check_file(self, name: str, entry: dict[str, Any]) -> None:
        path = self.path / name
        if Path(name).name != name:
            raise RunError(f"{self.path}: the manifest names a file elsewhere: '{name}'")
        if not _is_file(path):
            raise RunError(f"{path}: the manifest names it, and it is missing")
        if path.stat().st_size != entry["bytes"]:
            raise RunError(
                f"{path}: has {path.stat().st_size} bytes, the manifest says {entry['bytes']}"
            )
        if not name.startswith(STATE) and entry["shape"][0] != self._count:
            raise RunError(f"{path}: has {entry['shape'][0]} rows, the {self._kind} {self._count}")

    def _check_manifest_checksum(self, where: Path) -> None:
        if xxhash is None:
            return
        match = re.fullmatch(
            r'(.*),\n  "checksum": "([0-9a-f]{16})"\n}\n', _read_text(where), re.DOTALL
        )
        if not match or xxhash.xxh3_64_hexdigest((match[1] + "\n}\n").encode()) != match[2]:
            raise RunError(f"{where}: is damaged: its checksum does not fit")

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        columns = ", ".join(self.columns)
        name = type(self).__name__
        return f"<aurora.{name} '{self.path}': {self._count} individuals, {columns}>"

    @property
    def columns(self) -> list[str]:
        return [name[: -len(".npy")] for name in self._files if not name.startswith(STATE)]

    def __getitem__(self, column: str) -> np.ndarray:
        column = ALIASES.get(column, column)
        if column not in self.columns:
            raise KeyError(
                f"{self.path} has no column '{column}'; it has {', '.join(self.columns)}"
            )
        if column not in self._arrays:
            self._arrays[column] = self._load(column)
        return self._arrays[column]

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns, *ALIASES]

    def _open(self, column: str) -> np.ndarray:
        """Memory-mapped: nothing but the header is read."""
        entry = self._files[column + ".npy"]
        path = self.path / entry["name"]
        try:
            # An empty file cannot be mapped; a header may speak of anything.
            with np.errstate(over="ignore"):
                array = np.load(path, mmap_mode="r" if self._count else None, allow_pickle=False)
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {reason(error)}") from None
        except (ValueError, OverflowError, MemoryError) as error:
            raise RunError(f"{path}: is damaged: {error}") from None
        if str(array.dtype) != entry["dtype"] or list(array.shape) != entry["shape"]:
            raise RunError(f"{path}: type or shape are not those of the manifest")
        return array

    def _load(self, column: str) -> np.ndarray:
        array = self._open(column)
        if column == "sensory":
            return array
        self._check_checksum(self._files[column + ".npy"])
        return np.array(array)

    def _check_checksum(self, entry: dict[str, Any]) -> None:
        if xxhash is None:
            return
        digest = xxhash.xxh3_64()
        try:
            with open(self.path / entry["name"], "rb") as file:
                while block := file.read(1 << 22):
                    digest.update(block)
        except OSError as error:
            raise RunError(
                f"{self.path / entry['name']}: cannot be read: {reason(error)}"
            ) from None
        if digest.hexdigest() != entry["xxh3"]:
            raise RunError(
                f"{self.path / entry['name']}: is damaged: its checksum is not the manifest's"
            )

    def check(self, sensory: bool = True) -> None:
        """Holds every column against the manifest, whether it was asked for or not: types, shapes,
        and checksums if the module xxhash is installed. Without `sensory`, the big one is not read.
        """
        for column in (name[: -len(".npy")] for name in self._files):
            self._open(column)
            if sensory or column != "sensory":
                self._check_checksum(self._files[column + ".npy"])


@dataclass(frozen=True)
class Axis:
    """One of the values of the ground truth."""

    name: str
    min: float
    max: float
    unit: str = ""  # none, or not told
    direction: str = "up"  # "down": larger values are drawn further down

    def __post_init__(self) -> None:
        if self.direction not in ("up", "down"):
            raise ValueError(f"axis '{self.name}' goes neither up nor down: '{self.direction}'")

    @property
    def label(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name


class Container(Columns):
    """The individuals of a run, a row each, in ascending order of their ids.

    Columns are read when they are first asked for: ids, genotypes (genes in [0, 1]), fitness,
    descriptors, reconstruction_error, ground_truth and, except in snapshots, sensory, which is
    memory-mapped: nothing is read until it is used. `solution`, `objective` and `measures` are
    other names of genotypes, fitness and descriptors. Columns that a run added are there by their
    names, and all of them in `extra`.
    """

    def __init__(self, path: PathLike):
        super().__init__(path, "container", "snapshot")

    def _read_manifest(self, manifest: dict[str, Any]) -> None:
        self.task: str = manifest["task"]
        self.title: str = manifest.get("title") or self.task
        #: The columns of the ground truth.
        self.space = [
            Axis(
                str(axis["name"]),
                float(axis["min"]),
                float(axis["max"]),
                str(axis.get("unit", "")),
                axis.get("direction", "up"),
            )
            for axis in manifest["ground_truth"]
        ]
        self.axes: list[str] = [axis.name for axis in self.space]
        #: Lower and upper bounds of the ground truth, a row per axis.
        self.bounds = np.array([[axis.min, axis.max] for axis in self.space], float)
        self._extra: list[str] = list(manifest.get("extra_columns", []))
        for name in self._extra:
            if f"{name}.npy" not in self._files:
                raise RunError(f"{self.path}: the manifest has no file for the column '{name}'")
            if self._files[f"{name}.npy"]["shape"] != [self._count]:
                raise RunError(f"{self.path / name}.npy: is not one value per individual")

    @cached_property
    def extra(self) -> dict[str, np.ndarray]:
        """The columns that the run added, by name."""
        return {name: self[name] for name in self._extra}

    def frame(self, aliases: bool = False) -> pd.DataFrame:
        """A row per individual: id, fitness, ground truth by name, descriptor_i, gene_i, extra
        columns by name (extra_NAME if the name is taken); with `aliases` descriptors and genes are
        measure_i and solution_i, and fitness is objective. RunError if it is the sample of a digest,
        which has no genes."""
        if "genotypes" not in self.columns:
            raise RunError(f"{self.path}: is of a digest, whose individuals have no genes")
        fitness, measure, gene = (
            ("objective", "measure", "solution") if aliases else ("fitness", "descriptor", "gene")
        )
        table = {"id": self["ids"], fitness: self["fitness"]}
        table.update(zip(self.axes, self["ground_truth"].T))
        table.update((f"{measure}_{i}", values) for i, values in enumerate(self["descriptors"].T))
        table.update((f"{gene}_{i}", values) for i, values in enumerate(self["genotypes"].T))
        for name, values in self.extra.items():
            table[f"extra_{name}" if name in table else name] = values
        return pd.DataFrame(table)


@dataclass(frozen=True)
class Run:
    """A run directory."""

    path: Path
    summary: dict[str, Any]  # run.json
    config: dict[str, Any]  # config.toml, a dictionary per section
    metrics: pd.DataFrame  # a row per logged iteration, a column per metric
    encoder: pd.DataFrame  # a row per encoder update; empty if there was none
    means: Any = field(default=None, repr=False, compare=False)  # what aurora.open_run was given

    @property
    def format(self) -> int:
        return self.summary.get("format", 1)

    @property
    def task(self) -> str:
        return self.summary["task"]

    @property
    def title(self) -> str:
        """Of the task; its name if it was given no title."""
        return self.summary.get("title") or self.task

    @property
    def variant(self) -> str:
        return self.summary["variant"]

    @property
    def label(self) -> str:
        """What the study calls it; empty if it has no name for it."""
        return self.summary.get("label", "")

    @property
    def seed(self) -> int:
        return self.summary["seed"]

    @property
    def finished(self) -> bool:
        return self.summary["status"] == "finished"

    @property
    def is_digest(self) -> bool:
        """Whether it is what `aurora digest` kept of a run."""
        return self.summary.get("digest") is True

    @property
    def has_container(self) -> bool:
        """Digests need not have one."""
        return not self.is_digest or _is_dir(self.path / "container")

    @property
    def measured(self) -> dict[str, float]:
        """The metrics as they stand in run.json, which were measured last. NaN is what JSON cannot
        say."""
        found = self.summary.get("metrics")
        if found is None:
            known = (name for name in METRICS_OF_FORMAT_1 if name in self.summary)
            found = {name: self.summary[name] for name in known}
        return {name: np.nan if value is None else float(value) for name, value in found.items()}

    @property
    def units(self) -> dict[str, str]:
        """Of the metrics that have one."""
        return dict(self.summary.get("units", {}) if self.format > 1 else UNITS_OF_FORMAT_1)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The configuration as 'section.key': value."""
        return _flat(self.config)

    @cached_property
    def container(self) -> Container:
        if not _is_dir(self.path / "container"):
            status = self.summary["status"]
            raise RunError(
                f"{self.path}: is a digest without its container"
                if self.is_digest
                else f"{self.path}: half-written: it has no container yet (status '{status}')"
            )
        return Container(self.path / "container")

    @cached_property
    def snapshots(self) -> dict[int, Container]:
        """The containers at earlier iterations, without sensory data."""
        return {
            int(path.name): Container(path) for path in sorted(self.path.glob("snapshots/[0-9]*"))
        }

    @cached_property
    def reconstructions(self) -> Optional[Columns]:
        """A few individuals as the encoder reconstructs them: `ids`, and `reconstructions` in the
        units of the sensory data (bytes as value / 255). None if the run has no encoder, or was
        made by a version that wrote none."""
        path = self.path / "reconstructions"
        return Columns(path, "reconstructions") if _is_dir(path) else None

    @cached_property
    def retrained(self) -> Optional[Columns]:
        """What `aurora retrain` wrote: `descriptors` and `reconstruction_error`, a row per
        individual of the container. None if there is nothing, or it is of an earlier container."""
        path = self.path / "retrained"
        if not _is_dir(path):
            return None
        found = Columns(path, "retrained")
        current = found.manifest.get("container_hash") == self.summary.get("container_hash")
        return found if current else None

    def nearest(
        self,
        goal: Optional[ArrayLike] = None,
        *,
        descriptor: Optional[ArrayLike] = None,
        count: int = 1,
    ) -> pd.DataFrame:
        """The individuals nearest to values of the first axes of the ground truth, in units of the
        axes' lengths, or to a place in the descriptor space: a row each, as `container.frame()` has
        them, and `distance`."""
        from .repertoire import nearest

        return nearest(self, goal, descriptor, count)

    def encode(self, observations: ArrayLike) -> np.ndarray:
        """Descriptors of observations, a row each, by the encoder of the run. Needs the extension
        module, and the encoder itself (aurora.open_run) if it is in Python."""
        from .repertoire import encode

        return encode(self, observations, False)[0]

    def surprise(self, observations: ArrayLike) -> np.ndarray:
        """How badly the encoder reconstructs each: large for what is unlike anything in the run."""
        from .repertoire import encode

        return encode(self, observations, True)[1]

    def replay(self, id: int) -> Replay:
        """Evaluates an individual again: what came of it, whether that is what is stored, and
        frames of the episode if the task draws. Needs the extension module, and task and function
        (aurora.open_run) if the robot is in Python."""
        from .repertoire import replay

        return replay(self, id)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """What was found, by the first two values of the ground truth, coloured by fitness: dots on
        `ax` or on axes of their own, which are returned."""
        from .repertoire import plot

        return plot(self, ax, **options)

    def __repr__(self) -> str:
        what = f"{self.task}, {self.variant}, seed {self.seed}, {self.summary['status']}"
        return f"<aurora.Run '{self.path}': {what}>"


def _flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found.update(_flat(value, f"{before}{key}."))
        elif before:  # what stands in no section is not ours
            found[before + key] = value
    return found


def load(path: PathLike) -> Run:
    """Reads a run directory; its container is opened, and checked, at the first use. RunError if
    the directory is missing, unfinished (nothing written yet), damaged or not ours."""
    path = Path(path)
    if not _is_dir(path):
        raise RunError(f"{path}: there is no such directory")
    if not _is_file(path / "run.json"):
        ours = _is_file(path / "config.toml")
        raise RunError(
            f"{path}: "
            + (
                "half-written: it has no run.json yet"
                if ours
                else "is no run directory: it has no run.json"
            )
        )
    summary = _read_json(path / "run.json")
    for key, kind in SUMMARY.items():
        if not isinstance(summary.get(key), kind):
            raise RunError(f"{path / 'run.json'}: is not ours: it has no '{key}', or a strange one")
    _check_told(path / "run.json", summary)
    return Run(
        path,
        summary,
        _read_config(path / "config.toml"),
        _read_table(path / "metrics.csv", ("iteration", "container_size"), METRICS),
        _read_encoder(path / "encoder.csv"),
    )


def _check_told(path: Path, summary: dict[str, Any]) -> None:
    """What a run need not tell, but if it does, then so."""
    for key, kind in TOLD.items():
        if key in summary and not isinstance(summary[key], kind):
            raise RunError(f"{path}: is not ours: it has a strange '{key}'")
    if summary.get("format", 1) > NEWEST_FORMAT:
        raise RunError(
            f"{path}: format {summary['format']} is not read; only those up to {NEWEST_FORMAT}"
        )
    for name, value in summary.get("metrics", {}).items():
        if not isinstance(value, (int, float, type(None))):
            raise RunError(f"{path}: is not ours: metric '{name}' is no number")
    for name, unit in summary.get("units", {}).items():
        if not isinstance(unit, str):
            raise RunError(f"{path}: is not ours: the unit of '{name}' is no word")


def _read_config(path: Path) -> dict[str, Any]:
    if tomllib is None:
        raise RunError(
            f"{path}: reading it needs Python 3.11 or the module tomli (Debian: python3-tomli)"
        )
    text = _read_text(path)
    # The parser's time grows with the square of the dots in a key; ours have two at the most.
    if any(line.split("=")[0].count(".") > DEEPEST for line in text.splitlines()):
        raise RunError(f"{path}: is not ours: a key is nested more than {DEEPEST} deep")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RunError(f"{path}: is damaged: {error}") from None


def _read_table(path: Path, needed: Iterable[str], known: Iterable[str]) -> pd.DataFrame:
    """Columns of any number and order, of which some are needed, and the known ones are numbers."""
    if not _is_file(path):
        raise RunError(f"{path.parent}: half-written: it has no {path.name} yet")
    try:
        table = pd.read_csv(path)
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {reason(error)}") from None
    except ValueError as error:  # pandas' parser errors are ValueErrors
        raise RunError(f"{path}: is damaged: {error}") from None
    missing = [column for column in needed if column not in table]
    if missing:
        raise RunError(f"{path}: is damaged or not ours: it has no column '{missing[0]}'")
    if table.empty:
        raise RunError(f"{path.parent}: half-written: {path.name} has no row yet")
    strange = [
        column
        for column in known
        if column in table and not pd.api.types.is_numeric_dtype(table[column])
    ]
    if strange:
        raise RunError(f"{path}: is damaged: not all of column '{strange[0]}' are numbers")
    return table


def _read_encoder(path: Path) -> pd.DataFrame:
    needed = ("iteration", "train_loss", "validation_loss")
    if not _is_file(path):
        return pd.DataFrame(columns=list(needed))
    return _read_table(path, needed, ENCODER)


@dataclass(frozen=True)
class Loaded:
    """Many runs, as tidy data frames: a row per run, logged iteration or encoder update, each with
    the columns path, task, variant and seed in front. A metric of such a name is metrics.NAME."""

    runs: list[Run]
    problems: list[str] = field(default_factory=list)  # a line for everything that was left out

    def _tidy(self, name: str) -> pd.DataFrame:
        parts = []
        for run in self.runs:
            front = ("seed", "variant", "task", "path")
            table = getattr(run, name).rename(columns={word: f"{name}.{word}" for word in front})
            for column in front:
                table.insert(0, column, str(run.path) if column == "path" else run.summary[column])
            parts.append(table)
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    @cached_property
    def summary(self) -> pd.DataFrame:
        rows = []
        for run in self.runs:
            row: dict[str, Any] = {"path": str(run.path)}
            for key, value in {**run.summary, **run.settings}.items():
                if key in NO_COLUMNS:
                    continue
                if isinstance(value, dict):
                    row.update({f"{key}.{part}": number for part, number in value.items()})
                else:
                    row[key] = value
            if "metrics" in run.summary:  # under the names that they have in runs of format 1
                for metric, number in run.measured.items():
                    row[f"metrics.{metric}" if metric in row else metric] = number
            rows.append(row)
        return pd.DataFrame(rows)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        return self._tidy("metrics")

    @cached_property
    def encoder(self) -> pd.DataFrame:
        return self._tidy("encoder")


def find_runs(path: Path, problems: Optional[list[str]] = None) -> list[Path]:
    """The run directories at or below `path`, in order of their names. A directory that cannot be
    read is a line in `problems`, or a RunError if there is no such list."""
    try:
        if _is_file(path / "run.json") or _is_file(path / "config.toml"):
            return [path]
        try:
            children = [child for child in sorted(path.iterdir()) if child.is_dir()]
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {reason(error)}") from None
    except RunError as error:
        if problems is None:
            raise
        problems.append(str(error))
        return []
    below = (child for child in children if not child.name.startswith("."))
    return [run for child in below for run in find_runs(child, problems)]


def load_many(directories: Iterable[PathLike]) -> Loaded:
    """Reads runs, and directories with runs somewhere below. What cannot be read is left out, with
    a line in `problems`."""
    runs: list[Run] = []
    problems: list[str] = []
    seen: set[Path] = set()
    for directory in map(Path, directories):
        before = len(problems)
        try:
            if not _is_dir(directory):
                problems.append(f"{directory}: there is no such directory")
                continue
        except RunError as error:
            problems.append(str(error))
            continue
        found = find_runs(directory, problems)
        if not found and len(problems) == before:
            problems.append(f"{directory}: is no run directory, and holds none")
        for path in found:
            if path.resolve() in seen:
                continue
            seen.add(path.resolve())
            run = _try(path, problems)
            if run is not None:
                runs.append(run)
    return Loaded(runs, problems)


def _try(path: Path, problems: list[str]) -> Optional[Run]:
    try:
        run = load(path)
        container = run.container if run.has_container else None
        for columns in (container, run.reconstructions, run.retrained):
            if columns is not None:
                columns.check(sensory=False)
        return run
    except RunError as error:
        problems.append(str(error))
        return None
