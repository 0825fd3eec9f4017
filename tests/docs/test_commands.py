"""Every command and every piece of Python of the README and the pages is run, page by page, in
order, in an empty folder.

The programs are those of the build, seen through small.py, which makes long runs short; nothing
else of a command is changed. What cannot be run here stands in NOT_RUN with the reason.
"""

from __future__ import annotations

import importlib.util
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Iterator

import numpy as np

from pages import ROOT, Block, Page, docs

HAS_MODULE = importlib.util.find_spec("aurora_qd._core") is not None
PROGRAMS = {
    "aurora": os.environ["AURORA_PROGRAM"],
    "bin/own_task": os.environ["AURORA_OWN_TASK"],
    "bin/own_parts": os.environ["AURORA_OWN_PARTS"],
}

# The beginning of a command, and why it is not run.
NOT_RUN = {
    "make run": "packages and a build; the demonstration takes minutes",
    "make test": "these tests are part of it",
    "make hostile": "the test `hostile` runs a part of it",
    "make docs": "fetches MkDocs from the network",
    "make fuzz": "needs clang, and minutes",
    "make format": "changes the sources",
    "make bench": "measures for minutes",
    "scripts/endurance": "an hour",
    "scripts/tutorials": "the test `tutorials` does it",
    "scripts/wheel-pythons": "needs a wheel, and fetches packages",
    "scripts/gallery": "minutes, and it replaces pictures of the documentation",
    "apt-get": "installs packages",
    "aurora explore runs": "serves until it is ended; the test `server` does it",
    "build/aurora explore runs": "the same",
    "make explore": "the same",
    "sbatch": "needs a cluster; `make test-cluster` has one",
    "pip install": "compiles the library, and fetches packages",
    "make wheel": "the same",
    "mpirun": "the test `mpi` runs such commands",
    "cmake --install": "the test `install` does it",
    "build/aurora experiment experiments/paper-small.toml  ": "17 minutes; --dry-run is run",
    "build/aurora experiment experiments/paper-small.toml --out": "17 minutes; --dry-run is run",
    "build/aurora report DIR": "of that study",
    "aurora experiment experiments/batches.toml": "ten minutes and more",
    "AURORA_KILLS=200": "hours; the short version is a test",
    "AURORA_FLIPS=100000": "hours; the short version is a test",
}

# Pieces of Python that are not run as they stand, by how they begin.
PYTHON_NOT_RUN: dict[str, str] = {
    "ant, walk = aurora.gym(": "needs Gymnasium; `make test-python-extras` has it",
    "theirs = aurora.to_ribs(run)": "needs pyribs; `make test-python-extras` has it",
}

# Pages whose Python needs the extension module, which a build may not have.
NEEDS_MODULE = ("docs/python.md", "README.md")

# What a page takes for granted: runs that are made before its own commands, as they stand.
SMALL = "run.batch=4 container.target_size=50 encoder.update_step=100"
FLAT = f"--variant aurora-csc-uniform-2 --iterations 20 --out runs/flat {SMALL}"
GIVEN = {
    "docs/results-from-python.md": [FLAT, f"--iterations 500 {SMALL}"],
    "docs/reliability.md": [FLAT],
    "docs/explore.md": [FLAT],
    "docs/coming-from.md": [FLAT],
}

# Words that stand for something, and what is put in their place.
STANDS_FOR = {"RUN": "runs/flat", "DIR": "runs/flat"}

# A command within a sentence that has one of these is a pattern, not a command.
PATTERN = r"\.\.\.|KEY=VALUE|X,Y|\b(NAME|FILE|TASK|COMMAND|K)\b|-n\b|<|--genes$"

SHIM = '#!/bin/sh\nexec "{python}" "{small}" "{program}" "$@"\n'


def inline(page: Page) -> Iterator[tuple[int, str]]:
    """Commands within sentences: a program, a sub-command and at least one word more."""
    for span in page.spans:
        if re.match(r"(build/|)(aurora|bin/own_\w+) \w+ \S", span.text) or span.text in (
            "aurora list",
            "make help",
        ):
            if not re.search(PATTERN, span.text):
                yield span.line, span.text


def commands(page: Page) -> list[tuple[int, str]]:
    found = list(inline(page))
    for block in page.blocks:
        if block.is_shell:
            for number, line in enumerate(block.lines):
                if line.strip() and not line.startswith("#"):
                    found.append((block.line + number, line))
        elif block.language == "toml" and file_of(block):
            found.append((block.line, "write " + file_of(block)))
        elif block.language == "python":
            found.append((block.line, "python"))
    return sorted(found, key=lambda command: command[0])


def file_of(block: Block) -> str:
    """A block that begins with `# NAME.toml` is that file."""
    name = re.match(r"# (\S+\.toml)\b", block.lines[0])
    return name[1] if name else ""


