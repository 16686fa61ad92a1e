"""The page of one fact: its text, its sources and whether they support it, its history, and the sessions that got
it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from gitmem.claims.cited_code import CodeExcerpt, compare_citations
from gitmem.errors import GitMemError, MissingFile, OutsideRepository
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, text_hash, values_of
from gitmem.memory.facts import SUPERSEDES
from gitmem.memory.snapshot import layout_at
from gitmem.provenance import why
from gitmem.provenance.authorship import shown_name
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.line_amendments import Amendment
from gitmem.provenance.present_facts import PresentFact
from gitmem.review.commit_diff import fact_changes
from gitmem.sessions import receipts
from gitmem.ui.view import View

MAX_EDITS = 20  # that an old URL of a fact is followed through
_ID = re.compile(r"[0-9a-f]{12}")
CONTEXT_LINES = 3  # above and below a source


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a quoted file. `cited`: it belongs to the source, not to the lines around it."""

    number: int
    text: str
    cited: bool


@dataclass(frozen=True, slots=True)
class Recalls:
    """How often sessions got the fact. `sessions`: how many different ones. `last`: the last time, None for never."""

    times: int
    sessions: int
    last: datetime | None


def page(view: View) -> Response:
    """The page of the fact whose id the URL names. The URL of a fact that was edited redirects to the id that the fact
    has now. Raises MissingFile when the snapshot has no such fact, and the other errors of `fact_of_url`."""
    try:
        row = fact_of_url(view)
    except MissingFile:
        successor = _current_version(view, view.parts.get("id", ""))
        if successor is None:
            raise
        return view.redirect("fact", successor.fact.id, path=successor.path)
    answer = why.why(view.repo, view.config, row.path, row.fact.line, view.snapshot.commit, now=view.now)
    quotes = [(source, _quoted(view, source)) for source in answer.sources]
    cited_code = compare_citations(view.repo, values_of(row.fact.meta, "code"), view.snapshot.commit)
    code = [(citation, _numbered(citation.then), _numbered(citation.now)) for citation in cited_code]
    equal = view.facts.by_id.get(row.fact.id, [])
    older = [(value, view.facts.first_with(value)) for key, value in row.fact.meta if key == SUPERSEDES]
    newer = view.facts.successors(row.fact.id)
    replaced = [other for _, other in older if other]
    return view.render(
        "fact.html", row=row, was=_former_text(view, row, answer), answer=answer, quotes=quotes, older=older, code=code,
        newer=newer, amended_by=_without_shown(answer.links.amended_by, newer),
        amends=_without_shown(answer.links.supersedes, replaced), alike=[other for other in equal if other != row],
        listed=row in equal, recalls=_recalls(view, row.fact.id), promotions=_promotions(view, answer),
        legible=view.mask(row).fact.text == row.fact.text,
    )  # fmt: skip


def _without_shown(amendments: Sequence[Amendment], rows: Sequence[PresentFact]) -> list[Amendment]:
    """The amendments without those by a statement in `rows`, since the page shows these as replacements."""
    return [
        end
        for end in amendments
        if not any(row.path == end.path and end.start_line <= row.fact.line <= end.end_line for row in rows)
    ]


def _edits_in(view: View, commit: str) -> list[tuple[Fact, Fact]]:
    """(old, new) of each fact whose text a commit changed, compared with its first parent; none for a root commit.

    A removed and an added fact with entirely different texts count as an edit when they are the only ones in the
    commit, in the same file, and have the same comment.
    """
    parents = view.repo.commit(commit).parents
    if not parents:
        return []
    layout = layout_at(view.repo, commit, view.config)
    changes = fact_changes(view.repo, parents[0], commit, layout, view.today, authors=False)
    pairs = [(change.old, change.new) for change in changes if change.old and change.new]
    removed = [(change.path, change.old) for change in changes if change.old and not change.new]
    added = [(change.path, change.new) for change in changes if change.new and not change.old]
    if len(removed) == len(added) == 1:
        (old_path, old_fact), (new_path, new_fact) = removed[0], added[0]
        if old_path == new_path and old_fact.meta == new_fact.meta:
            pairs.append((old_fact, new_fact))
    return [(old, new) for old, new in pairs if old.id != new.id]


