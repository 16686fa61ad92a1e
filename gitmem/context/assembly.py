"""Assembles the context for a model: parts of all layers of memory, cut to a budget of tokens and quoted as data.

The same snapshot, prompt and clock give the same bytes. Pinned parts and recent turns are never cut in favour of other
parts; over the budget the summary is dropped first, then memory. The text never exceeds the hard limit of characters,
and tells how much was left out for lack of room. If one scope fails, its error is reported and the others are used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fnmatch import fnmatchcase
from itertools import islice
from typing import NamedTuple

from gitmem.context import amendment_days, folder_preference, layers, open_pairs, packing, pieces, recall_queries
from gitmem.context.answering_parts import NO_ANSWER, WEAK_ANSWER, answering_parts, words_found
from gitmem.context.code_marks import with_cited_code
from gitmem.context.context_request import ContextRequest, MergeResult, Scope
from gitmem.context.layer_limits import Count, Layer
from gitmem.context.layers import Part, Recalled, RecalledHit
from gitmem.context.recall_queries import Question
from gitmem.context.rendering import MEMORY_TAGS, lead_line, marks_before, render_group
from gitmem.context.said_marks import with_said_marks
from gitmem.context.session_contents import (
    KnownStatements,
    SessionContents,
    keys_of_part,
    known_statement,
    without_copies,
    without_known,
)
from gitmem.context.size_limits import fit_limits, renderer
from gitmem.daily_logs import agent_of, log_day
from gitmem.errors import GitMemError, UsageError
from gitmem.gate.quoting import END, HIDDEN, without_secrets
from gitmem.hosts.transcript import Role
from gitmem.json_values import json_keys
from gitmem.memory.document import Document, structured
from gitmem.memory.state import LapsedFacts, State
from gitmem.messages import Message
from gitmem.paths import nfc_name

INSTRUCTIONS = ("SOUL.md", "USER.md", "AGENTS.md", "TOOLS.md")  # instruction files, which are always pinned
SUMMARY_CHARACTERS = 300  # characters of `Context.summary` at most
MERGEABLE = frozenset((Layer.MEMORY, Layer.PROJECT, Layer.EPISODE, Layer.DAILY))  # layers that a model may condense
KNOWN_TO_SESSION = "the session has it"
MERGE_BUDGET_FACTOR = 3  # a model condenses what fits this many times the budget


@json_keys(
    "text tokens tokenizer budget layers=tokens_by_layer summary hash assembled_at limits withheld parts"
    " dropped=left_out keys scopes"
)
@dataclass(frozen=True, slots=True)
class Context:
    """An assembled context.

    `text`: for the model. `tokens`: of `text`. `parts`: the parts in `text`. `dropped`: (part, reason) of the parts
    that were left out. `limits`: sentences on what was left out. `summary`: one line on the number of parts. `hash`:
    SHA-256 of the chosen parts; it does not depend on the clock or a model. `notes`: messages for the person who asked;
    they are not part of the JSON. `withheld`: the number of lines of `text` that are shown as HIDDEN because they hold
    a secret.

    JSON: `tokenizer`: what counted the tokens. `layers`: the tokens of each layer's text, and of the quotation
    around them. `summary`: one line of 300 characters at most. `hash`: of the chosen parts, not of the clock.
    `limits`: what was left out, in sentences. `withheld`: how many lines of `text` read `[a line with a secret]`.
    `parts`: the most relevant first; in `text` the parts of one file and layer are quoted together, and parts below
    one heading stand in the file's order. `dropped`: the parts that were left out, each with its `reason`. `keys`:
    the keys of all scopes together; the narrower scope's value wins unless it is empty. `scopes`: the memories that
    were read.
    """

    text: str
    tokens: int
    budget: int
    parts: tuple[Part, ...]
    dropped: tuple[tuple[Part, str], ...]
    scopes: tuple[Scope, ...]
    limits: tuple[str, ...]
    summary: str
    hash: str
    assembled_at: datetime
    tokenizer: str = "characters"
    notes: tuple[str, ...] = ()
    withheld: int = 0

    @property
    def tokens_by_layer(self) -> dict[str, int]:
        """Tokens of each layer, and `quotation`: those of the text around the parts; {} without parts."""
        tokens: dict[str, int] = {}
        for part in self.parts:
            tokens[part.layer.value] = tokens.get(part.layer.value, 0) + part.tokens
        if tokens:
            tokens["quotation"] = max(0, self.tokens - sum(tokens.values()))
        return tokens

    @property
    def left_out(self) -> list[Part]:
        """The dropped parts, each with its reason."""
        return [replace(part, reason=reason) for part, reason in self.dropped]

    @property
    def keys(self) -> dict[str, object]:
        """The keys of all scopes; the narrowest scope's value wins unless it is empty."""
        keys: dict[str, object] = {}
        for scope in self.scopes:
            keys.update({key: value for key, value in scope.keys.items() if value or key not in keys})
        return keys


