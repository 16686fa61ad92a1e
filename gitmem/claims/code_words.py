"""Which names the code of a tree has: one pass over its files for all names that are claimed.

The files are cut into words here: for hundreds of names that takes a quarter of the time of a search by Git. What only
prose says (Markdown, text, a changelog) is no code: a name that is left there alone is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gitmem.git.objects import EXECUTABLE, REGULAR, Entry
from gitmem.git.repository import Repository

PROSE = re.compile(
    r"\.(?:mdx?|mdc|rst|adoc|org|html?|svg|csv|tsv|po|pot|ipynb|snap|map|lock|sum)$|"
    r"(?:^|/)(?!CMakeLists|[\w.-]*(?:requirements|constraints))[^/]*\.txt$|(?:^|/)(?:CHANGELOG|CHANGES|"
    r"HISTORY|NEWS|LICENSE)[^/.]*$|"
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|uv\.lock|\.?cursorrules|\.windsurfrules)$|\.min\.(?:js|css)$",
    re.IGNORECASE,
)
_DECLARED = re.compile(
    r"(?<![\w$])(?:def|class|func|fn|fun|function\*?|const|let|var|val|type|interface|enum|struct|trait|impl|module|"
    r"mod|macro_rules!|"
    r"protocol|object|record|static|public|private|protected|export|extension|actor|union|namespace|"
    r"#define)\b[^=(;]*(?<![\w$.])$"
)
WORD = re.compile(r"[A-Za-z_]\w*|\d+", re.ASCII)
LINE = 2_000  # bytes of a line in which words are looked for
_BARE = re.compile(r"^[\s\w<>\[\],.&*|\"'-]*$")  # before a name that begins its line: a type, a quotation mark
_GIVEN = re.compile(r"^['\"]?\s*(?:\??:|=(?!=)|:=|\([^;]*\)\s*(?:\{|:|->|=>)|,?\s*$)")
DATA = re.compile(  # what is recorded or made: it takes longer to read than all of the code
    r"(?:^|/)(?:cassettes|__snapshots__|node_modules)/|\.(?:png|jpe?g|gif|webp|ico|pdf|woff2?|ttf|zip|gz|wasm|mp[34])$",
    re.IGNORECASE,
)
CODE = (
    ".py",
    ".ts",
    ".tsx",
    ".js",
    ".jsx",
    ".go",
    ".rs",
    ".java",
    ".kt",
    ".c",
    ".h",
    ".cc",
    ".cpp",
    ".cs",
    ".rb",
    ".php",
)
RECORDED = ("cassettes/", "__snapshots__/", "node_modules/")
LARGE_FILE_BYTES = 1 << 20  # bytes of a file that is read only for names that no smaller one has
LARGEST = 1 << 24  # bytes of a file that is read at all
BINARY = 8_000  # first bytes of a file that have no NUL where it is text, as in Git
_WORD_BYTES = bytes(c if c < 128 and (chr(c).isalnum() or c == 95) else 32 for c in range(256))


class Names(NamedTuple):
    """The claimed names that code has, and those that it also defines."""

    used: frozenset[str]
    defined: frozenset[str]


def names_in(
    repo: Repository, entries: Iterable[Entry], names: Iterable[str], *, defining: bool = True
) -> Names:  # fmt: skip
    """What the code among these files has of the names. Without `defining` no name counts as defined."""
    left = {name.encode("utf-8", "surrogateescape"): name for name in names}
    if left:
        code = list(filter(_is_code, entries))
    else:
        code = []
    sizes = repo.sizes([entry.oid for entry in code])
    used: set[str] = set()
    defined: set[str] = set()
    oids = dict.fromkeys(entry.oid for entry in code if entry.oid in sizes)
    small = [oid for oid in oids if sizes[oid] <= LARGE_FILE_BYTES]
    large = [oid for oid in oids if LARGE_FILE_BYTES < sizes[oid] <= LARGEST]
    for group in (small, large):
        for _, data in repo.read_many(group) if left else ():
            if data is None or b"\0" in data[:BINARY]:
                continue
            for word in left.keys() & data.translate(_WORD_BYTES).split():
                name = left[word]
                used.add(name)
                if defining and _defining(data, word):
                    defined.add(name)
                if not defining or name in defined:
                    del left[word]
            if not left:
                break
        left = {word: name for word, name in left.items() if name not in used}
    return Names(frozenset(used), frozenset(defined))


class BlobWords:
    """Which of some names the code of trees has that share most of their blobs: each blob is read once. `without` are
    blobs that have none of the names."""

    def __init__(self, repo: Repository, names: Iterable[str], without: frozenset[str]) -> None:
        self.repo, self.without = repo, without
        self._asked = {name.encode("utf-8", "surrogateescape"): name for name in names}
        self._used: dict[str, frozenset[str]] = {}
        self._defined: dict[str, frozenset[str]] = {}

    def names(self, entries: Iterable[Entry]) -> Names:
        """What the code among these files has of the names; files above 1 MiB are left out."""
        if not self._asked:
            return Names(frozenset(), frozenset())
        oids = [entry.oid for entry in entries if entry.oid not in self.without and _is_code(entry)]
        new = [oid for oid in dict.fromkeys(oids) if oid not in self._used]
        sizes = self.repo.sizes(new)
        self._used.update(dict.fromkeys(new, frozenset()))
        for oid, data in self.repo.read_many(
            [oid for oid in new if sizes.get(oid, LARGE_FILE_BYTES + 1) <= LARGE_FILE_BYTES]
        ):
            if data is None or b"\0" in data[:BINARY]:
                continue
            if words := self._asked.keys() & data.translate(_WORD_BYTES).split():
                self._used[oid] = frozenset(self._asked[word] for word in words)
                self._defined[oid] = frozenset(self._asked[word] for word in words if _defining(data, word))
        nothing: frozenset[str] = frozenset()
        return Names(
            nothing.union(*(self._used[oid] for oid in oids)),
            nothing.union(*(self._defined.get(oid, nothing) for oid in oids)),
        )


def _defining(data: bytes, word: bytes) -> bool:
    name = word.decode("utf-8", "replace")
    return any(word in line and defines(_text(line), name) for line in data.split(b"\n"))


def _is_code(entry: Entry) -> bool:
    path = entry.path
    if path.endswith(CODE) and not path.endswith(".min.js"):  # nine in ten, without two expressions
        return entry.mode in (REGULAR, EXECUTABLE) and not any(folder in path for folder in RECORDED)
    return entry.mode in (REGULAR, EXECUTABLE) and not PROSE.search(entry.path) and not DATA.search(entry.path)


def _text(line: bytes) -> str:
    return line[:LINE].decode("utf-8", "replace")


def declares(line: str, word: str) -> bool:
    """Whether a line has the name behind a word that declares (`class`, `def`): what `defines` holds for surely."""
    return any(
        _DECLARED.search(line[: match.start()]) for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", line)
    )


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
