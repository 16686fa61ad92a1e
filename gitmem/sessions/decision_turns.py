"""A person's answer in a talk with an agent, kept whole: what it settles, and what was answered on the way to it.

An answer is what a person says right after the agent. One that settles something is one fact: what the agent proposed
where the answer agrees to it, all statements of the answer in the order said, without questions, thanks, errands and a
bare "Agreed.", and behind them the short answers before it to what the agent offered, what they ruled out among them,
since that is what the next agent would try. Of the agent itself else only what settles something is kept, and what came
before an answer as a description of the problem is not. Pure; always what was said. A talk without an agent is not read
here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from gitmem.hosts.transcript import Role, Turn
from gitmem.index.terms import without_ending
from gitmem.models.wordpiece import words
from gitmem.search.question import STOP, STOP_KOREAN

WHOLE = 8  # telling words: an answer with fewer agrees or asks for something, unless its words say that it settles
AGREED = 3  # ... and a sentence with fewer says that something is settled, but not what
# How an agent offers choices.
OFFER = re.compile(
    r"\b(?:or|either|options?|could|can|would|alternatively|candidates?|suggest|propos\w+|prefer\w*|then)\b|[?？]\W*$"
    r"|거나|또는|방법|수\s*(?:도\s*)?있|제안|중에|그(?:럼|러면)|또는|または|あるいは|方法|案|或者|还是|可以|建议",
    re.I,
)
# A value, a limit or a denial: what an answer that settles something has, in whatever words.
BOUND = re.compile(
    r"\d|\b(?:not?|never|only|always|must|until|instead|every|each|keeps?|stays?|banned|n't)\b|n't\b"
    r"|않|안\s|못|만\s|까지|부터|예외|항상|대신|なし|ない|だけ|まで|必ず|不|只|必须|以后",
    re.I,
)
# How a choice is ruled out.
RULED_OUT = re.compile(
    r"\b(?:not|no|never|cannot|out|reject\w*|refused?|hates?|rather|insane|unacceptable|scrap|drop|without|lol\s+no)\b|n't\b"
    r"|싫|않|안\s|안\s*(?:돼|됩|할|해)|못\s|말고|별로|だめ|ダメ|やめ|ない|無理|不要|不行|别|不用",
    re.I,
)
# How an agent sums up what is to hold.
SUMS_UP = re.compile(
    r"^\W*(?:so|then|to\s+(?:fix|sum|recap|record|confirm|summari[sz]e)\b|in\s+short|summary|recap|decided|final|noted|settled)\b[^.?!]{0,40}[:,]"
    r"|^\W*(?:그럼|그러면|그렇다면|정리하면|정리하자면|요약하면|확인하면|최종)|^\W*(?:では|じゃあ|それでは|まとめると|整理すると|確認ですが)"
    r"|^\W*(?:那就?|那么|总结|總結|总之|整理一下|确认一下|也就是说)",
    re.I,
)
# Offers to choose from: a bare yes settles none of them.
CHOICES = re.compile(
    r"\b(?:or|either|both|alternatively|options?)\b|거나|또는|아니면|둘\s*다|または|あるいは|それとも|両方|或者|还是|還是",
    re.I,
)
# What an agent says of its own work.
OWN_WORK = re.compile(
    r"^\W*(?:i|i'll|i've|i'm|let\s+me|done|switched|changed|added|fixed|set\s+up|updated|created|wrote|pushed|deployed|removed|moved|here)\b"
    r"|(?:했습니다|하겠습니다|했어요|할게요|됐습니다|완료)\W*$|(?:しました|いたしました|します|完了)\W*$|^\W*(?:已|我来|我會|我会|完成)",
    re.I,
)
ERRAND = re.compile(
    r"^\W*(?:please\s+)?(?:can|could|would|will)\s+you\b|^\W*(?:please\s+)?(?:explain|show|tell|summari[sz]e|describe|list|open|look|check|revert|write|make)\b"
    r"|^\W*(?:thanks?|thank\s+you|let\s+me|i'll|we\s+need\s+to\s+settle)\b"
    r"|(?:알려|보여|확인해|요약해|설명해|봐|써|바꿔)\s*(?:줘|주세요|줄래)\S*$|(?:教えて|見せて|確認して)\S*$|^\W*(?:[请請]|麻烦|帮我)",
    re.I,
)
# A sentence that agrees and says no more.
AGREES = re.compile(
    r"\W*(?:(?:(?:ok|okay|yes|yep|yeah|sure|right|exactly|absolutely|perfect|great|good|nice|fine|agreed?|done|deal|gotcha|understood)"
    r"|(?:i|we)\s+(?:fully\s+|totally\s+)?agree(?:\s+with\s+(?:you|that|this))?|(?:that\s+)?(?:sounds|looks)\s+(?:good|great|right|fine)(?:\s+to\s+me)?"
    r"|good\s+(?:call|point|idea|catch)|makes\s+sense|fair\s+(?:enough|point)|got\s+it|works\s+for\s+me|no\s+objections?"
    r"|네|예|응|그래요?|좋(?:아요?|습니다|네요?|다)|동의(?:해요?|합니다|함)|맞(?:아요?|습니다)|알겠(?:어요?|습니다)|그렇게\s*(?:하죠|하자|합시다|해요)"
    r"|はい|ええ|了解(?:です|しました)?|賛成(?:です|します)?|同意(?:です|します)?|いいですね|そうですね|承知しました|それで(?:お願いします|いいです|いきましょう)"
    r"|好的?|可以|同意|没问题|沒問題|行|对|對|是的|就这样吧?|就這樣吧?)[\W_]*)+",
    re.I,
)
_HIRAGANA = re.compile("[\u3040-\u309f]")
ASKS = re.compile(r"[?？]\W*$|(?:까요?|나요|은가요|ㄴ가요|죠|었더라|지)\W*[?？]\W*$")


class Statement(Protocol):
    """A sentence: its text, its turn, and whether it may be somebody else's (`selection.Sentence`)."""

    @property
    def text(self) -> str: ...
    @property
    def turn(self) -> Turn: ...
    @property
    def doubtful(self) -> bool: ...


