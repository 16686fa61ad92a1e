"""The page Compare: two commits, branches or days as facts: what came, what changed in which words, what went.

Of two that parted, what the second did since: it is compared with their merge base, so that what the first has got
meanwhile is not told as taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.git.revision import resolve_at
from gitmem.memory.snapshot import layout_at
from gitmem.paths import passes
from gitmem.review.commit_diff import fact_changes, without_forgotten
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.statement_diff import statement_diff, text_diff
from gitmem.review.word_diff import Piece
from gitmem.ui.rendering import fitting
from gitmem.ui.view import View

MAX_FACTS = 50  # facts of one page, shared by its groups
TEXT = 16_000  # bytes of their texts
FEWEST = 10  # facts that a group may have, whatever the others have
MAX_FACT_CHARACTERS = 600  # characters of one of them
AROUND = 60  # characters of what is the same on either side of a difference, in a longer text
LOGS = "logs"  # the group of an address: lines of logs and sessions
GROUPS = (  # title, the operations it has
    ("Added", (Op.ADDED, Op.PROMOTED)),
    ("Changed", (Op.CHANGED,)),
    ("Removed", (Op.REMOVED,)),
    ("Moved", (Op.MOVED, Op.REORDERED)),
    ("Expired", (Op.EXPIRED,)),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A change as it is shown: its text in pieces, and the keys of its comment that differ, with both values."""

    change: FactChange
    pieces: tuple[Piece, ...]
    keys: tuple[tuple[str, str, str], ...] = ()


def page(view: View) -> Response:
    """The facts of `to` beside those of `from`, or of a `commit` beside those before it; without any of them only what
    may be compared."""
    first, last = view.fields.get("from", "").strip(), view.fields.get("to", "").strip()
    base = head = parted_from = subject = ""
    only = view.fields.get("commit", "").strip()
    groups: list[tuple[str, int, Sequence[Row]]] = []
    sharing = 1
    skipped = lines_skipped = 0
    logged: list[FactChange] = []
    if only:
        head = resolve_at(view.repo, only, view.now)
        made = view.repo.commit(head)
        base = ""
        if made.parents:
            base = made.parents[0]
        first, last, subject = base[:12], head[:12], view.forgotten.masked(made.subject)
    elif first:
        base = resolve_at(view.repo, first, view.now)
        if last:
            head = resolve_at(view.repo, last, view.now)
        else:
            head = view.snapshot.commit or view.repo.head() or ""
        base, parted_from = _start_of(view, base, head)
    if head:
        changes = fact_changes(view.repo, base, head, layout_at(view.repo, head, view.config), view.today)
        changes = without_forgotten(changes, view.forgotten)
        lasting, logged = parted(changes, view.config.memory_daily)
        own = {title: [change for change in lasting if change.op in ops] for title, ops in GROUPS}
        sharing = sum(map(bool, (*own.values(), logged)))
        if (group := view.fields.get("group", "")) in own:  # one group, from one of its facts on
            skipped = start_of(view, len(own[group]))
            groups, logged = [(group, len(own[group]), rows_of(view, own[group][skipped:], 1))], []
        elif group == LOGS:
            lines_skipped, sharing = start_of(view, len(logged)), 1
        else:
            groups = [(title, len(some), rows_of(view, some, sharing)) for title, some in own.items()]
    return view.render(
        "compare.html", first=first, last=last, base=base, head=head, groups=groups, ways=_ways(view),
        newer=_newer(view, base, head), parted_from=parted_from, logged=len(logged), skipped=skipped, only=only,
        lines=rows_of(view, logged[lines_skipped:], sharing), lines_skipped=lines_skipped, subject=subject,
    )  # fmt: skip


def _start_of(view: View, first: str, head: str) -> tuple[str, str]:
    """(the commit to compare `head` with, `first` where that is another): their merge base where the two parted;
    `first` itself where one is an ancestor of the other, or where they share no history."""
    meeting = None
    if first and head:
        meeting = view.repo.merge_base(first, head)
    if meeting and meeting not in (first, head):
        return (meeting, first)
    return (first, "")


def start_of(view: View, count: int) -> int:
    """How many facts of its group the address passes over."""
    text = view.fields.get("start", "")
    number = 0
    if text.isascii() and text.isdigit() and len(text) < 7:
        number = int(text)
    if number < count:
        return number
    return 0


def parted(changes: Sequence[FactChange], daily: Sequence[str]) -> tuple[list[FactChange], list[FactChange]]:
    """The changes of what lasts, and those of logs and episodes, whose lines are told as facts too."""
    passing = [change for change in changes if passes(change.path, daily)]
    return [change for change in changes if not passes(change.path, daily)], passing


def rows_of(view: View, changes: Sequence[FactChange], sharing: int = 2) -> Sequence[Row]:
    """The first changes of a group, as many as a page of that many groups has room for: one at least."""
    rows = [row_of(change) for change in view.mask(changes[: max(FEWEST, MAX_FACTS // max(1, sharing))])]
    return fitting(rows, lambda row: "".join(piece.text for piece in row.pieces), TEXT // max(1, sharing))


def row_of(change: FactChange) -> Row:
    """A change, masked already, with its differences; what is the same in a long text is left out around them."""
    old, new = change.old, change.new
    if old is None or new is None:
        return Row(change, _shortened([Piece("=", change.fact.text)]))
    found = statement_diff(old, new)
    return Row(change, _shortened(found.pieces), found.keys)


def pieces_of(old: str, new: str) -> tuple[Piece, ...]:
    """The words of two texts, masked already: what differs and, where they are long, what is near it."""
    return _shortened(text_diff(old, new))


def _shortened(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces within MAX_FACT_CHARACTERS: of a longer text the differences and what is near them, with `…` for the
    rest."""
    if sum(len(piece.text) for piece in pieces) <= MAX_FACT_CHARACTERS:
        return tuple(pieces)
    shown: list[Piece] = []
    left = MAX_FACT_CHARACTERS
    for at, (sign, text) in enumerate(pieces):
        if sign == "=" and len(pieces) > 1 and len(text) > 2 * AROUND:
            text = f"{text[:AROUND] if at else ''} … {text[-AROUND:] if at + 1 < len(pieces) else ''}"
        shown.append(Piece(sign, text if len(text) <= left else f"{text[:left]}…"))
        left -= len(text)
        if left <= 0:
            break
    return tuple(shown)


def _ways(view: View) -> list[tuple[str, str, str]]:
    """(words, from, to) of what one may want to compare here: the other branches, the last commit, the last week."""
    here = view.repo.branch() or ""
    ways = [(f"{here} -> {name}", here, name) for name in view.branches if here and name != here][:8]
    head = view.snapshot.commit or view.repo.head()
    if head and view.repo.commit(head).parents:
        ways.append((view.t("the last commit"), f"{head[:12]}~1", head[:12]))
        week = next((c for c in view.repo.log([head], first_parent=True) if _week_before(view, c.commit_date)), None)
        if week:
            ways += [(view.t("the last seven days"), week.oid[:12], head[:12])]
    return ways


def _week_before(view: View, when: object) -> bool:
    from datetime import timedelta

    return (view.snapshot.when or view.now) - timedelta(days=7) >= when  # type: ignore[operator]


def _newer(view: View, base: str, head: str) -> bool:
    """Whether `base` is the later of the two: then one reads the page the wrong way round."""
    try:
        return bool(base) and base != head and view.repo.is_ancestor(head, base)
    except GitMemError:
        return False
