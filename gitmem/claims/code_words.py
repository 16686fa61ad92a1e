"""Which names the code of a tree has: one search over the names that are claimed.

What only prose says (Markdown, text, a changelog) is no code: a name that is left there alone is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gitmem.git.repository import Repository

PROSE = re.compile(
    r"\.(?:mdx?|mdc|rst|txt|adoc|org|html?|svg|csv|tsv|po|pot|ipynb|snap|map|lock|sum)$|(?:^|/)(?:CHANGELOG|CHANGES|HISTORY|NEWS|LICENSE)[^/]*$|"
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|uv\.lock|\.?cursorrules|\.windsurfrules)$|\.min\.(?:js|css)$",
    re.IGNORECASE,
)
_DEFINES = (
    r"(?:def|class|func|fn|function|function\*|const|let|var|val|type|interface|enum|struct|trait|impl|module|mod|macro_rules!|"
    r"protocol|object|record|static|public|private|protected|export|extension|actor|union|namespace|define|component)"
)
MOST_LINES = 400_000  # rows of a search that are looked at


class Names(NamedTuple):
    """The claimed names that code has, and those that it also defines."""

    used: frozenset[str]
    defined: frozenset[str]
    whole: bool = True


def names_in(repo: Repository, commit: str, names: Iterable[str], paths: Iterable[str] = ()) -> Names:
    """What the code of a commit has of these names; of some paths alone where given."""
    asked = frozenset(names)
    used: set[str] = set()
    defined: set[str] = set()
    forms = {}
    for count, (path, word, line) in enumerate(repo.words(commit, sorted(asked), tuple(paths)) if asked else ()):
        if count > MOST_LINES:
            return Names(frozenset(asked), frozenset(asked), whole=False)
        if PROSE.search(path) or (word in used and word in defined):
            continue
        used.add(word)
        form = forms.get(word)
        if form is None:
            form = forms[word] = _definition(word)
        if word not in defined and form.search(line):
            defined.add(word)
    return Names(frozenset(used), frozenset(defined))


def _definition(word: str) -> re.Pattern[str]:
    """A line that gives the name its meaning: after a word that declares, or before `=`, `:`, `(` and `{` at its start."""
    name = re.escape(word)
    return re.compile(
        rf"(?<![\w$]){_DEFINES}\b[^=(;]*(?<![\w$.]){name}(?![\w$])|"
        rf"^\s*(?:[\w<>\[\],.&*\s]+\s)?['\"]?{name}['\"]?\s*(?:\??:|=(?!=)|:=)|"
        rf"^\s*(?:async\s+|\w[\w<>\[\], ]*\s+)?{name}\s*\([^;]*\)\s*(?:\{{|:|->|=>)|#define\s+{name}\b|^\s*{name}\s*,?\s*$"
    )
