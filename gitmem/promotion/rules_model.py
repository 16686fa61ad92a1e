"""`rules`: the default promotion model. It is deterministic, reads four languages and uses no network.

The model matches each candidate line with the cues of its language, scores it with learned weights (`lasting`), and
skips lines that a later line retracts. Turns of a dialogue are scored by `promotion/dialogue.py`. It proposes whole
lines, never new words. The `reason` of each operation names the cues for a proposed line, or against a skipped one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from math import exp
from typing import NamedTuple

from gitmem.git.objects import Span
from gitmem.memory.fact import Fact, normalise
from gitmem.promotion import dialogue, lasting, log_lines, retractions
from gitmem.promotion.amending_lines import Place, amending_lines
from gitmem.promotion.cues import DECIDING_WEIGHT, THRESHOLD, CueResult, CueSet, cue_set, match_cues
from gitmem.promotion.lexicon import chinese, english, japanese, korean
from gitmem.promotion.lexicon.health import STATES_HEALTH
from gitmem.promotion.log_lines import LABELS, Candidate
from gitmem.promotion.proposal import Log, Op, Operation, Proposal
from gitmem.promotion.retractions import ScoredLine
from gitmem.promotion.score_cache import ScoreCache
from gitmem.text import dates, last_days
from gitmem.text.sentences import sentences

_LEXICONS = {"en": english.CUES, "ko": korean.CUES, "ja": japanese.CUES, "zh": chinese.CUES}

# Importance by the kind of a fact, from 0 to 1: an estimate of how long it stays true and how often agents need it.
IMPORTANCE = {
    "policy": 0.74, "constraint": 0.72, "decision": 0.70, "rule": 0.72, "preference": 0.68, "exception": 0.66,
    "profile": 0.66, "deadline": 0.64, "lesson": 0.62, "goal": 0.60, "fact": 0.52, "timeline": 0.5, "todo": 0.5,
}  # fmt: skip
# A value that makes a line worth keeping if it recurs on other days: code, a link, a path, a version, a port, a
# variable of the environment, a number of four or five digits.
_VALUE = re.compile(
    r"`[^`]+`|https?://\S+|(?<![\w.-])[\w.-]+/[\w./=-]+|v?\d+\.\d+(?:\.\d+)+|:\d{4,5}\b"
    r"|\b[A-Z]{2,}_[A-Z_]+\b|\bport \d+|\b\d{4,5}\b"
)
_NUMBER = re.compile(r"\d+")
# The beginning of a line that gives the reason of the line before: "The reason is that", "그 이유는", "理由は".
_REASON = re.compile(
    r"^\(?(?:(?:(?:the|our|my)\s+)?(?:main\s+)?(?:reason|why|because|rationale)(?:\s+(?:is|was)(?:\s+that|\s+because)?)?"
    r"|(?:그\s*)?(?:이유|근거|배경|왜냐하면|까닭|원인(?=은))(?:는|은)?)\s*[:：,]?\s+"
    r"|^[(（]?(?:(?:その|主な)?(?:理由|原因|根拠)\s*(?:は|[:：])|なぜなら(?:ば)?|というのも|(?:主要)?(?:原因|理由)\s*(?:是|在[于於]|[:：])"
    r"|(?:主要是)?因[为為])[、,，]?\s*",
    re.I,
)
# The end of a text in the past tense, in which a day without a year is a past one.
_PAST = re.compile(r"[았었였했됐렸졌](?:다|음|습니다|어요)[.。\s]*$|为止[.。\s]*$|為止[.。\s]*$")
_UNTIL = re.compile(r"(?:until|till|through|by|before)\b", re.I)  # may be part of the mention of a weekday
# A time of day after the mention of a day, and before it: on that day something takes place.
_CLOCK = r"(?:\d{1,2}:\d\d|\d{1,2}\s?[ap]\.?m\b|\d{1,2}\s?[시時点點](?![간間]))"
_CLOCK_AFTER = re.compile(
    rf"[\s,]*(?:[(（]\S{{1,9}}[)）]|[월화수목금토일]요일|\w{{2,9}}day\b)?[\s,]*(?:(?:at|um|오전|오후|上午|下午|午前|午後)\s*)?{_CLOCK}",
    re.I,
)
_CLOCK_BEFORE = re.compile(rf"{_CLOCK}(?:\s[A-Z]{{2,4}})?[\s,]+(?:on\s+)?(?:\w{{2,9}}day,?\s+)?$", re.I)
# Words around a day from which something holds: it does not end on that day.
_BEGINS_BEFORE = re.compile(
    r"\b(?:from|since|as\s+of|starting|starts?|begins?|effective)\s+(?:on\s+)?(?:\w+day,?\s+)?$|[从從自]$", re.I
)
_BEGINS_AFTER = re.compile(r"부터|から|起|\s*(?:on)?wards?\b", re.I)
# What cannot be done in the session that is written about can perhaps be done in the next one.
_OF_THIS_SESSION = re.compile(
    r"\b(?:cannot|can't|can\s+not|not|unable)\b[^.;]*\b(?:from|in|during)\s+(?:this|the\s+current)\s+session\b|(?:이번|현재|이)\s*세션\S*\s.*(?:불가|없|못|안\s)",
    re.I,
)
PROGRESS_STEP = 200  # lines between two reports of progress
PARALLEL_LINES = 6000  # lines from which scoring them in two processes is faster
KIND_WEIGHT, SCORE_WEIGHT = 0.5, 0.4  # parts of the importance that come from the kind and from the score
MIN_LABEL_WEIGHT = 1.5  # weight from which a label decides the kind of its line
ROUTINE_PENALTY = 1.0  # taken off the score of a line that is the same on many days: a machine wrote it
RECURRING_DAYS = 3  # days on which a value, word or line must occur to count as recurring


ReadLogs = dict[tuple[str, str], tuple[list[Candidate], list[ScoredLine]]]  # path, blob -> candidates, scored lines


class RulesModel:
    """The `rules` model.

    `spoken`: the lines are spoken turns; they are scored by cues alone, since the weights were learned from logs.
    `known`: a cache of read logs, which the caller keeps between calls; after a call it has the logs of that call.
    `scores`: a cache of scores on disk. `progress`: called with (number of scored lines, number of lines of the new
    logs); the two are equal in the last call of a proposal.
    """

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
        self._scores = ScoreCache(None)
        if scores is not None and not spoken:
            self._scores = scores
        self._progress = progress
        self._known: ReadLogs = {} if known is None else known

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """One operation for every new candidate line: ADD, SUPERSEDE, or SKIP with the reason. A line that gives the
        reason of a proposed one has no operation of its own. `logs`: in the order of days."""
        read_logs = self._read(logs)
        scored = retractions.mark_retracted_in_earlier_logs(logs, [read_logs[log.path, log.blob][1] for log in logs])
        days = _days_of_topics(zip(logs, scored, strict=True))
        amending: set[Place] = set()
        if not self._spoken:
            amending = amending_lines(logs, scored, existing)
        operations: list[Operation] = []
        for log, lines in zip(logs, scored, strict=True):
            candidates, _ = read_logs[log.path, log.blob]
            if any(line.speaker for line in candidates):
                operations += _dialogue_operations(log, candidates)
            else:
                operations += _log_operations(log, lines, days, existing, amending)
        line_count = sum(map(len, scored))
        self._progress(line_count, line_count)
        return Proposal(tuple(operations))

    def _read(self, logs: Sequence[Log]) -> ReadLogs:
        """The candidates and scored lines of the logs. Only logs that are in neither cache are scored; both caches get
        the result, and `known` loses all other logs."""
        known_logs = dict(self._known)
        new_logs = [log for log in logs if (log.path, log.blob) not in known_logs]
        candidates = [log_lines.candidates_of(log) for log in new_logs]
        notes = [[line for line in lines if not line.speaker] for lines in candidates]
        cached = [self._scores.get(log, len(lines)) for log, lines in zip(new_logs, notes, strict=True)]
        unscored = [line for lines, results in zip(notes, cached, strict=True) if results is None for line in lines]
        new_results = iter(map(cues_of_line, unscored) if self._spoken else score_all(unscored))
        scored: list[tuple[Log, Sequence[CueResult]]] = []
        done_lines, line_count = 0, sum(map(len, notes))
        for log, log_candidates, lines, results in zip(new_logs, candidates, notes, cached, strict=True):
            if results is None:
                results = []
                for index in range(len(lines)):
                    if index % PROGRESS_STEP == 0:
                        self._progress(done_lines + index, line_count)
                    results.append(next(new_results))
                scored.append((log, results))
            done_lines += len(lines)
            known_logs[log.path, log.blob] = (
                log_candidates,
                retractions.mark_retracted(list(map(ScoredLine, lines, results))),
            )
        self._scores.put(scored)
        read_logs = {(log.path, log.blob): known_logs[log.path, log.blob] for log in logs}
        self._known.clear()
        self._known.update(read_logs)
        return read_logs


def score_all(candidates: Sequence[Candidate]) -> Iterator[CueResult]:
    """The cues and the score of each line, in order. PARALLEL_LINES and more are scored in two processes."""
    result_count = 0
    if len(candidates) >= PARALLEL_LINES:
        for result in _scored_in_parallel(candidates):
            yield result
            result_count += 1
    yield from map(score_line, candidates[result_count:])


def _scored_in_parallel(candidates: Sequence[Candidate]) -> Iterator[CueResult]:
    """The scores by two worker processes, in order. Ends early when no process can be started or one is killed."""
    import multiprocessing
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    if "fork" not in multiprocessing.get_all_start_methods():
        return
    size = PARALLEL_LINES // 4
    pieces = [candidates[start : start + size] for start in range(0, len(candidates), size)]
    try:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            for scored in pool.map(_score_some, pieces):
                yield from scored
    except (OSError, BrokenExecutor):  # a sandbox without semaphores, or a killed worker: the caller scores the rest
        return


def _score_some(candidates: Sequence[Candidate]) -> list[CueResult]:
    return [score_line(line) for line in candidates]


def score_line(line: Candidate) -> CueResult:
    """The cues of a line, with its score by the learned weights (`lasting`)."""
    result = cues_of_line(line)
    kind, weight = LABELS.get(line.label, ("", 0.0))
    is_labelled = kind != "" and weight >= MIN_LABEL_WEIGHT
    return replace(result, score=round(lasting.line_score(line, result, named=is_labelled), 3))


def cues_of_line(line: Candidate) -> CueResult:
    """The cues of a line in its languages; its label counts as one more cue. A label of MIN_LABEL_WEIGHT or more
    decides the kind; a weaker one only when no cue does."""
    result = match_cues(line.text, _cues_of(line.languages))
    if not line.label:
        return result
    kind, weight = LABELS[line.label]
    if weight < MIN_LABEL_WEIGHT:
        kind = result.kind or kind
    score, label = round(result.score + weight, 3), f"label '{line.label}'"
    if weight > 0:
        return CueResult(score, kind or result.kind, (label, *result.cues), result.against)
    return CueResult(score, kind or result.kind, result.cues, (label, *result.against))


@cache
def _cues_of(languages: tuple[str, ...]) -> CueSet:
    return cue_set(item for language in languages for item in _LEXICONS[language])


def _log_operations(
    log: Log,
    scored: Sequence[ScoredLine],
    days: Mapping[str, set[date]],
    existing: Sequence[Fact],
    amending: Container[Place],
) -> Iterable[Operation]:
    """The operations for the new lines of a log. A kept line takes the next line with it when that gives its reason. An
    addition that retracts a fact of `existing` becomes SUPERSEDE, unless the comment of its line states a type.
    `amending`: the result of `amending_lines`."""
    reason_index = -1  # of the line that gives the reason of the one before it
    for index, item in enumerate(scored):
        line = item.line
        if index == reason_index:
            continue
        reason_line = None
        if item.keep and index + 1 < len(scored) and _is_reason(line, scored[index + 1].line):
            reason_index = index + 1
            reason_line = scored[reason_index].line
        if log.new.isdisjoint(range(line.number, line.end + 1)):
            continue
        operation = _operation(log, item, reason_line, days, amends=(log.path, line.number, line.text) in amending)
        if operation.op is Op.ADD and not line.typed and (target := retractions.retracted_fact(item, existing)):
            operation = replace(operation, op=Op.SUPERSEDE, target=target)
        yield operation


def _is_reason(line: Candidate, next_line: Candidate) -> bool:
    return next_line.number <= line.end + 1 and bool(_REASON.match(next_line.whole))


def _days_of_topics(logs: Iterable[tuple[Log, Sequence[ScoredLine]]]) -> dict[str, set[date]]:
    """The days on which each value (path, port, version, URL) and each line, its numbers aside, occurs, and each
    content word of a kept line."""
    days: dict[str, set[date]] = {}
    for log, scored in logs:
        for item in scored:
            for value in _VALUE.findall(item.line.text):
                days.setdefault(value, set()).add(log.day)
            if item.keep:
                for word in retractions.content_words(item.line.text):
                    days.setdefault(word, set()).add(log.day)
            days.setdefault(_numberless_key(item.line.text), set()).add(log.day)
    return days


def _numberless_key(text: str) -> str:
    """A key for lines that differ only in their numbers, as a machine writes them each day."""
    return "line " + _NUMBER.sub("0", text.casefold())


class _JudgedLine(NamedTuple):
    """What decides about a scored line.

    `score`: its score, raised for a value that recurs and lowered for a line that a machine repeats. `kind`: the type
    of its fact. `stated_type`: the type that its comment states, "" for none. `is_health`: it states something about
    somebody's health. `amends`: it changes what memory holds. `recurs`: one of its values is said on RECURRING_DAYS
    days or more.
    """

    score: float
    kind: str
    stated_type: str
    is_health: bool
    amends: bool
    recurs: bool

    @property
    def is_always_proposed(self) -> bool:
        """Whether the line is proposed whatever its score, unless it is retracted."""
        return bool(self.stated_type) or self.is_health or self.amends


def _judged_line(item: ScoredLine, days: Mapping[str, set[date]], amends: bool) -> _JudgedLine:
    """What decides about a scored line. `days`: the result of `_days_of_topics`. `amends`: the line changes what memory
    holds."""
    line, result = item.line, item.result
    is_routine = _recurs(_numberless_key(line.text), days)
    recurs = not (is_routine or result.against) and any(_recurs(value, days) for value in _VALUE.findall(line.text))
    score = result.score
    if recurs:
        score += 0.7
    if is_routine:
        score -= ROUTINE_PENALTY
    stated_type = ""
    if line.typed in IMPORTANCE:
        stated_type = line.typed
    is_health = STATES_HEALTH.search(line.text) is not None and not line.text.rstrip().endswith(("?", "？"))
    kind = stated_type or result.kind or "fact"
    return _JudgedLine(score, kind, stated_type, is_health, amends, recurs)


def _recurs(key: str, days: Mapping[str, set[date]]) -> bool:
    """Whether a value, a word or a line occurs on RECURRING_DAYS days or more. `days`: as of `_days_of_topics`."""
    return len(days.get(key, ())) >= RECURRING_DAYS


def _operation(
    log: Log, item: ScoredLine, reason_line: Candidate | None, days: Mapping[str, set[date]], *, amends: bool
) -> Operation:
    """The operation for one scored line: ADD, or SKIP with the reason. A retracted line is always skipped. Any other
    line about health is proposed and pinned. A line whose comment states a type is proposed, unless it is retracted.

    `reason_line`: the next line when it gives the reason of this one. `days`: the result of `_days_of_topics`.
    `amends`: the line changes what memory holds, so that it is proposed.
    """
    judged = _judged_line(item, days, amends)
    if item.retracted or (judged.score < THRESHOLD and not judged.is_always_proposed):
        return _skipped_line(log, item, judged)
    return _proposed_line(log, item, reason_line, judged, days)


def _skipped_line(log: Log, item: ScoredLine, judged: _JudgedLine) -> Operation:
    """The operation that skips a line, with the reason."""
    line = item.line
    explanation, odds = "nothing says it will matter later", None
    if item.retracted:
        explanation = f"taken back {item.retracted}"
    else:
        odds = odds_of(judged.score)
        if item.result.against:
            explanation = "speaks against it: " + ", ".join(item.result.against[:3])
    span = Span(log.path, line.number, line.end, log.blob)
    return Operation(Op.SKIP, _text(line), (span,), judged.kind, 0.0, reason=explanation, origin=line.origin, odds=odds)


def _text(line: Candidate) -> str:
    """The text of a fact that a line would be, with the topic that it needs."""
    return line.with_topic(" ".join(line.text.split()))


def _proposed_line(
    log: Log, item: ScoredLine, reason_line: Candidate | None, judged: _JudgedLine, days: Mapping[str, set[date]]
) -> Operation:
    """The operation that adds a line as a fact, together with the line after it when that gives its reason. `days`: the
    result of `_days_of_topics`."""
    line, result, text, last_line = item.line, item.result, _text(item.line), item.line.end
    score = judged.score
    if judged.is_always_proposed:
        score = max(score, THRESHOLD)
    kind = judged.kind
    if judged.is_health and not judged.stated_type and kind in ("fact", "profile"):
        kind = "profile"
        if re.search(r"contra|금기|禁忌|must not|cannot|can't", line.text, re.I):
            kind = "constraint"
    importance = importance_of(kind, odds_of(score))
    if reason_line is not None:
        text = f"{text.rstrip('.。')} ({normalise(_REASON.sub('', reason_line.whole)).rstrip('.。')})"
        last_line = reason_line.end
    if "까닭" in result.cues or "reason given" in result.cues or reason_line is not None:
        importance += 0.03
    bonus = min(0.04, 0.01 * sum(_recurs(word, days) for word in retractions.content_words(line.text)))
    explanation = ", ".join(result.cues[:3]) or _reason_without_cues(
        judged.stated_type, judged.is_health, amends=judged.amends
    )
    if judged.recurs:
        bonus += 0.06
        explanation += f"; said on {RECURRING_DAYS} days or more"
    importance += bonus
    return Operation(
        Op.ADD, text, (Span(log.path, line.number, last_line, log.blob),), kind,
        type_guessed=not judged.stated_type and not judged.is_health and not _states_type(line, result),
        importance=_rounded(importance, judged.is_health, 0.89), until=last_day_of(line.text, kind, log.day),
        reason=explanation, pinned=judged.is_health, origin=line.origin,
        odds=None if judged.is_always_proposed else odds_of(score),
    )  # fmt: skip


def _states_type(line: Candidate, result: CueResult) -> bool:
    """Whether the label of a line states its type, or a cue of DECIDING_WEIGHT does."""
    kind, weight = LABELS.get(line.label, ("", 0.0))
    if kind and weight >= MIN_LABEL_WEIGHT:
        return True
    deciding = (item for item in _cues_of(line.languages).favouring if item.weight >= DECIDING_WEIGHT)
    return any(item.kind == result.kind and item.name in result.cues for item in deciding)


def _rounded(importance: float, is_health: bool, maximum: float) -> float:
    """The importance with three digits: at most `maximum`, or at least 0.92 for health."""
    if is_health:
        return round(max(0.92, importance), 3)
    return round(min(maximum, importance), 3)


def odds_of(score: float) -> float:
    """The log-odds that a line with this score is worth keeping."""
    return (score - THRESHOLD) / lasting.SCORE_PER_LOG_ODDS


def importance_of(kind: str, odds: float) -> float:
    """The importance, 0 to 1, of a fact of a kind whose line has these log-odds of being worth keeping."""
    return KIND_WEIGHT * IMPORTANCE.get(kind, 0.5) + SCORE_WEIGHT / (1 + exp(-odds))


def _reason_without_cues(stated_type: str, is_health: bool, *, amends: bool = False) -> str:
    """The reason for proposing a line that matches no cue."""
    if stated_type:
        return "its own comment says its type"
    if is_health:
        return "health"
    if amends:
        return "it changes what memory holds"
    return "like lines that last"


def last_day_of(text: str, kind: str, day: date) -> str:
    """The last day, as an ISO date, on which a text of a log of `day` is true; "" when it names none. `kind`: the type
    of the fact.

    It is the day of a deadline, the day before words such as `까지` or `まで` or after words such as `until`, `by` or
    `before`, the end of a week, month or year that is named so, the day of an appointment (a later day with a time of
    day), the end of a pause whose length is said, or `day` for what cannot be done in the session of the log. A text
    that is true from now on does not end on a weekday. A lesson never ends.
    """
    if kind == "lesson":
        return ""
    mentions = dates.find_days(text, day, future=_PAST.search(text) is None)
    is_standing = last_days.holds_from_now_on(text)
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
        if names_an_end and (not is_standing or mention.states_day or _is_until(text, mention)):
            return mention.day.isoformat()
    if pause := last_days.end_of_pause(text, day):
        return pause.isoformat()
    end_days = [ending.day for ending in last_days.find_endings(text, day)]
    if not end_days and not is_standing:
        nearest = dates.find_days(text, day, future=False)
        end_days = [mention.day for mention in nearest if _is_appointment(text, mention, nearest, day)]
    if end_days:
        return max(end_days).isoformat()
    if _OF_THIS_SESSION.search(text):
        return day.isoformat()
    if kind != "deadline":
        return ""
    deadlines = [mention for mention in mentions if mention.states_day]
    # A past day, as in "agreed yesterday", is not the deadline itself.
    deadlines = deadlines or [mention for mention in mentions if mention.day >= day and not is_standing]
    if not deadlines:
        return ""
    return deadlines[-1].day.isoformat()


def _is_appointment(text: str, mention: dates.Mention, mentions: Sequence[dates.Mention], day: date) -> bool:
    """Whether the mention of a day after `day` has a time of day beside it, or is explained by a word that counts from
    `day` ("25 March (tomorrow)"): something takes place then. False for a day from which something holds."""
    if not mention.states_day or mention.day <= day:
        return False
    before, after = text[: mention.start], text[mention.end :]
    clock = _CLOCK_AFTER.match(after)
    if _BEGINS_BEFORE.search(before) or _BEGINS_AFTER.match(after[clock.end() if clock else 0 :]):
        return False
    if clock or _CLOCK_BEFORE.search(before):
        return True
    return any(other.day == mention.day and not other.states_day for other in mentions)


def _is_until(text: str, mention: dates.Mention) -> bool:
    """Whether the words around the day say "until", and not "by"."""
    before = text[max(0, mention.start - 9) : mention.start + 6].lower()
    after = text[mention.end : mention.end + 5]
    return bool(re.search(r"\b(?:until|till|through)\b", before) or re.match(r"\s*(?:까지|まで)", after))


def _dialogue_operations(log: Log, candidates: Sequence[Candidate]) -> Iterable[Operation]:
    """An ADD or SKIP for each new turn of a dialogue, in order. A turn about health is always proposed and pinned."""
    for turn in dialogue.score_turns(candidates):
        line = turn.line
        if log.new.isdisjoint(range(line.number, line.end + 1)):
            continue
        span = Span(log.path, line.number, line.end, log.blob)
        text = turn.text
        if line.speaker:
            text = f"{line.speaker}: {text}"
        text = normalise(text)
        odds = turn.score - dialogue.THRESHOLD
        statements = (sentence for sentence in sentences(turn.text) if not sentence.endswith(("?", "？")))
        is_health = any(map(STATES_HEALTH.search, statements))
        if odds < 0 and not is_health:
            explanation = "says nothing lasting: " + (", ".join(turn.against[:3]) or "small talk")
            yield Operation(Op.SKIP, text, (span,), turn.kind, 0.0, reason=explanation, origin=line.origin, odds=odds)
            continue
        yield Operation(
            Op.ADD, text, (span,), "profile" if is_health else turn.kind,
            importance=_rounded(0.25 + 0.09 * turn.score, is_health, 0.85),
            reason=", ".join(turn.cues[:3]) or _reason_without_cues("", is_health), pinned=is_health,
            origin=line.origin, odds=None if is_health else odds,
        )  # fmt: skip