class Answer(NamedTuple):
    """The places of an answer's statements (of what it agrees to, too), of short answers before it, of the sentence
    that names its type; and its turn."""

    places: tuple[int, ...]
    before: tuple[int, ...]
    core: int
    type: str
    turn: Turn


def answers(
    said: Sequence[Statement], chosen: Mapping[int, str], turns: Sequence[Turn], settling: frozenset[str], longest: int
) -> tuple[list[Answer], dict[int, str]]:
    """The answers that settle something, in order, and which of `chosen` (place -> type) is left for sentences alone.

    `settling` are the types that settle something; an answer and what stands before it have `longest` characters at
    most, statements first. Without an agent's turn everything is left.
    """
    left = dict(chosen)
    if not {turn.role for turn in turns} >= {Role.USER, Role.ASSISTANT}:
        return [], left
    places_of: dict[int, list[int]] = {}
    for at, sentence in enumerate(said):
        if not sentence.doubtful:
            places_of.setdefault(id(sentence.turn), []).append(at)
    settled: list[Answer] = []
    before: list[int] = []
    earlier: Turn | None = None
    for turn in turns:
        places, asked, earlier = places_of.get(id(turn), []), earlier, turn
        if turn.role is Role.ASSISTANT:
            _drop(left, [at for at in places if not _settles_alone(said[at].text, chosen.get(at, ""), settling)])
        if turn.role is not Role.USER or asked is None or asked.role is not Role.ASSISTANT:
            continue
        proposed = _agreed_to(said, places_of.get(id(asked), []), turn, chosen, settling)
        stated = [at for at in places if _states(said[at].text)]
        if proposed or _settles(said, stated, chosen, asked, settling):
            settled.append(_answer(said, [*proposed, *stated], chosen, before, settling, longest, turn))
            before = []
            _drop(left, proposed)
        elif OFFER.search(asked.text):
            before += [at for at in stated if telling(said[at].text)]
        _drop(left, places)
    if settled:  # what was said before a settlement described the problem
        last = max(settled[-1].places)
        _drop(left, [at for at, kind in left.items() if at < last and kind == "fact"])
    return settled, left


