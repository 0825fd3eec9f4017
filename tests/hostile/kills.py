"""SIGKILL at any moment: the same bits once it is done."""
from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

from lab import HAND_CODED, LEARNED, Lab, Word, attack, kill_group, outcome_of
from lab import require, require_same, require_same_files, results_of, words_of

# Task, variant, iterations, settings: a second or two each.
CASES = [
    ("maze", "aurora-csc-novelty-4", 50, []),
    ("maze", HAND_CODED, 120, []),
    ("air-hockey", "aurora-csc-uniform-4", 20, []),
    ("maze", "taxons-4", 50, []),
    ("maze", "aurora-vat-uniform-4", 50, []),
    ("maze", "aurora-pid-uniform-4", 50, []),
    ("maze", "aurora-csc-surprise-4", 50, []),
    ("maze", "aurora-dns-4", 50, []),
    ("maze", "ns", 120, []),
    ("maze", "map-elites", 120, []),
    ("maze", "cvt-map-elites", 120, []),
    ("maze", "random-search", 120, []),
    ("maze", "cma-me", 120, ["algorithm.extinction_period=30"]),
    ("maze", "aurora-ensemble-4", 30, ["container.relevance=0.5"]),
    ("hexapod", "aurora-csc-uniform-4", 5, ["run.batch=8", "run.snapshot_every=2"]),
    ("air-hockey", "dns", 40, []),
]
QUICK_CASES = 3


class Case:
    """A run that is killed and resumed; whenever it is done, it is compared and begun anew."""

    def __init__(self, lab: Lab, task: str, variant: str, iterations: int, more: list[str]) -> None:
        self.lab, self.name = lab, f"{task} {variant}"
        self.out = lab.folder / f"{task}-{variant}"
        self.make = lambda out: lab.words(task, out, *more, variant=variant, iterations=iterations)
        whole = self.out.with_name(self.out.name + "-whole")
        begin = time.monotonic()
        done = lab.aurora(*self.make(whole))
        self.missing = " needs " in done.err and done.status != 0  # an engine that is not built
        if self.missing:
            return
        require(done.status == 0, f"{self.name}, undisturbed: {done}")
        self.seconds = time.monotonic() - begin
        self.wanted = outcome_of(whole)
        self.done = 0

    def words(self) -> list[Word]:
        return [*self.make(self.out), "--threads", self.lab.random.choice((1, 2, 3))]

    def kill_once(self) -> None:
        """Returns when a kill has met a living process."""
        while True:
            child = self.lab.start(*self.words())
            time.sleep(self.lab.random.uniform(0, 0.8 * self.seconds))
            child.kill()
            ended = self.lab.wait(child)
            if ended.status == -signal.SIGKILL:
                return
            require(ended.status == 0, f"{self.name}, resumed: {ended}")
            self.compare()

    def finish(self) -> None:
        ended = self.lab.aurora(*self.words())
        require(ended.status == 0, f"{self.name}, resumed: {ended}")
        self.compare()

    def compare(self) -> None:
        require_same(outcome_of(self.out), self.wanted, self.name)
        checked = self.lab.aurora("verify", self.out)
        require(checked.status == 0, f"{self.name}: verify of the resumed run: {checked.out}")
        shutil.rmtree(self.out)
        self.done += 1


@attack(
    "SIGKILL at random moments",
    "resumed to the same container hash and metrics.csv, any task and variant",
    quick=True,
)
def random_kills(lab: Lab) -> str:
    cases = []
    for case in CASES[: QUICK_CASES if lab.quick else None]:
        cases.append(Case(lab, *case))
    missing = [case.name for case in cases if case.missing]
    cases = [case for case in cases if not case.missing]
    for number in range(lab.kills):
        cases[number % len(cases)].kill_once()
    for case in cases:
        case.finish()
    without = f"; not built: {words_of(missing)}" if missing else ""
    runs = sum(case.done for case in cases)
    return f"{lab.kills} kills, {runs} runs of {len(cases)} kinds, all the same{without}"


def kill_when(lab: Lab, words: list[Word], out: Path, name: str, later: float) -> bool:
    """Kills the run when `name`, or what becomes it, appears in it; false if it was too late."""
    child = lab.start(*words, program=lab.tasks)
    while child.poll() is None:
        try:
            here = os.listdir(out)
        except FileNotFoundError:
            continue
        if any(one == name or one.startswith(f".{name}.") for one in here):
            break
    time.sleep(later)
    child.kill()
    return lab.wait(child).status == -signal.SIGKILL


