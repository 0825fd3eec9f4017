#!/usr/bin/env python3
"""What ask and tell from Python cost beside the loop of the library, and what pyribs takes for the
same, if it is installed.

    PYTHONPATH=build/python build/extras-venv/bin/python bench/ask_tell.py
    AURORA_INSTRUCTIONS=avx2 PYTHONPATH=build/python build/extras-venv/bin/python bench/ask_tell.py

(build/extras-venv is made by scripts/python-extras; build/python-venv has no pyribs.)

The overhead is the time that the two calls take as Python sees them, less what the library itself
spends on selection, variation, descriptors and the container in those same calls. Copies of arrays
are part of it.
"""
from __future__ import annotations

import time
from typing import Any, Callable

import numpy as np

import aurora_qd as aurora
from aurora_qd import _core

ITERATIONS, BATCH = 2000, 128
SPHERE_ITERATIONS, REPEATS = 300, 7


def overhead(name: str, task: aurora.Task, **settings: Any) -> None:
    """Per iteration, with evaluations that are there already."""
    rng = np.random.default_rng(1)
    scheduler = aurora.Scheduler(task, seed=1, threads=1, run_batch=BATCH, **settings)
    pool = []
    for _ in range(16):
        if task.dtype == np.uint8:
            sensory = rng.integers(0, 256, (BATCH, *task.sensory), np.uint8)
        else:
            sensory = rng.random((BATCH, *task.sensory), np.float32)
        truth = rng.random((BATCH, len(task.axes)), np.float32)
        pool.append((rng.random(BATCH, np.float32), sensory, truth))
    spent = np.empty(ITERATIONS)
    for i in range(ITERATIONS):
        fitness, sensory, truth = pool[i % len(pool)]
        before = sum(scheduler.seconds.values())
        start = time.perf_counter()
        n = len(scheduler.ask())
        scheduler.tell(fitness[:n], sensory[:n], truth[:n])
        wall = time.perf_counter() - start
        spent[i] = wall - (sum(scheduler.seconds.values()) - before)
    loop = sum(scheduler.seconds.values()) / ITERATIONS
    bytes_copied = BATCH * (4 * task.genes + sensory[0].nbytes + 4 * (1 + len(task.axes)))
    print(
        f"{name:<40} {1e6 * np.median(spent):8.1f} us overhead (median; mean "
        f"{1e6 * spent.mean():.1f}), {1e6 * loop:8.1f} us in the library, "
        f"{bytes_copied / 1024:.0f} KiB copied"
    )


def sphere(x: np.ndarray) -> np.ndarray:
    return -((x - 0.3) ** 2).sum(axis=1)


def timed(make: Callable[[], tuple[Callable[[], None], Any]]) -> tuple[float, int]:
    """Processor time of an iteration of a new search, and how many its archive holds then."""
    step, archive = make()
    start = time.process_time()
    for _ in range(SPHERE_ITERATIONS):
        step()
    return (time.process_time() - start) / SPHERE_ITERATIONS, len(archive)


def our_search() -> tuple[Callable[[], None], Any]:
    """The 20-D sphere with its first two values as descriptors, into an archive without cells; the
    thresholds are such that both come to about as many individuals."""
    task = aurora.Task(20, (2,), {"x": (0, 1), "y": (0, 1)}, worst_fitness=-20)
    scheduler = aurora.Scheduler(
        task, "hc-csc-uniform", 1, threads=1, run_batch=BATCH, container_target_size=5000
    )

    def step() -> None:
        x = scheduler.ask()
        scheduler.tell(sphere(x), x[:, :2])

    return step, scheduler.archive


def their_search() -> tuple[Callable[[], None], Any]:
    from ribs.archives import ProximityArchive
    from ribs.emitters import GaussianEmitter
    from ribs.schedulers import Scheduler

    archive = ProximityArchive(
        solution_dim=20,
        measure_dim=2,
        k_neighbors=15,
        novelty_threshold=0.025,
        local_competition=True,
    )
    emitter = GaussianEmitter(
        archive, sigma=0.1, x0=np.full(20, 0.5), batch_size=BATCH, bounds=[(0, 1)] * 20
    )
    scheduler = Scheduler(archive, [emitter])

    def step() -> None:
        x = scheduler.ask()
        scheduler.tell(sphere(x), x[:, :2])

    return step, archive


def side_by_side() -> None:
    """One after the other, again and again; the first of each, which compiles and loads, does not
    count."""
    try:
        timed(their_search)
    except ModuleNotFoundError:
        micros, individuals = timed(our_search)
        print(
            f"sphere, 20-D: {1e6 * micros:.0f} us an iteration of {BATCH}; no pyribs is installed"
        )
        return
    timed(our_search)
    ratios = []
    for _ in range(REPEATS):
        ours, our_size = timed(our_search)
        theirs, their_size = timed(their_search)
        ratios.append(theirs / ours)
        print(
            f"sphere, 20-D, iterations of {BATCH}: aurora-qd {1e6 * ours:6.1f} us ({our_size} "
            f"individuals), pyribs {1e6 * theirs:7.1f} us ({their_size}): {ratios[-1]:.1f} times"
        )
    print(f"median of {REPEATS}: {np.median(ratios):.1f} times")


if __name__ == "__main__":
    print(f"instructions: {_core.instruction_kind()}")
    small = {"x": (0, 1), "y": (0, 1)}
    overhead(
        "hand-coded, 3 genes, senses 32 x 2",
        aurora.Task(3, (32, 2), small),
        variant="hc-csc-uniform",
        container_target_size=1000,
    )
    overhead(
        "hand-coded, 42 genes, 64 x 64 x 3 bytes",
        aurora.Task(42, (64, 64, 3), small, dtype=np.uint8),
        variant="hc-csc-uniform",
        container_target_size=1000,
    )
    side_by_side()
