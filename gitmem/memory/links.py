"""Find the files that a Markdown text links to, and rewrite its links after files have moved. Pure.

Links are inline links and pictures, reference definitions, `src` and `href` of HTML, and wiki links
(`![[picture.png]]`), which name a file in any folder. Paths are relative to the top of a folder, with `/`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote

# One alternative for each form of a link (CommonMark 0.31, "Links" and "Link reference definitions"). The one named
# group of an alternative is the target without its brackets or quotation marks. The counts keep a search linear in a
# text that opens many links and closes none.
_LINK = re.compile(
    r"""
    # [text](<target with spaces>) and [text](target); a bare target may hold one pair of parentheses and escaped ones
    \]\( < (?P<bracketed> [^<>\n]{1,1000} ) >                                                  (?= [\s)] )
    | \]\( (?P<bare> (?: [^\s()<>\\] | \\[()]? ){1,1000} (?: \( [^\s()]{0,200} \) [^\s()<>]{0,1000} )? ) (?= [\s)] )
    # [label]: <target with spaces> and [label]: target
    | ^\ {0,3} \[ [^\]\n]{1,200} \]: [ \t]* < (?P<definition_bracketed> [^<>\n]{1,1000} ) >
    | ^\ {0,3} \[ [^\]\n]{1,200} \]: [ \t]* (?P<definition_bare> \S{1,1000} )
    # <img src="target">, <a href='target'>
    | \b (?: src | href ) = " (?P<double_quoted> [^"\n]{1,1000} ) "
    | \b (?: src | href ) = ' (?P<single_quoted> [^'\n]{1,1000} ) '
    """,
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
# Group of `_LINK` -> a path that is read as it is written when it stands in this form, without percent-encoding.
_AS_WRITTEN = {
    "bracketed": re.compile(r"[^<>\n]+"),
    "bare": re.compile(r"[^\s()<>\\]+ (?: \( [^\s()]{0,200} \) [^\s()<>]* )?", re.VERBOSE),
    "definition_bracketed": re.compile(r"[^<>\n]+"),
    "definition_bare": re.compile(r"[^\s<]\S*"),
    "double_quoted": re.compile(r'[^"\n]+'),
    "single_quoted": re.compile(r"[^'\n]+"),
}
_ESCAPED = re.compile(r"\\([()])")
# [[path]], ![[path]], [[path#heading]], [[path|shown text]]
_WIKI = re.compile(
    r"""
    !? \[\[
    (?P<path> [^\[\]|#\n]{1,500} )
    (?: \# [^\[\]|\n]* )?
    (?: \| [^\[\]\n]* )?
    \]\]
    """,
    re.VERBOSE,
)
# The beginning of a target that is no path: a scheme (RFC 3986, 3.1), a fragment, or a host without a scheme (4.2).
_NO_PATH = re.compile(r"[A-Za-z][\w+.-]*: | \# | //", re.VERBOSE)
_PATH_END = re.compile("[#?]")


class Linkable:
    """A set of files, of which `linked` returns those that a text links to. One object serves any number of texts.

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
        linked_paths = {_resolved(target, name) for target in _targets(text)} & self._paths
        wiki_paths = {match["path"].strip() for match in _WIKI.finditer(text)}
        for wiki_path in wiki_paths:
            for path in self._by_name.get(posixpath.basename(wiki_path), ()):
                if path == wiki_path or path.endswith(f"/{wiki_path}"):
                    linked_paths.add(path)
        return linked_paths


def relinked(text: str, name: str, moved: Mapping[str, str]) -> str:
    """The text of the file `name` after the files of `moved` (old path -> new path) have moved, perhaps itself too.

    A link to a moved file gets a new relative path, unless the old one still leads there. All other bytes stay, wiki
    links too.
    """
    new_folder = posixpath.dirname(moved.get(name, name)) or "."
    pieces = []
    copied_to = 0  # the text before this offset is in `pieces`
    for target in _targets(text):
        path = _resolved(target, name)
        if path not in moved:
            continue
        new_path = posixpath.relpath(moved[path], new_folder)
        if posixpath.normpath(target.named) == new_path:
            continue
        if "%" in target.path or not _is_read_as_written(new_path, target.form):
            new_path = quote(new_path)
        pieces.append(text[copied_to : target.start] + new_path)
        copied_to = target.path_end
    pieces.append(text[copied_to:])
    return "".join(pieces)


class _Target(NamedTuple):
    """The target of a link without brackets or quotation marks.

    `path`: the target as it is written, up to its first `#` or `?`. `start`, `path_end`: the offsets of `path` in the
    text. `is_path`: False for a URL or a place in the same file. `form`: its group in `_LINK`.
    """

    path: str
    start: int
    path_end: int
    is_path: bool
    form: str

    @property
    def named(self) -> str:
        """The path without escapes and percent-encoding."""
        path = self.path
        if self.form == "bare":
            path = _ESCAPED.sub(r"\1", path)
        return unquote(path)


def _is_read_as_written(path: str, form: str) -> bool:
    """Whether a path in a link of this form is the target of the link: no character of it ends the target, begins a
    fragment or is percent-encoding."""
    return _AS_WRITTEN[form].fullmatch(path) is not None and not _PATH_END.search(path) and unquote(path) == path


def _targets(text: str) -> Iterator[_Target]:
    """The targets of all links of a text but wiki links, in order."""
    for match in _LINK.finditer(text):
        form = match.lastgroup
        assert form is not None, "every alternative has one group"
        start, end = match.span(form)
        fragment_or_query = _PATH_END.search(text, start, end)
        path_end = fragment_or_query.start() if fragment_or_query else end
        yield _Target(
            path=text[start:path_end],
            start=start,
            path_end=path_end,
            is_path=_NO_PATH.match(text, start, end) is None,
            form=form,
        )


def _resolved(target: _Target, name: str) -> str:
    """The path that a target in the file `name` leads to; "" for a URL, an anchor or a path outside."""
    if not target.is_path:
        return ""
    path = target.named
    if path.startswith("/"):
        path = path.lstrip("/")  # as GitHub and wikis read it: from the top of the repository
    else:
        path = posixpath.join(posixpath.dirname(name), path)
    path = posixpath.normpath(path)
    is_outside = path == ".." or path.startswith("../")
    return "" if is_outside or path == "." else path
