"""Files that nobody in his right mind would write."""
from __future__ import annotations

import json
import pickle
import shutil
import struct
from pathlib import Path
from typing import Any, Callable

from lab import LEARNED, Broken, Lab, Result, attack, outcome_of, require, require_same, words_of

DEEP = 50_000
SECONDS = 20  # more is no answer

# As a configuration, a study, variants, or a run's config.toml.
NESTED = {
    "dotted keys": ".".join(["a"] * DEEP) + " = 1\n",
    "dotted headers": "[" + ".".join(["a"] * DEEP) + "]\nb = 1\n",
    "headers, one in the other": "".join(
        "[" + ".".join(["a"] * depth) + "]\n" for depth in range(1, 600)
    ),
    "many dotted keys": "".join(f"a.b{number}.c = 1\n" for number in range(DEEP)),
    "arrays": "a = " + "[" * DEEP + "]" * DEEP + "\n",
    "tables": "a = " + "{a = " * DEEP + "1" + "}" * DEEP + "\n",
}


def answered(done: Result, where: str) -> None:
    require(done.refused, f"{where}: {done}")
    require(len(done.err) < 5000, f"{where}: an error of {len(done.err)} characters")


@attack("TOML nested without end, as --config and study", "an error with its line", quick=True)
def nested_toml(lab: Lab) -> str:
    for name, text in NESTED.items():
        file = lab.folder / "nested.toml"
        file.write_text(text)
        for words in (
            ["run", "maze", "--config", file, "--out", lab.folder / "run"],
            ["experiment", file, "--out", lab.folder / "runs"],
            ["list", "--variants", file],
        ):
            done = lab.aurora(*words, limit=SECONDS, limits=lab.bounds)
            answered(done, f"{name}, {words[0]}")
            require("nested.toml" in done.err or "'a" in done.err, f"{name}: unsaid: {done.err}")
    require(not (lab.folder / "run").exists(), "a run was made")
    return f"{len(NESTED)} kinds in run, experiment, list"


def looked_at(lab: Lab, run: Path, where: str) -> None:
    """Every command that reads a run ends in seconds, with a reason."""
    seen = lab.verify(run, limit=SECONDS, limits=lab.bounds)
    require(seen.status == 1, f"{where}: verify: {seen}")
    for words in (["show", run, "--out", lab.folder / "show"], ["export", run, "--csv"]):
        done = lab.aurora(*words, limit=SECONDS, program=lab.tasks)
        require(done.status in (0, 1, 2), f"{where}: {words[0]}: {done}")
        require("Traceback" not in done.err, f"{where}: {words[0]}: {done}")
        require(done.status == 0 or "error: " in done.err, f"{where}: {words[0]}: {done}")
    for file in lab.folder.glob("*.csv"):
        file.unlink()


@attack("TOML nested without end, as a run's config.toml", "an error with its line", quick=True)
def nested_config(lab: Lab) -> str:
    for name, text in list(NESTED.items())[: 2 if lab.quick else None]:
        run = lab.whole_run()
        (run / "config.toml").write_text(text)
        looked_at(lab, run, name)
        done = lab.aurora("run", "--resume", "--out", run, limit=SECONDS, program=lab.tasks)
        answered(done, f"{name}, --resume")
        shutil.rmtree(run)
    return "verify, show, export and --resume end in seconds, with a reason"


@attack("run.json of 100,000 brackets", "an error with a reason", quick=True)
def bracket_json(lab: Lab) -> str:
    for text in ("[" * 100_000, '{"a":' * 100_000, "", "null", "\xff\xfe", '{"status": 1e999}'):
        run = lab.whole_run()
        (run / "run.json").write_text(text, encoding="latin-1")
        looked_at(lab, run, f"run.json {text[:6]!r}")
        done = lab.aurora("run", "--resume", "--out", run, limit=SECONDS, program=lab.tasks)
        require(done.status in (0, 1, 2), f"run.json {text[:6]!r}, --resume: {done}")
        shutil.rmtree(run)
    return "six kinds of run.json"


@attack("a report over a folder with a bad run", "has the good ones", quick=True)
def report_with_a_bad_run(lab: Lab) -> str:
    bad = {"deep": ("config.toml", NESTED["dotted keys"]), "brackets": ("run.json", "[" * 100_000)}
    runs = lab.folder / "runs"
    lab.finish("tame", runs / "good", variant=LEARNED)
    for name, (file, text) in bad.items():
        shutil.copytree(runs / "good", runs / name)
        (runs / name / file).write_text(text)
    done = lab.aurora("report", runs, "--out", lab.folder / "report", limit=120)
    require(done.status == 0, f"the report ended with {done}")
    page = (lab.folder / "report" / "report.html").read_text()
    require("tame" in page, "the good run is not in it")
    unsaid = [name for name in bad if name not in page and name not in done.err + done.out]
    require(not unsaid, f"nothing is said of {words_of(unsaid)}")
    alone = lab.aurora("report", runs / "deep", "--out", lab.folder / "alone", limit=60)
    require(alone.status in (1, 2) and "Traceback" not in alone.err, f"a bad run alone: {alone}")
    return "two bad runs are said, the good one is in it"


