"""The rolling summary of a session: sentences of its older turns in bounded space, updated turn by turn. Pure.

The summary quotes sentences of the session, none from a line with a secret. Each turn is added once, and the summary
after n turns depends on these turns only. So a stored summary equals one made from the start, and it also covers turns
that the host has removed from its transcript. `sessions/state.py` stores it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gitmem.hosts.pasted_text import without_pasted_text
from gitmem.hosts.transcript import By, Role, Turn
from gitmem.json_values import parse_json
from gitmem.models.token_count import estimate
from gitmem.sessions.compaction import KEPT_TURNS
from gitmem.text.sentences import sentences as split_sentences
from gitmem.text.terms import STOP, STOP_KOREAN, split_token
from gitmem.text.terms import tokens as words

SUMMARY_TOKENS = 400
MIN_SENTENCE_CHARS, MAX_SENTENCE_CHARS = 8, 400
KEPT_SENTENCES = 80  # cut back to this number when there are twice as many
KEPT_TERMS = 600  # with counts; cut back to this number when there are twice as many
SAME_SHARE = 0.75  # of the shorter sentence's terms in the longer one, from which they say the same
MARK_TURNS = 16  # the last turns whose keys find the place in a transcript again


class SummaryLine(NamedTuple):
    """A sentence of a summary. `number`: its position among all sentences of the session. `role`: its speaker, "user"
    or "assistant"."""

    number: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class RollingSummary:
    """A summary that can be continued. `lines`: the kept sentences in the order of the session. `counts`: term ->
    number of sentences with it, for the most frequent terms.

    `turns`: number of turns that were added. `said`: number of sentences in these turns. `first`: key of the first
    turn. `marks`: keys of the last MARK_TURNS turns, which find the place in a transcript again.
    """

    lines: tuple[SummaryLine, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    turns: int = 0
    said: int = 0
    first: str = ""
    marks: tuple[str, ...] = ()


def add_turns(state: RollingSummary, turns: Iterable[Turn]) -> RollingSummary:
    """The summary with these turns added; tool output is ignored. Adding turns in two steps gives the same result as in
    one."""
    lines, counts = list(state.lines), dict(state.counts)
    known_texts = {line.text for line in lines}
    terms_by_text = {line.text: _terms(line.text) for line in lines}
    count, sentence_count, first_key, marks = state.turns, state.said, state.first, list(state.marks)
    for turn in turns:
        if turn.role is Role.TOOL or not turn.text:
            continue
        count, first_key, marks = count + 1, first_key or turn_key(turn), [*marks[-MARK_TURNS + 1 :], turn_key(turn)]
        for role, text in sentences(turn):
            sentence_count += 1
            terms_by_text.setdefault(text, _terms(text))
            for term in terms_by_text[text]:
                counts[term] = counts.get(term, 0) + 1
            if text not in known_texts:
                known_texts.add(text)
                lines.append(SummaryLine(sentence_count, role, text))
        if len(counts) > 2 * KEPT_TERMS:
            counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:KEPT_TERMS])
        if len(lines) > 2 * KEPT_SENTENCES:
            lines.sort(key=lambda line: (-weight(terms_by_text[line.text], line.text, counts), line.number))
            lines = sorted(lines[:KEPT_SENTENCES])
            known_texts = {line.text for line in lines}
            terms_by_text = {line.text: terms_by_text[line.text] for line in lines}
    return RollingSummary(tuple(lines), counts, count, sentence_count, first_key, tuple(marks))


def sentences(turn: Turn) -> list[tuple[str, str]]:
    """(speaker, sentence) of each sentence of a turn that has MIN_SENTENCE_CHARS to MAX_SENTENCE_CHARS characters,
    without lines with a secret, quotations and inserted text. In a turn that is an earlier summary the lines name their
    speakers; a line without a speaker is the agent's."""
    from gitmem.gate.quoting import HIDDEN, without_secrets

    parts = []
    content = turn.text
    if turn.by is By.SPEAKER:
        content = "\n".join(passage.text for passage in without_pasted_text(turn.text) if not passage.doubtful)
    for text in without_secrets(content.split("\n")):
        for part in split_sentences(text):
            role, part = turn.role.value, part.strip()
            if turn.by is By.SUMMARY:
                role = "assistant"
                head, colon, remainder = part.removeprefix("- ").partition(": ")
                if colon and head in ("user", "assistant"):
                    role, part = head, remainder
            if MIN_SENTENCE_CHARS <= len(part) <= MAX_SENTENCE_CHARS and part != HIDDEN:
                parts.append((role, part))
    return parts


def weight(sentence_terms: Collection[str], text: str, counts: Mapping[str, int], focus: Collection[str] = ()) -> float:
    """The weight of a sentence: higher if its terms are frequent in the session, since frequent words are its topic.

    `sentence_terms`: the terms of the sentence. `text`: the sentence; a question weighs less. `counts`: term -> number
    of sentences. `focus`: terms that raise the weight. 0.0 for a sentence without terms. The formula: sum of log(1 +
    count) / sqrt(terms + 4), times 1 to 3 for the share of `focus` in it.
    """
    if not sentence_terms:
        return 0.0
    mean = sum(math.log1p(counts.get(term, 0)) for term in sentence_terms) / math.sqrt(len(sentence_terms) + 4)
    shared = sum(1 for term in focus if term in sentence_terms) / max(1, len(focus))
    return mean * (1 + 2 * shared) * (0.6 if text.endswith(("?", "？")) else 1)


