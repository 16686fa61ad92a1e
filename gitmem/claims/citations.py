"""Where a fact came from in code: `code=PATH#L10-L24@BLOB12~FP8` in its comment, and whether that still holds.

Pure but for `verdict`, which reads one snapshot (`Code`). The fingerprint is of the lines' text, white space collapsed
and empty lines out: it stands by itself where the blob is lost. Nothing here moves an anchor; `anchoring` makes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from gitmem.claims.departure import Departure
from gitmem.claims.finding import State
from gitmem.git.repository import Repository
from gitmem.lazy_patterns import lazy
from gitmem.light_typing import TYPE_CHECKING, NamedTuple, Protocol
from gitmem.memory.fact import Fact, decode, encode
from gitmem.paths import MAX_MEMORY_FILE_BYTES

if TYPE_CHECKING:
    from gitmem.claims.history import History
    from gitmem.claims.tree import Tree

KEY, PROPOSED = "code", "read"  # `read`: what a session read of it, which nobody has confirmed and nothing judges
MAX_CITATIONS_PER_FACT = 3  # citations of one fact
FINGERPRINT = 8  # hex digits
MAX_CITATION_LINES = 120  # lines of one citation
MOST_BLANK = 12  # blank lines among cited ones that are allowed for where their blob is lost
_FORM = lazy(r"^([^#@\s]+)#(?:L(\d{1,7})(?:-L(\d{1,7}))?|([\w$.:-]+))(?:@([0-9a-f]{4,64}))?~([0-9a-f]{8})$")


class Citation(NamedTuple):
    """Lines `start` to `end` of a file, or the definition of `symbol` in it (then both are 0)."""

    path: str
    start: int
    end: int
    symbol: str
    blob: str
    fingerprint: str

    @property
    def place(self) -> str:
        """As a person writes it: `src/auth.py:10-24`, `src/auth.py#Session.open`."""
        if self.symbol:
            return f"{self.path}#{self.symbol}"
        return f"{self.path}:{self.start}" + (f"-{self.end}" if self.end != self.start else "")


class Verdict(NamedTuple):
    """What became of a citation: its state, a word on it, and where it is now (`start` 0: not found)."""

    citation: Citation
    state: State
    words: str
    path: str = ""
    start: int = 0
    end: int = 0
    commit: str = ""


class Code(Protocol):
    """The files of one snapshot, as citations ask them."""

    shallow: bool

    def closed(self, path: str) -> str:
        """Why what lies at a path is not this snapshot's to say, "" where it is."""

    def out_of_reach(self, path: str) -> str:
        """Why nothing follows from a path's not being there, "" where something does."""

    def has(self, path: str) -> bool:
        """Whether a file stands at a path."""

    def oid(self, path: str) -> str:
        """The blob of a file that stands."""

    def data(self, path: str) -> bytes | None:
        """What a file says, None where it is too large or not here."""

    def cited_blob(self, prefix: str) -> bytes | None:
        """The blob that begins so, None where it is not here."""

    def departure(self, path: str) -> Departure | None:
        """The commit that took a path away, and where it went."""


class TreeCode:
    """The files of a tree whose listing and history are at hand: the check's."""

    def __init__(self, tree: Tree, history: History) -> None:
        self.tree, self.history, self.shallow = tree, history, history.shallow

    def closed(self, path: str) -> str:
        if self.tree.beyond(path):
            return "it lies in a submodule or behind a link"
        if path not in self.tree.closed:
            return ""
        return "it is a link now"

    def out_of_reach(self, path: str) -> str:
        if not self.tree.ignored(path):
            return ""
        return "Git ignores it"

    def has(self, path: str) -> bool:
        return path in self.tree.oids

    def oid(self, path: str) -> str:
        return self.tree.oids[path]

    def data(self, path: str) -> bytes | None:
        oid = self.oid(path)
        if self.tree.repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) > MAX_MEMORY_FILE_BYTES:
            return None
        return self.tree.repo.read(oid)

    def cited_blob(self, prefix: str) -> bytes | None:
        return blob_with(self.tree.repo, prefix)

    def departure(self, path: str) -> Departure | None:
        return self.history.of_path(path)


def blob_with(repo: Repository, prefix: str) -> bytes | None:
    """The one object that begins so, None where there is none, or several are."""
    if prefix:
        found = repo.objects_with(prefix)
    else:
        found = []
    if len(found) != 1:
        return None
    return next(iter(repo.read_many(found)))[1]


def parse(value: str) -> Citation | None:
    """One value of the key; None for what is no citation."""
    match = _FORM.match(value)
    if match is None:
        return None
    start = int(match[2] or 0)
    end = int(match[3] or start)
    if not match[4] and not 1 <= start <= end < start + MAX_CITATION_LINES * 10:
        return None
    return Citation(decode(match[1]), start, end, match[4] or "", match[5] or "", match[6])


def compose(citation: Citation) -> str:
    """The value: `parse` gives the same citation back."""
    lines = f"L{citation.start}" + (f"-L{citation.end}" if citation.end != citation.start else "")
    blob = ""
    if citation.blob:
        blob = f"@{citation.blob[:12]}"
    return f"{encode(citation.path, '@#~')}#{citation.symbol or lines}{blob}~{citation.fingerprint}"


def cited(fact: Fact, name: str = KEY) -> list[Citation]:
    """The citations of a fact, `MAX_CITATIONS_PER_FACT` at most; with the name `PROPOSED` those that are proposed."""
    return [found for key, value in fact.meta if key == name and (found := parse(value))][:MAX_CITATIONS_PER_FACT]


def fingerprint(lines: Sequence[str]) -> str:
    """Of the lines' text alone: how they are indented and where blank ones stand does not matter."""
    return sha256("\n".join(_telling(lines)).encode("utf-8", "surrogateescape")).hexdigest()[:FINGERPRINT]


