"""Choose the sentences of a conversation that are worth a line in the daily log. Lines quote the conversation; a model
may choose sentences but never writes them.

The rules of promotion choose, and a model may add sentences. A line is one statement. A decision includes its reason if
the reason directly follows (`because`, `때문이다`, `理由は`, or words that refer back: `this`, `그 이상은`) or directly
precedes it (`so we`, `所以`). A sentence before "Remember this." is always worth a line; the request itself is not.
Quoted and fenced text is ignored (`hosts/pasted_text.py`), and a sentence that quotes a statement is judged without the
quotation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from gitmem.errors import GitMemError
from gitmem.hosts.pasted_text import REMEMBER_AT_END, asks_to_remember, without_pasted_text, without_quoted_statements
from gitmem.hosts.transcript import Role, Turn
from gitmem.memory.fact import normalise
from gitmem.promotion.log_lines import passages_of
from gitmem.promotion.proposal import Log, Model, Op, Operation
from gitmem.sessions.decision_turns import MAX_SENTENCE_CHARACTERS, SETTLING, Settlement, agrees, confirms, settlements
from gitmem.sessions.echoes import acknowledges
from gitmem.sessions.sentence_links import is_consequence, refers_back, says_why
from gitmem.text.languages import EASTERN, LANGUAGES
from gitmem.text.sentences import sentences as split_sentences

MIN_SENTENCE_CHARACTERS = 6
KEPT_TYPES = frozenset(
    ("decision", "preference", "constraint", "deadline", "todo", "rule", "policy", "exception", "lesson", "profile",
     "goal", "fact")
)  # fmt: skip
MAX_REASON_SENTENCES = 2  # with words like "because"
WIDE_STOPS = ("。", "！", "？")
SENTENCE_ENDS = (".", "!", "?", ":", ";", *WIDE_STOPS)
_ONLY_MASK = re.compile(r"\W*\[(?:redacted(?::[\w-]+)?|forgotten|password)\]\W*")  # a whole sentence that was masked
MARKUP_STARTS = ("```", "|", "<", "#", ">")  # of a line that is markup

# Sentences that change the subject, so that they give no reason: questions, requests, plans, thanks.
GOES_ON = re.compile(
    rf"[?？]\W*$|{'|'.join(each.GOING_ON_ENDS for each in EASTERN)}"
    rf"|^\W*(?:{'|'.join(each.GOING_ON for each in LANGUAGES)})",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn. `own`: the text without quoted statements; only `own` is judged. `paragraph`: number of its
    paragraph in the conversation, from 1. `doubtful`: the sentence may be pasted, so that somebody else may have said
    it. `wanted`: the person asks to remember it."""

    text: str
    own: str
    turn: Turn
    paragraph: int
    doubtful: bool
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Selected:
    """A text that is worth a line. `text`: the chosen sentence with its reason, or all sentences of a settlement, as
    they were said. `core`: the chosen sentence alone. `type`: type of the fact. `turn`: the turn of `core`.

    `origin`: who said it: `user`, `agent`, or `web` if the text may be pasted. `others`: further turns that contain
    sentences of `text`. `explicit`: (sentence, type, turn) of the other sentences of a settlement that say by
    themselves what is settled, in order.
    """

    text: str
    core: str
    type: str
    turn: Turn
    origin: str
    others: tuple[Turn, ...] = ()
    explicit: tuple[tuple[str, str, Turn], ...] = ()

    def apart(self) -> list[Selected]:
        """The chosen sentence alone (`alone`), and each explicit one as a selection of its own."""
        alone = self.alone()
        return [
            alone,
            *(replace(alone, text=text, core=text, type=type_, turn=turn) for text, type_, turn in self.explicit),
        ]

    def alone(self) -> Selected:
        """The same selection with the chosen sentence only, without its reason or the other sentences of a
        settlement."""
        speaker = "user" if self.turn.role is Role.USER else "agent"
        return replace(self, text=self.core, origin="web" if self.origin == "web" else speaker, others=(), explicit=())


