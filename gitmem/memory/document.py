"""Any bytes as a Markdown document: lines, front matter, blocks (`outline`), facts, each with exact lines.

Pure, and never fails: what is wrong with the bytes is a `Problem`. Lines are Git's (ended by LF; a CR before it is
not part of the line), numbered from 1. Nothing inside a line is parsed but the comment of a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from gitmem.memory.fact import Fact, fact_id, normalise, parse_comment, split_bullet
from gitmem.memory.outline import Heading, outline
from gitmem.paths import LIMIT

FRONT_LIMIT = 64 << 10  # characters of front matter


class Fault(StrEnum):
    """What can be wrong with the bytes or the front matter."""

    LARGE = "too-large"
    UTF16 = "utf-16"
    CP949 = "cp949"
    UTF8 = "invalid-utf-8"
    NUL = "nul"
    CR = "cr-only"
    BOM = "bom"
    FRONT = "front-matter"


SKIPPED = (Fault.LARGE, Fault.UTF16, Fault.CP949)  # such a document has no lines


class Problem(NamedTuple):
    """What is wrong, where (line 0: the whole file) and what to type about it. Holds no text of the document."""

    fault: Fault
    line: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed memory file. `front` is the line that closes the front matter, 0 without one."""

    path: str
    lines: tuple[str, ...]
    problems: tuple[Problem, ...]
    front: int
    front_matter: Mapping[str, str | tuple[str, ...]]
    headings: tuple[Heading, ...]
    fences: tuple[tuple[int, int], ...]
    tables: tuple[tuple[int, int], ...]

    @property
    def skipped(self) -> str:
        """Why nothing of it is indexed, "" for a document that is."""
        return next((p.message for p in self.problems if p.fault in SKIPPED), "")

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every top-level bullet outside fences, tables and front matter, one a line."""
        return tuple(_facts(self))


def parse(data: bytes, path: str = "") -> Document:
    """Any bytes become a document. Time and memory are bounded by `LIMIT`: check a blob's size before reading it."""
    text, problems = decode(data, path)
    lines = split_lines(text)
    front, keys, more = _front_matter(lines)
    found = outline(lines, front)
    return Document(
        path=path,
        lines=tuple(lines),
        problems=(*problems, *more),
        front=front,
        front_matter=keys,
        headings=found.headings,
        fences=found.fences,
        tables=found.tables,
    )


def glance(data: bytes, path: str = "") -> Document:
    """Like `parse` for one who needs lines and front matter only: no headings, fences or tables are looked for."""
    text, problems = decode(data, path)
    lines = split_lines(text)
    front, keys, more = _front_matter(lines)
    return Document(path, tuple(lines), (*problems, *more), front, keys, (), (), ())


def structured(document: Document) -> dict[str, Any]:
    """The front matter whole, with what is nested in it: strings, lists and objects of them. {} where it is faulty."""
    if not document.front or any(problem.fault is Fault.FRONT for problem in document.problems):
        return {}
    import yaml

    value = yaml.load("\n".join(document.lines[1 : document.front - 1]), Loader=yaml.BaseLoader)  # strings only
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def split_lines(text: str) -> list[str]:
    """Git's lines: a last LF ends a line and starts none."""
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line.removesuffix("\r").replace("\r", " ") for line in lines]
    return lines


# -- bytes to text ---------------------------------------------------------------------------------------------------


