"""How a language model is asked for facts, and how its answer is read; the model itself does the I/O.

The prompt is a file of the package; log lines go in as labelled JSON strings, data and never instructions. The reply
may be anything: cut JSON, megabytes, inventions. What can be read is read; what it means is for `promotion/plan`.
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
from gitmem.models.language import REPLY_LIMIT, Complete, LanguageModel, OutOfBudget, Prompt, Reply, Setting
from gitmem.plural import counted
from gitmem.promotion.log_lines import passages_of
from gitmem.promotion.proposal import Log, Op, Operation, Proposal

BATCH = 60  # lines a request
ABOUT = 200  # characters of what a statement is about
FACTS = 8  # facts a reply
TEXT = 400  # characters of a fact's text
EXISTING = 60  # facts of MEMORY.md the model is shown


@dataclass(frozen=True, slots=True)
class Source:
    """One statement the model may cite: its first line, its text, its last line (0 for one line alone) and what it is
    about."""

    label: str
    log: Log
    line: int
    text: str
    last: int = 0
    about: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One batch: the prompt, and what its labels and target ids stand for."""

    prompt: Prompt
    sources: tuple[Source, ...]
    targets: tuple[str, ...]


class LanguagePromoter:
    """A language model as a promotion model: asks batch by batch, within one run of the model.

    `words` are said to it instead of the package's own system prompt. No line reaches it that the gate's redaction
    would change, and facts that are there are shown redacted.
    """

    def __init__(self, model: LanguageModel, setting: Setting, words: str = "") -> None:
        self.id = model.id
        self._model, self._redact, self._progress, self._words = model, setting.redact, setting.progress, words

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """Operations for the new lines of `logs`. Raises ModelUnavailable where the model cannot be asked at all."""
        shown = [fact._replace(text=self._redact(fact.text, "MEMORY.md")) for fact in existing[:EXISTING]]
        with self._model.run() as complete:
            return ask(logs, shown, self._clean, complete, self._words, self._progress)

    def _clean(self, text: str, path: str) -> bool:
        return self._redact(text, path) == text


def lines_of(logs: Iterable[Log], clean: Callable[[str, str], bool]) -> list[Source]:
    """The new statements that may be promoted, labels not yet given. What the gate stops is never shown to a model."""
    sources = []
    for log in logs:
        for passage in passages_of(log.lines):
            about = " > ".join(passage.statement.trail)
            new = not log.new.isdisjoint(range(passage.first, passage.last + 1))
            if new and clean(passage.text, log.path):
                if clean(about, log.path):
                    about = about[:ABOUT]
                else:
                    about = ""
                sources.append(Source("", log, passage.first, passage.text[:2000], passage.last, about))
    return sources


def batches(sources: Sequence[Source], size: int = BATCH) -> list[tuple[Source, ...]]:
    """Groups of at most `size` lines; a log is split only when it is longer than that."""
    groups: list[list[Source]] = [[]]
    by_log: dict[str, list[Source]] = {}
    for source in sources:
        by_log.setdefault(source.log.path, []).append(source)
    for own in by_log.values():
        if groups[-1] and len(groups[-1]) + len(own) > size:
            groups.append([])
        for source in own:
            if len(groups[-1]) >= size:
                groups.append([])
            groups[-1].append(source)
    return [tuple(group) for group in groups if group]


def prompt(sources: Sequence[Source], existing: Sequence[Fact], words: str = "") -> Request:
    """The request for one batch; `words` are said instead of the package's own for a promotion."""
    labelled = tuple(replace(source, label=f"L{n}") for n, source in enumerate(sources, 1))
    shown = existing[:EXISTING]
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
    targets = tuple(fact.id for fact in shown)
    made = Prompt(
        words or packaged("promote"),
        "\n".join(rows),
        schema([s.label for s in labelled], targets),
        tuple(dict.fromkeys((source.log.path, source.log.blob) for source in labelled)),
    )
    return Request(made, labelled, targets)


def packaged(name: str) -> str:
    """A prompt of the package."""
    return resources.files("gitmem.promotion").joinpath(f"prompts/{name}.txt").read_text(encoding="utf-8")


