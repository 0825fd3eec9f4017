#!/usr/bin/env python3
"""A study on a real Slurm: a cluster of this one machine, in a scratch folder, on loopback.

    tests/cluster/slurm.py PROGRAM        (make test-cluster)

  plain     The job of a small study, as `aurora experiment --slurm` prints it, comes to the results
            of the same study run plainly, re-trainings too, and its logs have their names.
  limit     A run that is told of the end of its time by Slurm saves itself, goes back into the
            queue, goes on, and comes to the same result. (A minute or two.)
  notice    The same, told by hand (scancel --signal=USR1 --batch).
  preempted The same, put back into the queue by the controller as preemption does it.
  cancelled A run that is cancelled is saved, and stays out of the queue; the same job once more
            finishes it.
  array     The array of the paper's 1,860 runs is taken by a Slurm that has its usual limits.

It needs root, and munge and Slurm (apt-get install munge slurm-wlm): status 77 without. All daemons
are ours, and end with the test.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

PROGRAM = ""
NEEDED = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol"]
ITERATIONS = 600  # of a run that is cut off by hand
PAPER = Path(__file__).resolve().parents[2] / "experiments" / "paper.toml"

SMALL = """
[settings]
run.iterations = 150
run.batch = 32
container.target_size = 300
encoder.epochs = 3
[[study]]
name = "learned"
tasks = ["maze"]
variants = ["aurora-csc-uniform-2"]
replications = 2
retrain = true
[[study]]
name = "given"
tasks = ["maze"]
variants = ["hc-csc-uniform"]
replications = 3
"""

# Saved when it is told to, and never else.
LONG = """
[[study]]
name = "long"
tasks = ["maze"]
variants = ["aurora-csc-uniform-2"]
[settings]
run.iterations = ITERATIONS
run.batch = 32
run.log_every = 5
run.checkpoint_seconds = 0
container.target_size = 300
encoder.epochs = 3
"""


class Slurm:
    """munged, slurmctld and slurmd, each a process of ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        for name in ["munge", "state", "spool"]:
            (folder / name).mkdir(mode=0o700)
        key = folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.conf = folder / "slurm.conf"
        self.conf.write_text(self.configuration())
        self.environment = {**os.environ, "SLURM_CONF": str(self.conf)}

    def configuration(self) -> str:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            other.bind(("127.0.0.1", 0))
            ports = one.getsockname()[1], other.getsockname()[1]
        host = socket.gethostname().split(".")[0]
        at = self.folder
        return f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
