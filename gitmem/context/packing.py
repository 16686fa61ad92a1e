"""Selects the parts of a context that fit its budget of tokens. Pure.

Pinned parts come first and may take the whole budget: a pinned fact goes in whole or not at all; an instruction file
may be cut after a statement. Recent turns do not count against the budget. Then comes a MEMORY.md that goes in whole,
then the other parts by relevance, with a share reserved for long-term memory. The summary of older turns takes what is
left. Of two parts that say the same the better one is kept. Parts without room are in `dropped` and counted in
`limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gitmem.context import layers
from gitmem.context.layer_limits import Count, Layer, Share
from gitmem.context.layers import Part
from gitmem.context.pieces import Line
from gitmem.memory.fact import parse_span
from gitmem.memory.similarity import repeats, terms
from gitmem.messages import Message, joined

MEMORY_SHARE = 0.25  # of what pinned parts leave, reserved for MEMORY.md
WHOLE_MEMORY_SHARE = 0.5  # of what pinned and included parts leave, up to which a MEMORY.md goes in whole
FILES_SHARE = 0.25  # of what pinned parts may take, reserved for instruction files
JOINED_TOKENS = 4  # tokens of a part beside its text in a quotation that is open already
MAX_NAMED = 3  # pinned parts without room that a message names
MAX_BUDGET_TOKENS = 1 << 20  # more than any model reads
OVER, OVER_LAYER, OVER_PINNED, OVER_CHARACTERS, MANY, SAME = (
    "over the budget",
    "over its layer's budget",
    "over the pinned budget",
    "over the hard limit",
    "over its layer's limit",
    "says what another part says",
)
NO_ROOM = frozenset((OVER, OVER_LAYER, OVER_PINNED, OVER_CHARACTERS, MANY))  # reasons that tell of a limit


@dataclass(slots=True)
class Fitted:
    """`kept`: the parts that fit, most relevant first. `dropped`: (part, reason) of the others. `limits`: messages for
    a person. `pinned`: the number of pinned facts offered."""

    kept: list[Part] = field(default_factory=list)
    dropped: list[tuple[Part, str]] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    pinned: int = 0


def fit(
    parts: Sequence[Part], total: int, shares: Mapping[Layer, Share], count: Count, quotation: Callable[[Part], str],
    whole: frozenset[str] = frozenset(), characters: int = 0,
) -> Fitted:  # fmt: skip
    """The parts that fit `total` tokens.

    `quotation`: returns the text around a part that is quoted alone. `whole`: names of scopes whose MEMORY.md goes in
    whole. `characters`: the hard limit, if it is the reason for `total`; else 0.
    """
    done = Fitted(pinned=sum(1 for part in parts if is_pinned_fact(part)))
    offered = len(parts)
    parts = _limited(parts, shares, done)
    pinned = [part for part in parts if part.layer is Layer.PINNED]
    done.kept += _pinned(pinned, total, shares, count, quotation, done, characters)
    remaining = _Budget(total, count, quotation)
    for part in done.kept:
        remaining.take(part)
    done.kept += [part for part in parts if part.layer is Layer.RECENT]
    # Scopes come broad to narrow; reversed, of two parts that say the same the narrower scope's comes first.
    others = [part for part in reversed(parts) if part.layer not in (Layer.PINNED, Layer.RECENT, Layer.SUMMARY)]
    first = [part for part in others if part.layer is Layer.MEMORY and part.scope in whole]
    ahead = set(map(id, first))
    others.sort(key=lambda part: (id(part) not in ahead, -part.relevance, part.path, part.start_line))
    reserved = max(int(MEMORY_SHARE * remaining.left), cost_of(first, count, quotation))
    waiting = _fill(others, remaining, shares, done, reserved)
    if characters:
        why = OVER_CHARACTERS
    else:
        why = OVER
    done.dropped += [(part, why) for part in waiting]
    for part in (part for part in parts if part.layer is Layer.SUMMARY):
        most = min(remaining.left - remaining.around(part), shares[Layer.SUMMARY].budget or remaining.left)
        text = _first_lines(part.content, most, count)
        if text:
            done.kept.append(replace(part, content=text))
        else:
            done.dropped.append((part, why))
        if len(text) < len(part.content):
            done.limits.append("summary: cut" if text else "summary: left out")
    over = sum(1 for _, why in done.dropped if why in NO_ROOM)
    if over:
        if characters:
            words = Message("limit of {} characters: {} of {} parts left out", characters, over, offered)
        else:
            words = Message("budget of {} tokens: {} of {} parts left out", total, over, offered)
        done.limits.append(words)
    order = {id(part): at for at, part in enumerate(done.kept)}
    done.kept.sort(key=lambda part: (part.layer is not Layer.INCLUDED, -part.relevance, order[id(part)]))
    return done


def cost_of(parts: Iterable[Part], count: Count, quotation: Callable[[Part], str]) -> int:
    """The tokens of parts together, with the quotations around them."""
    budget = _Budget(0, count, quotation)
    for part in parts:
        budget.take(part)
    return -budget.left


def whole_memories(
    parts: Sequence[Part], memory: Sequence[Part], total: int, shares: Mapping[Layer, Share], count: Count,
    quotation: Callable[[Part], str],
) -> frozenset[str]:  # fmt: skip
    """The names of the scopes whose MEMORY.md goes in whole beside `parts`; the narrowest scope is tried first.

    `memory`: the parts of all MEMORY.md files. One goes in whole if it fits the limits of its layer, and fits either
    what the other parts leave or WHOLE_MEMORY_SHARE of what pinned and included parts leave.
    """
    share = shares[Layer.MEMORY]
    rest = [part for part in parts if part.layer is not Layer.MEMORY]
    must = fit([part for part in rest if part.layer in (Layer.PINNED, Layer.INCLUDED)], total, shares, count, quotation)
    left = total - cost_of((part for part in must.kept), count, quotation)
    others = [part for part in rest if part.layer not in (Layer.PINNED, Layer.INCLUDED, Layer.RECENT, Layer.SUMMARY)]
    room = max(int(WHOLE_MEMORY_SHARE * left), left - cost_of(others, count, quotation))
    room = min(room, share.budget or room)
    chosen: list[str] = []
    for scope in reversed(list(dict.fromkeys(part.scope for part in memory))):
        own = [part for part in memory if part.scope == scope]
        cost = cost_of(own, count, quotation)
        if cost <= room and not (share.limit and len(own) > share.limit):
            chosen.append(scope)
            room -= cost
    return frozenset(chosen)


def least(fitted: Callable[[int], Fitted], above: int) -> int:
    """The smallest number of tokens above `above` into which a part fits; 0 if the limits of the layers let none in."""
    high = above
    while not fitted(high).kept:
        above, high = high, 2 * high
        if high > MAX_BUDGET_TOKENS:
            return 0
    while above + 1 < high:
        middle = (above + high) // 2
        if fitted(middle).kept:
            high = middle
        else:
            above = middle
    return high


class _Budget:
    """The tokens left. Parts of one `group` share a quotation, and statements of a file share their headings, which
    therefore count once."""

    def __init__(self, total: int, count: Count, quotation: Callable[[Part], str]) -> None:
        self.left = total
        self.count, self.quotation = count, quotation
        self.open: set[tuple[str, ...]] = set()
        self.said: set[tuple[tuple[str, ...], Line]] = set()

    def around(self, part: Part) -> int:
        """The tokens that a part takes beside its text: a quotation, and headings that are not there yet."""
        key = group(part)
        above = dict.fromkeys(line for piece in part.pieces for line in piece.above if (key, line) not in self.said)
        if key in self.open:
            cost = JOINED_TOKENS
        else:
            cost = self.count(self.quotation(part))
        return cost + sum(self.count(line.lead + line.text) for line in above)

    def cost(self, part: Part) -> int:
        return part.tokens + self.around(part)

    def take(self, part: Part) -> None:
        self.left -= self.cost(part)
        key = group(part)
        self.open.add(key)
        self.said.update((key, line) for piece in part.pieces for line in (*piece.above, piece.own))


def group(part: Part) -> tuple[str, ...]:
    """The key of the quotation that a part stands in: its scope, layer, file and trust; each turn has its own."""
    if part.layer is Layer.RECENT:
        return ("turn", str(id(part)))
    return (part.scope, part.layer, part.path, part.trust)


def _limited(parts: Sequence[Part], shares: Mapping[Layer, Share], done: Fitted) -> list[Part]:
    """The most relevant parts of each layer, as many as its limit allows, in their order; others go to
    `done.dropped`."""
    ranked = sorted(range(len(parts)), key=lambda at: (-parts[at].relevance, at))
    counts: dict[Layer, int] = {}
    kept: set[int] = set()
    for at in ranked:
        layer = parts[at].layer
        counts[layer] = counts.get(layer, 0) + 1
        if not shares[layer].limit or counts[layer] <= shares[layer].limit:
            kept.add(at)
        else:
            done.dropped.append((parts[at], MANY))
    return [part for at, part in enumerate(parts) if at in kept]


def is_pinned_fact(part: Part) -> bool:
    """Whether a part is a pinned fact and no instruction file."""
    return part.layer is Layer.PINNED and bool(part.pieces or layers.is_fact_file(part.path))


def _pinned(
    parts: Sequence[Part], total: int, shares: Mapping[Layer, Share], count: Count,
    quotation: Callable[[Part], str], done: Fitted, characters: int,
) -> list[Part]:  # fmt: skip
    """The pinned parts that fit their budget, in the order given.

    Facts come first, but FILES_SHARE is reserved for instruction files. Small files go in whole; the others share what
    is left, each cut after a statement.
    """
    budget = max(0, min(shares[Layer.PINNED].budget or total, total))
    facts = [part for part in parts if is_pinned_fact(part)]
    files = [part for part in parts if not is_pinned_fact(part)]
    kept_back = min(int(FILES_SHARE * budget), cost_of(files, count, quotation))
    remaining = _Budget(budget - kept_back, count, quotation)
    chosen: dict[int, Part] = {}
    short: list[str] = []
    for part in facts:
        if remaining.cost(part) > remaining.left:
            short.append(Message("{} left out", part.label))
            done.dropped.append((part, OVER_PINNED))
        else:
            remaining.take(part)
            chosen[id(part)] = part
    remaining.left += kept_back
    for at, part in enumerate(sorted(files, key=remaining.cost)):
        room = remaining.left // (len(files) - at)
        cut: Part | None = part
        if remaining.cost(part) > room:
            cut = _beginning(part, room - remaining.around(part), count)
        if cut is None:
            short.append(Message("{} left out", part.label))
            done.dropped.append((part, OVER_PINNED))
            continue
        if cut is not part:
            short.append(Message("{} cut after line {}", part.label, cut.end_line))
        remaining.take(cut)
        chosen[id(part)] = cut
    if short:
        named: str = joined(", ", short[:MAX_NAMED])
        if len(short) > MAX_NAMED:
            named = Message("{} and {} more", named, len(short) - MAX_NAMED)
        if characters:
            done.limits.append(Message("pinned: {}; {} characters are too few", named, characters))
        else:
            done.limits.append(Message("pinned: {}; {} tokens are too few", named, budget))
    return [chosen[id(part)] for part in parts if id(part) in chosen]


def _beginning(part: Part, budget: int, count: Count) -> Part | None:
    """The first whole statements of an instruction file that fit `budget` tokens; None if its first one does not fit.

    `goes_on` of the result is the last line of the file.
    """
    text = _first_lines(part.content, budget, count, {last - part.start_line + 1 for last in part.ends})
    if not text:
        return None
    last = part.start_line + text.count("\n")
    return replace(part, content=text, end_line=last, tokens=count(text), goes_on=part.end_line)


def _first_lines(text: str, budget: int, count: Count, ends: Collection[int] = ()) -> str:
    """The first whole lines that fit `budget` tokens; "" if the first line does not fit.

    `ends`: numbers of lines that end a statement; the text ends with one of them, if there are any.
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


