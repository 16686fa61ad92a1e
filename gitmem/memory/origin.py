"""Where a statement came from, and how far it is trusted: a person, an agent, a tool or the web. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from gitmem.lazy_patterns import lazy

ORIGINS = ("user", "agent", "tool", "web")  # from the most to the least trusted
FOREIGN_ORIGINS = {"tool": "from a tool", "web": "from the web"}  # origin -> the mark of its text for a reader
UNSEEN_ORIGINS = tuple(FOREIGN_ORIGINS)  # a line of these origins becomes a fact only after a person has seen it
_ORIGIN_WORD = lazy(r"[^\s,;|/+&]+")


def worst_origin(*values: str) -> str:
    """The least trusted of the origins that `values` name: one of ORIGINS, or "" if they name none.

    One value may name several origins (`web, user`). Letter case and character width do not matter. A word that is not
    in ORIGINS counts as `web`, the least trusted: an unknown origin proves no trust.
    """
    named: set[str] = set()
    for value in values:
        named.update(_ORIGIN_WORD.findall(unicodedata.normalize("NFKC", value).casefold()))
    if not named.issubset(ORIGINS):
        return ORIGINS[-1]
    return max(named, key=ORIGINS.index, default="")


def origin_of(meta: Iterable[tuple[str, str]]) -> str:
    """The least trusted `origin` among the pairs of one comment or front matter; "" if they name none."""
    return worst_origin(*(value for key, value in meta if key.casefold() == "origin"))