def select(
    turns: Sequence[Turn], path: str, now: datetime, model: Model | None = None, earlier: Sequence[Turn] = (),
    later: Sequence[Turn] = (),
) -> tuple[list[Selected], tuple[str, ...]]:  # fmt: skip
    """The texts that are worth a line of the daily log `path`, in order, and the notes of the model, or why it failed.

    The texts are of `turns`; a sentence of `earlier` that a person agrees to in `turns` is returned too, then `turn` is
    the earlier one. `now`: time from which words such as `tomorrow` count. `model`: chooses sentences of `turns` in
    addition to the rules, None for the rules alone; when it raises GitMemError the rules choose alone. `earlier`: the
    turns before `turns`, which were read already. `later`: the turns after them; they only show that an agent takes
    part and that the conversation goes on.
    """
    all_turns = [*earlier, *turns]
    context = _without_acknowledgements(sentences(earlier), all_turns)
    new_sentences = _without_acknowledgements(sentences(turns), all_turns)
    answers = [turn.text for turn in turns if turn.role is Role.USER]
    if not new_sentences and not (context and any(agrees(text) or confirms(text) for text in answers)):
        return [], ()
    from gitmem.promotion.rules_model import RulesModel  # 0.1 s of tables, which a turn with nothing new need not pay

    spoken = [*context, *new_sentences]
    chosen = _chosen(RulesModel(spoken=True).propose([_log(spoken, path, now)], ()).operations, len(spoken))
    notes: tuple[str, ...] = ()
    picked = {index for index, sentence in enumerate(spoken) if sentence.wanted}
    for index in picked:
        chosen.setdefault(index, "fact")
    if model is not None and new_sentences:
        try:
            answer = model.propose([_log(new_sentences, path, now)], ())
            for index, type_ in _chosen(answer.operations, len(new_sentences)).items():
                chosen.setdefault(len(context) + index, type_)
                picked.add(len(context) + index)
            notes = answer.notes
        except GitMemError as error:
            notes = (f"only the rules chose: {error.message}",)
    settled, unsettled = _settled(spoken, chosen, (earlier, turns, later), picked)
    joined = [
        (settlement.core, _as_one_line(spoken, settlement, chosen), id(settlement.turn)) for settlement in settled
    ]
    single = [(index, item, id(item.turn)) for index, item in _with_reasons(spoken, unsettled)]
    turn_ids = set(map(id, turns))
    return [item for _, item, said_in in sorted(joined + single, key=lambda row: row[0]) if said_in in turn_ids], notes


def _without_acknowledgements(sentences: Sequence[Sentence], turns: Sequence[Turn]) -> list[Sentence]:
    """The sentences without those of the agent that only acknowledge what the person said in the turn before."""
    answered_turns = {id(turn): earlier for earlier, turn in pairwise(turns) if earlier.role is Role.USER}
    return [
        sentence
        for sentence in sentences
        if sentence.turn.role is Role.USER
        or id(sentence.turn) not in answered_turns
        or not acknowledges(sentence.text, sentence.turn.text, answered_turns[id(sentence.turn)].text)
    ]


def _log(sentences: Sequence[Sentence], path: str, now: datetime) -> Log:
    """The sentences as a log with one line for each, for the rules and models of promotion."""
    lines = tuple(f"- {sentence.own}" for sentence in sentences)
    return Log(path, "", now.date(), lines, frozenset(range(1, len(lines) + 1)))


def _settled(
    sentences: Sequence[Sentence], chosen: dict[int, str], turns: tuple[Sequence[Turn], ...], picked: AbstractSet[int]
) -> tuple[list[Settlement], dict[int, str]]:
    """The settlements of a conversation, and the entries of `chosen` that no settlement used. Without an agent or
    without a person there are no settlements. `turns`: (earlier, own, later) as in `select`. `picked`: as in
    `decision_turns.settlements`."""
    earlier, current, later = turns
    if not {turn.role for turn in (*earlier, *current, *later)} >= {Role.USER, Role.ASSISTANT}:
        return [], chosen
    cues = cues_of_sentences(sentences)
    return settlements(sentences, cues, chosen, [*earlier, *current], picked, has_ended=not later)


