"""Finds markers of chat roles and of quoted memory (`<|im_start|>`, `[INST]`, `System:`, `</memory>`) in a text.

Such a marker could end the quotation in which a host gives memory to a model. A *hard* marker is a token that nobody
writes in prose; it always counts. A *soft* marker is an ordinary tag, label or heading; it counts only before an
instruction.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from gitmem.gate.detectors.code_fences import shown_code
from gitmem.gate.detectors.injection.sentence_judge import PEM_FRAME, judge
from gitmem.gate.detectors.text import Match, Scope, Severity, Text
from gitmem.lazy_patterns import lazy

_SOFT_MARKER_BOOST = 1.75  # added to the score of the text after a soft marker
_MIN_LOG_LABELS = 4  # labels such as `System:` in one text; with so many they are how the lines of a log begin
_TURN = lazy(r"(?m)^(?:user|human|assistant|tool): ")
_MAX_MARKERS = 1_000  # markers whose following text is read; a text with more is not a note

# The markers by their first sign, so that a search is quick in a text without it.
_ANGLED = lazy(
    r"<(?!<<)(?:\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_turn|eot_id|start_header_id|end_header_id|"
    r"begin_of_text|channel|message|start|end|return|call|endofprompt)\|>"
    r"|</?SYS>>|(?:start|end)_of_turn>"
    r"|/?(?:system|memory|memories|instructions?|user_?query|context|documents?|tool_?results?|tool_?call|function_?(?:calls?|results?)|"
    r"assistant|human|admin|developer|prompt|system[_-](?:prompt|message|reminder|instructions?|note|update|override))(?: [^<>\n]{0,80})?>"
    r"|(?:important|critical|urgent|secret|hidden|override|중요|긴급|시스템|지시|重要|システム|指示|系统|指令|紧急)(?: [^<>\n]{0,80})?>)",
    re.I,
)  # fmt: skip
_BRACKETED = lazy(
    r"\[(?:/?INST\]|/?(?:SYSTEM|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS?|TOOL_RESULTS?)\]"
    r"|(?:system|시스템|システム|系统)(?: (?:message|prompt|메시지))?\]\s*:?)",
    re.I,
)  # fmt: skip
_LABEL = lazy(  # on a text with a line end before it
    r"\n[ \t>]{0,8}(?:#{1,6} ?(?:system|assistant|human|developer|instruction|시스템|システム|系统)(?: (?:message|prompt|update))?:?[ \t]*(?=\n|$)"
    r"|(?:-{3,}|={3,}|\*{3,}) ?(?:end|begin|start|new|system)[ \w]{0,30}(?:-{3,}|={3,}|\*{3,})"
    r"|(?:\*\*)?(?:system|developer|시스템|システム|系统)(?: (?:message|prompt))?(?:\*\*)?: ?)",
    re.I,
)  # fmt: skip
# Hard markers. All other markers are soft.
_HARD_MARKER = lazy(
    r"<\||\[/?inst\]|<</?sys|_of_turn>|</(?:memory|memories|system|context|documents?|instructions?|user_?query|prompt)",
    re.I,
)
_CODE = lazy(r"`[^`\n]{1,300}`|\"[^\"\n]{1,200}\"|「[^」\n]{1,200}」|“[^”\n]{1,200}”|(?<!\w)'[^'\n]{1,200}'(?![a-z])")
_TALK = lazy(
    r"\b(?:tests?|detect\w*|escap\w+|strip\w*|templates?|tokens?|parser?|parsing|formats?|blocks?|rejects?|examples?|attack\w*|uses?|quot\w+|special|"
    r"tokeni[sz]er|models?|decision|discussion|sdk|schema|docs?|renders?|wrap\w*|tags?)\b|테스트|탐지|토큰|형식|예시|공격|차단|이스케이프|템플릿|제거|태그|"
    r"テスト|検出|トークン|形式|例|攻撃|タグ|测试|检测|标记|格式|示例|攻击|转义|标签",
    re.I,
)


@lru_cache(maxsize=1 << 10)
def _precedes_instruction(after: str, *, is_hard: bool, is_shown: bool) -> bool:
    """Whether the text after a marker is an instruction: a likely one too after a hard marker (`is_hard`), only a nearly
    certain one after a soft marker.

    Text after a soft marker gets a boost, except after a marker that is shown as code or begins the lines of a log
    (`is_shown`), and before an empty line, since the marker is a heading then.
    """
    if is_hard:
        return any(True for _ in judge(Text(after)))
    boost = _SOFT_MARKER_BOOST
    if is_shown or _SET_OFF.match(after):
        boost = 0.0
    return any(True for _ in judge(Text(after), boost, likely=False))


_SET_OFF = lazy(r"[ \t]*\r?\n[ \t]*\r?\n")


@lru_cache(maxsize=1 << 4)
def _shown_as_code(line: str) -> list[tuple[int, int]]:
    """The ranges of a line between quotation marks or backticks. Cached, since one line may have many markers."""
    return [match.span() for match in _CODE.finditer(line)]


def _marker_places(folded: str) -> list[tuple[int, int]]:
    """(start, end) of each marker in folded text, sorted."""
    places: list[tuple[int, int]] = []
    if "<" in folded:
        places += [match.span() for match in _ANGLED.finditer(folded)]
    if "[" in folded:
        places += [match.span() for match in _BRACKETED.finditer(folded)]
    for match in _LABEL.finditer("\n" + folded):  # with the line end before it, but for the first line
        places.append((max(0, match.start() - 1), match.end() - 1))
    return sorted(places)


class _OpenElements:
    """Counts the elements that the text itself has opened. An end tag of such an element ends nothing outside the
    text."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def ends_own(self, marker: str) -> bool:
        """Whether `marker`, the next one of the text, closes an element that the text opened. The call counts the
        element that `marker` opens or closes. Always False for elements of `_FRAMES`."""
        tag = _TAG.match(marker)
        if not tag or tag.group(2) in _FRAMES:
            return False
        name = tag.group(2)
        if not tag.group(1):
            self._open[name] += 1
            return False
        if self._open[name] <= 0:
            return False
        self._open[name] -= 1
        return True


