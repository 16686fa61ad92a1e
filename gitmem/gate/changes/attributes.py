"""The rule about a `.gitattributes` that gives a scanned file other text on disk than in the repository.

Pure: texts in, findings out. `working-tree-encoding` and `filter` do that, named on the line or by a macro
(gitattributes(5)): Git takes macros from the top-level file alone, in any order, and applies them in every file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitmem.agent_paths import FILES
from gitmem.gate.changes.rules import finding
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.policy import Policy, canonical
from gitmem.paths import AGENT_ENDINGS

OTHER_TEXT = ("working-tree-encoding", "filter")
MACRO = "[attr]"
# Words that stand alone, by Git and by forges, and are no macro: of Git (Documentation/gitattributes), Git LFS, GitHub.
OWN_WORDS = (
    "text", "eol", "crlf", "binary", "diff", "merge", "ident", "whitespace", "delta", "encoding", "export-ignore",
    "export-subst", "conflict-marker-size", "lockable",
)  # fmt: skip
READ_FILTERS = {"git-crypt": re.compile(r"filter=git-crypt(?:-[A-Za-z0-9_-]+)?")}  # of each `Policy.encryption`
FORGES_WORDS = ("linguist-", "gitlab-")
SCANNED_ENDINGS = (*AGENT_ENDINGS, *FILES)
ESCAPE = re.compile(r"\\([0-7]{3}|.)")


def is_attributes(path: str) -> bool:
    """Whether Git on some file system takes this for a .gitattributes."""
    name = "".join(c for c in path.rpartition("/")[2] if unicodedata.category(c) != "Cf")
    return canonical(name) in (".gitattributes", "gitatt~1")


def check_attributes(path: str, text: str, policy: Policy, commit: str = "") -> Iterator[Finding]:
    """Lines of a `.gitattributes` that may give a file the gate reads other text on disk than in the repository.

    An encoding is let through only for patterns whose ending no such file has. A filter (Git LFS on `assets/**`) is,
    besides, for folders that hold no memory: it does nothing without a program that a person has set up. So is the
    filter of the program whose blobs the gate reads as the work tree has them (`policy.encryption`). A macro counts
    where it is applied; below the top level, where this text does not say what a word stands for, any word may be one.
    """
    ends = (*SCANNED_ENDINGS, *(glob for layout in policy.layouts for glob in layout.extra))
    folder = path.rpartition("/")[0]
    lines = [(number, pattern, _not_read(words, policy)) for number, pattern, words in _lines(text)]
    if folder:
        macros = {}
    else:
        macros = _macros(lines)
    for number, pattern, words in lines:
        if pattern.startswith(MACRO):
            named = pattern.removeprefix(MACRO)
            # every line with that word applies it
            if _is_own(named):
                found = macros.get(named, set())
            else:
                found = set()
            apart = False
        else:
            found = set().union(*(_attributes_set_by(word, macros) for word in words))
            unknown = {word for word in words if folder and _may_be_macro(word)}
            apart = not _may_end(pattern, ends)
            if found == {"filter"} and not unknown:
                apart = apart or _elsewhere(folder, pattern, policy)
            found |= unknown
        if found and not apart:
            yield finding("encoding-attribute", path, _message(found), line=number, commit=commit)


def _not_read(words: Sequence[str], policy: Policy) -> list[str]:
    """The attributes of a line without the filter that the gate reads through."""
    read = READ_FILTERS.get(policy.encryption)
    return [word for word in words if read is None or not read.fullmatch(word)]


def _message(found: set[str]) -> str:
    own = [name for name in OTHER_TEXT if name in found]
    if not own:
        return "an attribute that may be a macro of the top-level .gitattributes: write what it stands for"
    words = " and ".join(f"`{name}`" for name in sorted(own))
    return f"{words} shows other text than the one that is committed"


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Number, pattern and attributes of each line that has any; a pattern's quotes are taken off."""
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip("\ufeff \t\r")
        if not line.startswith("#"):  # in quotes it is no comment
            pattern, rest = _pattern(line)
            yield number, pattern, rest.split()


def _macros(lines: Iterable[tuple[int, str, list[str]]]) -> dict[str, set[str]]:
    """Of each macro what it gives of OTHER_TEXT, by itself or by macros that it names."""
    bodies: dict[str, set[str]] = {}
    for _, pattern, words in lines:
        if pattern.startswith(MACRO):  # of two of one name either may be in force: the file may be merged
            bodies.setdefault(pattern.removeprefix(MACRO), set()).update(words)
    given = {name: set().union(*(_attributes_set_by(word, {}) for word in words)) for name, words in bodies.items()}
    users: dict[str, list[str]] = {name: [] for name in bodies}
    for name, body in bodies.items():
        for word in body & bodies.keys():
            users[word].append(name)
    waiting = [name for name, names in given.items() if names]
    while waiting:
        name = waiting.pop()
        for user in users[name]:
            if not given[name] <= given[user]:
                given[user] |= given[name]
                waiting.append(user)
    return given


def _attributes_set_by(word: str, macros: Mapping[str, set[str]]) -> set[str]:
    """What an attribute of a line sets of OTHER_TEXT: taken back (`-x`, `!x`) nothing; `x=value` is no macro."""
    name = word.partition("=")[0]
    if name in OTHER_TEXT:
        return {name}
    return macros.get(word, set())


def _is_own(word: str) -> bool:
    return word in OWN_WORDS or word.startswith(FORGES_WORDS)


def _may_be_macro(word: str) -> bool:
    return word[:1] not in "-!" and "=" not in word and word not in OTHER_TEXT and not _is_own(word)


def _pattern(line: str) -> tuple[str, str]:
    """The pattern of a line of .gitattributes without its quotes, and the attributes after it."""
    if not line.startswith('"'):
        pattern, _, rest = re.sub(r"[ \t\r]+", " ", line).partition(" ")
        return pattern, rest
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
    """Whether a path that a pattern matches may end as one of `ends` does, as far as their literal last parts tell."""
    tail = canonical(re.split(r"[*?\[\]\\]", pattern)[-1]).rpartition("/")[2]
    lasts = (canonical(re.split(r"[*?\[\]]", end)[-1]).rpartition("/")[2] for end in ends)
    return any(tail.endswith(last) or last.endswith(tail) for last in lasts)


def _elsewhere(folder: str, pattern: str, policy: Policy) -> bool:
    """Whether a pattern is held to a top folder that is not one of memory by its place or by a glob of the settings."""
    literal = ""
    if "/" in pattern.rstrip("/"):
        literal = _literal(pattern)
    top, slash, _ = canonical(f"{folder}/{literal}" if folder else literal).partition("/")
    heads = ["memory", *(_literal(glob) for layout in policy.layouts for glob in layout.extra)]
    return (
        bool(slash) and not top.startswith(".") and all(head and canonical(head).split("/")[0] != top for head in heads)
    )
