"""Tasks that end the process, fork, hang, lie or fail."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from lab import HAND_CODED, Lab, attack, kill_group, require, require_same, slowness


@attack(
    "a task that calls exit(0), in an experiment",
    "it looks at the run, not at the status",
    quick=True,
)
def exits(lab: Lab) -> str:
    study = lab.folder / "study.toml"
    study.write_text(
        "[settings]\nrun.iterations = 40\nrun.batch = 16\ncontainer.target_size = 60\n"
        f"[[study]]\ntasks = ['exits', 'tame']\nvariants = ['{HAND_CODED}']\n"
    )
    words = ["experiment", study, "--jobs", 1, "--out", lab.folder / "runs"]
    for _ in range(2):  # and again: it is still not done
        done = lab.aurora(*words, program=lab.tasks)
        require(done.status == 1, f"the experiment ended with {done}")
        require("1 failed" in done.out, f"it says: {done.out}")
    alone = lab.run("exits", lab.folder / "alone")
    require(alone.status == 0, f"a run alone: {alone}")  # the task's word, not ours
    summary = json.loads((lab.folder / "alone" / "run.json").read_text())
    require(summary["status"] != "finished", "run.json says finished")
    return "said to have failed, twice; the other run is done"


@attack(
    "a task that forks, killed by SIGKILL", "the lock is free, though a child lives on", quick=True
)
def forks(lab: Lab) -> str:
    out = lab.folder / "run"
    child = lab.start(*lab.words("forks", out, iterations=100_000), program=lab.tasks)
    lab.until(lambda: reached(out) >= 20, "a checkpoint")
    child.kill()
    child.stdout.close()
    child.stderr.close()
    child.wait()
    os.killpg(child.pid, 0)  # what it forked is there
    done = lab.run("forks", out, iterations=reached(out) + 20)
    kill_group(child)
    require(done.status == 0, f"resumed: {done}")
    return "resumed while the child lived"


def reached(run: Path) -> int:
    """The iteration of the last checkpoint; 0 if there is none, or none at this moment."""
    try:
        return json.loads((run / "checkpoint" / "manifest.json").read_text())["iteration"]
    except FileNotFoundError:
        return 0


@attack("a task named ../../evil", "refused before anything is made", quick=True)
def evil_name(lab: Lab) -> str:
    below = lab.folder / "a" / "b"
    below.mkdir(parents=True)
    evil = {"HOSTILE_EVIL": "1"}
    for words in (["run", "../../evil", "--iterations", 2], ["run", "../../evil", "--out", "here"]):
        done = lab.aurora(*words, program=lab.tasks, cwd=below, env=evil)
        require(done.refused, f"{done}")
    (below / "study.toml").write_text(
        "[[study]]\ntasks = ['../../evil']\nvariants = ['hc-csc-uniform']\n"
    )
    done = lab.aurora("experiment", "study.toml", program=lab.tasks, cwd=below, env=evil)
    require(done.refused, f"experiment: {done}")
    made = [one for one in lab.folder.rglob("*") if one.name not in ("a", "b", "study.toml")]
    require(not made, f"made: {made}")
    return "run and experiment"


@attack("a task whose bounds change under the same version", "resuming is refused", quick=True)
def other_bounds(lab: Lab) -> str:
    run, wanted = lab.cut_run()
    for bound in ("7", "1.0000001", "0.5"):
        done = lab.run("tame", run, env={"HOSTILE_BOUND": bound})
        require(done.refused and "specification" in done.err, f"bound {bound}: {done}")
    require_same(lab.finish("tame", run), wanted, "with the bounds it had")
    return "refused, and goes on with those it had"


@attack(
    "evaluations that fail",
    "counted, left out, kept with their reason; the run goes on",
    quick=True,
)
def failing(lab: Lab) -> str:
    for task in ("nan", "throws", "throws-a-number", "short"):
        hashes = set()
        for threads in (1, 3):
            out = lab.folder / f"{task}-{threads}"
            hashes.add(lab.finish(task, out, f"run.threads={threads}").hash)
            summary = json.loads((out / "run.json").read_text())
            require(summary["invalid"] > 0, f"{task}: none was counted")
            lines = (out / "failures" / "genotypes.txt").read_text().splitlines()
            kept = [line for line in lines if not line.startswith("#")]
            require(kept and len(lines) > len(kept), f"{task}: no genotypes with reasons are kept")
        require(len(hashes) == 1, f"{task}: another hash with other threads")
        few = ("run.failure_share=0.01", "variation.rate=1", "run.checkpoint_seconds=60")
        strict = lab.run(task, lab.folder / f"{task}-strict", *few, iterations=500)
        require(strict.refused and "failure_share" in strict.err, f"{task}, at most 1 %: {strict}")
    return "NaN, throw, a number thrown, too short sensory data"


@attack("aurora evaluate of what failed", "a result or an error with a reason", quick=True)
def evaluated_again(lab: Lab) -> str:
    (lab.folder / "genes.txt").write_text("0.01 0.5\n0.9 0.5\n")
    for task in ("nan", "throws", "throws-a-number", "short"):
        done = lab.aurora("evaluate", task, "--genes", "genes.txt", program=lab.tasks)
        require(done.status == 0 or done.refused, f"{task}: {done}")
    return "NaN, throw, a number thrown, too short sensory data"


@attack("a task that is not deterministic", "verify --replay finds it", quick=True)
def restless(lab: Lab) -> str:
    out = lab.folder / "run"
    lab.finish("restless", out)
    plain, replayed = lab.verify(out), lab.verify(out, "--replay", 100)
    require(plain.status == 0, f"verify: {plain}")
    require(replayed.status == 1 and "replay" in replayed.out, f"--replay: {replayed.out}")
    return "found"


@attack("a task that hangs, and two signals", "the second one ends it within a second", quick=True)
def hangs(lab: Lab) -> str:
    pairs = [("SIGTERM", "SIGTERM"), ("SIGINT", "SIGTERM"), ("SIGTERM", "SIGINT")]
    pairs += [("SIGINT", "SIGINT"), ("SIGHUP", "SIGTERM")]
    late = []
    for one, other in pairs:
        out = lab.folder / f"{one}-{other}"
        child = lab.start(*lab.words("hangs", out, "run.threads=2"), program=lab.tasks)
        lab.until(lambda: (out / "metrics.csv").exists(), "its first rows")
        time.sleep(0.3)
        child.send_signal(getattr(signal, one))
        time.sleep(0.2)
        require(child.poll() is None, "it does not hang")
        child.send_signal(getattr(signal, other))
        try:
            child.wait(slowness())
        except subprocess.TimeoutExpired:
            late.append(f"{one} then {other}")
        kill_group(child)
        child.communicate()
    require(not late, f"still there after a second: {', '.join(late)}")
    return f"{len(pairs)} pairs"


@attack("a task that hangs, and run.evaluation_seconds", "reported while it goes on", quick=True)
def hanging_is_said(lab: Lab) -> str:
    out = lab.folder / "run"
    words = lab.words("hangs", out, "run.evaluation_seconds=0.2", "run.threads=1")
    child = lab.start(*[word for word in words if word != "--quiet"], program=lab.tasks)
    lab.until(lambda: (out / "failures" / "hanging.txt").exists(), "failures/hanging.txt", 10)
    kill_group(child)
    ended = lab.wait(child)
    require("evaluation" in ended.err, f"nothing is said: {ended.err}")
    return "in failures/hanging.txt and on stderr"
