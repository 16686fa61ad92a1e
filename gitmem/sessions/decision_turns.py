"""Find the settlements of a conversation with an agent. A settlement is a decision: the sentence that makes it and the
sentences that lead up to it.

A logistic regression (`decision_turns.tsv`, written by `tools/train.py decision_turns`) gives each sentence the
log-odds that a person who writes the decision down afterwards would use it. Its features: who says the sentence, the
length of the sentence and of its turn, whether the sentence asks, sums up, reports work or answers an offer, and its
sum of promotion cues (the score by which rules judge a log line).

A sentence with log-odds above SETTLES makes a decision: a person's sentence at once; an agent's sentence when the
person agrees, thanks, or says nothing more; the agent's only proposal ("I suggest ...") when the person says yes.
Sentences above BELONGS since the last settlement (proposals, limits, rejected choices) become part of it. If the
deciding sentence says by itself what is settled, the settlement is then cut into statements, one for each line; a
neighbour that settles nothing is left out. Pure; the text is always quoted from the conversation. Callers pass only
conversations with an agent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log
from typing import NamedTuple, Protocol

from gitmem import linear_model
from gitmem.hosts.transcript import Role, Turn
from gitmem.models.wordpiece import words
from gitmem.sessions.sentence_links import is_consequence, needs_previous
from gitmem.text import english, korean
from gitmem.text.languages import EASTERN, LANGUAGES
from gitmem.text.terms import STOP, STOP_KOREAN, latin_length, without_ending

MAX_SENTENCE_CHARACTERS = 400  # of a sentence, and of a settlement
SETTLING = frozenset(("decision", "rule", "constraint", "policy", "exception", "preference"))  # types that have reasons
SETTLES = 0.0  # log-odds above which a sentence settles something
BELONGS = -2.0  # log-odds above which a sentence is part of the next settlement
ANSWERED = -1.0  # log-odds above which an agent's sentence is a settlement when the person goes on from it
MAX_CUE_SUM = 3.0  # largest absolute sum of cues that counts
SETTLING_CUE_SUM = 2.0  # sum of cues from which a sentence settles something: "we decided to use PostgreSQL" does
REPORT_LETTERS = 400  # Latin letters above which a turn is a report, a plan or pasted text rather than an answer
MAX_DEPENDENTS = 2  # sentences after an explicit decision that its line takes along
MAX_BARE_ANSWER_WORDS = 3  # a sentence with at most so many words besides stop words does not say what is settled
_QUESTION_MARK = r"[?？]\W*$"
# How an agent offers choices.
OFFER = re.compile("|".join((_QUESTION_MARK, *(each.OFFER for each in LANGUAGES))), re.I)
# How an agent sums up what is to hold.
SUMS_UP = re.compile("|".join(each.DECISION_LEAD_INS for each in LANGUAGES), re.I)
# An offer of several choices: a bare yes settles none of them.
CHOICES = re.compile("|".join(each.CHOICE for each in LANGUAGES), re.I)
# A report of the agent's own work; an order to do some work.
OWN_WORK = re.compile("|".join(each.OWN_WORK for each in LANGUAGES), re.I)
ERRAND = re.compile("|".join(each.ERRAND for each in LANGUAGES), re.I)
# A sentence that agrees and says no more.
AGREES = re.compile(rf"\W*(?:(?:{'|'.join(each.AGREEMENT for each in LANGUAGES)})[\W_]*)+", re.I)
# A proposal of one thing; a step of the work, which ends with the work; words of a thing that holds longer.
PROPOSES = re.compile("|".join(each.PROPOSAL for each in LANGUAGES), re.I)
WORK_STEP = re.compile("|".join(each.WORK_STEP for each in LANGUAGES), re.I)
STANDS_ON = re.compile("|".join(each.STANDING for each in LANGUAGES), re.I)
# A turn, or its first sentence, that says yes to a proposal and nothing else.
CONFIRMS = re.compile(rf"\W*(?:{'|'.join(each.CONFIRMATION for each in LANGUAGES)})(?:[\W_]*\Z|\s*[.!。！\n])", re.I)
THANKS = re.compile(rf"\W*(?:{'|'.join(each.THANKS for each in LANGUAGES)})", re.I)
DENIES = re.compile("|".join(each.REFUSAL for each in LANGUAGES), re.I)
CODE = re.compile(r"`|\*\*|[\w)]\(|\w/\w+[./]\w|\w[._]\w+\.\w|^\W*\w+Error\b|[{}<>=]{2}|\w:\d")
# Agreement that a following `no` takes back: `ok no` refuses, `yes, no banner` agrees.
BARELY = re.compile(rf"\W*(?:{english.FAINT_AGREEMENT}|{'|'.join(each.THANKS for each in EASTERN)})", re.I)
DECLINES = re.compile("|".join(each.DECLINING for each in LANGUAGES), re.I)
MAX_DECLINE_CHARS = 60  # characters after agreement or thanks that are read for a refusal
MAYBE = re.compile("|".join(each.POSSIBILITY for each in LANGUAGES), re.I)
# Types of sentences that stay lines of their own when said in an answer to the agent.
STANDING = frozenset(("deadline", "todo", "preference", "profile"))
_HIRAGANA = re.compile("[\u3040-\u309f]")
ASKS = re.compile(rf"{_QUESTION_MARK}|(?:{korean.ASKING_ENDS})\W*{_QUESTION_MARK}")


class Statement(Protocol):
    """The attributes of a sentence that this module needs (`selection.Sentence` has them). `text`: the whole sentence.
    `own`: the sentence without quotations. `turn`: the turn that contains it. `doubtful`: the sentence may be another
    person's."""

    @property
    def text(self) -> str: ...
    @property
    def own(self) -> str: ...
    @property
    def turn(self) -> Turn: ...
    @property
    def doubtful(self) -> bool: ...


