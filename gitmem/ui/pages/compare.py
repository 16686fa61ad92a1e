"""The page Compare: the facts that were added, changed and removed between two commits, branches or days.

When the two have diverged, the second is compared with their merge base. Otherwise facts that only the first has got
since would be shown as removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from starlette.responses import Response

from gitmem.daily_logs import records_events
from gitmem.errors import GitMemError
from gitmem.git.revision import resolve_at
from gitmem.memory.snapshot import layout_at
from gitmem.review.commit_diff import fact_changes, without_forgotten
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.statement_diff import Piece, statement_diff, text_diff
from gitmem.ui.rendering import first_that_fit
from gitmem.ui.view import View

MAX_FACTS = 50  # on one page, divided among its groups
MAX_TEXT_BYTES = 16_000  # of all texts on one page
FEWEST = 10  # facts that a group shows in any case
MAX_FACT_CHARACTERS = 600  # of one text
CONTEXT_CHARS = 60  # unchanged characters shown on each side of a change in a long text
LOGS = "logs"  # the name of the group with lines of logs and sessions in a URL
GROUPS = (  # (title, operations)
    ("Added", (Op.ADDED, Op.PROMOTED)),
    ("Changed", (Op.CHANGED,)),
    ("Removed", (Op.REMOVED,)),
    ("Moved", (Op.MOVED, Op.REORDERED)),
    ("Expired", (Op.EXPIRED,)),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A changed fact. `pieces`: its common, removed and added words in order. `keys`: (key, old value, new value) of
    each key of its comment that differs."""

    change: FactChange
    pieces: tuple[Piece, ...]
    keys: tuple[tuple[str, str, str], ...] = ()


def page(view: View) -> Response:
    """The changed facts from the revision `from` to `to` of the query, or of one `commit`. Without any of them only the
    suggestions of what to compare."""
    since, until = view.fields.get("from", "").strip(), view.fields.get("to", "").strip()
    base = head = diverged_from = subject = ""
    only = view.fields.get("commit", "").strip()
    groups: list[tuple[str, int, Sequence[Row]]] = []
    group_count = 1
    skipped = lines_skipped = 0
    logged: list[FactChange] = []
    if only:
        head = resolve_at(view.repo, only, view.now)
        commit = view.repo.commit(head)
        base = next(iter(commit.parents), "")
        since, until, subject = base[:12], head[:12], view.forgotten.masked(commit.subject)
    elif since:
        base = resolve_at(view.repo, since, view.now)
        head = view.snapshot.commit or view.repo.head() or ""
        if until:
            head = resolve_at(view.repo, until, view.now)
        base, diverged_from = _compared_with(view, base, head)
    if head:
        changes = fact_changes(view.repo, base, head, layout_at(view.repo, head, view.config), view.today)
        changes = without_forgotten(changes, view.forgotten)
        lasting, logged = without_logs(changes, view.config.memory_daily)
        by_title = {title: [change for change in lasting if change.op in ops] for title, ops in GROUPS}
        group_count = sum(map(bool, (*by_title.values(), logged)))
        if (group := view.fields.get("group", "")) in by_title:
            skipped = _start(view, len(by_title[group]))
            groups, logged = [(group, len(by_title[group]), rows_of(view, by_title[group][skipped:], 1))], []
        elif group == LOGS:
            lines_skipped, group_count = _start(view, len(logged)), 1
        else:
            groups = [(title, len(members), rows_of(view, members, group_count)) for title, members in by_title.items()]
    return view.render(
        "compare.html", first=since, last=until, base=base, head=head, groups=groups, ways=_ways(view),
        newer=_is_reversed(view, base, head), parted_from=diverged_from, logged=len(logged), skipped=skipped, only=only,
        lines=rows_of(view, logged[lines_skipped:], group_count), lines_skipped=lines_skipped, subject=subject,
    )  # fmt: skip


