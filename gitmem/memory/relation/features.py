"""Compute the features of two statements: numbers for what they share and in what they differ. Pure.

Features count the tokens that both texts share and those that only one has, by kind (names, numbers, identifiers,
words) and by place (subject, property, value). Others stand for cue words: something changed, ended, stayed, is only
planned, or comes from two sources at one time. A feature is a name and a number; a missing one is 0.
`tools/train.py relation` learns the weight of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.memory.relation.alignment import (
    VALUES,
    Alignment,
    classes_of,
    names_kin,
    near_places,
    value_type,
    wide_contrasts,
)
from gitmem.memory.relation.reading import CUE_NAMES, LANGUAGES, Reading
from gitmem.memory.relation.tokens import ARROW, DATE, ID, NAME, NUMBER, TIME, WORD, Token
from gitmem.memory.relation.tools import CLASSES

_KINDS = ("id", "ordinal", "number", "date", "time", "name", "word")
_IDENTITY = ("id", "ordinal", "name")
_WEIGHED_CUES = (
    "change", "ends", "settled", "kept", "at_once", "except", "also", "negation", "source", "reason",
)  # fmt: skip
_CUE_PAIRS = (
    ("change", "ends"), ("change", "reason"), ("source", "at_once"), ("change", "kept"), ("ends", "negation"),
    ("change", "except"),
)  # fmt: skip
_FROM_TO = {
    "en": lazy(r"\bfrom\b.+\bto\b|->|→|⇒"),
    "ko": lazy(r"에서.+로|->|→|⇒"),
    "ja": lazy("から.+[へに]|->|→|⇒"),
    "zh": lazy("从.+[到改调至]|由.+[改变调]|->|→|⇒"),
}
_INSTEAD = {  # words beside an old value: before it, or after it in Korean and Japanese
    "en": lazy(
        r"\b(?:instead of|rather than|no longer|not .+ but|in place of|was|were|used to|replac(?:es?|ing)|away from"
        r"|out of|formerly|previously|old|left|than)\b"
    ),
    "ko": lazy("대신|말고|아니라|아닌|떠나|그만두|이던|였던|마치고"),
    "ja": lazy("をやめ|ではなく|代わり|に代え"),
    "zh": lazy("从前|不再|取代|代替|而不是|改掉|离职|撤"),
}
# What stands between an owner and what is owned: the team's port, 팀의 포트.
_OWNER = lazy(r"['’]s|의(?= )|の|的")
_EQUALS = (":", "：", "=")
_VALUE_BEFORE_INSTEAD = frozenset(("ko", "ja"))  # languages in which the value stands before the words of `_INSTEAD`
MAX_CHARS_TO_VALUE = 10  # between such a word and the value
_FROM_OLD_TO_NEW = {  # patterns right before and right after the old value, which the new value follows
    "en": (lazy(r"\b(?:from|out of)\s+(?:the\s+)?$", re.I), lazy(r"\s+to\s", re.I)),
    "ko": (lazy(""), lazy(r"에서\s+\S+로\s")),
    "ja": (lazy(""), lazy(r"から\s?[^\s、。]+?[へに]")),
    "zh": (lazy("[从由從]\\s?$"), lazy(r"\s?(?:改|换|換|切换|迁移|迁|转|轉|变|變)?(?:到|为|為|成|用)")),
}
MAX_SLOT_TOKENS = 3  # tokens of the only run in which two texts differ, for it to be one value of one property


class Features(dict[str, float]):
    """Feature name -> number."""

    def put(self, name: str, value: float = 1.0) -> None:
        """Add `value` to the feature `name`; True counts 1. A value of 0 adds no feature."""
        if value:
            self[name] = self.get(name, 0.0) + value


def features_of(pair: Alignment) -> Features:
    """The features of two aligned statements."""
    features = Features()
    degrees_old = {i: degree for i, _, degree in pair.pairs}
    degrees_new = {j: degree for _, j, degree in pair.pairs}
    shared_old = [
        max(degrees_old.get(i, 0.0), 0.8 * pair.partial_old.get(i, 0.0)) for i in range(len(pair.old.content))
    ]
    shared_new = [
        max(degrees_new.get(j, 0.0), 0.8 * pair.partial_new.get(j, 0.0)) for j in range(len(pair.new.content))
    ]
    _add_amounts(features, pair, shared_old, shared_new)
    _add_places(features, pair, shared_old, shared_new)
    for side, reading, shared in (("old", pair.old, shared_old), ("new", pair.new, shared_new)):
        _add_halves(features, side, reading, shared)
        _add_single(features, side, reading, shared)
    _add_kinds(features, pair)
    _add_near(features, pair)
    _add_units(features, pair)
    _add_contrasts(features, pair)
    _add_subject_modifiers(features, pair)
    _add_swaps(features, pair)
    _add_cues(features, pair)
    _add_explicit(features, pair)
    _add_values(features, pair)
    _add_tools(features, pair)
    return features


def _mean(numbers: list[float]) -> float:
    """The mean; 0.0 for no numbers."""
    return sum(numbers) / len(numbers) if numbers else 0.0


def _add_amounts(features: Features, pair: Alignment, shared_old: list[float], shared_new: list[float]) -> None:
    """Add features for the share of each text that the other has. `shared_*`: the shared part of each token, 0 to 1."""
    old, new = _mean(shared_old), _mean(shared_new)
    for name, value in (
        ("cover_old", old), ("cover_new", new), ("cover_min", min(old, new)), ("cover_old2", old * old),
        ("cover_new2", new * new), ("cover_both", old * new), ("all_old", old > 0.95), ("all_new", new > 0.95),
        ("none", old < 0.1), ("short_new", len(shared_new) <= 3), ("long_new", len(shared_new) >= 9),
        ("length", min(2.0, len(shared_new) / len(shared_old)) if shared_old else 1.0),
        ("left_old", min(6, len(pair.left_old)) / 6), ("left_new", min(10, len(pair.left_new)) / 10),
    ):  # fmt: skip
        features.put(name, value)
    if len(pair.left_old) <= 2:
        features.put(f"left_old={len(pair.left_old)}")
    if len(pair.left_new) <= 2:
        features.put(f"left_new={len(pair.left_new)}")


def _add_places(features: Features, pair: Alignment, shared_old: list[float], shared_new: list[float]) -> None:
    """Add features for the first and the last tokens of the texts: how far they are shared."""
    if shared_old:
        features.put("first_old", shared_old[0])
        features.put("second_old", shared_old[min(1, len(shared_old) - 1)])
        features.put("last_old", shared_old[-1])
    if shared_new:
        features.put("first_new", shared_new[0])
        features.put("last_new", shared_new[-1])
    first = next(((j, degree) for i, j, degree in pair.pairs if i == 0), None)
    if first is not None:
        if first[0] == 0:
            features.put("same_head", first[1])
        features.put("head_moved", first[0] > 1)


def _add_halves(features: Features, side: str, reading: Reading, shared: list[float]) -> None:
    """Add features for the shared parts of subject and value, if a mark or a verb separates them in the text. `side`:
    "old" or "new". `shared`: the shared part of each token, 0 to 1."""
    if reading.split < 0:
        features.put(f"no_split_{side}")
        return
    subject = [share for share, token in zip(shared, reading.content, strict=True) if token.start < reading.split]
    value = [share for share, token in zip(shared, reading.content, strict=True) if token.start >= reading.split]
    for name, part in (("subject", subject), ("value", value)):
        if part:
            features.put(f"{name}_{side}", _mean(part))
            features.put(f"{name}_all_{side}", min(part) >= 0.7)
            features.put(f"{name}_none_{side}", max(part) < 0.3)
    if subject and value:
        features.put(f"subject_not_value_{side}", min(subject) >= 0.7 and _mean(value) < 0.5)
        features.put(f"value_not_subject_{side}", _mean(subject) < 0.6 and min(value) >= 0.7)


def _add_single(features: Features, side: str, reading: Reading, shared: list[float]) -> None:
    """Add features for nouns of properties that have one value at a time ("port", "owner"). `side`, `shared`: as in
    `_add_halves`."""
    single = LANGUAGES[reading.language].SINGLE
    pairs = list(zip(shared, reading.content, strict=True))
    shares = [share for share, token in pairs if token.norm in single or token.stem in single]
    if not shares and reading.language != "en":
        long = [word for word in single if len(word) > 1]
        shares = [share for share, token in pairs if len(token.stem) >= 2 and any(word in token.stem for word in long)]
    if shares:
        features.put(f"single_{side}")
        features.put(f"single_shared_{side}", max(shares) >= 0.7)
        features.put(f"single_left_{side}", min(shares) < 0.3)


def _add_kinds(features: Features, pair: Alignment) -> None:
    """Add features for each kind of token: how many are shared, and how many only one text has."""
    shared = [value_type(pair.old.content[i]).split(" ")[0] for i, _, degree in pair.pairs if degree >= 0.6]
    left_old = [value_type(pair.old.content[i]).split(" ")[0] for i in pair.left_old]
    left_new = [value_type(pair.new.content[j]).split(" ")[0] for j in pair.left_new]
    for kind in _KINDS:
        common, old, new = shared.count(kind), left_old.count(kind), left_new.count(kind)
        for name, value in (
            ("shared", min(3, common) / 3), ("shared1", common > 0), ("old", min(3, old) / 3), ("new", min(3, new) / 3),
            ("both", old > 0 and new > 0), ("both_none_shared", old > 0 and new > 0 and not common),
            ("only_old", old > 0 and not new), ("only_new", new > 0 and not old),
            ("all_shared", common > 0 and not old and not new), ("shared_old_all", common > 0 and not old),
        ):  # fmt: skip
            features.put(f"{kind}:{name}", value)
    identity = sum(shared.count(kind) for kind in _IDENTITY)
    lost = sum(left_old.count(kind) for kind in _IDENTITY)
    gained = sum(left_new.count(kind) for kind in _IDENTITY)
    features.put("identity_shared", identity > 0)
    features.put("identity_differs", lost > 0 and gained > 0)
    features.put("identity_same", identity > 0 and lost == 0)
    features.put("identity_lost", lost > 0 and gained == 0)


def _left_tokens(side: Reading, places: Iterable[int]) -> list[Token]:
    """The tokens of one text at `places`, those that have no equal in the other text."""
    return [side.content[place] for place in places]


def _wide_words(tokens: Iterable[Token]) -> list[str]:
    """The stems of words in Hangul, Kana, Han and other scripts than ASCII."""
    words = [token.stem or token.norm for token in tokens if token.kind == WORD]
    return [word for word in words if not word.isascii()]


def _add_near(features: Features, pair: Alignment) -> None:
    """Add features for similar words that name different things: one letter differs, or two compounds have the same
    noun (정문, 후문)."""
    olds = [token for token in _left_tokens(pair.old, pair.left_old) if token.kind not in (DATE, TIME)]
    news = [token for token in _left_tokens(pair.new, pair.left_new) if token.kind not in (DATE, TIME)]
    near_words = near_numbers = 0
    for i, _ in near_places([token.stem or token.norm for token in olds], [token.stem or token.norm for token in news]):
        word = olds[i].stem or olds[i].norm
        near_numbers += olds[i].kind == NUMBER
        near_words += olds[i].kind != NUMBER and not (olds[i].kind == WORD and word.isascii() and len(word) < 4)
    wide_olds, wide_news = _wide_words(olds), _wide_words(news)
    siblings = any(
        len(old) > 1 < len(new) and max(len(old), len(new)) <= 6 and old[-1] == new[-1] and old[0] != new[0]
        for old in wide_olds
        for new in wide_news
    )
    features.put("sibling", siblings)
    features.put("near", near_words > 0)
    features.put("near2", near_words > 1)
    features.put("near_number", near_numbers > 0)


def _add_units(features: Features, pair: Alignment) -> None:
    """Add features for the types of the values that differ: the same type, another, or a value in one text only."""
    old_types = {value_type(token) for token in _left_tokens(pair.old, pair.left_old) if token.kind in VALUES}
    new_types = {value_type(token) for token in _left_tokens(pair.new, pair.left_new) if token.kind in VALUES}
    shared_types = old_types & new_types
    features.put("value_same_unit", bool(shared_types))
    features.put("value_one_unit", len(shared_types) == len(old_types) == len(new_types) == 1)
    features.put("value_many_units", len(shared_types) >= 2)
    features.put("value_other_unit", bool(old_types) and bool(new_types) and not shared_types)
    features.put("no_values_left", not old_types and not new_types)
    features.put("new_value_only", not old_types and bool(new_types))
    features.put("old_value_only", bool(old_types) and not new_types)


def _add_contrasts(features: Features, pair: Alignment) -> None:
    """Add features for two members of one contrast class (staging and production), one in each text."""
    contrasts = head_contrasts = 0
    for i in pair.left_old:
        for number, word in classes_of(pair.old.content[i]):
            for j in pair.left_new:
                if any(new_number == number and other != word for new_number, other in classes_of(pair.new.content[j])):
                    contrasts += 1
                    head_contrasts += i <= 1 and j <= 1
    if pair.old.language != "en":
        contrasts += wide_contrasts(pair.old.text, pair.new.text)
    features.put("contrast", contrasts > 0)
    features.put("contrast_head", head_contrasts > 0)
    features.put("contrast_tail", contrasts > 0 and not head_contrasts)
    kin_old = any(map(names_kin, pair.old.content))
    kin_new = any(names_kin(pair.new.content[j]) for j in pair.left_new)
    features.put("kin_new", kin_new and not kin_old)
    features.put("kin_old", kin_old)


def _add_subject_modifiers(features: Features, pair: Alignment) -> None:
    """Add features for words of the later text alone, right before or inside a shared name ("mare's foal", "upload
    API")."""
    new = pair.new.content
    owners = [match.end() for match in _OWNER.finditer(pair.new.text)]
    shared = {j for _, j, degree in pair.pairs if degree >= 0.9}
    features.put("owned_new", any(new[j].start in (end, end + 1) for end in owners for j in pair.left_new))
    features.put("inside_name", any(j + 1 in shared and j - 1 in shared for j in pair.left_new))
    features.put("before_head", 0 in pair.left_new and 1 in shared)
    head = next((j for i, j, degree in pair.pairs if i == 0 and degree >= 0.9), 0)
    features.put("before_head_kept", 0 in pair.left_new and head == 1)
    if 0 < head <= 3 and all(j in pair.left_new and _is_bare(pair.new, j) for j in range(head)):
        features.put("bare_before_head")


def _is_bare(reading: Reading, index: int) -> bool:
    """Whether the token at position `index` is a word without ending or particle right before the next one; in English
    only near the start of the text."""
    token, following = reading.content[index], reading.content[index + 1]
    plain = token.kind in (WORD, NAME) and token.text.lower() == token.norm
    return plain and following.start - token.end <= 1 and (reading.language != "en" or token.start < 12)


def _chain(pair: Alignment) -> tuple[list[tuple[int, int]], bool]:
    """((position in the earlier text, position in the later one) of shared tokens that have the same order in both
    texts, whether other shared tokens were left out)."""
    anchors = sorted((i, j) for i, j, degree in pair.pairs if degree >= 0.6)
    kept: list[tuple[int, int]] = []
    for i, j in anchors:
        if not kept or j > kept[-1][1]:
            kept.append((i, j))
    return kept, len(kept) < len(anchors)


class _Swap(NamedTuple):
    """Two runs of tokens that stand between the same neighbours, one in each text. `place`: "head" if they begin the
    texts, "tail" if the earlier one ends its text, else "mid"."""

    old: tuple[Token, ...]
    new: tuple[Token, ...]
    place: str

    @property
    def kind(self) -> str:
        """The first kind, in alphabetical order, of a token that both runs have; "mixed" if they share no kind."""
        shared_types = {value_type(token) for token in self.old} & {value_type(token) for token in self.new}
        return min((kind.split(" ")[0] for kind in shared_types), default="mixed")

    @property
    def is_single(self) -> bool:
        """Whether each run has one token."""
        return len(self.old) == len(self.new) == 1


def _add_swaps(features: Features, pair: Alignment) -> None:
    """Add features for swaps: runs of tokens between the same neighbours, one in each text."""
    old, new = pair.old.content, pair.new.content
    anchors, crossed = _chain(pair)
    features.put("crossed", crossed)
    swaps: list[_Swap] = []
    inserted = deleted = 0
    for (i0, j0), (i1, j1) in pairwise([(-1, -1), *anchors, (len(old), len(new))]):
        old_run, new_run = old[i0 + 1 : i1], new[j0 + 1 : j1]
        if old_run and new_run:
            place = "mid"
            if i0 < 0:
                place = "head"
            elif i1 >= len(old):
                place = "tail"
            swaps.append(_Swap(old_run, new_run, place))
        inserted += bool(new_run and not old_run)
        deleted += bool(old_run and not new_run)
    for name, value in (
        ("swaps", min(3, len(swaps)) / 3), ("swaps=0", not swaps), ("swaps=1", len(swaps) == 1),
        ("swaps>1", len(swaps) > 1), ("inserted", min(3, inserted) / 3), ("deleted", min(3, deleted) / 3),
        ("only_inserted", bool(inserted) and not swaps and not deleted),
        ("only_deleted", bool(deleted) and not swaps and not inserted),
        ("identical", not swaps and not inserted and not deleted), ("frame", len(anchors) / max(1, len(old))),
    ):  # fmt: skip
        features.put(name, value)
    is_only_difference = len(swaps) == 1 and not inserted and not deleted
    if is_only_difference:
        _add_slot(features, pair, swaps[0])
    for swap in swaps:
        _add_swap(features, swap)
        if pair.old.split >= 0:
            features.put("swap_subject" if swap.old[0].start < pair.old.split else "swap_value")
    if is_only_difference and swaps[0].is_single:
        features.put(f"one_swap:{swaps[0].place}:{swaps[0].kind}")
        features.put("one_swap")
    if len(swaps) >= 2:
        features.put("head_and_tail_swap", swaps[0].place == "head" and anchors[-1][0] < len(old) - 1)
        features.put("head_swap_more", swaps[0].place == "head")
        features.put("small_swaps", all(len(swap.old) <= 2 and len(swap.new) <= 2 for swap in swaps))


def _add_swap(features: Features, swap: _Swap) -> None:
    """Add features for one swap: its place and its kind."""
    features.put(f"swap:{swap.place}:{swap.kind}")
    if swap.is_single:
        features.put(f"swap1:{swap.place}:{swap.kind}")
        features.put(f"swap1:{swap.place}")
    if swap.place == "head" and swap.kind in ("date", "id", "ordinal", "name", "number", "time"):
        features.put("head_identity_swap")


def _add_slot(features: Features, pair: Alignment, swap: _Swap) -> None:
    """Add features for two texts that differ in one swap only: its kind, its place, and the shared cue."""
    if max(len(swap.old), len(swap.new)) > MAX_SLOT_TOKENS:
        return
    kind = _slot_kind(swap)
    place = "none"
    if pair.old.split >= 0 <= pair.new.split:
        in_values = (swap.old[0].start >= pair.old.split, swap.new[0].start >= pair.new.split)
        place = {(True, True): "value", (False, False): "subject"}.get(in_values, "mixed")
    shared_cues = pair.old.cues & pair.new.cues
    cue = next((cue for cue in ("fact", "many", "event", "uses") if cue in shared_cues), "plain")
    features.put("slot")
    features.put(f"slot:{place}")
    features.put(f"slot:{kind}")
    features.put(f"slot:{cue}")
    features.put(f"slot:{place}:{kind}")
    features.put(f"slot:{place}:{cue}")
    features.put(f"slot:{kind}:{cue}")
    features.put("slot:value:name:said", place == "value" and kind in ("name", "tool") and cue in ("fact", "uses"))
    features.put("slot:whole", pair.new.content[-1] is swap.new[-1] and pair.old.content[-1] is swap.old[-1])


def _slot_kind(swap: _Swap) -> str:
    """The kind of a run that differs: `tool` for two tools of one class, `designated` for a numbered thing, `name`,
    `value` for two values of one type, `word`, or `mixed`."""
    old_tools, new_tools = ({CLASSES.get(token.stem) for token in run} - {None} for run in (swap.old, swap.new))
    if not old_tools.isdisjoint(new_tools):
        return "tool"
    kinds = {token.kind if not token.designated else "designated" for token in (*swap.old, *swap.new)}
    if "designated" in kinds:
        return "designated"
    if kinds <= {NAME, ID}:
        return "name"
    if {value_type(token) for token in swap.old} == {value_type(token) for token in swap.new} and kinds <= {*VALUES}:
        return "value"
    if kinds == {WORD}:
        return "word"
    return "mixed"


def _add_tools(features: Features, pair: Alignment) -> None:
    """Add features for two tools of one class, one in each text, and for the shared part of the rest."""
    new_classes = [(j, CLASSES.get(pair.new.content[j].stem)) for j in pair.left_new]
    news = [(j, tool_class) for j, tool_class in new_classes if tool_class is not None]
    if not news:
        return
    olds = ((i, CLASSES.get(pair.old.content[i].stem)) for i in pair.left_old)
    tool_pair = next(((i, j) for i, old_class in olds for j, tool_class in news if old_class == tool_class), None)
    if tool_pair is None:
        return
    i, j = tool_pair
    old_others, new_others = len(pair.old.content) - 1, len(pair.new.content) - 1
    left_old = sum(1 - pair.partial_old.get(index, 0.0) for index in pair.left_old if index != i)
    left_new = sum(1 - pair.partial_new.get(index, 0.0) for index in pair.left_new if index != j)
    rest_share = min(1 - left_old / max(1, old_others), 1 - left_new / max(1, new_others))
    features.put("tools")
    features.put("tools*rest", rest_share)
    features.put("tools*rest2", rest_share * rest_share)
    features.put("tools:all", old_others > 0 and left_old < 0.5 and left_new < 0.5)
    features.put("tools:change", "change" in pair.new.cues)


def _add_cues(features: Features, pair: Alignment) -> None:
    """Add features for the cue words of either text or both: of change, of an end, of a source."""
    old, new = pair.old.cues, pair.new.cues
    for cue in CUE_NAMES:
        if cue in new:
            features.put(f"cue_both:{cue}" if cue in old else f"cue:{cue}")
        elif cue in old:
            features.put(f"cue_old:{cue}")
    left_old = {pair.old.content[i].kind for i in pair.left_old}
    left_new = {pair.new.content[j].kind for j in pair.left_new}
    shared = sum(degree for _, _, degree in pair.pairs) / max(1, len(pair.old.content))
    new_only = new - old
    for cue in _WEIGHED_CUES:
        if cue in new_only:
            features.put(f"cue*cover:{cue}", shared)
            features.put(f"cue*identity:{cue}", bool(left_old & {ID, NAME}) and bool(left_new & {ID, NAME}))
            features.put(f"cue*value:{cue}", bool(left_new & {*VALUES}))
            features.put(f"cue*novalue:{cue}", not left_new & {*VALUES, NAME})
    for cue, other_cue in _CUE_PAIRS:
        features.put(f"cues:{cue}+{other_cue}", cue in new_only and other_cue in new_only)
    features.put("no_cue", not new_only & {"change", "ends", "settled", "kept", "at_once", "except"})
    flip = ("negation" in old) != ("negation" in new)
    features.put("negation_flip", flip)
    features.put("negation_flip*cover", shared * flip)
    features.put(f"lang:{pair.new.language}")
    features.put("cross_language", pair.old.language != pair.new.language)


def _add_explicit(features: Features, pair: Alignment) -> None:
    """Add features for a later text that names an old value ("10 -> 12", "instead of MySQL"), by whether the earlier
    text has that value."""
    old, new = pair.old, pair.new
    shared_tokens = [
        new.content[j]
        for i, j, degree in pair.pairs
        if degree >= 0.7 and (old.content[i].kind in VALUES or i >= len(old.content) - 2)
    ]
    arrow = next((token for token in new.tokens if token.kind == ARROW), None)
    if arrow is not None and not any(token.kind == ARROW for token in old.tokens):
        features.put("arrow")
        follows_old = any(0 <= arrow.start - token.end <= 4 for token in shared_tokens)
        differs = any(old.content[i].kind in (ID, NAME) or i == 0 for i in pair.left_old)
        features.put("arrow_from_old" if follows_old else "arrow_not_from_old")
        features.put("arrow_from_old_subject_same", follows_old and not differs)
        features.put("arrow_subject_differs", differs)
    lower = new.text.lower()
    if from_to := _FROM_TO[new.language].search(lower):
        features.put("from_to")
        reach = 0 if new.language == "en" else 12  # "45초에서 30초로": the old value stands before the word
        is_inside = any(from_to.start() - reach <= token.start < from_to.end() + 12 for token in shared_tokens)
        features.put("from_old" if is_inside else "from_not_old")
    if instead := _INSTEAD[new.language].search(lower):
        features.put("instead")
        start, end = instead.span()
        is_beside = any(abs(token.start - end) <= 14 or abs(token.end - start) <= 8 for token in shared_tokens)
        features.put("instead_of_old" if is_beside else "instead_not_of_old")


def stated_change(pair: Alignment) -> tuple[str, str] | None:
    """(the old name or value that the later text calls replaced, the one that follows it); None for other texts.

    Both must be in one language. The later text must have a word of change ("from Stripe to Adyen", "Stripe에서
    Adyen으로"), the earlier one the old value, and both one more token in common.
    """
    if "change" not in pair.new.cues or pair.old.language != pair.new.language or len(pair.pairs) < 2:
        return None
    before, after = _FROM_OLD_TO_NEW[pair.new.language]
    text, named = pair.new.text, (NAME, ID, NUMBER, DATE, TIME)
    for _, j, degree in pair.pairs:
        old = pair.new.content[j]
        if degree < 0.9 or old.kind not in named or j + 1 not in pair.left_new:
            continue
        new = pair.new.content[j + 1]
        if new.kind in named and before.search(text[: old.start]) and after.match(text, old.end):
            return old.text.strip(), new.text.strip()
    return None


def gives_replaced_value(pair: Alignment) -> bool:
    """Whether the later text has a value that the earlier one calls replaced ("Thursdays instead of Tuesdays",
    "화요일이 아니라 목요일"), and itself calls none replaced. The earlier text must also have a value that the later
    one lacks."""
    instead = _INSTEAD[pair.old.language].search(pair.old.text.lower())
    if instead is None or _INSTEAD[pair.new.language].search(pair.new.text.lower()):
        return False
    old = pair.old.content
    shared = [old[i] for i, _, degree in pair.pairs if degree >= 0.7 and old[i].kind in VALUES]
    if pair.old.language in _VALUE_BEFORE_INSTEAD:
        distances = [instead.start() - token.end for token in shared]
    else:
        distances = [token.start - instead.end() for token in shared]
    is_beside = any(0 <= distance <= MAX_CHARS_TO_VALUE for distance in distances)
    return is_beside and any(old[i].kind in VALUES for i in pair.left_old)


def _add_values(features: Features, pair: Alignment) -> None:
    """Add features for values that both texts have, and for two values of one type in one text."""
    old, new = pair.old, pair.new
    has_kept = any(degree >= 0.7 and old.content[i].kind in VALUES for i, _, degree in pair.pairs)
    has_lost = any(old.content[i].kind in VALUES for i in pair.left_old)
    has_new = any(new.content[j].kind in VALUES for j in pair.left_new)
    features.put("old_value_kept_and_new", has_kept and has_new)
    features.put("all_values_kept", has_kept and not has_new and not has_lost)
    for name, reading in (("two_of_a_kind", new), ("two_of_a_kind_old", old)):
        types = [value_type(token) for token in reading.content if token.kind in (*VALUES, NAME)]
        features.put(name, len(types) > len(set(types)))
    features.put("both_sources_value", "source" in old.cues and "source" in new.cues and has_new)
    features.put("colon_both", any(mark in old.text for mark in _EQUALS) and any(mark in new.text for mark in _EQUALS))
    features.put("table_both", "|" in old.text and "|" in new.text)
