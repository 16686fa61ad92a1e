"""Selects the parts of a context that fit its budget of tokens. Pure.

Pinned parts come first. Pinned facts may take the whole budget; a pinned fact goes in whole or not at all. Instruction
files leave a share to the parts that answer; such a file may be cut after a statement. Recent turns do not count
against the budget. Then comes a MEMORY.md that goes in whole, then the other parts by relevance, with a share reserved
for long-term memory. The summary of older turns takes the rest. If two parts say the same, the more relevant one is
kept. Parts without room are in `dropped` and counted in `limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gitmem.context import layers
from gitmem.context.layer_limits import Count, Layer, LayerLimits
from gitmem.context.layers import Part
from gitmem.context.pieces import LayoutLine
from gitmem.memory.fact import cited_spans
from gitmem.memory.similarity import adds_nothing, terms
from gitmem.messages import Message, joined
from gitmem.text.heading_words import leading_topic

MEMORY_SHARE = 0.25  # share of the budget after pinned parts that is reserved for MEMORY.md
WHOLE_MEMORY_SHARE = 0.5  # share of the budget after pinned and included parts that a whole MEMORY.md may take
FILES_SHARE = 0.25  # share of the budget of pinned parts that is reserved for instruction files
OTHERS_SHARE = 0.25  # share of the budget after pinned facts that instruction files leave to all other parts
JOINED_TOKENS = 4  # tokens of a part beside its text if its quotation has another part already
MAX_NAMED = 3  # pinned parts without room that a message names
MAX_BUDGET_TOKENS = 1 << 20  # more than any model reads
OVER, OVER_LAYER, OVER_PINNED, OVER_CHARACTERS, OVER_LAYER_LIMIT, REPEATED = (
    "over the budget",
    "over its layer's budget",
    "over the pinned budget",
    "over the hard limit",
    "over its layer's limit",
    "says what another part says",
)
NO_ROOM = frozenset(
    (OVER, OVER_LAYER, OVER_PINNED, OVER_CHARACTERS, OVER_LAYER_LIMIT)
)  # reasons that are limits of size or number


@dataclass(slots=True)
class Selection:
    """The parts that fit a budget. `kept`: these parts, included passages first, then the most relevant. `dropped`:
    (part, reason) for each other part. `limits`: messages for a person. `pinned_offered`: the number of pinned facts
    among all parts."""

    kept: list[Part] = field(default_factory=list)
    dropped: list[tuple[Part, str]] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    pinned_offered: int = 0


@dataclass(frozen=True, slots=True)
class Measure:
    """How parts are measured. `limits`: of each layer. `count`: returns the tokens of a text. `quotation`: returns the
    text around a part that is quoted alone, such as its path and lines."""

    limits: Mapping[Layer, LayerLimits]
    count: Count
    quotation: Callable[[Part], str]


def fit(
    parts: Sequence[Part], total: int, measure: Measure, whole_scopes: frozenset[str] = frozenset(),
    characters: int = 0, waiting_memory: Sequence[Part] = (),
) -> Selection:  # fmt: skip
    """Select the parts that fit `total` tokens, with their quotations and headings. Each part has its `tokens` counted
    already. Recent turns are always kept and do not count.

    Instruction files and the summary may be cut, and repeated statements are taken out: `kept` then has a changed copy
    of the part; the `tokens` of a cut summary are not counted again. `whole_scopes`: names of scopes whose MEMORY.md
    comes before all other answers. `characters`: the hard limit of characters if `total` was lowered because of it, for
    messages; else 0. `waiting_memory`: parts that are not selected here, but for which instruction files leave room.
    """
    selection = Selection(pinned_offered=sum(1 for part in parts if is_pinned_fact(part)))
    offered = len(parts)
    parts = _within_layer_limits(parts, measure.limits, selection)
    pinned = [part for part in parts if part.layer is Layer.PINNED]
    answers = [part for part in parts if part.layer not in (Layer.PINNED, Layer.RECENT, Layer.SUMMARY)]
    answers += waiting_memory
    selection.kept += _fit_pinned(pinned, answers, total, measure, selection, characters)
    remaining = _Budget(total, measure)
    for part in selection.kept:
        remaining.take(part)
    selection.kept += [part for part in parts if part.layer is Layer.RECENT]
    # Scopes come broad to narrow; reversed, of two parts that say the same the narrower scope's comes first.
    ranked = [part for part in reversed(parts) if part.layer not in (Layer.PINNED, Layer.RECENT, Layer.SUMMARY)]
    whole_parts = [part for part in ranked if part.layer is Layer.MEMORY and part.scope in whole_scopes]
    whole_ids = set(map(id, whole_parts))
    ranked.sort(key=lambda part: (id(part) not in whole_ids, -part.relevance, part.path, part.start_line))
    reserved = max(int(MEMORY_SHARE * remaining.left), cost_of(whole_parts, measure))
    waiting = _fill(ranked, remaining, selection, reserved)
    reason = OVER_CHARACTERS if characters else OVER
    selection.dropped += [(part, reason) for part in waiting]
    _fit_summary([part for part in parts if part.layer is Layer.SUMMARY], remaining, selection, reason)
    left_out_count = sum(1 for _, reason in selection.dropped if reason in NO_ROOM)
    if left_out_count and characters:
        words = Message("limit of {} characters: {} of {} parts left out", characters, left_out_count, offered)
        selection.limits.append(words)
    elif left_out_count:
        words = Message("budget of {} tokens: {} of {} parts left out", total, left_out_count, offered)
        selection.limits.append(words)
    order = {id(part): index for index, part in enumerate(selection.kept)}
    selection.kept.sort(key=lambda part: (part.layer is not Layer.INCLUDED, -part.relevance, order[id(part)]))
    return selection


def _fit_summary(parts: Iterable[Part], remaining: _Budget, selection: Selection, reason: str) -> None:
    """Add the first lines of the summary that fit the rest of the budget to `selection.kept`, or the summary with
    `reason` to `selection.dropped`. A message says if it was cut."""
    for part in parts:
        layer_limit = remaining.measure.limits[Layer.SUMMARY].tokens or remaining.left
        token_limit = min(remaining.left - remaining.around(part), layer_limit)
        text = _first_lines(part.content, token_limit, remaining.measure.count)
        if text:
            selection.kept.append(replace(part, content=text))
        else:
            selection.dropped.append((part, reason))
        if len(text) < len(part.content):
            selection.limits.append("summary: cut" if text else "summary: left out")


def cost_of(parts: Iterable[Part], measure: Measure) -> int:
    """The tokens of parts together, with their quotations and headings, each counted once. Each part has its `tokens`
    counted already."""
    budget = _Budget(0, measure)
    for part in parts:
        budget.take(part)
    return -budget.left


def whole_memories(parts: Sequence[Part], memory: Sequence[Part], total: int, measure: Measure) -> frozenset[str]:
    """The names of the scopes whose MEMORY.md goes in whole beside `parts`; the narrowest scope is tried first.

    `memory`: the parts of all MEMORY.md files. `total`: tokens for all parts. A MEMORY.md goes in whole if it fits the
    limits of its layer, and fits either the rest of the budget after the other parts or WHOLE_MEMORY_SHARE of the
    budget after pinned and included parts.
    """
    share = measure.limits[Layer.MEMORY]
    others = [part for part in parts if part.layer is not Layer.MEMORY]
    reserved_parts = [part for part in others if part.layer in (Layer.PINNED, Layer.INCLUDED)]
    must = fit(reserved_parts, total, measure, waiting_memory=memory)
    unreserved = total - cost_of(must.kept, measure)
    answers = [part for part in others if part.layer not in (Layer.PINNED, Layer.INCLUDED, Layer.RECENT, Layer.SUMMARY)]
    room = max(int(WHOLE_MEMORY_SHARE * unreserved), unreserved - cost_of(answers, measure))
    room = min(room, share.tokens or room)
    chosen: list[str] = []
    for scope in reversed(list(dict.fromkeys(part.scope for part in memory))):
        scope_parts = [part for part in memory if part.scope == scope]
        cost = cost_of(scope_parts, measure)
        if cost <= room and not (share.max_parts and len(scope_parts) > share.max_parts):
            chosen.append(scope)
            room -= cost
    return frozenset(chosen)


def smallest_budget(select: Callable[[int], Selection], above: int) -> int:
    """The smallest budget above `above` tokens into which at least one part fits; 0 if none fits MAX_BUDGET_TOKENS.

    `above`: a budget into which no part fits. `select`: returns the selection for a budget.
    """
    high = max(1, above)
    while not select(high).kept:
        if high >= MAX_BUDGET_TOKENS:
            return 0
        above, high = high, min(2 * high, MAX_BUDGET_TOKENS)
    while above + 1 < high:
        middle = (above + high) // 2
        if select(middle).kept:
            high = middle
        else:
            above = middle
    return high


class _Budget:
    """The tokens that are left (`left`, may be negative). The quotation of parts with one `quotation_key` counts once,
    and so do headings that statements share."""

    def __init__(self, total: int, measure: Measure) -> None:
        self.left = total
        self.measure = measure
        self.open_quotations: set[tuple[str, ...]] = set()
        self.shown_lines: set[tuple[tuple[str, ...], LayoutLine]] = set()

    def around(self, part: Part) -> int:
        """The tokens that a part takes beside its text: its quotation (JOINED_TOKENS if an earlier part has it) and
        those of its headings that no earlier part has."""
        key = quotation_key(part)
        above = dict.fromkeys(
            line for piece in part.pieces for line in piece.above if (key, line) not in self.shown_lines
        )
        if key in self.open_quotations:
            cost = JOINED_TOKENS
        else:
            cost = self.measure.count(self.measure.quotation(part))
        return cost + sum(self.measure.count(line.lead + line.shown) for line in above)

    def cost(self, part: Part) -> int:
        """The tokens that `take` would subtract."""
        return part.tokens + self.around(part)

    def take(self, part: Part) -> None:
        """Subtract the tokens of a part, and remember its quotation and headings."""
        self.left -= self.cost(part)
        key = quotation_key(part)
        self.open_quotations.add(key)
        self.shown_lines.update((key, line) for piece in part.pieces for line in (*piece.above, piece.own))


def quotation_key(part: Part) -> tuple[str, ...]:
    """The key of a part's quotation. Parts with the same scope, layer, file and trust share one; each turn has its
    own."""
    if part.layer is Layer.RECENT:
        return ("turn", str(id(part)))
    return (part.scope, part.layer, part.path, part.trust)


def _within_layer_limits(
    parts: Sequence[Part], limits: Mapping[Layer, LayerLimits], selection: Selection
) -> list[Part]:
    """The most relevant parts of each layer, up to its `max_parts`, in the order given. The others are added to
    `selection.dropped`."""
    ranked = sorted(range(len(parts)), key=lambda index: (-parts[index].relevance, index))
    counts: dict[Layer, int] = {}
    kept: set[int] = set()
    for index in ranked:
        layer = parts[index].layer
        counts[layer] = counts.get(layer, 0) + 1
        if not limits[layer].max_parts or counts[layer] <= limits[layer].max_parts:
            kept.add(index)
        else:
            selection.dropped.append((parts[index], OVER_LAYER_LIMIT))
    return [part for index, part in enumerate(parts) if index in kept]


def is_pinned_fact(part: Part) -> bool:
    """Whether a part is a pinned fact, not an instruction file or a part of another layer."""
    return part.layer is Layer.PINNED and bool(part.pieces or layers.is_fact_file(part.path))


def _fit_pinned(
    parts: Sequence[Part], answers: Sequence[Part], total: int, measure: Measure, selection: Selection, characters: int
) -> list[Part]:
    """The pinned parts that fit their budget, in the order given. The others are added to `selection.dropped`, and a
    message that names them and the files that were cut to `selection.limits`.

    Facts come first, but FILES_SHARE is reserved for instruction files. Files leave OTHERS_SHARE of what facts leave of
    `total` to `answers`, as far as these need it. Small files go in whole; larger files share the rest equally, each
    cut after a statement. `characters`: as in `fit`.
    """
    budget = max(0, min(measure.limits[Layer.PINNED].tokens or total, total))
    facts = [part for part in parts if is_pinned_fact(part)]
    files = [part for part in parts if not is_pinned_fact(part)]
    kept_back = min(int(FILES_SHARE * budget), cost_of(files, measure))
    remaining = _Budget(budget - kept_back, measure)
    chosen: dict[int, Part] = {}
    short: list[str] = []
    for part in facts:
        if remaining.cost(part) > remaining.left:
            short.append(Message("{} left out", part.label))
            selection.dropped.append((part, OVER_PINNED))
        else:
            remaining.take(part)
            chosen[id(part)] = part
    remaining.left += kept_back
    after_facts = total - budget + remaining.left
    share = int(OTHERS_SHARE * after_facts)
    if cost_of(files, measure) > after_facts - share:
        share = min(share, cost_of(answers, measure))
        remaining.left = min(remaining.left, after_facts - share)
    for index, part in enumerate(sorted(files, key=remaining.cost)):
        room = remaining.left // (len(files) - index)
        shortened: Part | None = part
        if remaining.cost(part) > room:
            shortened = _first_statements(part, room - remaining.around(part), measure.count)
        if shortened is None:
            short.append(Message("{} left out", part.label))
            selection.dropped.append((part, OVER_PINNED))
            continue
        if shortened is not part:
            short.append(Message("{} cut after line {}", part.label, shortened.end_line))
        remaining.take(shortened)
        chosen[id(part)] = shortened
    if short:
        names: str = joined(", ", short[:MAX_NAMED])
        if len(short) > MAX_NAMED:
            names = Message("{} and {} more", names, len(short) - MAX_NAMED)
        if characters:
            selection.limits.append(Message("pinned: {}; {} characters are too few", names, characters))
        else:
            selection.limits.append(Message("pinned: {}; {} tokens are too few", names, budget))
    return [chosen[id(part)] for part in parts if id(part) in chosen]


def _first_statements(part: Part, budget: int, count: Count) -> Part | None:
    """The first whole statements of an instruction file that fit `budget` tokens; None if its first one does not fit.

    `cut_to_line` of the result is the last line of the file.
    """
    text = _first_lines(part.content, budget, count, {end - part.start_line + 1 for end in part.statement_ends})
    if not text:
        return None
    last = part.start_line + text.count("\n")
    return replace(part, content=text, end_line=last, tokens=count(text), cut_to_line=part.end_line)


def _first_lines(text: str, budget: int, count: Count, ends: Collection[int] = ()) -> str:
    """The first whole lines that fit `budget` tokens; "" if the first line does not fit.

    `ends`: numbers of lines that end a statement, counted from 1 in `text`; if there are any, a text that does not fit
    whole is cut after one of them.
    """
    kept: list[str] = []
    for line in text.split("\n"):
        budget -= count(line + "\n")
        if budget < 0:
            break
        kept.append(line)
    else:
        return text.rstrip()
    while ends and kept and len(kept) not in ends:
        kept.pop()
    return "\n".join(kept).rstrip()


def _fill(parts: Sequence[Part], remaining: _Budget, selection: Selection, reserved: int) -> list[Part]:
    """Add the parts that fit to `selection.kept`, in order, and return the parts that find no room.

    A repeated part, or one over its layer's budget, is added to `selection.dropped` instead. `reserved`: tokens that
    only MEMORY.md may take in the first pass; a second pass gives the rest of them to the other parts.
    """
    spent: dict[Layer, int] = {}
    included: list[Part] = list(selection.kept)
    waiting: Sequence[Part] = parts
    for kept_back in (reserved, 0):
        later: list[Part] = []
        for original in waiting:
            part = _without_pieces_of(original, included)
            if part is None:
                selection.dropped.append((original, REPEATED))
                continue
            if part is not original:
                part = replace(part, tokens=remaining.measure.count(part.content))
            cost = remaining.cost(part)
            free = remaining.left - (0 if part.layer is Layer.MEMORY else kept_back)
            layer_limit = remaining.measure.limits[part.layer].tokens
            if layer_limit and spent.get(part.layer, 0) + cost > layer_limit:
                selection.dropped.append((part, OVER_LAYER))
            elif cost > free:
                later.append(part)
            elif part.layer is not Layer.INCLUDED and _repeats_one_of(part, included):
                selection.dropped.append((part, REPEATED))
            else:
                remaining.take(part)
                spent[part.layer] = spent.get(part.layer, 0) + cost
                if part.layer is Layer.MEMORY:
                    kept_back = max(0, kept_back - cost)
                selection.kept.append(part)
                included.append(part)
        waiting = later
    return list(waiting)


def _without_pieces_of(part: Part, others: Iterable[Part]) -> Part | None:
    """The part without each statement whose first line is in another part of the same file and scope; None if no
    statement is left. A part that loses nothing, or that has no statements, is returned as it is. `tokens` is not
    counted again."""
    if not part.pieces:
        return part
    covered_lines: set[int] = set()
    for other in others:
        if part.path and part.path == other.path and part.scope == other.scope:
            covered_lines.update(_line_numbers(other))
    fresh = [piece for piece in part.pieces if piece.first not in covered_lines]
    if len(fresh) == len(part.pieces):
        return part
    if not fresh:
        return None
    return layers.with_pieces(part, fresh)


def _line_numbers(part: Part) -> Iterable[int]:
    """The line numbers of a part."""
    if not part.pieces:
        return range(part.start_line, part.end_line + 1)
    return (line for piece in part.pieces for line in range(piece.first, piece.last + 1))


def _repeats_one_of(part: Part, others: Iterable[Part]) -> bool:
    """Whether another part says all of this part's text, about the same topic or citing this part's lines. A part
    without statements is repeated too by a part with which it shares lines of a file."""
    for other in others:
        same_file = part.path and part.path == other.path and part.scope == other.scope
        overlap = part.start_line <= other.end_line and other.start_line <= part.end_line
        if same_file and overlap and not part.pieces:
            return True
        if adds_nothing(part.content, other.content) and (
            _cites(other, part) or _topic_terms(part) <= terms(other.text_with_trail)
        ):
            return True
    return False


def _cites(part: Part, source: Part) -> bool:
    """Whether a statement of a part cites lines of `source` in its metadata key `src`."""
    spans = (span for piece in part.pieces for span in cited_spans(piece.statement.meta))
    return any(span.overlaps(source.path, source.start_line, source.end_line) for span in spans)


def _topic_terms(part: Part) -> set[str]:
    """The terms of a part's trail, and of the topics before its statements; for a fact without the title of MEMORY.md
    and categories of facts."""
    steps: Iterable[str] = part.trail
    if layers.is_fact_file(part.path):
        steps = layers.topics(part)
    texts = [piece.own.text for piece in part.pieces] or [part.content]
    return {word for topic in (*steps, *map(leading_topic, texts)) for word in terms(topic)}
