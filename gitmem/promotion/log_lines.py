"""A daily log as the lines a model may promote: bullets and plain sentences, without marker, time, label or speaker.

Pure. Headings, fences, tables, quotes, comments, front matter and anything machine-written are not candidates: a log
that repeats what came from memory must not feed it again (docs/promotion.md, "What is never a source").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gitmem.fences import open_after
from gitmem.memory.fact import origin_of, parse_comment, worst_origin
from gitmem.memory.front_matter import closing_line
from gitmem.promotion.proposal import Log

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?")
_TIME = re.compile(r"^\[?(?:[01]?\d|2[0-3]):[0-5]\d(?::\d\d)?\]?\s*(?:[aApP]\.?[mM]\.?)?\s*[-–—:|]?\s+")
_PERIOD = re.compile(
    r"^(?:오전|오후|아침|저녁|morning|afternoon|evening|am|pm|later|update|최종|결론|final)\s*[:：]\s*"
    r"|^(?:(?:오전|오후|저녁|결국|나중)에?\s+)?(?:뒤집음|번복|변경|정정)\s*[:：]\s*",
    re.I,
)
_LABEL = re.compile(
    r"^(?:\[(?P<a>[^\]\d][^\]]{0,20})\]|【(?P<c>[^】]{1,20})】"
    r"|(?P<b>[^\W\d][\w ]{0,18}?)\s*[:：](?![/\w]))\s*"
)
_SPEAKER = re.compile(r"^([^\W\d_][\w.'-]*(?: [^\W\d_][\w.'-]*)?): (?=\S)")
_WIDE = re.compile(r"([가-힣])|([\u3041-\u30ff])|([\u3400-\u9fff])")  # Hangul, Kana, Han
_LATIN = re.compile(r"[A-Za-z]+")
_QUOTE = re.compile(r"^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)*>")
_MACHINE = re.compile(
    r"\b(?:promot(?:ed|ion)|dream(?:s|ing)?|heartbeat|cron|consolidation|recall(?:ed)?|digest|auto-?generated|insights?)\b"
    r"|자동\s*생성|승격|회상|크론|요약\s*봇",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate. `text` is the sentence; `whole` what stood on the line after its marker and time;
    `label` a leading `Decision:` or `[결정]` in lower case; `speaker` in a dialogue; `section` the heading above;
    `languages` those whose cues are read (`languages_of`)."""

    number: int
    text: str
    whole: str
    label: str = ""
    speaker: str = ""
    section: str = ""
    period: str = ""
    languages: tuple[str, ...] = ("en",)
    origin: str = ""


def languages_of(text: str) -> tuple[str, ...]:
    """`ko`, `ja` or `zh` by the script of a text, and `en` where it is mostly Latin or has none of these scripts.

    Kana makes it Japanese; Han alone is read as Chinese.
    """
    wide = _WIDE.findall(text)
    if not wide:
        return ("en",)
    hangul, kana = sum(bool(row[0]) for row in wide), any(row[1] for row in wide)
    language = "ko" if hangul else "ja" if kana else "zh"
    latin = sum(len(word) for word in _LATIN.findall(text))
    return (language, "en") if latin > 2 * (hangul or len(wide)) else (language,)


def line_origins(lines: Sequence[str]) -> list[str]:
    """The worst origin stated for each line of a log: by its own comment and by every bullet it is indented below.

    A quoted or fenced line is `web`: whoever wrote the log shows there what somebody else wrote.
    """
    origins: list[str] = []
    above: list[tuple[int, str]] = []  # (indent, origin) of the bullets a line stands below
    fence = ""
    for raw in lines:
        before, fence = fence, open_after(fence, raw.strip())
        if before or fence:
            origins.append("web")
            continue
        if not raw.strip():
            origins.append("")
            continue
        indent = len(raw.expandtabs(4)) - len(raw.expandtabs(4).lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        stated = origin_of(parse_comment(raw)[1])
        quoted = "web" if _QUOTE.match(raw) else ""
        origin = worst_origin(stated, quoted, *(inherited for _, inherited in above[-1:]))
        origins.append(origin)
        if _BULLET.match(raw):
            above.append((indent, worst_origin(stated, *(inherited for _, inherited in above[-1:]))))
    return origins


def candidates_of(log: Log, labels: Mapping[str, object]) -> list[Candidate]:
    """Every candidate line of a log, new or not (the old ones are context for retractions)."""
    rows: list[tuple[int, str, str, str]] = []  # number, body, section, origin
    section, fence, comment, machine = "", "", False, False
    front = closing_line(log.lines)
    origins = line_origins(log.lines)
    for number, raw in enumerate(log.lines[front:], front + 1):
        bare = raw.strip()
        if comment:
            comment = "-->" not in raw
            continue
        before, fence = fence, open_after(fence, raw.strip())
        if before or fence:
            continue
        if bare.startswith("#"):
            section = bare.lstrip("#").strip()
            machine = bool(_MACHINE.search(section))
            continue
        if bare.startswith("<!--"):
            comment = "-->" not in raw
            continue
        if machine or not bare or bare[0] in "|>" or len(bare) > 4000 or not any(c.isalnum() for c in bare):
            continue
        body, meta = parse_comment(_BULLET.sub("", raw, count=1))
        if any(key == "src" for key, _ in meta):
            continue  # it came from memory
        rows.append((number, body.strip(), section, origins[number - 1]))
    speakers = _speakers([body for _, body, _, _ in rows])
    return [_candidate(n, body, section, origin, speakers, labels) for n, body, section, origin in rows]


def _speakers(bodies: list[str]) -> set[str]:
    """The names that take turns, when the log is a dialogue: two at least, saying most of its lines."""
    counts: dict[str, int] = {}
    for body in bodies:
        match = _SPEAKER.match(body)
        if match and len(match[1]) <= 24:
            counts[match[1]] = counts.get(match[1], 0) + 1
    turns = {name: count for name, count in counts.items() if count >= 2}
    return set(turns) if len(turns) >= 2 and sum(turns.values()) >= 0.6 * len(bodies) else set()


def _candidate(
    number: int, body: str, section: str, origin: str, speakers: set[str], labels: Mapping[str, object]
) -> Candidate:
    whole = _TIME.sub("", unicodedata.normalize("NFC", body), count=1)
    text, label, speaker, period = whole, "", "", ""
    match = _SPEAKER.match(whole)
    if speakers and match and match[1] in speakers:
        speaker, text = match[1], whole[match.end() :]
    else:
        opening = _PERIOD.match(text)
        if opening:
            period = opening[0].rstrip(" :：").lower()
            text = text[opening.end() :]
        labelled = _LABEL.match(text)
        name = " ".join((labelled["a"] or labelled["b"] or labelled["c"] or "").lower().split()) if labelled else ""
        if labelled and name in labels and text[labelled.end() :].strip():
            label, text = name, text[labelled.end() :]
    return Candidate(number, text, whole, label, speaker, section, period, languages_of(text), origin)
