"""Context for a model: the layers of memory, weighed, cut to a budget of tokens, quoted as data.

The same snapshot, prompt and clock give the same bytes. What must be there (pinned, the recent turns) is never cut for
what may be; over budget the summary goes first, then memory. One scope that fails is said and breaks no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fnmatch import fnmatchcase

from gitmem import layers
from gitmem.comment import fact_id
from gitmem.compaction import tokens
from gitmem.document import Document
from gitmem.errors import GitMemError, UsageError
from gitmem.fence import END, LEAD, fence, neutral
from gitmem.files import agent_of
from gitmem.layers import Hit, Layer, Part, Weights
from gitmem.transcript import Transcript

INSTRUCTIONS = ("SOUL.md", "USER.md", "AGENTS.md", "TOOLS.md")
WARN_CHARACTERS, MOST_CHARACTERS = 4_000, 6_000  # the preset of hosts that cut what is longer
SUMMARY_CHARACTERS = 300
ALWAYS = frozenset((Layer.PINNED, Layer.RECENT, Layer.INCLUDED))
OVERHEAD = 12  # tokens a part's quotation takes, about


@dataclass(frozen=True, slots=True)
class Scope:
    """One memory to draw on. `recall` answers a question with hits; `error` says why the scope could not be loaded.

    `keys` is the front matter of its MEMORY.md; `assemble` fills it in."""

    name: str
    paths: tuple[str, ...] = ()
    read: Callable[[str], Document | None] = lambda _: None
    recall: Callable[[str], Sequence[Hit]] = lambda _: ()
    error: str = ""
    note: str = ""
    commit: str = ""
    keys: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. `subjects` are paths or names that rules may match; `loaded` what the host has already."""

    prompt: str = ""
    budget: int = 1600
    pinned_budget: int = 400
    turn_budget: int = 800
    summary_budget: int = 200
    subjects: tuple[str, ...] = ()
    transcript: Transcript | None = None
    previous_summary: str = ""
    include: tuple[tuple[str, int, int], ...] = ()
    loaded: tuple[str, ...] = ()
    without_layers: frozenset[str] = frozenset()
    without_paths: tuple[str, ...] = ()
    without_agents: tuple[str, ...] = ()
    facts: int = 200
    episodes: int = 50
    characters: int = 0  # hard limit of the whole text, 0 for none
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True, slots=True)
class Context:
    """What was assembled. `tokens` counts `text`; `hash` is of what was chosen, not of the clock."""

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


def assemble(scopes: Sequence[Scope], request: Request, now: datetime) -> Context:
    """One block a model can read, and what it is made of. `scopes` are broad to narrow, the project last.

    Raises UsageError for a budget that is not positive.
    """
    if request.budget <= 0:
        raise UsageError("a budget is a number of tokens above 0", "git mem context --budget 1600")
    limits: list[str] = []
    usable: list[Scope] = []
    chosen: list[tuple[str, Sequence[Part]]] = []
    for scope in scopes:
        if scope.error:
            usable.append(scope)
            continue
        scope = replace(scope, read=_reader(scope, request))
        try:
            chosen.append((scope.name, _parts_of(scope, request, now.date())))
            usable.append(replace(scope, keys=keys(scope)))
        except GitMemError as error:
            usable.append(replace(scope, error=error.message))
    parts = [part for part in layers.narrower(chosen) if _wanted(part, request)]
    parts += _session(request)
    kept, dropped = _fit(parts, request, limits)
    kept, text = _rendered(kept, dropped, usable, request, limits)
    if len(text) > WARN_CHARACTERS:
        limits.append(f"{len(text)} characters, more than {WARN_CHARACTERS}")
    chosen_text = "\0".join(f"{p.layer}|{p.path}|{p.start_line}|{p.content}" for p in kept)
    return Context(
        text=text, tokens=tokens(text), budget=request.budget, parts=tuple(kept), dropped=tuple(dropped),
        scopes=tuple(usable), limits=tuple(limits), summary=_line(kept, usable),
        hash=hashlib.sha256(chosen_text.encode("utf-8", "replace")).hexdigest(), assembled_at=now,
    )  # fmt: skip


