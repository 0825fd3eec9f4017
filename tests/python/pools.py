"""A run of a small robot by an executor: pools.py mpi|dask|ray|none OUT ITERATIONS MARKER. While there
is a file MARKER, a worker that sees it removes it and dies in the middle of its work."""
from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager
from typing import Any, Iterator

import numpy as np

import aurora_qd as aurora

task = aurora.Task(
    name="fountain",
    genes=2,
    sensory=(16, 2),
    ground_truth={"x": (-3, 3), "y": (-2, 3)},
    worst_fitness=-36,
)
HOW: dict[str, Any] = {
    "variant": "aurora-csc-uniform-2",
    "seed": 5,
    "progress": False,
    "config": {"run.batch": 32, "run.checkpoint_seconds": 0.05},
}


class One:
    """The robot, for one genotype."""

    def __init__(self, marker: str):
        self.marker = marker

    def __call__(self, genotype: np.ndarray) -> Any:
        time.sleep(0.002)
        try:
            os.remove(self.marker)
        except FileNotFoundError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
        angle, speed = np.pi * float(genotype[0]), 6 * float(genotype[1])
        t = np.linspace(0, 0.5, 16)
        path = np.stack([speed * np.cos(angle) * t, 1 + speed * np.sin(angle) * t - 4.9 * t * t], 1)
        return -speed * speed, path, path[-1]


@contextmanager
def executor(kind: str) -> Iterator[Any]:
    if kind == "none":
        yield None
    elif kind == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as pool:
            yield pool
    elif kind == "dask":
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                yield client.get_executor()
    elif kind == "ray":
        import ray
        from ray.util.multiprocessing import Pool

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield Pool(2)
        ray.shutdown()


if __name__ == "__main__":
    import pools  # by its name, as workers know it

    kind, out, iterations, marker = sys.argv[1:]
    with pools.executor(kind) as pool:
        run = aurora.run(
            task,
            pools.One(marker),
            int(iterations),
            out,
            executor=pool,
            per_solution=True,
            **HOW,
        )
        print(run.summary["container_hash"], run.summary["invalid"])
