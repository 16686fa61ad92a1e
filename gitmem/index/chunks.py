"""Cuts documents into chunks and makes the words and the text by which search finds each chunk. Pure.

A chunk is whole lines: a section between headings, or a piece of one of about `Cut.size` tokens. A fenced block is
never cut. Front matter, and a heading without text of its own, go with the text that follows. Pieces are cut from the
start of the section, so that a line appended to a log changes only the last chunk. Search reads the text that it shows
from the blob, never from here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain, islice, repeat
from typing import NamedTuple

from gitmem.index.db.values import BlobRow, ChunkRow, Cut, Shape
from gitmem.index.line_records import HEADING
from gitmem.index.units import Unit, pack, units_of
from gitmem.memory.document import Document, parse
from gitmem.memory.fact import parse_comment
from gitmem.memory.front_matter import items_of
from gitmem.memory.outline import Heading
from gitmem.memory.statements import Form, Statement, trail_step
from gitmem.models.token_count import estimate
from gitmem.text.terms import distinct_term_count, terms

LineVectors = Callable[[Sequence[str]], Sequence[tuple[float, bytes]]]  # texts -> (length, vector) of each
Stored = Callable[[Sequence[bytes]], Set[bytes]]  # chunk hashes -> those whose lines the index has already
MAX_EMBEDDED_CHARS = 4000  # of a chunk that an embedder reads
# Keys of the front matter whose words find every chunk of the note.
INDEXED_KEYS = ("title", "name", "aliases", "description", "tags", "triggers")


def blob_row(oid: str, data: bytes, cut: Cut) -> BlobRow:
    """All that the index stores of a blob, but for the line vectors."""
    return blob_rows([(oid, data)], cut)[0]


def blob_rows(
    blobs: Sequence[tuple[str, bytes]], cut: Cut, vectors: LineVectors | None = None, stored: Stored | None = None
) -> list[BlobRow]:
    """What the index stores of each of many blobs (oid, bytes), in order. It is faster than `blob_row`, because each
    step goes over all blobs. A line with a secret gets no words, no vector and no hash.

    `vectors`: makes the line vectors; None for chunks without them. `stored`: is called once with all chunk hashes and
    returns those that the index has. These chunks get no line vectors: their `ChunkRow.lines` is b"".
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
    """What the index stores of messages of commits, in order: (oid of the commit, the bytes that `as_document` makes).
    `vectors`, `stored`: as for `blob_rows`, the maker of line vectors and the test for chunks that need none.

    A message is plain lines; front matter in it means nothing. No two commits share a chunk, so that the chunks of a
    snapshot tell which commits it has.
    """
    parts = []
    for oid, data in messages:
        title, _, text = data.decode("utf-8", "replace").partition("\0")
        hidden = _secret_lines(f"{title}\n{text.rstrip()}")  # one call for both: this is a third of the work
        lines = tuple(text.rstrip().split("\n"))
        document = Document("", lines, (), 0, {"title": "" if 1 in hidden else title}, (), (), ())
        parts.append((oid, data, document, {line - 1 for line in hidden if line > 1}))
    return _rows(parts, cut, vectors, stored, messages=True)


