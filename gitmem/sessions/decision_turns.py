"""What a talk with an agent settles, one line a matter: the sentences that settle it, and what led up to them.

A logistic regression says how likely it is that somebody who writes a decision down afterwards would use a sentence:
by who says it, the length of it and of its turn, whether it asks, sums up, tells of work or answers an offer, and what
the cues of promotion say of it. `tools/train.py decision_turns` writes the weights, `decision_turns.tsv`. A sentence
likelier than SETTLES settles something: a person's at once, the agent's where the person agrees or thanks, or says
nothing more; the one thing that the agent proposes ("I suggest ...") where the person says yes to it. What was said
since the last settlement and is likelier than BELONGS goes with it: what was proposed, bounded, ruled out. Pure; always
what was said. A talk without an agent is not read here.
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
from gitmem.text import english, korean
from gitmem.text.languages import EASTERN, LANGUAGES
from gitmem.text.telling import STOP, STOP_KOREAN
from gitmem.text.terms import latin_length, without_ending

MAX_SENTENCE_CHARACTERS = 400  # characters of a sentence, and of a line
SETTLING = frozenset(("decision", "rule", "constraint", "policy", "exception", "preference"))  # types that have reasons
SETTLES = 0.0  # log-odds: likelier than not
BELONGS = -2.0
ANSWERED = -1.0  # what the agent said is kept where a person goes on from it to words that stand alone
MAX_CUE_SUM = 3.0  # of a sum of cues, either way
SETTLING_CUE_SUM = 2.0  # sum of cues from which a sentence settles something: "we decided to use PostgreSQL" does
REPORT = 400  # Latin letters: what is longer is a report, a plan or something pasted rather than an answer
AGREED = 3  # telling words: a sentence with no more says that something is settled, but not what
_QUESTION_MARK = r"[?？]\W*$"
# How an agent offers choices.
OFFER = re.compile("|".join((_QUESTION_MARK, *(each.OFFER for each in LANGUAGES))), re.I)
# How an agent sums up what is to hold.
SUMS_UP = re.compile("|".join(each.DECISION_LEAD_INS for each in LANGUAGES), re.I)
# Offers to choose from: a bare yes settles none of them.
CHOICES = re.compile("|".join(each.CHOICE for each in LANGUAGES), re.I)
# What an agent says of its own work.
OWN_WORK = re.compile("|".join(each.OWN_WORK for each in LANGUAGES), re.I)
ERRAND = re.compile("|".join(each.ERRAND for each in LANGUAGES), re.I)
# A sentence that agrees and says no more.
AGREES = re.compile(rf"\W*(?:(?:{'|'.join(each.AGREEMENT for each in LANGUAGES)})[\W_]*)+", re.I)
# How an agent proposes one thing; one step of the work, which holds no longer than the work; what holds on.
PROPOSES = re.compile("|".join(each.PROPOSAL for each in LANGUAGES), re.I)
WORK_STEP = re.compile("|".join(each.WORK_STEP for each in LANGUAGES), re.I)
STANDS_ON = re.compile("|".join(each.STANDING for each in LANGUAGES), re.I)
# A turn, or its first sentence, that says yes to what was proposed and nothing else.
CONFIRMS = re.compile(rf"\W*(?:{'|'.join(each.CONFIRMATION for each in LANGUAGES)})(?:[\W_]*\Z|\s*[.!。！\n])", re.I)
THANKS = re.compile(rf"\W*(?:{'|'.join(each.THANKS for each in LANGUAGES)})", re.I)
DENIES = re.compile("|".join(each.REFUSAL for each in LANGUAGES), re.I)
CODE = re.compile(r"`|\*\*|[\w)]\(|\w/\w+[./]\w|\w[._]\w+\.\w|^\W*\w+Error\b|[{}<>=]{2}|\w:\d")
# Agreement that `no` may take back: `ok no`, where `yes, no banner` agrees.
BARELY = re.compile(rf"\W*(?:{english.FAINT_AGREEMENT}|{'|'.join(each.THANKS for each in EASTERN)})", re.I)
DECLINES = re.compile("|".join(each.DECLINING for each in LANGUAGES), re.I)
AFTERWARDS = 60  # characters of a turn behind its thanks in which it may decline
MAYBE = re.compile("|".join(each.POSSIBILITY for each in LANGUAGES), re.I)
# Types that hold whatever was settled; said in an answer to the agent they are lines too.
STANDING = frozenset(("deadline", "todo", "preference", "profile"))
_HIRAGANA = re.compile("[\u3040-\u309f]")
ASKS = re.compile(rf"{_QUESTION_MARK}|(?:{korean.ASKING_ENDS})\W*{_QUESTION_MARK}")


class Statement(Protocol):
    """A sentence: its text, that without what it quotes, its turn, and whether it may be somebody else's
    (`selection.Sentence`)."""

    @property
    def text(self) -> str: ...
    @property
    def own(self) -> str: ...
    @property
    def turn(self) -> Turn: ...
    @property
    def doubtful(self) -> bool: ...


class Settlement(NamedTuple):
    """The places of its statements, in order; of the one that settles; its type; and the turn that it was settled in,
    which is the person's where one agrees to what the agent said."""

    places: tuple[int, ...]
    core: int
    type: str
    turn: Turn