def decode(data: bytes, path: str = "") -> tuple[str, list[Problem]]:
    """UTF-8, with U+FFFD for what is not; "" for what must be converted or is too large. Never raises."""
    if len(data) > LIMIT:
        size = f"{len(data) / LIMIT:.1f}"
        return "", [Problem(Fault.LARGE, 0, f"larger than 1 MiB ({size} MiB)", "split it into smaller notes")]
    name = path or "FILE"
    problems = []
    if _looks_utf16(data):
        convert = f"iconv -f UTF-16 -t UTF-8 -- '{name}' > utf8 && mv utf8 '{name}'"
        return "", [Problem(Fault.UTF16, 0, "is UTF-16, memory is UTF-8", convert)]
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
        problems.append(Problem(Fault.BOM, 1, "begins with a byte order mark", "save it without"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if _looks_cp949(data):
            convert = f"iconv -f CP949 -t UTF-8 -- '{name}' > utf8 && mv utf8 '{name}'"
            return "", [Problem(Fault.CP949, 0, "is CP949 (EUC-KR), memory is UTF-8", convert)]
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(Problem(Fault.UTF8, line, "holds bytes that are not UTF-8", "save it as UTF-8"))
        text = data.decode("utf-8", "replace")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.append(Problem(Fault.NUL, line, "holds NUL characters", "remove them"))
        text = text.replace("\0", "\ufffd")
    if "\r" in text and "\n" not in text.strip():
        problems.append(Problem(Fault.CR, 1, "ends its lines with CR only: Git sees one line", "use LF"))
    return text, problems


def _looks_utf16(data: bytes) -> bool:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    sample = data[:4096]
    if len(sample) < 8 or b"\0" not in sample:
        return False
    # ASCII as UTF-16 has a NUL in every other byte, all on one side.
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    return max(even, odd) > len(sample) * 0.4 and min(even, odd) < len(sample) * 0.02


def _looks_cp949(data: bytes) -> bool:
    """Decodes strictly and most of what is not ASCII becomes Hangul syllables of the KS X 1001 set."""
    try:
        text = data.decode("cp949")
    except UnicodeDecodeError:
        return False
    other = [c for c in text if c > "\x7f"]
    hangul = sum("가" <= c <= "힣" for c in other)
    return len(other) >= 2 and hangul > 0.7 * len(other)


# -- front matter ----------------------------------------------------------------------------------------------------

_SIMPLE = re.compile(r"([A-Za-z_][\w-]*):(?:[ ]+(.*))?$")
_QUOTED = re.compile(r"\"[^\"\\,]{0,500}\"$|'[^',]{0,500}'$")  # a comma could end it inside a list
_PLAIN = re.compile(r"[^\s\[\]{}&*!|>'\"%@`#,?:-][^\[\]{}#:'\"\\]*$|^-?\d[\w.:+-]*$")


def _front_matter(lines: list[str]) -> tuple[int, dict[str, str | tuple[str, ...]], list[Problem]]:
    """(closing line or 0, its keys, problems). Values are strings or lists of strings: no dates, no objects."""
    if not lines or lines[0].rstrip() != "---":
        return 0, {}, []
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    if not end:
        return 0, {}, []
    body = lines[1:end]
    keys = _simple(body)
    if keys is None:
        keys, problem = _yaml(body)
        if problem:
            return end + 1, keys, [problem]
    return end + 1, keys, []


def _simple(body: list[str]) -> dict[str, str | tuple[str, ...]] | None:
    """The common case without a YAML parser: `key: plain value`, `key: [a, b]`, `key:` with `- item` lines."""
    keys: dict[str, str | tuple[str, ...]] = {}
    items: list[str] | None = None
    name = ""
    for line in body:
        line = line.rstrip()
        if not line:
            continue
        item = re.match(r"[ ]*-[ ]+(.*)$", line)
        if item and items is not None:
            scalar = _scalar(item[1])
            if scalar is None:
                return None
            items.append(scalar)
            keys[name] = tuple(items)
            continue
        match = _SIMPLE.match(line)
        if match is None or match[1] in keys:
            return None
        name, value = match[1], (match[2] or "").strip()
        items = None
        if not value:
            items = []
            keys[name] = ""
        elif value.startswith("[") and value.endswith("]"):
            parts = [part.strip() for part in value[1:-1].split(",")] if value[1:-1].strip() else []
            scalars = [_scalar(part) for part in parts]
            if None in scalars:
                return None
            keys[name] = tuple(scalar for scalar in scalars if scalar is not None)
        elif (scalar := _scalar(value)) is not None:
            keys[name] = scalar
        else:
            return None
    return keys


def _scalar(text: str) -> str | None:
    """A plain or quoted scalar whose text is what stands there, None for any other."""
    if _QUOTED.match(text):
        return text[1:-1]
    return text if _PLAIN.match(text) else None


def _yaml(body: list[str]) -> tuple[dict[str, str | tuple[str, ...]], Problem | None]:
    """YAML whose scalars all stay strings; no aliases, no tags, no duplicate keys (THREATS A24)."""
    text = "\n".join(body)

    def fault(message: str) -> tuple[dict[str, str | tuple[str, ...]], Problem]:
        return {}, Problem(Fault.FRONT, 1, f"front matter {message}", "mend the lines between the two '---'")

    if len(text) > FRONT_LIMIT:
        return fault("is larger than 64 KB")
    if any(sum(map(line.count, "[{?-")) > 64 for line in body) or text.count("[") + text.count("{") > 512:
        return fault("is nested too deep")  # PyYAML's time grows with the square of the depth
    import yaml

    try:
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            if isinstance(event, yaml.AliasEvent):
                return fault("uses a YAML alias")
            if getattr(event, "tag", None) not in (None, "!"):
                return fault("uses a YAML tag")
        node = yaml.compose(text, Loader=yaml.BaseLoader)
        if node is None:
            return {}, None
        if not isinstance(node, yaml.MappingNode):
            return fault("is no list of keys")
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(names)) != len(names):
            return fault("has a key twice")
        loaded = yaml.load(text, Loader=yaml.BaseLoader)  # makes strings, lists and dicts only
    except (yaml.YAMLError, RecursionError, ValueError):
        return fault("is not valid YAML")
    keys: dict[str, str | tuple[str, ...]] = {}
    for name, value in loaded.items():
        if isinstance(value, str):
            keys[str(name)] = value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            keys[str(name)] = tuple(value)
        # Deeper values have no meaning to us; they stay in the text.
    return keys, None


# -- facts -----------------------------------------------------------------------------------------------------------


def _facts(document: Document) -> Iterator[Fact]:
    closed = [*document.fences, *document.tables]
    at = 0
    heading = ""
    headings = iter((*document.headings, None))
    coming = next(headings)
    closed.sort()
    for number, line in enumerate(document.lines, 1):
        while coming is not None and coming.line <= number:
            heading, coming = coming.text, next(headings)
        if number <= document.front:
            continue
        while at < len(closed) and closed[at][1] < number:
            at += 1
        if at < len(closed) and closed[at][0] <= number:
            continue
        bullet = split_bullet(line)
        if bullet is None:
            continue
        text = normalise(line)
        if text:
            yield Fact(text, fact_id(line), number, heading, parse_comment(bullet[1])[1])


def blob_lines(data: bytes) -> list[str]:
    """A blob's lines as a person counts them, without their ends."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n") if text else []
