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
    said: Sequence[Statement], cues: Sequence[float], chosen: Mapping[int, str], turns: Sequence[Turn],
    picked: AbstractSet[int] = frozenset(), *, over: bool = True,
) -> tuple[list[Settlement], dict[int, str]]:  # fmt: skip
    """Find the settlements. Returns them in order, and the entries of `chosen` that stay lines of their own.

    `said`: the sentences of `turns`. `cues`: the sum of promotion cues of each sentence. `chosen`: index of a sentence
    in `said` -> type, for sentences that are worth a line alone. `over`: the conversation has ended; otherwise the
    agent's last sentences settle nothing yet.

    A settlement has at most MAX_SENTENCE_CHARACTERS; sentences with higher log-odds are taken first. An entry of
    `chosen` is dropped if a settlement contains its sentence. Unless its index is in `picked`, it is also dropped for a
    sentence of the agent, for a person's answer to the agent (but not one of a type in STANDING), and for a fact that
    was stated before the last settlement.
    """
    left = dict(chosen)
    talk = _Talk(said, cues, [0.0] * len(said), chosen)
    settled: list[Settlement] = []
    pending: list[int] = []
    proposed: list[int] = []  # sentences of the agent that may settle something once the person answers
    unanswered: list[int] = []  # all sentences of the agent since the person's last turn
    before: Turn | None = None
    model = linear_model.load(__file__, "decision_turns.tsv")
    for turn, places in _by_turn(said, turns):
        of_turn = features_of_turn(turn, before)
        is_answer = before is not None and before.role is Role.ASSISTANT
        for at in places:
            talk.odds[at] = model.odds({**of_turn, **features(said[at], cues[at])})
        if turn.role is Role.USER:
            made, pending = talk.settled_by(turn, places, proposed, pending)
            confirmed: list[Settlement] = []
            if not any(_overlaps(each, unanswered) for each in made):
                confirmed = talk.confirmed_by(turn, unanswered)
            settled += [*confirmed, *made]
            pending = [at for at in pending if all(at not in each.places for each in confirmed)]
            proposed, unanswered = [], []
            places = [at for at in places if chosen.get(at) not in STANDING or _is_bare(said[at].text)]
        else:
            unanswered += places
            new = [at for at in places if talk.belongs(at)]
            proposed = new if any(map(talk.settles, new)) else [*proposed, *new]
        if turn.role is Role.ASSISTANT or is_answer:
            _drop(left, [at for at in places if at not in picked])
        before = turn
    strong = [at for at in proposed if talk.settles(at) and not _offers(said[at].text)]
    if strong and over:
        settled.append(talk.settlement([*pending, *proposed], strong, turns[-1]))
    for each in settled:
        _drop(left, each.places)
    settled = [part for each in settled for part in talk.statements(each)]
    if settled:  # facts stated before a settlement only described the problem
        last = max(settled[-1].places)
        _drop(left, [at for at, kind in left.items() if at < last and kind == "fact" and at not in picked])
    return settled, left


