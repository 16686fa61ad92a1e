"""Parse the bytes of a memory file into a `Document`: lines, front matter, headings, fences, tables, facts.

Pure. No input makes the parser raise: a defect in the bytes becomes a `Problem` of the document. Lines end with LF, as
in Git (a CR before the LF is not part of the line), and are numbered from 1. Inside a line only the metadata comment
of a fact is parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from gitmem.git.objects import is_encrypted, is_lfs_pointer
from gitmem.memory import front_matter
from gitmem.memory.fact import Fact
from gitmem.memory.outline import Heading, Outline, outline
from gitmem.memory.statements import Statement, note_name, statements
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.shell_word import shell_word


class Fault(StrEnum):
    """The kind of a defect of a document (`Problem`). The kinds in SKIPPED prevent it from being read at all."""

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
# A document with one of these faults has no lines and is not indexed.
SKIPPED = (Fault.LARGE, Fault.UTF16, Fault.CP949, Fault.LFS, Fault.ENCRYPTED)


class Problem(NamedTuple):
    """One defect of a document.

    `line`: the line that has the defect, 0 for the whole file. `message`: the defect, as the end of a sentence that
    begins with the path. `hint`: the command or the step that repairs the file, "" without one. Neither quotes text of
    the document.
    """

    fault: Fault
    line: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed memory file.

    `lines`: the lines without their ends; empty for a skipped document. `problems`: its defects. `front`: the line that
    closes the front matter, 0 without front matter. `front_matter`: its keys; empty if the YAML is faulty. `headings`,
    `fences`, `tables`: the blocks that `outline` found; empty if `parse_lines_only` made the document.
    """

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
        """The reason why the document is not indexed; "" for a document that is indexed."""
        return skip_reason(self.problems)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The document's statements in order; the first step of their trails is the title or the file's name. Only a
        document of `parse` has them: one of `parse_lines_only` knows no headings, fences and tables."""
        blocks = Outline(self.headings, self.fences, self.tables)
        return statements(self.lines, self.front, blocks, note_name(self.path, self.front_matter))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The document's facts, the same that `facts.parse` finds in its bytes."""
        from gitmem.memory.facts import parse_lines  # a search parses documents but reads no facts

        return tuple(parse_lines(self.lines).facts)


def parse(data: bytes, path: str = "") -> Document:
    """Parse the bytes of a memory file; never raises: defects are in `Document.problems`. `path`: named in hints, and
    in trails if the document has no title.

    Bytes beyond MAX_MEMORY_FILE_BYTES give a document without lines, so a caller should check the size of a blob before
    reading it.
    """
    document = parse_lines_only(data, path)
    blocks = outline(document.lines, document.front)
    return replace(document, headings=blocks.headings, fences=blocks.fences, tables=blocks.tables)


def parse_lines_only(data: bytes, path: str = "") -> Document:
    """Parse the lines and the front matter of any bytes; never raises. Unlike `parse` it leaves `headings`, `fences`
    and `tables` empty, which saves time."""
    text, problems = decode(data, path)
    lines = split_lines(text)
    front = front_matter.read(lines)
    if front.fault:
        hint = "mend the lines between the two '---'"
        problems.append(Problem(Fault.FRONT, 1, f"front matter {front.fault}", hint))
    return Document(path, tuple(lines), tuple(problems), front.end, front.keys, headings=(), fences=(), tables=())


def structured(document: Document) -> dict[str, Any]:
    """The whole front matter of a parsed document with its nested lists and objects; all scalars are strings. {}
    without front matter, and if the YAML is faulty."""
    if not document.front or any(problem.fault is Fault.FRONT for problem in document.problems):
        return {}
    return front_matter.nested(document.lines, document.front)


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends (LF or CRLF), split at LF only; a CR inside a line becomes a space. A
    final LF starts no further, empty line."""
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
    """Decode a memory file as UTF-8; return (text, problems). Never raises.

    A byte that is not UTF-8, and NUL, becomes U+FFFD. The text is "" for a file with a fault of SKIPPED.
    """
    if len(data) > MAX_MEMORY_FILE_BYTES:
        size = f"{len(data) / MAX_MEMORY_FILE_BYTES:.1f}"
        return "", [Problem(Fault.LARGE, 0, f"larger than 1 MiB ({size} MiB)", "split it into smaller notes")]
    name = shell_word(path or "FILE")
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


def skip_reason(problems: Iterable[Problem]) -> str:
    """The message of the first of the problems of a file for which its text is not read (SKIPPED); "" without one."""
    return next((problem.message for problem in problems if problem.fault in SKIPPED), "")


def _looks_utf16(data: bytes) -> bool:
    """Whether bytes are UTF-16: they have its byte order mark, or nearly every other byte of the first 4096 is NUL."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    sample = data[:4096]
    if len(sample) < 8 or b"\0" not in sample:
        return False
    # ASCII as UTF-16 has a NUL in every other byte, all on one side.
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    return max(even, odd) > len(sample) * 0.4 and min(even, odd) < len(sample) * 0.02


def _looks_cp949(data: bytes) -> bool:
    """Whether the bytes decode as CP949 without error, with at least two non-ASCII characters, of which more than 70 %
    are Hangul."""
    try:
        text = data.decode("cp949")
    except UnicodeDecodeError:
        return False
    non_ascii = [letter for letter in text if letter > "\x7f"]
    hangul = sum("가" <= letter <= "힣" for letter in non_ascii)
    return len(non_ascii) >= 2 and hangul > 0.7 * len(non_ascii)


def blob_lines(data: bytes) -> list[str]:
    """The lines of any blob without their ends (LF or CRLF). Unlike `parse` it does not handle a lone CR, front matter
    or faults."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n") if text else []