def assemble(scopes: Sequence[Scope], request: ContextRequest, now: datetime) -> Context:
    """The context of a request. `scopes`: broad to narrow, the project or session last. `now`: decides which statements
    have ended.

    A scope that fails is in `Context.scopes` with its error. Raises UsageError for a budget that is not positive.
    """
    if request.budget <= 0:
        raise UsageError("a budget is a number of tokens above 0", "git mem context --budget 1600")
    request = _with_latest_turns(request)
    questions = _questions(scopes, request)
    usable, parts_by_scope, chunks, early = _parts_of_scopes(scopes, request, questions, now.date())
    parts, hidden = layers.narrowest_scopes(parts_by_scope)
    included, missing = _included_parts(usable, request)
    parts = [*included, *parts, *_session_parts(request)]
    requested = [_counted(part, request) for part in parts if _is_requested(part, request)]
    daily = tuple(pattern for scope in usable for pattern in scope.log_patterns)
    requested = amendment_days.with_amendment_days(requested, now.date(), daily)
    new_parts, known_parts = _without_known(requested, request, _known_statements(usable, request.contents))
    parts, withheld = answering_parts(new_parts, request, questions, now.date(), chunks)
    withheld += known_parts
    commits = {scope.name: scope.commit for scope in usable}
    remaining_tokens = request.budget - request.count_tokens(f"{lead_line(commits)}\n{MEMORY_TAGS}{END}")
    measure = packing.Measure(
        request.layer_limits, request.count_tokens, lambda part: render_group([part], commits, bare=True)
    )
    whole_scopes = _take_whole_memories(parts, withheld, request, remaining_tokens, measure)
    parts = _without_copies(parts, request, withheld)
    parts = _with_open_pairs(parts, requested, usable, request, now.date())

    def fitted(parts: Sequence[Part], total: int, characters: int = 0) -> packing.Selection:
        return packing.fit(parts, total, measure, whole_scopes, characters)

    def shown(total: int) -> packing.Selection:
        """The selection for `total` tokens of parts, with room for the line about the parts that are left out."""
        wider = replace(request, budget=request.budget - remaining_tokens + total)
        return fit_limits(parts, total, wider, fitted, renderer(usable, commits))[0]

    wide = fitted(parts, remaining_tokens * MERGE_BUDGET_FACTOR if request.merge else remaining_tokens)
    chosen_text = "\0".join(f"{p.layer}|{p.scope}|{p.path}|{p.start_line}|{p.content}" for p in wide.kept)
    limits: list[str] = []
    if parts and not wide.kept and (part_tokens := packing.smallest_budget(shown, max(1, remaining_tokens))):
        smallest = request.budget - remaining_tokens + part_tokens
        limits = [
            Message("{} tokens hold no part of memory; the smallest budget that does is {}", request.budget, smallest)
        ]
    if request.merge is not None:
        parts, condensed = _merge_parts(wide, request.merge, request.count_tokens)
        withheld += condensed.dropped
        limits += condensed.limits
    selection, text = fit_limits(parts, remaining_tokens, request, fitted, renderer(usable, commits))
    selection.dropped += [*withheld, *((part, reason) for part, reason in hidden if _is_requested(part, request))]
    selection.dropped += [(part, reason) for part, reason in early.dropped if _is_requested(part, request)]
    limits = list(dict.fromkeys([*limits, *selection.limits, *early.limits]))
    if any(reason == NO_ANSWER for _, reason in withheld):
        limits += [Message("recall: {}", NO_ANSWER)]
    limits += [*missing, *_warnings(request, len(text))]
    kept = [replace(part, tokens=part.tokens or request.count_tokens(part.content)) for part in selection.kept]
    printed = iter(_with_shown_trails([*kept, *(part for part, _ in selection.dropped)]))
    return Context(
        text=text, tokens=request.count_tokens(text) if text else 0, budget=request.budget,
        parts=tuple(islice(printed, len(kept))),
        dropped=tuple((next(printed), reason) for _, reason in selection.dropped),
        scopes=tuple(usable), limits=tuple(limits),
        summary=_summary_line(kept, usable), hash=hashlib.sha256(chosen_text.encode("utf-8", "replace")).hexdigest(),
        assembled_at=now, tokenizer=request.tokenizer, withheld=text.count(HIDDEN),
    )  # fmt: skip


