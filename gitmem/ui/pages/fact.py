"""The page of one fact: its text, where it comes from and whether that holds, what happened to it, who was given it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from gitmem.claims.cited_code import Quoted, compared
from gitmem.errors import GitMemError, MissingFile, OutsideRepository
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, text_hash
from gitmem.memory.snapshot import layout_at
from gitmem.provenance import why
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.line_amendments import Amendment
from gitmem.provenance.present_facts import PresentFact
from gitmem.review.commit_diff import fact_changes
from gitmem.sessions import receipts
from gitmem.ui.view import View

MOST_EDITS = 20  # edits of one fact that its old address is followed through
_ID = re.compile(r"[0-9a-f]{12}")
CONTEXT = 3  # lines above and below a source


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a quoted file; `cited` where it is one of the source's own."""

    number: int
    text: str
    cited: bool


@dataclass(frozen=True, slots=True)
class Recalls:
    """How often sessions were given the fact, the last time, and by how many sessions."""

    times: int
    sessions: int
    last: datetime | None


def page(view: View) -> Response:
    """The fact that the address names by its id; of several with one text that of `path`, else the first."""
    try:
        row = chosen(view)
    except MissingFile:
        if (became := _became(view, view.parts.get("id", ""))) is None:
            raise
        return view.redirect("fact", became.fact.id, path=became.path)
    answer = why.why(view.repo, view.config, row.path, row.fact.line, view.snapshot.commit, now=view.now)
    quotes = [(source, _quoted(view, source)) for source in answer.sources]
    code = [
        (one, _numbered(one.then), _numbered(one.now))
        for one in compared(view.repo, (value for key, value in row.fact.meta if key == "code"), view.snapshot.commit)
    ]
    older = [(value, view.facts.by_id.get(value, [None])[0]) for key, value in row.fact.meta if key == "supersedes"]
    newer = view.facts.successors.get(row.fact.id, [])
    replaced = [other for _, other in older if other]
    return view.render(
        "fact.html", row=row, amended_by=_told_once(answer.links.amended_by, newer), was=_was(view, row, answer),
        amends=_told_once(answer.links.supersedes, replaced), answer=answer, quotes=quotes, older=older, code=code,
        newer=newer,
        alike=[other for other in view.facts.by_id.get(row.fact.id, ()) if other != row],
        listed=row in view.facts.by_id.get(row.fact.id, ()),
        recalls=_recalls(view, row.fact.id), promotions=_promotions(view, answer),
        legible=view.mask(row).fact.text == row.fact.text,
    )  # fmt: skip


def _told_once(ends: Sequence[Amendment], replaced: Sequence[PresentFact]) -> list[Amendment]:
    """The links to other statements without those that are told as a replacement already."""
    return [
        end
        for end in ends
        if not any(row.path == end.path and end.start_line <= row.fact.line <= end.end_line for row in replaced)
    ]


def _edits_in(view: View, commit: str) -> list[tuple[Fact, Fact]]:
    """(what it was, what it became) of the facts whose text a commit changed, compared with its first parent; nothing
    for the first commit. A text that is another altogether is one where no other fact of the file came or went, and
    the comment stays."""
    parents = view.repo.commit(commit).parents
    if not parents:
        return []
    layout = layout_at(view.repo, commit, view.config)
    changes = fact_changes(view.repo, parents[0], commit, layout, view.today, authors=False)
    pairs = [(change.old, change.new) for change in changes if change.old and change.new]
    gone = [(change.path, change.old) for change in changes if change.old and not change.new]
    came = [(change.path, change.new) for change in changes if change.new and not change.old]
    if len(gone) == len(came) == 1 and gone[0][0] == came[0][0] and gone[0][1].meta == came[0][1].meta:
        pairs.append((gone[0][1], came[0][1]))
    return [(old, new) for old, new in pairs if old.id != new.id]


def _was(view: View, row: PresentFact, answer: why.Answer) -> str:
    """The text that the commit of a fact changed into it, "" where it came new and where an edit tells it already, or
    where people took that text out."""
    if not answer.commit or answer.edited:
        return ""
    for old, new in _edits_in(view, answer.commit):
        if new.id == row.fact.id:
            if view.forgotten.says_only(old.text):
                return ""
            return old.text
    return ""


def _became(view: View, wanted: str) -> PresentFact | None:
    """The fact that an edited one became, by the commits that name the old text; None where it went."""
    head = view.snapshot.commit or view.repo.head()
    for _ in range(MOST_EDITS):
        if head is None or not _ID.fullmatch(wanted):
            return None
        commits = view.repo.log([head], grep=(f"sha256:{wanted}",))
        new = (new for commit in commits for old, new in _edits_in(view, commit.oid) if old.id == wanted)
        if (fact := next(new, None)) is None:
            return None
        if found := view.facts.by_id.get(fact.id):
            return found[0]
        wanted = fact.id
    return None


@dataclass(frozen=True, slots=True)
class Promotion:
    """A commit that promoted an earlier text of the fact."""

    model: str
    author: str
    when: datetime
    commit: str


def _promotions(view: View, answer: why.Answer) -> list[Promotion]:
    """The promotions of what the fact said before it was edited, the oldest first."""
    digests = [text_hash(before) for what, before, _ in answer.edited if what == "text" and before]
    head = view.snapshot.commit or view.repo.head()
    known = read_ledger(view.repo, [head] if head and digests else [], digests)
    records = [(record, digest) for digest in digests for record in reversed(known.recorded.get(digest, ()))]
    return [
        Promotion(model, f"{author.name} <{author.email}>", record.commit.author_date, record.commit.oid)
        for record, digest in records
        if (model := record.model(digest)) and (author := record.commit.author)
    ]


def chosen(view: View) -> PresentFact:
    """The fact of an address or a form. Raises MissingFile where the snapshot has none with that id."""
    wanted, path = view.parts.get("id", "") or view.fields.get("id", ""), view.fields.get("path", "")
    found = view.facts.by_id.get(wanted, [])
    if path and not any(row.path == path for row in found):  # a line of a log or of a note
        try:
            found = [row for row in view.statements(path) if row.fact.id == wanted] or found
        except (MissingFile, OutsideRepository):  # a path that is shown masked is no file's
            if not found:
                raise
    if not found:
        raise MissingFile(view.t("This fact is not in memory here"), view.t("it was changed or removed; search for it"))
    return next((row for row in found if row.path == path), found[0])


def _quoted(view: View, source: Source) -> tuple[Line, ...]:
    """The lines of a source as its blob has them, with those around it; none where the source is not there."""
    if source.problem or not source.blob:
        return ()
    try:
        lines = blob_lines(view.repo.read(source.blob))
    except GitMemError:
        return ()
    first = max(1, source.start_line - CONTEXT)
    last = min(len(lines), source.end_line + CONTEXT)
    return tuple(
        Line(number, lines[number - 1], source.start_line <= number <= source.end_line)
        for number in range(first, last + 1)
    )


def _numbered(quoted: Quoted) -> tuple[Line, ...]:
    return tuple(Line(number, text, True) for number, text in enumerate(quoted.lines, quoted.first))


def _recalls(view: View, ident: str) -> Recalls:
    found = [receipt for receipt in receipts.read(view.repo.common_dir) if ident in receipt.parts]
    sessions = {receipt.session for receipt in found}
    return Recalls(len(found), len(sessions), max((receipt.at for receipt in found), default=None))
