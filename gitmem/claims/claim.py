"""A claim: a part of a line in a memory or instruction file that can be checked against the files of a commit."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from gitmem.claims.lines import MarkedLine
from gitmem.claims.path_words import is_file_name

DIAGRAM_TOOL = "tree"  # `Claim.tool` of an entry in a diagram of folders


class Kind(StrEnum):
    """The kind of thing that a claim names."""

    PATH = "path"
    DIRECTORY = "directory"
    COMMAND = "command"
    SYMBOL = "symbol"
    ENVIRONMENT = "environment"
    VERSION = "version"
    PORT = "port"


class Claim(NamedTuple):
    """One claim.

    `line`: the line that makes it. `text`: the words of the line that are the claim. `kind`: the kind of thing that it
    names. `token`: the name that is looked up in the tree: a path with `/`, a name, a number. `plain`: whether the line
    marks the token as a name (a code span, a link, an import, a command line); False for a word of a sentence or of
    example code. `tool`: the program that a command calls (`npm`, `make`), the product that has the version, or the
    form of a path (DIAGRAM_TOOL, LINK); "" otherwise. A `?` at its end means that the word may also be an argument of
    another program. `folder`: the folder in which a command runs, or the diagram that has the entry; "" for the root of
    the repository or if unknown. `exact`: whether the command line names that folder itself.
    """

    line: MarkedLine
    text: str
    kind: Kind
    token: str
    plain: bool = True
    tool: str = ""
    folder: str = ""
    exact: bool = False


def path_kind(path: str) -> Kind:
    """PATH for a path whose last part looks like a file name, else DIRECTORY."""
    if is_file_name(path.rstrip("/").rsplit("/", 1)[-1]):
        return Kind.PATH
    return Kind.DIRECTORY
