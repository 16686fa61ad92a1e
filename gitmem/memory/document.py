"""Any bytes as a Markdown document: lines, front matter, blocks (`outline`), facts, each with exact lines.

Pure, and never fails: what is wrong with the bytes is a `Problem`. Lines are Git's (ended by LF; a CR before it is
not part of the line), numbered from 1. Nothing inside a line is parsed but the comment of a fact.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from gitmem.git.objects import is_encrypted, is_lfs_pointer
from gitmem.memory import front_matter
from gitmem.memory.fact import Fact
from gitmem.memory.outline import Heading, Outline, outline
from gitmem.memory.statements import Statement, note_name, statements
from gitmem.paths import MAX_MEMORY_FILE_BYTES


class Fault(StrEnum):
    """What can be wrong with the bytes or the front matter."""

    LARGE = "too-large"
    UTF16 = "utf-16"
    CP949 = "cp949"
    LFS = "lfs-pointer"
    ENCRYPTED = "encrypted"
    UTF8 = "invalid-utf-8"
    NUL = "nul"
    CR = "cr-only"
    BOM = "bom"
    FRONT = "front-matter"


STILL_ENCRYPTED = "is encrypted by git-crypt: its text cannot be read here"
SKIPPED = (Fault.LARGE, Fault.UTF16, Fault.CP949, Fault.LFS, Fault.ENCRYPTED)  # such a document has no lines


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
    def statements(self) -> tuple[Statement, ...]:
        """What it says, piece by piece, named by its front matter or its path."""
        blocks = Outline(self.headings, self.fences, self.tables)
        return statements(self.lines, self.front, blocks, note_name(self.path, self.front_matter))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Its facts, as `facts.parse` reads them of the same bytes."""
        from gitmem.memory.facts import parse_lines  # searches read documents and need no facts

        return tuple(parse_lines(self.lines).facts)


def parse(data: bytes, path: str = "") -> Document:
    """Any bytes become a document. Time and memory are bounded by `LIMIT`: check a blob's size before reading it."""
    text, problems = decode(data, path)
    lines = split_lines(text)
    front = front_matter.read(lines)
    blocks = outline(lines, front.end)
    return Document(
        path=path,
        lines=tuple(lines),
        problems=(*problems, *_front_problems(front)),
        front=front.end,
        front_matter=front.keys,
        headings=blocks.headings,
        fences=blocks.fences,
        tables=blocks.tables,
    )


def glance(data: bytes, path: str = "") -> Document:
    """Like `parse` for one who needs lines and front matter only: no headings, fences or tables are looked for."""
    text, problems = decode(data, path)
    lines = split_lines(text)
    front = front_matter.read(lines)
    return Document(
        path,
        tuple(lines),
        (*problems, *_front_problems(front)),
        front.end,
        front.keys,
        headings=(),
        fences=(),
        tables=(),
    )


def _front_problems(front: front_matter.FrontMatter) -> list[Problem]:
    if not front.fault:
        return []
    return [Problem(Fault.FRONT, 1, f"front matter {front.fault}", "mend the lines between the two '---'")]


def structured(document: Document) -> dict[str, Any]:
    """The front matter whole, with what is nested in it: strings, lists and objects of them. {} where it is faulty."""
    if not document.front or any(problem.fault is Fault.FRONT for problem in document.problems):
        return {}
    return front_matter.nested(document.lines, document.front)


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
    if len(data) > MAX_MEMORY_FILE_BYTES:
        size = f"{len(data) / MAX_MEMORY_FILE_BYTES:.1f}"
        return "", [Problem(Fault.LARGE, 0, f"larger than 1 MiB ({size} MiB)", "split it into smaller notes")]
    name = shlex.quote(path or "FILE")
    if is_lfs_pointer(data):
        message = "is a pointer of Git LFS: its text is not here"
        return "", [Problem(Fault.LFS, 0, message, f"git lfs pull --include {name}")]
    if is_encrypted(data):
        unlock = "git-crypt unlock; git config --global mem.encryption git-crypt"
        return "", [Problem(Fault.ENCRYPTED, 0, STILL_ENCRYPTED, unlock)]
    problems = []
    if _looks_utf16(data):
        convert = f"iconv -f UTF-16 -t UTF-8 -- {name} > utf8 && mv -- utf8 {name}"
        return "", [Problem(Fault.UTF16, 0, "is UTF-16, memory is UTF-8", convert)]
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
        problems.append(Problem(Fault.BOM, 1, "begins with a byte order mark", "save it without"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if _looks_cp949(data):
            convert = f"iconv -f CP949 -t UTF-8 -- {name} > utf8 && mv -- utf8 {name}"
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


def blob_lines(data: bytes) -> list[str]:
    """A blob's lines as a person counts them, without their ends."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if not text:
        return []
    return text.removesuffix("\n").split("\n")