_TAG = lazy(r"<(/?)([a-z_-]+)")
_FRAMES = frozenset({"memory", "memories", "system"})  # elements in which hosts put memory and their own text
_MAX_READ_CHARACTERS = 400  # characters after a marker that are read


def find_markers(text: Text) -> Iterator[Match]:
    """The matches for role markers. A hard marker (a token such as `<|im_start|>`) is a match, but in a line about
    markers only before an instruction; a soft one (an ordinary tag, label or heading) only before an instruction. A
    marker in quotation marks or backticks, and one that closes an element of the text itself, is left out. After 1,000
    different texts behind markers, a match says that the rest was not read."""
    folded = text.folded
    places = _marker_places(folded)
    if not places:
        return
    marker_end = -1
    read_texts: set[str] = set()
    elements = _OpenElements()
    labels = sum(folded[first:end].rstrip().endswith(":") for first, end in places)
    if labels:
        labels += len(_TURN.findall(folded))
    breaks = [-1, *(match.start() for match in re.finditer("\n", folded))]
    for first, end in places:
        if first < marker_end:
            continue
        marker = folded[first:end]
        if PEM_FRAME.search(marker):
            continue
        start = first + (marker[0] == "\n")
        line_start, line_end = _line_span(folded, breaks, start, end)
        line = folded[line_start : min(line_end, line_start + 600)]
        ends_own, is_hard = elements.ends_own(marker), bool(_HARD_MARKER.search(marker))
        column = start - line_start
        marker_end = end
        if ends_own or any([a <= column < b for a, b in _shown_as_code(line)]):
            continue
        after = _text_after(marker, folded[end : end + _MAX_READ_CHARACTERS])
        read_texts.add(after)
        if len(read_texts) > _MAX_MARKERS:
            message = "more markers of roles than can be read"
            yield Match("injection-role-marker", Severity.BLOCK, *text.to_raw(start, end), message, unread=True)
            if not text.exhaustive:
                return
            continue
        is_talked_about = is_hard and bool(_TALK.search(line[:column]) or _TALK.search(line[column + len(marker) :]))
        is_shown = shown_code(folded).is_fenced(start) or (labels >= _MIN_LOG_LABELS and marker.rstrip().endswith(":"))
        if (is_hard and not is_talked_about) or _precedes_instruction(after, is_hard=is_hard, is_shown=is_shown):
            yield _role_marker(text, start, end, is_hard)


def _line_span(folded: str, breaks: list[int], start: int, end: int) -> tuple[int, int]:
    """(start, end) of the line with a marker at start..end; `breaks`: -1, then the offset of each line end."""
    line_start = breaks[bisect_left(breaks, start) - 1] + 1
    after_line = bisect_left(breaks, end)
    if after_line < len(breaks):
        return line_start, breaks[after_line]
    return line_start, len(folded)


def _text_after(marker: str, after: str) -> str:
    """The text after a marker. After the opening tag of an element whose closing tag follows, only the element's
    content."""
    tag = _TAG.match(marker)
    if not tag or tag.group(1) or tag.group(2) in _FRAMES:
        return after
    end = after.find(f"</{tag.group(2)}")
    if end >= 0:
        return after[:end]
    return after


def _role_marker(text: Text, start: int, end: int, is_hard: bool) -> Match:
    """The match for a marker at start..end of `text.folded`. A soft marker in a file that is meant to hold instructions
    only warns."""
    severity = Severity.of(blocks=is_hard or text.scope is not Scope.INSTRUCTIONS)
    raw_start, raw_end = text.to_raw(start, end)
    judged = text.to_raw(start, min(end + _MAX_READ_CHARACTERS, len(text.folded)))[1]
    message = "a marker that starts or ends a role of a conversation"
    return Match("injection-role-marker", severity, raw_start, raw_end, message, context=max(0, judged - raw_end))
