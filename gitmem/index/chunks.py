"""Chunks: what is indexed of a document, and the words and the text each is found by.

Pure. A chunk is whole lines: a section (headings split first) or a piece of one of about `Cut.size` tokens, never
cut inside a fenced block; front matter and headings without text of their own go with what follows. Pieces are cut
from the section's start, so a line appended to a log changes its last chunk only. What search may show is decided
at query time from the blob: nothing here is ever an answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain, islice, repeat
from typing import NamedTuple

from gitmem.index.db.values import BlobRow, ChunkRow, Cut, Shape
from gitmem.index.line_records import HEADING
from gitmem.index.units import Unit, pack, units
from gitmem.memory.document import Document, parse
from gitmem.memory.fact import parse_comment
from gitmem.memory.outline import Heading
from gitmem.memory.statements import Form, Statement, step
from gitmem.models.token_count import estimate
from gitmem.text.telling import telling_count
from gitmem.text.terms import terms

LineVectors = Callable[[Sequence[str]], Sequence[tuple[float, bytes]]]
Stored = Callable[[Sequence[bytes]], Set[bytes]]  # chunk hashes -> those of which the index has the lines already
EMBEDDED = 4000  # characters of a chunk that an embedder reads
# Front matter whose words find every chunk of the note.
SHOWN_KEYS = ("title", "name", "aliases", "description", "tags", "triggers")


def blob_row(
    oid: str, data: bytes, cut: Cut, secret_lines: Set[int] | None = None, vectors: LineVectors | None = None
) -> BlobRow:
    """Everything the index keeps of a blob. Lines with a secret (1-based) have no words, no vector, no hash.

    `vectors` gives the line vectors of `units.pack` for texts; without it they are left empty.
    """
    document = parse(data)
    if secret_lines is not None:
        hidden = secret_lines
    else:
        hidden = _secrets(document)
    return _rows([(oid, data, document, hidden)], cut, vectors)[0]


def blob_rows(
    blobs: Sequence[tuple[str, bytes]], cut: Cut, vectors: LineVectors | None = None, stored: Stored | None = None
) -> list[BlobRow]:
    """`blob_row` of many blobs, step by step: what a step needs stays in the processor's cache.

    Chunks that `stored` names, asked once for all of them, get no line vectors: their `ChunkRow.lines` is empty.
    """
    documents = [parse(data) for _, data in blobs]
    hidden = [_secrets(document) for document in documents]
    parts = [
        (oid, data, document, lines) for (oid, data), document, lines in zip(blobs, documents, hidden, strict=True)
    ]
    return _rows(parts, cut, vectors, stored)


def message_rows(
    messages: Sequence[tuple[str, bytes]], cut: Cut, vectors: LineVectors | None = None, stored: Stored | None = None
) -> list[BlobRow]:
    """`blob_rows` of commits' messages, each as `as_document` makes it, by the commits' oids.

    A message is lines and nothing more: what looks like front matter in it says nothing of it. No two commits share a
    chunk, so that the chunks of a snapshot say which commits it has.
    """
    parts = []
    for oid, data in messages:
        title, _, text = data.decode("utf-8", "replace").partition("\0")
        hidden = _secret_lines(f"{title}\n{text.rstrip()}")  # looked for once: it is a third of the work
        lines = tuple(text.rstrip().split("\n"))
        document = Document("", lines, (), 0, {"title": "" if 1 in hidden else title}, (), (), ())
        parts.append((oid, data, document, {line - 1 for line in hidden if line > 1}))
    return _rows(parts, cut, vectors, stored, messages=True)


def as_document(author: str, paths: Iterable[str], message: str) -> bytes:
    """A commit as `message_rows` reads it: who wrote it and what it touched find it as a heading's words do."""
    title = " ".join([author, *paths]).replace("\0", " ").replace("\n", " ")
    return f"{title}\0{message}".encode("utf-8", "replace")