class Settlement(NamedTuple):
    """A decision of a conversation, or one statement of it. `places`: indexes of its sentences, in order. `core`: index
    of the sentence that makes it. `type`: type of the fact, such as `decision`. `turn`: the turn that made the decision
    final; if a person agrees to an agent's sentence, the person's turn."""

    places: tuple[int, ...]
    core: int
    type: str
    turn: Turn


def settlements(
    sentences: Sequence[Statement], cues: Sequence[float], chosen: Mapping[int, str], turns: Sequence[Turn],
    picked: AbstractSet[int] = frozenset(), *, has_ended: bool = True,
) -> tuple[list[Settlement], dict[int, str]]:  # fmt: skip
    """Find the settlements. Returns them in order, and the entries of `chosen` that stay lines of their own.

    `sentences`: the sentences of `turns`. `cues`: the sum of promotion cues of each sentence. `chosen`: index of a
    sentence in `sentences` -> type, for sentences that are worth a line alone. `has_ended`: the conversation has ended;
    otherwise the agent's last sentences settle nothing yet.

    A settlement has at most MAX_SENTENCE_CHARACTERS; sentences with higher log-odds are taken first. An entry of
    `chosen` is dropped if a settlement contains its sentence. Unless its index is in `picked`, it is also dropped for a
    sentence of the agent, for a person's answer to the agent (but not one of a type in STANDING), and for a fact that
    was stated before the last settlement.
    """
    unsettled = dict(chosen)
    talk = _Talk(sentences, cues, [0.0] * len(sentences), chosen)
    settled: list[Settlement] = []
    pending: list[int] = []
    proposed: list[int] = []  # sentences of the agent that may settle something once the person answers
    unanswered: list[int] = []  # all sentences of the agent since the person's last turn
    previous: Turn | None = None
    model = linear_model.load(__file__, "decision_turns.tsv")
    for turn, places in _by_turn(sentences, turns):
        of_turn = features_of_turn(turn, previous)
        is_answer = previous is not None and previous.role is Role.ASSISTANT
        for index in places:
            talk.odds[index] = model.odds({**of_turn, **features(sentences[index], cues[index])})
        if turn.role is Role.USER:
            new_settlements, pending = talk.settled_by(turn, places, proposed, pending)
            confirmed: list[Settlement] = []
            if all(set(settlement.places).isdisjoint(unanswered) for settlement in new_settlements):
                confirmed = talk.confirmed_by(turn, unanswered)
            settled += [*confirmed, *new_settlements]
            pending = [index for index in pending if all(index not in settlement.places for settlement in confirmed)]
            proposed, unanswered = [], []
            places = [index for index in places if chosen.get(index) not in STANDING or _is_bare(sentences[index].text)]
        else:
            unanswered += places
            relevant = [index for index in places if talk.belongs(index)]
            proposed = relevant if any(map(talk.settles, relevant)) else [*proposed, *relevant]
        if turn.role is Role.ASSISTANT or is_answer:
            _drop(unsettled, [index for index in places if index not in picked])
        previous = turn
    strong = [index for index in proposed if talk.settles(index) and not _offers(sentences[index].text)]
    if strong and has_ended:
        settled.append(talk.settlement([*pending, *proposed], strong, turns[-1]))
    for settlement in settled:
        _drop(unsettled, settlement.places)
    settled = [statement for settlement in settled for statement in talk.statements(settlement)]
    if settled:  # facts stated before a settlement only described the problem
        before_last = range(max(settled[-1].places))
        facts = [index for index in before_last if unsettled.get(index) == "fact" and index not in picked]
        _drop(unsettled, facts)
    return settled, unsettled


