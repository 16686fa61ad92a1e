"""Find the files that a Markdown text links to, and rewrite its links after files have moved. Pure.

Links are inline links and pictures, reference definitions, `src` and `href` of HTML, and wiki links
(`![[picture.png]]`), which name a file in any folder. Paths are relative to the top of a folder, with `/`.
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
    """A set of files. `linked` returns those that a text links to; one object serves any number of texts.

    The path of a link is relative to the folder of its text. A wiki link names a file with its ending, in any folder:
    all files of that name match, or those whose path ends with the folders that the link names too.
    """

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = frozenset(paths)
        self._by_name: dict[str, list[str]] = {}  # file name -> paths
        for path in self._paths:
            self._by_name.setdefault(posixpath.basename(path), []).append(path)

    def linked(self, text: str, name: str) -> set[str]:
        """The paths of the set that `text`, the text of the file `name`, links to."""
        found = {path for match in _LINK.finditer(text) if (path := _resolved(_target(match), name)) in self._paths}
        for want in {match[1].strip() for match in _WIKI.finditer(text)}:
            same_name = self._by_name.get(posixpath.basename(want), ())
            found |= {path for path in same_name if path == want or path.endswith(f"/{want}")}
        return found


def relinked(text: str, name: str, moved: Mapping[str, str]) -> str:
    """The text of the file `name` after the files of `moved` (old path -> new path) have moved, perhaps itself too.

    A link to a moved file gets a new relative path, unless the old one still leads there. All other bytes stay, wiki
    links too.
    """
    return "".join(_pieces(text, name, moved))


def _pieces(text: str, name: str, moved: Mapping[str, str]) -> Iterator[str]:
    """The pieces of a text whose links to moved files are rewritten; joined they are the new text. `name`: the old path
    of the text's file. Other links stay as they are."""
    folder = posixpath.dirname(moved.get(name, name))
    done = 0
    for match in _LINK.finditer(text):
        raw = _target(match)
        path = _resolved(raw, name)
        if path not in moved:
            continue
        bare = raw.strip("<>\"'")
        old, mark, rest = _split(bare)
        new = posixpath.relpath(moved[path], folder or ".")
        if not old.startswith("/") and posixpath.normpath(unquote(old)) == new:
            continue
        start = match.end() - len(raw)
        if "%" in old or (" " in new and raw == bare):
            new = quote(new)
        yield text[done:start] + raw.replace(bare, new + mark + rest, 1)
        done = match.end()
    yield text[done:]


def _target(match: re.Match[str]) -> str:
    return match["target"] or match["defined"] or match["value"] or ""


def _split(bare: str) -> tuple[str, str, str]:
    """Split a link target at its first `#` or `?`: (path, that character, rest); the last two are "" without one."""
    found = re.search("[#?]", bare)
    if found:
        return bare[: found.start()], found[0], bare[found.end() :]
    return bare, "", ""


def _resolved(raw: str, name: str) -> str:
    """The path that the link target `raw` in the file `name` leads to; "" for a URL, an anchor or a path outside."""
    bare = raw.strip("<>\"'")
    if not bare or _ELSEWHERE.match(bare):
        return ""
    path = unquote(_split(bare)[0])
    if path.startswith("/"):
        path = path.lstrip("/")
    else:
        path = posixpath.join(posixpath.dirname(name), path)
    path = posixpath.normpath(path)
    return "" if path.startswith("..") or path == "." else path
