"""What a model wants in front of a question and of a passage: most retrieval models were trained with such words.

Pure. A family is recognised by the model's name alone; the settings `mem.queryPrefix` and `mem.passagePrefix` say
otherwise. The prefixes are part of an embedder's id: vectors made with others are of another space.
"""

from __future__ import annotations

import hashlib
import re

from gitmem.config import Config
from gitmem.light_typing import NamedTuple

AUTO, NONE = "auto", "none"
_SENTENCE = "Represent this sentence for searching relevant passages: "
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "


class Prefixes(NamedTuple):
    """`query` stands in front of a question, `passage` in front of an indexed text; "" for nothing."""

    query: str = ""
    passage: str = ""


NO_PREFIXES = Prefixes()

# A pattern of the model's name, in lower case -> its prefixes, as the model's own page has them. The first that
# matches counts; a model that wants none stands here only where a later pattern would match it.
FAMILIES: tuple[tuple[str, Prefixes], ...] = (
    (r"(?<![a-z0-9])e5-(?:.*-)?(?:instruct|mistral)|qwen3-embedding", Prefixes(_INSTRUCT)),
    (r"(?<![a-z0-9])e5(?![a-z0-9])", Prefixes("query: ", "passage: ")),
    (r"nomic-embed", Prefixes("search_query: ", "search_document: ")),
    (r"arctic-embed.*v2", Prefixes("query: ")),
    (r"arctic-embed|mxbai-embed|bge-(?:small|base|large)-en", Prefixes(_SENTENCE)),
    (r"bge-(?:small|base|large)-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (r"embedding-?gemma", Prefixes("task: search result | query: ", "title: none | text: ")),
)


def prefixes_of(model: str, config: Config) -> Prefixes:
    """The prefixes of the model with this name: each as its setting says, or where that is `auto` as its family's."""
    name = model.lower().replace("_", "-")
    known = next((prefixes for pattern, prefixes in FAMILIES if re.search(pattern, name)), NO_PREFIXES)
    return Prefixes(_chosen(config.query_prefix, known.query), _chosen(config.passage_prefix, known.passage))


def _chosen(setting: str, known: str) -> str:
    if setting == AUTO:
        return known
    if setting == NONE:
        return ""
    return setting


def mark(prefixes: Prefixes) -> str:
    """What the prefixes add to an embedder's id; "" where there are none."""
    if prefixes == NO_PREFIXES:
        return ""
    return "+" + hashlib.sha256("\0".join(prefixes).encode("utf-8", "surrogateescape")).hexdigest()[:8]
