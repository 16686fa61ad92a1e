"""Citations of code: `code=PATH#L10-L24@BLOB12~FP8` in the comment of a fact, and whether the cited code is unchanged.

Pure, except `verdict`, which reads files through `Code`. The fingerprint is a hash of the text of the cited lines, with
white space collapsed and without empty lines. It is enough to find the lines again if the blob is lost. `anchoring`
makes citations; no function changes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gitmem.claims.departure import Departure
from gitmem.claims.finding import State
from gitmem.git.repository import Repository
from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import Fact
from gitmem.memory.percent_encoding import decode, encode
from gitmem.paths import MAX_MEMORY_FILE_BYTES

if TYPE_CHECKING:
    from gitmem.claims.history import History
    from gitmem.claims.tree import Tree

# Keys of a comment: a citation, and one that only says what a session read. Nobody confirmed the latter, and it is not
# checked.
KEY, PROPOSED = "code", "read"
MAX_CITATIONS_PER_FACT = 3
FINGERPRINT_DIGITS = 8  # hex digits
MAX_CITATION_LINES = 120
MAX_BLANK_LINES = 12  # blank lines that the cited lines may have had, if their blob is lost
_FORM = lazy(r"^([^#@\s]+)#(?:L(\d{1,7})(?:-L(\d{1,7}))?|([\w$.:-]+))(?:@([0-9a-f]{4,64}))?~([0-9a-f]{8})$")


class Citation(NamedTuple):
    """Cited lines of a file, or a cited definition.

    `start`, `end`: the lines, from 1; both 0 for a definition. `symbol`: the name of the definition, "" for lines.
    `blob`: the first hex digits of the file's oid when it was cited, "" if unknown. `fingerprint`: of the cited lines.
    """

    path: str
    start: int
    end: int
    symbol: str
    blob: str
    fingerprint: str

    @property
    def place(self) -> str:
        """The citation as a person writes it: `src/auth.py:10-24`, `src/auth.py#Session.open`."""
        if self.symbol:
            return f"{self.path}#{self.symbol}"
        if self.end == self.start:
            return f"{self.path}:{self.start}"
        return f"{self.path}:{self.start}-{self.end}"


class Verdict(NamedTuple):
    """The result of checking a citation.

    `state`: HOLDS, CHANGED, GONE or UNKNOWN (`verdict`). `words`: the reason for a person. `path`: the file now, "" if
    it is gone or `state` is UNKNOWN. `start`, `end`: the lines now; 0 if they were not found, and for a symbol in an
    unchanged file. `commit`: the commit that removed or renamed the file, "" without one.
    """

    citation: Citation
    state: State
    words: str
    path: str = ""
    start: int = 0
    end: int = 0
    commit: str = ""


class Code(Protocol):
    """What `verdict` needs to read of one snapshot's files. `shallow`: whether the clone is shallow, so that old
    commits are missing."""

    shallow: bool

    def closed(self, path: str) -> str:
        """The reason why the snapshot cannot have a file at this path (it is in a submodule or behind a link); "" if it
        can have one."""

    def out_of_reach(self, path: str) -> str:
        """The reason why a missing file proves nothing (Git ignores it); "" if its absence is a proof."""

    def has(self, path: str) -> bool:
        """Whether the snapshot has a file at this path."""

    def oid(self, path: str) -> str:
        """The oid of a file that the snapshot has."""

    def data(self, path: str) -> bytes | None:
        """The bytes of a file; None if it is too large or missing."""

    def cited_blob(self, prefix: str) -> bytes | None:
        """The bytes of the blob whose oid begins with `prefix`; None without one."""

    def departure(self, path: str) -> Departure | None:
        """The commit that removed or renamed the path, and its new path; None if no commit did."""


class TreeCode:
    """The files of a tree whose listing and history the caller has already. It implements `Code`, for checks of all
    files."""

    def __init__(self, tree: Tree, history: History) -> None:
        self.tree, self.history, self.shallow = tree, history, history.shallow

    def closed(self, path: str) -> str:
        if self.tree.is_behind_link(path):
            return "it lies in a submodule or behind a link"
        if path in self.tree.closed:
            return "it is a link now"
        return ""

    def out_of_reach(self, path: str) -> str:
        return "Git ignores it" if self.tree.ignored(path, is_file=True) else ""

    def has(self, path: str) -> bool:
        return path in self.tree.oids

    def oid(self, path: str) -> str:
        return self.tree.oids[path]

    def data(self, path: str) -> bytes | None:
        """The bytes of a file of the tree; None if it is too large or its object is missing. Raises KeyError for
        another path."""
        oid = self.oid(path)
        if self.tree.repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) > MAX_MEMORY_FILE_BYTES:
            return None
        return self.tree.repo.read(oid)

    def cited_blob(self, prefix: str) -> bytes | None:
        return blob_with(self.tree.repo, prefix)

    def departure(self, path: str) -> Departure | None:
        return self.history.of_path(path)


def blob_with(repo: Repository, prefix: str) -> bytes | None:
    """The bytes of the only object whose oid begins with `prefix`; None if there is none, or several, or no prefix."""
    if not prefix:
        return None
    oids = repo.objects_with(prefix)
    return None if len(oids) != 1 else next(iter(repo.read_many(oids)))[1]


def parse(value: str) -> Citation | None:
    """Parse the value of a `code` key (`PATH#L10-L24@BLOB12~FP8`); None if it is not a citation, or if its lines are
    out of order or far more than MAX_CITATION_LINES."""
    match = _FORM.match(value)
    if match is None:
        return None
    start = int(match[2] or 0)
    end = int(match[3] or start)
    if not match[4] and not 1 <= start <= end < start + MAX_CITATION_LINES * 10:
        return None
    return Citation(decode(match[1]), start, end, match[4] or "", match[5] or "", match[6])


def compose(citation: Citation) -> str:
    """A citation as the value of a `code` key. `parse` returns the same citation, with the blob cut to 12 digits."""
    target = citation.symbol or f"L{citation.start}"
    if not citation.symbol and citation.end != citation.start:
        target += f"-L{citation.end}"
    if citation.blob:
        target += f"@{citation.blob[:12]}"
    return f"{encode(citation.path, '@#~')}#{target}~{citation.fingerprint}"


def citations_of(fact: Fact, name: str = KEY) -> list[Citation]:
    """The first MAX_CITATIONS_PER_FACT citations of a fact; values that `parse` refuses are skipped. `name`: the key of
    the comment, KEY or PROPOSED."""
    parsed = [parse(value) for key, value in fact.meta if key == name]
    return list(filter(None, parsed))[:MAX_CITATIONS_PER_FACT]


def fingerprint(lines: Sequence[str]) -> str:
    """The first FINGERPRINT_DIGITS hex digits of the SHA-256 of the lines, white space collapsed and blank lines left
    out. So indentation and blank lines do not change it."""
    return sha256("\n".join(_texts(lines)).encode("utf-8", "surrogateescape")).hexdigest()[:FINGERPRINT_DIGITS]


def lines_of(data: bytes) -> list[str]:
    """The decoded lines of a file without their ends, the same as `document.blob_lines`. Plain UTF-8 is split here
    without importing that module, as searches call this."""
    if data and b"\0" not in data and b"\r" not in data and not data.startswith(b"\xef\xbb\xbf"):
        with suppress(UnicodeDecodeError):
            return data.decode().removesuffix("\n").split("\n")
    from gitmem.memory.document import blob_lines

    return blob_lines(data)


def _texts(lines: Sequence[str]) -> list[str]:
    """The lines that are not blank, with white space collapsed."""
    return list(filter(None, [" ".join(line.split()) for line in lines]))


def verdict(citation: Citation, code: Code) -> Verdict:
    """Check a citation against a snapshot.

    HOLDS: the file, or the file with its new name, has the cited lines (anywhere), or the symbol with the same body.
    CHANGED: it has not. GONE: the snapshot lacks the file, or the file the symbol. UNKNOWN: the snapshot cannot answer
    (a submodule, a link, an ignored or too large file, a shallow clone). Raises GitMemError if the search for a rename
    lacks an object.
    """
    path = citation.path
    if (reason := code.closed(path)) or (not code.has(path) and (reason := code.out_of_reach(path))):
        return Verdict(citation, State.UNKNOWN, reason)
    if code.has(path):
        if citation.blob and code.oid(path).startswith(citation.blob):
            return Verdict(citation, State.HOLDS, "unchanged", path, citation.start, citation.end)
        return _in_file(citation, code, path, "")
    departure = code.departure(path)
    if departure is None and code.shallow:
        return Verdict(citation, State.UNKNOWN, "this clone is shallow")
    if departure is None:
        return Verdict(citation, State.GONE, f"there is no {path}")
    if code.has(departure.renamed_to):
        return _in_file(citation, code, departure.renamed_to, departure.commit)
    return Verdict(citation, State.GONE, f"{path} went in {departure.commit[:12]}", commit=departure.commit)


def _in_file(citation: Citation, code: Code, path: str, commit: str) -> Verdict:
    """Check a citation whose file has the path `path` now. `commit`: the commit that renamed the file, "" if it was not
    renamed."""
    data = code.data(path)
    if data is None:
        return Verdict(citation, State.UNKNOWN, "the file is too large, or is not here")
    renamed = f", in {path} now" if path != citation.path else ""
    old_data = None if citation.symbol else code.cited_blob(citation.blob)
    if old_data is not None and (place := _byte_for_byte(citation, old_data, data)):
        return Verdict(citation, State.HOLDS, _moved(citation, place) + renamed, path, *place, commit)
    lines = lines_of(data)
    if citation.symbol:
        from gitmem.claims import definitions

        definition = definitions.lines_of(lines, path, citation.symbol)
        if definition is None:
            words = f"{path} defines {citation.symbol} no more"
            return Verdict(citation, State.GONE, words, path, commit=commit)
        state, words = State.CHANGED, "its body changed"
        if fingerprint(lines[definition[0] - 1 : definition[1]]) == citation.fingerprint:
            state, words = State.HOLDS, "unchanged"
        return Verdict(citation, state, words + renamed, path, *definition, commit)
    if place := find_lines(lines, citation, _cited_texts(citation, old_data)):
        return Verdict(citation, State.HOLDS, _moved(citation, place) + renamed, path, *place, commit)
    return Verdict(citation, State.CHANGED, "these lines changed" + renamed, path, commit=commit)


def is_unchanged_in(citation: Citation, data: bytes) -> bool:
    """Whether a file has lines with the citation's fingerprint anywhere, or the cited symbol with the same body.
    `data`: the bytes of the file."""
    lines = lines_of(data)
    if not citation.symbol:
        return find_lines(lines, citation, ()) is not None
    from gitmem.claims import definitions

    definition = definitions.lines_of(lines, citation.path, citation.symbol)
    return definition is not None and fingerprint(lines[definition[0] - 1 : definition[1]]) == citation.fingerprint


def _moved(citation: Citation, place: tuple[int, int]) -> str:
    return "unchanged" if place[0] == citation.start else f"moved to line {place[0]}"


def _byte_for_byte(citation: Citation, old_data: bytes, data: bytes) -> tuple[int, int] | None:
    """(first, last) line of the only place in `data` that equals the cited lines of the blob `old_data`; None if they
    are there never or twice.

    This is the usual case, and the file need not be split into lines for it.
    """
    block = b"\n".join(old_data.split(b"\n", citation.end)[citation.start - 1 : citation.end])
    offset = data.find(block)
    if not block or offset < 0 or (offset and data[offset - 1 : offset] != b"\n") or data.find(block, offset + 1) >= 0:
        return None
    if data[offset + len(block) : offset + len(block) + 1] not in (b"", b"\n"):
        return None
    if fingerprint(lines_of(block)) != citation.fingerprint:
        return None
    first = data.count(b"\n", 0, offset) + 1
    return first, first + citation.end - citation.start


def _cited_texts(citation: Citation, old_data: bytes | None) -> list[str]:
    """The cited lines as `_texts` gives them; [] if their blob is missing or does not have the fingerprint."""
    if old_data is None:
        return []
    texts = _texts(lines_of(old_data)[citation.start - 1 : citation.end])
    return [] if fingerprint(texts) != citation.fingerprint else texts


def find_lines(lines: Sequence[str], citation: Citation, texts: Sequence[str]) -> tuple[int, int] | None:
    """(first, last) line, from 1, where the cited lines are in `lines` (a whole file) now, at the place nearest to
    their old one; None if the file lacks them.

    `texts`: the cited lines without blank ones, white space collapsed. If it is empty, lines with the citation's
    fingerprint are searched for.
    """
    collapsed = [" ".join(line.split()) for line in lines]
    rows = [(number, text) for number, text in enumerate(collapsed, 1) if text]
    if texts:
        starts = [row for row, (_, text) in enumerate(rows) if text == texts[0]]
        sizes = [len(texts)]
    else:
        starts = list(range(len(rows)))
        span = min(citation.end - citation.start + 1, MAX_CITATION_LINES)
        sizes = list(range(span, max(0, span - MAX_BLANK_LINES), -1))
    starts.sort(key=lambda row: abs(rows[row][0] - citation.start))
    for size in sizes:
        for row in starts:
            window = [text for _, text in rows[row : row + size]]
            if len(window) < size or (texts and window != texts):
                continue
            if texts or fingerprint(window) == citation.fingerprint:
                return rows[row][0], rows[row + size - 1][0]
    return None