class _Talk(NamedTuple):
    """The sentences of a conversation; `cues`, `odds` (log-odds): one value for each sentence. `chosen`: index ->
    type."""

    said: Sequence[Statement]
    cues: Sequence[float]
    odds: list[float]
    chosen: Mapping[int, str]

    def settles(self, at: int) -> bool:
        """Whether the sentence at index `at` makes a decision, by its log-odds, a person's cues, or an agent's words
        that sum up."""
        if self.odds[at] > SETTLES:
            return True
        if self.said[at].turn.role is Role.USER:
            return self.cues[at] >= SETTLING_CUE_SUM
        return SUMS_UP.search(self.said[at].text) is not None

    def belongs(self, at: int) -> bool:
        """Whether the sentence at index `at` is part of a settlement."""
        return self.odds[at] > BELONGS or self.settles(at)

    def settled_by(
        self, turn: Turn, places: Sequence[int], proposed: Sequence[int], pending: Sequence[int]
    ) -> tuple[list[Settlement], list[int]]:
        """The settlements that a person's turn makes (at most two), and the indexes of sentences that wait for the next
        one.

        `places`: indexes of the turn's sentences. `proposed`: sentences of the agent's turns right before it.
        `pending`: earlier sentences since the last settlement.
        """
        own = [at for at in places if self.belongs(at) and _states(self.said[at].own)]
        strong = [at for at in own if self.settles(at)]
        refused, agreed = refuses(turn.text), agrees(turn.text)
        if strong:  # the person's own sentences and the agent's earlier ones make two settlements
            agents = [at for at in pending if self.said[at].turn.role is Role.ASSISTANT]
            pending = [at for at in pending if at not in agents]
            if refused:
                agents = []
            elif agreed:
                agents = [*agents, *proposed]
            core = [at for at in agents if self.odds[at] > ANSWERED and not _offers(self.said[at].text)]
            made = [self.settlement([*pending, *own], strong, turn)]
            if core:
                made.insert(0, self.settlement(agents, core, turn))
            return made, []
        if refused:
            return [], [*pending, *own]
        joined = [at for at in proposed if agreed or not CHOICES.search(self.said[at].text)]
        if agreed or THANKS.match(turn.text):
            strong = [at for at in proposed if self.settles(at) and not _offers_choice(self.said[at].text)]
        pending = [*pending, *joined, *own]
        if strong:
            return [self.settlement(pending, strong, turn)], []
        return [], pending

    def confirmed_by(self, turn: Turn, unanswered: Sequence[int]) -> list[Settlement]:
        """The settlement of the agent's only proposal among the sentences `unanswered`, if the person's turn says yes
        to it. [] if the person says something else, or if the agent proposes several things, leaves a choice, or
        proposes a step of the work."""
        if not confirms(turn.text) or any(CHOICES.search(self.said[at].own) for at in unanswered):
            return []
        proposals = [at for at in unanswered if PROPOSES.search(self.said[at].own)]
        others = [self.said[at].own for at in unanswered if at not in proposals]
        if len(proposals) != 1 or any(OFFER.search(text) and not ASKS.search(text) for text in others):
            return []
        text = self.said[proposals[0]].own
        opening = PROPOSES.match(text)
        rest = text[opening.end() :] if opening else text
        is_step = WORK_STEP.search(rest) is not None and STANDS_ON.search(rest) is None
        if is_step or _is_bare(text) or ASKS.search(text):
            return []
        return [self.settlement([], proposals, turn)]

    def settlement(self, pending: Sequence[int], strong: Sequence[int], turn: Turn) -> Settlement:
        """A settlement with the sentences `strong` and `pending`: first the strong ones, then the others by log-odds,
        as many as fit. The core is one of the strong ones. `turn`: as in `Settlement`."""
        room = MAX_SENTENCE_CHARACTERS + 2  # a full stop and a space behind each but the last
        taken: list[int] = []
        for at in sorted({*strong, *pending}, key=lambda at: (at not in strong, -self.odds[at])):
            if len(self.said[at].text) + 2 <= room:
                room -= len(self.said[at].text) + 2
                taken.append(at)
        cores = [at for at in strong if at in taken]
        core = min(cores, key=lambda at: (self.chosen.get(at) not in SETTLING, -self.odds[at]))
        kind = self.chosen.get(core, "fact")
        if kind == "fact":
            kind = "decision"
        return Settlement(tuple(sorted(taken)), core, kind, turn)

    def statements(self, settled: Settlement) -> list[Settlement]:
        """The settlement as one statement for each line.

        A settlement whose core needs nothing else (`is_explicit`) is cut: a line has one sentence with those beside it
        that need it or that it needs. A part that no sentence makes worth a line (`stays`) is left out. A terse
        answer is not understood without what led to it, so its settlement stays whole.
        """
        if not self.is_explicit(settled.core):
            return [settled]
        groups: list[list[int]] = []
        for at in self.with_dependents(settled.places):
            if groups and self.belong_together(groups[-1][-1], at) and self.fits([*groups[-1], at]):
                groups[-1].append(at)
            else:
                groups.append([at])
        parts = []
        for group in groups:
            cores = [at for at in group if self.stays(at)]
            if cores:
                parts.append(self.part(group, cores, settled))
        return parts

    def with_dependents(self, places: Sequence[int]) -> list[int]:
        """The indexes `places` and those of the sentences beside them that belong to an explicit one: the sentence that
        it is the consequence of, and those after it that need it. They were no part of the settlement by their odds."""
        found = set(places)
        for at in filter(self.is_explicit, places):
            if at > 0 and is_consequence(self.said[at].text) and self.can_join(at, at - 1):
                found.add(at - 1)
            for after in range(at + 1, min(at + 1 + MAX_DEPENDENTS, len(self.said))):
                if not (needs_previous(self.said[after].text) and self.can_join(at, after)):
                    break
                found.add(after)
        return sorted(found)

    def can_join(self, at: int, other: int) -> bool:
        """Whether the sentence `other` of the same turn states something and fits into the line of `at`."""
        one, beside = self.said[at], self.said[other]
        between = range(min(at, other), max(at, other) + 1)
        return one.turn is beside.turn and not beside.doubtful and _states(beside.own) and self.fits(between)

    def fits(self, places: Sequence[int]) -> bool:
        """Whether these sentences are short enough for one line, with a full stop and a space behind each."""
        return sum(len(self.said[at].text) + 2 for at in places) <= MAX_SENTENCE_CHARACTERS + 2

    def stays(self, at: int) -> bool:
        """Whether a sentence of a cut settlement is worth a line: it settles something itself, the rules of promotion
        take it, or it is part of what an agent said and the person went on from."""
        answered = self.said[at].turn.role is Role.ASSISTANT and self.odds[at] > ANSWERED
        return self.settles(at) or at in self.chosen or answered

    def part(self, group: Sequence[int], cores: Sequence[int], settled: Settlement) -> Settlement:
        """The sentences `group` of a settlement as one of their own. Its core is that of the settlement, else one of
        `cores`: one that settles something before the others, then by log-odds."""
        core = max(cores, key=lambda at: (self.settles(at), self.odds[at]))
        if settled.core in group:
            core = settled.core
        kind = self.chosen.get(core, "decision")
        if kind == "fact" and self.settles(core):
            kind = "decision"
        return Settlement(tuple(group), core, kind, settled.turn)

    def is_explicit(self, at: int) -> bool:
        """Whether a sentence says by itself what is settled: the rules of promotion take it for a decision, a rule or
        the like, and it is more than a bare answer (`That must not go out like this.`)."""
        return self.chosen.get(at) in SETTLING and not _is_bare(self.said[at].own)

    def belong_together(self, before: int, at: int) -> bool:
        """Whether two neighbouring sentences of a settlement are one statement: the second needs the first, or both are
        terse answers of different turns, or the second answers the agent's first."""
        one, other = self.said[before], self.said[at]
        if one.turn is not other.turn:
            agents = one.turn.role is Role.ASSISTANT and other.turn.role is Role.USER
            return agents or not (self.is_explicit(before) or self.is_explicit(at))
        return at == before + 1 and needs_previous(other.text)


