"""Runs made up so that what is to be found out about them is known."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import numpy as np
import pandas as pd

from aurora_qd.runs import Run

LEARNED = ("aurora", "taxons")


def run(
    task: str,
    variant: str,
    seed: int,
    status: str = "finished",
    iterations: int = 1000,
    version: str = "1",
    t_c: int = 10,
    t_e: int = 10,
    dimension: Optional[int] = None,
    title: Optional[str] = None,
    **final: float,
) -> Run:
    """A run whose metrics grow in a line to what is given. Descriptors are learned if there is a
    dimension, here or in the name of a variant of ours; 0 makes them hand-coded."""
    config: dict[str, dict[str, Any]] = {
        "run": {"iterations": iterations, "seed": seed, "threads": seed},
        "encoder": {"update_step": t_e},
        "container": {"update_period": t_c, "target_size": 100, "kind": "unstructured"},
        "descriptor": {"kind": "hand-coded", "dimension": 2},
    }
    if dimension is None and variant.startswith(LEARNED):
        dimension = int(variant.rsplit("-", 1)[1])
    if dimension:
        config["descriptor"] = {"kind": "learned", "dimension": dimension}
    rows = np.arange(100, iterations + 1, 100)
    end = {
        "coverage": 50.0,
        "grid_mean_fitness": -1.0,
        "container_size": 100.0,
        "threshold": 1.0,
        "loss_per_update": 1.0,
        **final,
    }
    metrics = pd.DataFrame(
        {"iteration": rows, **{name: value * rows / iterations for name, value in end.items()}}
    )
    summary = {
        "version": version,
        "task": task,
        "variant": variant,
        "seed": seed,
        "status": status,
        "iterations": iterations,
        **({"format": 2, "title": title, "units": {"energy": "J"}} if title else {}),
    }
    return Run(
        Path(f"{task}-{variant}-{seed}-{t_c}-{iterations}"),
        summary,
        config,
        metrics,
        pd.DataFrame(),
    )


def runs(count: int, task: str, variant: str, **final: Any) -> list[Run]:
    """Replications that differ a little."""
    made = []
    for seed in range(1, count + 1):
        jitter = {
            name: value * (1 + seed / 1000) if isinstance(value, float) else value
            for name, value in final.items()
        }
        made.append(run(task, variant, seed, **jitter))
    return made