def _former_text(view: View, row: PresentFact, answer: why.Answer) -> str:
    """The text that the fact's commit edited; "" when it added the fact, when the page shows the edit already, or when
    the text was forgotten."""
    if not answer.commit or answer.edited:
        return ""
    text = next((old.text for old, new in _edits_in(view, answer.commit) if new.id == row.fact.id), "")
    return "" if view.forgotten.is_removed_text(text) else text


def _current_version(view: View, ident: str) -> PresentFact | None:
    """The present fact that the fact `ident` became by edits, followed through the commits that name its text; None
    when there is none."""
    head = view.snapshot.commit or view.repo.head()
    for _ in range(MAX_EDITS):
        if head is None or not _ID.fullmatch(ident):
            return None
        commits = view.repo.log([head], grep=(f"sha256:{ident}",))
        edited = (new for commit in commits for old, new in _edits_in(view, commit.oid) if old.id == ident)
        fact = next(edited, None)
        if fact is None:
            return None
        if present := view.facts.by_id.get(fact.id):
            return present[0]
        ident = fact.id
    return None


@dataclass(frozen=True, slots=True)
class Promotion:
    """The promotion of a text that the fact had before an edit. `model`: the promotion model that chose it. `author`,
    `when`, `commit`: of the commit of the promotion."""

    model: str
    author: str
    when: datetime
    commit: str


def _promotions(view: View, answer: why.Answer) -> list[Promotion]:
    """The promotions of the texts that the fact had before its edits, oldest first."""
    digests = [text_hash(before) for what, before, _ in answer.edited if what == "text" and before]
    head = view.snapshot.commit or view.repo.head()
    if not head or not digests:
        return []
    recorded = read_ledger(view.repo, [head], digests).recorded
    promotions = []
    for digest in digests:
        for record in reversed(recorded.get(digest, ())):
            model, commit = record.model(digest), record.commit
            if model and commit.author:
                promotions.append(Promotion(model, shown_name(commit.author), commit.author_date, commit.oid))
    return promotions


def fact_of_url(view: View) -> PresentFact:
    """The fact whose id the URL names, in the file `path` if it has it, else the first. Raises MissingFile when the
    snapshot has no such fact, or OutsideRepository if also `path` is outside of the repository; GitMemError if the file
    `path` is above MAX_MEMORY_FILE_BYTES."""
    ident, path = view.parts.get("id", "") or view.fields.get("id", ""), view.fields.get("path", "")
    matches = view.facts.by_id.get(ident, [])
    if path and not any(row.path == path for row in matches):  # it may be a line of a log or a note
        try:
            matches = [row for row in view.statements(path) if row.fact.id == ident] or matches
        except (MissingFile, OutsideRepository):  # a masked path names no file
            if not matches:
                raise
    if not matches:
        raise MissingFile(view.t("This fact is not in memory here"), view.t("it was changed or removed; search for it"))
    return next((row for row in matches if row.path == path), matches[0])


def _quoted(view: View, source: Source) -> tuple[Line, ...]:
    """The lines of a source from its blob, with CONTEXT_LINES around them; empty when the source was not found."""
    if source.problem or not source.blob:
        return ()
    try:
        lines = blob_lines(view.repo.read(source.blob))
    except GitMemError:
        return ()
    return with_context(lines, source.start_line, source.end_line)


def with_context(lines: Sequence[str], first: int, last: int) -> tuple[Line, ...]:
    """The lines `first` to `last` (1-based) of a file as `cited`, with CONTEXT_LINES above and below."""
    start, end = max(1, first - CONTEXT_LINES), min(len(lines), last + CONTEXT_LINES)
    return tuple(Line(number, lines[number - 1], first <= number <= last) for number in range(start, end + 1))


def _numbered(quoted: CodeExcerpt) -> tuple[Line, ...]:
    """The lines of a quoted file, with their numbers."""
    return tuple(Line(number, text, True) for number, text in enumerate(quoted.lines, quoted.first))


def _recalls(view: View, ident: str) -> Recalls:
    """How often sessions on this machine got the fact `ident`, by the receipts."""
    matching = [receipt for receipt in receipts.read(view.repo.common_dir) if ident in receipt.parts]
    sessions = {receipt.session for receipt in matching}
    return Recalls(len(matching), len(sessions), max((receipt.at for receipt in matching), default=None))