class _Talk(NamedTuple):
    """The sentences of a conversation; `cues`, `odds` (log-odds): one value for each sentence. `chosen`: index ->
    type."""

    said: Sequence[Statement]
    cues: Sequence[float]
    odds: list[float]
    chosen: Mapping[int, str]

    def settles(self, index: int) -> bool:
        """Whether the sentence at `index` makes a decision, by its log-odds, a person's cues, or an agent's words
        that sum up."""
        if self.odds[index] > SETTLES:
            return True
        if self.said[index].turn.role is Role.USER:
            return self.cues[index] >= SETTLING_CUE_SUM
        return SUMS_UP.search(self.said[index].text) is not None

    def belongs(self, index: int) -> bool:
        """Whether the sentence at `index` is part of a settlement."""
        return self.odds[index] > BELONGS or self.settles(index)

    def settled_by(
        self, turn: Turn, places: Sequence[int], proposed: Sequence[int], pending: Sequence[int]
    ) -> tuple[list[Settlement], list[int]]:
        """The settlements that a person's turn makes (at most two), and the indexes of sentences that wait for the next
        one.

        `places`: indexes of the turn's sentences. `proposed`: sentences of the agent's turns right before it.
        `pending`: earlier sentences since the last settlement.
        """
        stated = [index for index in places if self.belongs(index) and _states(self.said[index].own)]
        strong = [index for index in stated if self.settles(index)]
        refused, agreed = refuses(turn.text), agrees(turn.text)
        if strong:  # the person's own sentences and the agent's earlier ones make two settlements
            agents = [index for index in pending if self.said[index].turn.role is Role.ASSISTANT]
            pending = [index for index in pending if index not in agents]
            if refused:
                agents = []
            elif agreed:
                agents = [*agents, *proposed]
            core = [index for index in agents if self.odds[index] > ANSWERED and not _offers(self.said[index].text)]
            results = [self.settlement([*pending, *stated], strong, turn)]
            if core:
                results.insert(0, self.settlement(agents, core, turn))
            return results, []
        if refused:
            return [], [*pending, *stated]
        joined = [index for index in proposed if agreed or not CHOICES.search(self.said[index].text)]
        if agreed or THANKS.match(turn.text):
            strong = [index for index in proposed if self.settles(index) and not _offers_choice(self.said[index].text)]
        pending = [*pending, *joined, *stated]
        if strong:
            return [self.settlement(pending, strong, turn)], []
        return [], pending

    def confirmed_by(self, turn: Turn, unanswered: Sequence[int]) -> list[Settlement]:
        """The settlement of the agent's only proposal among the sentences `unanswered`, if the person's turn says yes
        to it. [] if the person says something else, or if the agent proposes several things, leaves a choice, or
        proposes a step of the work."""
        if not confirms(turn.text) or any(CHOICES.search(self.said[index].own) for index in unanswered):
            return []
        proposals = [index for index in unanswered if PROPOSES.search(self.said[index].own)]
        other_texts = [self.said[index].own for index in unanswered if index not in proposals]
        if len(proposals) != 1 or any(OFFER.search(text) and not ASKS.search(text) for text in other_texts):
            return []
        text = self.said[proposals[0]].own
        opening = PROPOSES.match(text)
        content = text[opening.end() :] if opening else text
        is_step = WORK_STEP.search(content) is not None and STANDS_ON.search(content) is None
        if is_step or _is_bare(text) or ASKS.search(text):
            return []
        return [self.settlement([], proposals, turn)]

    def settlement(self, pending: Sequence[int], strong: Sequence[int], turn: Turn) -> Settlement:
        """A settlement with the sentences `strong` and `pending`: first the strong ones, then the others by log-odds,
        as many as fit. The core is one of the strong ones. `turn`: as in `Settlement`."""
        room = MAX_SENTENCE_CHARACTERS + 2  # a full stop and a space behind each but the last
        fitting: list[int] = []
        for index in sorted({*strong, *pending}, key=lambda index: (index not in strong, -self.odds[index])):
            if len(self.said[index].text) + 2 <= room:
                room -= len(self.said[index].text) + 2
                fitting.append(index)
        cores = [index for index in strong if index in fitting]
        core = min(cores, key=lambda index: (self.chosen.get(index) not in SETTLING, -self.odds[index]))
        kind = self.chosen.get(core, "fact")
        if kind == "fact":
            kind = "decision"
        return Settlement(tuple(sorted(fitting)), core, kind, turn)

    def statements(self, settled: Settlement) -> list[Settlement]:
        """The settlement as one statement for each line.

        A settlement whose core needs nothing else (`is_explicit`) is cut: a line has one sentence with those beside it
        that need it or that it needs. A part that no sentence makes worth a line (`stays`) is left out. A terse
        answer is not understood without what led to it, so its settlement stays whole.
        """
        if not self.is_explicit(settled.core):
            return [settled]
        groups: list[list[int]] = []
        for index in self.with_dependents(settled.places):
            if groups and self.belong_together(groups[-1][-1], index) and self.fits([*groups[-1], index]):
                groups[-1].append(index)
            else:
                groups.append([index])
        parts = []
        for group in groups:
            cores = [index for index in group if self.stays(index)]
            if cores:
                parts.append(self.part(group, cores, settled))
        return parts

    def with_dependents(self, places: Sequence[int]) -> list[int]:
        """The indexes `places` and those of the sentences beside them that belong to an explicit one: the sentence that
        it is the consequence of, and those after it that need it. They were no part of the settlement by their odds."""
        joined = set(places)
        for index in filter(self.is_explicit, places):
            if index > 0 and is_consequence(self.said[index].text) and self.can_join(index, index - 1):
                joined.add(index - 1)
            for dependent in range(index + 1, min(index + 1 + MAX_DEPENDENTS, len(self.said))):
                if not (needs_previous(self.said[dependent].text) and self.can_join(index, dependent)):
                    break
                joined.add(dependent)
        return sorted(joined)

    def can_join(self, index: int, neighbour: int) -> bool:
        """Whether the sentence `neighbour` of the same turn states something and fits into the line of `index`."""
        sentence, beside = self.said[index], self.said[neighbour]
        between = range(min(index, neighbour), max(index, neighbour) + 1)
        return sentence.turn is beside.turn and not beside.doubtful and _states(beside.own) and self.fits(between)

    def fits(self, places: Sequence[int]) -> bool:
        """Whether these sentences are short enough for one line, with a full stop and a space behind each."""
        return sum(len(self.said[index].text) + 2 for index in places) <= MAX_SENTENCE_CHARACTERS + 2

    def stays(self, index: int) -> bool:
        """Whether a sentence of a cut settlement is worth a line: it settles something itself, the rules of promotion
        take it, or it is part of what an agent said and the person went on from."""
        answered = self.said[index].turn.role is Role.ASSISTANT and self.odds[index] > ANSWERED
        return self.settles(index) or index in self.chosen or answered

    def part(self, group: Sequence[int], cores: Sequence[int], whole: Settlement) -> Settlement:
        """The sentences `group` of a settlement as one of their own. Its core is that of the settlement, else one of
        `cores`: one that settles something before the others, then by log-odds."""
        core = max(cores, key=lambda at: (self.settles(at), self.odds[at]))
        if whole.core in group:
            core = whole.core
        kind = self.chosen.get(core, "decision")
        if kind == "fact" and self.settles(core):
            kind = "decision"
        return Settlement(tuple(group), core, kind, whole.turn)

    def is_explicit(self, index: int) -> bool:
        """Whether a sentence says by itself what is settled: the rules of promotion take it for a decision, a rule or
        the like, and it is more than a bare answer (`That must not go out like this.`)."""
        return self.chosen.get(index) in SETTLING and not _is_bare(self.said[index].own)

    def belong_together(self, first: int, second: int) -> bool:
        """Whether two neighbouring sentences of a settlement are one statement: the second needs the first, or both are
        terse answers of different turns, or the second answers the agent's first."""
        first_sentence, second_sentence = self.said[first], self.said[second]
        if first_sentence.turn is not second_sentence.turn:
            agents = first_sentence.turn.role is Role.ASSISTANT and second_sentence.turn.role is Role.USER
            return agents or not (self.is_explicit(first) or self.is_explicit(second))
        return second == first + 1 and needs_previous(second_sentence.text)


