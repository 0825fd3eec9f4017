"""A machine that runs out of things: memory, disk, threads, time."""
from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

from lab import LEARNED, LIBC, Lab, NotRun, Result, attack, outcome_of
from lab import require, require_same

MEBIBYTE = 1 << 20
MEMORY = ("run.batch=512", "container.target_size=5000", "run.snapshot_every=0")


def ended_well(done: Result, where: str) -> None:
    """To its end, with an error in words, or killed from outside; never by an abort of ours."""
    if done.status in (0, -signal.SIGKILL):
        return
    require(done.refused, f"{where}: {done}")


@attack("ulimit -v with many threads", "an error in words, or the whole run", quick=True)
def many_threads(lab: Lab) -> str:
    refused, count = 0, 0
    for mebibytes in (60, 200) if lab.quick else (40, 60, 100, 200, 600, 2000):
        for threads in (64, 4096):
            out = lab.folder / f"{mebibytes}-{threads}"
            done = lab.run(
                "tame",
                out,
                f"run.threads={threads}",
                limits={resource.RLIMIT_AS: mebibytes * MEBIBYTE},
            )
            ended_well(done, f"{threads} threads in {mebibytes} MiB")
            refused, count = refused + (done.status != 0), count + 1
    return f"{refused} of {count} refused in words, the others ran"


@attack(
    "ulimit -f",
    "SIGXFSZ does not end it: an error of the write; resumed to the same hash",
    quick=True,
)
def file_limit(lab: Lab) -> str:
    wanted = lab.finish("tame", lab.folder / "whole", variant=LEARNED)
    refused, badly = 0, []
    for kilobytes in (1, 2, 4, 8, 16):
        out = lab.folder / str(kilobytes)
        limits = {resource.RLIMIT_FSIZE: kilobytes * 1024}
        done = lab.run("tame", out, variant=LEARNED, limits=limits)
        require(done.status == 0 or done.refused, f"{kilobytes} kB: {done}")
        require(done.status == 0 or "File too large" in done.err, f"{kilobytes} kB: {done}")
        refused += done.status != 0
        again = lab.run("tame", out, variant=LEARNED)
        if again.status != 0:
            badly.append(f"{kilobytes} kB: first status {done.status}, then {again}")
            continue
        require_same(outcome_of(out), wanted, f"{kilobytes} kB")
    require(not badly, "; ".join(badly))
    require(refused > 0, "no file met the limit")
    return f"{refused} of 5 limits met, resumed to the same hash"


@attack("out of memory", "an error in words or a kill; resumed to the same hash")
def out_of_memory(lab: Lab) -> str:
    words = lab.words("maze", lab.folder / "whole", *MEMORY, variant=LEARNED, iterations=25)
    done = lab.aurora(*words)
    require(done.status == 0, f"undisturbed: {done}")
    wanted, ended, badly = outcome_of(lab.folder / "whole"), [], []
    for name in ("RLIMIT_AS", "RLIMIT_DATA"):
        least = least_memory(lab, getattr(resource, name))
        for more in (2, 8, 20, 40, 80, 120, 200):
            out = lab.folder / f"{name}-{more}"
            words = lab.words("maze", out, *MEMORY, variant=LEARNED, iterations=25)
            limits = {getattr(resource, name): (least + more) * MEBIBYTE}
            done = lab.aurora(*words, limits=limits)
            if done.status not in (0, -signal.SIGKILL) and not done.refused:
                badly.append(f"{name} {least + more} MiB: {done}")
            ended.append(done.status)
            done = lab.aurora(*words)
            require(done.status == 0, f"resumed after {name}: {done}")
            require_same(outcome_of(out), wanted, f"resumed after {name} {least + more} MiB")
    require(not badly, "; ".join(badly) + " (all resumed to the same hash)")
    require(any(ended), "it always had enough")
    return f"{sum(map(bool, ended))} of {len(ended)} limits met, resumed to the same hash"


def least_memory(lab: Lab, name: int) -> int:
    """Mebibytes with which the program can say what it knows."""
    for mebibytes in range(4, 4000, 4):
        done = lab.aurora("list", "tasks", limits={name: mebibytes * MEBIBYTE})
        if done.status == 0:
            return mebibytes
    raise NotRun("it needs more than 4 GiB to begin with")


@attack("killed by the kernel for its memory", "resumed to the same hash")
def killed_for_memory(lab: Lab) -> str:
    """In a group of version 2 below our own, if we may make one."""
    group = own_group()
    below = group / f"aurora-hostile-{os.getpid()}"
    try:
        below.mkdir()
    except OSError as error:
        raise NotRun(f"no control group of our own: {error.strerror}") from None
    try:
        if not (below / "memory.max").exists():
            raise NotRun("control groups without memory")
        return in_group(lab, below)
    finally:
        below.rmdir()