def _drop(left: dict[int, str], places: Sequence[int]) -> None:
    for at in places:
        left.pop(at, None)


def telling(text: str) -> int:
    """How many words of a text say something of a subject. Kana and Han stand without spaces: two letters that are no
    Hiragana count as one."""
    told = [word for word in words(text) if word not in STOP and STOP_KOREAN.isdisjoint((word, without_ending(word)))]
    return sum((len(_HIRAGANA.sub("", word)) + 1) // 2 if "\u3040" <= word[0] < "\uac00" else 1 for word in told)


def _states(text: str) -> bool:
    """Whether a sentence of an answer says something: no question, no errand, no bare agreement."""
    return not (ASKS.search(text) or ERRAND.search(text) or AGREES.fullmatch(text))


def agrees(text: str) -> bool:
    """Whether a text begins with agreement."""
    agreed = AGREES.match(text)
    if agreed is None:
        return False
    around = text[agreed.end() - 1 : agreed.end() + 1]
    return not (around.isascii() and around.isalnum() and len(around) == 2)  # `okra` does not


def _agreed_to(
    said: Sequence[Statement], proposed: Sequence[int], turn: Turn, chosen: Mapping[int, str], settling: frozenset[str]
) -> list[int]:
    """What the agent said is to hold, where a person's turn begins with agreement and offered were no choices."""
    if not agrees(turn.text):
        return []
    stated = [
        at for at in proposed
        if telling(said[at].text) > AGREED and not (CHOICES.search(said[at].text) or OWN_WORK.search(said[at].text))
    ]  # fmt: skip
    first = next((at for at in stated if SUMS_UP.search(said[at].text)), None)
    if first is not None:
        return [at for at in stated if at >= first]
    return [at for at in stated if chosen.get(at, "") in settling and not ASKS.search(said[at].text)]


def _settles_alone(text: str, kind: str, settling: frozenset[str]) -> bool:
    """Whether an agent's sentence says what is so from now on, and not what it does or could do."""
    return (
        (kind in settling or kind == "lesson") and telling(text) > AGREED and not OFFER.search(text)
        and not re.match(r"\W*(?:i|i'll|i've|switched|changed|added|fixed|here)\b", text, re.I)
    )  # fmt: skip


def _settles(
    said: Sequence[Statement], stated: Sequence[int], chosen: Mapping[int, str], earlier: Turn, settling: frozenset[str]
) -> bool:
    text = " ".join(said[at].text for at in stated)
    kinds = {chosen[at] for at in stated if at in chosen}
    if telling(text) <= AGREED or (not kinds and not (OFFER.search(earlier.text) and BOUND.search(text))):
        return False
    return bool(kinds - {"fact"}) or telling(text) >= WHOLE


def _answer(
    said: Sequence[Statement], stated: Sequence[int], chosen: Mapping[int, str], before: Sequence[int],
    settling: frozenset[str], longest: int, turn: Turn,
) -> Answer:  # fmt: skip
    """The statements as far as they fit, those that were chosen before others, and the short answers before where they
    fit, what they rule out first."""
    short = sorted(before, key=lambda at: (not RULED_OUT.search(said[at].text), at))
    left = longest
    taken: list[int] = []
    for at in [*sorted(stated, key=lambda at: (at not in chosen, at)), *short]:
        if len(said[at].text) + 1 <= left:
            left -= len(said[at].text) + 1
            taken.append(at)
    cores = sorted((at for at in taken if at in chosen), key=lambda at: (chosen[at] not in settling, at))
    core = cores[0] if cores else taken[0]
    kind = chosen.get(core, "decision")
    places = tuple(sorted(at for at in taken if at in stated))
    rest = tuple(sorted(at for at in taken if at in before))
    return Answer(places, rest, core, "decision" if kind == "fact" else kind, turn)
