"""Makes a citation from the place that a writer names: finds its lines, blob and fingerprint, or refuses the place.

Only a tracked file inside the repository can be cited, and no file whose name says that it holds secrets. Lines with
too little text to be recognised again are cited together with their neighbours. Nothing is written here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.claims import definitions
from gitmem.claims.citations import MAX_CITATION_LINES, MAX_CITATIONS_PER_FACT, Citation, compose, fingerprint
from gitmem.errors import GitMemError, OutsideRepository, UsageError
from gitmem.git.objects import EXECUTABLE, REGULAR
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes
from gitmem.memory.document import blob_lines
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES

# A citation is recognised again if it has so many lines and characters apart from white space and brackets.
MIN_LINES, MIN_CHARS = 3, 40
_SECRET = re.compile(
    r"(?:^|/)(?:\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?|\.netrc|\.pgpass|\.npmrc|\.pypirc|id_(?:rsa|dsa|"
    r"ecdsa|ed25519)[^/]*|"
    r"[^/]*\.(?:pem|key|p12|pfx|keystore|jks|kdbx)|[^/]*(?:secret|credential)s?[^/]*\.(?:json|ya?ml|toml|txt|ini|"
    r"env))$|(?:^|/)\.(?:ssh|aws|gnupg)/",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"^(?P<path>.+?)(?::(?P<start>\d{1,7})(?:-(?P<end>\d{1,7}))?|#L(?P<l>\d{1,7})(?:-L?(?P<m>\d{1,7}))?|"
    r"#(?P<symbol>(?!.*:\d+(?:-\d+)?$)[A-Za-z_$][\w$.:-]*))$"
)


def citation_pairs(repo: Repository, places: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The pairs ("code", citation as text) for a fact's comment that cite these places (`src/auth.py:10-24`,
    `src/auth.py#Session.open`), in order.

    Raises UsageError for a place that does not exist or must not be cited (`make_citation`), and for more than
    MAX_CITATIONS_PER_FACT places.
    """
    if len(places) > MAX_CITATIONS_PER_FACT:
        raise UsageError(
            Message("a fact cites at most {} places", MAX_CITATIONS_PER_FACT), "cite the ones that would make it false"
        )
    return tuple(("code", compose(make_citation(repo, place))) for place in places)


def places_of(objects: Sequence[Mapping[str, Any]]) -> list[str]:
    """The places as text (`PATH:10-24` or `PATH#Session.open`) of the objects that an agent sends, each with `path` and
    either `lines` ("10-24", "L10-L24") or `symbol`. Raises UsageError for an object with both or neither. Whether a
    place exists is not checked."""
    places = []
    for cited in objects:
        path, lines, symbol = cited.get("path", ""), cited.get("lines", ""), cited.get("symbol", "")
        if bool(lines) == bool(symbol):
            raise UsageError(
                Message("'{}' is cited by lines or by a symbol", path[:80]), "lines '10-24', or symbol 'Session.open'"
            )
        place = f"{path}#{symbol}"
        if lines:
            place = f"{path}:{lines.replace('L', '')}"
        places.append(place)
    return places


