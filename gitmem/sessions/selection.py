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
from collections.abc import Sequence
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
    sentences of `text`.
    """

    text: str
    core: str
    type: str
    turn: Turn
    origin: str
    others: tuple[Turn, ...] = ()

    def alone(self) -> Selected:
        """The same selection with the chosen sentence only, without its reason or the other sentences of a
        settlement."""
        own = "user" if self.turn.role is Role.USER else "agent"
        return replace(self, text=self.core, origin="web" if self.origin == "web" else own, others=())


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
    known = [*earlier, *turns]
    context = _without_acknowledgements(sentences(earlier), known)
    said = _without_acknowledgements(sentences(turns), known)
    answers = [turn.text for turn in turns if turn.role is Role.USER]
    if not said and not (context and any(agrees(text) or confirms(text) for text in answers)):
        return [], ()
    from gitmem.promotion.rules_model import RulesModel  # 0.1 s of tables, which a turn with nothing new need not pay

    both = [*context, *said]
    chosen = _chosen(RulesModel(spoken=True).propose([_log(both, path, now)], ()).operations, len(both))
    notes: tuple[str, ...] = ()
    picked = {at for at, each in enumerate(both) if each.wanted}
    for at in picked:
        chosen.setdefault(at, "fact")
    if model is not None and said:
        try:
            answer = model.propose([_log(said, path, now)], ())
            for at, type_ in _chosen(answer.operations, len(said)).items():
                chosen.setdefault(len(context) + at, type_)
                picked.add(len(context) + at)
            notes = answer.notes
        except GitMemError as error:
            notes = (f"only the rules chose: {error.message}",)
    settled, left = _settled(both, chosen, (earlier, turns, later), picked)
    whole = [(each.core, _as_one_line(both, each), id(each.turn)) for each in settled]
    alone = [(at, item, id(item.turn)) for at, item in _with_reasons(both, left)]
    new = set(map(id, turns))
    return [item for _, item, said_in in sorted(whole + alone, key=lambda row: row[0]) if said_in in new], notes


def _without_acknowledgements(said: Sequence[Sentence], turns: Sequence[Turn]) -> list[Sentence]:
    """The sentences without those of the agent that only acknowledge what the person said in the turn before."""
    before = {id(turn): earlier for earlier, turn in pairwise(turns) if earlier.role is Role.USER}
    return [
        each
        for each in said
        if each.turn.role is Role.USER
        or id(each.turn) not in before
        or not acknowledges(each.text, each.turn.text, before[id(each.turn)].text)
    ]


def _log(said: Sequence[Sentence], path: str, now: datetime) -> Log:
    """The sentences as a log with one line for each, for the rules and models of promotion."""
    lines = tuple(f"- {sentence.own}" for sentence in said)
    return Log(path, "", now.date(), lines, frozenset(range(1, len(lines) + 1)))


def _settled(
    said: Sequence[Sentence], chosen: dict[int, str], turns: tuple[Sequence[Turn], ...], picked: AbstractSet[int]
) -> tuple[list[Settlement], dict[int, str]]:
    """The settlements of a conversation, and the entries of `chosen` that no settlement used. Without an agent or
    without a person there are no settlements. `turns`: (earlier, own, later) as in `select`. `picked`: as in
    `decision_turns.settlements`."""
    earlier, own, later = turns
    if not {turn.role for turn in (*earlier, *own, *later)} >= {Role.USER, Role.ASSISTANT}:
        return [], chosen
    return settlements(said, cues_of_sentences(said), chosen, [*earlier, *own], picked, over=not later)


def cues_of_sentences(said: Sequence[Sentence]) -> list[float]:
    """The sum of promotion cues of each sentence, in order; 0.0 for an agent's sentences, which are not judged by
    cues."""
    from gitmem.promotion.log_lines import candidates_of
    from gitmem.promotion.rules_model import LABELS, cues_of_line

    scores = [0.0] * len(said)
    for line in candidates_of(_log(said, "", datetime.min), LABELS):
        if said[line.number - 1].turn.role is Role.USER:
            scores[line.number - 1] = cues_of_line(line).score
    return scores


def _as_one_line(said: Sequence[Sentence], settled: Settlement) -> Selected:
    """A settlement as one text. Its origin is `agent` if one of its sentences is the agent's, else `user`."""
    core, parts = said[settled.core], [said[at] for at in settled.places]
    texts = [part.text for part in parts]
    text = _join_sentences([*(each if each.endswith(SENTENCE_ENDS) else f"{each}." for each in texts[:-1]), texts[-1]])
    others = dict.fromkeys(part.turn for part in parts if part.turn is not core.turn)
    origin = "agent"
    if all(part.turn.role is Role.USER for part in parts):
        origin = "user"
    return Selected(text, core.text, settled.type, core.turn, origin, tuple(others))


def sentences(turns: Sequence[Turn]) -> list[Sentence]:
    """The sentences of these turns that the speakers said themselves, in order, without quoted, fenced and pasted text,
    without requests to remember, and without markup. Each has MIN_SENTENCE_CHARACTERS to MAX_SENTENCE_CHARACTERS."""
    said: list[Sentence] = []
    paragraph = 0
    for turn in turns:
        first = len(said)
        for passage in without_pasted_text(turn.text):
            for said_together in passages_of(passage.text.split("\n")):
                paragraph += 1
                for part in split_sentences(said_together.text):
                    text = normalise(part)
                    own = normalise(without_quoted_statements(text))
                    said.append(Sentence(text, own, turn, paragraph, passage.doubtful))
        if turn.role is Role.USER:
            said[first:] = _with_requests(said[first:])
    return [each for each in said if _may_be_line(each)]