def _warnings(request: ContextRequest, characters: int) -> list[str]:
    """Sentences on a transcript that is not understood, and on a text with more characters than the request allows
    without a warning. `characters`: of the text."""
    warnings: list[str] = []
    if request.transcript is not None and not request.transcript.turns and request.transcript.skipped:
        warnings.append(Message("transcript: none of its {} lines is understood", request.transcript.skipped))
    if request.warn_characters and characters > request.warn_characters:
        warnings.append(Message("{} characters, more than {}", characters, request.warn_characters))
    return warnings


def _take_whole_memories(
    parts: list[Part],
    withheld: list[tuple[Part, str]],
    request: ContextRequest,
    remaining_tokens: int,
    measure: packing.Measure,
) -> frozenset[str]:
    """The names of the scopes whose MEMORY.md goes in whole. Their parts that do not answer the prompt are moved from
    `withheld` to `parts`. `remaining_tokens`: tokens for all parts."""
    if request.whole_memory_tokens == 0:
        return frozenset()
    room = remaining_tokens - request.budget + min(request.whole_memory_tokens or request.budget, request.budget)
    weak = [part for part, reason in withheld if part.layer is Layer.MEMORY and reason in (NO_ANSWER, WEAK_ANSWER)]
    memory = [*(part for part in parts if part.layer is Layer.MEMORY), *weak]
    whole_scopes = packing.whole_memories(parts, memory, room, measure)
    unasked = {id(part) for part in weak if part.scope in whole_scopes}
    parts += [part for part in weak if id(part) in unasked]
    withheld[:] = [(part, reason) for part, reason in withheld if id(part) not in unasked]
    return whole_scopes


def _with_shown_trails(parts: Sequence[Part]) -> list[Part]:
    """The parts, each step of their trails that has a secret replaced by HIDDEN. Their text hides its own lines."""
    steps = list(dict.fromkeys(" ".join(step.split()) for part in parts for step in part.trail))
    hidden = {step for step, shown in zip(steps, without_secrets(steps), strict=True) if shown != step}
    if not hidden:
        return list(parts)
    return [
        replace(part, trail=tuple(HIDDEN if " ".join(step.split()) in hidden else step for step in part.trail))
        for part in parts
    ]


class ScopeParts(NamedTuple):
    """The parts of all scopes. `scopes`: all scopes, with `error` set where reading failed. `parts`: (scope name,
    parts) of each scope that was read. `chunks`: chunks in the indexes of these scopes. `left_out`: parts that are not
    offered to the selection."""

    scopes: list[Scope]
    parts: list[tuple[str, Sequence[Part]]]
    chunks: int
    left_out: LeftOut


