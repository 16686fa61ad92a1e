"""Asks a language model for facts and parses its replies. The model itself does the I/O.

The system prompt is a file of the package. Log lines go into the request as labelled JSON strings, so that they are
data and no instructions. A reply may be anything: cut JSON, megabytes, inventions. Whatever can be parsed becomes an
operation; `promotion/plan` decides about it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from time import monotonic
from typing import Any

from gitmem.git.objects import Span
from gitmem.memory.fact import TYPES, Fact
from gitmem.models.language import MAX_REPLY_CHARACTERS, Complete, LanguageModel, OutOfBudget, Prompt, Reply, Setting
from gitmem.plural import counted
from gitmem.promotion.log_lines import passages_of
from gitmem.promotion.proposal import Log, Op, Operation, Proposal

MAX_BATCH_LINES = 60  # lines of one request
MAX_ABOUT_CHARS = 200  # characters of the trail of a statement
MAX_FACTS = 8  # facts of one reply
MAX_TEXT_CHARS = 400  # characters of a fact's text
MAX_EXISTING = 60  # facts of MEMORY.md that a request shows


@dataclass(frozen=True, slots=True)
class Source:
    """One new statement of a daily log. The model cites it by its label."""

    label: str  # its name in the request, "" before it has one
    log: Log
    line: int  # first line
    text: str  # cut at 2,000 characters
    last: int = 0  # last line, equal to `line` for one line alone; 0 is taken as `line`
    about: str = ""  # its trail, cut at MAX_ABOUT_CHARS; "" without one, or if the model may not see it


@dataclass(frozen=True, slots=True)
class Request:
    """The request to the model for one batch of lines. `sources`: the statements that the labels in the prompt stand
    for."""

    prompt: Prompt
    sources: tuple[Source, ...]


class LanguagePromoter:
    """A language model as a promotion model: it is asked batch by batch, within one run of the model.

    `words`: replaces the system prompt of the package, "" for that prompt. The model does not see a line that the
    gate's redaction would change; facts of MEMORY.md are shown redacted.
    """

    def __init__(self, model: LanguageModel, setting: Setting, words: str = "") -> None:
        self.id = model.id
        self._model, self._redact, self._progress, self._words = model, setting.redact, setting.progress, words

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """Operations for the new lines of `logs`. The model sees the first MAX_EXISTING facts of `existing`. Raises
        ModelUnavailable when the model cannot be asked at all."""
        shown = [fact._replace(text=self._redact(fact.text, "MEMORY.md")) for fact in existing[:MAX_EXISTING]]
        with self._model.run() as complete:
            return ask_in_batches(logs, shown, self._is_clean, complete, self._words, self._progress)

    def _is_clean(self, text: str, path: str) -> bool:
        return self._redact(text, path) == text


def promotable_sources(logs: Iterable[Log], is_clean: Callable[[str, str], bool]) -> list[Source]:
    """The new statements of the logs that may be promoted, without labels, each cut at 2,000 characters. `is_clean`:
    takes (text, path) and returns whether the model may see the text; other statements and trails are left out."""
    sources = []
    for log in logs:
        for passage in passages_of(log.lines):
            is_new = not log.new.isdisjoint(range(passage.first, passage.last + 1))
            if not is_new or not is_clean(passage.text, log.path):
                continue
            about = " > ".join(passage.statement.trail)
            if not is_clean(about, log.path):
                about = ""
            text = passage.text[:2000]
            sources.append(Source("", log, passage.first, text, passage.last, about[:MAX_ABOUT_CHARS]))
    return sources


def batches(sources: Sequence[Source], size: int = MAX_BATCH_LINES) -> list[tuple[Source, ...]]:
    """The sources in groups of at most `size`, log by log; small logs share a group. A log is divided only when it has
    more sources than that. [] without sources."""
    groups: list[list[Source]] = [[]]
    by_log: dict[str, list[Source]] = {}
    for source in sources:
        by_log.setdefault(source.log.path, []).append(source)
    for of_log in by_log.values():
        if groups[-1] and len(groups[-1]) + len(of_log) > size:
            groups.append([])
        for source in of_log:
            if len(groups[-1]) >= size:
                groups.append([])
            groups[-1].append(source)
    return [tuple(group) for group in groups if group]


def batch_request(sources: Sequence[Source], existing: Sequence[Fact], words: str = "") -> Request:
    """The request for one batch, in which the sources get the labels L1, L2 and so on. `existing`: the facts of
    MEMORY.md; the first MAX_EXISTING are shown. `words`: as in LanguagePromoter."""
    labelled = tuple(replace(source, label=f"L{number}") for number, source in enumerate(sources, 1))
    shown = existing[:MAX_EXISTING]
    rows = ["Facts already in memory:"]
    rows += [f"{fact.id} {json.dumps(fact.text, ensure_ascii=False)}" for fact in shown] or ["(none)"]
    path = about = ""
    for source in labelled:
        if source.log.path != path:
            path, about = source.log.path, ""
            rows += ["", f"Log of {source.log.day.isoformat()}:"]
        if source.about != about:
            about = source.about
            rows.append(f"About {json.dumps(about, ensure_ascii=False)}:")
        rows.append(f"{source.label} {json.dumps(source.text, ensure_ascii=False)}")
    prompt = Prompt(
        words or packaged_prompt("promote"),
        "\n".join(rows),
        reply_schema([source.label for source in labelled], [fact.id for fact in shown]),
        tuple(dict.fromkeys((source.log.path, source.log.blob) for source in labelled)),
    )
    return Request(prompt, labelled)


def packaged_prompt(name: str) -> str:
    """The text of a prompt of the package. `name`: its file name without `.txt` ("promote", "questions")."""
    return resources.files("gitmem.promotion").joinpath(f"prompts/{name}.txt").read_text(encoding="utf-8")


def reply_schema(labels: Sequence[str], targets: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a reply. A fact can cite only the `labels` of the request and change only the facts with the
    ids `targets`."""
    fact = {
        "op": {"enum": ["add", "update", "supersede"]},
        "type": {"enum": list(TYPES)},
        "lines": {"type": "array", "items": {"enum": list(labels)}, "minItems": 1, "maxItems": 4},
        "importance": {"enum": list(range(11))},
        "until": {"type": "string", "maxLength": 10},
        "target": {"enum": ["", *targets]},
        "text": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARS},
    }
    return schema_of_list(fact, MAX_FACTS)