def lines_of(data: bytes) -> list[str]:
    """The lines of a file as documents count them; what is plain UTF-8 without more ado: a search waits for it."""
    if b"\0" not in data and b"\r" not in data and not data.startswith(b"\xef\xbb\xbf"):
        try:
            if not data:
                return []
            return data.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError:
            pass
    from gitmem.memory.document import blob_lines

    return blob_lines(data)


def _telling(lines: Sequence[str]) -> list[str]:
    return [text for line in lines if (text := " ".join(line.split()))]


def verdict(citation: Citation, code: Code) -> Verdict:
    """What became of a citation in a tree, the cheapest question first."""
    path = citation.path
    if (why := code.closed(path)) or (not code.has(path) and (why := code.out_of_reach(path))):
        return Verdict(citation, State.UNKNOWN, why)
    if code.has(path):
        if citation.blob and code.oid(path).startswith(citation.blob):
            return Verdict(citation, State.HOLDS, "unchanged", path, citation.start, citation.end)
        return _in_file(citation, code, path, "")
    left = code.departure(path)
    if left and code.has(left.renamed_to):
        return _in_file(citation, code, left.renamed_to, left.commit)
    if left is None and code.shallow:
        return Verdict(citation, State.UNKNOWN, "this clone is shallow")
    if left:
        words = f"{path} went in {left.commit[:12]}"
    else:
        words = f"there is no {path}"
    return Verdict(citation, State.GONE, words, commit=left.commit if left else "")


def _in_file(citation: Citation, code: Code, path: str, commit: str) -> Verdict:
    """What became of a citation whose file is `path` now."""
    data = code.data(path)
    if data is None:
        return Verdict(citation, State.UNKNOWN, "the file is too large, or is not here")
    renamed = ""
    if path != citation.path:
        renamed = f", in {path} now"
    old = None
    if not citation.symbol:
        old = code.cited_blob(citation.blob)
    if old is not None and (at := _byte_for_byte(citation, old, data)):
        return Verdict(citation, State.HOLDS, _moved(citation, at) + renamed, path, *at, commit)
    lines = lines_of(data)
    if citation.symbol:
        from gitmem.claims import definitions

        found = definitions.lines_of(lines, path, citation.symbol)
        if found is None:
            words = f"{path} defines {citation.symbol} no more"
            return Verdict(citation, State.GONE, words, path, commit=commit)
        same = fingerprint(lines[found[0] - 1 : found[1]]) == citation.fingerprint
        if same:
            state = State.HOLDS
        else:
            state = State.CHANGED
        return Verdict(citation, state, ("unchanged" if same else "its body changed") + renamed, path, *found, commit)
    if at := window(lines, citation, _cited_texts(citation, old)):
        return Verdict(citation, State.HOLDS, _moved(citation, at) + renamed, path, *at, commit)
    return Verdict(citation, State.CHANGED, "these lines changed" + renamed, path, commit=commit)


def holds_in(citation: Citation, data: bytes) -> bool:
    """Whether the cited lines, or the symbol with the same body, stand in a file's bytes."""
    lines = lines_of(data)
    if not citation.symbol:
        return window(lines, citation, ()) is not None
    from gitmem.claims import definitions

    found = definitions.lines_of(lines, citation.path, citation.symbol)
    return found is not None and fingerprint(lines[found[0] - 1 : found[1]]) == citation.fingerprint


def _moved(citation: Citation, at: tuple[int, int]) -> str:
    if at[0] == citation.start:
        return "unchanged"
    return f"moved to line {at[0]}"


def _byte_for_byte(citation: Citation, old: bytes, data: bytes) -> tuple[int, int] | None:
    """Where a file has the cited lines of the old one as they were, in one place; the usual case, in which no line of
    it is looked at."""
    block = b"\n".join(old.split(b"\n", citation.end)[citation.start - 1 : citation.end])
    if block:
        at = data.find(block)
    else:
        at = -1
    if at < 0 or (at and data[at - 1 : at] != b"\n") or data.find(block, at + 1) >= 0:
        return None
    if data[at + len(block) : at + len(block) + 1] not in (b"", b"\n"):
        return None
    if fingerprint(lines_of(block)) != citation.fingerprint:
        return None
    first = data.count(b"\n", 0, at) + 1
    return first, first + citation.end - citation.start


def _cited_texts(citation: Citation, old: bytes | None) -> list[str]:
    """The telling lines that were cited, [] where their blob is not here or has others."""
    if old is not None:
        texts = _telling(lines_of(old)[citation.start - 1 : citation.end])
    else:
        texts = []
    if fingerprint(texts) != citation.fingerprint:
        return []
    return texts


def window(lines: Sequence[str], citation: Citation, texts: Sequence[str]) -> tuple[int, int] | None:
    """The first and last line of the cited lines in a file, the nearest to where they were: `texts` where these are
    known, else a window with the fingerprint."""
    telling = [(number, text) for number, line in enumerate(lines, 1) if (text := " ".join(line.split()))]
    if texts:
        starts = [at for at, (_, text) in enumerate(telling) if text == texts[0]]
        sizes = [len(texts)]
    else:
        starts = list(range(len(telling)))
        span = min(citation.end - citation.start + 1, MAX_CITATION_LINES)
        sizes = list(range(span, max(0, span - MOST_BLANK), -1))
    starts.sort(key=lambda at: abs(telling[at][0] - citation.start))
    for size in sizes:
        for at in starts:
            found = [text for _, text in telling[at : at + size]]
            if len(found) < size or (texts and found != texts):
                continue
            if texts or fingerprint(found) == citation.fingerprint:
                return telling[at][0], telling[at + size - 1][0]
    return None