def _compared_with(view: View, revision: str, head: str) -> tuple[str, str]:
    """(the commit that `head` is compared with, `revision` if that is another commit). It is the merge base when the
    two have diverged, else `revision`."""
    base = view.repo.merge_base(revision, head) if revision and head else None
    if base and base not in (revision, head):
        return base, revision
    return revision, ""


def _start(view: View, count: int) -> int:
    """The number of changes of a group that earlier pages show (`start` of the query); 0 unless it is below `count`,
    the size of the group."""
    return view.start if view.start < count else 0


def without_logs(changes: Sequence[FactChange], daily: Sequence[str]) -> tuple[list[FactChange], list[FactChange]]:
    """(changes outside logs and episodes, changes in them). `daily`: the path patterns of daily logs."""
    lasting: list[FactChange] = []
    logged: list[FactChange] = []
    for change in changes:
        if records_events(change.path, daily):
            logged.append(change)
        else:
            lasting.append(change)
    return lasting, logged


def rows_of(view: View, changes: Sequence[FactChange], group_count: int = 2) -> Sequence[Row]:
    """The masked rows of the first changes of a group, as many as fit on a page with `group_count` groups; at least
    one, if there is a change."""
    share = max(1, group_count)
    rows = [row_of(change) for change in view.mask(changes[: max(FEWEST, MAX_FACTS // share)])]
    return first_that_fit(rows, lambda row: "".join(piece.text for piece in row.pieces), MAX_TEXT_BYTES // share)


def row_of(change: FactChange) -> Row:
    """The row of a change; the caller has masked the texts of its facts."""
    old, new = change.old, change.new
    if old is None or new is None:
        return Row(change, _shortened([Piece("=", change.fact.text)]))
    difference = statement_diff(old, new)
    return Row(change, _shortened(difference.pieces), difference.keys)


def pieces_of(old: str, new: str) -> tuple[Piece, ...]:
    """The difference of two texts that are masked already; of long texts only the changes and what is near them."""
    return _shortened(text_diff(old, new))


def _shortened(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces cut to MAX_FACT_CHARACTERS: of a longer text the changes with CONTEXT_CHARS around them, and `…` for
    the rest."""
    if sum(len(piece.text) for piece in pieces) <= MAX_FACT_CHARACTERS:
        return tuple(pieces)
    shown: list[Piece] = []
    remaining_characters = MAX_FACT_CHARACTERS
    for number, (sign, text) in enumerate(pieces):
        if sign == "=" and len(pieces) > 1 and len(text) > 2 * CONTEXT_CHARS:
            head, tail = text[:CONTEXT_CHARS], text[-CONTEXT_CHARS:]
            if number == 0:
                head = ""
            if number == len(pieces) - 1:
                tail = ""
            text = f"{head} … {tail}"
        if len(text) > remaining_characters:
            shown.append(Piece(sign, f"{text[:remaining_characters]}…"))
            break
        shown.append(Piece(sign, text))
        remaining_characters -= len(text)
        if remaining_characters <= 0:
            break
    return tuple(shown)


def _ways(view: View) -> list[tuple[str, str, str]]:
    """(name, from, to) of each comparison that the page suggests: with the other branches, the last commit, and the
    last week."""
    current = view.repo.branch() or ""
    ways = [(f"{current} -> {name}", current, name) for name in view.branches if current and name != current][:8]
    head = view.snapshot.commit or view.repo.head()
    if head and view.repo.commit(head).parents:
        ways.append((view.t("the last commit"), f"{head[:12]}~1", head[:12]))
        week_ago = (view.snapshot.when or view.now) - timedelta(days=7)
        older = (commit for commit in view.repo.log([head], first_parent=True) if commit.commit_date <= week_ago)
        if (commit := next(older, None)) is not None:
            ways.append((view.t("the last seven days"), commit.oid[:12], head[:12]))
    return ways


def _is_reversed(view: View, base: str, head: str) -> bool:
    """Whether `base` descends from `head`, so that the comparison runs backwards; False if Git cannot tell."""
    try:
        return bool(base) and base != head and view.repo.is_ancestor(head, base)
    except GitMemError:
        return False
