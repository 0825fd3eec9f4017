"""What an attack needs: the real program, a scratch folder of its own, and words to say what must
hold. An attack is a function with a decorator,

    @attack("stderr is /dev/full", "a log that cannot be written ends no run", quick=True)
    def full_log(lab: Lab) -> str:
        done = lab.run("tame", out=lab.folder / "run", stderr=open("/dev/full", "w"))
        require(done.status == 0, f"ended with {done}")
        return "it ran to its end"          # the detail of the table

in any module that scripts/hostile imports. require() and Broken say that a promise does not hold,
NotRun that this machine cannot carry the attack out, and why.
"""
from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Union

Word = Union[str, Path, int]
SOURCE = Path(__file__).resolve().parents[2]
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

# Rows, snapshots and checkpoints come often, so that there is always one under way.
SMALL = (
    "run.batch=16",
    "run.log_every=5",
    "run.snapshot_every=20",
    "run.checkpoint_seconds=0.01",
    "container.target_size=60",
)
ALWAYS_SAVING = "run.checkpoint_seconds=1e-9"  # so there is a checkpoint.previous/
LEARNED = "aurora-csc-uniform-2"
HAND_CODED = "hc-csc-uniform"


# What limits memory leaves no room for the address sanitizer.
MEMORY_LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_DATA)


class Broken(Exception):
    """The promise does not hold; the text says how."""


class NotRun(Exception):
    """The attack cannot be carried out here; the text says why."""


@dataclass
class Attack:
    name: str
    promise: str
    quick: bool
    function: Callable[["Lab"], str]


ATTACKS: list[Attack] = []


def attack(name: str, promise: str, quick: bool = False) -> Callable:
    """Adds the function to the list; `quick` ones are part of `scripts/hostile --quick`."""

    def register(function: Callable[[Lab], str]) -> Callable[[Lab], str]:
        ATTACKS.append(Attack(name, promise, quick, function))
        return function

    return register


