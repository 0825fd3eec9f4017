"""What the site has besides docs/: the README and its like, the commands, the C++ API, sources that
pages link to, and KaTeX. Links are rewritten to where things are on the site."""

from __future__ import annotations

import html
import os
import posixpath
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/docs"), str(Path(__file__).parent)]

from api import Api  # noqa: E402
from pages import Page, docs  # noqa: E402

# Files outside docs/, and the pages that they become.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "bench/RESULTS.md": "benchmarks.md",
}
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".toml": "toml", ".cmake": "cmake"}
KATEX = Path("/usr/share/javascript/katex")
SECTIONS = {
    "run": "The run",
    "descriptor": "Descriptors",
    "algorithm": "The loop",
    "population": "Population loops",
    "encoder": "Encoders",
    "container": "Containers",
    "threshold": "Thresholds",
    "selection": "Selection",
    "variation": "Variation",
    "metrics": "Metrics",
    "task": "Tasks",
}

api = Api(ROOT, ROOT / "build/docs-api/xml")


def site_path(path: str) -> str:
    """Where a file of the repository is on the site."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}.md"


def target_of(page: Page, link: str) -> str | None:
    """The file of the repository that a link leads to."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not parts.path:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(page.name), parts.path))


def title_of(path: str) -> str:
    """The first heading of a page."""
    for line in (ROOT / path).read_text().splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return path


def rewritten(page: Page, here: str) -> str:
    """The page's text with links as they are on the site; `here` is its place there."""
    lines = page.path.read_text().splitlines()
    for number, line in page.prose:

        def replace(match: re.Match[str]) -> str:
            target = target_of(page, match[2])
            if target is None:
                return match[0]
            fragment = urlsplit(match[2]).fragment
            there = posixpath.relpath(site_path(target), posixpath.dirname(here) or ".")
            before = match[1]
            if before.endswith(".md]("):  # the name of a file becomes the title of its page
                before = f"[{title_of(target)}]("
            return before + there + (f"#{fragment}" if fragment else "") + match[3]

        pattern = r"((?:\[[\w/.-]+\.md)?\]\()([^)\s]+)((?:\s+\"[^\"]*\")?\))"
        lines[number - 1] = re.sub(pattern, replace, line)
    return "\n".join(lines) + "\n"


def source_page(path: str) -> str:
    """A file of the repository as a page, or a folder as the list of its files."""
    here = ROOT / path
    out = ["---", "search:", "  exclude: true", "---", f"# {path}", ""]
    if here.is_dir():
        out += [f"- [{name}]({Path(path).name}/{name}.md)" for name in files_of(path)]
    else:
        language = LANGUAGES.get(here.suffix, "text")
        out += [f"~~~~~{language}", here.read_text(), "~~~~~"]
    return "\n".join(out) + "\n"


def files_of(path: str) -> list[str]:
    return sorted(entry.name for entry in (ROOT / path).iterdir() if entry.is_file())


def sources() -> set[str]:
    """Everything outside docs/ that a page links to."""
    found = set()
    for page in [*docs(), *(Page(ROOT / name) for name in PAGES)]:
        for _, link in page.links:
            target = target_of(page, link)
            if target and target not in PAGES and not target.startswith("docs/"):
                found.add(target)
                if (ROOT / target).is_dir():
                    found.update(f"{target}/{name}" for name in files_of(target))
    return found


def program(*words: str) -> str:
    words = (str(ROOT / "build/aurora"), *words)
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def commands_page() -> str:
    """The program's own help, and its options as tables."""
    out = [
        "# Commands and options",
        "",
        "What the program says of itself: `aurora --help`, `aurora COMMAND --help` and "
        "`aurora list options`.",
        "",
    ]
    top = program("--help")
    for name in re.findall(r"^  ([a-z]+) {2,}\S", top.split("Subcommands:")[1], re.M):
        out += [f"## aurora {name}", "", "~~~text", program(name, "--help").strip(), "~~~", ""]
    out += [
        "## Options",
        "",
        "KEY=VALUE on the command line; in a file, `[section]` and `name = value`. Where a part is "
        "named, the key exists only in runs with that part. Tasks and variants have defaults of "
        "their own: `config.toml` of a run has what was used.",
        "",
    ]
    rows = [line for line in program("list", "options").splitlines() if re.match(r"  \w+\.", line)]
    whole = next(row for row in rows if len(re.findall(r"\S+(?: \S+)*", row)) == 5)
    starts = [match.start() for match in re.finditer(r"\S+(?: \S+)*", whole)]
    sections: dict[str, list[list[str]]] = {}
    for row in rows:
        cells = [row[a:b].strip() for a, b in zip(starts, [*starts[1:], None])]
        sections.setdefault(cells[0].split(".")[0], []).append(cells)
    for section, cells in sections.items():
        out += [f"### {SECTIONS.get(section, section)}", ""]
        out += ["| key | part | what it means | default | takes |", "|---|---|---|---|---|"]
        seen: dict[tuple[str, ...], list[str]] = {}
        for key, part, meaning, default, takes in cells:
            seen.setdefault((key, meaning, default, takes), []).append(part)
        for (key, meaning, default, takes), parts in seen.items():
            parts_text = " ".join(f"`{part}`" for part in parts if part)
            default = f"`{default}`" if default else ""
            out.append(f"| `{key}` | {parts_text} | {html.escape(meaning)} | {default} | {takes} |")
        out.append("")
    return "\n".join(out)


def on_config(config):
    """The pages of the API take the place of `api/` in the navigation."""
    rooms = [
        {room: [{header.rsplit("/", 1)[1]: api.page_name(header)} for header in headers]}
        for room, headers in api.rooms().items()
    ]

    def expand(items):
        for item in items:
            for title, value in item.items():
                if value == "api/":
                    item[title] = ["api/index.md", *rooms]
                elif isinstance(value, list):
                    expand(value)

    expand(config.nav)
    return config


def on_files(files, config):
    def add(name: str, content: str) -> None:
        files.append(File.generated(config, name, content=content))

    for name, place in PAGES.items():
        add(place, rewritten(Page(ROOT / name), place))
    for path in sources():
        add(site_path(path), source_page(path))
    for name, text in api.pages().items():
        add(name, text)
    add("commands.md", commands_page())
    here = Path(__file__).parent
    for name in ("site.css", "math.js", "worker.js"):
        add(f"assets/{name}", (here / name).read_text())
    for name in ("katex.min.js", "katex.min.css"):
        add(f"assets/katex/{name}", (KATEX / name).read_text())
    for font in sorted((KATEX / "fonts").glob("*.woff2")):
        source = os.path.realpath(font)
        name = f"assets/katex/fonts/{font.name}"
        files.append(File.generated(config, name, abs_src_path=source))
    return files


def on_page_markdown(markdown, page, config, files):
    path = ROOT / "docs" / page.file.src_uri
    if page.file.generated_by or not path.exists():
        return markdown
    return rewritten(Page(path), page.file.src_uri)


def on_post_build(config):
    """Nothing is loaded from elsewhere."""
    site = Path(config.site_dir)
    for path in site.rglob("*.html"):
        text = path.read_text()
        worker = posixpath.relpath("assets/worker.js", path.relative_to(site).parent.as_posix())
        text = text.replace("https://unpkg.com/iframe-worker/shim", worker)
        path.write_text(text)
        found = re.search(r"<(?:script|img|link)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*", text)
        if found:
            raise PluginError(f"{path} loads something from elsewhere: {found[0]}")
