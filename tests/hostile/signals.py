"""Signals other than SIGKILL."""
from __future__ import annotations

import signal
import time
from pathlib import Path

from lab import LEARNED, Lab, attack, require, require_same
from wild_tasks import reached


@attack(
    "SIGINT, SIGTERM, SIGHUP",
    "finish the iteration, save, exit with 130, 143, 129; resumed",
    quick=True,
)
def asked_to_stop(lab: Lab) -> str:
    wanted = lab.finish("slow", lab.folder / "whole", variant=LEARNED)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        out, number = lab.folder / name, getattr(signal, name)
        child = lab.start(*lab.words("slow", out, variant=LEARNED), program=lab.tasks)
        lab.until(lambda: reached(out) >= 10, "a checkpoint")
        child.send_signal(number)
        ended = lab.wait(child, 10)
        require(ended.status == 128 + number, f"{name}: {ended}")
        require((out / "container" / "manifest.json").exists(), f"{name}: no container")
        checked = lab.verify(out)
        require(checked.status == 0, f"{name}: verify says {checked.out}")
        require_same(lab.finish("slow", out, variant=LEARNED), wanted, name)
    return "saved, whole, and resumed to the same hash"


@attack("SIGTERM before the first row", "saves a run that verify calls whole", quick=True)
def before_the_first_row(lab: Lab) -> str:
    out = lab.folder / "run"
    child = lab.start(*lab.words("slow", out, "run.log_every=1000"), program=lab.tasks)
    lab.until(lambda: (out / "checkpoint").exists(), "a checkpoint")
    child.send_signal(signal.SIGTERM)
    ended = lab.wait(child, 10)
    require(ended.status == 128 + signal.SIGTERM, f"{ended}")
    bad = [line for line in lab.verify(out).out.splitlines() if line.startswith("BAD")]
    require(not bad, f"verify says {bad}")
    return "whole"


def handles(process: int, number: int) -> bool:
    """Whether it has a handler of its own for a signal."""
    status = Path(f"/proc/{process}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


@attack("SIGTERM while CVT centroids are made", "ends within a second", quick=True)
def during_centroids(lab: Lab) -> str:
    slowest = 0.0
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        out = lab.folder / name
        words = ["run", "maze", "--variant", "cvt-map-elites", "container.target_size=1000000"]
        child = lab.start(*words, "--out", out)
        lab.until(lambda: handles(child.pid, signal.SIGTERM), "its signal handlers")
        time.sleep(0.5)
        require(child.poll() is None, "it was over before")
        child.send_signal(getattr(signal, name))
        ended = lab.wait(child, 1)
        require(ended.status == 128 + getattr(signal, name), f"{name}: {ended}")
        slowest = max(slowest, ended.seconds)
    return f"within {slowest:.2f} s"


@attack("SIGUSR1", "saves and goes on", quick=True)
def save_now(lab: Lab) -> str:
    out = lab.folder / "run"
    words = lab.words("slow", out, "run.checkpoint_seconds=0", iterations=400)
    child = lab.start(*words, program=lab.tasks)
    lab.until(lambda: (out / "metrics.csv").exists(), "its first rows")
    time.sleep(0.2)
    require(not (out / "checkpoint").exists(), "a checkpoint that nobody asked for")
    child.send_signal(signal.SIGUSR1)
    lab.until(lambda: (out / "checkpoint" / "manifest.json").exists(), "a checkpoint", 5)
    for _ in range(50):  # more often than it can
        child.send_signal(signal.SIGUSR1)
        time.sleep(0.005)
    saved = reached(out)
    require(child.poll() is None, "it ended")
    child.kill()
    lab.wait(child)
    resumed = lab.finish("slow", out, "run.checkpoint_seconds=0", iterations=saved + 20)
    whole = lab.finish("slow", lab.folder / "whole", iterations=saved + 20)
    require_same(resumed, whole, "killed after it was saved")
    return f"51 of them; killed after, resumed from iteration {saved} on"