def _fill(
    parts: Sequence[Part], remaining: _Budget, shares: Mapping[Layer, Share], done: Fitted, reserved: int
) -> list[Part]:
    """Add the parts that fit to `done`, in order, and return those that do not.

    `reserved`: tokens kept for MEMORY.md; what it does not take is given to the other parts in a second pass.
    """
    spent: dict[Layer, int] = {}
    included: list[Part] = list(done.kept)
    waiting: Sequence[Part] = parts
    for kept_back in (reserved, 0):
        later: list[Part] = []
        for whole in waiting:
            part = _without_pieces_of(whole, included)
            if part is None:
                done.dropped.append((whole, SAME))
                continue
            if part is not whole:
                part = replace(part, tokens=remaining.count(part.content))
            cost = remaining.cost(part)
            free = remaining.left - (0 if part.layer is Layer.MEMORY else kept_back)
            most = shares[part.layer].budget
            if most and spent.get(part.layer, 0) + cost > most:
                done.dropped.append((part, OVER_LAYER))
            elif cost > free:
                later.append(part)
            elif part.layer is not Layer.INCLUDED and _repeats_one_of(part, included):
                done.dropped.append((part, SAME))
            else:
                remaining.take(part)
                spent[part.layer] = spent.get(part.layer, 0) + cost
                if part.layer is Layer.MEMORY:
                    kept_back = max(0, kept_back - cost)
                done.kept.append(part)
                included.append(part)
        waiting = later
    return list(waiting)


