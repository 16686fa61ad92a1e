"""Finds the main clauses of a statement: its text without side clauses, which give a reason or a remark.

A value that is only in a side clause ("port 9090, because 8080 is taken", "8080은 젠킨스가 쓰므로 9090") is not a value
of the statement. A side clause is found by the word that opens it or, mostly in Korean and Japanese, by the word that
closes it.
"""

from __future__ import annotations

from functools import lru_cache

from gitmem.lazy_patterns import lazy
from gitmem.memory.relation.reading import read
from gitmem.memory.relation.tokens import DATE, ID, NAME, NUMBER, TIME

MAX_CACHED_TEXTS = 1 << 12
MAX_TEXT_CHARACTERS = 1_000  # a longer text is returned whole

# Words that open a side clause. It ends with its sentence, or at the first comma if it opens the sentence.
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
# Words that close a side clause, which gives the reason for the following clause or is a sentence of its own.
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
_BOUNDARY = lazy(r"[.,;!?:](?=\s)|[。；！？、，()（）\n]")  # a clause of `_CLOSING` begins after the last of these
_COMMA = lazy(r",(?=\s)|[，、]")
_OPEN_MARKS = " \t,;:(（，、—–-"
_VALUE_KINDS = (NUMBER, DATE, TIME, ID, NAME)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def main_clauses(text: str) -> str:
    """The text without its side clauses, which give a reason or a remark. The text itself if it has none, has only side
    clauses, or is longer than MAX_TEXT_CHARACTERS."""
    if len(text) > MAX_TEXT_CHARACTERS:
        return text
    reading = read(text)
    spans = [*_opened(text, reading.language), *_closed(text, reading.language)]
    if not spans:
        return text
    parts, copied = [], 0
    for start, end in sorted(spans):
        if start > copied:
            parts.append(text[copied:start])
        copied = max(copied, end)
    main = " ".join(part.strip() for part in (*parts, text[copied:]) if part.strip(_OPEN_MARKS + ".)）。"))
    return main.lstrip(_OPEN_MARKS) if any(map(str.isalnum, main)) else text


def _opened(text: str, language: str) -> list[tuple[int, int]]:
    """(start, end) of the side clauses that begin with a word of `_OPENING`, in order."""
    spans: list[tuple[int, int]] = []
    lower = text.lower()
    if len(lower) != len(text):
        return spans
    for match in _OPENING[language].finditer(lower):
        if spans and match.start() < spans[-1][1]:
            continue
        before = text[: match.start()].rstrip()
        closing = _SENTENCE_END.search(text, match.end())
        end = closing.start() if closing else len(text)
        opens_sentence = not before or before[-1] in ".;!?。；！？"
        if (opens_sentence or language == "zh") and (comma := _COMMA.search(text, match.end(), end)):
            end = comma.end()
        spans.append((len(text[: match.start()].rstrip(_OPEN_MARKS)), _behind_bracket(text, end)))
    return spans


def _closed(text: str, language: str) -> list[tuple[int, int]]:
    """(start, end) of the side clauses that end with a word of `_CLOSING` and have a value.

    Each begins at its first value, as the words before it may be the subject of the main clause ("서버는 8080을
    젠킨스가 쓰므로 9090을 쓴다").
    """
    spans = []
    for match in _CLOSING[language].finditer(text):
        start = max((end.end() for end in _BOUNDARY.finditer(text, 0, match.start())), default=0)
        values = [
            token.start for token in read(text).content
            if start <= token.start < match.start() and token.kind in _VALUE_KINDS
        ]  # fmt: skip
        if values:
            spans.append((len(text[: min(values)].rstrip(_OPEN_MARKS)), _behind_bracket(text, match.end())))
    return spans


def _behind_bracket(text: str, end: int) -> int:
    """`end`, or the offset after a closing bracket that begins there."""
    return end + (text[end : end + 1] in (")", "）"))