def settlements(
    said: Sequence[Statement], cues: Sequence[float], chosen: Mapping[int, str], turns: Sequence[Turn],
    picked: AbstractSet[int] = frozenset(), *, over: bool = True,
) -> tuple[list[Settlement], dict[int, str]]:  # fmt: skip
    """What was settled, in order, and which of `chosen` (place -> type) is left for sentences alone.

    `cues`: what the cues of promotion say of each sentence. `picked`: the places that are kept in any case. A
    settlement, like a sentence, has at most MAX_SENTENCE_CHARACTERS; the likeliest come first. Where the talk is not
    `over`, what the agent says last settles nothing yet.
    """
    left = dict(chosen)
    talk = _Talk(said, cues, [0.0] * len(said), chosen)
    settled: list[Settlement] = []
    pending: list[int] = []
    proposed: list[int] = []  # what the agent said last, which nobody has answered
    unanswered: list[int] = []  # the places of all that it has said since the person's last turn
    before: Turn | None = None
    model = linear_model.load(__file__, "decision_turns.tsv")
    for turn, places in _by_turn(said, turns):
        of_turn = features_of_turn(turn, before)
        is_answer = before is not None and before.role is Role.ASSISTANT
        for at in places:
            talk.odds[at] = model.odds({**of_turn, **features(said[at], cues[at])})
        if turn.role is Role.USER:
            made, pending = talk.settled_by(turn, places, proposed, pending)
            if any(_takes(each, unanswered) for each in made):
                sure = []
            else:
                sure = talk.confirmed_by(turn, unanswered)
            settled += [*sure, *made]
            pending = [at for at in pending if all(at not in each.places for each in sure)]
            proposed, unanswered = [], []
            places = [at for at in places if chosen.get(at) not in STANDING or telling(said[at].text) <= AGREED]
        else:
            unanswered += places
            new = [at for at in places if talk.belongs(at)]
            if any(map(talk.settles, new)):
                proposed = new
            else:
                proposed = [*proposed, *new]
        if turn.role is Role.ASSISTANT or is_answer:
            _drop(left, [at for at in places if at not in picked])
        before = turn
    strong = [at for at in proposed if talk.settles(at) and not _offers(said[at].text)]
    if strong and over:
        settled.append(talk.settlement([*pending, *proposed], strong, turns[-1]))
    for each in settled:
        _drop(left, each.places)
    if settled:  # what was said before a settlement described the problem
        last = max(settled[-1].places)
        _drop(left, [at for at, kind in left.items() if at < last and kind == "fact" and at not in picked])
    return settled, left


class _Talk(NamedTuple):
    """The sentences of a talk, and how likely each is to be part of a decision (log-odds)."""

    said: Sequence[Statement]
    cues: Sequence[float]
    odds: list[float]
    chosen: Mapping[int, str]

    def settles(self, at: int) -> bool:
        """Whether a sentence settles something, or says so itself."""
        own = self.said[at].turn.role is Role.USER
        says_so = self.cues[at] >= SETTLING_CUE_SUM if own else SUMS_UP.search(self.said[at].text)
        return self.odds[at] > SETTLES or bool(says_so)

    def belongs(self, at: int) -> bool:
        return self.odds[at] > BELONGS or self.settles(at)

    def settled_by(
        self, turn: Turn, places: Sequence[int], proposed: Sequence[int], pending: Sequence[int]
    ) -> tuple[list[Settlement], list[int]]:
        """The settlements of a person's turn, and the places that are pending after it.

        `places`: sentences of the turn. `proposed`: sentences of the agent right before it. `pending`: sentences since
        the last settlement.
        """
        own = [at for at in places if self.belongs(at) and _states(self.said[at].own)]
        strong = [at for at in own if self.settles(at)]
        refused, agreed = refuses(turn.text), agrees(turn.text)
        if strong:  # what stands alone is the person's word; what it was said to is a line of the agent's
            told = [at for at in pending if self.said[at].turn.role is Role.ASSISTANT]
            pending = [at for at in pending if at not in told]
            if refused:
                told = []
            elif agreed:
                told = [*told, *proposed]
            core = [at for at in told if self.odds[at] > ANSWERED and not _offers(self.said[at].text)]
            if core:
                first = [self.settlement(told, core, turn)]
            else:
                first = []
            return [*first, self.settlement([*pending, *own], strong, turn)], []
        if refused:
            return [], [*pending, *own]
        joined = [at for at in proposed if agreed or not CHOICES.search(self.said[at].text)]
        if agreed or THANKS.match(turn.text):
            strong = [at for at in proposed if self.settles(at) and not _offers_choice(self.said[at].text)]
        pending = [*pending, *joined, *own]
        if strong:
            return ([self.settlement(pending, strong, turn)], [])
        return ([], pending)

    def confirmed_by(self, turn: Turn, unanswered: Sequence[int]) -> list[Settlement]:
        """The one proposal in what the agent said last (`unanswered`), where a person's turn says yes to it: none where
        the agent proposes several things, leaves a choice, or proposes a step of the work."""
        if not confirms(turn.text) or any(CHOICES.search(self.said[at].own) for at in unanswered):
            return []
        proposals = [at for at in unanswered if PROPOSES.search(self.said[at].own)]
        others = [self.said[at].own for at in unanswered if at not in proposals]
        if len(proposals) != 1 or any(OFFER.search(text) and not ASKS.search(text) for text in others):
            return []
        text = self.said[proposals[0]].own
        opening = PROPOSES.match(text)
        if opening:
            rest = text[opening.end() :]
        else:
            rest = text
        is_step = WORK_STEP.search(rest) is not None and STANDS_ON.search(rest) is None
        if is_step or telling(text) <= AGREED or ASKS.search(text):
            return []
        return [self.settlement([], proposals, turn)]

    def settlement(self, pending: Sequence[int], strong: Sequence[int], turn: Turn) -> Settlement:
        """The likeliest of the sentences since the last one, as far as they fit, those that settle it first."""
        room = MAX_SENTENCE_CHARACTERS + 2  # a full stop and a space behind each but the last
        taken: list[int] = []
        for at in sorted({*strong, *pending}, key=lambda at: (at not in strong, -self.odds[at])):
            if len(self.said[at].text) + 2 <= room:
                room -= len(self.said[at].text) + 2
                taken.append(at)
        cores = [at for at in strong if at in taken]
        core = min(cores, key=lambda at: (self.chosen.get(at) not in SETTLING, -self.odds[at]))
        kind = self.chosen.get(core, "fact")
        return Settlement(tuple(sorted(taken)), core, "decision" if kind == "fact" else kind, turn)