def _may_be_line(each: Sentence) -> bool:
    """Whether a sentence is long and short enough for a line, is no mask alone, and does not start with markup."""
    return (
        _ONLY_MASK.fullmatch(each.own) is None
        and len(each.own) >= MIN_SENTENCE_CHARACTERS
        and len(each.text) <= MAX_SENTENCE_CHARACTERS
        and not each.text.startswith(MARKUP_STARTS)
    )


def _with_requests(said: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of one turn of a person without mere requests to remember ("Remember this."). The sentence before
    such a request becomes `wanted` and is judged with its quotations, unless it is a question."""
    kept: list[Sentence] = []
    for each in said:
        if not asks_to_remember(each.text):
            wanted = REMEMBER_AT_END.search(each.text) is not None
            kept.append(replace(each, wanted=wanted))
        elif kept and not kept[-1].text.endswith(("?", "？")):
            kept[-1] = replace(kept[-1], own=kept[-1].text, wanted=True)
    return kept


def _chosen(operations: Sequence[Operation], count: int) -> dict[int, str]:
    """Index -> type of the sentences that a model's operations keep. `count`: number of sentences. If several
    operations keep the same sentence the first determines the type."""
    chosen: dict[int, str] = {}
    for operation in operations:
        at = operation.sources[0].start_line - 1 if operation.sources else -1
        if operation.op is not Op.SKIP and operation.type in KEPT_TYPES and 0 <= at < count:
            chosen.setdefault(at, operation.type)
    return chosen


def _with_reasons(said: Sequence[Sentence], chosen: dict[int, str]) -> list[tuple[int, Selected]]:
    """(index, selection) of each chosen sentence, in order. A decision includes the sentences that give its reason; a
    sentence is the reason of at most one decision."""
    settled = {at for at, type_ in chosen.items() if type_ in SETTLING}
    settled -= {at + 1 for at in settled if at + 1 in settled and says_why(said[at + 1].text)}
    used: set[int] = set()
    selected = []
    for at in sorted(chosen):
        if at in used:
            continue
        places = [at]
        if at in settled:
            before = _reason_before(said, at, used | settled)
            places = [*before, at, *_reason_after(said, at, chosen)]
        used.update(places)
        parts = [said[place] for place in places]
        if any(part.doubtful for part in parts):
            origin = "web"
        else:
            origin = "user" if said[at].turn.role is Role.USER else "agent"
        text = _join_sentences([part.text for part in parts])
        selected.append((at, Selected(text, said[at].text, chosen[at], said[at].turn, origin)))
    return selected


def _join_sentences(texts: Sequence[str]) -> str:
    """The texts as one, separated by spaces, but without a space after the wide full stops of Chinese and Japanese."""
    return "".join(text if text.endswith(WIDE_STOPS) else f"{text} " for text in texts).rstrip()


def _reason_before(said: Sequence[Sentence], at: int, taken: set[int]) -> list[int]:
    """The index, in a list, of the sentence before `at` if the one at `at` begins as its consequence (`so we`); else
    []. `taken`: indexes that are not available."""
    before = at - 1
    if before < 0 or before in taken or not is_consequence(said[at].text):
        return []
    same = said[before].turn is said[at].turn and said[before].paragraph >= said[at].paragraph - 1
    fits = len(said[before].text) + len(said[at].text) < MAX_SENTENCE_CHARACTERS
    if same and fits and not said[before].text.endswith(("?", "？")):
        return [before]
    return []


def _reason_after(said: Sequence[Sentence], at: int, chosen: dict[int, str]) -> list[int]:
    """The indexes of the sentences after `at`, in the same turn, that give its reason; [] for none.

    First choice: up to MAX_REASON_SENTENCES sentences with words such as `because`, also on the next line. Second
    choice: the next sentence of the same line if it begins with words that refer back (`It causes conflicts`), unless
    that is worth a line alone, changes the subject, or makes the whole line unfit for promotion.
    """
    length = len(said[at].text)
    marked: list[int] = []
    for place in range(at + 1, min(at + 1 + MAX_REASON_SENTENCES, len(said))):
        sentence = said[place]
        length += 1 + len(sentence.text)
        near = sentence.turn is said[at].turn and sentence.paragraph <= said[at].paragraph + 1
        decided = chosen.get(place) == "decision"
        if not near or decided or length > MAX_SENTENCE_CHARACTERS or not says_why(sentence.text):
            break
        marked.append(place)
    if marked or at + 1 >= len(said):
        return marked
    after = said[at + 1]
    same_line = after.turn is said[at].turn and after.paragraph == said[at].paragraph
    plain = refers_back(after.text) and not GOES_ON.search(after.text) and not is_consequence(after.text)
    own = at + 1 in chosen and (chosen[at + 1] != "fact" or any(c.isdigit() for c in after.text))
    if not same_line or own or not plain or len(said[at].text) + len(after.text) >= MAX_SENTENCE_CHARACTERS:
        return []
    if not _promotable(_join_sentences([said[at].text, after.text])):
        return []
    return [at + 1]


def _promotable(text: str) -> bool:
    """Whether the rules would promote a log line with this text."""
    from gitmem.promotion.cues import THRESHOLD
    from gitmem.promotion.log_lines import Candidate, languages_of
    from gitmem.promotion.rules_model import score_line

    return score_line(Candidate(1, text, text, languages=languages_of(text))).score >= THRESHOLD