def _overlaps(settled: Settlement, places: Sequence[int]) -> bool:
    """Whether a settlement contains a sentence with one of these indexes."""
    return not set(settled.places).isdisjoint(places)


def _by_turn(said: Sequence[Statement], turns: Sequence[Turn]) -> list[tuple[Turn, list[int]]]:
    """Each turn with the indexes of its sentences, in order; doubtful sentences are left out."""
    places: dict[int, list[int]] = {}
    for at, sentence in enumerate(said):
        if not sentence.doubtful:
            places.setdefault(id(sentence.turn), []).append(at)
    return [(turn, places.get(id(turn), [])) for turn in turns]


def features_of_turn(turn: Turn, before: Turn | None) -> dict[str, float]:
    """Feature name -> value, for the features that all sentences of `turn` share; a name begins with the speaker, as
    `user offered`. `before`: the turn before it, None for the first."""
    whole = latin_length(turn.text)
    known = {"turn": log(1 + min(whole, REPORT_LETTERS)) / 4, "report": log(max(1.0, whole / REPORT_LETTERS))}
    if turn.role is Role.USER:
        known["first"] = float(before is None)
        known["offered"] = float(
            before is not None and before.role is Role.ASSISTANT and bool(OFFER.search(before.text))
        )
    return {f"{turn.role.value} {name}": value for name, value in known.items()}


def features(sentence: Statement, cues: float) -> dict[str, float]:
    """Feature name -> value for one sentence; a name begins with the speaker, as `user asks`. The values are about 0 to
    1, but the sum of cues goes from -MAX_CUE_SUM to MAX_CUE_SUM and counts for a person only."""
    text, role = sentence.own, sentence.turn.role
    known = {
        "length": log(1 + latin_length(text)) / 3,
        "code": float(bool(CODE.search(text))),
        "few": float(_is_bare(text)),
        "asks": float(bool(ASKS.search(text))),
        "sums up": float(bool(SUMS_UP.search(text))),
        "own work": float(bool(OWN_WORK.search(text))),
        "errand": float(bool(ERRAND.search(text))),
    }
    if role is Role.USER:
        known["cues"] = max(-MAX_CUE_SUM, min(MAX_CUE_SUM, cues))
    return {f"{role.value} {name}": value for name, value in known.items()}


def _drop(left: dict[int, str], places: Sequence[int]) -> None:
    for at in places:
        left.pop(at, None)


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
    rest = text[opening.end() : opening.end() + MAX_DECLINE_CHARS] if opening else ""
    return bool(DENIES.match(text) or DECLINES.search(rest) or (BARELY.match(text) and DENIES.match(rest)))


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