def _by_turn(sentences: Sequence[Statement], turns: Sequence[Turn]) -> list[tuple[Turn, list[int]]]:
    """Each turn with the indexes of its sentences, in order; doubtful sentences are left out."""
    places: dict[int, list[int]] = {}
    for index, sentence in enumerate(sentences):
        if not sentence.doubtful:
            places.setdefault(id(sentence.turn), []).append(index)
    return [(turn, places.get(id(turn), [])) for turn in turns]


def features_of_turn(turn: Turn, previous: Turn | None) -> dict[str, float]:
    """Feature name -> value, for the features that all sentences of `turn` share; a name begins with the speaker, as
    `user offered`. `previous`: the turn before it, None for the first."""
    length = latin_length(turn.text)
    values = {"turn": log(1 + min(length, REPORT_LETTERS)) / 4, "report": log(max(1.0, length / REPORT_LETTERS))}
    if turn.role is Role.USER:
        values["first"] = float(previous is None)
        values["offered"] = float(
            previous is not None and previous.role is Role.ASSISTANT and bool(OFFER.search(previous.text))
        )
    return {f"{turn.role.value} {name}": value for name, value in values.items()}


def features(sentence: Statement, cues: float) -> dict[str, float]:
    """Feature name -> value for one sentence; a name begins with the speaker, as `user asks`. The values are about 0 to
    1, but the sum of cues goes from -MAX_CUE_SUM to MAX_CUE_SUM and counts for a person only."""
    text, role = sentence.own, sentence.turn.role
    values = {
        "length": log(1 + latin_length(text)) / 3,
        "code": float(bool(CODE.search(text))),
        "few": float(_is_bare(text)),
        "asks": float(bool(ASKS.search(text))),
        "sums up": float(bool(SUMS_UP.search(text))),
        "own work": float(bool(OWN_WORK.search(text))),
        "errand": float(bool(ERRAND.search(text))),
    }
    if role is Role.USER:
        values["cues"] = max(-MAX_CUE_SUM, min(MAX_CUE_SUM, cues))
    return {f"{role.value} {name}": value for name, value in values.items()}


