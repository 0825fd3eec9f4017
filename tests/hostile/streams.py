"""What a terminal, a pipe or a shell may do to the three standard streams."""
from __future__ import annotations

import os

from lab import Lab, attack, files_of, outcome_of, require, require_same

LOG = "a log that cannot be written ends no run and gets into no file"


@attack("stderr is /dev/full", LOG, quick=True)
def full_log(lab: Lab) -> str:
    wanted = lab.finish("tame", lab.folder / "whole")
    with open("/dev/full", "wb") as full:
        words = [word for word in lab.words("tame", lab.folder / "run") if word != "--quiet"]
        done = lab.aurora(*words, program=lab.tasks, stderr=full)
    require(done.status == 0, f"the run ended with {done}")
    require_same(outcome_of(lab.folder / "run"), wanted, "its result")
    with open("/dev/full", "wb") as full:
        refused = lab.aurora("nonsense", stderr=full)
    require(refused.status == 2, f"'aurora nonsense' ended with {refused}")
    return "it ran to its end"


@attack("stderr is a pipe whose reader has gone", LOG, quick=True)
def closed_pipe(lab: Lab) -> str:
    wanted = lab.finish("tame", lab.folder / "whole")
    for stream in ("stderr", "stdout"):
        reader, writer = os.pipe()
        os.close(reader)
        out = lab.folder / stream
        words = [word for word in lab.words("tame", out) if word != "--quiet"]
        done = lab.aurora(*words, program=lab.tasks, **{stream: writer})
        os.close(writer)
        require(done.status == (0 if stream == "stderr" else 1), f"{stream}: {done}")
        require_same(outcome_of(out), wanted, stream)
    return "it ran to its end; a stdout without reader is an error after it"


@attack("descriptors 0 to 2 are closed", LOG, quick=True)
def closed_descriptors(lab: Lab) -> str:
    wanted = lab.finish("tame", lab.folder / "whole")
    for closed in ("<&- >&- 2>&-", "<&-", ">&-", "2>&-"):
        out = lab.folder / f"run {closed.count('-')}{len(closed)}{closed[0] == '<'}"
        words = [str(word) for word in lab.words("tame", out) if word != "--quiet"]
        script = f'exec "$0" "$@" {closed}'
        done = lab.aurora("-c", script, lab.tasks, *words, program="/bin/sh")
        require(done.status in (0, 1), f"{closed}: {done}")
        require_same(outcome_of(out), wanted, closed)
        for file in files_of(out):
            text = file.read_bytes()
            talk = b"iterations/s" in text or b"wall time" in text
            require(not talk, f"{closed}: progress in {file.relative_to(out)}")
        require(lab.verify(out).status == 0, f"{closed}: verify finds damage")
    return "all three, and each alone"


@attack("stdout is /dev/full", "an error of whoever writes to it", quick=True)
def full_output(lab: Lab) -> str:
    genes = " ".join(["0.5"] * 42)
    (lab.folder / "genes.txt").write_text(genes + "\n")
    for words in (["list"], ["evaluate", "maze", "--genes", "genes.txt"], ["--help"]):
        with open("/dev/full", "wb") as full:
            done = lab.aurora(*words, stdout=full)
        require(done.status == 1, f"aurora {words[0]}: {done}")
        require("No space left" in done.err, f"aurora {words[0]} says: {done.err}")
    return "list, evaluate, --help: status 1 and the reason"