@attack(
    "SIGKILL as container/ appears",
    "a run can be resumed at every instant of its life",
    quick=True,
)
def kill_at_the_end(lab: Lab) -> str:
    whole, killed = lab.folder / "whole", 0
    short = {"variant": LEARNED, "iterations": 30}
    wanted = lab.finish("tame", whole, **short)
    rounds = 1 if lab.quick else 4
    for name in ("container", "encoder", "reconstructions", "checkpoint", "snapshots", "run.json"):
        for number in range(rounds):
            out = lab.folder / f"{name}-{number}"
            words = lab.words("tame", out, **short)
            killed += kill_when(lab, words, out, name, later=0.0005 * number)
            require_same(lab.finish("tame", out, **short), wanted, f"killed at {name}")
            checked = lab.verify(out)
            require(checked.status == 0, f"killed at {name}: verify says {checked.out}")
            require_same_files(results_of(out), results_of(whole), f"killed at {name}")
    require(killed > 0, "every run ended before it could be killed")
    return f"{killed} kills in that moment, the same files each time"


@attack("second SIGINT", "ends at once, and what was saved is resumed", quick=True)
def second_interrupt(lab: Lab) -> str:
    whole, out = lab.folder / "whole", lab.folder / "run"
    wanted = lab.finish("slow", whole, "run.threads=1", iterations=40)
    child = lab.start(*lab.words("slow", out, "run.batch=4000", "run.threads=1"), program=lab.tasks)
    lab.until(lambda: (out / "run.json").exists(), "run.json")
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    time.sleep(0.2)
    require(child.poll() is None, "it did not finish its iteration")
    child.send_signal(signal.SIGINT)
    ended = lab.wait(child, 1)
    require(ended.status == -signal.SIGINT, f"ended with {ended}")
    shutil.rmtree(out)
    # And one that has checkpoints to go on from.
    child = lab.start(*lab.words("slow", out, "run.threads=1", iterations=40), program=lab.tasks)
    lab.until(lambda: (out / "checkpoint").exists(), "a checkpoint")
    for _ in range(2):
        child.send_signal(signal.SIGINT)
        time.sleep(0.002)
    lab.wait(child, 5)
    require_same(lab.finish("slow", out, "run.threads=1", iterations=40), wanted, "resumed")
    return f"gone {ended.seconds * 1000:.0f} ms after the second, resumed to the same hash"


def kill_command(lab: Lab, words: list[Word], kills: int, seconds: float, **options) -> int:
    """Starts a command and kills it with all it has started, so often; then lets it end."""
    killed = 0
    for _ in range(kills):
        child = lab.start(*words, **options)
        time.sleep(lab.random.uniform(0, seconds))
        kill_group(child)
        killed += lab.wait(child).status == -signal.SIGKILL
    done = lab.aurora(*words, limit=180, **options)
    require(done.status == 0, f"after {killed} kills: {done}")
    return killed


def timed(lab: Lab, *words: Word, **options) -> float:
    done = lab.aurora(*words, limit=180, **options)
    require(done.status == 0, f"undisturbed: {done}")
    return done.seconds


@attack("SIGKILL during retrain", "run again, it leaves the same files", quick=True)
def kill_retrain(lab: Lab) -> str:
    run = lab.folder / "run"
    lab.finish("tame", run, variant=LEARNED, iterations=100)
    other = lab.copy(run)
    words = ["--epochs", 30, "--patience", 30]
    seconds = timed(lab, "retrain", run, *words, program=lab.tasks)
    kills = 5 if lab.quick else 20
    killed = kill_command(lab, ["retrain", other, *words], kills, seconds, program=lab.tasks)
    require_same_files(results_of(other), results_of(run), "killed")
    checked = lab.verify(other)
    require(checked.status == 0, f"verify says {checked.out}")
    left = [one.name for one in other.iterdir() if one.name.startswith(".")]
    require(not left, f"left behind: {words_of(left)}")
    return f"{killed} kills, the same files"


@attack("SIGKILL during export", "run again, it leaves the same files", quick=True)
def kill_export(lab: Lab) -> str:
    run, killed = lab.whole_run(), 0
    for form in ("--csv", "--npz"):
        whole, cut = lab.folder / f"whole{form}", lab.folder / f"cut{form}"
        whole.mkdir()
        cut.mkdir()
        name = form[2:]
        seconds = timed(lab, "export", run, form, "--out", whole / f"x.{name}")
        words = ["export", run, form, "--out", cut / f"x.{name}"]
        killed += kill_command(lab, words, 2 if lab.quick else 5, seconds)
        require_same_files(results_of(cut), results_of(whole), form)
    return f"{killed} kills, the same files and nothing beside them"


