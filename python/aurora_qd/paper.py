"""The paper's experiments. Only this, its claims and its figures know tasks by name."""
from __future__ import annotations

MAZE, HEXAPOD, AIR_HOCKEY = TASKS = ("maze", "hexapod", "air-hockey")
ITERATIONS = {MAZE: 10_000, HEXAPOD: 15_000, AIR_HOCKEY: 1_000}
