"""Damage to a finished run, and to what a run goes on from."""
from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Callable

from lab import Broken, Lab, attack, files_of, outcome_of, require, require_same, words_of

FINDS = "aurora verify finds it"


def flip(lab: Lab, file: Path) -> bytes:
    """One bit, where it means something: not in the white space between the words of a JSON file.
    Returns what was there."""
    good = file.read_bytes()
    for _ in range(1000):
        bad = bytearray(good)
        bad[lab.random.randrange(len(bad))] ^= 1 << lab.random.randrange(8)
        if file.suffix != ".json" or not means_the_same(good, bytes(bad)):
            file.write_bytes(bad)
            return good
    raise Broken(f"{file.name} has no bit that means something")


def means_the_same(one: bytes, other: bytes) -> bool:
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


def unfound(lab: Lab, run: Path, files: list[Path], damage: Callable[[Path], bytes]) -> list[str]:
    """The files whose damage verify does not find. Each is put back as it was."""
    missed = []
    for file in files:
        good = damage(file)
        seen = lab.verify(run)
        require(seen.status in (0, 1), f"verify with a damaged {file.relative_to(run)}: {seen}")
        if seen.status == 0:
            missed.append(str(file.relative_to(run)))
        file.write_bytes(good)
    require(lab.verify(run).status == 0, "put back as it was, the run is not whole")
    return missed


def of_every_kind(run: Path, files: list[Path]) -> list[Path]:
    """One file of each folder and each kind of name."""
    kinds: dict[tuple, Path] = {}
    for file in files:
        kinds.setdefault((file.parent, file.suffix), file)
    return list(kinds.values())


@attack("one flipped bit in any file of a run", FINDS, quick=True)
def flipped_bits(lab: Lab) -> str:
    run = lab.whole_run()
    files = [file for file in files_of(run) if file.stat().st_size > 0]
    if lab.quick:
        files = of_every_kind(run, files)
    rounds = 1 if lab.quick else 4
    missed = set()
    for _ in range(rounds):
        missed.update(unfound(lab, run, files, lambda file: flip(lab, file)))
    require(
        not missed, f"not found in {len(missed)} of {len(files)}: {words_of(sorted(missed), 8)}"
    )
    return f"{rounds} in each of {len(files)} files"


@attack("one file of a run removed", FINDS)
def removed_files(lab: Lab) -> str:
    run = lab.whole_run()

    def remove(file: Path) -> bytes:
        good = file.read_bytes()
        file.unlink()
        return good

    files = files_of(run)
    missed = unfound(lab, run, files, remove)
    require(not missed, f"not found for {len(missed)} of {len(files)}: {words_of(missed, 8)}")
    return f"{len(files)} files, one after the other"


@attack("rows of metrics.csv removed, added, changed", FINDS, quick=True)
def changed_rows(lab: Lab) -> str:
    run = lab.whole_run()
    table = run / "metrics.csv"
    header, *rows = table.read_text().splitlines()
    first, *cells = rows[3].split(",")
    plausible = ",".join([str(int(first) + 1), *cells])
    smaller = ",".join([first, str(float(cells[0]) * 0.5), *cells[1:]])
    changes = {
        "a row removed": [*rows[:3], *rows[4:]],
        "the last row removed": rows[:-1],
        "a row added": [*rows[:4], plausible, *rows[4:]],
        "a number changed": [*rows[:3], smaller, *rows[4:]],
        "all rows removed": [],
    }
    missed = []
    for name, lines in changes.items():
        bad = ("\n".join([header, *lines]) + "\n").encode()
        missed += [name for _ in unfound(lab, run, [table], lambda file: swap(file, bad))]
    require(not missed, f"not found: {words_of(missed, 9)}")
    return f"{len(changes)} changes that still make sense"


def swap(file: Path, bad: bytes) -> bytes:
    good = file.read_bytes()
    file.write_bytes(bad)
    return good