@attack("numbers of jobs and runs without sense", "refused before anything is made", quick=True)
def senseless_numbers(lab: Lab) -> str:
    study = lab.folder / "study.toml"
    study.write_text("[[study]]\ntasks = ['maze']\nvariants = ['ns']\n")
    for jobs in ("-1", "0", "99999999999999999999", "1e9", "many", ""):
        done = lab.aurora("experiment", study, "--jobs", jobs, "--out", "runs", limit=SECONDS)
        require(done.status == 2 and done.refused, f"--jobs {jobs}: {done}")
    for count in ("99999999", "-1", "0", "1e300", "99999999999999999999"):
        study.write_text(
            f"replications = {count}\n[[study]]\ntasks = ['maze']\nvariants = ['ns']\n"
        )
        done = lab.aurora("experiment", study, "--out", "runs", limit=SECONDS, limits=lab.bounds)
        answered(done, f"replications = {count}")
    require(not (lab.folder / "runs").exists(), "something was made")
    return "--jobs and replications: all refused"


# --- Manifests with right checksums --------------------------------------------------------------


def first(manifest: dict[str, Any]) -> dict[str, Any]:
    return manifest["files"][0]


def npy(header: str, data: bytes) -> bytes:
    """An array file with this header, whatever it says."""
    padded = header + " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode() + data


def header_of(kind: str, shape: str) -> str:
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"


class Evil:
    """Unpickled, it makes a file."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple:
        return (open, (str(self.place), "w"))


Change = Callable[[dict[str, Any], Path], None]


def in_manifest(change: Callable[[dict[str, Any]], Any]) -> Change:
    return lambda manifest, folder: change(manifest) and None


def in_file(name: str, content: Callable[[bytes], bytes]) -> Change:
    def change(manifest: dict[str, Any], folder: Path) -> None:
        file = folder / (name if (folder / name).exists() else f"container.{name}")
        file.write_bytes(content(file.read_bytes()))

    return change


def outside(manifest: dict[str, Any], folder: Path) -> None:
    """The first array lies two folders up."""
    shutil.copy(folder / first(manifest)["name"], folder.parent.parent / "outside.npy")
    first(manifest)["name"] = "../../outside.npy"


def linked(manifest: dict[str, Any], folder: Path) -> None:
    file = folder / first(manifest)["name"]
    shutil.move(file, folder.parent.parent / "outside.npy")
    file.symlink_to("/dev/zero")


# By name, of a manifest of a container. All checksums match afterwards.
MANIFESTS: dict[str, Change] = {
    "a name that leaves the folder": outside,
    "an absolute name": in_manifest(lambda m: first(m).update(name="/etc/hostname")),
    "a link to /dev/zero": linked,
    "a huge shape": in_manifest(lambda m: first(m).update(shape=[1 << 62, 1 << 62])),
    "a shape that overflows": in_manifest(lambda m: first(m).update(shape=[1 << 32, 1 << 32])),
    "a negative shape": in_manifest(lambda m: first(m).update(shape=[-1])),
    "a shape of words": in_manifest(lambda m: first(m).update(shape=["many"])),
    "a shape of 1,000 dimensions": in_manifest(lambda m: first(m).update(shape=[1] * 1000)),
    "a huge count": in_manifest(lambda m: m.update(count=1 << 60)),
    "a negative count": in_manifest(lambda m: m.update(count=-1)),
    "an infinite count": in_manifest(lambda m: m.update(count=float("inf"))),
    "a state that is NaN": in_manifest(lambda m: m["state"].update(spacing=float("nan"))),
    "objects as type": in_manifest(lambda m: first(m).update(dtype="|O")),
    "a file twice": in_manifest(lambda m: m["files"].append(dict(first(m)))),
    "no files": in_manifest(lambda m: m.update(files=[])),
    "files that are a number": in_manifest(lambda m: m.update(files=7)),
    "another kind": in_manifest(lambda m: m.update(kind="encoder")),
    "format version 999": in_manifest(lambda m: m.update(format_version=999)),
    "a huge array": in_file(
        "fitness.npy", lambda good: npy(header_of("<f4", f"({1 << 61},)"), good[128:])
    ),
    "an endless header": in_file(
        "fitness.npy", lambda good: b"\x93NUMPY\x02\x00" + b"\xff" * 4 + good[10:]
    ),
    "fitness NaN": in_file("fitness.npy", lambda good: good[:-4] + struct.pack("<f", float("nan"))),
    "a gene of 7": in_file("genotypes.npy", lambda good: good[:-4] + struct.pack("<f", 7.0)),
    "an id twice": in_file("ids.npy", lambda good: good[:-8] + good[-16:-8]),
}


@attack(
    "manifests with right checksums that lie",
    "nothing is believed that no run can have written; no name leaves its folder",
    quick=True,
)
def lying_manifests(lab: Lab) -> str:
    names = list(MANIFESTS)[:: 5 if lab.quick else 1]
    believed = []
    for name in names:
        run = lab.whole_run()
        folder = run / "container"
        manifest = json.loads((folder / "manifest.json").read_text())
        MANIFESTS[name](manifest, folder)
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
        lab.seal(run, folder)
        try:
            looked_at(lab, run, name)
        except Broken as broken:
            believed.append(str(broken))
        shutil.rmtree(run)
    require(not believed, "; ".join(believed))
    return f"{len(names)} lies: verify, show, export"


@attack(
    "checkpoints with right checksums that lie",
    "the previous one is used, or resuming is refused: never another result",
)
def lying_checkpoints(lab: Lab) -> str:
    """The same lies; arrays of a checkpoint's container have its name in front."""
    used = 0
    for name, change in MANIFESTS.items():
        run, wanted = lab.cut_run()
        folder = run / "checkpoint"
        manifest = json.loads((folder / "manifest.json").read_text())
        if not apply(change, manifest, folder):
            shutil.rmtree(run)
            continue
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
        lab.seal(run, folder)
        done = lab.run("tame", run, limit=SECONDS, limits=lab.bounds)
        require(done.status == 0 or done.refused, f"{name}: {done}")
        if done.status == 0:
            require_same(outcome_of(run), wanted, name)
        used += 1
        shutil.rmtree(run)
    require(used > 8, f"only {used} of the lies fit a checkpoint")
    return f"{used} lies"