def _parts_of_scopes(
    scopes: Sequence[Scope], request: ContextRequest, questions: Sequence[Question], today: date
) -> ScopeParts:
    """Read the parts of all scopes. A scope that cannot be read has its `error` set and no parts."""
    left_out = LeftOut()
    usable: list[Scope] = []
    parts_by_scope: list[tuple[str, Sequence[Part]]] = []
    chunks = 0
    texts: dict[str, State] = {}  # texts that no longer hold in some scope; a working value may repeat one
    for scope in scopes:
        if scope.error:
            usable.append(scope)
            continue
        reader = folder_preference.FolderReader(_reader(scope, request), request.subject_folders, scope.own_folders)
        scope = replace(scope, read=reader)
        try:
            scope_lapsed = layers.lapsed_statements(scope.read, scope.paths, today, scope.forgotten_ids())
            texts |= scope_lapsed.texts
            lapsed = scope_lapsed._replace(texts=texts) if scope.values else scope_lapsed
            parts, size = _parts_of_scope(scope, request, questions, lapsed, left_out)
            parts_by_scope.append((scope.name, parts))
            chunks += size
            left_out.limits.extend(reader.limits())
            usable.append(replace(scope, keys=structured_values(scope)))
        except GitMemError as error:
            usable.append(replace(scope, error=error.message))
    return ScopeParts(usable, parts_by_scope, chunks, left_out)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Parts that were left out before the selection by budget. `dropped`: (part, reason). `limits`: sentences for a
    person."""

    dropped: list[tuple[Part, str]] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)


def _merge_parts(
    wide: packing.Selection, merge: Callable[[Sequence[Part], Count], MergeResult], count: Count
) -> tuple[list[Part], packing.Selection]:
    """(the kept parts of `wide` with parts of MERGEABLE layers condensed by `merge`, a selection without kept parts).

    The selection has the dropped parts and messages of `wide` and those of `merge`.
    """
    merged = merge([part for part in wide.kept if part.layer in MERGEABLE], count)
    replaced_ids = {id(part) for part in merged.replaced}
    parts = [part for part in wide.kept if id(part) not in replaced_ids]
    parts += [replace(part, tokens=count(part.content)) for part in merged.parts]
    dropped = [*wide.dropped, *((part, "condensed") for part in merged.replaced)]
    return parts, packing.Selection(dropped=dropped, limits=[*wide.limits, *merged.notes])


def _with_latest_turns(request: ContextRequest) -> ContextRequest:
    """The request with only the last 20 spoken turns of its transcript and the ends of the last few tool outputs
    (MAX_TOOL_RESULTS, MAX_TOOL_CHARACTERS), in order, and without secrets in them, because they are searched for and
    printed. Without a transcript the request is unchanged."""
    if request.transcript is None:
        return request
    tools = [turn for turn in request.transcript.turns[-200:] if turn.role is Role.TOOL]
    latest = [
        *request.transcript.spoken()[-20:],
        *(
            replace(turn, text=turn.text[-recall_queries.MAX_TOOL_CHARACTERS :])
            for turn in tools[-recall_queries.MAX_TOOL_RESULTS :]
        ),
    ]
    latest.sort(key=lambda turn: turn.line)
    turns = [replace(turn, text="\n".join(without_secrets(turn.text.split("\n")))) for turn in latest]
    return replace(request, transcript=replace(request.transcript, turns=tuple(turns)))


def _included_parts(scopes: Sequence[Scope], request: ContextRequest) -> tuple[list[Part], list[str]]:
    """(the parts of `request.include`, each from the narrowest scope that has the file; messages for passages that do
    not exist)."""
    parts: list[Part] = []
    missing: list[str] = []
    for path, first, last in request.include:
        scope = next((scope for scope in reversed(scopes) if path in scope.paths and not scope.error), None)
        document = scope.read(path) if scope is not None else None
        if scope is None or document is None:
            missing.append(Message("include: there is no '{}'", path))
        elif first > len(document.lines):
            missing.append(Message("include: '{}' has no line {}", path, first))
        else:
            last = min(last or len(document.lines), len(document.lines))
            text = "\n".join(document.lines[first - 1 : last])
            parts.append(Part(Layer.INCLUDED, path, text, 1.0, path, first, last, scope.name))
    return parts, missing


def _user_profile(scopes: Sequence[Scope], request: ContextRequest) -> str:
    """The first 2,000 characters of USER.md in the narrowest scope that has this file; "" if none has."""
    for scope in reversed(scopes):
        document = None
        if "USER.md" in scope.paths:
            document = _reader(scope, request)("USER.md")
        if document is not None:
            return "\n".join(document.lines)[:2_000]
    return ""


def _questions(scopes: Sequence[Scope], request: ContextRequest) -> list[Question]:
    """The questions by which every scope is searched. Working values and USER.md count only beside a transcript."""
    if request.transcript is None:
        return recall_queries.questions(request.prompt, request.subjects)
    values = [value for scope in scopes for value in scope.values]
    return recall_queries.questions(
        request.prompt,
        request.subjects,
        request.transcript.turns,
        request.summary,
        values,
        _user_profile(scopes, request),
    )


def _parts_of_scope(
    scope: Scope, request: ContextRequest, questions: Sequence[Question], lapsed: LapsedFacts, left_out: LeftOut
) -> tuple[list[Part], int]:
    """(the parts of one scope without `lapsed` statements, the number of chunks in its index).

    Parts that are left out are added to `left_out`.
    """
    paths = [path for path in scope.paths if not _excluded(path, request)]
    instructions = [path for path in INSTRUCTIONS if path in paths and path not in request.loaded]
    shares, count = request.layer_limits, request.count_tokens
    hits, chunks = _best_hits(scope, request, questions)
    similarity: dict[tuple[str, int], float] = {}
    until: dict[tuple[str, int], str] = {}
    files = layers.fact_files(scope.read, paths)
    for hit in (hit for hit in hits if hit.path in files):
        until |= {(hit.path, line): day for line, day in hit.until}
        for place in ((hit.path, line) for line in range(hit.start_line, hit.end_line + 1)):
            similarity[place] = max(hit.score, similarity.get(place, 0.0))
    parts = layers.working_parts(scope.values, shares[Layer.WORKING], count, lapsed)
    memory = layers.ScopeMemory(scope.name, scope.read, lapsed, request.weights)
    parts += layers.pinned_parts(memory, instructions, files)
    parts += layers.rule_parts(memory, paths, (*request.subjects, *request.staged))
    parts += layers.skill_parts(memory, paths, request.prompt or _last_user_text(request))
    facts = layers.memory_parts(memory, files, similarity, until)
    parts += facts[: layers.MAX_FACTS]
    if excess := facts[layers.MAX_FACTS :]:
        left_out.dropped.extend((part, packing.OVER_LAYER_LIMIT) for part in excess)
        left_out.limits.append(
            Message("memory: {} facts beyond the first {} were not looked at", len(excess), layers.MAX_FACTS)
        )
    items = {layer: share.part_tokens for layer, share in shares.items()}
    weight = words_found(questions, lapsed.day) if questions else None
    sizes = layers.StatementLimits(items, count, most=request.budget // 4, weight=weight)
    parts += layers.recalled_parts(hits, memory, sizes)
    days = {path: log_day(path, scope.log_patterns) for path in paths}
    logs = {path: day for path, day in days.items() if day}
    parts += layers.log_parts(memory, logs, shares[Layer.DAILY].part_tokens, count)
    parts, hidden = folder_preference.prefer_nearest(parts, scope.read, request.subject_folders, scope.own_folders)
    left_out.dropped.extend(hidden)
    return with_said_marks(with_cited_code(parts, scope.cited_code), scope.read), chunks


def _known_statements(scopes: Sequence[Scope], contents: SessionContents) -> KnownStatements:
    """The statements that the session has: from the texts said or loaded in it, and those that earlier contexts
    gave."""
    statements = KnownStatements(contents.texts)
    for scope in scopes:
        for path in sorted(path for name, path in contents.files if name == scope.name and not scope.error):
            document = scope.read(path)
            if document is None:
                continue
            for piece in pieces.pieces(document):
                part = layers.with_pieces(Part(Layer.MEMORY, "", "", 0.0, path, scope=scope.name), [piece])
                if not contents.keys.isdisjoint(keys_of_part(part)):
                    statements.add(known_statement(piece))
    return statements


def _without_known(
    parts: Sequence[Part], request: ContextRequest, statements: KnownStatements
) -> tuple[list[tuple[Part, Part]], list[tuple[Part, str]]]:
    """((part, part without the statements that the session has) for each part with new statements, (part, reason) for
    each part without)."""
    kept: list[tuple[Part, Part]] = []
    withheld: list[tuple[Part, str]] = []
    for part in parts:
        fresh = without_known(part, request.contents, statements)
        if fresh is None:
            withheld.append((part, KNOWN_TO_SESSION))
        else:
            kept.append((part, _recounted(fresh, part, request)))
    return kept, withheld


def _without_copies(parts: Sequence[Part], request: ContextRequest, withheld: list[tuple[Part, str]]) -> list[Part]:
    """The parts without repeated statements. (part, reason) of each part that becomes empty is added to `withheld`."""
    kept: list[Part] = []
    for part, remainder in without_copies(parts):
        if remainder is None:
            withheld.append((part, packing.REPEATED))
        else:
            kept.append(_recounted(remainder, part, request))
    return kept


def _with_open_pairs(
    parts: Sequence[Part], offered: Sequence[Part], scopes: Sequence[Scope], request: ContextRequest, today: date
) -> list[Part]:
    """The parts with `open_pairs` marked and their tokens counted with the marks. `offered`: the parts of all
    memories."""
    sources = {scope.name: scope.pairs for scope in scopes if scope.pairs is not None and not scope.error}
    marked = open_pairs.with_open_pairs(parts, offered, sources, today)
    return [_counted(part, request) if part.differs else part for part in marked]


def _counted(part: Part, request: ContextRequest) -> Part:
    """The part with the tokens of its text and of the marks before it."""
    return replace(part, tokens=request.count_tokens(marks_before(part) + part.content))


def _recounted(part: Part, original: Part, request: ContextRequest) -> Part:
    """The part with its tokens counted again if its text differs from the text of `original`."""
    if part.content == original.content:
        return part
    return _counted(part, request)


def _last_user_text(request: ContextRequest) -> str:
    """The text of the person's last turn in the transcript; "" if there is none."""
    turns = request.transcript.spoken() if request.transcript else []
    return next((turn.text for turn in reversed(turns) if turn.role is Role.USER), "")