def _parts_of(scope: Scope, request: Request, today: date) -> list[Part]:
    """Every part one scope has to offer."""
    paths = [path for path in scope.paths if not _excluded(path, request)]
    instructions = [path for path in INSTRUCTIONS if path in paths and path not in request.loaded]
    hits = (
        [hit for hit in scope.recall(question(request)) if not _excluded(hit.path, request)]
        if question(request)
        else []
    )
    relevance = {
        line: hit.score for hit in hits if hit.path == "MEMORY.md" for line in range(hit.start_line, hit.end_line + 1)
    }
    found = layers.pinned(scope.read, instructions, today, scope.name)
    found += layers.rules(paths, scope.read, request.subjects, scope.name)
    found += layers.procedures(paths, scope.read, request.prompt, scope.name)
    found += layers.memory(scope.read, relevance, today, request.facts, scope.name)
    recalled = layers.recalled(hits, request.weights, today, scope.name)
    episodes = [part for part in recalled if part.layer is Layer.EPISODE][: request.episodes]
    found += [part for part in recalled if part.layer is not Layer.EPISODE] + episodes
    found += layers.days(paths, scope.read, today, scope.name)
    for path, first, last in request.include:
        document = scope.read(path) if path in scope.paths else None
        if document is not None:
            last = min(last or len(document.lines), len(document.lines))
            text = "\n".join(document.lines[first - 1 : last])
            found.insert(0, Part(Layer.INCLUDED, path, text, 1.0, path, first, last, scope.name))
    return found


def question(request: Request) -> str:
    """What to recall by: the prompt, else the last thing a person said, with the files in hand."""
    turns = request.transcript.spoken() if request.transcript else []
    said = [turn.text for turn in turns if turn.role.value == "user"][-2:]
    words = [request.prompt or " ".join(said), *request.subjects[:5]]
    return " ".join(word for word in words if word and word != "*")[:2_000]


def _excluded(path: str, request: Request) -> bool:
    if any(fnmatchcase(path, glob) for glob in request.without_paths):
        return True
    agent = agent_of(path)
    return bool(agent) and agent in request.without_agents


def _reader(scope: Scope, request: Request) -> Callable[[str], Document | None]:
    """Reads what is not excluded, whichever layer asks."""
    return lambda path: None if _excluded(path, request) else scope.read(path)


def _wanted(part: Part, request: Request) -> bool:
    return part.layer.value not in request.without_layers


def _session(request: Request) -> list[Part]:
    """The recent turns and the summary of the older ones."""
    if request.transcript is None:
        return []
    turns = request.transcript.spoken()
    found = layers.recent(turns, request.turn_budget)
    found += layers.summary(turns, request.previous_summary, request.summary_budget)
    return [part for part in found if _wanted(part, request)]


def _fit(parts: Sequence[Part], request: Request, limits: list[str]) -> tuple[list[Part], list[tuple[Part, str]]]:
    """The parts that fit. Pinned ones have a budget inside the total and are cut at a line; recent turns their own."""
    dropped: list[tuple[Part, str]] = []
    kept: list[Part] = []
    left = min(request.pinned_budget, request.budget)
    for part in (p for p in parts if p.layer is Layer.PINNED):
        if left < OVERHEAD:
            dropped.append((part, "the pinned budget is spent"))
            limits.append(f"pinned: {part.label} left out, {request.pinned_budget} tokens are spent")
            continue
        if part.tokens > left:
            text, last = layers.clipped(part.content, part.start_line, left)
            limits.append(f"pinned: {part.label} cut after line {last}")
            part = replace(part, content=text, end_line=last)
        kept.append(part)
        left -= part.tokens
    spent = sum(part.tokens + OVERHEAD for part in kept)
    kept += [part for part in parts if part.layer is Layer.RECENT]
    others = [part for part in parts if part.layer not in (Layer.PINNED, Layer.RECENT)]
    others.sort(key=lambda part: (part.layer is Layer.SUMMARY, -part.relevance, part.path, part.start_line))
    unlike = layers.distinct([*kept, *others])
    repeated = [part for part in others if part not in unlike]
    dropped += [(part, "says what another part says") for part in repeated]
    for part in (p for p in unlike if p in others):
        cost = part.tokens + OVERHEAD
        if spent + cost > request.budget:
            dropped.append((part, "over the budget"))
            continue
        kept.append(part)
        spent += cost
    over = sum(1 for _, why in dropped if why == "over the budget")
    if over:
        limits.append(f"budget: {over} parts left out of {request.budget} tokens")
    order = {id(part): at for at, part in enumerate(kept)}
    return sorted(kept, key=lambda part: (-part.relevance, order[id(part)])), dropped