def reason_not_to_run(command: str) -> str:
    for beginning, reason in NOT_RUN.items():
        if (command + "  ").startswith(beginning):
            return reason
    return ""


class Commands(unittest.TestCase):
    """A test for each page is added below."""

    def run_page(self, page: Page) -> None:
        with tempfile.TemporaryDirectory(prefix="aurora-docs-") as name:
            folder = Path(name)
            furnish(folder)
            for settings in GIVEN.get(page.name, []):
                self.run_one(folder, page, 0, f"{PROGRAMS['aurora']} run maze --quiet {settings}")
            script, waits = folder / "pieces.py", False
            for line, command in commands(page):
                if command.startswith("write "):
                    block = next(b for b in page.blocks if b.line == line)
                    (folder / file_of(block)).write_text(block.text + "\n")
                elif command == "python":
                    block = next(b for b in page.blocks if b.line == line)
                    if page.name in NEEDS_MODULE and not HAS_MODULE:
                        continue
                    if not any(block.text.startswith(start) for start in PYTHON_NOT_RUN):
                        with open(script, "a") as file:
                            file.write(f"# {page.name}:{block.line}\n{block.text}\n")
                        waits = True
                elif not reason_not_to_run(command):
                    if waits:
                        self.python(folder, script)
                    waits = False
                    self.run_one(folder, page, line, command)
            if waits:
                self.python(folder, script)

    def run_one(self, folder: Path, page: Page, line: int, command: str) -> None:
        for word, meaning in STANDS_FOR.items():
            command = re.sub(rf"(?<![\w/-]){word}(?![\w-])", meaning, command)
        environment = dict(os.environ, PATH=f"{folder / 'path'}:{os.environ['PATH']}")
        began = spent()
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
        )
        if "AURORA_DOCS_VERBOSE" in os.environ:
            print(f"{page.name}:{line}: {spent() - began:.1f} s: {command}", flush=True)
        # `yes | head` ends `yes` by a signal, which pipefail reports as 141.
        self.assertIn(
            done.returncode,
            (0, 141) if command.startswith("yes") else (0,),
            f"\n{page.name}:{line}: {command}\n{done.stdout[-1500:]}{done.stderr[-1500:]}",
        )

    def python(self, folder: Path, script: Path) -> None:
        """All pieces of a page are one script, as a reader would type them: up to the next command,
        which may need what they leave."""
        done = subprocess.run(
            [sys.executable, script],
            cwd=folder,
            env=dict(os.environ, MPLBACKEND="Agg"),
            capture_output=True,
            text=True,
            timeout=900,
        )
        self.assertEqual(done.returncode, 0, f"\n{script.read_text()}\n{done.stderr[-1500:]}")


def spent() -> float:
    """Processor time of all commands so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def furnish(folder: Path) -> None:
    """A folder that looks like the root of the repository after a build."""
    (folder / "build/bin").mkdir(parents=True)
    (folder / "path").mkdir()
    for name, program in PROGRAMS.items():
        shim = folder / "build" / name
        shim.write_text(
            SHIM.format(
                python=sys.executable, small=Path(__file__).with_name("small.py"), program=program
            )
        )
        shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    (folder / "path/aurora").symlink_to(folder / "build/aurora")
    for name in ("Makefile", "experiments", "scripts", "examples", "results"):
        (folder / name).symlink_to(ROOT / name)
    pictures = np.random.default_rng(1).integers(256, size=(5, 64, 64, 3), dtype=np.uint8)
    np.save(folder / "observations.npy", pictures)


class Table(unittest.TestCase):
    def test_has_nothing_that_no_page_says(self) -> None:
        said = [command + "  " for page in ALL for _, command in commands(page)]
        said += [span.text + "  " for page in ALL for span in page.spans]
        useless = [b for b in NOT_RUN if not any(command.startswith(b) for command in said)]
        self.assertFalse(useless, "no page says this any more")

    def test_blocks_of_commands_have_only_commands(self) -> None:
        from pages import COMMAND

        wrong = [
            f"{page.name}:{block.line + number}: {line}"
            for page in ALL
            for block in page.blocks
            if block.is_shell
            for number, line in enumerate(block.lines)
            if line.strip() and not line.startswith("#") and not COMMAND.match(line + " ")
        ]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))


ALL = [Page(ROOT / "README.md"), Page(ROOT / "CONTRIBUTING.md"), *docs()]


def add(page: Page) -> None:
    name = "test_" + re.sub(r"\W", "_", page.name.removesuffix(".md"))
    setattr(Commands, name, lambda self: self.run_page(page))


for _page in ALL:
    if commands(_page):
        add(_page)

if __name__ == "__main__":
    unittest.main()