def schema(labels: Sequence[str], targets: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an answer: its sources can only be lines that were shown."""
    fact = {
        "type": "object",
        "properties": {
            "op": {"enum": ["add", "update", "supersede"]},
            "type": {"enum": list(TYPES)},
            "lines": {"type": "array", "items": {"enum": list(labels)}, "minItems": 1, "maxItems": 4},
            "importance": {"enum": list(range(11))},
            "until": {"type": "string", "maxLength": 10},
            "target": {"enum": ["", *targets]},
            "text": {"type": "string", "minLength": 1, "maxLength": TEXT},
        },
        "required": ["op", "type", "lines", "importance", "until", "target", "text"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": fact, "maxItems": FACTS}},
        "required": ["facts"],
        "additionalProperties": False,
    }


def ask(
    logs: Sequence[Log],
    existing: Sequence[Fact],
    clean: Callable[[str, str], bool],
    complete: Complete,
    words: str = "",
    progress: Callable[[str], None] = lambda said: None,
) -> Proposal:
    """Ask for every batch; one that does not fit is halved, and one whose reply is full or cut is asked on without the
    lines that were cited. Stops where `complete` says the budget is used up.

    Lines whose answer did not come, or cannot be read, are not dealt with: the proposal is not whole then.
    """
    waiting = batches(lines_of(logs, clean))
    run = _Run()
    start = monotonic()
    while waiting and not run.stopped:
        group = waiting.pop(0)
        request = prompt(group, existing, words)
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
        more, problem = read(reply, request)
        run.operations += more
        left = _uncited(group, more)
        if reply.stopped:
            run.stop(reply.stopped, [left, *waiting])
        elif (problem or len(more) >= FACTS) and 0 < len(left) < len(group):
            waiting.insert(0, left)
        elif reply.cut and not more and len(group) > 1:
            waiting[:0] = halves(group)
        elif problem and not more:
            run.unreadable.append(f"{group[0].log.path}: {problem}")
        run.readable += bool(more) or not problem
        facts = f"{counted(len(group), 'line')}: {counted(len(more), 'fact')}"
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
    """What has come of the batches that were asked so far."""

    operations: list[Operation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    readable: int = 0
    batch: int = 0
    stopped: bool = False

    def stop(self, why: str, left: Iterable[Sequence[Source]]) -> None:
        """Note why the run ends here, what is kept and what the next run reads."""
        lines = counted(sum(map(len, left)), "line")
        self.notes.append(f"{why}; kept: {counted(len(self.operations), 'fact')}; not read: {lines}, the next run's")
        self.stopped = True


def halves(group: tuple[Source, ...]) -> list[tuple[Source, ...]]:
    """A batch in two."""
    return [group[: len(group) // 2], group[len(group) // 2 :]]


def _uncited(group: tuple[Source, ...], operations: Sequence[Operation]) -> tuple[Source, ...]:
    """The lines of a batch that none of these operations cites."""
    cited = {
        (span.path, number)
        for operation in operations
        for span in operation.sources
        for number in range(span.start_line, span.end_line + 1)
    }
    return tuple(source for source in group if (source.log.path, source.line) not in cited)


def read(reply: Reply, request: Request) -> tuple[list[Operation], str]:
    """The operations of a reply, and what was wrong with it ("" for nothing). Never raises."""
    if len(reply.text) > REPLY_LIMIT:
        return [], f"the reply was {len(reply.text)} characters long and was not read"
    objects, problem = rows(reply.text)
    if reply.cut and not problem:
        problem = "the reply was cut short"
    known = {source.label: source for source in request.sources}
    return [made for row in objects[: 4 * FACTS] if (made := _operation(row, known)) is not None], problem


def rows(text: str) -> tuple[list[Mapping[str, Any]], str]:
    """The objects of a reply's list `facts`, as many as are whole, and what was wrong with it."""
    start = text.find("{")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text[start:] if start >= 0 else text)
    except (ValueError, RecursionError):
        return _salvaged(text), "the reply was no complete JSON; what was whole of it was read"
    listed = None
    if isinstance(value, dict):
        listed = value.get("facts")
    if not isinstance(listed, list):
        return [], "the reply had no list of facts"
    return [row for row in listed if isinstance(row, dict)], ""


def _salvaged(text: str) -> list[Mapping[str, Any]]:
    """The whole objects of a cut reply."""
    decoder = json.JSONDecoder(strict=False)
    rows: list[Mapping[str, Any]] = []
    at = text.find("[")
    while 0 <= at < len(text) and len(rows) < 4 * FACTS:
        at = text.find("{", at)
        if at < 0:
            break
        try:
            row, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if isinstance(row, dict):
            rows.append(row)
        at = end
    return rows


def _operation(row: Mapping[str, Any], known: Mapping[str, Source]) -> Operation | None:
    text, labels = row.get("text"), row.get("lines")
    if not isinstance(text, str) or not isinstance(labels, list):
        return None
    cited = [known[label] for label in dict.fromkeys(map(str, labels[:16])) if label in known]
    try:
        op = Op(str(row.get("op", "add")))
        importance = float(row.get("importance", 5)) / 10
    except (ValueError, TypeError, OverflowError):
        return None
    return Operation(
        op,
        text,
        spans(cited),
        type=str(row.get("type", "fact")),
        importance=importance,
        until=str(row.get("until", "") or ""),
        target=str(row.get("target", "") or "") if op is not Op.ADD else "",
        reason="chosen by the model",
        pinned=importance >= 0.9,
    )


def spans(cited: Sequence[Source]) -> tuple[Span, ...]:
    """The places of some lines; neighbours become one."""
    merged: list[Span] = []
    for source in sorted(cited, key=lambda s: (s.log.path, s.line)):
        last = None
        if merged:
            last = merged[-1]
        if last and (last.path, last.blob, last.end_line + 1) == (source.log.path, source.log.blob, source.line):
            merged[-1] = last._replace(end_line=max(source.line, source.last))
        else:
            merged.append(Span(source.log.path, source.line, max(source.line, source.last), source.log.blob))
    return tuple(merged)
