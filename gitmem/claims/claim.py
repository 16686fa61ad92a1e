"""A claim: the piece of a line that says something about the tree, and what it says. Values only."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from gitmem.claims.lines import MarkedLine

DRAWN = "tree"  # the tool of a claim that is an entry of a diagram


class Kind(StrEnum):
    """What a claim is about."""

    PATH = "path"
    DIRECTORY = "directory"
    COMMAND = "command"
    SYMBOL = "symbol"
    ENVIRONMENT = "environment"
    VERSION = "version"
    PORT = "port"


class Claim(NamedTuple):
    """`text` is the claim as it stands in the line; `token` what is looked for: a path with `/`, a name, a number.

    `plain`: it stands as the name of what is there (a code span, a link, an import, a command line), not as a word of a
    sentence or of an example. `tool` is what a command asks (`npm`, `make`) or what has the version. `folder` is where
    the command runs, or what the entry of a diagram lies in; "" for the root or what is not known.
    """

    line: MarkedLine
    text: str
    kind: Kind
    token: str
    plain: bool = True
    tool: str = ""
    folder: str = ""
    exact: bool = False