@attack("SIGKILL during report", "run again, it leaves the same files")
def kill_report(lab: Lab) -> str:
    for seed in (1, 2):
        out = lab.folder / "runs" / str(seed)
        lab.finish("tame", out, f"run.seed={seed}", variant=LEARNED)
    seconds = timed(lab, "report", lab.folder / "runs", "--out", lab.folder / "first")
    timed(lab, "report", lab.folder / "runs", "--out", lab.folder / "second")
    words = ["report", lab.folder / "runs", "--out", lab.folder / "cut"]
    killed = kill_command(lab, words, 5, seconds)
    first, second, cut = (results_of(lab.folder / one) for one in ("first", "second", "cut"))
    require(set(first) == set(second), "two undisturbed reports have other files")
    same = {name for name in first if first[name] == second[name]}
    require(set(cut) == set(first), f"other files: {words_of(set(cut) ^ set(first))}")
    other = [name for name in same if cut[name] != first[name]]
    require(not other, f"other bytes in {words_of(other)}")
    require(same, "no two reports have a file in common")
    return f"{killed} kills, the same {len(first)} files ({len(same)} of them byte for byte)"


@attack("SIGKILL during experiment", "run again, it ends with the same files, byte for byte")
def kill_experiment(lab: Lab) -> str:
    study = lab.folder / "study.toml"
    settings = "\n".join(
        ["run.iterations = 100", "run.batch = 16", "run.checkpoint_seconds = 0.01"]
        + ["run.snapshot_every = 50", "encoder.epochs = 3", "container.target_size = 60"]
    )
    study.write_text(
        f"[settings]\n{settings}\n"
        "[[study]]\nname = 'some'\ntasks = ['slow']\nreplications = 2\n"
        f"variants = ['{LEARNED}', '{HAND_CODED}']\n"
        f"[[study]]\nname = 'more'\ntasks = ['tame']\nvariants = ['{LEARNED}']\nretrain = true\n"
    )
    options = {"program": lab.tasks}
    words = ["experiment", study, "--jobs", 2, "--out"]
    seconds = timed(lab, *words, lab.folder / "whole", **options)
    killed = 0
    for number in range(12):
        child = lab.start(*words, lab.folder / "cut", **options)
        time.sleep(lab.random.uniform(0, 0.4 * seconds))
        # With its runs, or alone: they end by themselves then.
        kill_group(child) if number % 2 == 0 else child.kill()
        killed += lab.wait(child).status == -signal.SIGKILL
        lab.until(lambda: not group_lives(child.pid), "the runs of a killed experiment to end", 10)
    done = lab.aurora(*words, lab.folder / "cut", limit=180, **options)
    require(done.status == 0, f"after {killed} kills: {done}")
    require_same_files(
        results_of(lab.folder / "cut"), results_of(lab.folder / "whole"), "experiment"
    )
    require(killed > 4, "the experiment ended too early to be killed")
    return f"{killed} kills, {len(results_of(lab.folder / 'cut'))} files the same"


def group_lives(group: int) -> bool:
    """Dead ones that we adopted are waited for on the way."""
    try:
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


@attack(
    "killed at a file operation",
    "killed at any write, sync, rename or removal: resumed to the same files",
    quick=True,
)
def kill_at_operation(lab: Lab) -> str:
    return at_operations(lab, error=0, most=10 if lab.quick else 50)


@attack(
    "a file operation that fails",
    "ENOSPC or EIO anywhere: an error or the whole run; resumed to the same files",
    quick=True,
)
def fail_at_operation(lab: Lab) -> str:
    return at_operations(lab, error=28, most=10 if lab.quick else 50)


def at_operations(lab: Lab, error: int, most: int) -> str:
    whole, count = lab.folder / "whole", lab.folder / "count"
    preload = {"LD_PRELOAD": str(lab.preload)}
    few = ("run.snapshot_every=6", "run.checkpoint_seconds=1e-9", "run.threads=1")
    settings = {"variant": LEARNED, "iterations": 12}
    wanted = lab.finish(
        "nan", whole, *few, **settings, env={**preload, "HOSTILE_COUNT": str(count)}
    )
    operations = int(count.read_text())
    require(operations > 50, f"only {operations} file operations were seen")
    numbers = lab.random.sample(range(1, operations + 1), most)
    stopped = 0
    for number in sorted(numbers):
        for exchange in (0, 1) if number % 4 == 0 else (0,):
            out, where = lab.folder / "run", f"operation {number} of {operations}"
            kind = 5 if error and number % 2 else error  # EIO, or ENOSPC
            faults = {"HOSTILE_FAIL_AT": str(number), "HOSTILE_ERROR": str(kind)}
            faults["HOSTILE_NO_EXCHANGE"] = str(exchange)
            done = lab.run("nan", out, *few, **settings, env={**preload, **faults})
            allowed = (0, 1) if error else (0, -signal.SIGKILL)
            require(done.status in allowed, f"{where}: {done}")
            require(done.status != 1 or done.refused, f"{where}: {done}")
            stopped += done.status != 0
            require_same(lab.finish("nan", out, *few, **settings), wanted, where)
            require_same_files(results_of(out), results_of(whole), where)
            checked = lab.verify(out)
            require(checked.status == 0, f"{where}: verify says {checked.out}")
            shutil.rmtree(out)
    require(stopped > 0, "none of the faults was met")
    return f"{len(numbers)} of {operations} operations, {stopped} stopped it, the same files"