def schema_of_list(properties: Mapping[str, Any], max_items: int) -> dict[str, Any]:
    """The JSON schema of a reply that `parse_objects` reads: a list `facts` of at most `max_items` objects, each with
    all of these properties and no other. `properties`: name -> its schema."""
    facts = {"type": "array", "items": _object_schema(properties), "maxItems": max_items}
    return _object_schema({"facts": facts})


def _object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def ask_in_batches(
    logs: Sequence[Log],
    existing: Sequence[Fact],
    is_clean: Callable[[str, str], bool],
    complete: Complete,
    words: str = "",
    progress: Callable[[str], None] = lambda text: None,
) -> Proposal:
    """Ask `complete` for every batch, until it reports that the budget is used up.

    A batch that is too long is halved; one line that is too long alone is skipped with a note. A batch whose reply is
    full or cut is asked again without the lines that were cited. The proposal is not `complete` when a reply is missing
    or unreadable. Errors of `complete` other than OutOfBudget are raised. `progress`: called with a sentence for each
    batch. Other parameters are as in `promotable_sources` and `batch_request`.
    """
    waiting = batches(promotable_sources(logs, is_clean))
    run = _Run()
    start = monotonic()
    while waiting and not run.stopped:
        group = waiting.pop(0)
        request = batch_request(group, existing, words)
        try:
            reply = complete(request.prompt)
        except OutOfBudget as error:
            run.stop(str(error), [group, *waiting])
            break
        if reply.too_long:
            if len(group) == 1:
                run.notes.append(f"{group[0].log.path}:{group[0].line} does not fit into the model's context")
            else:
                waiting[:0] = halves(group)
            continue
        operations, problem = parse_reply(reply, request)
        run.operations += operations
        uncited = _uncited(group, operations)
        if reply.stopped:
            run.stop(reply.stopped, [uncited, *waiting])
        elif (problem or len(operations) >= MAX_FACTS) and 0 < len(uncited) < len(group):
            waiting.insert(0, uncited)
        elif reply.cut and not operations and len(group) > 1:
            waiting[:0] = halves(group)
        elif problem and not operations:
            run.unreadable.append(f"{group[0].log.path}: {problem}")
        run.readable += bool(operations) or not problem
        facts = f"{counted(len(group), 'line')}: {counted(len(operations), 'fact')}"
        run.batch += 1
        progress(f"batch {run.batch} of {run.batch + len(waiting)}, {facts}, {monotonic() - start:.0f} s")
    notes = (*run.notes, *run.unreadable)
    whole = not run.stopped and not run.unreadable
    unreadable = ""
    if run.unreadable and not run.readable:
        unreadable = run.unreadable[0].partition(": ")[2]
    return Proposal(tuple(run.operations), notes, whole, unreadable)


