"""What the pages say: their links, headings, pieces of code and commands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/RESULTS.md")

# What a line of a block must begin with for the block to be commands.
COMMAND = re.compile(
    r"(aurora|build/\S+|make|cmake|ctest|scripts/\S+|apt-get|pip|python3|yes|echo|printf|export"
    r"|sbatch|curl|git|cd)\s"
)
SHELL = ("sh", "bash", "shell", "console")


@dataclass
class Block:
    """A piece of code that stands apart."""

    line: int
    language: str  # "" if it is indented, or its fence names none
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_shell(self) -> bool:
        return self.language in SHELL or (
            not self.language and bool(COMMAND.match(self.lines[0] + " "))
        )


@dataclass
class Span:
    """A piece of code within a sentence."""

    line: int
    text: str


class Page:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.relative_to(ROOT).as_posix()
        self.blocks: list[Block] = []
        self.prose: list[tuple[int, str]] = []  # what is in no block
        self._split(path.read_text(encoding="utf-8").splitlines())

    def _split(self, lines: list[str]) -> None:
        fence, block, in_list, before = "", None, False, ""
        for number, line in enumerate(lines, 1):
            if fence:
                if line.strip() == fence:
                    fence = ""
                else:
                    assert block
                    block.lines.append(line)
            elif opening := re.match(r"\s*(```+|~~~+)\s*(\w*)", line):
                fence = opening[1]
                block = Block(number, opening[2])
                self.blocks.append(block)
            elif re.match(r"    \S", line) and not in_list and before in ("", "code"):
                if before != "code":
                    block = Block(number, "")
                    self.blocks.append(block)
                assert block
                block.lines.append(line[4:])
                before = "code"
                continue
            else:
                if re.match(r"\s*([-*]|\d+\.)\s", line):
                    in_list = True
                elif line.strip() and not line.startswith(" "):
                    in_list = False
                self.prose.append((number, line))
            before = line.strip()
        assert not fence, f"{self.name}: a block of code has no end"

    @property
    def spans(self) -> Iterator[Span]:
        for number, line in self.prose:
            for _, text in re.findall(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", line):
                yield Span(number, text.strip())

    @property
    def links(self) -> Iterator[tuple[int, str]]:
        for number, line in self.prose:
            bare = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "code", line)
            for target in re.findall(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)", bare):
                yield number, target
            for target in re.findall(r"(?:src|href)=\"([^\"]+)\"", bare):
                yield number, target
            if named := re.match(r"\[[^\]]+\]:\s*(\S+)", bare):
                yield number, named[1]

    @property
    def anchors(self) -> set[str]:
        found: set[str] = set()
        for _, line in self.prose:
            if heading := re.match(r"#+\s+(.*)", line):
                slug = anchor_of(heading[1])
                number, unique = 0, slug
                while unique in found:
                    number += 1
                    unique = f"{slug}-{number}"
                found.add(unique)
            found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
        return found


def anchor_of(heading: str) -> str:
    """As GitHub makes it, and the site."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-")


def docs() -> list[Page]:
    return [Page(path) for path in sorted((ROOT / "docs").rglob("*.md"))]


def pages() -> list[Page]:
    return [Page(ROOT / name) for name in OUTSIDE] + docs()