def _takes(settled: Settlement, places: Sequence[int]) -> bool:
    """Whether a settlement has one of these sentences."""
    return not set(settled.places).isdisjoint(places)


def _by_turn(said: Sequence[Statement], turns: Sequence[Turn]) -> list[tuple[Turn, list[int]]]:
    """Each turn with the places of the sentences that are its speaker's own."""
    places: dict[int, list[int]] = {}
    for at, sentence in enumerate(said):
        if not sentence.doubtful:
            places.setdefault(id(sentence.turn), []).append(at)
    return [(turn, places.get(id(turn), [])) for turn in turns]


def features_of_turn(turn: Turn, before: Turn | None) -> dict[str, float]:
    """What is known of all sentences of a turn that comes after `before`, by name."""
    whole = latin_length(turn.text)
    known = {"turn": log(1 + min(whole, REPORT)) / 4, "report": log(max(1.0, whole / REPORT))}
    if turn.role is Role.USER:
        known["first"] = float(before is None)
        known["offered"] = float(
            before is not None and before.role is Role.ASSISTANT and bool(OFFER.search(before.text))
        )
    return {f"{turn.role.value} {name}": value for name, value in known.items()}


def features(sentence: Statement, cues: float) -> dict[str, float]:
    """What is known of a sentence by itself, by name: about 0..1, sums of cues apart."""
    text, role = sentence.own, sentence.turn.role
    known = {
        "length": log(1 + latin_length(text)) / 3,
        "code": float(bool(CODE.search(text))),
        "few": float(telling(text) <= AGREED),
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


def telling(text: str) -> int:
    """How many words of a text say something of a subject. Kana and Han stand without spaces: two letters that are no
    Hiragana count as one."""
    told = [word for word in words(text) if word not in STOP and STOP_KOREAN.isdisjoint((word, without_ending(word)))]
    return sum((len(_HIRAGANA.sub("", word)) + 1) // 2 if "\u3040" <= word[0] < "\uac00" else 1 for word in told)


def _states(text: str) -> bool:
    """Whether a sentence of a person says something: no question, no errand, no bare agreement."""
    return not (ASKS.search(text) or ERRAND.search(text) or AGREES.fullmatch(text) or CONFIRMS.fullmatch(text))


def _offers_choice(text: str) -> bool:
    """Whether a sentence leaves a choice, which a bare yes does not make."""
    return bool(CHOICES.search(text) and (ASKS.search(text) or MAYBE.search(text)))


def _offers(text: str) -> bool:
    return bool(ASKS.search(text)) or _offers_choice(text)


def refuses(text: str) -> bool:
    """Whether a person's turn refuses, be it after thanks or praise: `no`, `thanks but no thanks`, `great, but no`."""
    opening = AGREES.match(text) or THANKS.match(text)
    rest = ""
    if opening:
        rest = text[opening.end() : opening.end() + AFTERWARDS]
    return bool(DENIES.match(text) or DECLINES.search(rest) or (BARELY.match(text) and DENIES.match(rest)))


def agrees(text: str) -> bool:
    """Whether a text begins with agreement."""
    agreed = AGREES.match(text)
    if agreed is None:
        return False
    around = text[agreed.end() - 1 : agreed.end() + 1]
    return not (around.isascii() and around.isalnum() and len(around) == 2)  # `okra` does not


def confirms(text: str) -> bool:
    """Whether a person's turn says yes to what was proposed before anything else: `yes, do that`, `go ahead`."""
    return CONFIRMS.match(text) is not None