def as_document(author: str, paths: Iterable[str], message: str) -> bytes:
    """A commit as the bytes that `message_rows` reads: author and paths in one line, a NUL, the message. A search finds
    the commit by words of author and paths as by words of a heading."""
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
    """The rows of documents, as (oid, bytes, document, secret lines), in order. `vectors`, `stored`: as in `blob_rows`.
    `messages`: the documents are messages of commits."""
    drafts = [_drafts(document, cut, hidden, oid if messages else "") for oid, _, document, hidden in parts]
    new_drafts = {draft.hash: draft for pieces in drafts for draft in pieces}
    if stored is not None:
        for stored_hash in stored(list(new_drafts)):
            del new_drafts[stored_hash]
    records: dict[bytes, bytes] = {}
    unit_vectors: Iterator[tuple[float, bytes]] = repeat((0.0, b""))
    trails: dict[str, tuple[float, bytes]] = {}
    if vectors is not None:
        unit_vectors = iter(vectors([unit.text for draft in new_drafts.values() for unit in draft.units]))
        trail_texts = list(dict.fromkeys(draft.trail for draft in new_drafts.values() if draft.trail))
        trails = dict(zip(trail_texts, vectors(trail_texts), strict=True))
    for key, draft in new_drafts.items():
        vectors_of_units = list(islice(unit_vectors, len(draft.units)))
        records[key] = pack(draft.units, vectors_of_units, draft.steps, trails.get(draft.trail, (0.0, b"")))
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
    """The structure of a document: lines of its headings, fences and tables, and the keys of its front matter. If a
    line of the front matter is in `secret_lines`, there are no keys."""
    keys: list[tuple[str, str]] = []
    if not any(line <= document.front for line in secret_lines):
        for key, value in document.front_matter.items():
            keys += [(key, item) for item in items_of(value)]
    return Shape(
        headings=tuple((heading.line, heading.level) for heading in document.headings),
        fences=document.fences,
        tables=document.tables,
        front=document.front,
        keys=tuple(keys),
    )


def shape_of(data: bytes) -> Shape:
    """The structure of a blob as the index stores it, without the keys of a front matter with a secret. Secrets are
    looked for only if there is a front matter."""
    document = parse(data)
    if not document.front:
        return shape(document)
    return shape(document, _secrets(document))


def spans(document: Document, cut: Cut, statements: Sequence[Statement]) -> list[tuple[int, int, int]]:
    """(first line, last line, line of its heading or 0) of each chunk. Every line that is not blank is in a chunk;
    chunks of one section overlap by at most `cut.overlap` tokens."""
    lines = document.lines
    titles = {heading.line for heading in document.headings}
    pieces: list[tuple[int, int, int]] = []
    section: list[tuple[int, int, int]] = []  # first line, last line, tokens of each part that is not cut
    heading_line = 0
    has_body = False

    def close() -> None:
        if section:
            pieces.extend((first, last, heading_line) for first, last in _pack(section, cut))
            section.clear()

    for statement in statements:
        first, last = statement.first, statement.last
        if statement.form is Form.BLANK:
            if section:
                section.append((first, last, 0))
            continue
        sizes = [estimated_tokens(line) for line in lines[first - 1 : last]]
        if first in titles and statement.form is Form.HEADING:
            if has_body:
                close()
                has_body = False
            heading_line = first
        elif statement.form is not Form.FRONT_MATTER:
            has_body = True
        size = sum(sizes)
        if size > cut.size and statement.form is not Form.CODE:
            section.extend((first + offset, first + offset, tokens) for offset, tokens in enumerate(sizes))
        else:
            section.append((first, last, size))
    close()
    return pieces


def _pack(section: Sequence[tuple[int, int, int]], cut: Cut) -> list[tuple[int, int]]:
    """(first line, last line) of runs of at most `cut.size` tokens, without blank lines at either end. A larger part is
    a run of its own.

    `section`: (first line, last line, tokens) of its parts, 0 tokens for blank lines.
    """
    runs: list[tuple[int, int]] = []
    begin = 0
    size = 0
    for number, (_, _, tokens) in enumerate(section):
        if size and size + tokens > cut.size and tokens:
            runs.append((begin, number - 1))
            back = number
            overlap = 0
            while cut.overlap and back - 1 > begin and overlap + section[back - 1][2] <= cut.overlap:
                back -= 1
                overlap += section[back][2]
            begin, size = back, overlap
        size += tokens
    runs.append((begin, len(section) - 1))
    result = []
    for first, last in runs:
        while first < last and not section[first][2]:
            first += 1
        while last > first and not section[last][2]:
            last -= 1
        if section[first][2] or last > first:
            result.append((section[first][0], section[last][1]))
    return result


def estimated_tokens(line: str) -> int:
    """The estimated number of tokens of a line; 0 only for a blank line."""
    return 0 if not line or line.isspace() else estimate(line)


