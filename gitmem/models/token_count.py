"""Counts the tokens of a text: exactly by a GGUF model's vocabulary, or with the built-in word pieces.

The built-in count is meant to be no less than a language model's, so that a text keeps to its budget: 1 for each word
piece of an alphabet, each digit and each mark, 0.5 for the end of a line, 1.5 for a Hangul syllable, 1.1 for Kana and
Han (docs/context.md has the measurements). Counting loads no weights and sends nothing.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.errors import BadConfig, ModelUnavailable
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.models.wordpiece import Find

Count = Callable[[str], int]

BUILT_IN = "pieces"
HANGUL, WIDE, LINE_END = 1.5, 1.1, 0.5  # tokens for a Hangul syllable, a Kana or Han character, the end of a line
UNKNOWN = 2  # tokens for a letter that is in no piece: models encode it in bytes
_MARK = re.compile(r"[^\w\s]|_")
_BEYOND = re.compile("[\U00010000-\U0001ffff]")  # such as emoji: a second token for each
_PARTS = re.compile(r"[0-9]|[^0-9]+")


def count_of(name: str) -> Count:
    """The function that counts tokens, for a value of `mem.tokenizer`: "" or `pieces` for the built-in one,
    `gguf:<path>` for a model's own. Raises BadConfig for another value, ModelUnavailable if the model or
    llama-cpp-python is missing, or if the table of the built-in pieces is missing or damaged."""
    kind, _, path = name.partition(":")
    if name in ("", BUILT_IN):
        from gitmem.models.static_embedder import StaticEmbedder

        return by_pieces(StaticEmbedder().find)
    if kind == "gguf" and path:
        return by_model(Path(os.path.expanduser(path)))
    raise BadConfig(
        Message("there is no tokenizer '{}'", name), "git config --global mem.tokenizer gguf:<path>, or pieces"
    )


def by_pieces(find: Find) -> Count:
    """The built-in function that counts the tokens of a text, over the pieces that `find` knows (row of a piece, -1 for
    an unknown one). It caches the count of each word."""
    from gitmem.models.wordpiece import words  # `estimate` does not need it, and its import takes time

    costs: dict[str, float] = {}

    def count(text: str) -> int:
        total = len(_MARK.findall(text)) + LINE_END * text.count("\n")
        if not text.isascii():
            total += len(_BEYOND.findall(text))
        for word in words(text):
            cost = costs.get(word)
            if cost is None:
                cost = costs[word] = _cost(word, find)
            total += cost
        return math.ceil(total)

    return count


def _cost(word: str, find: Find) -> float:
    """About how many tokens a word costs, by script and by the pieces of the vocabulary."""
    from gitmem.models.wordpiece import is_gram_word, rows_of

    if not word.isascii() and is_gram_word(word):
        return sum(HANGUL if "가" <= letter <= "힣" else WIDE for letter in word)
    return sum(
        1 if part.isdigit() else len(rows_of(part, find)) or UNKNOWN * len(part) for part in _PARTS.findall(word)
    )


def by_model(path: Path) -> Count:
    """The count function of a model's own vocabulary, without BOS and EOS; the weights are not loaded.

    Raises ModelUnavailable if llama-cpp-python is not installed or the file is missing or no model.
    """
    from contextlib import redirect_stderr
    from io import StringIO

    try:
        import llama_cpp
    except ImportError:
        raise ModelUnavailable(
            "counting with a GGUF model needs llama-cpp-python, which is not installed", "pip install 'git-mem[llama]'"
        ) from None
    if not path.is_file():
        raise ModelUnavailable(
            Message("there is no model file '{}'", path), "git config --global mem.tokenizer gguf:<path>"
        )
    try:
        with redirect_stderr(StringIO()):  # llama.cpp warns about a context that is never made
            model = llama_cpp.Llama(model_path=str(path), vocab_only=True, verbose=False)
    except (ValueError, AssertionError, RuntimeError, OSError) as error:
        raise ModelUnavailable(
            Message("llama.cpp cannot read the vocabulary of '{}' ({})", path.name, type(error).__name__),
            "is it a whole model?",
        ) from None
    counts: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in counts:
            counts[text] = len(model.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=False))
        return counts[text]

    return count


def estimate(text: str) -> int:
    """An estimate of a text's tokens without any vocabulary: characters / 4, rounded up, but one for each character
    from Hangul Jamo (U+1100) on."""
    if text.isascii():
        return (len(text) + 3) // 4
    wide = sum(map("\u1100".__lt__, text))
    return wide + (len(text) - wide + 3) // 4
