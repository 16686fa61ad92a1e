"""Judges the sentences of a text: how probable it is that each one is an order to the model that reads it.

In this order:

1. `units.py` cuts the text into *units*: a line, a sentence, two sentences in a row.
2. `word_weights.py` drops each line whose words cannot matter: the prefilter.
3. `scorer.py` gives a unit its score from its own words, the classes of its words, the lines before and after it and the
   concepts of the lexicon in it (`concepts.py`). A unit with markup inside is scored without the markup too.
4. A score of `Scorer.block` or more blocks, one of `Scorer.warn` or more warns. An order of ordinary work
   (`ordinary_orders.py`) does not block, and a low score without anything that an attack costs does not warn.
5. Orders that are split over list steps or table cells (`parted_orders.py`) are joined and judged in the same way.

Other detectors call `judge` for text that they have decoded or found hidden.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gitmem.gate.detectors.injection import parted_orders, scorer, word_weights
from gitmem.gate.detectors.injection.concepts import read
from gitmem.gate.detectors.injection.features import NEIGHBOUR_CHARACTERS
from gitmem.gate.detectors.injection.lexicon import Concept as C
from gitmem.gate.detectors.injection.ordinary_orders import has_cost, is_ordinary, sends_what_is_public, without_sign_in
from gitmem.gate.detectors.injection.units import Line, lines, units_of, without_markup
from gitmem.gate.detectors.spans import Spans
from gitmem.gate.detectors.text import Text
from gitmem.lazy_patterns import lazy

# Concepts that only describe the sentence around an instruction, and are not a part of it.
_CONTEXT = frozenset({C.ALL, C.USER, C.TALK, C.NEGATED, C.PLAN, C.MEMORY, C.TRIGGER})
_BELOW_BLOCK = 0.01  # an order of ordinary work gets a score this far below the blocking threshold
# A sentence without any cost warns only within this distance below the blocking threshold, else nearly half of the
# warnings in honest documents were for such sentences.
_MAX_BELOW_BLOCK_WITHOUT_COST = 0.43


@dataclass(frozen=True, slots=True)
class Verdict:
    """A unit of text that reads as an instruction.

    `start`, `end`: its place in `Text.norm`. `score`: a logit, higher for a more certain instruction. `concepts`: the
    concepts in it and where in it they begin and end.
    """

    start: int
    end: int
    score: float
    concepts: dict[C, tuple[int, int]]

    @property
    def parts(self) -> list[C]:
        """The concepts that make the sentence an instruction, in order of place; concepts in quotation marks do not
        count."""
        parts = (concept for concept in self.concepts if concept not in _CONTEXT)
        return sorted(parts, key=self.concepts.__getitem__)

    @property
    def blocks(self) -> bool:
        """Whether the sentence is nearly certain to be an instruction. A verdict that does not block is a likely
        instruction."""
        return self.score >= scorer.load().block


def judge(text: Text, boost: float = 0.0, *, likely: bool = True) -> Iterator[Verdict]:
    """The units of `text` that read as instructions; no two of them overlap. The time is linear in the text.

    `boost`: a number that is added to each score, for a text that is suspicious before a word of it is read (it was
    hidden, or encoded). `likely`: False leaves out units that do not block. Units that block come first, then orders
    that are split over lines or cells, then likely units. The first and the last group have the highest score first, in
    an exhaustive text the shortest unit first.
    """
    folded = _without_boilerplate(text.folded)
    verdicts = list(_verdicts(text, folded, boost))
    if text.exhaustive:  # to be masked: prefer a sentence to its whole line
        verdicts.sort(key=lambda verdict: (verdict.end - verdict.start, verdict.start))
    else:
        verdicts.sort(key=lambda verdict: (-verdict.score, verdict.start))
    claimed = Spans()
    blocking = [verdict for verdict in verdicts if verdict.blocks]
    yield from (verdict for verdict in blocking if claimed.claim(verdict.start, verdict.end))
    yield from (verdict for verdict in _parted(folded) if claimed.claim(verdict.start, verdict.end))
    if likely:
        others = (verdict for verdict in verdicts if not verdict.blocks)
        yield from (verdict for verdict in others if claimed.claim(verdict.start, verdict.end))


def _parted(folded: str) -> Iterator[Verdict]:
    """The verdicts on orders that are split over several lines or cells (`parted_orders`).

    Nobody wrote such an order as one sentence. So only verdicts that block count, and of list steps only those that
    send a secret to a place.
    """
    learned = scorer.load()
    for line in parted_orders.lines(folded):
        joined_text = line.says(folded)
        if _word_weight(joined_text) < word_weights.load().least / 2:
            continue
        concepts = read(joined_text)
        last_piece = folded[slice(*line.pieces[-1])]
        if len(line.pieces) <= parted_orders.STEPS and not (
            {C.SECRET, C.PLACE} <= concepts.keys() and C.SEND in read(last_piece)
        ):
            continue
        if sends_what_is_public(last_piece) and C.SECRET not in read(last_piece):
            continue
        score = score_of(joined_text, "", "")
        if score >= learned.block and not is_ordinary(joined_text, concepts):
            yield Verdict(line.start, line.end, score, concepts)


def _verdicts(text: Text, folded: str, boost: float) -> Iterator[Verdict]:
    """The verdict on every unit above the warning threshold, in order of place. A unit more than
    _MAX_BELOW_BLOCK_WITHOUT_COST below the blocking threshold needs a cost (`has_cost`) too. Equal units are judged once,
    unless the text is exhaustive."""
    judged: set[tuple[str, str, str]] = set()
    exhaustive, scores = text.exhaustive, text.scores
    min_weight = word_weights.load().least - boost
    learned = scorer.load()
    weights_before: list[float] = []  # the weight of each line so far
    for line, source, before, after in in_context(folded):
        weight = _line_weight(source)
        joined_weight = weight + sum(weights_before[len(weights_before) - len(line.joined) :])
        if not line.pieces:
            weights_before.append(weight)
        if joined_weight < min_weight:
            continue
        for unit in units_of(folded, line):
            if weight < min_weight and unit.start >= line.start:  # it can matter only together with the lines before it
                continue
            key = (unit.text, before, after)
            if key in judged and not exhaustive:
                continue
            judged.add(key)
            score = scores.get(key)
            if score is None:
                if len(unit.text) < 0.7 * len(source) and _word_weight(unit.text) < min_weight:
                    continue
                score = scores[key] = score_of(unit.text, before, after)
            if score + boost < learned.warn:
                continue
            sentence = without_markup(unit.text)
            concepts = read(sentence)
            if score >= learned.block and (is_ordinary(sentence, concepts) or _only_signs_in(sentence, learned.block)):
                score = learned.block - _BELOW_BLOCK
            if score + boost < learned.block - _MAX_BELOW_BLOCK_WITHOUT_COST and not has_cost(concepts):
                continue
            yield Verdict(unit.start, unit.end, score + boost, concepts)


def _only_signs_in(sentence: str, block: float) -> bool:
    """Whether a sentence would not block without the words that name what signs its request in."""
    remaining = without_sign_in(sentence)
    return remaining != sentence and C.SECRET not in read(remaining) and score_of(remaining, "", "") < block


def in_context(folded: str) -> Iterator[tuple[Line, str, str, str]]:
    """For each line with text: (line, its text, the end of the line before, the beginning of the line after). The last
    two have at most NEIGHBOUR_CHARACTERS; "" without such a line."""
    before = ""
    pending: tuple[Line, str] | None = None
    for line in lines(folded):
        source = line.says(folded)
        if pending:
            yield *pending, before, source[:NEIGHBOUR_CHARACTERS]
            before = pending[1][-NEIGHBOUR_CHARACTERS:]
        pending = line, source
    if pending:
        yield *pending, before, ""


_OWN_COMMENT = lazy(r"<!--[ \t]+mem[ \t][^<>\n]{0,2000}-->")
_KEYS = lazy(
    r"\b(?:type=(?:fact|preference|constraint|decision|deadline|todo|timeline|profile|rule|goal|policy|exception|lesson|"
    r"note|episode-digest)|origin=(?:user|agent|tool|web)"
    # The ids of a session and of its turn: digits, hex digits, at most one short word before them. Their characters moved
    # the score of a line by up to 0.38, so that a decision was refused for the id of its session.
    r"|(?:session|turn)=(?:[a-z]{1,8}[_-])?(?:[0-9a-f]{1,40}|[a-z]{1,3}\d{1,12})(?:-[0-9a-f]{1,40}){0,6})(?=\s)"
)


# The first and the last line of a key or a certificate (RFC 7468); the detector of secrets reads the text between them.
PEM_FRAME = lazy(
    r"-{5}\s?(?:begin|end) (?:[a-z0-9]{1,12} ){0,3}(?:(?:private|public) key(?: block)?|certificate)\s?-{5}", re.I
)


# A mask of redaction. A longer name is not one of our rules, and is read like any words.
_MASK = lazy(r"\[redacted(?::[a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){0,2})?\]")


# A sentence of a template about the template itself: "Delete this comment before you submit."
_TEMPLATE_SENTENCE = lazy(
    r"(?:(?<=[\n.!?>*。])|\A)[ \t>*_-]{0,8}(?:"
    r"(?:please )?(?:delete|remove) (?:this|these) (?:comments?|sections?|placeholders?|templates?|paragraphs?)(?: (?:before|if|when|once) [a-z' ]{1,40})?"
    r"|(?:이|본) ?(?:주석|안내문|템플릿|섹션|항목)[은는을를]? ?(?:제출|작성|등록)? ?(?:전에|후에)? ?(?:지워|삭제해?) ?(?:주세요|하세요|줘|주십시오)"
    r"|この(?:コメント|説明|セクション|テンプレート|欄)[はを](?:提出|送信|投稿|作成)?(?:前に|後に)?(?:削除|消)し(?:てください|て下さい)"
    r"|(?:提交|发布)?(?:前|后)?请?(?:删除|移除)(?:本|这|此|该)[段条行]?(?:说明|注释|提示|模板)"
    r")(?=[ \t]{0,3}(?:[.!。]|\n|\Z|-->))"
)
_TEMPLATE_WORDS = ("delete th", "remove th", "주석", "안내문", "템플릿", "섹션", "항목", "この", "删除", "移除")


def _without_boilerplate(folded: str) -> str:
    """The text with some words replaced by blanks, because nobody wrote them to say something: `type=rule`,
    `origin=user` and ids in our own comments, the first and last lines of keys, masks (the name of a rule below a heading would
    read as an instruction), and sentences of a template about itself.

    Every other value of a comment stays and is read like visible text.
    """
    if "<!--" in folded:
        folded = _OWN_COMMENT.sub(_without_keys, folded)
    if "[redacted" in folded:
        folded = _MASK.sub(_blank, folded)
    if any([word in folded for word in _TEMPLATE_WORDS]):
        folded = _TEMPLATE_SENTENCE.sub(_blank, folded)
    if "-----" in folded:
        return PEM_FRAME.sub(_blank, folded)
    return folded


def _without_keys(comment: re.Match[str]) -> str:
    """Our own comment with blanks for the keys that say nothing; blanks alone if it has no others."""
    remaining = _KEYS.sub(_blank, comment.group())
    if remaining.split() == ["<!--", "mem", "-->"]:
        return " " * len(remaining)
    return remaining


def _blank(form: re.Match[str]) -> str:
    return " " * len(form.group())


# The versions of one file share most of their lines, so the weights and scores of lines are cached.
_MAX_CACHED_LINES, _MAX_CACHED_CHARACTERS = 1 << 14, 600


@lru_cache(maxsize=_MAX_CACHED_LINES)
def _word_weight(source: str) -> float:
    """The sum of the prefilter's weights of a line's words."""
    weights = word_weights.load().of
    return sum([weights[token] for token in word_weights.tokens(source) if token in weights])


def _line_weight(source: str) -> float:
    """The sum of the prefilter's weights of a line's words, as `_word_weight` computes it. The sum of a line with more
    than _MAX_CACHED_CHARACTERS characters is not cached."""
    if len(source) <= _MAX_CACHED_CHARACTERS:
        return _word_weight(source)
    return _word_weight.__wrapped__(source)


def score_of(unit: str, before: str, after: str) -> float:
    """The score of a unit of folded text between the lines `before` and `after`, as a logit (`scorer.score`).

    A unit with markup inside is scored twice, as it is written and as a rendered page shows it; the larger score
    counts.
    """
    score = scorer.score(unit, before, after, concepts_in)
    plain = without_markup(unit)
    if plain == unit:
        return score
    return max(score, scorer.score(plain, before, after, concepts_in))


@lru_cache(maxsize=_MAX_CACHED_LINES)
def concepts_in(unit: str) -> tuple[str, ...]:
    """The names of the concepts in a unit of folded text, outside quotation marks (`concepts.read`)."""
    return tuple([concept.name for concept in read(unit)])
