"""Assembles the context for a model: parts of all layers of memory, cut to a budget of tokens and quoted as data.

The same snapshot, prompt and clock give the same bytes. Pinned parts and recent turns are never cut in favour of other
parts; over budget the summary goes first, then memory. The text never exceeds the hard limit of characters, and says
how much found no room. If one scope fails, its error is reported and the others are used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fnmatch import fnmatchcase

from gitmem.context import folder_preference, later_words, layers, packing, pieces, recall_queries
from gitmem.context.code_marks import Ask, marked
from gitmem.context.layer_limits import DEFAULTS, Count, Layer, Share, Weights
from gitmem.context.layers import Part, Recalled, RecalledHit
from gitmem.context.pieces import without_metadata
from gitmem.context.recall_queries import Question
from gitmem.context.rendering import AROUND, Detail, before, lead, left_out, render, render_group
from gitmem.context.session_contents import Contents, KnownStatements, each_once, fresh_of, keys_of_part, said_of
from gitmem.errors import GitMemError, UsageError
from gitmem.gate.quoting import END, HIDDEN, without_secrets
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.json_values import json_keys
from gitmem.memory.document import Document, structured
from gitmem.memory.folder_scope import FoldersInHand
from gitmem.memory.state import Lapsed, State
from gitmem.messages import Message
from gitmem.paths import agent_of, log_day, spelling
from gitmem.search.evidence import STRONG, Asked, evidence, standing, table_of_words
from gitmem.search.question import parse

INSTRUCTIONS = ("SOUL.md", "USER.md", "AGENTS.md", "TOOLS.md")
SUMMARY_CHARACTERS = 300
MUST = frozenset((Layer.PINNED, Layer.INCLUDED))  # layers that are cut last
MERGEABLE = frozenset((Layer.MEMORY, Layer.PROJECT, Layer.EPISODE, Layer.DAILY))  # layers that a model may condense
RECALLED = MERGEABLE | {Layer.HISTORY}  # layers whose parts must answer the prompt
SILENT, WEAK, HAD = "memory does not answer the prompt", "says too little to the prompt", "the session has it"
AMENDED, CODE_GONE = "a later line amends it", "the code that it cites is gone"
# Evidence that a part needs if another part answers, and if that part has STRONG evidence. A prompt of small talk that
# resembles one part has nothing beside it; for a real question the answer is seldom the part with the most evidence.
BESIDE, BESIDE_STRONG = 0.2, 0.05
WIDER = 3  # a model condenses what fits this many times the budget
UNCOMMITTED = "uncommitted"  # the only kind of trust that a context shows


@json_keys("name loaded error? note? commit? keys")
@dataclass(frozen=True, slots=True)
class Scope:
    """One memory that a context is made of.

    `read`: returns a file of `paths`, None if it cannot be read. `recall`: returns the hits for a question. `error`:
    why the scope could not be loaded, "" if it could. `note`: what a person should know of it. `values`: (key, text) of
    the working values of a session. `changed`: returns, for those of the given paths that differ from `commit`, the
    lines that `commit` has. `keys`: the front matter of MEMORY.md, set by `assemble`. `forgotten`: returns the ids of
    forgotten texts. `code`: returns what became of cited code. `daily`: patterns of daily logs (`paths.log_day`).
    `whole`: folders whose memory belongs to the repository itself (`folder_scope.folder_of_path`).
    """

    name: str
    paths: tuple[str, ...] = ()
    read: Callable[[str], Document | None] = lambda _: None
    recall: Callable[[str], Recalled] = lambda _: Recalled()
    error: str = ""
    note: str = ""
    commit: str = ""
    values: tuple[tuple[str, str], ...] = ()
    changed: Callable[[Sequence[str]], Mapping[str, frozenset[str]]] = lambda _: {}
    keys: Mapping[str, object] = field(default_factory=dict)
    forgotten: Callable[[], frozenset[str]] = frozenset
    code: Ask = lambda _: {}
    daily: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()

    @property
    def loaded(self) -> bool:
        return not self.error


def by_characters(text: str) -> int:
    """An estimate of tokens without a tokenizer: a third of the characters, and 1.5 for each wide character."""
    wide = sum(1 for character in text if character >= "\u1100")
    return -(-(len(text) - wide) // 3) + -(-3 * wide // 2)


@dataclass(frozen=True, slots=True)
class Merged:
    """What a model condensed. `parts`: stand in place of `gone`. `notes`: for a person."""

    parts: tuple[Part, ...]
    gone: tuple[Part, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is asked for.

    `budget`: tokens of the text. `subjects`: paths or names that rules may match and that memory is searched for.
    `staged`: paths that rules may match. `folders`: further folders whose memory counts. `summary`: of the conversation
    before its recent turns. `enough`, `each`: least evidence, 0..1, that the best part and that each part needs
    (`evidence.ENOUGH`); 0 for none. `contents`: what the session has already, which is not repeated. `whole`: tokens up
    to which a MEMORY.md goes in whole, whatever is asked; None for `budget`, 0 for never. `include`: (path, first line,
    last line) that must be there. `loaded`: paths that the host has loaded. `session`: whose working values are taken,
    "" for the transcript's session; `entities`: prefixes of their keys, empty for all. `without_*`: layers, globs and
    agents that are left out. `characters`: characters of the text at most; `warn`: number from which a note says how
    many there are; both 0 for no limit. `merge`: condenses parts by a model.
    """

    prompt: str = ""
    budget: int = 1600
    subjects: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    transcript: Transcript | None = None
    summary: str = ""
    enough: float = 0.0
    each: float = 0.0
    contents: Contents = field(default_factory=Contents)
    whole: int | None = None
    include: tuple[tuple[str, int, int], ...] = ()
    loaded: tuple[str, ...] = ()
    session: str = ""
    entities: tuple[str, ...] = ()
    without_layers: frozenset[str] = frozenset()
    without_paths: tuple[str, ...] = ()
    without_agents: tuple[str, ...] = ()
    characters: int = 0
    warn: int = 0
    shares: Mapping[Layer, Share] = field(default_factory=lambda: DEFAULTS)
    weights: Weights = field(default_factory=Weights)
    count: Count = by_characters
    tokenizer: str = "characters"
    merge: Callable[[Sequence[Part], Count], Merged] | None = None

    @property
    def in_hand(self) -> FoldersInHand:
        """The folders that the request is about; with `*` among the subjects all folders."""
        return FoldersInHand(
            (*self.subjects, *self.staged, *self.folders), " ".join((self.prompt, *self.subjects)), "*" in self.subjects
        )