def cues_of_sentences(sentences: Sequence[Sentence]) -> list[float]:
    """The sum of promotion cues of each sentence, in order; 0.0 for an agent's sentences, which are not judged by
    cues."""
    from gitmem.promotion.log_lines import candidates_of
    from gitmem.promotion.rules_model import cues_of_line

    scores = [0.0] * len(sentences)
    for line in candidates_of(_log(sentences, "", datetime.min)):
        if sentences[line.number - 1].turn.role is Role.USER:
            scores[line.number - 1] = cues_of_line(line).score
    return scores


def _as_one_line(sentences: Sequence[Sentence], settlement: Settlement, chosen: Mapping[int, str]) -> Selected:
    """A settlement as one text. Its origin is `agent` if one of its sentences is the agent's, else `user`.

    `chosen`: the sentences that are worth a line alone, with their types. Those of a settling type that the speaker of
    the core said are the explicit ones.
    """
    core, parts = sentences[settlement.core], [sentences[index] for index in settlement.places]
    *before_last, last = (part.text for part in parts)
    closed = (text if text.endswith(SENTENCE_ENDS) else f"{text}." for text in before_last)
    text = _join_sentences([*closed, last])
    others = dict.fromkeys(part.turn for part in parts if part.turn is not core.turn)
    origin = "agent"
    if all(part.turn.role is Role.USER for part in parts):
        origin = "user"
    explicit = tuple(
        (sentences[index].text, chosen[index], sentences[index].turn)
        for index in settlement.places
        if index != settlement.core and chosen.get(index) in SETTLING and sentences[index].turn.role is core.turn.role
    )
    return Selected(text, core.text, settlement.type, core.turn, origin, tuple(others), explicit)


def sentences(turns: Sequence[Turn]) -> list[Sentence]:
    """The sentences of these turns that the speakers said themselves, in order, without quoted, fenced and pasted text,
    without requests to remember, and without markup. Each has MIN_SENTENCE_CHARACTERS to MAX_SENTENCE_CHARACTERS."""
    collected: list[Sentence] = []
    paragraph = 0
    for turn in turns:
        start = len(collected)
        for passage in without_pasted_text(turn.text):
            for said_together in passages_of(passage.text.split("\n")):
                paragraph += 1
                for part in split_sentences(said_together.text):
                    text = normalise(part)
                    unquoted = normalise(without_quoted_statements(text))
                    collected.append(Sentence(text, unquoted, turn, paragraph, passage.doubtful))
        if turn.role is Role.USER:
            collected[start:] = _with_requests(collected[start:])
    return [sentence for sentence in collected if _may_be_line(sentence)]


def _may_be_line(sentence: Sentence) -> bool:
    """Whether a sentence is long and short enough for a line, is no mask alone, and does not start with markup."""
    return (
        _ONLY_MASK.fullmatch(sentence.own) is None
        and len(sentence.own) >= MIN_SENTENCE_CHARACTERS
        and len(sentence.text) <= MAX_SENTENCE_CHARACTERS
        and not sentence.text.startswith(MARKUP_STARTS)
    )