def own_group() -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            group = Path("/sys/fs/cgroup" + line[3:])
            if (group / "cgroup.controllers").exists():
                return group
    raise NotRun("no control groups of version 2; 'out of memory' has the limits of a process")


def in_group(lab: Lab, group: Path) -> str:
    words = lab.words("maze", lab.folder / "whole", *MEMORY, variant=LEARNED, iterations=25)
    require(lab.aurora(*words).status == 0, "undisturbed, it fails")
    words = lab.words("maze", lab.folder / "run", *MEMORY, variant=LEARNED, iterations=25)
    (group / "memory.max").write_text(str(48 * MEBIBYTE))
    script = f'echo $$ >"{group}/cgroup.procs" && exec "$0" "$@"'
    killed = lab.aurora("-c", script, lab.program, *words, program=Path("/bin/sh"))
    require(killed.status == -signal.SIGKILL, f"it was not killed: {killed}")
    done = lab.aurora(*words)
    require(done.status == 0, f"resumed: {done}")
    require_same(outcome_of(lab.folder / "run"), outcome_of(lab.folder / "whole"), "resumed")
    return "killed, and resumed to the same hash"


# --- Disks ---------------------------------------------------------------------------------------


@attack(
    "a full disk",
    "the run goes on or says so; with room again, resumed to the same hash",
    quick=True,
)
def full_disk(lab: Lab) -> str:
    wanted = lab.finish("tame", lab.folder / "whole", variant=LEARNED)
    # In kB: from no room at all to room for all but the last files.
    sizes = (8, 64, 200, 400, 800) if lab.quick else range(8, 1000, 48)
    stopped = 0
    for size in sizes:
        disk = lab.mount("-t", "tmpfs", "-o", f"size={size}k", "tmpfs")
        done = lab.run("tame", disk / "run", variant=LEARNED)
        ended_well(done, f"{size} kB")
        require(done.status == 0 or "No space left" in done.err, f"{size} kB: {done}")
        stopped += done.status != 0
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        require_same(lab.finish("tame", disk / "run", variant=LEARNED), wanted, f"{size} kB")
        require(lab.verify(disk / "run").status == 0, f"{size} kB: verify finds damage")
        lab.unmount_all()
        disk.rmdir()
    require(stopped > 0, "there was always room")
    return f"{stopped} of {len(sizes)} sizes stopped it, resumed to the same hash"