@attack("garbage in encoder.csv, or none", FINDS, quick=True)
def encoder_table(lab: Lab) -> str:
    run = lab.whole_run()
    table, missed = run / "encoder.csv", []
    for name, bad in {"garbage": b"\xff\x00garbage\n" * 9, "empty": b""}.items():
        missed += [name for _ in unfound(lab, run, [table], lambda file: swap(file, bad))]
    table.unlink()
    missed += ["missing"] if lab.verify(run).status == 0 else []
    require(not missed, f"not found: {words_of(missed)}")
    return "garbage, empty, missing"


@attack("all checkpoints deleted", FINDS + "; a finished run is left alone", quick=True)
def no_checkpoints(lab: Lab) -> str:
    run = lab.whole_run()
    for name in ("checkpoint", "checkpoint.previous"):
        shutil.rmtree(run / name)
    before = {file: file.read_bytes() for file in files_of(run)}
    again = ("run", "--resume", "--out", run)
    done = lab.aurora(*again, program=lab.tasks)
    require(done.status == 0, f"--resume: {done}")
    longer = lab.aurora(*again, "--iterations", 100_000, program=lab.tasks)
    require(longer.refused, f"--resume to make it longer: {longer}")
    require({file: file.read_bytes() for file in files_of(run)} == before, "--resume changed files")
    require(lab.verify(run).status == 1, "verify calls it whole")
    return "found, and --resume touches nothing"


@attack(
    "a flipped bit in checkpoint/",
    "resuming says so, sets it aside and uses the previous one: the same hash",
    quick=True,
)
def damaged_checkpoint(lab: Lab) -> str:
    names = sorted(file.name for file in (lab.cut_run()[0] / "checkpoint").iterdir())
    for name in names:
        run, wanted = lab.cut_run()
        require((run / "checkpoint.previous").is_dir(), "there is no previous one to use")
        flip(lab, run / "checkpoint" / name)
        found = lab.run("tame", run)
        require(found.status == 0, f"{name}: {found}")
        require_same(outcome_of(run), wanted, name)
        require("damaged" in found.err or (run / "checkpoint.damaged").is_dir(), f"{name}: unsaid")
        shutil.rmtree(run)
    return f"each of {len(names)} files"


@attack("both checkpoints damaged", "resuming says what is wrong with each and touches nothing")
def both_damaged(lab: Lab) -> str:
    run, _ = lab.cut_run()
    for name in ("checkpoint", "checkpoint.previous"):
        flip(lab, run / name / "container.fitness.npy")
    before = {file: file.read_bytes() for file in files_of(run)}
    done = lab.run("tame", run)
    require(done.refused, f"resumed: {done}")
    require({file: file.read_bytes() for file in files_of(run)} == before, "files were changed")
    return "refused, no file changed"


@attack("a finished run made longer", "gives what the longer run would have given", quick=True)
def longer(lab: Lab) -> str:
    run, wanted = lab.cut_run()
    before = {file: file.read_bytes() for file in files_of(run)}
    lab.finish("tame", run, iterations=30)
    require({file: file.read_bytes() for file in files_of(run)} == before, "it was not left alone")
    require_same(lab.finish("tame", run, iterations=60), wanted, "longer")
    return "the same hash and metrics.csv"


@attack("runs of earlier versions", "are whole and go on")
def old_runs(lab: Lab) -> str:
    data = Path(__file__).resolve().parents[1] / "data"
    count = 0
    for archive in sorted(data.glob("runs-*.tar.gz")):
        subprocess.run(["tar", "xzf", str(archive)], cwd=lab.folder, check=True)
        for run in sorted((lab.folder / archive.name[: -len(".tar.gz")]).iterdir()):
            if not (run / "config.toml").exists():
                continue
            checked = lab.aurora("verify", run)
            if " needs " in checked.out:
                continue
            require(checked.status == 0, f"{run.parent.name}/{run.name}: {checked.out[-300:]}")
            done = lab.aurora("run", "--resume", "--quiet", "--out", run, "--iterations", 40)
            require(done.status == 0, f"{run.parent.name}/{run.name}, resumed: {done}")
            checked = lab.aurora("verify", run)
            require(checked.status == 0, f"{run.name}, after it went on: {checked.out[-300:]}")
            count += 1
    require(count > 10, f"only {count} were found")
    return f"{count} runs"