def slowness() -> float:
    """By which seconds are longer here than on a machine that has nothing else to do."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def require(holds: Any, text: str) -> None:
    if not holds:
        raise Broken(text)


def words_of(names: Iterable[Any], most: int = 4) -> str:
    """a, b, c, d and 12 more"""
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


@dataclass
class Result:
    status: int  # exit status; minus the signal that ended it
    out: str
    err: str
    seconds: float

    @property
    def refused(self) -> bool:
        """Ended by itself with an error in words."""
        return self.status in (1, 2, 75) and "error: " in self.err

    def __str__(self) -> str:
        lines = (self.err.strip() or self.out.strip()).splitlines()
        return f"status {self.status}" + (f" ({lines[-1][:160]})" if lines else "")


@dataclass
class Lab:
    program: Path
    folder: Path  # of this attack alone
    shared: Path  # of all of them
    kills: int
    quick: bool
    may_mount: bool
    random: random.Random
    sanitized: bool = False  # the program was built with sanitizers
    children: list[subprocess.Popen] = field(default_factory=list)
    mounts: list[Path] = field(default_factory=list)

    @property
    def bounds(self) -> dict[int, int]:
        """Limits for whoever may want memory without end; the sanitizer reserves terabytes."""
        return {} if self.sanitized else {resource.RLIMIT_AS: 4 << 30}

    def sanitizer_options(self) -> dict[str, str]:
        """Reports go to files, whatever becomes of stderr."""
        options = f"log_path={self.shared}/sanitizer:exitcode=99:print_stacktrace=1"
        return {"ASAN_OPTIONS": options, "UBSAN_OPTIONS": options} if self.sanitized else {}

    def sanitizer_reports(self) -> list[Path]:
        return sorted(self.shared.glob("sanitizer.*"))

    # --- Processes -------------------------------------------------------------------------------

    def start(
        self,
        *words: Word,
        program: Optional[Path] = None,
        limits: Optional[dict[int, int]] = None,
        env: Optional[dict[str, str]] = None,
        **options: Any,
    ) -> subprocess.Popen:
        """In a process group of its own, which ends with us. `limits`: resource.RLIMIT_... to
        their values; `env` is added to ours."""
        if self.sanitized and any(name in MEMORY_LIMITS for name in limits or {}):
            raise NotRun("memory limits leave no room for sanitizers")

        def prepare() -> None:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            for name, value in (limits or {}).items():
                resource.setrlimit(name, (value, value))

        options = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": self.folder,
            **options,
        }
        child = subprocess.Popen(
            [str(program or self.program), *map(str, words)],
            env={**os.environ, **self.sanitizer_options(), **(env or {})},
            preexec_fn=prepare,
            start_new_session=True,
            **options,
        )
        self.children.append(child)
        return child

    def wait(self, child: subprocess.Popen, limit: float = 60) -> Result:
        """Until it ends; Broken if it takes longer than `limit` seconds."""
        begin, limit = time.monotonic(), limit * slowness() * (5 if self.sanitized else 1)
        try:
            out, err = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            kill_group(child)
            child.communicate()
            command = " ".join(map(str, child.args[1:4]))
            raise Broken(f"'{command} ...' did not end within {limit:g} s") from None
        text = [(one or b"").decode(errors="replace") for one in (out, err)]
        if "needs a python3 with" in text[1]:
            raise NotRun("no python3 with NumPy, pandas, SciPy and Matplotlib")
        return Result(child.returncode, *text, time.monotonic() - begin)

    def aurora(self, *words: Word, limit: float = 60, **options: Any) -> Result:
        return self.wait(self.start(*words, **options), limit)

    def words(
        self,
        task: str,
        out: Path,
        *settings: str,
        variant: str = HAND_CODED,
        iterations: int = 60,
    ) -> list[Word]:
        """Begins a small run or goes on with it. Later settings replace earlier ones."""
        values = dict(one.split("=", 1) for one in SMALL)
        if variant.startswith(("aurora-", "taxons-")):
            values["encoder.epochs"] = "3"
        values.update(one.split("=", 1) for one in settings)
        assignments = [f"{key}={value}" for key, value in values.items()]
        named = ["--variant", variant, "--iterations", iterations, "--out", out]
        return ["run", task, *named, "--resume", "--quiet", *assignments]

    def run(
        self,
        task: str,
        out: Path,
        *settings: str,
        variant: str = HAND_CODED,
        iterations: int = 60,
        **options: Any,
    ) -> Result:
        """A small run of one of our tasks (or of `program`), as it ended."""
        options.setdefault("program", self.tasks)
        words = self.words(task, out, *settings, variant=variant, iterations=iterations)
        return self.aurora(*words, **options)

    def finish(self, task: str, out: Path, *settings: str, **options: Any) -> "Outcome":
        """The same; Broken unless it finishes."""
        done = self.run(task, out, *settings, **options)
        require(done.status == 0, f"the run ended with {done}")
        return outcome_of(out)

    def end_children(self) -> None:
        for child in self.children:
            kill_group(child)
            child.wait()
        while self.children:  # orphans that we adopted
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break
        self.children.clear()

    # --- What is compiled once -------------------------------------------------------------------

    @property
    def tasks(self) -> Path:
        """The program with the tasks of tasks.cpp."""
        libraries = self.program.parent / "lib"
        command_line, library = libraries / "libaurora_cli.so", libraries / "libaurora.so"
        sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize=vptr"] if self.sanitized else []
        rpath = f"-Wl,-rpath,{libraries}"
        return self.compiled("tasks", f"-I{SOURCE}", command_line, library, rpath, *sanitizers)

    @property
    def preload(self) -> Path:
        return self.compiled("preload", "-shared", "-fPIC", "-ldl")

    def compiled(self, name: str, *options: Word) -> Path:
        made = self.shared / name
        if made.exists():
            return made
        candidates = (os.environ.get("CXX", "c++"), "g++", "clang++")
        compiler = next(filter(None, map(shutil.which, candidates)), None)
        if compiler is None:
            raise NotRun("no compiler")
        source = Path(__file__).parent / f"{name}.cpp"
        command = [compiler, "-std=c++20", "-O1", source, *options, "-o", made]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise Broken(f"{source.name} does not compile: {done.stderr.strip()[:200]}")
        return made

    # --- Runs to be damaged ----------------------------------------------------------------------

    def whole_run(self) -> Path:
        """A copy of a finished run with every kind of file that there is, and verified."""
        original = self.shared / "whole"
        if not original.exists():
            making = self.shared / "making"
            shutil.rmtree(making, ignore_errors=True)
            self.finish("nan", making, ALWAYS_SAVING, variant=LEARNED, iterations=100)
            done = self.aurora("retrain", making, "--epochs", 2, program=self.tasks)
            require(done.status == 0, f"retrain ended with {done}")
            done = self.verify(making)
            require(done.status == 0, f"a run that nobody has touched: verify says {done.out}")
            making.rename(original)
        return self.copy(original)

    def cut_run(self, iterations: int = 60, variant: str = HAND_CODED) -> tuple[Path, "Outcome"]:
        """A run that stopped on the way, with a checkpoint and a previous one, and what it would
        have come to."""
        whole = self.shared / f"cut-{variant}-{iterations}-whole"
        original = self.shared / f"cut-{variant}-{iterations}"
        if not original.exists():
            self.finish("tame", whole, variant=variant, iterations=iterations)
            half = iterations // 2
            self.finish("tame", original, ALWAYS_SAVING, variant=variant, iterations=half)
        return self.copy(original), outcome_of(whole)

    def copy(self, original: Path) -> Path:
        copy = self.folder / f"copy-{len(list(self.folder.glob('copy-*')))}"
        shutil.copytree(original, copy, symlinks=True)
        return copy

    def verify(self, run: Path, *words: Word, **options: Any) -> Result:
        return self.aurora("verify", run, *words, **{"program": self.tasks, **options})

    # --- Waiting, killing, mounting --------------------------------------------------------------

    def until(self, condition: Callable[[], Any], what: str, limit: float = 30) -> None:
        limit *= slowness()
        end = time.monotonic() + limit
        while not condition():
            require(time.monotonic() < end, f"waited {limit:g} s for {what}")
            time.sleep(0.002)

    def mount(self, *words: Word) -> Path:
        """`mount WORDS FOLDER`, in our own view of the file system; gone with the attack."""
        if not self.may_mount:
            raise NotRun("mounting needs root and a mount namespace")
        place = self.folder / f"mount-{len(self.mounts)}"
        place.mkdir()
        done = subprocess.run(
            ["mount", *map(str, words), str(place)], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise NotRun(f"mount {words_of(words)}: {done.stderr.strip()}")
        self.mounts.append(place)
        return place

    def unmount_all(self) -> None:
        for place in reversed(self.mounts):
            subprocess.run(["umount", "-l", str(place)], capture_output=True)
        self.mounts.clear()

    # --- Manifests -------------------------------------------------------------------------------

    def checksum(self, file: Path) -> str:
        return self.aurora("checksum", file, program=self.tasks).out.strip()

    def seal(self, run: Path, *folders: Path) -> None:
        """Makes the checksums of the manifests in `folders`, and of the run itself, match what is
        there: what a careful attacker would do."""
        for folder in (*folders, run):
            manifest = folder / "manifest.json"
            if not manifest.is_file():
                continue
            content = json.loads(manifest.read_text())
            for entry in content["files"] if isinstance(content.get("files"), list) else []:
                file = folder / str(entry.get("name")) if isinstance(entry, dict) else None
                if file and file.is_file():
                    entry.update(bytes=file.stat().st_size, xxh3=self.checksum(file))
            self.write_sealed(manifest, content)

    def write_sealed(self, file: Path, content: dict[str, Any]) -> None:
        """JSON as the program writes it, its checksum last."""
        text = json.dumps({k: v for k, v in content.items() if k != "checksum"}, indent=2) + "\n"
        file.write_text(text)
        digest = self.checksum(file)
        file.write_text(text[: -len("\n}\n")] + f',\n  "checksum": "{digest}"\n}}\n')


def kill_group(child: subprocess.Popen, number: int = signal.SIGKILL) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass


# --- What a run has come to ----------------------------------------------------------------------


@dataclass
class Outcome:
    hash: str
    metrics: bytes


def outcome_of(run: Path) -> Outcome:
    summary = json.loads((run / "run.json").read_text())
    require(summary["status"] == "finished", f"run.json says {summary['status']}")
    return Outcome(summary["container_hash"], (run / "metrics.csv").read_bytes())


def require_same(found: Outcome, wanted: Outcome, where: str) -> None:
    require(found.hash == wanted.hash, f"{where}: hash {found.hash} instead of {wanted.hash}")
    require(found.metrics == wanted.metrics, f"{where}: another metrics.csv")


def files_of(run: Path) -> list[Path]:
    """Every file of a run, by name; not the lock."""
    return sorted(one for one in run.rglob("*") if one.is_file() and one.name != ".lock")


def results_of(folder: Path) -> dict[str, bytes]:
    """Every file below that does not tell the time: seconds and dates are in run.json and
    encoder.csv, and so in the manifest that lists those, and in checkpoints; what hangs is said
    whenever it does."""
    timed = {"run.json", "encoder.csv", "hanging.txt", ".lock"}
    found = {}
    for file in files_of(folder):
        name = str(file.relative_to(folder))
        of_run = file.name == "manifest.json" and (file.parent / "run.json").exists()
        if file.name not in timed and not of_run and "checkpoint" not in name:
            found[name] = file.read_bytes()
    return found


def require_same_files(found: dict[str, bytes], wanted: dict[str, bytes], where: str) -> None:
    names = set(found) ^ set(wanted)
    require(not names, f"{where}: only in one of the two: {words_of(sorted(names))}")
    other = [name for name in wanted if found[name] != wanted[name]]
    require(not other, f"{where}: other bytes in {words_of(other)}")


def begin_process() -> bool:
    """Before anything else: orphans become ours, and so do mounts. True if we may mount."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    new_namespace, private, recursive = 0x20000, 1 << 18, 1 << 14
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return False
    if LIBC.unshare(new_namespace) != 0:
        return False
    return LIBC.mount(b"none", b"/", None, private | recursive, None) == 0
