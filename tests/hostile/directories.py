"""Run directories that somebody else plays with."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from lab import LEARNED, Lab, attack, outcome_of, require
from lab import require_same, words_of


@attack("symbolic links inside a run, on --resume", "nothing outside is written", quick=True)
def links(lab: Lab) -> str:
    outside = lab.folder / "outside"
    for name in (
        "metrics.csv",
        "run.json",
        "config.toml",
        ".lock",
        "snapshots",
        "failures",
        "checkpoint",
        "checkpoint.previous",
        "container",
    ):
        run, wanted = lab.cut_run()
        shutil.rmtree(outside, ignore_errors=True)
        outside.mkdir()
        place = run / name
        target = outside / name
        if place.exists():
            shutil.move(place, target)
        elif name == "failures":
            target.mkdir()
        else:
            target.write_text("precious")
        place.symlink_to(target)
        before = tree(outside)
        done = lab.run("tame", run)
        require(done.status == 0 or done.refused, f"{name}: {done}")
        require(tree(outside) == before, f"{name}: the outside was changed")
        if done.status == 0:
            require_same(outcome_of(run), wanted, name)
        shutil.rmtree(run)
    # A task that fails writes to failures/.
    run = lab.folder / "nan"
    lab.finish("nan", run, iterations=20)
    shutil.rmtree(outside)
    shutil.move(run / "failures", outside)
    (run / "failures").symlink_to(outside)
    before = tree(outside)
    done = lab.run("nan", run, iterations=40)
    require(done.status == 0 or done.refused, f"failures: {done}")
    require(tree(outside) == before, "failures of a failing task: the outside was changed")
    return "nine names; whole or refused"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@attack("pipes inside a run, on --resume", "it waits for none", quick=True)
def pipes(lab: Lab) -> str:
    for name in (
        "metrics.csv",
        "run.json",
        "config.toml",
        ".lock",
        "encoder.csv",
        "checkpoint/manifest.json",
        "checkpoint/container.fitness.npy",
        "snapshots",
        "failures",
        "manifest.json",
    ):
        run, wanted = lab.cut_run(variant=LEARNED)
        place = run / name
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        os.mkfifo(place)
        seen = lab.verify(run, limit=10)
        require(seen.status in (0, 1), f"{name}: verify: {seen}")
        done = lab.run("tame", run, variant=LEARNED, limit=10)
        require(done.status == 0 or done.refused, f"{name}: {done}")
        if done.status == 0:
            require_same(outcome_of(run), wanted, name)
        shutil.rmtree(run)
    return "ten names, verify and --resume"


@attack("a read-only run directory", "can be looked at; resuming is an error", quick=True)
def read_only(lab: Lab) -> str:
    run = lab.whole_run()
    if os.geteuid() == 0:  # whom permissions do not hold
        place = lab.mount("--bind", run)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
    else:
        place = run
        for folder in (run, *(one for one in run.rglob("*") if one.is_dir())):
            folder.chmod(0o555)
    try:
        for words in (["verify", place], ["show", place, "--out", lab.folder / "show"]):
            done = lab.aurora(*words, program=lab.tasks)
            require(done.status == 0, f"{words[0]}: {done}")
        longer = ["run", "--resume", "--out", place, "--iterations", 200]
        for words in (longer, ["show", place], ["retrain", place, "--epochs", 3, "--force"]):
            done = lab.aurora(*words, program=lab.tasks)
            require(done.refused, f"{words[0]}: {done}")
            require(":" in done.err, f"{words[0]} does not say why: {done.err}")
        new = lab.aurora(*lab.words("tame", place / "new"), program=lab.tasks)
        require(new.refused, f"a new run in it: {new}")
    finally:
        for folder in (run, *(one for one in run.rglob("*") if one.is_dir())):
            if os.geteuid() != 0:
                folder.chmod(0o755)
    return "verify and show work; run, show in it and retrain say why not"


@attack(
    "a run directory that is removed, renamed, replaced",
    "the run stops; harms nothing there",
    quick=True,
)
def meddled(lab: Lab) -> str:
    wanted = lab.finish("slow", lab.folder / "whole", iterations=150)
    for how in ("removed", "renamed", "replaced"):
        out, moved = lab.folder / "run", lab.folder / "moved"
        child = lab.start(*lab.words("slow", out, iterations=150), program=lab.tasks)
        lab.until(lambda: (out / "checkpoint").exists(), "a checkpoint")
        out.rename(moved)
        if how == "removed":
            shutil.rmtree(moved)
        if how == "replaced":
            (out / "checkpoint").mkdir(parents=True)
            (out / "checkpoint" / "manifest.json").write_text("another's")
        done = lab.wait(child)
        require(done.refused, f"{how}: {done}")
        require("was removed, renamed or replaced" in done.err, f"{how}: {done}")
        if how == "replaced":
            here = [str(file.relative_to(out)) for file in out.rglob("*")]
            require(sorted(here) == ["checkpoint", "checkpoint/manifest.json"], f"made: {here}")
            text = (out / "checkpoint" / "manifest.json").read_text()
            require(text == "another's", "another's file was changed")
            shutil.rmtree(out)
        else:
            require(not out.exists(), f"{how}: something was made in its place")
        if how != "removed":
            require_same(lab.finish("slow", moved, iterations=150), wanted, f"{how}, resumed")
            shutil.rmtree(moved)
    return "stopped with an error; renamed, it is resumed"


@attack("a file of a run removed while it runs", "finished, it has all its files; else resumed")
def file_removed(lab: Lab) -> str:
    wanted = lab.finish("slow", lab.folder / "whole", iterations=100)
    stopped = []
    for name in ("config.toml", "run.json", "metrics.csv", ".lock", "snapshots", "checkpoint"):
        out = lab.folder / "run"
        child = lab.start(*lab.words("slow", out, iterations=100), program=lab.tasks)
        lab.until(lambda: (out / "snapshots" / "000020").exists(), "a snapshot")
        aside = lab.folder / "aside"
        lab.until(lambda: moved(out / name, aside), f"a moment in which {name} is there")
        done = lab.wait(child)
        require(done.status == 0 or done.refused, f"{name}: {done}")
        stopped += [name] if done.status else []
        require_same(lab.finish("slow", out, iterations=100), wanted, f"without {name}")
        checked = lab.verify(out)
        require(checked.status == 0, f"without {name}: verify says {checked.out}")
        shutil.rmtree(out)
        shutil.rmtree(aside) if aside.is_dir() else aside.unlink()
    return f"six names; stopped without {words_of(stopped)}, and resumed to the same hash"


def moved(path: Path, aside: Path) -> bool:
    try:
        path.rename(aside)
    except FileNotFoundError:  # it is just being replaced
        return False
    return True


@attack(
    "--resume with another configuration",
    "refused with what differs; no file is touched",
    quick=True,
)
def other_configuration(lab: Lab) -> str:
    run, wanted = lab.cut_run()
    before = tree(run)
    for words, key in (
        (["--seed", 9], "run.seed"),
        (["run.batch=17"], "run.batch"),
        (["container.target_size=61"], "container.target_size"),
        (["selection.kind=novelty"], "selection.kind"),
        (["--iterations", 3], "iterations"),
    ):
        done = lab.aurora("run", "--resume", "--out", run, *words, program=lab.tasks)
        require(done.status == 2 and key in done.err, f"{key}: {done}")
        require(tree(run) == before, f"{key}: files were touched")
    require_same(lab.finish("tame", run), wanted, "with its own")
    return "five keys"


@attack("two processes on one directory", "one runs, the other is told which", quick=True)
def two_processes(lab: Lab) -> str:
    out = lab.folder / "run"
    wanted = lab.finish("slow", lab.folder / "whole")
    children = [lab.start(*lab.words("slow", out), program=lab.tasks) for _ in range(6)]
    ended = [lab.wait(child) for child in children]
    won = [one for one in ended if one.status == 0]
    require(won, "none of six has run")
    for one in ended:
        told = one.refused and ("in use" in one.err or "use by process" in one.err)
        require(one.status == 0 or told, f"one of six: {one}")
    require_same(outcome_of(out), wanted, "six at once")
    require(lab.verify(out).status == 0, "verify finds damage")
    return f"six at once: {6 - len(won)} were told that it is in use"


NAMES = {
    "a newline": "a\nb",
    "quotes": 'it\'s "so" `called` $HOME',
    "a dash": "--resume",
    "unicode": "étude-実験-🤖",
    "bytes that are no UTF-8": os.fsdecode(b"\xff\xfe"),
    "255 bytes": "x" * 255,
    "a space at the end": "end ",
    "control characters": "\x1b[31mred\x07",
    "HTML": "<script>alert(1)<&script>",
}


@attack("hostile names for --out", "a run like any other, or an error", quick=True)
def names(lab: Lab) -> str:
    wanted = lab.finish("tame", lab.folder / "whole")
    odd = lab.folder / "odd"
    odd.mkdir()
    for name, text in NAMES.items():
        out = odd / text
        done = lab.run("tame", out, iterations=30)
        require(done.status == 0, f"{name}: {done}")
        require_same(lab.finish("tame", out), wanted, name)
        for words in (["verify", out], ["show", out, "--out", lab.folder / "show"]):
            done = lab.aurora(*words, program=lab.tasks)
            require(done.status == 0, f"{name}: {words[0]}: {done}")
        shutil.rmtree(lab.folder / "show")
    long = lab.run("tame", odd / ("x" * 256))
    require(long.refused, f"256 bytes: {long}")
    if lab.quick:
        return f"{len(NAMES)} names: run, --resume, verify, show; 256 bytes are refused"
    page = lab.aurora("report", odd, "--out", lab.folder / "report", limit=180)
    require(page.status == 0, f"report over all: {page}")
    text = (lab.folder / "report" / "report.html").read_text(errors="surrogateescape")
    require("<script>alert" not in text, "the name is HTML in the report")
    return f"{len(NAMES)} names: run, --resume, verify, show, report; 256 bytes are refused"
