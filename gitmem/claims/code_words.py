"""Which names the code of a tree has: one search over the names that are claimed.

What only prose says (Markdown, text, a changelog) is no code: a name that is left there alone is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gitmem.git.repository import Repository

PROSE = re.compile(
    r"\.(?:mdx?|mdc|rst|txt|adoc|org|html?|svg|csv|tsv|po|pot|ipynb|snap|map|lock|sum)$|(?:^|/)(?:CHANGELOG|CHANGES|"
    r"HISTORY|NEWS|LICENSE)[^/]*$|"
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|uv\.lock|\.?cursorrules|\.windsurfrules)$|\.min\.(?:js|css)$",
    re.IGNORECASE,
)
_DECLARED = re.compile(
    r"(?<![\w$])(?:def|class|func|fn|fun|function\*?|const|let|var|val|type|interface|enum|struct|trait|impl|module|"
    r"mod|macro_rules!|"
    r"protocol|object|record|static|public|private|protected|export|extension|actor|union|namespace|"
    r"#define)\b[^=(;]*(?<![\w$.])$"
)
_BARE = re.compile(r"^[\s\w<>\[\],.&*|\"'-]*$")  # before a name that begins its line: a type, a quotation mark
_GIVEN = re.compile(r"^['\"]?\s*(?:\??:|=(?!=)|:=|\([^;]*\)\s*(?:\{|:|->|=>)|,?\s*$)")
DATA = (  # globs of what is recorded, locked or made: it takes longer to read than all of the code
    "*.md", "*.mdx", "*.rst", "*.lock", "*.svg", "*.ipynb", "*.csv", "*.tsv", "*.snap", "*.map", "*.min.js", "*.po",
    "*package-lock.json", "*pnpm-lock.yaml", "*cassettes/*", "*__snapshots__/*",
)  # fmt: skip
MOST_LINES = 400_000  # rows of a search that are looked at


class Names(NamedTuple):
    """The claimed names that code has, and those that it also defines."""

    used: frozenset[str]
    defined: frozenset[str]
    whole: bool = True


def names_in(repo: Repository, commit: str, names: Iterable[str]) -> Names:
    """What the code of a commit has of these names."""
    asked = frozenset(names)
    used: set[str] = set()
    defined: set[str] = set()
    for count, (path, word, line) in enumerate(repo.words(commit, sorted(asked), DATA) if asked else ()):
        if count > MOST_LINES:
            return Names(frozenset(asked), frozenset(asked), whole=False)
        if (word in used and word in defined) or PROSE.search(path):
            continue
        used.add(word)
        if defines(line, word):
            defined.add(word)
    return Names(frozenset(used), frozenset(defined))


def defines(line: str, word: str) -> bool:
    """Whether a line gives the name its meaning: behind a word that declares, or before `=`, `:`, `(` or alone at its
    start."""
    for match in re.finditer(r"[A-Za-z_]\w*", line):
        if match[0] != word:
            continue
        before, after = line[: match.start()], line[match.end() :]
        if _DECLARED.search(before) or (_BARE.match(before) and _GIVEN.match(after)):
            return True
    return False