def _best_hits(scope: Scope, request: ContextRequest, questions: Sequence[Question]) -> Recalled:
    """The hits of all questions in a scope, best first. A place that several questions find is there once, with its
    best weighted score. Hits in files that the request leaves out are not among them."""
    best: dict[tuple[str, int, int], RecalledHit] = {}
    chunks = 0
    for text, weight in questions:
        recalled = scope.recall(text)
        chunks = max(chunks, recalled.chunks)
        for hit in recalled.hits:
            place = (hit.path or hit.commit, hit.start_line, hit.end_line)
            unread = bool(request.without_agents) and not hit.commit and scope.read(hit.path) is None
            if unread or _excluded(hit.path, request):
                continue
            if place not in best or best[place].score < hit.score * weight:
                best[place] = replace(hit, score=hit.score * weight)
    return Recalled(sorted(best.values(), key=lambda hit: (-hit.score, hit.path, hit.start_line)), chunks)


def _excluded(path: str, request: ContextRequest) -> bool:
    """Whether the request leaves out a path: by `without_paths` (`*` matches `/` too), or by `without_agents` and the
    agent in the file name."""
    if any(fnmatchcase(path, glob) for glob in request.without_paths):
        return True
    agent = agent_of(path)
    return bool(agent) and agent in _without_agents(request)


