#!/usr/bin/env python3
"""Processor time of what `aurora explore` does when it is asked, for one program or several in turns.

    build/browser-venv/bin/python bench/explore_cost.py PROGRAM [PROGRAM...]

The container has 100,000 individuals with ten latent numbers each (made as in the browser test) and is
asked for by a client of a program that has read nothing yet; clicks are at points of a short Maze run.
Prints medians in milliseconds, and how many times less the last program takes than the first.
"""

import os
import pathlib
import statistics
import sys
import tempfile
import urllib.request

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "browser"))
import explore_test as page  # noqa: E402

ROUNDS = 3
FILMS = 3
CLICKS = {"a click on a point": ["film?kind=apng&id=", "picture?id=", "sensory?id=", "individual?id="], "its film as GIF": ["film?kind=gif&id="]}


def milliseconds(process: int) -> float:
    """Of a process and its children, so far."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if stat.parent.name == str(process) or fields[1] == str(process):
            ticks += int(fields[11]) + int(fields[12])
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def asked(server: page.Explore, path: str) -> float:
    before = milliseconds(server.process.pid)
    urllib.request.urlopen(server.address + path).read()
    return milliseconds(server.process.pid) - before


def measure(program: str, run: pathlib.Path, many: pathlib.Path, ids: list[int]) -> dict[str, float]:
    with page.Explore(program, many) as server:
        asked(server, "api/runs/0")
        container = asked(server, "api/runs/0/container")
    found = {"the container": container}
    with page.Explore(program, run) as server:
        for name, parts in CLICKS.items():
            times = [sum(asked(server, f"api/runs/0/{part}{one}") for part in parts) for one in ids]
            found[name] = statistics.mean(times[1:])  # the first one starts the process that draws
    return found


def main() -> None:
    programs = [str(pathlib.Path(program).resolve()) for program in sys.argv[1:]]
    if not programs:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = page.settings(folder, "short.toml", "[run]\niterations = 30\nbatch = 32\nsnapshot_every = 30\n")
        run, many = folder / "run", folder / "many"
        page.run_search(programs[0], run, "aurora-csc-uniform-10", config)
        page.many_individuals(run, many)
        ids = [int(one) for one in np.load(run / "container" / "ids.npy")[: FILMS + 1]]
        rounds = [[measure(program, run, many, ids) for program in programs] for _ in range(ROUNDS)]
    print("| asked for | " + " | ".join(f"program {i + 1}" for i in range(len(programs))) + " | ratio |")
    print("|---|" + "---|" * (len(programs) + 1))
    for what in rounds[0][0]:
        times = [statistics.median(one[i][what] for one in rounds) for i in range(len(programs))]
        ratio = f"{times[0] / max(times[-1], 1):.1f}"
        print(f"| {what} | " + " | ".join(f"{time:.0f} ms" for time in times) + f" | {ratio} |")


if __name__ == "__main__":
    main()
