"""Digests: what a report needs of a run in some twenty kilobytes, to be kept where runs are not.

A digest is a run directory with less in it: config.toml, run.json without host and checksums,
metrics.csv with fewer rows, encoder.csv and, for one run of each configuration, a sample of the
container without genes and sensory data. Runs with a learned space of two dimensions all have one,
and what a new encoder made of it: the report looks at how such spaces are laid out.
"""
from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Iterable

import numpy as np
import pandas as pd

from .runs import Columns, Container, PathLike, Run, RunError, load_many, xxhash
from .study import Study

ROWS = 200  # of metrics.csv, at most
SAMPLE = 2000  # individuals of a container, at most
# Of run.json; nothing of the machine but how long it took.
KEPT = (
    "format",
    "version",
    "task",
    "title",
    "variant",
    "label",
    "seed",
    "status",
    "error",
    "started",
    "ended",
    "iterations",
    "evaluations",
    "simulations",
    "invalid",
    "container_size",
    "outside",
    "container_hash",
    "metrics",
    "units",
    "loss_per_update",
    "threads",
    "remarks",
    "seconds",
)
# What metrics.csv counts since the row before.
SINCE = ("added", "replaced", "rejected", "invalid", "lost")
COLUMNS = ("ids", "fitness", "descriptors", "ground_truth")


def step_of(last: int, rows: int) -> int:
    """Iterations between two rows: 1, 2, 5, 10, 20, 50, ... so that there are no more than that, and
    runs of a length have the same."""
    steps = (first * 10**zeros for zeros in count() for first in (1, 2, 5))
    return next(step for step in steps if last <= rows * step)


def thinned(metrics: pd.DataFrame, rows: int = ROWS) -> pd.DataFrame:
    """The rows at multiples of a round number of iterations, and the last; counts since the row
    before are summed over those left out."""
    if not len(metrics):
        return metrics
    step = step_of(int(metrics["iteration"].iloc[-1]), rows)
    keep = (metrics["iteration"] % step == 0).to_numpy()
    keep[-1] = True
    group = np.concatenate([[0], np.cumsum(keep)[:-1]])
    found = metrics[keep].copy()
    for column in filter(metrics.columns.__contains__, SINCE):
        found[column] = metrics[column].groupby(group).sum().to_numpy()
    return found


def write_digest(directories: Iterable[PathLike], out: PathLike) -> tuple[list[Path], list[str]]:
    """Digests of the runs below the directories, each in the place below `out` that the run has
    below its directory: what was written, and notes on what was not. A digest that is there already
    is replaced; anything else is left alone (RunError). What is below `out` is no run to digest,
    nor is one that is not finished."""
    if xxhash is None:
        raise RunError("a digest has checksums: install the Python module xxhash")
    found: dict[Path, tuple[Run, bool]] = {}
    notes = []
    for directory in map(Path, directories):
        loaded = load_many([directory])
        own = Path(out).resolve()
        there = [run for run in loaded.runs if own not in run.path.resolve().parents]
        runs = [run for run in there if run.finished]
        notes += [
            f"{run.path}: left out, as no study could go on from a digest of it: it is "
            f"{run.summary['status']} at iteration {run.summary['iterations']}"
            for run in there
            if not run.finished
        ]
        study = Study(replace(loaded, runs=runs))
        notes += study.notes
        for arm in study.arms:
            example = arm.example()
            for run in arm.runs:
                below = run.path.relative_to(directory)
                place = Path(out) / (below if below.parts else run.path.resolve().name)
                if place in found:
                    raise RunError(
                        f"{found[place][0].path} and {run.path} would both be {place}; nothing was "
                        "written: give the folder above them, or one --out each"
                    )
                found[place] = run, run is example or arm.dimension == 2
    for place, (run, with_container) in found.items():
        _write(run, place, with_container)
    return list(found), notes


def _write(run: Run, place: Path, with_container: bool) -> None:
    if place.exists() and not _is_digest(place):
        raise RunError(f"{place}: is there, and is no digest; nothing was written to it")
    fresh = place.with_name(f".{place.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    if run.is_digest:  # of a study that goes on where the runs are gone
        shutil.copytree(run.path, fresh)
    else:
        fresh.mkdir(parents=True)
        _digest(run, fresh, with_container)
    if place.exists():
        shutil.rmtree(place)
    fresh.rename(place)


def _digest(run: Run, fresh: Path, with_container: bool) -> None:
    shutil.copyfile(run.path / "config.toml", fresh / "config.toml")
    summary = {key: run.summary[key] for key in KEPT if key in run.summary}
    evaluator = str(run.summary.get("evaluator", "threads")).partition(":")[0]
    nowhere = {"host": "", "evaluator": evaluator}
    _write_json(fresh / "run.json", {**summary, **nowhere, "digest": True})
    _write_table(thinned(run.metrics), fresh / "metrics.csv")
    if len(run.encoder):
        _write_table(run.encoder, fresh / "encoder.csv")
    if with_container and run.has_container:
        rows = np.sort(np.random.default_rng(1).permutation(len(run.container))[:SAMPLE])
        _write_container(run.container, rows, fresh / "container")
        if run.retrained is not None:
            told = {"kind": "retrained", "container_hash": run.summary["container_hash"]}
            _write_columns(run.retrained, ("descriptors",), rows, fresh / "retrained", told)


def _is_digest(place: Path) -> bool:
    try:
        return json.loads((place / "run.json").read_text()).get("digest") is True
    except (OSError, ValueError, AttributeError):
        return False


def _write_table(table: pd.DataFrame, path: Path) -> None:
    table.to_csv(path, index=False, float_format="%.9g", na_rep="nan")


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """With its checksum."""
    body = json.dumps(content, indent=2)[: -len("\n}")]
    checksum = xxhash.xxh3_64_hexdigest(f"{body}\n}}\n".encode())
    path.write_text(f'{body},\n  "checksum": "{checksum}"\n}}\n')


def _write_container(container: Container, rows: np.ndarray, folder: Path) -> None:
    told = {key: container.manifest[key] for key in ("task", "ground_truth")}
    told |= {"kind": "snapshot", "title": container.title, "extra_columns": []}
    _write_columns(container, COLUMNS, rows, folder, told)


def _write_columns(
    columns: Columns, names: Iterable[str], rows: np.ndarray, folder: Path, told: dict[str, Any]
) -> None:
    """Some rows of some columns."""
    folder.mkdir()
    files = []
    for name in names:
        array = columns[name][rows]
        path = folder / f"{name}.npy"
        np.save(path, array)
        content = path.read_bytes()
        files.append(
            {
                "name": path.name,
                "dtype": str(array.dtype),
                "shape": list(array.shape),
                "bytes": len(content),
                "xxh3": xxhash.xxh3_64_hexdigest(content),
            }
        )
    known = {"format_version": columns.manifest["format_version"], **told}
    size = {"count": len(rows), "sample_of": len(columns)}
    _write_json(folder / "manifest.json", {**known, **size, "files": files})