class _Draft(NamedTuple):
    """A chunk without line vectors: the fields of `ChunkRow`, with `units` in place of `lines`, and its trail.

    `steps`: for each step of the trail its number of words, and how many of them a question looks for. `trail`: the
    steps as one text.
    """

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
    """The chunks of a document. `owner`: mixed into the hashes, so that no other document shares a chunk; "" for none.

    Each chunk gets the words of the front matter, of the headings above it and of the statements above its first one.
    """
    lines = document.lines
    front_matter_words: list[str] = []
    if not any(line <= document.front for line in secret_lines):
        for key in INDEXED_KEYS:
            front_matter_words += items_of(document.front_matter.get(key, ()))
    path: list[Heading] = []
    headings = list(document.headings)
    next_heading = 0
    rows = []
    hidden = secret_lines | set(range(1, document.front + 1))
    statements = document.statements
    position = 0  # the first statement that has a line in the chunk
    for first, last, heading in spans(document, cut, statements):
        while next_heading < len(headings) and headings[next_heading].line <= heading:
            while path and path[-1].level >= headings[next_heading].level:
                path.pop()
            path.append(headings[next_heading])
            next_heading += 1
        while position and statements[position - 1].last >= first:  # chunks may overlap
            position -= 1
        while statements[position].last < first:
            position += 1
        positions = range(position, _end(statements, position, last))
        trail_steps = [*front_matter_words, *(trail_step(step.text) for step in path if step.line not in secret_lines)]
        trail_steps += [text for line, text in _above_the_chunk(statements, positions) if line not in secret_lines]
        # A hidden line becomes an empty one, because units count lines from the first line of the chunk.
        shown = [parse_comment(line)[0] if line.endswith("-->") else line for line in lines[first - 1 : last]]
        for number in hidden:
            if first <= number <= last:
                shown[number - first] = ""
        title, chunk_text = "\n".join(trail_steps), "\n".join(shown)
        identity = hashlib.sha256(f"{owner}{title}\0{chunk_text}".encode("utf-8", "surrogateescape")).digest()[:16]
        own_units = units_of([(number, statements[number]) for number in positions], shown, first)
        steps = [terms(text) for text in trail_steps]
        title_words = list(chain.from_iterable(steps))
        body_words = list(chain.from_iterable([unit.words for unit in own_units]))
        rows.append(
            _Draft(
                hash=identity,
                start=first,
                end=last,
                heading=heading,
                heading_words=" ".join(title_words),
                body_words=" ".join(body_words),
                length=len(body_words) + len(title_words),
                units=own_units,
                text=_text_to_embed(trail_steps, own_units),
                steps=[(len(words), distinct_term_count(text)) for words, text in zip(steps, trail_steps, strict=True)],
                trail=" ".join(trail_steps),
            )
        )
    return rows


def _end(statements: Sequence[Statement], position: int, last_line: int) -> int:
    """The position after the last statement that begins at or before a line."""
    while position < len(statements) and statements[position].first <= last_line:
        position += 1
    return position


def _above_the_chunk(statements: Sequence[Statement], positions: range) -> list[tuple[int, str]]:
    """(line, text) of the statements above the chunk that its first statement belongs to, the outermost first.

    `positions`: those of the chunk's statements.
    """
    first = next((statements[position] for position in positions if statements[position].has_content), None)
    if first is None:
        return []
    innermost_first: list[tuple[int, str]] = []
    position = first.under
    while position is not None:
        parent = statements[position]
        if position < positions.start:
            text = parent.text
            if parent.form is Form.TABLE_HEAD:
                text = " ".join(first.header)
            innermost_first.append((parent.first, trail_step(text)))
        position = parent.under
    return innermost_first[::-1]


def _text_to_embed(trail_steps: list[str], units: Sequence[Unit]) -> str:
    """The text for the embedder: the trail in the first line, then the units that are not headings."""
    text = "\n".join([" ".join(trail_steps), *(unit.text for unit in units if not unit.flags & HEADING)])
    return text[:MAX_EMBEDDED_CHARS].strip()
