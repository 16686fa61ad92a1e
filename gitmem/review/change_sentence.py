"""What a change does to memory as one sentence in plain words, made of counts. Pure: it quotes no text of memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from gitmem.paths import holds_instructions, passes
from gitmem.plural import counted
from gitmem.review.fact_diff import FactChange, Op, archives
from gitmem.review.fact_words import STAYING, edited_after_promotion
from gitmem.review.review import LineVerdict, Review, State

CLAUSES = 4  # clauses of one sentence; the others are counted
NOTHING = "Nothing changes in what an agent reads"
VerdictOf = Callable[[FactChange], LineVerdict | None]
FROM_LOGS = {
    State.PROMOTED: ("1 fact added from a log, and it says what its source says",
                     "{} facts added from logs, each says what its source says"),
    State.SHARED: ("1 fact added from a log, in other words than its source",
                   "{} facts added from logs, in other words than their sources"),
    State.BROKEN: ("1 fact whose source does not bear it out", "{} facts whose sources do not bear them out"),
    State.AGENT: ("1 fact added by an agent, with no log behind it",
                  "{} facts added by an agent, with no log behind them"),
}  # fmt: skip


def sentence(review: Review, facts: Sequence[FactChange], verdict_of: VerdictOf) -> str:
    """The sentence, without its full stop; `facts` are the changed facts, those of logs apart."""
    orders = [change for change in facts if holds_instructions(change.path)]
    facts = [change for change in facts if not holds_instructions(change.path)]
    clauses = [*_of_facts(facts, verdict_of), *_of_other_lines(review, len(orders))]
    headings = sum(text.heading for text in review.other.texts)
    if headings and not clauses:
        clauses = [f"{counted(headings, 'heading')} changed"]
    left = clauses[CLAUSES:]
    words = "; ".join(clauses[:CLAUSES]) + (f"; and {counted(len(left), 'other kind')} of change" if left else "")
    return words or NOTHING


def _of_facts(facts: Sequence[FactChange], verdict_of: VerdictOf) -> Iterator[str]:
    """One clause with a count for each kind of change: added, changed, archived, expired, removed."""
    come = [change for change in facts if change.op in (Op.ADDED, Op.PROMOTED) and not archives(change)]
    kinds = Counter(_how_it_came(change, verdict_of(change)) for change in come)
    for (one, many), count in sorted(kinds.items(), key=lambda item: _weight(item[0])):
        yield one if count == 1 else many.format(count)
    changed = [change for change in facts if change.op is Op.CHANGED]
    lines = [line for change in changed if (line := verdict_of(change))]
    edited = sum(edited_after_promotion(line) for line in lines)
    unreasoned = sum(line.message.startswith("text-changed: ") and not edited_after_promotion(line) for line in lines)
    wrong = sum(line.fails and not edited_after_promotion(line) for line in lines) - unreasoned
    plain_edits = len(changed) - edited - unreasoned - wrong
    if wrong:
        yield f"{counted(wrong, 'fact')} changed so that no source bears {'it' if wrong == 1 else 'them'} out"
    if unreasoned:
        yield f"{_edited_since(unreasoned)}, and no reason is given"
    if edited:
        yield _edited_since(edited)
    if plain_edits:
        yield f"{counted(plain_edits, 'fact')} changed"
    archived = sum(map(archives, facts))
    if archived:
        if come:
            yield f"{archived} old {'one' if archived == 1 else 'ones'} archived"
        else:
            yield f"{counted(archived, 'old fact')} archived"
    lapsed = sum(change.op is Op.EXPIRED and not archives(change) for change in facts)
    if lapsed:
        yield f"{counted(lapsed, 'fact')} past {'its' if lapsed == 1 else 'their'} last day"
    gone = sum(change.op is Op.REMOVED for change in facts)
    if gone:
        yield f"{counted(gone, 'fact')} taken out"


def _edited_since(count: int) -> str:
    if count == 1:
        return "1 fact edited after it came from a log"
    return f"{count} facts edited after they came from logs"


def _of_other_lines(review: Review, orders: int) -> Iterator[str]:
    """`orders` are the items of instructions that changed, which other changes have as facts."""
    texts = review.other.texts
    orders += sum(holds_instructions(text.path) and not text.heading for text in texts)
    if orders:
        yield f"{counted(orders, 'line')} of instructions changed"
    placed = [*review.other.placements, *(change for change in review.changes if change.op in STAYING)]
    moved = sum(not archives(change) and not passes(change.path, review.daily) for change in placed)
    if moved:
        yield f"{counted(moved, 'fact')} moved"
    paths = [*(change.path for change in review.changes), *(text.path for text in texts)]
    logs = sum(passes(path, review.daily) for path in paths)
    if logs:
        yield f"{counted(logs, 'line')} of logs changed"
    rest = [text for text in texts if not holds_instructions(text.path) and not passes(text.path, review.daily)]
    other = sum(not text.heading for text in rest)
    if other:
        yield f"{counted(other, 'other line')} changed"
    if review.other.renamed:
        yield f"{counted(len(review.other.renamed), 'file')} renamed"


def _how_it_came(change: FactChange, line: LineVerdict | None) -> tuple[str, str]:
    """The words for one such fact, and for many with their number as `{}`."""
    if line is not None and line.state in FROM_LOGS:
        return FROM_LOGS[line.state]
    if line is not None and line.state is State.EDITED and line.promoted:
        return "1 fact added from a log and edited since", "{} facts added from logs and edited since"
    who = "by hand"
    if change.by_machine:
        who = "by an agent"
    where = "added to notes"
    if line is not None:
        where = "added"
    return f"1 fact {where} {who}", f"{{}} facts {where} {who}"


def _weight(words: tuple[str, str]) -> int:
    """What is said first: what fails, then what came from logs, then the rest."""
    worst = [FROM_LOGS[State.BROKEN], FROM_LOGS[State.AGENT], FROM_LOGS[State.PROMOTED], FROM_LOGS[State.SHARED]]
    if words in worst:
        return worst.index(words)
    return len(worst)
