"""Which parts of a context fit its budget, and how much of a layer goes in. Pure: parts in, parts out.

Pinned parts are cut at a line to a budget inside the total, recent turns to one beside it; both stay whatever else has
to go. Then the most relevant first, with a share kept for long-term memory; the summary of older turns takes what is
left. Of two parts that say the same the better one stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gitmem.context import layers
from gitmem.context.layer_limits import Count, Layer, Share
from gitmem.context.layers import Part
from gitmem.memory.similarity import repeats

RESERVED = 0.25  # of what pinned parts leave, kept for MEMORY.md: what a person reviewed, whatever a search finds
JOINED = 4  # tokens a part takes beside its text in a quotation that is open already
MOST = 1 << 20  # tokens: more than any model reads
OVER, OVER_LAYER, MANY, SAME = (
    "over the budget",
    "over its layer's budget",
    "over its layer's limit",
    "says what another part says",
)


@dataclass(slots=True)
class Fitted:
    """`kept` most relevant first, `dropped` with the reason, and what a person should know of the limits."""

    kept: list[Part] = field(default_factory=list)
    dropped: list[tuple[Part, str]] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)


def fit(
    parts: Sequence[Part], total: int, shares: Mapping[Layer, Share], count: Count, quotation: Callable[[Part], str]
) -> Fitted:
    """The parts that fit `total` tokens. `quotation` gives what stands around a part that is quoted alone."""
    done = Fitted()
    parts = _limited(parts, shares, done)
    done.kept += _pinned([part for part in parts if part.layer is Layer.PINNED], total, shares, count, quotation, done)
    remaining = _Budget(total, count, quotation)
    for part in done.kept:
        remaining.take(part)
    done.kept += [part for part in parts if part.layer is Layer.RECENT]
    # Scopes come broad to narrow: of two that say the same the narrower one is met first.
    others = [part for part in reversed(parts) if part.layer not in (Layer.PINNED, Layer.RECENT, Layer.SUMMARY)]
    others.sort(key=lambda part: (-part.relevance, part.path, part.start_line))
    waiting = _fill(others, remaining, shares, done, int(RESERVED * remaining.left))
    for part in waiting:
        done.dropped.append((part, OVER))
    for part in (part for part in parts if part.layer is Layer.SUMMARY):
        most = min(remaining.left - remaining.around(part), shares[Layer.SUMMARY].budget or remaining.left)
        text = _first_lines(part.content, most, count)
        if text:
            done.kept.append(replace(part, content=text))
        else:
            done.dropped.append((part, OVER))
        if len(text) < len(part.content):
            done.limits.append(f"summary: {'cut' if text else 'left out'}")
    over = sum(1 for _, why in done.dropped if why in (OVER, OVER_LAYER))
    if over:
        done.limits.append(f"budget of {total} tokens: {over} of {len(parts)} parts left out")
    order = {id(part): at for at, part in enumerate(done.kept)}
    done.kept.sort(key=lambda part: (part.layer is not Layer.INCLUDED, -part.relevance, order[id(part)]))
    return done


def least(fitted: Callable[[int], Fitted], above: int) -> int:
    """The smallest number of tokens above `above` that holds a part; 0 where the limits of layers let none in."""
    high = above
    while not fitted(high).kept:
        above, high = high, 2 * high
        if high > MOST:
            return 0
    while above + 1 < high:
        middle = (above + high) // 2
        above, high = (above, middle) if fitted(middle).kept else (middle, high)
    return high


class _Budget:
    """The tokens left of the total: a quotation is opened once for all parts of a file that are alike."""

    def __init__(self, total: int, count: Count, quotation: Callable[[Part], str]) -> None:
        self.left = total
        self.count, self.quotation = count, quotation
        self.open: set[tuple[str, ...]] = set()

    def around(self, part: Part) -> int:
        return JOINED if group(part) in self.open else self.count(self.quotation(part))

    def cost(self, part: Part) -> int:
        return part.tokens + self.around(part)

    def take(self, part: Part) -> None:
        self.left -= self.cost(part)
        self.open.add(group(part))


def group(part: Part) -> tuple[str, ...]:
    """Parts that stand in one quotation: of one file, layer, scope and trust; turns stand alone."""
    if part.layer is Layer.RECENT:
        return ("turn", str(id(part)))
    return (part.scope, part.layer, part.path, part.trust)


def _limited(parts: Sequence[Part], shares: Mapping[Layer, Share], done: Fitted) -> list[Part]:
    """The most relevant parts of each layer, as many as its limit says."""
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


def _pinned(
    parts: Sequence[Part], total: int, shares: Mapping[Layer, Share], count: Count,
    quotation: Callable[[Part], str], done: Fitted,
) -> list[Part]:  # fmt: skip
    """Pinned parts within their budget, in the order given: facts are served first, files cut at a line."""
    budget = min(shares[Layer.PINNED].budget or total, total)
    remaining = _Budget(budget, count, quotation)
    chosen: dict[int, Part] = {}
    short = []
    for part in sorted(parts, key=lambda part: part.path not in layers.MEMORY):
        if remaining.cost(part) > remaining.left:
            text = _first_lines(part.content, remaining.left - remaining.around(part), count)
            if not text:
                short.append(f"{part.label} left out")
                done.dropped.append((part, "over the pinned budget"))
                continue
            last = part.start_line + text.count("\n")
            short.append(f"{part.label} cut after line {last}")
            chosen[id(part)] = cut = replace(part, content=text, end_line=last, tokens=count(text))
        else:
            chosen[id(part)] = cut = part
        remaining.take(cut)
    if short:
        more = f" and {len(short) - 3} more" if len(short) > 3 else ""
        done.limits.append(f"pinned: {', '.join(short[:3])}{more}; {max(0, budget)} tokens are too few")
    return [chosen[id(part)] for part in parts if id(part) in chosen]


def _first_lines(text: str, budget: int, count: Count) -> str:
    """As many whole lines from the top as fit, "" when not even the first does."""
    kept: list[str] = []
    for line in text.split("\n"):
        budget -= count(line + "\n")
        if budget < 0:
            break
        kept.append(line)
    return "\n".join(kept).rstrip()


def _fill(
    parts: Sequence[Part], remaining: _Budget, shares: Mapping[Layer, Share], done: Fitted, reserved: int
) -> list[Part]:
    """Take what fits, the most relevant first; the parts that do not. `reserved` is kept for MEMORY.md at first."""
    spent: dict[Layer, int] = {}
    included: list[Part] = list(done.kept)
    waiting: Sequence[Part] = parts
    for kept_back in (reserved, 0):
        later: list[Part] = []
        for part in waiting:
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
                kept_back = max(0, kept_back - cost) if part.layer is Layer.MEMORY else kept_back
                done.kept.append(part)
                included.append(part)
        waiting = later
    return list(waiting)


def _repeats_one_of(part: Part, others: Iterable[Part]) -> bool:
    """Whether one of the others has the same lines, or says all that this part says."""
    for other in others:
        same_file = part.path and part.path == other.path and part.scope == other.scope
        if same_file and part.start_line <= other.end_line and other.start_line <= part.end_line:
            return True
        if repeats(part.content, other.content):
            return True
    return False
