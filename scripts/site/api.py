"""Pages of the C++ API, as Markdown, from the XML that Doxygen writes of the public headers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.etree.ElementTree import Element

KEYWORDS = {"struct": "struct", "class": "class", "concept": "concept"}


def public_headers(root: Path) -> list[str]:
    text = (root / "cmake/public_headers.cmake").read_text()
    return re.findall(r"^\s+(\S+\.hpp)\)?$", text, re.M)


def introduction(header: Path) -> str:
    """The comment at the top, as paragraphs and code."""
    lines = []
    for line in header.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    out: list[str] = []
    code = False
    for line in lines:
        if line.startswith("  ") and not code:
            out += ["", "```cpp"]
            code = True
        elif code and line and not line.startswith("  "):
            out += ["```", ""]
            code = False
        out.append(line[2:] if code and line else line)
    if code:
        out.append("```")
    return "\n".join(out)


def words(node: Element | None) -> str:
    """The text of a description."""
    if node is None:
        return ""
    parts = [node.text or ""]
    for child in node:
        inner = words(child)
        if child.tag == "computeroutput":
            inner = f"`{inner}`"
        elif child.tag in ("bold", "emphasis"):
            inner = f"*{inner}*"
        elif child.tag == "para":
            inner = inner.strip() + "\n\n"
        elif child.tag == "listitem":
            inner = "- " + inner.strip() + "\n"
        elif child.tag == "ndash":
            inner = "-"
        elif child.tag in ("parameterlist", "simplesect", "xrefsect"):
            inner = ""
        elif child.tag == "verbatim":
            inner = f"\n```\n{inner}\n```\n"
        parts += [inner, child.tail or ""]
    return "".join(parts)


def described(node: Element) -> str:
    texts = [words(node.find(tag)).strip() for tag in ("briefdescription", "detaileddescription")]
    text = "\n\n".join(text for text in texts if text)
    return re.sub(r"[ \t]*\n(?!\n)(?<!\n\n)", " ", text).replace("<", "&lt;")


def plain(node: Element | None) -> str:
    """Code, spaced as we write it."""
    if node is None:
        return ""
    text = re.sub(r"\s+", " ", "".join(node.itertext())).strip()
    text = re.sub(r"< ", "<", text)
    text = re.sub(r" >", ">", text)
    text = re.sub(r" ([*&]+)(?=\w|$|[,)])", r"\1 ", text)
    return text.replace(" ,", ",").replace(" )", ")").strip()


def template(node: Element) -> str:
    params = node.find("templateparamlist")
    if params is None:
        return ""
    said = []
    for param in params.findall("param"):
        name = plain(param.find("declname"))
        text = plain(param.find("type"))
        said.append(text if not name or name in text.split() else f"{text} {name}")
    return f"template <{', '.join(said)}>\n"


def declaration(member: Element) -> str:
    kind, name = member.get("kind"), member.findtext("name") or ""
    type_ = plain(member.find("type"))
    if kind == "enum":
        strong = "enum class" if member.get("strong") == "yes" else "enum"
        base = f" : {type_}" if type_ else ""
        lines = [f"{strong} {name}{base} {{"]
        for value in member.findall("enumvalue"):
            note = re.sub(r"\s+", " ", described(value))
            text = f"  {value.findtext('name')} {plain(value.find('initializer'))}".rstrip() + ","
            lines.append(text + (f"  // {note}" if note else ""))
        return "\n".join([*lines, "};"])
    if kind == "typedef":
        return f"using {name} = {re.sub('^using ', '', type_)};"
    if kind == "variable":
        said = plain(member.find("initializer"))
        if member.get("constexpr") == "yes" and "constexpr" not in type_:
            type_ = f"constexpr {type_}"
        if member.get("static") == "yes" and "static" not in type_:
            type_ = f"static {type_}"
        end = plain(member.find("argsstring"))
        return f"{type_} {name}{end}{' ' + said if said and len(said) < 60 else ''};"
    arguments = plain(member.find("argsstring")).replace("=default", " = default")
    arguments = arguments.replace("=0", " = 0").replace("=delete", " = delete")
    before = "virtual " if member.get("virt") == "virtual" else ""
    before = "static " if member.get("static") == "yes" else before
    before = "virtual " if member.get("virt") == "pure-virtual" else before
    before = "explicit " if member.get("explicit") == "yes" else before
    return (
        f"{template(member)}{before}{type_} {name}{arguments};".replace("  ", " ")
        .replace("\n ", "\n")
        .strip()
    )


def wrapped(line: str, width: int = 92) -> str:
    """A long declaration with its arguments on lines of their own."""
    head, _, rest = line.rpartition("\n")
    if len(rest) <= width or "(" not in rest:
        return line
    lines, begin = [], rest.index("(") + 1
    current, depth = rest[:begin], 0
    for piece in re.split(r"(?<=,) ", rest[begin:]):
        space = "" if current.endswith("(") else " "
        if depth == 0 and len(current) + len(piece) > width:
            lines.append(current)
            current, space = "    ", ""
        current += space + piece
        depth += piece.count("<") + piece.count("(") - piece.count(">") - piece.count(")")
        depth = max(depth, 0)
    return "\n".join([*([head] if head else []), *lines, current])


def listed(members: list[Element]) -> str:
    """Declarations with their texts; those without a text that follow each other share a block."""
    out: list[str] = []
    block: list[str] = []
    for member in members:
        text = described(member)
        short = member.get("kind") == "variable" and text and "\n" not in text
        line = declaration(member)
        if member.get("kind") == "function":
            line = wrapped(line)
        if short and len(line) + len(text) < 92:
            block.append(f"{line}  // {text}".replace("&lt;", "<"))
            continue
        if text:
            if block:
                out += ["```cpp", *block, "```", ""]
            out += ["```cpp", line, "```", "", text, ""]
            block = []
        else:
            block.append(line)
    if block:
        out += ["```cpp", *block, "```", ""]
    return "\n".join(out)


def line_of(node: Element) -> int:
    location = node.find("location")
    return int(location.get("line", "0")) if location is not None else 0


def file_of(node: Element) -> str:
    location = node.find("location")
    return location.get("file", "") if location is not None else ""


class Api:
    def __init__(self, root: Path, xml: Path) -> None:
        self.root = root
        self.headers = public_headers(root)
        self.compounds: dict[str, list[Element]] = {}
        self.free: dict[str, list[Element]] = {}
        for path in sorted(xml.glob("*.xml")):
            if path.name in ("index.xml", "Doxyfile.xml"):
                continue
            for compound in ElementTree.parse(path).iter("compounddef"):
                kind = compound.get("kind", "")
                if kind in KEYWORDS:
                    self.compounds.setdefault(file_of(compound), []).append(compound)
                elif kind == "namespace":
                    for member in compound.iter("memberdef"):
                        self.free.setdefault(file_of(member), []).append(member)

    def page_name(self, header: str) -> str:
        return "api/" + header.removesuffix(".hpp").replace("/", "-") + ".md"

    def pages(self) -> dict[str, str]:
        pages = {self.page_name(header): self.page(header) for header in self.headers}
        pages["api/index.md"] = self.overview()
        return pages

    def rooms(self) -> dict[str, list[str]]:
        rooms: dict[str, list[str]] = {}
        for header in self.headers:
            rooms.setdefault(header.rsplit("/", 1)[0], []).append(header)
        return rooms

    def overview(self) -> str:
        out = [
            "# The C++ API",
            "",
            "The headers that are installed: what is promised to users. Everything else may change "
            "at any time. All names are in the namespace `aurora`; link `aurora::aurora`, or "
            "`aurora::cli` for the command line as well. Sources and tests are in the repository.",
        ]
        for room, headers in self.rooms().items():
            out += ["", f"## {room}", "", "| header | what it has |", "|---|---|"]
            for header in headers:
                first = introduction(self.root / header).split("\n\n")[0].replace("\n", " ")
                first = re.split(r"(?<=[^l][.])\s(?=[A-Z])", first)[0].replace("|", "\\|")
                first = first.rstrip(":.").split(" ```")[0]
                name = header.rsplit("/", 1)[1]
                out.append(f"| [{name}]({self.page_name(header)[4:]}) | {first} |")
        return "\n".join(out) + "\n"

    def page(self, header: str) -> str:
        out = [f"# {header}", "", introduction(self.root / header), ""]
        out += ["```cpp", f'#include "{header}"', "```", ""]
        things: list[tuple[int, str]] = []
        for compound in self.compounds.get(header, []):
            things.append((line_of(compound), self.compound(compound)))
        free = sorted(self.free.get(header, []), key=line_of)
        # Free declarations that follow each other stand together, under a heading of their own.
        places = sorted(line for line, _ in things)
        groups: dict[int, list[Element]] = {}
        for member in free:
            after = max((place for place in places if place < line_of(member)), default=0)
            groups.setdefault(after, []).append(member)
        for after, members in groups.items():
            names = list(dict.fromkeys(member.findtext("name") or "" for member in members))
            title = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
            things.append((line_of(members[0]), f"## {title}\n\n{listed(members)}"))
        out += [text for _, text in sorted(things, key=lambda thing: thing[0])]
        return "\n".join(out) + "\n"

    def compound(self, node: Element) -> str:
        name = (node.findtext("compoundname") or "").removeprefix("aurora::")
        bases = [plain(base) for base in node.findall("basecompoundref")]
        kind = KEYWORDS[node.get("kind", "class")]
        head = f"{template(node)}{kind} {name.split('::')[-1]}"
        if kind == "concept":
            head = plain(node.find("initializer"))
        if bases:
            head += " : " + ", ".join(f"public {base}" for base in bases)
        out = [f"## {kind} {name}".replace("<", "&lt;"), "", described(node), ""]
        if bases or "\n" in head or kind == "concept":
            out += ["```cpp", head.rstrip(";") + ";", "```", ""]
        for shown, title in (("public", ""), ("protected", "For those who derive from it:")):
            members = [
                member
                for section in node.findall("sectiondef")
                for member in section.findall("memberdef")
                if member.get("prot") == shown
                and member.get("kind") in ("function", "variable", "typedef", "enum")
                and not (member.findtext("name") or "").startswith("~")
            ]
            if members:
                members.sort(key=line_of)
                out += [title, "", listed(members)]
        return "\n".join(out)