# What goes back into the queue waits for 10 seconds, not for 2 minutes.
AuthInfo=socket={at}/munge/socket,cred_expire=10
SlurmUser=root
SlurmdUser=root
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd.pid
SlurmctldLogFile={at}/slurmctld.log
SlurmdLogFile={at}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
"""

    def start(self) -> None:
        at = self.folder / "munge"
        self.daemon(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={at}/key",
            f"--socket={at}/socket",
            f"--pid-file={at}/pid",
            f"--log-file={at}/log",
            f"--seed-file={at}/seed",
        )
        wait_until("munge answers", (at / "socket").exists)
        self.daemon("slurmctld", "-D", "-f", str(self.conf))
        self.daemon("slurmd", "-D", "-f", str(self.conf))
        wait_until("the node is there", lambda: "idle" in self.say("sinfo", "-h", check=False), 120)

    def daemon(self, *words: str) -> None:
        with open(self.folder / f"{words[0]}.out", "wb") as out:
            process = subprocess.Popen(words, stdout=out, stderr=out, env=self.environment)
        self.processes.append(process)

    def stop(self) -> None:
        if len(self.processes) == 3:
            self.say("scancel", "--user=root", check=False)
            time.sleep(1)
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def say(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(words, capture_output=True, text=True, env=self.environment)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def submit(self, script: Path, *options: str) -> str:
        return self.say("sbatch", "--parsable", *options, str(script)).strip()

    def queue(self, job: str) -> str:
        return self.say("squeue", "-h", "-j", job, "-o", "%t %r", check=False).strip()

    def wait(self, job: str, seconds: float = 1200) -> None:
        wait_until(f"job {job} has ended", lambda: not self.queue(job), seconds)


def wait_until(what: str, happened: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise RuntimeError(f"in vain for {seconds:.0f} s: {what}")
        time.sleep(0.1)


def aurora(*words: str) -> str:
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"aurora {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def results(experiment: Path) -> dict[str, str]:
    """What does not tell the time: hashes, metrics, re-trainings."""
    found = {}
    for file in sorted(experiment.glob("*/*/run.json")):
        run = json.loads(file.read_text())
        name = str(file.parent.relative_to(experiment))
        found[name] = f"{run['status']} {run['container_hash']}"
        found[name + " metrics"] = (file.parent / "metrics.csv").read_text()
        retrained = file.parent / "retrained" / "manifest.json"
        if retrained.exists():
            found[name + " retrained"] = retrained.read_text()
    return found


def expect(what: str, holds: bool) -> None:
    if not holds:
        raise RuntimeError(f"not so: {what}")


def job_of(study: Path, out: Path) -> Path:
    script = out.with_suffix(".sh")
    script.write_text(aurora("experiment", str(study), "--slurm", "--jobs", "2", "--out", str(out)))
    return script


def plain(slurm: Slurm, work: Path) -> None:
    (work / "small.toml").write_text(SMALL)
    aurora("experiment", str(work / "small.toml"), "--out", str(work / "plainly"))
    out = work / "100 % on a cluster"  # Slurm reads % in the names of logs
    script = job_of(work / "small.toml", out)
    job = slurm.submit(script)
    slurm.wait(job)
    expected = results(work / "plainly")
    expect("the job comes to the results of the plain study", results(out) == expected)
    expect("there are five runs, two of them re-trained", len(expected) == 5 + 5 + 2)
    logs = sorted(path.name for path in (out / "logs").iterdir())
    expect(f"the logs have their names: {logs}", logs == [f"small-{job}_{i}.out" for i in range(5)])
    slurm.wait(slurm.submit(script))
    expect("once more, it changes nothing", results(out) == expected)


class LongRun:
    """A run that is cut off in the middle."""

    def __init__(self, slurm: Slurm, work: Path, name: str, iterations: int) -> None:
        self.slurm = slurm
        study = work / f"{name}.toml"
        study.write_text(LONG.replace("ITERATIONS", str(iterations)))
        self.plainly = work / "plainly-long"
        self.out = work / name
        self.iterations = iterations
        self.run = self.out / "long" / "maze-aurora-csc-uniform-2-seed1"
        if iterations == ITERATIONS:
            aurora("experiment", str(study), "--out", str(self.plainly))  # once for all
        self.script = job_of(study, self.out)

    def rows(self) -> int:
        table = self.run / "metrics.csv"
        return table.read_text().count("\n") if table.exists() else 0

    def submit(self, *options: str) -> str:
        job = self.slurm.submit(self.script, *options)
        wait_until("the run goes on", lambda: self.rows() > 10)
        return job

    def saved(self) -> int:
        manifest = self.run / "checkpoint" / "manifest.json"
        return json.loads(manifest.read_text())["iteration"] if manifest.exists() else 0

    def expect_saved(self, seconds: float = 120) -> None:
        wait_until("the run is saved", lambda: self.saved() > 0, seconds)
        expect("it was in the middle", self.saved() < self.iterations)

    def expect_finished(self, job: str) -> None:
        self.slurm.wait(job)
        expect("it ends as the plain one", results(self.out) == results(self.plainly))


def limit(slurm: Slurm, work: Path) -> None:
    run = LongRun(slurm, work, "limit", 1_000_000)
    # Slurm looks every minute or so: somewhere in the first minute of the two.
    job = run.submit("--time=2", "--signal=B:USR1@90")
    run.expect_saved(180)
    wait_until("it is in the queue again", lambda: slurm.queue(job).startswith("PD"))
    slurm.say("scancel", job)
    slurm.wait(job)
    # Nobody waits for a million iterations: a few more from there, and as many in one go.
    end = str(run.saved() + 20)
    plainly = work / "limit-plainly" / "long" / "in-one-go"
    config = str(run.run / "config.toml")
    aurora("run", "--config", config, "--iterations", end, "--quiet", "--out", str(plainly))
    aurora("run", "--resume", "--iterations", end, "--quiet", "--out", str(run.run))
    both = [list(results(out).values()) for out in [run.out, work / "limit-plainly"]]
    expect("it ends as the plain one", both[0] == both[1])


def notice(slurm: Slurm, work: Path) -> None:
    run = LongRun(slurm, work, "notice", ITERATIONS)
    job = run.submit()
    slurm.say("scancel", "--signal=USR1", "--batch", job + "_0")
    run.expect_saved()
    wait_until("it is in the queue again", lambda: slurm.queue(job).startswith("PD"))
    run.expect_finished(job)


def preempted(slurm: Slurm, work: Path) -> None:
    run = LongRun(slurm, work, "preempted", ITERATIONS)
    job = run.submit()
    slurm.say("scontrol", "requeue", job + "_0")
    run.expect_saved()
    run.expect_finished(job)


def cancelled(slurm: Slurm, work: Path) -> None:
    run = LongRun(slurm, work, "cancelled", ITERATIONS)
    job = run.submit()
    slurm.say("scancel", job)
    run.expect_saved()
    slurm.wait(job)
    status = json.loads((run.run / "run.json").read_text())["status"]
    expect(f"it is interrupted: {status}", status == "interrupted")
    run.expect_finished(slurm.submit(run.script))


def array(slurm: Slurm, work: Path) -> None:
    script = job_of(PAPER, work / "paper")
    expect("1,860 runs", "# 1860 runs;" in script.read_text())
    slurm.say("scancel", slurm.submit(script, "--hold"))
    try:
        slurm.submit(script, "--hold", "--array=0-1859")
    except RuntimeError:
        return
    expect("this Slurm has the usual limit of an array", False)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        print(f"needs root, and: apt-get install munge slurm-wlm (missing: {missing})")
        return 77
    global PROGRAM
    PROGRAM = str(Path(sys.argv[1]).resolve())
    folder = Path(tempfile.mkdtemp(prefix="aurora_slurm_"))
    work = folder / "work"
    work.mkdir()
    slurm = Slurm(folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        slurm.start()
        for test in [plain, notice, preempted, cancelled, limit, array]:
            begin = time.monotonic()
            test(slurm, work)
            print(f"{test.__name__:<10} ok, {time.monotonic() - begin:.0f} s", flush=True)
    except RuntimeError as error:
        print(f"FAILED: {error}")
        for log in sorted(work.glob("*/logs/*.out")):
            print(f"--- {log.name}\n{log.read_text()[-2000:]}")
        print((folder / "slurmctld.log").read_text()[-3000:])
        return 1
    finally:
        slurm.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
