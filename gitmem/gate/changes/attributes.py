"""The rule against a `.gitattributes` by which a file that the gate scans has another text on disk than in the
repository. Pure.

The attributes `working-tree-encoding` and `filter` do that, set on the line itself or by a macro (gitattributes(5)).
Git reads macros only from the top-level file, in any order, and applies them in every .gitattributes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitmem.agent_paths import FILES
from gitmem.gate.changes.rules import change_finding
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.policy import Policy, canonical
from gitmem.paths import AGENT_ENDINGS

OTHER_TEXT = ("working-tree-encoding", "filter")
MACRO = "[attr]"
# Attributes without a value that are no macro: those of Git (Documentation/gitattributes), Git LFS and GitHub.
KNOWN_ATTRIBUTES = (
    "text", "eol", "crlf", "binary", "diff", "merge", "ident", "whitespace", "delta", "encoding", "export-ignore",
    "export-subst", "conflict-marker-size", "lockable",
)  # fmt: skip
READ_FILTERS = {"git-crypt": re.compile(r"filter=git-crypt(?:-[A-Za-z0-9_-]+)?")}  # by `Policy.encryption`
FORGE_PREFIXES = ("linguist-", "gitlab-")
SCANNED_ENDINGS = (*AGENT_ENDINGS, *FILES)
ESCAPE = re.compile(r"\\([0-7]{3}|.)")


def is_attributes(path: str) -> bool:
    """Whether Git on some file system would read this file as a .gitattributes."""
    name = "".join(c for c in path.rpartition("/")[2] if unicodedata.category(c) != "Cf")
    return canonical(name) in (".gitattributes", "gitatt~1")


def check_attributes(path: str, text: str, policy: Policy, commit: str = "") -> Iterator[Finding]:
    """A finding for each line of the `.gitattributes` at `path` that sets an attribute of OTHER_TEXT for files that the
    gate scans.

    An encoding passes only for patterns whose ending no scanned file has. A filter (Git LFS on `assets/**`) also passes
    for folders without memory, since it does nothing without a program that a person has set up. The filter of
    `policy.encryption` passes, since the gate decrypts its files. A macro is a finding where it is applied. Below the
    top level macros cannot be looked up, so any unknown attribute counts as one.
    """
    ends = (*SCANNED_ENDINGS, *(glob for layout in policy.layouts for glob in layout.extra))
    folder = path.rpartition("/")[0]
    lines = [(number, pattern, _without_decrypted(words, policy)) for number, pattern, words in _lines(text)]
    macros: dict[str, set[str]] = {}
    if not folder:
        macros = _macros(lines)
    for number, pattern, words in lines:
        if pattern.startswith(MACRO):
            name = pattern.removeprefix(MACRO)
            attributes: set[str] = set()
            if _is_known(name):  # a macro with the name of a known attribute: every line with that applies it
                attributes = macros.get(name, set())
            harmless = False
        else:
            attributes = set().union(*(_attributes_set_by(word, macros) for word in words))
            unknown = {word for word in words if folder and _may_be_macro(word)}
            harmless = not _may_end(pattern, ends)
            if attributes == {"filter"} and not unknown:
                harmless = harmless or _is_outside_memory(folder, pattern, policy)
            attributes |= unknown
        if attributes and not harmless:
            yield change_finding("encoding-attribute", path, _message(attributes), line=number, commit=commit)


def _without_decrypted(words: Sequence[str], policy: Policy) -> list[str]:
    """The attributes of a line, without the filter of an encryption program whose files the gate decrypts."""
    read_filter = READ_FILTERS.get(policy.encryption)
    return [word for word in words if read_filter is None or not read_filter.fullmatch(word)]


def _message(attributes: set[str]) -> str:
    """The words for attributes that hide text; without one of OTHER_TEXT among them, a macro is the reason."""
    hiding = [name for name in OTHER_TEXT if name in attributes]
    if not hiding:
        return "an attribute that may be a macro of the top-level .gitattributes: write what it stands for"
    words = " and ".join(f"`{name}`" for name in sorted(hiding))
    return f"{words} shows other text than the one that is committed"


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """(number from 1, pattern without its quotation marks, attributes) of each line that is not a comment; an empty
    line has the pattern "" and no attributes."""
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip("\ufeff \t\r")
        if not line.startswith("#"):
            pattern, attributes = _pattern(line)
            yield number, pattern, attributes.split()


def _macros(lines: Iterable[tuple[int, str, list[str]]]) -> dict[str, set[str]]:
    """Macro -> the attributes of OTHER_TEXT that it sets, itself or by other macros."""
    bodies: dict[str, set[str]] = {}
    for _, pattern, words in lines:
        if pattern.startswith(MACRO):  # two macros of one name count as one: a merge may leave either
            bodies.setdefault(pattern.removeprefix(MACRO), set()).update(words)
    set_by = {name: set().union(*(_attributes_set_by(word, {}) for word in words)) for name, words in bodies.items()}
    macros_with: dict[str, list[str]] = {name: [] for name in bodies}
    for name, body in bodies.items():
        for word in body & bodies.keys():
            macros_with[word].append(name)
    waiting = [name for name, names in set_by.items() if names]
    while waiting:
        name = waiting.pop()
        for user in macros_with[name]:
            if not set_by[name] <= set_by[user]:
                set_by[user] |= set_by[name]
                waiting.append(user)
    return set_by


def _attributes_set_by(word: str, macros: Mapping[str, set[str]]) -> set[str]:
    """The attributes of OTHER_TEXT that one attribute of a line sets; none for one that is unset (`-x`, `!x`).
    `macros`: as `_macros` returns them, {} to look up none."""
    name = word.partition("=")[0]
    if name in OTHER_TEXT:
        return {name}
    return macros.get(word, set())


def _is_known(word: str) -> bool:
    return word in KNOWN_ATTRIBUTES or word.startswith(FORGE_PREFIXES)


def _may_be_macro(word: str) -> bool:
    return word[:1] not in "-!" and "=" not in word and word not in OTHER_TEXT and not _is_known(word)


def _pattern(line: str) -> tuple[str, str]:
    """(pattern without its quotation marks, the attributes after it) of a line of .gitattributes."""
    if not line.startswith('"'):
        pattern, _, attributes = re.sub(r"[ \t\r]+", " ", line).partition(" ")
        return pattern, attributes
    quoted = re.match(r'"((?:\\.|[^"\\])*)"?', line)
    assert quoted is not None  # a quote and nothing more matches
    return ESCAPE.sub(_unescaped, quoted[1]), line[quoted.end() :]


def _unescaped(escape: re.Match[str]) -> str:
    """The character of one escape: three octal digits, a quote or a backslash; "?" for any other escape."""
    if len(escape[1]) == 3:
        return chr(int(escape[1], 8))
    if escape[1] in '"\\':
        return escape[1]
    return "?"


def _literal(pattern: str) -> str:
    return re.split(r"[*?\[\]\\]", pattern)[0].lstrip("/")


def _may_end(pattern: str, ends: Iterable[str]) -> bool:
    """Whether a path that `pattern` matches may end like a path that one of `ends` matches. The function compares the
    texts after their last wildcards."""
    tail = canonical(re.split(r"[*?\[\]\\]", pattern)[-1]).rpartition("/")[2]
    lasts = (canonical(re.split(r"[*?\[\]]", end)[-1]).rpartition("/")[2] for end in ends)
    return any(tail.endswith(last) or last.endswith(tail) for last in lasts)


def _is_outside_memory(folder: str, pattern: str, policy: Policy) -> bool:
    """Whether a pattern matches only below a top folder that holds no memory and that no glob of the settings names.
    False for a folder whose name begins with a dot. `folder`: the folder of the .gitattributes, "" for the top
    level."""
    place = f"{folder}/"
    if "/" in pattern.rstrip("/"):
        place += _literal(pattern)
    top, slash, _ = canonical(place.lstrip("/")).partition("/")
    if not slash or top.startswith("."):
        return False
    heads = ["memory", *(_literal(glob) for layout in policy.layouts for glob in layout.extra)]
    return all(head and canonical(head).split("/")[0] != top for head in heads)