def render(state: RollingSummary, budget: int = SUMMARY_TOKENS, focus: str = "") -> str:
    """The sentences with the highest weight as text, each on a line `- speaker: sentence`; "" if there are none.
    `budget`: tokens of all together. `focus`: a text; sentences that share words with it are preferred."""
    return "\n".join(f"- {line.role}: {line.text}" for line in best_lines(state, budget, focus))


def best_lines(state: RollingSummary, budget: int, focus: str = "") -> list[SummaryLine]:
    """The sentences with the highest weight within `budget` tokens, in the order of the session, without
    near-repetitions. Sentences that share words with the text `focus` are preferred."""
    focus_terms = _terms(focus)
    line_terms = {line: _terms(line.text) for line in state.lines}
    ranked = sorted(
        state.lines, key=lambda line: (-weight(line_terms[line], line.text, state.counts, focus_terms), line.number)
    )  # fmt: skip
    chosen: list[SummaryLine] = []
    remaining_tokens = budget
    for line in ranked:
        cost = estimate(line.text) + 4
        if cost <= remaining_tokens and not any(_adds_little(line_terms[line], line_terms[other]) for other in chosen):
            chosen.append(line)
            remaining_tokens -= cost
    return sorted(chosen)


def _terms(text: str) -> frozenset[str]:
    """The terms of a text without stop words."""
    kept = ((token, script) for token, script in words(text) if token.lower() not in STOP and token not in STOP_KOREAN)
    return frozenset(term for token, script in kept for term in split_token(token, script))


def _adds_little(terms: frozenset[str], other_terms: frozenset[str]) -> bool:
    """Whether two sentences, given as their terms, say nearly the same: the longer one has at least SAME_SHARE of the
    terms of the shorter one; if the shorter one has at most two terms, their terms are equal. (`adds_nothing` of
    memory/similarity.py is stricter, since it drops facts.)"""
    shorter = min(len(terms), len(other_terms))
    if shorter > 2:
        return len(terms & other_terms) >= SAME_SHARE * shorter
    return terms == other_terms


def resume(state: RollingSummary, turns: Sequence[Turn], keep: int = KEPT_TURNS) -> RollingSummary:
    """The summary of the turns of a transcript without the last `keep` spoken ones, continued from the stored summary
    `state`.

    If the transcript begins with another turn than `state`, the host has removed older turns, and only turns after the
    last mark are added. Summaries that the host wrote into the transcript are used only if `state` is empty.
    """
    spoken = [turn for turn in turns if turn.role is not Role.TOOL and turn.text and turn.by is By.SPEAKER]
    older = spoken[:-keep] if keep else spoken
    if not older and not state.turns:
        return add_turns(state, [turn for turn in turns if turn.by is By.SUMMARY])
    keys = [turn_key(turn) for turn in older]
    if state.turns and keys and keys[0] == state.first:
        if keys[: state.turns][-MARK_TURNS:] == list(state.marks):
            return add_turns(state, older[state.turns :])
        return add_turns(
            RollingSummary(), older
        )  # turns were edited, or `keep` is larger: start again, since all turns are here
    if not state.turns:
        return add_turns(RollingSummary(), [turn for turn in turns if turn.by is By.SUMMARY] + older)
    return add_turns(state, older[summarised_count(keys, state.marks) :])


def summarised_count(keys: Sequence[str], marks: Sequence[str]) -> int:
    """The number of leading `keys` that a summary with these `marks` already contains; 0 if the marks are not found."""
    for end in range(len(keys), 0, -1):
        length = min(end, len(marks))
        if length and tuple(keys[end - length : end]) == tuple(marks[-length:]):
            return end
    return 0


def turn_key(turn: Turn) -> str:
    """The key of a turn, 16 hex digits made from its role and text; line numbers change when a transcript is
    compacted."""
    return hashlib.sha256(f"{turn.role}\0{turn.text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def distinct_keys(keys: Iterable[str]) -> list[str]:
    """The keys in order, made distinct: the second equal key gets the ending `.2`, since a repeated text is another
    turn."""
    counts: Counter[str] = Counter()
    distinct = []
    for key in keys:
        counts[key] += 1
        distinct.append(key if counts[key] == 1 else f"{key}.{counts[key]}")
    return distinct


def dump(state: RollingSummary) -> bytes:
    """The summary as JSON bytes, for `load`."""
    value = {"version": 1, "lines": [list(line) for line in state.lines], "counts": dict(state.counts)}
    value |= {"turns": state.turns, "said": state.said, "first": state.first, "marks": list(state.marks)}
    return json.dumps(value).encode()


def load(data: bytes) -> RollingSummary:
    """The summary from its JSON; an empty one for damaged data or another version."""
    try:
        value = parse_json(data)
        if value["version"] != 1:
            return RollingSummary()
        lines = tuple(SummaryLine(int(number), str(role), str(text)) for number, role, text in value["lines"])
        counts = {str(term): int(count) for term, count in value["counts"].items()}
        marks = tuple(map(str, value["marks"]))
        return RollingSummary(lines, counts, int(value["turns"]), int(value["said"]), str(value["first"]), marks)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return RollingSummary()
