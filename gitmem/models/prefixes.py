"""The texts that a retrieval model was trained to see before a question or a passage, such as "query: ". Pure.

The model's family is found by the model's name; the settings `mem.queryPrefix` and `mem.passagePrefix` replace its
prefixes. Prefixes are part of an embedder's id, because vectors made with other prefixes cannot be compared.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from gitmem.config import Config

AUTO, NONE = "auto", "none"
_SENTENCE = "Represent this sentence for searching relevant passages: "
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "


class Prefixes(NamedTuple):
    """`query`: the text before a question. `passage`: the text before an indexed passage. "" for no text."""

    query: str = ""
    passage: str = ""


NO_PREFIXES = Prefixes()

# Pattern of a model's name in lower case -> prefixes by the model's documentation. The first match counts.
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
    """The prefixes for a model's name: each from its setting, or from the model's family if the setting is `auto`."""
    name = model.lower().replace("_", "-")
    of_family = next((prefixes for pattern, prefixes in FAMILIES if re.search(pattern, name)), NO_PREFIXES)
    return Prefixes(_chosen(config.query_prefix, of_family.query), _chosen(config.passage_prefix, of_family.passage))


def _chosen(setting: str, of_family: str) -> str:
    """The prefix of a setting: AUTO gives the model's known one, NONE an empty one."""
    if setting == AUTO:
        return of_family
    if setting == NONE:
        return ""
    return setting


def id_suffix(prefixes: Prefixes) -> str:
    """The suffix of an embedder's id that stands for its prefixes: "+" and 8 hex digits; "" without prefixes."""
    if prefixes == NO_PREFIXES:
        return ""
    return "+" + hashlib.sha256("\0".join(prefixes).encode("utf-8", "surrogateescape")).hexdigest()[:8]