@dataclass(slots=True)
class _Run:
    """The results of the batches so far."""

    operations: list[Operation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)  # a sentence for each reply that could not be read
    readable: int = 0  # number of replies that could be read
    batch: int = 0
    stopped: bool = False

    def stop(self, reason: str, unread: Iterable[Sequence[Source]]) -> None:
        """End the run, with a note of the reason and of the number of `unread` lines, which the next run reads."""
        lines = counted(sum(map(len, unread)), "line")
        self.notes.append(f"{reason}; kept: {counted(len(self.operations), 'fact')}; not read: {lines}, the next run's")
        self.stopped = True


def halves(group: tuple[Source, ...]) -> list[tuple[Source, ...]]:
    """The first and the second half of a batch."""
    return [group[: len(group) // 2], group[len(group) // 2 :]]


def _uncited(group: tuple[Source, ...], operations: Sequence[Operation]) -> tuple[Source, ...]:
    """The sources of a batch that none of the operations cites."""
    cited = {
        (span.path, number)
        for operation in operations
        for span in operation.sources
        for number in range(span.start_line, span.end_line + 1)
    }
    return tuple(source for source in group if (source.log.path, source.line) not in cited)


def parse_reply(reply: Reply, request: Request) -> tuple[list[Operation], str]:
    """(operations of a reply, why it could not be read whole); the second is "" if its JSON is complete and has a list
    of facts. Objects that are no operation, and those after the first four times MAX_FACTS, are dropped without a word.
    Nothing is read of a reply longer than MAX_REPLY_CHARACTERS. Never raises."""
    if len(reply.text) > MAX_REPLY_CHARACTERS:
        return [], f"the reply was {len(reply.text)} characters long and was not read"
    objects, problem = parse_objects(reply.text)
    if reply.cut and not problem:
        problem = "the reply was cut short"
    by_label = {source.label: source for source in request.sources}
    operations = (_operation(row, by_label) for row in objects[: 4 * MAX_FACTS])
    return [operation for operation in operations if operation is not None], problem


def parse_objects(text: str) -> tuple[list[Mapping[str, Any]], str]:
    """(the complete objects of the list `facts` of a reply, why the reply could not be read whole); the second is "" if
    its JSON is complete and has such a list. Values of the list that are no objects are left out. Never raises."""
    start = max(0, text.find("{"))
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text[start:])
    except (ValueError, RecursionError):
        return _complete_objects(text), "the reply was no complete JSON; what was whole of it was read"
    listed = None
    if isinstance(value, dict):
        listed = value.get("facts")
    if not isinstance(listed, list):
        return [], "the reply had no list of facts"
    return [row for row in listed if isinstance(row, dict)], ""


def _complete_objects(text: str) -> list[Mapping[str, Any]]:
    """The complete objects of a cut reply, up to the first incomplete one and at most four times MAX_FACTS."""
    decoder = json.JSONDecoder(strict=False)
    rows: list[Mapping[str, Any]] = []
    offset = text.find("[")
    while 0 <= offset < len(text) and len(rows) < 4 * MAX_FACTS:
        offset = text.find("{", offset)
        if offset < 0:
            break
        try:
            row, end = decoder.raw_decode(text, offset)
        except (ValueError, RecursionError):
            break
        if isinstance(row, dict):
            rows.append(row)
        offset = end
    return rows


def _operation(row: Mapping[str, Any], by_label: Mapping[str, Source]) -> Operation | None:
    """The operation of one object of a reply; None when a value has the wrong type or `op` is unknown. Unknown labels
    are left out. The importance is 0 to 10 in the reply and 0 to 1 in the operation; from 9 on the fact is pinned."""
    text, labels = row.get("text"), row.get("lines")
    if not isinstance(text, str) or not isinstance(labels, list):
        return None
    cited = [by_label[label] for label in dict.fromkeys(map(str, labels[:16])) if label in by_label]
    try:
        op = Op(str(row.get("op", "add")))
        importance = float(row.get("importance", 5)) / 10
    except (ValueError, TypeError, OverflowError):
        return None
    target = ""
    if op is not Op.ADD:
        target = str(row.get("target", "") or "")
    return Operation(
        op,
        text,
        merged_spans(cited),
        type=str(row.get("type", "fact")),
        importance=importance,
        until=str(row.get("until", "") or ""),
        target=target,
        reason="chosen by the model",
        pinned=importance >= 0.9,
    )


def merged_spans(cited: Sequence[Source]) -> tuple[Span, ...]:
    """The lines of the sources as spans, in the order of paths and lines; adjacent ones are merged."""
    merged: list[Span] = []
    for source in sorted(cited, key=lambda source: (source.log.path, source.line)):
        span = Span(source.log.path, source.line, max(source.line, source.last), source.log.blob)
        last = merged[-1] if merged else None
        if last and (last.path, last.blob, last.end_line + 1) == (span.path, span.blob, span.start_line):
            merged[-1] = last._replace(end_line=span.end_line)
        else:
            merged.append(span)
    return tuple(merged)
