#!/usr/bin/env python3
"""A robot that is a program of its own, in Python without a single library:

    aurora run --task-command "python3 examples/robot.py" --iterations 200

The thrower of own_task/main.cpp: it throws a ball in a room with a bouncy floor and two walls, and
senses where the ball is, 32 times during two seconds.
"""

import json
import math
import sys

SAMPLES, STEPS, SECONDS = 32, 20, 2.0
ROOM, BOUNCE = 4.0, 0.7

print(
    json.dumps(
        {
            "task": "thrower",
            "genes": 3,
            "sensory": [SAMPLES, 2],
            "ground_truth": {"x": [0, ROOM, "m"], "y": [0, 3, "m"]},
            "worst_fitness": -36,
            "defaults": [
                "run.iterations=500",
                "container.target_size=1000",
                "variation.rate=0.3",
            ],
        }
    ),
    flush=True,
)


def throw(angle: float, speed: float, release: float) -> list[tuple[float, float]]:
    x, y = ROOM / 2, 1.0
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    dt = SECONDS / (SAMPLES * STEPS)
    path = []
    for sample in range(SAMPLES):
        for _ in range(STEPS if sample >= int(release) else 0):
            vy -= 9.81 * dt
            x += vx * dt
            y += vy * dt
            if y < 0:
                y, vy = -y, -BOUNCE * vy
            if x < 0 or x > ROOM:
                x, vx = min(max(x, 0.0), ROOM), -BOUNCE * vx
        path.append((x, y))
    return path


for line in sys.stdin:
    genes = [float(word) for word in line.split()]
    speed = 6 * genes[1]
    path = throw(math.pi * genes[0], speed, genes[2] * SAMPLES / 2)
    print(
        json.dumps({"fitness": -speed * speed, "ground_truth": path[-1], "sensory": path}),
        flush=True,
    )