@json_keys(
    "text tokens tokenizer budget layers=tokens_by_layer summary hash assembled_at limits withheld parts"
    " dropped=left_out keys scopes"
)
@dataclass(frozen=True, slots=True)
class Context:
    """An assembled context.

    `tokens`: of `text`. `dropped`: (part, reason). `limits`: sentences on what was left out. `summary`: one line on
    what is in it. `hash`: of the chosen parts; it does not depend on the clock or a model. `notes`: for the person who
    asked, in no output. `withheld`: lines of `text` that are shown as HIDDEN because they hold a secret.
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
        """Tokens of each layer, and `quotation`: those of the text around the parts."""
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
    """The context of a request as of `now`. `scopes`: broad to narrow, the project or session last.

    Raises UsageError for a budget that is not positive.
    """
    if request.budget <= 0:
        raise UsageError("a budget is a number of tokens above 0", "git mem context --budget 1600")
    request = _without_hidden_turns(request)
    questions = _questions(scopes, request)
    usable, chosen, chunks, aside = _parts_of_scopes(scopes, request, questions, now.date())
    parts, hidden = layers.narrower(chosen)
    included, missing = _included(usable, request)
    parts = [*included, *parts, *_session(request)]
    wanted = [part for part in parts if _is_requested(part, request)]
    wanted = [replace(part, tokens=request.count(before(part) + part.content)) for part in wanted]
    daily = tuple(pattern for scope in usable for pattern in scope.daily)
    wanted = later_words.marked(wanted, now.date(), daily)
    new, held = _not_held(wanted, request, _known_statements(usable, request.contents))
    parts, withheld = _answering(new, request, questions, now.date(), chunks)
    withheld += held
    commits = {scope.name: scope.commit for scope in usable}
    left = request.budget - request.count(f"{lead(commits)}\n{AROUND}{END}")
    alone = lambda part: render_group([part], commits, bare=True)  # noqa: E731
    whole: frozenset[str] = frozenset()
    if request.whole != 0:
        room = left - request.budget + min(request.whole or request.budget, request.budget)
        weak = [part for part, why in withheld if part.layer is Layer.MEMORY and why in (SILENT, WEAK)]
        memory = [*(part for part in parts if part.layer is Layer.MEMORY), *weak]
        whole = packing.whole_memories(parts, memory, room, request.shares, request.count, alone)
        unasked = {id(part) for part in weak if part.scope in whole}
        parts += [part for part in weak if id(part) in unasked]
        withheld = [(part, why) for part, why in withheld if id(part) not in unasked]

    parts = _each_once(parts, request, withheld)

    def fitted(parts: Sequence[Part], total: int, characters: int = 0) -> packing.Fitted:
        return packing.fit(parts, total, request.shares, request.count, alone, whole, characters)

    wide = fitted(parts, left * WIDER if request.merge else left)
    chosen_text = "\0".join(f"{p.layer}|{p.scope}|{p.path}|{p.start_line}|{p.content}" for p in wide.kept)
    few: list[str] = []
    if parts and not wide.kept and (more := packing.least(lambda total: fitted(parts, total), max(1, left))):
        least = request.budget - left + more
        few = [Message("{} tokens hold no part of memory; the smallest budget that does is {}", request.budget, least)]
    if request.merge is not None:
        parts, condensed = _condensed(wide, request.merge, request.count)
        withheld += condensed.dropped
        few += condensed.limits
    done, text = _within_limits(parts, left, request, fitted, _renderer(usable, commits))
    done.dropped += [*withheld, *((part, why) for part, why in hidden if _is_requested(part, request))]
    done.dropped += [(part, why) for part, why in aside.dropped if _is_requested(part, request)]
    done.limits = list(dict.fromkeys([*few, *done.limits, *aside.limits]))
    if any(why == SILENT for _, why in withheld):
        done.limits += [Message("recall: {}", SILENT)]
    done.limits += missing
    if request.transcript is not None and not request.transcript.turns and request.transcript.skipped:
        done.limits.append(Message("transcript: none of its {} lines is understood", request.transcript.skipped))
    if request.warn and len(text) > request.warn:
        done.limits.append(Message("{} characters, more than {}", len(text), request.warn))
    kept = [replace(part, tokens=part.tokens or request.count(part.content)) for part in done.kept]
    return Context(
        text=text, tokens=request.count(text) if text else 0, budget=request.budget, parts=tuple(kept),
        dropped=tuple(done.dropped), scopes=tuple(usable), limits=tuple(done.limits), summary=_line(kept, usable),
        hash=hashlib.sha256(chosen_text.encode("utf-8", "replace")).hexdigest(), assembled_at=now,
        tokenizer=request.tokenizer, withheld=text.count(HIDDEN),
    )  # fmt: skip


def _parts_of_scopes(
    scopes: Sequence[Scope], request: ContextRequest, questions: Sequence[Question], today: date
) -> tuple[list[Scope], list[tuple[str, Sequence[Part]]], int, Aside]:
    """(scopes, with `error` set where reading failed; (name, parts) of each scope that was read; chunks of all of them;
    parts that are left out before anything is chosen)."""
    aside = Aside()
    usable: list[Scope] = []
    chosen: list[tuple[str, Sequence[Part]]] = []
    chunks = 0
    texts: dict[str, State] = {}  # texts that no longer hold in some scope; a working value may repeat one
    for scope in scopes:
        if scope.error:
            usable.append(scope)
            continue
        read = folder_preference.FolderReader(_reader(scope, request), request.in_hand, scope.whole)
        scope = replace(scope, read=read)
        try:
            known = layers.lapsed(scope.read, scope.paths, today, scope.forgotten())
            texts |= known.texts
            if scope.values:
                lapsed = known._replace(texts=texts)
            else:
                lapsed = known
            parts, size = _parts_of(scope, request, questions, lapsed, aside)
            chosen.append((scope.name, parts))
            chunks += size
            aside.limits.extend(read.limits())
            usable.append(replace(scope, keys=keys(scope)))
        except GitMemError as error:
            usable.append(replace(scope, error=error.message))
    return usable, chosen, chunks, aside


@dataclass(frozen=True, slots=True)
class Aside:
    """Parts that were left out before anything was chosen. `dropped`: (part, reason). `limits`: sentences for a
    person."""

    dropped: list[tuple[Part, str]] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)


def _condensed(
    wide: packing.Fitted, merge: Callable[[Sequence[Part], Count], Merged], count: Count
) -> tuple[list[Part], packing.Fitted]:
    """The parts of `wide` with the mergeable ones condensed by a model, and what that dropped, with its notes."""
    merged = merge([part for part in wide.kept if part.layer in MERGEABLE], count)
    gone = {id(part) for part in merged.gone}
    parts = [part for part in wide.kept if id(part) not in gone]
    parts += [replace(part, tokens=count(part.content)) for part in merged.parts]
    dropped = [*wide.dropped, *((part, "condensed") for part in merged.gone)]
    return parts, packing.Fitted(dropped=dropped, limits=[*wide.limits, *merged.notes])


Fit = Callable[[Sequence[Part], int, int], packing.Fitted]  # parts, tokens, the hard limit of characters or 0
Render = Callable[[packing.Fitted, Detail], str]


def _within_limits(
    parts: Sequence[Part], left: int, request: ContextRequest, fitted: Fit, rendered: Render
) -> tuple[packing.Fitted, str]:
    """What fits the budget of tokens and the hard limit of characters, and its text. `left`: tokens for the parts.

    Where there is no room for a part and for the line that says what is left out, the line gets shorter.
    """
    for detail in Detail:
        done, text = _shrunk(parts, left, request, fitted, lambda done, detail=detail: rendered(done, detail))  # type: ignore[misc]
        if done.kept or not parts:
            return done, text
    for detail in Detail:
        text = left_out(done, detail)
        if request.count(text) <= request.budget and not 0 < request.characters < len(text):
            break
    return done, text


def _shrunk(
    parts: Sequence[Part], left: int, request: ContextRequest, fitted: Fit, rendered: Callable[[packing.Fitted], str]
) -> tuple[packing.Fitted, str]:
    """What fits both limits, and its text. The text is rendered and measured, with fewer and fewer tokens for the
    parts.

    Parts outside MUST are dropped first; then, under the hard limit, the recent turns, oldest first; then those of
    MUST.
    """
    turns = [part for part in parts if part.layer is Layer.RECENT]
    frame = request.count('<recent who="user">\n</recent>')

    def attempt(total: int, recent: int, characters: int) -> tuple[packing.Fitted, str, bool, bool]:
        """(what fits `total` tokens beside `recent` turns, its text, whether it has too many tokens, too many
        characters)."""
        gone = turns[: len(turns) - recent]
        those = set(map(id, gone))
        done = fitted([part for part in parts if id(part) not in those], total, characters)
        done.dropped += [(part, packing.OVER_CHARACTERS) for part in gone]
        if gone:
            done.limits.append(
                Message("limit of {} characters: {} of {} recent turns left out", characters, len(gone), len(turns))
            )
        text = ""
        if done.kept:
            text = rendered(done)
        beside = sum(part.tokens + frame for part in done.kept if part.layer is Layer.RECENT)
        over = request.count(text) - beside > request.budget and any(p.layer is not Layer.RECENT for p in done.kept)
        return done, text, over, 0 < request.characters < len(text)

    done, text, over, long = attempt(left, len(turns), 0)
    if not (over or long):
        return done, text
    hard = 0
    if long:
        hard = request.characters
    alone = lambda part: render_group([part], {}, bare=True)  # noqa: E731
    must = packing.cost_of((part for part in done.kept if part.layer in MUST), request.count, alone)
    must = max(0, min(must, left))
    steps = [(must, left, len(turns))]
    if hard:
        steps += [(must, must + 1, recent) for recent in range(len(turns) - 1, -1, -1)]
    steps += [(0, must, 0 if hard else len(turns))]
    for low, high, recent in steps:
        done, text, over, long = attempt(low, recent, hard)
        if over or long:
            if long:
                hard = request.characters
            continue
        while low + 1 < high:
            middle = (low + high) // 2
            tried = attempt(middle, recent, hard)
            if tried[2] or tried[3]:
                high = middle
            else:
                low, (done, text) = middle, tried[:2]
        return done, text
    return attempt(0, 0, request.characters)[:2]


def _renderer(scopes: Sequence[Scope], commits: Mapping[str, str]) -> Render:
    """The function that renders what fits. It caches rendered groups and comparisons with the commit."""
    quoted: dict[tuple[Part, ...], str] = {}
    changed: dict[tuple[str, str], frozenset[str] | None] = {}

    def rendered(done: packing.Fitted, detail: Detail) -> str:
        done.kept = _marked_uncommitted(done.kept, scopes, changed)
        return render(done.kept, commits, quoted, left_out(done, detail))

    return rendered


def _marked_uncommitted(
    parts: Sequence[Part], scopes: Sequence[Scope], known: dict[tuple[str, str], frozenset[str] | None]
) -> list[Part]:
    """The parts; those with a line that their scope's commit lacks are marked as uncommitted.

    `known`: a cache that is filled here: (scope, path) -> the lines of the file in the commit, None if it is unchanged.
    """
    kept = list(parts)
    for scope in scopes:
        own = sorted({part.path for part in kept if part.scope == scope.name and part.path})
        asked = [path for path in own if (scope.name, path) not in known]
        if asked and not scope.error:
            changed = scope.changed(asked)
        else:
            changed = {}
        known.update({(scope.name, path): changed.get(path) for path in asked})
        for at, part in enumerate(kept):
            lines = None
            if part.scope == scope.name:
                lines = known.get((scope.name, part.path))
            if lines is not None and not part.trust:
                old = {without_metadata(line).strip() for line in lines}
                if not old.issuperset(_lines_of(part, scope)):
                    kept[at] = replace(part, trust=UNCOMMITTED)
    return kept


def _lines_of(part: Part, scope: Scope) -> list[str]:
    """The lines of a part in its file, without metadata and empty lines."""
    document = None
    if part.pieces:
        document = scope.read(part.path)
    if document is not None:
        lines = [line for piece in part.pieces for line in document.lines[piece.first - 1 : piece.last]]
    else:
        lines = part.content.split("\n")
    bare = [without_metadata(line).strip() for line in lines]
    return [line for line in bare if line]


def _without_hidden_turns(request: ContextRequest) -> ContextRequest:
    """The request with its last 20 turns and last tool outputs, without secrets; both are searched for and printed."""
    if request.transcript is None:
        return request
    turns: list[Turn] = []
    read = request.transcript.turns[-200:]
    tools = [turn for turn in read if turn.role is Role.TOOL][-recall_queries.TOOLS :]
    for turn in request.transcript.spoken()[-20:]:
        turns.append(replace(turn, text="\n".join(without_secrets(turn.text.split("\n")))))
    for turn in tools:
        turns.append(replace(turn, text="\n".join(without_secrets(turn.text[-recall_queries.TAIL :].split("\n")))))
    turns.sort(key=lambda turn: turn.line)
    return replace(request, transcript=replace(request.transcript, turns=tuple(turns)))


def _included(scopes: Sequence[Scope], request: ContextRequest) -> tuple[list[Part], list[str]]:
    """The parts of `include`, each from the narrowest scope that has the file, and messages for those not found."""
    parts: list[Part] = []
    missing: list[str] = []
    for path, first, last in request.include:
        scope = next((scope for scope in reversed(scopes) if path in scope.paths and not scope.error), None)
        document = None
        if scope is not None:
            document = scope.read(path)
        if scope is None or document is None:
            missing.append(Message("include: there is no '{}'", path))
        elif first > len(document.lines):
            missing.append(Message("include: '{}' has no line {}", path, first))
        else:
            last = min(last or len(document.lines), len(document.lines))
            text = "\n".join(document.lines[first - 1 : last])
            parts.append(Part(Layer.INCLUDED, path, text, 1.0, path, first, last, scope.name))
    return parts, missing


def _profile(scopes: Sequence[Scope], request: ContextRequest) -> str:
    """The beginning of USER.md of the narrowest scope that has one; "" without one."""
    for scope in reversed(scopes):
        document = None
        if "USER.md" in scope.paths:
            document = _reader(scope, request)("USER.md")
        if document is not None:
            return "\n".join(document.lines)[:2_000]
    return ""


def _questions(scopes: Sequence[Scope], request: ContextRequest) -> list[Question]:
    """The questions to every scope. Working values and USER.md add to them only if there is a transcript."""
    if request.transcript is None:
        return recall_queries.questions(request.prompt, request.subjects)
    values = [value for scope in scopes for value in scope.values]
    return recall_queries.questions(
        request.prompt, request.subjects, request.transcript.turns, request.summary, values, _profile(scopes, request)
    )


def _parts_of(
    scope: Scope, request: ContextRequest, questions: Sequence[Question], known: Lapsed, aside: Aside
) -> tuple[list[Part], int]:
    """All parts of one scope that still hold, and the number of its chunks. Parts that are left out go to `aside`."""
    paths = [path for path in scope.paths if not _excluded(path, request)]
    instructions = [path for path in INSTRUCTIONS if path in paths and path not in request.loaded]
    shares, count = request.shares, request.count
    hits, chunks = _found(scope, request, questions)
    similarity: dict[tuple[str, int], float] = {}
    until: dict[tuple[str, int], str] = {}
    files = layers.fact_files(scope.read, paths)
    for hit in (hit for hit in hits if hit.path in files):
        until |= {(hit.path, line): day for line, day in hit.until}
        for at in ((hit.path, line) for line in range(hit.start_line, hit.end_line + 1)):
            similarity[at] = max(hit.score, similarity.get(at, 0.0))
    parts = layers.working(scope.values, shares[Layer.WORKING], count, known)
    parts += layers.pinned(scope.read, instructions, known, scope.name, files)
    parts += layers.rules(paths, scope.read, (*request.subjects, *request.staged), scope.name)
    parts += layers.procedures(paths, scope.read, request.prompt or _last_user_text(request), scope.name)
    found = layers.memory(scope.read, files, similarity, request.weights, known, scope.name, until)
    parts += found[: layers.MAX_FACTS]
    if more := found[layers.MAX_FACTS :]:
        aside.dropped.extend((part, packing.MANY) for part in more)
        aside.limits.append(
            Message("memory: {} facts beyond the first {} were not looked at", len(more), layers.MAX_FACTS)
        )
    items = {layer: share.item for layer, share in shares.items()}
    most = request.budget // 4  # tokens of one statement at most
    parts += layers.recalled(hits, scope.read, request.weights, known, items, count, most, scope.name)
    logs = {path: day for path in paths if (day := log_day(path, scope.daily))}
    parts += layers.days(logs, scope.read, known, shares[Layer.DAILY].item, count, scope.name)
    parts, hidden = folder_preference.nearest(parts, scope.read, request.in_hand, scope.whole)
    aside.dropped.extend(hidden)
    return marked(parts, scope.code), chunks


def _answering(
    pairs: Sequence[tuple[Part, Part]], request: ContextRequest, questions: Sequence[Question], today: date, chunks: int
) -> tuple[list[Part], list[tuple[Part, str]]]:
    """The parts that answer the prompt, and (part, reason) for the others.

    `pairs`: (part as it was found, part without what the session has). The evidence is that of the first; the second is
    kept. The questions behind the prompt (`recall_queries.BEHIND`) count for a part that shares a word with the prompt,
    and where the prompt has no word that tells: "and why does it fail?" asks for more than it says.
    """
    if not (request.enough or request.each) or not request.prompt.strip() or not questions:
        return [fresh for _, fresh in pairs], []  # without a threshold, a prompt or a question every part counts
    table = table_of_words()
    asked = [(Asked(parse(question.text, today), table, chunks), question.weight) for question in questions]

    def measured(part: Part) -> float:
        prompt = asked[0][0]
        alone = len(asked) > 1 and prompt.tells and not standing(prompt, part.said).tells
        known, texts = asked[:1] if alone else asked, _texts(part)
        return max(weight * evidence(each, text, about) for each, weight in known for text, about in texts)

    answers = {at: measured(found) for at, (found, _) in enumerate(pairs) if found.layer in RECALLED}
    best = max(answers.values(), default=0.0)
    silent = best < request.enough
    if best >= STRONG:
        beside = BESIDE_STRONG
    else:
        beside = BESIDE
    enough = max(request.each, min(request.enough, beside))
    unanswered = WEAK
    if silent:
        unanswered = SILENT
    kept: list[Part] = []
    withheld: list[tuple[Part, str]] = []
    for at, (_, part) in enumerate(pairs):
        if at not in answers:
            kept.append(part)
            continue
        if silent or answers[at] < enough:
            withheld.append((part, unanswered))
        elif request.each and part.until:
            withheld.append((part, AMENDED))  # the session may have the later line already
        elif request.each and part.gone:
            withheld.append((part, CODE_GONE))
        else:
            kept.append(part)
    return kept, withheld


def _known_statements(scopes: Sequence[Scope], contents: Contents) -> KnownStatements:
    """What the session has: the texts said and loaded in it, and the statements that it was given before."""
    known = KnownStatements(contents.texts)
    for scope in scopes:
        for path in sorted(path for name, path in contents.places if name == scope.name and not scope.error):
            document = scope.read(path)
            if document is None:
                continue
            for piece in pieces.pieces(document):
                part = layers.of(Part(Layer.MEMORY, "", "", 0.0, path, scope=scope.name), [piece])
                if not contents.keys.isdisjoint(keys_of_part(part)):
                    known.add(said_of(piece))
    return known


def _not_held(
    parts: Sequence[Part], request: ContextRequest, known: KnownStatements
) -> tuple[list[tuple[Part, Part]], list[tuple[Part, str]]]:
    """(part, part without what the session has) for each part, and (part, reason) for those that it has whole."""
    kept: list[tuple[Part, Part]] = []
    held: list[tuple[Part, str]] = []
    for part in parts:
        fresh = fresh_of(part, request.contents, known)
        if fresh is None:
            held.append((part, HAD))
        else:
            kept.append((part, _counted(fresh, part, request)))
    return kept, held


def _each_once(parts: Sequence[Part], request: ContextRequest, withheld: list[tuple[Part, str]]) -> list[Part]:
    """The parts, each statement in one of them only. Parts that become empty are added to `withheld`."""
    kept: list[Part] = []
    for part, left in each_once(parts):
        if left is None:
            withheld.append((part, packing.SAME))
        else:
            kept.append(_counted(left, part, request))
    return kept


def _counted(part: Part, before_it: Part, request: ContextRequest) -> Part:
    """A part with its tokens, which are counted again if its text differs from that of `before_it`."""
    if part.content == before_it.content:
        return part
    return replace(part, tokens=request.count(before(part) + part.content))


def _texts(part: Part) -> list[tuple[str, str]]:
    """(text, trail) of a part, and of each of its statements if it has several."""
    own = [(piece.own.text, piece.statement.trail) for piece in part.pieces if len(part.pieces) > 1]
    return [(text, " ".join(trail)) for text, trail in ((part.content, part.trail), *own)]


def _last_user_text(request: ContextRequest) -> str:
    """The last turn of the person in the session; "" without one."""
    if request.transcript:
        turns = request.transcript.spoken()
    else:
        turns = []
    return next((turn.text for turn in reversed(turns) if turn.role is Role.USER), "")


def _found(scope: Scope, request: ContextRequest, questions: Sequence[Question]) -> Recalled:
    """The hits of all questions in a scope, each place once with its best score."""
    best: dict[tuple[str, int, int], RecalledHit] = {}
    chunks = 0
    for text, weight in questions:
        found = scope.recall(text)
        chunks = max(chunks, found.chunks)
        for hit in found.hits:
            place = (hit.path or hit.commit, hit.start_line, hit.end_line)
            unread = bool(request.without_agents) and not hit.commit and scope.read(hit.path) is None
            if unread or _excluded(hit.path, request):
                continue
            if place not in best or best[place].score < hit.score * weight:
                best[place] = replace(hit, score=hit.score * weight)
    return Recalled(sorted(best.values(), key=lambda hit: (-hit.score, hit.path, hit.start_line)), chunks)


def _excluded(path: str, request: ContextRequest) -> bool:
    """Whether the request leaves out a path, by a glob or by the agent in its name."""
    if any(fnmatchcase(path, glob) for glob in request.without_paths):
        return True
    agent = agent_of(path)
    return bool(agent) and agent in _without_agents(request)


def _without_agents(request: ContextRequest) -> set[str]:
    return {spelling(name) for name in request.without_agents}


def _reader(scope: Scope, request: ContextRequest) -> Callable[[str], Document | None]:
    """The scope's `read` without files that the request leaves out, also by the agent in their front matter."""

    def read(path: str) -> Document | None:
        if _excluded(path, request):
            document = None
        else:
            document = scope.read(path)
        agent = ""
        if document:
            agent = str(document.front_matter.get("agent") or "")
        if agent and spelling(agent) in _without_agents(request):
            return None
        return document

    return read


def _is_requested(part: Part, request: ContextRequest) -> bool:
    """Whether the layer of a part is on."""
    return part.layer.value not in request.without_layers and request.shares[part.layer].on


def _session(request: ContextRequest) -> list[Part]:
    """The parts of the recent turns and of the summary of older ones."""
    if request.transcript is None:
        return []
    parts = layers.recent(request.transcript.spoken(), request.shares[Layer.RECENT], request.count)
    return parts + layers.summary(request.summary)


def _line(parts: Sequence[Part], scopes: Sequence[Scope]) -> str:
    """One line on the number of parts of each layer and the scopes that failed."""
    counts: dict[str, int] = {}
    for part in parts:
        counts[part.layer.value] = counts.get(part.layer.value, 0) + 1
    words = ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"
    failed = [scope.name for scope in scopes if scope.error]
    return (words + (f"; not loaded: {', '.join(failed)}" if failed else ""))[:SUMMARY_CHARACTERS]


def keys(scope: Scope) -> dict[str, object]:
    """The front matter of a scope's MEMORY.md, in which an organisation keeps structured values."""
    document = scope.read("MEMORY.md")
    if document is None:
        return {}
    return structured(document)