def _rows(
    parts: Sequence[tuple[str, bytes, Document, Set[int]]],
    cut: Cut,
    vectors: LineVectors | None,
    stored: Stored | None = None,
    *,
    messages: bool = False,
) -> list[BlobRow]:
    drafts = [_drafts(document, cut, hidden, oid if messages else "") for oid, _, document, hidden in parts]
    new = {draft.hash: draft for pieces in drafts for draft in pieces}
    for known in stored(list(new)) if stored is not None else ():
        del new[known]
    records: dict[bytes, bytes] = {}
    made: Iterator[tuple[float, bytes]] = repeat((0.0, b""))
    trails: dict[str, tuple[float, bytes]] = {}
    if vectors is not None:
        made = iter(vectors([unit.text for draft in new.values() for unit in draft.units]))
        above = list(dict.fromkeys(draft.trail for draft in new.values() if draft.trail))
        trails = dict(zip(above, vectors(above), strict=True))
    for key, draft in new.items():
        own = list(islice(made, len(draft.units)))
        records[key] = pack(draft.units, own, draft.steps, trails.get(draft.trail, (0.0, b"")))
    return [
        BlobRow(
            oid=oid,
            bytes=len(data),
            secrets=len(hidden),
            problems=len(document.problems),
            skipped=document.skipped,
            shape=Shape() if messages else shape(document, hidden),
            chunks=tuple([ChunkRow(*draft[:7], records.get(draft.hash, b""), draft.text) for draft in pieces]),
        )
        for (oid, data, document, hidden), pieces in zip(parts, drafts, strict=True)
    ]


def _secrets(document: Document) -> Set[int]:
    if document.skipped:
        return frozenset()
    return _secret_lines("\n".join(document.lines))


def _secret_lines(text: str) -> Set[int]:
    from gitmem.gate.detectors.secrets.secrets import secret_lines

    return secret_lines(text)


def shape(document: Document, secret_lines: Set[int] = frozenset()) -> Shape:
    """The document's shape; keys of a front matter that holds a secret are left out."""
    keys: list[tuple[str, str]] = []
    if not any(line <= document.front for line in secret_lines):
        for key, value in document.front_matter.items():
            keys += [(key, item) for item in ([value] if isinstance(value, str) else value)]
    return Shape(
        headings=tuple((heading.line, heading.level) for heading in document.headings),
        fences=document.fences,
        tables=document.tables,
        front=document.front,
        keys=tuple(keys),
    )


def shape_of(data: bytes) -> Shape:
    """The shape of a blob, without what else `blob_row` makes of it: secrets are looked for where keys are alone."""
    document = parse(data)
    return shape(document, _secrets(document) if document.front else frozenset())


def spans(document: Document, cut: Cut, statements: Sequence[Statement]) -> list[tuple[int, int, int]]:
    """(first line, last line, heading's line or 0) of each chunk: every line that is not blank is in one."""
    lines = document.lines
    titles = {heading.line for heading in document.headings}
    pieces: list[tuple[int, int, int]] = []
    section: list[tuple[int, int, int]] = []  # first line, last line, tokens of what is not cut
    heading = 0
    bodied = False

    def close() -> None:
        if section:
            pieces.extend((first, last, heading) for first, last in _pack(section, cut))
            section.clear()

    for statement in statements:
        first, last = statement.first, statement.last
        if statement.form is Form.BLANK:
            if section:
                section.append((first, last, 0))
            continue
        sizes = [estimated_tokens(line) for line in lines[first - 1 : last]]
        if first in titles and statement.form is Form.HEADING:
            if bodied:
                close()
                bodied = False
            heading = first
        elif statement.form is not Form.FRONT_MATTER:
            bodied = True
        size = sum(sizes)
        if size > cut.size and statement.form is not Form.CODE:
            section.extend((first + at, first + at, tokens) for at, tokens in enumerate(sizes))
        else:
            section.append((first, last, size))
    close()
    return pieces


def _pack(section: Sequence[tuple[int, int, int]], cut: Cut) -> list[tuple[int, int]]:
    """Consecutive runs of at most `cut.size` tokens; blank lines at either end are left out."""
    packed: list[tuple[int, int]] = []
    begin = 0
    size = 0
    for number, unit in enumerate(section):
        if size and size + unit[2] > cut.size and unit[2]:
            packed.append((begin, number - 1))
            back = number
            kept = 0
            while cut.overlap and back - 1 > begin and kept + section[back - 1][2] <= cut.overlap:
                back -= 1
                kept += section[back][2]
            begin, size = back, kept
        size += unit[2]
    packed.append((begin, len(section) - 1))
    result = []
    for first, last in packed:
        while first < last and not section[first][2]:
            first += 1
        while last > first and not section[last][2]:
            last -= 1
        if section[first][2] or last > first:
            result.append((section[first][0], section[last][1]))
    return result