@attack("a disk that is full for a while", "said on stderr, tried again; the run ends as it would")
def full_for_a_while(lab: Lab) -> str:
    wanted = lab.finish("slow", lab.folder / "whole", "run.snapshot_every=0", iterations=200)
    disk = lab.mount("-t", "tmpfs", "-o", "size=4m", "tmpfs")
    words = lab.words("slow", disk / "run", "run.snapshot_every=0", iterations=200)
    child = lab.start(*[word for word in words if word != "--quiet"], program=lab.tasks)
    lab.until(lambda: (disk / "run" / "checkpoint").exists(), "a checkpoint")
    with open(disk / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(bytes(4096)):
                pass
        except OSError:
            pass
    time.sleep(0.3)
    (disk / "filler").unlink()
    done = lab.wait(child)
    if done.status == 1:  # a row of a table met it
        require("No space left" in done.err, f"{done}")
        lab.finish("slow", disk / "run", "run.snapshot_every=0", iterations=200)
    else:
        require(done.status == 0, f"{done}")
        require("No space left" in done.err, "a checkpoint failed and nothing was said")
    require_same(outcome_of(disk / "run"), wanted, "with room again")
    return "went on" if done.status == 0 else "a row met it: stopped, resumed to the same hash"


@attack("a disk quota", "an error in words; with room again, resumed to the same hash")
def quota(lab: Lab) -> str:
    """Quotas do not hold root, so the run is nobody's."""
    make = shutil.which("mkfs.ext4") or shutil.which("mkfs.ext4", path="/sbin:/usr/sbin")
    if not make or not lab.may_mount:
        raise NotRun("needs root, mkfs.ext4 and a mount namespace")
    image, nobody = lab.folder / "image", 65534
    with open(image, "wb") as file:
        file.truncate(64 * MEBIBYTE)
    made = [make, "-q", "-O", "quota", "-E", "quotatype=usrquota", str(image)]
    if subprocess.run(made, capture_output=True).returncode != 0:
        raise NotRun("mkfs.ext4 makes no quotas")
    try:
        disk = lab.mount("-o", "loop,usrquota", image)
    except NotRun:
        raise NotRun("this kernel mounts no ext4 with quotas")
    device = next(
        line.split()[0]
        for line in Path("/proc/self/mounts").read_text().splitlines()
        if line.split()[1] == str(disk)
    )
    (disk / "runs").mkdir()
    os.chown(disk / "runs", nobody, nobody)
    for folder in (lab.folder, lab.shared, *lab.folder.parents):
        if os.stat(folder).st_uid == os.geteuid() and folder.is_relative_to(lab.shared.parent):
            os.chmod(folder, 0o755)
    wanted = lab.finish("tame", lab.folder / "whole", variant=LEARNED)
    as_nobody = {"user": nobody, "group": nobody, "extra_groups": [], "cwd": "/"}
    probe = lab.aurora("list", "tasks", program=lab.tasks, **as_nobody)
    if probe.status != 0:
        raise NotRun(f"nobody may not start the program: {probe}")
    stopped = 0
    for kilobytes in (100, 250, 500):
        set_quota(device, nobody, kilobytes)
        out = disk / "runs" / str(kilobytes)
        done = lab.run("tame", out, variant=LEARNED, **as_nobody)
        ended_well(done, f"{kilobytes} kB")
        require(done.status == 0 or "quota" in done.err, f"{kilobytes} kB: {done}")
        stopped += done.status != 0
        set_quota(device, nobody, 0)
        require_same(
            lab.finish("tame", out, variant=LEARNED, **as_nobody), wanted, f"{kilobytes} kB"
        )
        shutil.rmtree(out)
    require(stopped > 0, "the quota was never met")
    return f"{stopped} of 3 quotas stopped it, resumed to the same hash"


def set_quota(device: str, user: int, kilobytes: int) -> None:
    q_setquota, blocks = 0x800008 << 8, 1  # of users; QIF_BLIMITS
    limits = struct.pack("=8QI4x", kilobytes, kilobytes, 0, 0, 0, 0, 0, 0, blocks)
    if LIBC.quotactl(ctypes.c_int(q_setquota), device.encode(), user, limits) != 0:
        raise NotRun(f"no quota can be set: {os.strerror(ctypes.get_errno())}")


@attack(
    "a file system that cannot exchange names", "killed at any moment: the same hash", quick=True
)
def no_exchange(lab: Lab) -> str:
    """The C library of the real program says EINVAL, as it does there; build/bin/checkpoint_test
    holds the same with every fault in turn."""
    wanted = lab.finish("slow", lab.folder / "whole", iterations=30)
    env = {"LD_PRELOAD": str(lab.preload), "HOSTILE_NO_EXCHANGE": "1"}
    out, kills = lab.folder / "run", 0
    for _ in range(5 if lab.quick else 25):
        child = lab.start(*lab.words("slow", out, iterations=30), program=lab.tasks, env=env)
        time.sleep(lab.random.uniform(0, 0.3))
        child.kill()
        kills += lab.wait(child).status == -signal.SIGKILL
        if (out / "container").exists():
            require_same(lab.finish("slow", out, iterations=30, env=env), wanted, "killed")
            shutil.rmtree(out)
    require_same(lab.finish("slow", out, iterations=30, env=env), wanted, "killed")
    require(lab.verify(out).status == 0, "verify finds damage")
    left = [one.name for one in out.iterdir() if one.name.startswith(".")]
    require(not left, f"left behind: {left}")
    return f"{kills} kills"


@attack(
    "a clock that goes backwards", "changes no result; checkpoints come all the same", quick=True
)
def backwards(lab: Lab) -> str:
    wanted = lab.finish("slow", lab.folder / "whole", variant=LEARNED)
    env = {"LD_PRELOAD": str(lab.preload), "HOSTILE_CLOCK": "1"}
    out = lab.folder / "run"
    child = lab.start(*lab.words("slow", out, variant=LEARNED), program=lab.tasks, env=env)
    lab.until(lambda: (out / "checkpoint").exists() or child.poll() is not None, "a checkpoint")
    child.kill()
    killed = lab.wait(child).status == -signal.SIGKILL
    require_same(lab.finish("slow", out, variant=LEARNED, env=env), wanted, "backwards")
    checked = lab.verify(out, env=env)
    require(checked.status == 0, f"verify says {checked.out}")
    text = (out / "run.json").read_text()
    require("1970" not in text and '": -' not in text.split('"seconds"')[1], f"run.json: {text}")
    return "killed and resumed meanwhile, the same hash" if killed else "the same hash"