def _with_requests(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of one turn of a person without mere requests to remember ("Remember this."). The sentence before
    such a request becomes `wanted` and is judged with its quotations, unless it is a question."""
    kept: list[Sentence] = []
    for sentence in sentences:
        if not asks_to_remember(sentence.text):
            wanted = REMEMBER_AT_END.search(sentence.text) is not None
            kept.append(replace(sentence, wanted=wanted))
        elif kept and not kept[-1].text.endswith(("?", "？")):
            kept[-1] = replace(kept[-1], own=kept[-1].text, wanted=True)
    return kept


def _chosen(operations: Sequence[Operation], count: int) -> dict[int, str]:
    """Index -> type of the sentences that a model's operations keep. `count`: number of sentences. If several
    operations keep the same sentence the first determines the type."""
    chosen: dict[int, str] = {}
    for operation in operations:
        if operation.op is Op.SKIP or operation.type not in KEPT_TYPES or not operation.sources:
            continue
        index = operation.sources[0].start_line - 1
        if 0 <= index < count:
            chosen.setdefault(index, operation.type)
    return chosen


def _with_reasons(sentences: Sequence[Sentence], chosen: dict[int, str]) -> list[tuple[int, Selected]]:
    """(index, selection) of each chosen sentence, in order. A decision includes the sentences that give its reason; a
    sentence is the reason of at most one decision."""
    settled = {index for index, type_ in chosen.items() if type_ in SETTLING}
    settled -= {index + 1 for index in settled if index + 1 in settled and says_why(sentences[index + 1].text)}
    used: set[int] = set()
    selected = []
    for index in sorted(chosen):
        if index in used:
            continue
        places = [index]
        if index in settled:
            reason = _reason_before(sentences, index, used | settled)
            places = [*reason, index, *_reason_after(sentences, index, chosen)]
        used.update(places)
        parts = [sentences[place] for place in places]
        if any(part.doubtful for part in parts):
            origin = "web"
        else:
            origin = "user" if sentences[index].turn.role is Role.USER else "agent"
        text = _join_sentences([part.text for part in parts])
        selected.append((index, Selected(text, sentences[index].text, chosen[index], sentences[index].turn, origin)))
    return selected


def _join_sentences(texts: Sequence[str]) -> str:
    """The texts as one, separated by spaces, but without a space after the wide full stops of Chinese and Japanese."""
    return "".join(text if text.endswith(WIDE_STOPS) else f"{text} " for text in texts).rstrip()


def _reason_before(sentences: Sequence[Sentence], index: int, unavailable: set[int]) -> list[int]:
    """The index, in a list, of the sentence before `index` if the one at `index` begins as its consequence (`so we`);
    else []. `unavailable`: indexes that are not available."""
    previous = index - 1
    if previous < 0 or previous in unavailable or not is_consequence(sentences[index].text):
        return []
    reason, consequence = sentences[previous], sentences[index]
    near = reason.turn is consequence.turn and reason.paragraph >= consequence.paragraph - 1
    fits = len(reason.text) + len(consequence.text) < MAX_SENTENCE_CHARACTERS
    if near and fits and not reason.text.endswith(("?", "？")):
        return [previous]
    return []


def _reason_after(sentences: Sequence[Sentence], index: int, chosen: dict[int, str]) -> list[int]:
    """The indexes of the sentences after `index`, in the same turn, that give its reason; [] for none.

    First choice: up to MAX_REASON_SENTENCES sentences with words such as `because`, also on the next line. Second
    choice: the next sentence of the same line if it begins with words that refer back (`It causes conflicts`), unless
    that is worth a line alone, changes the subject, or makes the whole line unfit for promotion.
    """
    decision = sentences[index]
    length = len(decision.text)
    marked: list[int] = []
    for place in range(index + 1, min(index + 1 + MAX_REASON_SENTENCES, len(sentences))):
        sentence = sentences[place]
        length += 1 + len(sentence.text)
        near = sentence.turn is decision.turn and sentence.paragraph <= decision.paragraph + 1
        decided = chosen.get(place) == "decision"
        if not near or decided or length > MAX_SENTENCE_CHARACTERS or not says_why(sentence.text):
            break
        marked.append(place)
    if marked or index + 1 >= len(sentences):
        return marked
    following = sentences[index + 1]
    same_line = following.turn is decision.turn and following.paragraph == decision.paragraph
    plain = refers_back(following.text) and not GOES_ON.search(following.text) and not is_consequence(following.text)
    stands_alone = index + 1 in chosen and (chosen[index + 1] != "fact" or any(c.isdigit() for c in following.text))
    fits = len(decision.text) + len(following.text) < MAX_SENTENCE_CHARACTERS
    if not same_line or stands_alone or not plain or not fits:
        return []
    if not _promotable(_join_sentences([decision.text, following.text])):
        return []
    return [index + 1]


def _promotable(text: str) -> bool:
    """Whether the rules would promote a log line with this text."""
    from gitmem.promotion.cues import THRESHOLD
    from gitmem.promotion.log_lines import Candidate, languages_of
    from gitmem.promotion.rules_model import score_line

    return score_line(Candidate(1, text, text, languages=languages_of(text))).score >= THRESHOLD