def make_citation(repo: Repository, place: str) -> Citation:
    """The citation of one place (`src/auth.py:10-24`, `src/auth.py#Session.open`) as the work tree has it. Lines with
    too little text are cited with their neighbours; the citation of a symbol has 0 as its lines.

    Raises UsageError if the place does not exist, has more than MAX_CITATION_LINES lines, or must not be cited: Git
    does not track the file, its name says that it holds secrets, or it is binary or larger than MAX_MEMORY_FILE_BYTES.
    """
    match = _PLACE.match(place.strip())
    if match is None:
        raise UsageError(
            Message("'{}' names no lines and no symbol", place[:80]),
            "as in src/auth.py:10-24 or src/auth.py#Session.open",
        )
    path = match["path"].removeprefix("./")
    data = _read(repo, path)
    lines = blob_lines(data)
    if match["symbol"]:
        span = definitions.lines_of(lines, path, match["symbol"])
        if span is None:
            raise UsageError(
                Message("{} defines no '{}'", path, match["symbol"]), Message("cite lines: {}:10-24", path)
            )
        mark = fingerprint(lines[span[0] - 1 : span[1]])
        return Citation(path, 0, 0, match["symbol"], repo.hash_blob(data), mark)
    start = int(match["start"] or match["l"])
    end = int(match["end"] or match["m"] or start)
    if not 1 <= start <= end <= len(lines):
        raise UsageError(Message("{} has {} lines, not {} to {}", path, len(lines), start, end), "read it again")
    if end - start >= MAX_CITATION_LINES:
        raise UsageError(
            Message("a citation has at most {} lines", MAX_CITATION_LINES),
            "cite the ones that would make the fact false",
        )
    start, end = _with_neighbours(lines, start, end)
    return Citation(path, start, end, "", repo.hash_blob(data), fingerprint(lines[start - 1 : end]))


def _read(repo: Repository, path: str) -> bytes:
    """The bytes of a file of the work tree that may be cited. Raises UsageError for any other path."""
    if path.startswith(("/", "~")) or ".." in path.split("/") or "\\" in path or "\0" in path:
        raise UsageError(
            Message("'{}' is no path within the repository", path[:80]), "name it from the top of the repository on"
        )
    if _SECRET.search(path):
        raise UsageError(Message("'{}' is a file of secrets by its name", path[:80]), "cite what reads it")
    tracked = [entry for entry in repo.staged() if entry.path == path and entry.mode in (REGULAR, EXECUTABLE)]
    if not tracked or repo.root is None:
        raise UsageError(Message("Git tracks no file '{}'", path[:80]), "git add it first, or cite another")
    try:
        data = read_bytes(repo.root, path, MAX_MEMORY_FILE_BYTES + 1)
    except (OSError, OutsideRepository):
        raise UsageError(
            Message("'{}' is not in the work tree", path[:80]), "git status says what happened to it"
        ) from None
    if len(data) > MAX_MEMORY_FILE_BYTES or b"\0" in data:
        raise UsageError(
            Message("'{}' is no text of {} MiB at most", path[:80], MAX_MEMORY_FILE_BYTES >> 20), "cite another file"
        )
    return data


def _with_neighbours(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """(start, end) of lines, extended on both sides until they have MIN_LINES lines and MIN_CHARS characters; at most
    MAX_CITATION_LINES lines."""
    while True:
        bare = [re.sub(r"[\s{}()\[\];,]+", "", line) for line in lines[start - 1 : end]]
        texts = [text for text in bare if text]
        enough = len(texts) >= MIN_LINES and sum(map(len, texts)) >= MIN_CHARS
        if enough or (start == 1 and end == len(lines)) or end - start + 2 > MAX_CITATION_LINES:
            return start, end
        start, end = max(1, start - 1), min(len(lines), end + 1)


def ensure_quoted(repo: Repository, citations: Sequence[Citation], words: str) -> None:
    """Raise GitMemError if `words` is not the text that the cited lines of all `citations`, one after the other, have
    in the work tree now; white space may differ. An agent that confirms citations must quote their text. Raises
    UsageError for a file that must not be cited (`make_citation`)."""
    cited: list[str] = []
    for citation in citations:
        lines = blob_lines(_read(repo, citation.path))
        span: tuple[int, int] | None = (citation.start, citation.end)
        if citation.symbol:
            span = definitions.lines_of(lines, citation.path, citation.symbol)
        if span:
            cited += lines[span[0] - 1 : span[1]]
    if fingerprint(words.splitlines()) != fingerprint(cited):
        places = ", ".join(citation.place for citation in citations)
        raise GitMemError("the quoted text is not that of the cited lines", Message("quote {} as it stands", places))
