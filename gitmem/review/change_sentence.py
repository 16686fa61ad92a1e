"""Writes one sentence that counts the changes of memory by kind. Pure; the sentence quotes no memory text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from gitmem.daily_logs import records_events
from gitmem.paths import holds_instructions
from gitmem.plural import counted
from gitmem.review.fact_diff import FactChange, Op, is_archiving
from gitmem.review.fact_words import MOVED_OPS, edited_after_promotion
from gitmem.review.line_verdicts import LineVerdict, State
from gitmem.review.review import Review

MAX_CLAUSES = 4  # of one sentence; the others are counted
NO_CHANGE = "Nothing changes in what an agent reads"
VerdictOf = Callable[[FactChange], LineVerdict | None]
FROM_LOGS = {  # state of an added fact -> (words for one fact, words for many)
    State.PROMOTED: ("1 fact added from a log, and it says what its source says",
                     "{} facts added from logs, each says what its source says"),
    State.SHARED: ("1 fact added from a log, in other words than its source",
                   "{} facts added from logs, in other words than their sources"),
    State.BROKEN: ("1 fact whose source does not bear it out", "{} facts whose sources do not bear them out"),
    State.AGENT: ("1 fact added by an agent, with no log behind it",
                  "{} facts added by an agent, with no log behind them"),
}  # fmt: skip


def change_sentence(review: Review, facts: Sequence[FactChange], verdict_of: VerdictOf) -> str:
    """The sentence without its full stop, with MAX_CLAUSES clauses at most and a count of the others; NO_CHANGE if no
    clause applies. `facts`: the changed facts outside logs. `verdict_of`: returns the provenance verdict of a changed
    fact, None for a fact without one."""
    instructions = sum(holds_instructions(change.path) for change in facts)
    facts = [change for change in facts if not holds_instructions(change.path)]
    clauses = [*_fact_clauses(facts, verdict_of), *_other_clauses(review, instructions)]
    headings = sum(text.heading for text in review.other.texts)
    if headings and not clauses:
        clauses = [f"{counted(headings, 'heading')} changed"]
    hidden_count = len(clauses) - MAX_CLAUSES
    if hidden_count > 0:
        clauses[MAX_CLAUSES:] = [f"and {counted(hidden_count, 'other kind')} of change"]
    return "; ".join(clauses) or NO_CHANGE


def _fact_clauses(facts: Sequence[FactChange], verdict_of: VerdictOf) -> Iterator[str]:
    """One clause for each kind of change among `facts`: first the added ones by their origin, then those changed,
    archived, expired and removed. `verdict_of`: as in `change_sentence`."""
    added = [change for change in facts if change.op in (Op.ADDED, Op.PROMOTED) and not is_archiving(change)]
    kinds = Counter(_added_words(change, verdict_of(change)) for change in added)
    for (singular, plural), count in sorted(kinds.items(), key=lambda item: _phrase_order(item[0])):
        yield singular if count == 1 else plural.format(count)
    changed = [change for change in facts if change.op is Op.CHANGED]
    lines = list(filter(None, map(verdict_of, changed)))
    edited = sum(edited_after_promotion(line) for line in lines)
    unreasoned = sum(line.message.startswith("text-changed: ") and not edited_after_promotion(line) for line in lines)
    wrong = sum(line.fails and not edited_after_promotion(line) for line in lines) - unreasoned
    plain_edits = len(changed) - edited - unreasoned - wrong
    if wrong:
        yield f"{counted(wrong, 'fact')} changed so that no source bears {'it' if wrong == 1 else 'them'} out"
    if unreasoned:
        yield f"{_edited_words(unreasoned)}, and no reason is given"
    if edited:
        yield _edited_words(edited)
    if plain_edits:
        yield f"{counted(plain_edits, 'fact')} changed"
    archived = sum(map(is_archiving, facts))
    if archived and added:
        yield f"{archived} old {'one' if archived == 1 else 'ones'} archived"
    elif archived:
        yield f"{counted(archived, 'old fact')} archived"
    expired = sum(change.op is Op.EXPIRED and not is_archiving(change) for change in facts)
    if expired:
        yield f"{counted(expired, 'fact')} past {'its' if expired == 1 else 'their'} last day"
    removed = sum(change.op is Op.REMOVED for change in facts)
    if removed:
        yield f"{counted(removed, 'fact')} taken out"


def _edited_words(count: int) -> str:
    if count == 1:
        return "1 fact edited after it came from a log"
    return f"{count} facts edited after they came from logs"


def _other_clauses(review: Review, instruction_facts: int) -> Iterator[str]:
    """One clause each for changed instructions, moved facts, logs, other lines and renamed files. `instruction_facts`:
    the number of changed facts in files of instructions."""
    texts = review.other.texts
    instructions = instruction_facts + sum(holds_instructions(text.path) and not text.heading for text in texts)
    if instructions:
        yield f"{counted(instructions, 'line')} of instructions changed"
    placed = [*review.other.placements, *(change for change in review.changes if change.op in MOVED_OPS)]
    moved = sum(not is_archiving(change) and not records_events(change.path, review.daily) for change in placed)
    if moved:
        yield f"{counted(moved, 'fact')} moved"
    paths = [*(change.path for change in review.changes), *(text.path for text in texts)]
    logs = sum(records_events(path, review.daily) for path in paths)
    if logs:
        yield f"{counted(logs, 'line')} of logs changed"
    other_texts = [
        text for text in texts if not holds_instructions(text.path) and not records_events(text.path, review.daily)
    ]
    lines = sum(not text.heading for text in other_texts)
    if lines:
        yield f"{counted(lines, 'other line')} changed"
    if review.other.renamed:
        yield f"{counted(len(review.other.renamed), 'file')} renamed"


def _added_words(change: FactChange, line: LineVerdict | None) -> tuple[str, str]:
    """(words for one added fact, words for many with `{}` for their number). `line`: the fact's verdict, None in a
    note."""
    if line is not None and line.state in FROM_LOGS:
        return FROM_LOGS[line.state]
    if line is not None and line.state is State.EDITED and line.promoted:
        return "1 fact added from a log and edited since", "{} facts added from logs and edited since"
    author_words = "by an agent" if change.by_machine else "by hand"
    verb = "added" if line is not None else "added to notes"
    return f"1 fact {verb} {author_words}", f"{{}} facts {verb} {author_words}"


def _phrase_order(words: tuple[str, str]) -> int:
    """Sort key of a phrase: failures first, then facts promoted from logs, then everything else."""
    first = [FROM_LOGS[State.BROKEN], FROM_LOGS[State.AGENT], FROM_LOGS[State.PROMOTED], FROM_LOGS[State.SHARED]]
    if words in first:
        return first.index(words)
    return len(first)