def _without_pieces_of(part: Part, others: Iterable[Part]) -> Part | None:
    """The part without statements that others contain; None if they contain all of them."""
    if not part.pieces:
        return part
    given = {
        line
        for other in others
        if part.path and part.path == other.path and part.scope == other.scope
        for line in _lines(other)
    }
    fresh = [piece for piece in part.pieces if piece.first not in given]
    if len(fresh) == len(part.pieces):
        return part
    if not fresh:
        return None
    return layers.of(part, fresh)


def _lines(part: Part) -> Iterable[int]:
    """The line numbers of a part."""
    if not part.pieces:
        return range(part.start_line, part.end_line + 1)
    return (line for piece in part.pieces for line in range(piece.first, piece.last + 1))


def _repeats_one_of(part: Part, others: Iterable[Part]) -> bool:
    """Whether one of the others has lines of this part, or says all that it says about the same thing."""
    for other in others:
        same_file = part.path and part.path == other.path and part.scope == other.scope
        overlap = part.start_line <= other.end_line and other.start_line <= part.end_line
        if same_file and overlap and not part.pieces:
            return True
        if repeats(part.content, other.content) and (_cites(other, part) or _topic(part) <= terms(other.said)):
            return True
    return False


def _cites(part: Part, source: Part) -> bool:
    """Whether a part is a fact that cites lines of `source`."""
    spans = (parse_span(value) for piece in part.pieces for key, value in piece.statement.meta if key == "src")
    return any(
        span is not None and span.path == source.path and span.start_line <= source.end_line
        and source.start_line <= span.end_line
        for span in spans
    )  # fmt: skip


def _topic(part: Part) -> set[str]:
    """The words of a part's trail, without the title of MEMORY.md and categories of facts."""
    if layers.is_fact_file(part.path):
        return {word for topic in layers.topics(part) for word in terms(topic)}
    return {word for topic in part.trail for word in terms(topic)}
