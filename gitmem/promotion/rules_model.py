"""`rules`: the deterministic extractor, the default model. Reads four languages; no network, the same answer always.

Reads each candidate line with the cues of its language, scores it by what was learned of them (`lasting`), and drops
what is retracted further down. A line of a dialogue is read by `promotion/dialogue.py` instead. It proposes whole
lines, never new words: every fact it offers stands in the log. Which cues spoke for a line that was offered, or against
one that was not, is in the operation's `reason`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from math import exp

from gitmem.git.objects import Span
from gitmem.memory.fact import Fact, normalise
from gitmem.promotion import dialogue, lasting, log_lines
from gitmem.promotion.cues import THRESHOLD, CueResult, CueSet, cue_set, match_cues
from gitmem.promotion.lexicon import chinese, english, japanese, korean
from gitmem.promotion.lexicon.health import STATES_HEALTH
from gitmem.promotion.log_lines import Candidate
from gitmem.promotion.proposal import Log, Op, Operation, Proposal
from gitmem.promotion.retractions import (
    ScoredLine,
    mark_retracted,
    mark_retracted_in_earlier_logs,
    retracted_fact,
    words,
)
from gitmem.promotion.score_cache import ScoreCache
from gitmem.text import dates
from gitmem.text.sentences import sentences

LABELS = {**english.LABELS, **korean.LABELS, **japanese.LABELS, **chinese.LABELS}
_LEXICONS = {"en": english.CUES, "ko": korean.CUES, "ja": japanese.CUES, "zh": chinese.CUES}

# How much a kind of fact is worth by itself: its stability and use in later work, estimated from what agents need most.
IMPORTANCE = {
    "policy": 0.74, "constraint": 0.72, "decision": 0.70, "rule": 0.72, "preference": 0.68, "exception": 0.66,
    "profile": 0.66, "deadline": 0.64, "lesson": 0.62, "goal": 0.60, "fact": 0.52, "timeline": 0.5, "todo": 0.5,
}  # fmt: skip
_VALUE = re.compile(
    r"`[^`]+`|https?://\S+|(?<![\w.-])[\w.-]+/[\w./=-]+|v?\d+\.\d+(?:\.\d+)+|:\d{4,5}\b"
    r"|\b[A-Z]{2,}_[A-Z_]+\b|\bport \d+|\b\d{4,5}\b"
)
_NUMBER = re.compile(r"\d+")
# How a line begins that is the reason of the line before: "The reason is that", "그 이유는", "理由は", "原因是".
_REASON = re.compile(
    r"^\(?(?:(?:(?:the|our|my)\s+)?(?:main\s+)?(?:reason|why|because|rationale)(?:\s+(?:is|was)(?:\s+that|\s+because)?)?"
    r"|(?:그\s*)?(?:이유|근거|배경|왜냐하면|까닭|원인(?=은))(?:는|은)?)\s*[:：,]?\s+"
    r"|^[(（]?(?:(?:その|主な)?(?:理由|原因|根拠)\s*(?:は|[:：])|なぜなら(?:ば)?|というのも|(?:主要)?(?:原因|理由)\s*(?:是|在[于於]|[:：])"
    r"|(?:主要是)?因[为為])[、,，]?\s*",
    re.I,
)
# What a text ends with that tells of the past, where a day without a year is one that was.
_PAST = re.compile(r"[았었였했됐렸졌](?:다|음|습니다|어요)[.。\s]*$|为止[.。\s]*$|為止[.。\s]*$")
_UNTIL = re.compile(r"(?:until|till|through|by|before)\b", re.I)  # a day of the week is read with it
PARALLEL_LINES = 6000  # lines from which a second process pays for its start
OF_KIND, OF_SCORE = 0.5, 0.4  # how much the kind of a fact and its likelihood count for its importance
NAMES_KIND = 1.5  # weight of a label from which it says of what kind the line is, and that it is to be kept
ROUTINE = 1.0  # of the score: a line that is written the same day after day is a machine's
RECURRING_DAYS = 3  # days on which a topic must come up before it counts for more


ReadLogs = dict[tuple[str, str], tuple[list[Candidate], list[ScoredLine]]]  # path, blob -> candidates, scored ones


class RulesModel:
    """The model behind `rules`. What is `spoken` is read by the cues alone: what was learned is of logs. `known`: what
    was read of each log before, by its path and blob; a process that asks again and again keeps it, and it holds the
    logs of the last call alone. `scores`: what earlier processes found out about the lines of logs. `progress` hears
    how many of how many new logs were read."""

    id = "rules/1"

    def __init__(
        self,
        *,
        spoken: bool = False,
        known: ReadLogs | None = None,
        scores: ScoreCache | None = None,
        progress: Callable[[int, int], object] = lambda *_: None,
    ) -> None:
        self._spoken = spoken
        if scores is None or spoken:
            self._scores = ScoreCache(None)
        else:
            self._scores = scores
        self._progress = progress
        self._known: ReadLogs = {} if known is None else known

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """One operation for every new candidate line: ADD, SUPERSEDE, or SKIP with the reason."""
        read = self._read(logs)
        parsed = [(log, read[log.path, log.blob][0]) for log in logs]
        scored = mark_retracted_in_earlier_logs(logs, [read[log.path, log.blob][1] for log in logs])
        days = _days_of_topics(zip(logs, scored, strict=True))
        operations: list[Operation] = []
        for (log, candidates), notes in zip(parsed, scored, strict=True):
            if any(line.speaker for line in candidates):
                operations += _dialogue(log, candidates)
            else:
                operations += _notes(log, notes, days, existing)
        return Proposal(tuple(operations))

    def _read(self, logs: Sequence[Log]) -> ReadLogs:
        """(candidates, the scored ones) of each log, by its path and blob."""
        known = dict(self._known)
        new = [log for log in logs if (log.path, log.blob) not in known]
        parsed = [log_lines.candidates_of(log, LABELS) for log in new]
        notes = [[line for line in lines if not line.speaker] for lines in parsed]
        kept = [self._scores.of(log, len(lines)) for log, lines in zip(new, notes, strict=True)]
        unread = [line for lines, results in zip(notes, kept, strict=True) if results is None for line in lines]
        made = iter(map(cues_of_line, unread) if self._spoken else score_all(unread))
        scored: list[tuple[Log, Sequence[CueResult]]] = []
        for number, (log, lines, own, results) in enumerate(zip(new, parsed, notes, kept, strict=True)):
            self._progress(number, len(new))
            if results is None:
                results = [next(made) for _ in own]
                scored.append((log, results))
            known[log.path, log.blob] = (lines, mark_retracted(list(map(ScoredLine, own, results))))
        self._scores.keep(scored)
        read = {(log.path, log.blob): known[log.path, log.blob] for log in logs}
        self._known.clear()
        self._known.update(read)
        return read


def score_all(candidates: Sequence[Candidate]) -> Iterator[CueResult]:
    """The score of each line by the cues, in order; a year of logs is divided between two processes."""
    done = 0
    if len(candidates) >= PARALLEL_LINES:
        for result in _scored_by_two(candidates):
            yield result
            done += 1
    yield from map(score_line, candidates[done:])


def _scored_by_two(candidates: Sequence[Candidate]) -> Iterator[CueResult]:
    """The scores of the first lines, as many as two processes come to: all, where processes can be started."""
    import multiprocessing
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    if "fork" not in multiprocessing.get_all_start_methods():
        return
    pieces = [candidates[at : at + PARALLEL_LINES // 4] for at in range(0, len(candidates), PARALLEL_LINES // 4)]
    try:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            for scored in pool.map(_score_some, pieces):
                yield from scored
    except (OSError, BrokenExecutor):  # a sandbox without semaphores, or a worker that was killed: only slower
        return


def _score_some(candidates: Sequence[Candidate]) -> list[CueResult]:
    return [score_line(line) for line in candidates]


def score_line(line: Candidate) -> CueResult:
    """The score of one line, by what was learned of lines with its cues and of its form."""
    result = cues_of_line(line)
    named = line.label in LABELS and LABELS[line.label][0] != "" and LABELS[line.label][1] >= NAMES_KIND
    return replace(result, score=round(lasting.score(line, result, named=named), 3))


def cues_of_line(line: Candidate) -> CueResult:
    """The cues of one line in its language(s), and its label."""
    result = match_cues(line.text, _cues_of(line.languages))
    if not line.label:
        return result
    kind, weight = LABELS[line.label]
    named = (f"label '{line.label}'",)
    return CueResult(
        round(result.score + weight, 3),
        kind if weight >= NAMES_KIND and kind else result.kind or kind,
        named + result.cues if weight > 0 else result.cues,
        result.against if weight > 0 else named + result.against,
    )


@cache
def _cues_of(languages: tuple[str, ...]) -> CueSet:
    return cue_set(item for language in languages for item in _LEXICONS[language])


def _notes(
    log: Log, scored: Sequence[ScoredLine], days: dict[str, set[date]], existing: Sequence[Fact]
) -> Iterable[Operation]:
    reason_lines: set[int] = set()
    for at, item in enumerate(scored):
        line = item.line
        if line.number in reason_lines:
            continue
        after = None
        if at + 1 < len(scored):
            after = scored[at + 1].line
        reason = None
        if item.keep and after is not None and _is_reason(line, after):
            reason = after
        if reason is not None:
            reason_lines.add(reason.number)
        if not log.new.isdisjoint(range(line.number, line.end + 1)):
            operation = _operation(log, item, reason, days)
            target = ""
            if operation.op is Op.ADD and not line.typed:
                target = retracted_fact(item, existing)
            yield replace(operation, op=Op.SUPERSEDE, target=target) if target else operation


def _is_reason(line: Candidate, after: Candidate) -> bool:
    return after.number <= line.end + 1 and bool(_REASON.match(after.whole))


def _days_of_topics(logs: Iterable[tuple[Log, Sequence[ScoredLine]]]) -> dict[str, set[date]]:
    """On which days each value (path, port, version, URL) was written, and each content word of a line to keep."""
    days: dict[str, set[date]] = {}
    for log, scored in logs:
        for item in scored:
            for value in _VALUE.findall(item.line.text):
                days.setdefault(value, set()).add(log.day)
            if item.keep:
                for word in words(item.line.text):
                    days.setdefault(word, set()).add(log.day)
                days.setdefault(_form(item.line.text), set()).add(log.day)
    return days


def _form(text: str) -> str:
    """A line without its numbers: what a machine writes each day differs in them alone."""
    return "line " + _NUMBER.sub("0", text.casefold())


def _operation(log: Log, item: ScoredLine, reason: Candidate | None, days: dict[str, set[date]]) -> Operation:
    """The operation for one scored line: ADD, or SKIP with the reason.

    `reason`: the next line, if it gives the reason of this one. `days`: the days on which each value, word and form of
    a line occurs.
    """
    line, result = item.line, item.result
    score = result.score
    if result.against:
        values = []
    else:
        values = _VALUE.findall(line.text)
    often = [value for value in values if len(days.get(value, ())) >= RECURRING_DAYS]
    if often:
        score += 0.7
    if len(days.get(_form(line.text), ())) >= RECURRING_DAYS:
        score -= ROUTINE
    typed = ""
    if line.typed in IMPORTANCE:
        typed = line.typed
    safe = STATES_HEALTH.search(line.text) is not None and not line.text.rstrip().endswith(("?", "？"))
    if typed or safe:
        score = max(score, THRESHOLD)
    kind = typed or result.kind or "fact"
    text = " ".join(line.text.split())
    if item.retracted or score < THRESHOLD:
        if item.retracted:
            why = f"taken back {item.retracted}"
        elif result.against:
            why = "speaks against it: " + ", ".join(result.against[:3])
        else:
            why = "nothing says it will matter later"
        span = Span(log.path, line.number, line.end, log.blob)
        if item.retracted:
            odds = None
        else:
            odds = odds_of(score)
        return Operation(Op.SKIP, line.about(text), (span,), kind, 0.0, reason=why, origin=line.origin, odds=odds)
    if safe and not typed and kind in ("fact", "profile"):
        kind = "profile"
        if re.search(r"contra|금기|禁忌|must not|cannot|can't", line.text, re.I):
            kind = "constraint"
    text, last = line.about(text), line.end
    if reason is not None:
        text = f"{text} ({normalise(_REASON.sub('', reason.whole)).rstrip('.。')})"
        last = reason.end
    span = Span(log.path, line.number, last, log.blob)
    importance = importance_of(kind, odds_of(score))
    if "까닭" in result.cues or "reason given" in result.cues or reason is not None:
        importance += 0.03
    topics = words(line.text)
    recurs = sum(1 for word in topics if len(days.get(word, ())) >= RECURRING_DAYS)
    importance += min(0.04, 0.01 * recurs) + (0.06 if often else 0.0)
    why = ", ".join(result.cues[:3]) or _stated(typed, safe)
    return Operation(
        Op.ADD, text, (span,), kind,
        importance=round(max(0.92, importance) if safe else min(0.89, importance), 3),
        until=last_day_of(line.text, kind, log.day),
        reason=why + (f"; said on {RECURRING_DAYS} days or more" if often else ""),
        pinned=safe, origin=line.origin, odds=None if typed or safe else odds_of(score),
    )  # fmt: skip


def odds_of(score: float) -> float:
    """The log-odds that a line with a score is worth keeping."""
    return (score - THRESHOLD) / lasting.SCALE


def importance_of(kind: str, odds: float) -> float:
    """The importance of a fact by its kind and the log-odds that it is worth keeping."""
    return OF_KIND * IMPORTANCE.get(kind, 0.5) + OF_SCORE / (1 + exp(-odds))


def _stated(typed: str, safe: bool) -> str:
    """Why the model offers a line that matches no cue."""
    if typed:
        return "its own comment says its type"
    if safe:
        return "health"
    return "like lines that last"


def last_day_of(text: str, kind: str, day: date) -> str:
    """The day after which it no longer holds: a deadline's own, or one before `까지`, `まで` or after `until`, or the
    last of the month, year or week that is named so. What holds from now on ends on no day of the week."""
    mentions = dates.find(text, day, future=_PAST.search(text) is None)
    standing = dates.holds_from_now_on(text)
    for mention in mentions:
        after = text[mention.end : mention.end + 8]
        before = text[max(0, mention.start - 14) : mention.start].lower()
        names_an_end = (
            _UNTIL.match(text, mention.start, mention.end)
            or re.match(
                r"\s*(?:\([^)]*\)\s*)?(?:까지|이전|전까지|안에|이내|내로|まで|以前|以内|之前|前(?!後|后))", after
            )
            or re.search(
                r"\b(?:until|till|through|expires?(?:\s+on)?|by|before|due(?:\s+(?:on|is))?)\s+(?:the\s+)?$", before
            )
        )
        if names_an_end and (not standing or mention.spelled or _ends_with(text, mention)):
            if kind == "lesson":
                return ""
            return mention.day.isoformat()
    ends = [ending.day for ending in dates.endings(text, day)]
    if ends:
        if kind == "lesson":
            return ""
        return max(ends).isoformat()
    if kind == "deadline":
        # A day that was ("agreed yesterday") says when a deadline was spoken of.
        own = [mention for mention in mentions if mention.spelled]
        own = own or [item for item in mentions if item.day >= day and not standing]
        if not own:
            return ""
        return own[-1].day.isoformat()
    return ""


def _ends_with(text: str, mention: dates.Mention) -> bool:
    """Whether something holds until this day, and not only by it."""
    before = text[max(0, mention.start - 9) : mention.start + 6].lower()
    after = text[mention.end : mention.end + 5]
    return bool(re.search(r"\b(?:until|till|through)\b", before) or re.match(r"\s*(?:까지|まで)", after))


def _dialogue(log: Log, candidates: Sequence[Candidate]) -> Iterable[Operation]:
    for turn in dialogue.score_turns(candidates):
        line = turn.line
        if log.new.isdisjoint(range(line.number, line.end + 1)):
            continue
        span = Span(log.path, line.number, line.end, log.blob)
        text = normalise(f"{line.speaker}: {turn.text}" if line.speaker else turn.text)
        safe = any(STATES_HEALTH.search(said) and not said.endswith(("?", "？")) for said in sentences(turn.text))
        if turn.score < dialogue.THRESHOLD and not safe:
            why = "says nothing lasting: " + (", ".join(turn.against[:3]) or "small talk")
            odds = turn.score - dialogue.THRESHOLD
            yield Operation(Op.SKIP, text, (span,), turn.kind, 0.0, reason=why, origin=line.origin, odds=odds)
            continue
        importance = 0.25 + 0.09 * turn.score
        yield Operation(
            Op.ADD, text, (span,), "profile" if safe else turn.kind,
            importance=round(max(0.92, importance) if safe else min(0.85, importance), 3),
            until="", reason=", ".join(turn.cues[:3]) or _stated("", safe), pinned=safe,
            origin=line.origin, odds=None if safe else turn.score - dialogue.THRESHOLD,
        )  # fmt: skip
