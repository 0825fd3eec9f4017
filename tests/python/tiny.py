"""Runs of a second, made by the program, also as other versions, tasks and users would write them.
"""
from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np
import pandas as pd

from aurora_qd.__main__ import main
from aurora_qd.runs import METRICS_OF_FORMAT_1, xxhash

PROGRAM = os.environ["AURORA_PROGRAM"]
SMALL = ("run.batch=8", "container.target_size=30", "run.log_every=4", "run.threads=1")


def aurora(*words: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, **options)


def report(*words: object) -> subprocess.CompletedProcess:
    """As `aurora report`, by the package on the path, whatever the program has beside it; in this
    process, which has loaded all that it needs. Warnings are what they are in a new one."""
    command = ["report", *map(str, words)]
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()) as out, redirect_stderr(
        io.StringIO()
    ) as err:
        warnings.simplefilter("default")
        hidden = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
        for kind in hidden:
            warnings.simplefilter("ignore", kind)
        status = main(command)
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


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


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """With the checksum that it needs."""
    text = json.dumps({k: v for k, v in manifest.items() if k != "checksum"}, indent=2) + "\n"
    digest = xxhash.xxh3_64_hexdigest(text.encode()) if xxhash else "0" * 16
    (folder / "manifest.json").write_text(
        text[: -len("\n}\n")] + f',\n  "checksum": "{digest}"\n}}\n'
    )


def change_manifests(run: Path, change: Callable[[Path, dict[str, Any]], None]) -> None:
    """Those of the container and of the snapshots."""
    for folder in (run / "container", *run.glob("snapshots/*")):
        manifest = json.loads((folder / "manifest.json").read_text())
        change(folder, manifest)
        write_manifest(folder, manifest)


def add_column(folder: Path, manifest: dict[str, Any], name: str, values: np.ndarray) -> None:
    np.save(folder / f"{name}.npy", values)
    data = (folder / f"{name}.npy").read_bytes()
    manifest["files"].append(
        {
            "name": f"{name}.npy",
            "dtype": str(values.dtype),
            "shape": list(values.shape),
            "bytes": len(data),
            "xxh3": xxhash.xxh3_64_hexdigest(data) if xxhash else "0" * 16,
        }
    )
    manifest["extra_columns"] = [*manifest.get("extra_columns", []), name]


def change_table(path: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    change(pd.read_csv(path)).to_csv(path, index=False, na_rep="nan")


def as_format_1(run: Path) -> Path:
    """What version 0.1.0 wrote, whatever version the program is of."""
    summary = json.loads((run / "run.json").read_text())
    metrics = summary.pop("metrics", {})
    for key in ("format", "title", "units"):
        summary.pop(key, None)
    summary.update((name, metrics[name]) for name in METRICS_OF_FORMAT_1 if name in metrics)
    (run / "run.json").write_text(json.dumps(summary, indent=2) + "\n")

    def forget(_: Path, manifest: dict[str, Any]) -> None:
        manifest.pop("title", None)
        for axis in manifest["ground_truth"]:
            axis.pop("unit", None)
            axis.pop("direction", None)

    change_manifests(run, forget)
    return run


def as_format_2(
    run: Path,
    task: Optional[str] = None,
    title: Optional[str] = None,
    variant: Optional[str] = None,
    metrics: Mapping[str, float] = {},
    units: Mapping[str, str] = {},
    without: Sequence[str] = (),
    encoder: Mapping[str, float] = {},
    axes: Sequence[tuple[str, str]] = (),
    extra: Sequence[str] = (),
) -> Path:
    """What a later version writes of a task, a variant and an encoder of somebody else's: `metrics`
    and values of the `encoder` grow with the iterations, metrics `without` are not there, `axes`
    have these units and directions, and individuals `extra` columns: 0, 1, 2, ..."""
    summary = json.loads((run / "run.json").read_text())
    measured = summary.pop("metrics", {})
    for name in METRICS_OF_FORMAT_1:
        if name in summary:
            measured[name] = summary.pop(name)
    measured = {name: value for name, value in measured.items() if name not in without}
    summary.update(format=2, metrics={**measured, **metrics})
    summary["units"] = {**summary.get("units", {"coverage": "%"}), **units}
    names = {"task": task, "title": title, "variant": variant}
    summary.update({key: name for key, name in names.items() if name})
    (run / "run.json").write_text(json.dumps(summary, indent=2) + "\n")

    def grow(values: Mapping[str, float]) -> Callable[[pd.DataFrame], pd.DataFrame]:
        def change(table: pd.DataFrame) -> pd.DataFrame:
            share = table["iteration"] / table["iteration"].iloc[-1]
            return table.drop(columns=list(without), errors="ignore").assign(
                **{name: value * share for name, value in values.items()}
            )

        return change

    change_table(run / "metrics.csv", grow(metrics))
    if (run / "encoder.csv").is_file():
        change_table(run / "encoder.csv", grow(encoder))

    def tell(folder: Path, manifest: dict[str, Any]) -> None:
        manifest.update({key: names[key] for key in ("task", "title") if names[key]})
        for axis, (unit, direction) in zip(manifest["ground_truth"], axes):
            axis.update(unit=unit, direction=direction)
        for name in extra:
            add_column(folder, manifest, name, np.arange(manifest["count"], dtype=np.float32))

    change_manifests(run, tell)
    return run


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