def estimated_tokens(line: str) -> int:
    """About how many tokens a line has; 0 only for a blank one."""
    if not line or line.isspace():
        return 0
    return estimate(line)


class _Draft(NamedTuple):
    """A chunk whose lines have no vectors yet: the fields of `ChunkRow`, with its units in the place of `lines`, the
    words of each step of its trail with those that tell, and the trail as one text."""

    hash: bytes
    start: int
    end: int
    heading: int
    heading_words: str
    body_words: str
    length: int
    units: list[Unit]
    text: str
    steps: list[tuple[int, int]]
    trail: str


def _drafts(document: Document, cut: Cut, secret_lines: Set[int], owner: str) -> list[_Draft]:
    """The chunks of a document; one with an `owner` is its own, whatever other document has the same text."""
    lines = document.lines
    named: list[str] = []
    if not any(line <= document.front for line in secret_lines):
        for key in SHOWN_KEYS:
            value = document.front_matter.get(key, ())
            named += [value] if isinstance(value, str) else value
    path: list[Heading] = []
    headings = list(document.headings)
    coming = 0
    rows = []
    hidden = secret_lines | set(range(1, document.front + 1))
    statements = document.statements
    at = 0  # the first statement that has a line in the chunk
    for first, last, heading in spans(document, cut, statements):
        while coming < len(headings) and headings[coming].line <= heading:
            while path and path[-1].level >= headings[coming].level:
                path.pop()
            path.append(headings[coming])
            coming += 1
        while at and statements[at - 1].last >= first:  # chunks may overlap
            at -= 1
        while statements[at].last < first:
            at += 1
        own = range(at, _end(statements, at, last))
        above = [*named, *(step(h.text) for h in path if h.line not in secret_lines)]
        above += [text for line, text in _above_the_chunk(statements, own) if line not in secret_lines]
        # A line left out stays as an empty one: the units count lines from the chunk's first.
        shown = [_visible(line) if line.endswith("-->") else line for line in lines[first - 1 : last]]
        for number in hidden:
            if first <= number <= last:
                shown[number - first] = ""
        title, text = "\n".join(above), "\n".join(shown)
        identity = hashlib.sha256(f"{owner}{title}\0{text}".encode("utf-8", "surrogateescape")).digest()[:16]
        made = units([(position, statements[position]) for position in own], shown, first)
        steps = [terms(text) for text in above]
        title_words = list(chain.from_iterable(steps))
        body_words = list(chain.from_iterable([unit.words for unit in made]))
        rows.append(
            _Draft(
                hash=identity,
                start=first,
                end=last,
                heading=heading,
                heading_words=" ".join(title_words),
                body_words=" ".join(body_words),
                length=len(body_words) + len(title_words),
                units=made,
                text=_embedded(above, made),
                steps=[(len(words), telling_count(text)) for words, text in zip(steps, above, strict=True)],
                trail=" ".join(above),
            )
        )
    return rows


def _end(statements: Sequence[Statement], at: int, last: int) -> int:
    """The position after the last statement that begins at or before a line."""
    while at < len(statements) and statements[at].first <= last:
        at += 1
    return at


def _above_the_chunk(statements: Sequence[Statement], own: range) -> list[tuple[int, str]]:
    """(line, text) of what the chunk's first statement stands below and the chunk has not, from the outside in."""
    first = next((at for at in own if statements[at].says), -1)
    above: list[tuple[int, str]] = []
    if first >= 0:
        at = statements[first].under
    else:
        at = -1
    while at >= 0:
        if at < own.start:
            if statements[at].form is Form.TABLE_HEAD:
                text = " ".join(statements[first].header)
            else:
                text = statements[at].text
            above.append((statements[at].first, step(text)))
        at = statements[at].under
    return above[::-1]


def _embedded(above: list[str], units: Sequence[Unit]) -> str:
    """What an embedder reads: the headings, then the text below them without its comments."""
    return "\n".join([" ".join(above), *(unit.text for unit in units if not unit.flags & HEADING)])[:EMBEDDED].strip()


def _visible(line: str) -> str:
    """A line without its `mem` comment."""
    return parse_comment(line)[0]