def apply(change: Change, manifest: dict[str, Any], folder: Path) -> bool:
    """False if a checkpoint has nothing that it could change."""
    try:
        change(manifest, folder)
    except KeyError:
        return False
    return True


@attack("a pickled .npy", "Python refuses it, and runs nothing that is in it", quick=True)
def pickled(lab: Lab) -> str:
    run = lab.whole_run()
    folder, trap = run / "container", lab.folder / "trap"
    manifest = json.loads((folder / "manifest.json").read_text())
    body = pickle.dumps([Evil(trap)] * manifest["count"])
    (folder / "fitness.npy").write_bytes(npy(header_of("|O", f"({manifest['count']},)"), body))
    for entry in manifest["files"]:
        if entry["name"] == "fitness.npy":
            entry["dtype"] = "|O"
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    lab.seal(run, folder)
    for words in (
        ["export", run, "--csv"],
        ["export", run, "--npz"],
        ["show", run],
        ["verify", run],
    ):
        done = lab.aurora(*words, limit=SECONDS, program=lab.tasks)
        instead = words[0] == "show" and "there is no whole container" in done.err
        require(done.status in (1, 2) or instead, f"{words[0]}: {done}")
        require("Traceback" not in done.err, f"{words[0]}: {done}")
    lab.aurora("report", run, "--out", lab.folder / "report", limit=120)
    require(not trap.exists(), "what was pickled has run")
    return "export, show, verify, report"


@attack("AURORA_INSTRUCTIONS", "sets with fused multiply-adds give the same hash", quick=True)
def instructions(lab: Lab) -> str:
    short = {"variant": LEARNED, "iterations": 20, "program": lab.program}
    wanted = lab.finish("maze", lab.folder / "whole", **short)
    for value in ("avx2", "", "baseline"):
        out = lab.folder / f"set-{value}"
        found = lab.finish("maze", out, **short, env={"AURORA_INSTRUCTIONS": value})
        if value != "baseline":  # which rounds otherwise
            require_same(found, wanted, f"AURORA_INSTRUCTIONS={value}")
    words = lab.words("maze", lab.folder / "nonsense", variant=LEARNED, iterations=20)
    done = lab.aurora(*words, env={"AURORA_INSTRUCTIONS": "nonsense"})
    require(done.refused, f"AURORA_INSTRUCTIONS=nonsense: {done}")
    return "avx2 and empty: the same; baseline runs; nonsense is refused"