def _drop(chosen: dict[int, str], places: Sequence[int]) -> None:
    for index in places:
        chosen.pop(index, None)


def telling_word_count(text: str) -> int:
    """The number of words of a text that are not stop words. In Chinese and Japanese, which have no spaces, two
    characters other than Hiragana count as one word."""
    count = 0
    for word in words(text):
        if word in STOP or not STOP_KOREAN.isdisjoint((word, without_ending(word))):
            continue
        is_unspaced = "\u3040" <= word[0] < "\uac00"  # Kana or Han
        count += (len(_HIRAGANA.sub("", word)) + 1) // 2 if is_unspaced else 1
    return count


def _is_bare(text: str) -> bool:
    """Whether a sentence has too few words to say what is settled."""
    return telling_word_count(text) <= MAX_BARE_ANSWER_WORDS


def _states(text: str) -> bool:
    """Whether a person's sentence states something: it is not a question, an order or a bare agreement."""
    return not (ASKS.search(text) or ERRAND.search(text) or AGREES.fullmatch(text) or CONFIRMS.fullmatch(text))


def _offers_choice(text: str) -> bool:
    """Whether a sentence leaves a choice that a bare yes does not settle."""
    return bool(CHOICES.search(text) and (ASKS.search(text) or MAYBE.search(text)))


def _offers(text: str) -> bool:
    """Whether a sentence asks a question or leaves a choice."""
    return bool(ASKS.search(text)) or _offers_choice(text)


def refuses(text: str) -> bool:
    """Whether a person's turn begins with a refusal, also after thanks or faint agreement: `no`, `thanks but no
    thanks`, `great, but no`. `yes, no banner` agrees."""
    opening = AGREES.match(text) or THANKS.match(text)
    remainder = text[opening.end() : opening.end() + MAX_DECLINE_CHARS] if opening else ""
    return bool(DENIES.match(text) or DECLINES.search(remainder) or (BARELY.match(text) and DENIES.match(remainder)))


def agrees(text: str) -> bool:
    """Whether a text begins with words of agreement, such as `ok` or `yes`."""
    agreed = AGREES.match(text)
    if agreed is None:
        return False
    around = text[agreed.end() - 1 : agreed.end() + 1]
    return not (around.isascii() and around.isalnum() and len(around) == 2)  # `okra` does not


def confirms(text: str) -> bool:
    """Whether a person's turn, or its first sentence or line, only says yes to a proposal: `yes, do that`, `go ahead`.
    `yes, use Redis` does not count, because the person adds words of their own."""
    return CONFIRMS.match(text) is not None
