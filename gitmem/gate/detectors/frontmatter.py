"""Finds dangerous front matter: YAML bombs, tags that construct objects, repeated keys, giant values.

Decides on the text, before any YAML parser sees it (docs/threats.md, A24). The other detectors read the values as
they read visible text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.text import Examples, Match, Text
from gitmem.lazy_patterns import lazy
from gitmem.messages import Message

MAX_CHARACTERS = 1 << 16  # characters of front matter
MAX_ALIASES = 8  # anchors and aliases together: notes need none
MAX_NESTING = 12  # depth of nested brackets
# These begin lines of example dialogues in an agent's description, and are not keys.
SPEAKERS = frozenset(["user", "assistant", "context"])
FENCE = lazy(r"^\ufeff?---[ \t]*\r?\n")
CLOSE = lazy(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
ALIAS = lazy(r"(?:^|(?<=[\s\[{,:-]))[&*][A-Za-z0-9_][\w.-]*(?=[\s,\]}]|$)", re.MULTILINE)
TAG = lazy(r"(?:^|(?<=[\s\[{,:-]))(?:!!?[A-Za-z][\w./:-]*|!<[^>\n]{1,200}>)", re.MULTILINE)
PLAIN_TAGS = frozenset(["!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!seq", "!!map"])
KEY = lazy(
    r"^(\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s#\-\[\]{}&*!|>'\"%@`,?:][^:\n]{0,199}?)[ \t]*:(?=\s|$)", re.MULTILINE
)


def detect(text: Text) -> Iterator[Match]:
    """The matches in the YAML front matter at the beginning of a text: too large, too many anchors and aliases, a tag
    that makes an object, brackets nested too deep, a repeated key. Each of these comes once; tags and keys come all
    when the text is read exhaustively. Front matter that is too large has only that match; one that is not closed has
    none."""
    fence = FENCE.match(text.raw)
    if fence is None:
        return
    close = CLOSE.search(text.raw, fence.end())
    if close is None:
        return  # a thematic break at the top: nobody reads it as settings
    start, end = fence.end(), close.start()
    if end - start > MAX_CHARACTERS:
        yield _match(
            "front-matter-size", start, start + 1, Message("front matter of more than {} characters", MAX_CHARACTERS)
        )
        return
    body = text.raw[start:end]
    aliases = [alias.start() for alias in ALIAS.finditer(body)]
    if len(aliases) > MAX_ALIASES:
        first = start + aliases[0]
        yield _match(
            "front-matter-bomb", first, first + 1, Message("{} YAML anchors and aliases: notes need none", len(aliases))
        )
    for tag in TAG.finditer(body):
        if tag.group() not in PLAIN_TAGS:
            yield _match("front-matter-tag", start + tag.start(), start + tag.end(), "a YAML tag that makes an object")
            if not text.exhaustive:
                break
    if _depth(body) > MAX_NESTING:
        yield _match("front-matter-bomb", start, start + 1, Message("brackets nested deeper than {}", MAX_NESTING))
    names: set[str] = set()
    for key in KEY.finditer(body):
        name = key.group(1).strip("\"'")
        if name.lower().rpartition("\\n")[2] in SPEAKERS:
            continue
        if name in names:
            words = "a key stands twice: readers disagree about which counts"
            yield _match("front-matter-key", start + key.start(1), start + key.end(1), words)
            if not text.exhaustive:
                break
        names.add(name)


def _match(rule: str, start: int, end: int, message: str) -> Match:
    return Match(rule, Severity.BLOCK, start, end, message)


def _depth(body: str) -> int:
    """How deep brackets are nested in a text; a closing one too many is ignored, and kinds are not told apart."""
    depth = deepest = 0
    for bracket in re.finditer(r"[\[{\]}]", body):
        if bracket.group() in "[{":
            depth = depth + 1
        else:
            depth = max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


BOMB = "---\na: &a [x]\n" + "".join(f"{c}: &{c} [*{p}, *{p}]\n" for p, c in ("ab", "bc", "cd")) + "---\n"
EXAMPLES: dict[str, Examples] = {
    "front-matter-size": Examples(
        flag=("---\ntitle: " + "x" * 70_000 + "\n---\n", "---\n제목: " + "가" * 70_000 + "\n---\n"),
        allow=("---\ntitle: short\n---\n", "---\n제목: 짧다\n---\n" + "가" * 70_000),
    ),
    "front-matter-bomb": Examples(
        flag=(BOMB, "---\n값: " + "[" * 40 + "]" * 40 + "\n---\n"),
        allow=("---\ntitle: R&D *draft* a & b\n---\n", "---\n태그: [회의, 결정]\n---\n"),
    ),
    "front-matter-tag": Examples(
        flag=(
            "---\nx: !!python/object/apply:os.system [ls]\n---\n",
            "---\n값: !<tag:yaml.org,2002:python/none> 가\n---\n",
        ),
        allow=("---\nx: !!str 3\ntitle: done!\n---\n", "---\n제목: 좋다!!\n---\n"),
    ),
    "front-matter-key": Examples(
        flag=("---\norigin: user\norigin: web\n---\n", "---\n제목: 하나\n제목: 둘\n---\n"),
        allow=(
            "---\na: 1\nb: 2\n---\na: 3\na: 4\n",
            "---\n제목: 하나\n태그: 둘\n---\n",
            '---\ndescription: Use it for reviews. <example>\nuser: "look"\nassistant: "yes"\nuser: "and?"\n---\n',
        ),
    ),
}
