"""Condenses parts of a context by topic with a language model (`git mem context --merge`). Off by default.

A condensed line replaces the parts that it cites only if those parts support it, if it is shorter than they are, and
if it has each of their numbers. Otherwise the parts stay. If the model fails, nothing is condensed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from gitmem.config import Config
from gitmem.context.context_request import MergeResult
from gitmem.context.layer_limits import Count, Layer
from gitmem.context.layers import Part, Place
from gitmem.errors import BadConfig, GitMemError
from gitmem.git.opening import Repository
from gitmem.memory.fact import normalise
from gitmem.messages import Message
from gitmem.models.language import MAX_REPLY_CHARACTERS, Complete, LanguageModel, OutOfBudget, Prompt, Reply
from gitmem.promotion.prompt import packaged_prompt, parse_objects, schema_of_list
from gitmem.provenance import grounding
from gitmem.text.denials import denials

MAX_TOPIC_CHARACTERS, MAX_TEXT_CHARACTERS = 40, 400  # of one condensed line
MAX_NOTES = 30  # notes of one request
MAX_CITED = 8  # notes that one line may replace
MAX_LINES = 12  # lines of one reply


@dataclass(frozen=True, slots=True)
class Note:
    """One part as the model sees it. `key`: the caller's number for the part. `path`, `line`: where its text begins.
    `day`: the day that relative dates in its text are counted from."""

    key: int
    text: str
    path: str
    line: int
    day: date


@dataclass(frozen=True, slots=True)
class CondensedLine:
    """A line that a model wrote in place of several notes. `topic`: what it is about. `keys`: `Note.key` of each note
    that it replaces."""

    topic: str
    text: str
    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Condensed:
    """`lines`: the accepted condensed lines. `notes`: messages for a person about replies and lines that were
    refused."""

    lines: tuple[CondensedLine, ...]
    notes: tuple[str, ...] = ()


def _reply_rows(reply: Reply) -> tuple[Sequence[Mapping[str, Any]], str]:
    """(the JSON objects of a model's reply, the problem that made the reply incomplete or "")."""
    if reply.too_long:
        return [], "the notes do not fit into its context"
    return parse_objects(reply.text[:MAX_REPLY_CHARACTERS])


def condense(notes: Sequence[Note], complete: Complete, count: Callable[[str], int]) -> Condensed:
    """The lines by which a model condenses notes, as far as the notes support them.

    The model is asked once for each MAX_NOTES notes; a single note that is left over is not sent. A note is replaced by
    one line at most. If the model's budget is spent (OutOfBudget), the lines so far are returned with a message; other
    errors of `complete` are raised. `complete`: sends a prompt to the model. `count`: returns the tokens of a text.
    """
    lines: list[CondensedLine] = []
    messages: list[str] = []
    for start in range(0, len(notes), MAX_NOTES):
        group = notes[start : start + MAX_NOTES]
        if len(group) < 2:
            break
        request = prompt(group)
        try:
            reply = complete(request)
        except OutOfBudget as error:
            messages.append(f"merge: {error}; the rest is as it was")
            break
        rows, problem = _reply_rows(reply)
        if problem:
            messages.append(f"merge: {problem}")
        refused: list[str] = []
        replaced_keys = {key for line in lines for key in line.keys}
        for row in rows[:MAX_LINES]:
            line, reason = _checked_line(row, group, replaced_keys, count)
            if line is None:
                refused.append(reason)
                continue
            lines.append(line)
            replaced_keys |= set(line.keys)
        if refused:
            messages.append(f"merge: {len(refused)} of {len(rows[:MAX_LINES])} lines do not stand ({refused[0]})")
    return Condensed(tuple(lines), tuple(messages))


def prompt(notes: Sequence[Note]) -> Prompt:
    """The prompt for one batch of notes, which are labelled L1, L2, ..."""
    labels = [f"L{n}" for n in range(1, len(notes) + 1)]
    lines = [f"{label} {json.dumps(note.text, ensure_ascii=False)}" for label, note in zip(labels, notes, strict=True)]
    origins = tuple(dict.fromkeys((note.path, "") for note in notes))
    return Prompt(packaged_prompt("condense"), "\n".join(lines), reply_schema(labels), origins)


def reply_schema(labels: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a reply. A reply can cite only these labels of notes."""
    line = {
        "topic": {"type": "string", "minLength": 1, "maxLength": MAX_TOPIC_CHARACTERS},
        "lines": {"type": "array", "items": {"enum": list(labels)}, "minItems": 1, "maxItems": MAX_CITED},
        "text": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARACTERS},
    }
    return schema_of_list(line, MAX_LINES)


def _checked_line(
    row: Any, notes: Sequence[Note], replaced_keys: set[int], count: Callable[[str], int]
) -> tuple[CondensedLine | None, str]:
    """(the condensed line of one row of a reply, "") or (None, the reason why the row is refused).

    `notes`: the batch that the model saw. `replaced_keys`: keys of the notes that accepted lines replace already. The
    text is cut at MAX_TEXT_CHARACTERS, the topic at MAX_TOPIC_CHARACTERS. A row that cites more than MAX_CITED labels
    is refused.
    """
    text, topic, labels = row.get("text"), row.get("topic"), row.get("lines")
    if not isinstance(text, str) or not isinstance(topic, str) or not isinstance(labels, list):
        return None, "it has no text, topic or lines"
    notes_by_label = {f"L{n}": note for n, note in enumerate(notes, 1)}
    cited = [notes_by_label[label] for label in dict.fromkeys(map(str, labels[:MAX_CITED])) if label in notes_by_label]
    text, topic = normalise(text)[:MAX_TEXT_CHARACTERS], normalise(topic)[:MAX_TOPIC_CHARACTERS]
    if len(cited) != len(labels) or not cited or not text:
        return None, "it cites what was not shown"
    if any(note.key in replaced_keys for note in cited):
        return None, "another line stands for what it cites"
    sources = "\n".join(note.text for note in cited)
    days = {note.day for note in cited}
    for check in (grounding.number_problem, grounding.date_problem, grounding.name_problem, grounding.word_problem):
        if problem := check(text, sources, days):
            return None, problem
    if problem := grounding.number_problem(sources, text, ()):
        return None, f"it loses what they say: {problem}"
    if any(denials(note.text) and not denials(text) for note in cited):
        return None, "it loses a denial"
    if count(text) >= count(sources):
        return None, "it is no shorter than what it cites"
    return CondensedLine(topic, text, tuple(note.key for note in cited)), ""


def open_merger(
    repo: Repository, config: Config, name: str, when: datetime, environ: Mapping[str, str]
) -> Callable[[Sequence[Part], Count], MergeResult]:
    """A function that condenses the parts of each scope by the language model `name` (`KIND:REST`).

    A part in which the gate would redact something is not shown to the model. If the model fails, for any scope, that
    function returns no parts at all and a message. Raises BadConfig for a name of no language model, ModelUnavailable
    if the model cannot be opened.
    """
    from gitmem.gate.tree_policies import worktree_policy
    from gitmem.models.language import FORMS, LANGUAGE_MODELS, open_language_model
    from gitmem.promotion.model_registry import model_setting

    if name.partition(":")[0] not in LANGUAGE_MODELS:
        raise BadConfig(Message("'{}' condenses nothing", name), f"--merge {FORMS}")
    setting = model_setting(repo, config, worktree_policy(repo, when.date()), environ)
    model = open_language_model(name, setting)

    def merge(parts: Sequence[Part], count: Count) -> MergeResult:
        safe_parts = [part for part in parts if setting.redact(part.content, part.path) == part.content]
        merged: list[Part] = []
        replaced: list[Part] = []
        notes: list[str] = []
        for scope in dict.fromkeys(part.scope for part in safe_parts):
            scope_parts = [part for part in safe_parts if part.scope == scope]
            try:
                condensed, sources, problems = _condense_scope(scope_parts, model, when, count)
            except GitMemError as error:
                return MergeResult((), (), (f"merge: {error.message}; nothing was condensed",))
            merged, replaced, notes = merged + condensed, replaced + sources, notes + problems
        return MergeResult(tuple(merged), tuple(replaced), tuple(dict.fromkeys(notes)))

    return merge


def _condense_scope(
    parts: Sequence[Part], model: LanguageModel, when: datetime, count: Count
) -> tuple[list[Part], list[Part], list[str]]:
    """(new condensed parts, the parts that they replace, messages) for the parts of one scope. Raises the errors of the
    model."""
    notes = [Note(key, part.text_with_trail, part.path, part.start_line, when.date()) for key, part in enumerate(parts)]
    with model.run() as complete:
        condensed = condense(notes, complete, count)
    merged: list[Part] = []
    replaced: list[Part] = []
    for line in condensed.lines:
        cited = [parts[key] for key in line.keys]
        links = ", ".join(dict.fromkeys(f"{part.path}:{part.start_line}" for part in cited))
        places = tuple(Place(part.path, part.start_line, part.end_line) for part in cited)
        best = max(part.relevance for part in cited)
        merged.append(
            Part(Layer.MERGED, line.topic, f"{line.text} [{links}]", best, scope=cited[0].scope, sources=places)
        )
        replaced += cited
    return merged, replaced, list(condensed.notes)
