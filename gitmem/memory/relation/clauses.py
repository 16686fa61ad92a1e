"""The main clauses of a statement: the text without the clauses that give a reason or tell something aside.

A value that stands only in such a clause ("port 9090, because 8080 is taken", "8080은 젠킨스가 쓰므로 9090") is not the
statement's own value. A clause is found by the word that opens it, or, in Korean and Japanese, by the word that closes
it. The module reads one text and judges nothing.
"""

from __future__ import annotations

from functools import lru_cache

from gitmem.lazy_patterns import lazy
from gitmem.memory.relation.reading import read
from gitmem.memory.relation.tokens import DATE, ID, NAME, NUMBER, TIME

CACHED = 1 << 12  # texts whose main clauses are kept
MAX_TEXT_CHARACTERS = 1_000  # characters of a text whose clauses are looked for

# What opens a clause that reaches to the end of its sentence, or to the first comma where it opens the sentence.
_OPENING = {
    "en": lazy(
        r"\b(?:because|since(?!\s+(?:\d|last|the\s+(?:first|start|beginning)|then|january|february|march|april|may|june"
        r"|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
        r"|spring|summer|autumn|fall|winter|yesterday|today|version))|due\s+to|owing\s+to|given\s+that|although"
        r"|even\s+though|(?<=,\s)which|as\s+(?:the\s+)?\w+\s+(?:is|are|was|were|has|have|had|can|cannot|could|needs?|does|did|lacks?))\b"
    ),
    "ko": lazy(r"(?:(?<=[.,;(]\s)|(?<=\()|^)(?:그\s*)?(?:이유|까닭)는|왜냐하면"),
    "ja": lazy("なぜなら|というのも|理由は"),
    "zh": lazy("因[为為]|由[于於]|原因是|理由是"),
}
# What closes a clause that gives the reason of what follows it, or that is a sentence of its own.
_CLOSING = {
    "en": lazy(r",\s*so\b(?!\s+that\b)|[,;]\s*(?:therefore|hence|thus)\b"),
    "ko": lazy(
        r"(?:므로|(?<!따)라서|[아어여해져려워와돼]서|니까|느라|때문(?:에|이다|입니다|임)?|탓(?:에|이다|입니다)?)"
        r"(?=[\s.,;)]|$)"
    ),
    "ja": lazy("(?:ので|ため|せいで|から)(?=[、。]|$)|(?:から|ため)(?:だ|です)"),
    "zh": lazy("[，,；;]\\s*(?:所以|因此)"),
}
_SENTENCE_END = lazy(r"[.;!?](?=\s|$)|[。；！？)）\n]")
_BOUNDARY = lazy(r"[.,;!?:](?=\s)|[。；！？、，()（）\n]")  # before which no clause of `_CLOSING` begins
_COMMA = lazy(r",(?=\s)|[，、]")
_OPEN_MARKS = " \t,;:(（，、—–-"
_VALUE_KINDS = (NUMBER, DATE, TIME, ID, NAME)


@lru_cache(maxsize=CACHED)
def main_clauses(text: str) -> str:
    """The text without its side clauses; the text itself where it has none, has nothing else, or is longer than
    MAX_TEXT_CHARACTERS."""
    if len(text) > MAX_TEXT_CHARACTERS:
        return text
    reading = read(text)
    spans = [*_opened(text, reading.language), *_closed(text, reading.language)]
    if not spans:
        return text
    kept, at = [], 0
    for start, end in sorted(spans):
        if start > at:
            kept.append(text[at:start])
        at = max(at, end)
    main = " ".join(part.strip() for part in (*kept, text[at:]) if part.strip(_OPEN_MARKS + ".)）。"))
    if any(map(str.isalnum, main)):
        return main.lstrip(_OPEN_MARKS)
    return text


def _opened(text: str, language: str) -> list[tuple[int, int]]:
    """(start, end) of the clauses that begin with such a word."""
    spans: list[tuple[int, int]] = []
    for found in _OPENING[language].finditer(text.lower()) if len(text.lower()) == len(text) else ():
        if spans and found.start() < spans[-1][1]:
            continue
        before = text[: found.start()].rstrip()
        closing = _SENTENCE_END.search(text, found.end())
        if closing:
            end = closing.start()
        else:
            end = len(text)
        leads = not before or before[-1] in ".;!?。；！？"
        comma = None
        if leads or language == "zh":
            comma = _COMMA.search(text, found.end(), end)
        if comma:
            end = comma.end()
        spans.append((len(text[: found.start()].rstrip(_OPEN_MARKS)), _behind_bracket(text, end)))
    return spans


def _closed(text: str, language: str) -> list[tuple[int, int]]:
    """(start, end) of the clauses that end with such a word, each from its first value on: what stands before the value
    may be what the main clause speaks of ("서버는 8080을 젠킨스가 쓰므로 9090을 쓴다")."""
    spans = []
    for found in _CLOSING[language].finditer(text):
        start = max((end.end() for end in _BOUNDARY.finditer(text, 0, found.start())), default=0)
        values = [
            token.start for token in read(text).content
            if start <= token.start < found.start() and token.kind in _VALUE_KINDS
        ]  # fmt: skip
        if values:
            spans.append((len(text[: min(values)].rstrip(_OPEN_MARKS)), _behind_bracket(text, found.end())))
    return spans


def _behind_bracket(text: str, end: int) -> int:
    """The end of a clause, with the bracket that closes right behind it."""
    return end + (text[end : end + 1] in (")", "）"))