def _rendered(
    kept: list[Part], dropped: list[tuple[Part, str]], scopes: Sequence[Scope], request: Request, limits: list[str]
) -> tuple[list[Part], str]:
    """The text; parts that may go are dropped from the end until it fits the hard limit, if there is one."""
    commits = {scope.name: scope.commit for scope in scopes}
    text = render(kept, commits)
    while request.characters and len(text) > request.characters:
        last = next((part for part in reversed(kept) if part.layer not in ALWAYS), None)
        if last is None:
            limits.append(f"{len(text)} characters are pinned or recent, more than {request.characters}")
            break
        kept = [part for part in kept if part is not last]
        dropped.append((last, "over the hard limit"))
        text = render(kept, commits)
    return kept, text


def render(parts: Sequence[Part], commits: dict[str, str]) -> str:
    """The block. Empty when there is nothing to say."""
    if not parts:
        return ""
    out = [LEAD]
    for part in parts:
        if part.layer in (Layer.RECENT, Layer.SUMMARY):
            out.append(f'<{part.layer.value} who="{part.label}">\n{neutral(part.content)}\n</{part.layer.value}>')
            continue
        note = part.layer.value + (f", {part.scope}" if part.scope != "project" else "")
        commit = commits.get(part.scope, "")
        out.append(fence(part.content, part.path, part.start_line, part.end_line, commit=commit, note=note))
    return "\n".join([*out, END])


def _line(parts: Sequence[Part], scopes: Sequence[Scope]) -> str:
    """One line that says what is in it."""
    counts: dict[str, int] = {}
    for part in parts:
        counts[part.layer.value] = counts.get(part.layer.value, 0) + 1
    words = ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"
    failed = [scope.name for scope in scopes if scope.error]
    return (words + (f"; not loaded: {', '.join(failed)}" if failed else ""))[:SUMMARY_CHARACTERS]


def as_value(context: Context) -> dict[str, object]:
    """The context of docs/json.md."""
    return {
        "text": context.text,
        "tokens": context.tokens,
        "budget": context.budget,
        "summary": context.summary,
        "hash": context.hash,
        "assembled_at": context.assembled_at.isoformat(),
        "limits": list(context.limits),
        "parts": [_part(part) for part in context.parts],
        "dropped": [{**_part(part), "reason": why} for part, why in context.dropped],
        "scopes": [
            {
                "name": scope.name,
                "loaded": not scope.error,
                "error": scope.error or None,
                "note": scope.note or None,
                "commit": scope.commit or None,
                "keys": dict(scope.keys),
            }
            for scope in context.scopes
        ],
    }


def keys(scope: Scope) -> dict[str, object]:
    """The front matter of a scope's MEMORY.md, whole: what an organisation says in a structured way."""
    document = scope.read("MEMORY.md")
    if document is None:
        return {}
    return {key: value if isinstance(value, str) else list(value) for key, value in document.front_matter.items()}


def _part(part: Part) -> dict[str, object]:
    return {
        "layer": part.layer.value, "label": part.label, "path": part.path or None,
        "start_line": part.start_line or None, "end_line": part.end_line or None, "scope": part.scope,
        "relevance": round(part.relevance, 4), "tokens": part.tokens, "id": fact_id(part.content),
    }  # fmt: skip
