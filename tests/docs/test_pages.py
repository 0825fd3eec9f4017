"""Links lead somewhere, every page is in the navigation, and no page speaks of a command, a flag or
a key that the program does not have."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pages import ROOT, SHELL, Page, docs, pages

PROGRAMS = {
    "aurora": os.environ["AURORA_PROGRAM"],
    "own_task": os.environ["AURORA_OWN_TASK"],
    "own_parts": os.environ["AURORA_OWN_PARTS"],
}
# It speaks of the past.
HISTORY = ("CHANGELOG.md",)
# Pages on which `run.NAME` and its like are variables of Python.
PYTHON = ("docs/results-from-python.md", "docs/python.md")
# Names of files look like keys.
FILES = re.compile(r"\.(json|toml|csv|npy|npz|png|cpp|hpp|py|md|txt|html|sh|jsonl|so|svg)$")
# What the site makes of files outside docs, or generates.
GENERATED = re.compile(r"(index|changelog|contributing|benchmarks)\.md$|commands\.md$|api/$")
# A call of the program: the sub-command and what follows.
CALL = re.compile(
    r"(?:^|[|;] *)(?:build/(?:bin/)?)?(?:aurora|own_task|own_parts) ([a-z][\w-]*)([^|>]*)"
)


def answer(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


@cache
def keys() -> dict[str, set[str]]:
    """Of every key the names that it takes, if it takes names."""
    found: dict[str, set[str]] = {}
    for program in PROGRAMS.values():
        for line in answer(program, "list", "options").splitlines():
            if key := re.match(r"  ([a-z_]+(?:\.[a-z_]+)+)\s", line):
                names = re.search(r"  one of ([^;]*)$", line.rstrip())
                found.setdefault(key[1], set()).update(names[1].split(", ") if names else ())
    assert "run.iterations" in found, "the list of options is not understood"
    return found


@cache
def commands() -> dict[str, set[str]]:
    """Of every sub-command its flags."""
    found: dict[str, set[str]] = {}
    text = answer(PROGRAMS["aurora"], "--help")
    for name in re.findall(r"^  ([a-z]+) {2,}\S", text.split("Subcommands:")[1], re.M):
        found[name] = set(re.findall(r"--[a-z][a-z-]*", answer(PROGRAMS["aurora"], name, "--help")))
    assert "run" in found and "--resume" in found["run"], "the help is not understood"
    return found


@cache
def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))


def code(page: Page) -> list[tuple[int, str, str]]:
    """Line, language and text of everything that is set as code, line by line."""
    found = [(span.line, "span", span.text) for span in page.spans]
    for block in page.blocks:
        language = "sh" if block.is_shell else block.language
        for number, line in enumerate(block.lines):
            found.append((block.line + number, language, line))
    return found


class Links(unittest.TestCase):
    def test_lead_somewhere(self) -> None:
        known = {page.path: page for page in pages()}
        wrong = []
        for page in known.values():
            for line, target in page.links:
                where = f"{page.name}:{line}: {target}"
                parts = urlsplit(target)
                if parts.scheme or parts.netloc:
                    if parts.scheme not in ("http", "https", "mailto") or not (
                        parts.netloc or parts.scheme == "mailto"
                    ):
                        wrong.append(f"{where}: no address")
                    continue
                if target.startswith("/"):
                    wrong.append(f"{where}: a link must be relative")
                    continue
                path = page.path
                if parts.path:
                    path = Path(os.path.normpath(page.path.parent / unquote(parts.path)))
                if not path.is_relative_to(ROOT) or not path.exists():
                    wrong.append(f"{where}: there is no such file")
                elif parts.fragment and path.suffix == ".md":
                    other = known.get(path) or Page(path)
                    if parts.fragment not in other.anchors:
                        wrong.append(f"{where}: there is no such heading")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_pictures_have_words_for_those_who_do_not_see_them(self) -> None:
        wrong = [
            f"{page.name}:{line}"
            for page in pages()
            for line, text in page.prose
            if re.search(r"!\[\s*\]\(", text)
        ]
        self.assertFalse(wrong)

    def test_pictures_are_shown_somewhere(self) -> None:
        shown = {
            Path(os.path.normpath(page.path.parent / target))
            for page in pages()
            for _, target in page.links
        }
        drawn = {path for ext in ("png", "svg") for path in (ROOT / "docs").rglob(f"*.{ext}")}
        self.assertFalse(drawn - shown, "pictures that no page shows")


class Navigation(unittest.TestCase):
    def test_has_every_page_once(self) -> None:
        text = (ROOT / "mkdocs.yml").read_text()
        listed = re.findall(r"^\s+- (?:[^:#]+: )?(\S+(?:\.md|/))$", text.split("\nnav:")[1], re.M)
        self.assertEqual(len(listed), len(set(listed)), "a page is listed twice")
        ours = {page.path.relative_to(ROOT / "docs").as_posix() for page in docs()}
        listed_ours = {name for name in listed if not GENERATED.search(name)}
        self.assertEqual(ours, listed_ours)


class Studies(unittest.TestCase):
    def test_page_has_every_key(self) -> None:
        """A key that does not exist makes the program say which do."""
        page = (ROOT / "docs/studies.md").read_text()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "study.toml")
            for text in ("nothing = 1\n[[study]]\n", "[[study]]\nnothing = 1\n"):
                file.write_text(text)
                command = [PROGRAMS["aurora"], "experiment", file, "--dry-run"]
                done = subprocess.run(command, capture_output=True, text=True)
                known = re.search(r"known there: (.*)", done.stderr)
                self.assertTrue(known, done.stderr)
                for key in known[1].split(", "):
                    self.assertRegex(page, rf"\| `\[*{key}[\].`]", f"a key of studies: {key}")


class Words(unittest.TestCase):
    """What is set as code is there."""

    def pages(self) -> list[Page]:
        return [page for page in pages() if page.name not in HISTORY]

    def test_keys(self) -> None:
        sections = {key.split(".")[0] for key in keys()}
        wrong = []
        for page in self.pages():
            for line, language, text in code(page):
                if language in ("cpp", "python", "cmake", "json"):
                    continue
                pattern = r"(?<![\w./-])([a-z_]+(?:\.[a-z_]+)+)(?![\w/(]|\.[A-Z*\w])( ?= ?)?(\S+)?"
                for key, equals, value in re.findall(pattern, text):
                    if key.split(".")[0] not in sections or FILES.search(key):
                        continue
                    if page.name in PYTHON and not equals and key not in keys():
                        continue
                    if key not in keys():
                        wrong.append(f"{page.name}:{line}: there is no key '{key}'")
                    elif equals.strip() and keys()[key]:
                        name = value.strip("\"',`;})")
                        if name not in keys()[key] and not re.match(r"[A-Z\[\"]", value):
                            wrong.append(f"{page.name}:{line}: {key} is never '{name}'")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_sub_commands_and_flags(self) -> None:
        wrong = []
        every_flag = set().union(*commands().values()) | {"--help", "--version"}
        for page in self.pages():
            for line, language, text in code(page):
                if language not in ("span", "", *SHELL):
                    continue
                text = re.sub(r"\s#\s.*", "", text)
                where = f"{page.name}:{line}"
                for call in re.finditer(CALL, text):
                    name, rest = call.groups()
                    if name not in commands():
                        wrong.append(f"{where}: there is no command 'aurora {name}'")
                        continue
                    for flag in re.findall(r"(?<!\S)(--[a-z][a-z-]*)", rest):
                        if flag not in commands()[name]:
                            wrong.append(f"{where}: 'aurora {name}' has no {flag}")
                if language == "span" and text.startswith("--"):
                    for flag in re.findall(r"(?<!\S)(--[a-z][a-z-]*)", text):
                        if flag not in every_flag:
                            wrong.append(f"{where}: no command has {flag}")
                for target in re.findall(r"^make ([a-z-]+)", text):
                    if target not in targets():
                        wrong.append(f"{where}: there is no 'make {target}'")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