def _without_agents(request: ContextRequest) -> set[str]:
    return {nfc_name(name) for name in request.without_agents}


def _reader(scope: Scope, request: ContextRequest) -> Callable[[str], Document | None]:
    """The scope's `read`, which returns None also for files that the request leaves out by path or by the agent that
    their front matter names."""

    def read(path: str) -> Document | None:
        document = None if _excluded(path, request) else scope.read(path)
        agent = str(document.front_matter.get("agent") or "") if document else ""
        if agent and nfc_name(agent) in _without_agents(request):
            return None
        return document

    return read


def _is_requested(part: Part, request: ContextRequest) -> bool:
    """Whether the settings and the request let the layer of a part in."""
    return part.layer.value not in request.without_layers and request.layer_limits[part.layer].on


def _session_parts(request: ContextRequest) -> list[Part]:
    """The parts of the recent turns and of the summary of older ones; [] without a transcript."""
    if request.transcript is None:
        return []
    parts = layers.recent_parts(request.transcript.spoken(), request.layer_limits[Layer.RECENT], request.count_tokens)
    return parts + layers.summary_parts(request.summary)


def _summary_line(parts: Sequence[Part], scopes: Sequence[Scope]) -> str:
    """One line such as `2 pinned, 1 memory; not loaded: user`, for `Context.summary`."""
    counts: dict[str, int] = {}
    for part in parts:
        counts[part.layer.value] = counts.get(part.layer.value, 0) + 1
    words = ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"
    failed = [scope.name for scope in scopes if scope.error]
    return (words + (f"; not loaded: {', '.join(failed)}" if failed else ""))[:SUMMARY_CHARACTERS]


def structured_values(scope: Scope) -> dict[str, object]:
    """The values in the front matter of a scope's MEMORY.md, where an organisation keeps settings; {} without the
    file."""
    document = scope.read("MEMORY.md")
    return structured(document) if document is not None else {}
