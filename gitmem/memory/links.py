"""The links of a Markdown file to files beside it: which files it shows, and the links after files have moved. Pure.

Inline links and pictures, reference definitions, `src` and `href` of HTML, and wiki links (`![[picture.png]]`), which
name a file wherever it lies. Paths are relative to the top of a folder, with `/`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import quote, unquote

_LINK = re.compile(
    r"(?P<inline>\]\()(?P<target><[^<>\n]{1,1000}>|[^\s()<>]{1,1000}(?:\([^\s()]{0,200}\)[^\s()<>]{0,1000})?)(?=[\s)])"
    r"|(?P<definition>^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*)(?P<defined><[^<>\n]{1,1000}>|\S{1,1000})"
    r"|(?P<attribute>\b(?:src|href)=)(?P<value>\"[^\"\n]{1,1000}\"|'[^'\n]{1,1000}')",
    re.M | re.I,
)
_WIKI = re.compile(r"!?\[\[([^\[\]|#\n]{1,500})(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_ELSEWHERE = re.compile(r"[A-Za-z][\w+.-]*:|#|//")


class Linkable:
    """Files that others may link to or show, read once for any number of texts."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = frozenset(paths)
        self._named: dict[str, list[str]] = {}  # the name alone -> paths
        for path in self._paths:
            self._named.setdefault(posixpath.basename(path), []).append(path)

    def linked(self, text: str, name: str) -> set[str]:
        """Those that the file `name` with this text links to or shows."""
        found = {path for match in _LINK.finditer(text) if (path := _resolved(_target(match), name)) in self._paths}
        for want in {match[1].strip() for match in _WIKI.finditer(text)}:
            close = self._named.get(posixpath.basename(want), ())
            found |= {path for path in close if path == want or path.endswith(f"/{want}")}
        return found


def relinked(text: str, name: str, moved: Mapping[str, str]) -> str:
    """The text of the file `name` with each link to a file of `moved` (old path -> new path) that would lead elsewhere
    from the new place of `name` leading there; every other byte as it was."""
    return "".join(_pieces(text, name, moved))


def _pieces(text: str, name: str, moved: Mapping[str, str]) -> Iterator[str]:
    here = posixpath.dirname(moved.get(name, name))
    done = 0
    for match in _LINK.finditer(text):
        raw = _target(match)
        path = _resolved(raw, name)
        if path not in moved:
            continue
        bare = raw.strip("<>\"'")
        plain, mark, rest = _split(bare)
        now = posixpath.relpath(moved[path], here or ".")
        if not plain.startswith("/") and posixpath.normpath(unquote(plain)) == now:
            continue
        start = match.end() - len(raw)
        if "%" in plain or (" " in now and raw == bare):
            spelled = quote(now)
        else:
            spelled = now
        yield text[done:start] + raw.replace(bare, spelled + mark + rest, 1)
        done = match.end()
    yield text[done:]


def _target(match: re.Match[str]) -> str:
    return match["target"] or match["defined"] or match["value"] or ""


def _split(bare: str) -> tuple[str, str, str]:
    """(path, "#" or "?", what follows) of a link."""
    found = re.search("[#?]", bare)
    if found:
        return (bare[: found.start()], found[0], bare[found.end() :])
    return (bare, "", "")


def _resolved(raw: str, name: str) -> str:
    """The path that a link in the file `name` leads to, "" for an address elsewhere or none below the top."""
    bare = raw.strip("<>\"'")
    if not bare or _ELSEWHERE.match(bare):
        return ""
    plain = unquote(_split(bare)[0])
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), plain) if plain[:1] != "/" else plain.lstrip("/"))
    if path.startswith("..") or path == ".":
        return ""
    return path
