"""The robot of examples/own_task in Python: it throws a ball in a room with a bouncy floor and two
walls. Three genes: angle, speed and moment of release. It senses where the ball is, 32 times during
two seconds. The same arithmetic in the same order as in C++, a row a robot, so the same bits:

    python3 examples/thrower.py runs/thrower
"""
from __future__ import annotations

import math
import sys

import numpy as np

import aurora_qd as aurora

SAMPLES, STEPS, SECONDS = 32, 20, 2.0
ROOM, BOUNCE = 4.0, 0.7

task = aurora.Task(
    name="thrower",
    genes=3,
    sensory=(SAMPLES, 2),
    ground_truth={"x": (0, ROOM, "m"), "y": (0, 3, "m")},
    worst_fitness=-36,  # no throw is faster than 6 m/s
    defaults={
        "run.iterations": 500,
        "container.target_size": 1000,
        "variation.rate": 0.3,
    },
)


def throw(genes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fitness, sensory data and ground truth of a batch. Everything is elementwise, so that a row
    gives the same bits in any batch; cosines are those of the C library, as in C++."""
    angle = math.pi * genes[:, 0].astype(float)
    speed = 6.0 * genes[:, 1].astype(float)
    released = (genes[:, 2] * np.float32(SAMPLES) / np.float32(2)).astype(int)
    x = np.full(len(genes), ROOM / 2)
    y = np.full(len(genes), 1.0)
    vx = speed * np.array([math.cos(a) for a in angle])
    vy = speed * np.array([math.sin(a) for a in angle])
    dt = SECONDS / (SAMPLES * STEPS)
    sensory = np.empty((len(genes), SAMPLES, 2), np.float32)
    for sample in range(SAMPLES):
        flying = sample >= released
        for _ in range(STEPS):
            fall = vy - 9.81 * dt
            ahead, above = x + vx * dt, y + fall * dt
            floor = above < 0
            wall = (ahead < 0) | (ahead > ROOM)
            x = np.where(flying, np.where(wall, np.clip(ahead, 0.0, ROOM), ahead), x)
            y = np.where(flying, np.where(floor, -above, above), y)
            vx = np.where(flying & wall, -BOUNCE * vx, vx)
            vy = np.where(flying, np.where(floor, -BOUNCE * fall, fall), vy)
        sensory[:, sample, 0], sensory[:, sample, 1] = x, y
    fitness = (-speed * speed).astype(np.float32)  # gentle throws are better
    return fitness, sensory, sensory[:, -1]


if __name__ == "__main__":
    run = aurora.run(
        task, throw, iterations=100, out=sys.argv[1], variant="aurora-csc-uniform-2", seed=1
    )
    print(run.summary["container_hash"], len(run.container), "behaviours")
