"""Quotes a text as one word of a POSIX shell, for the commands that messages tell a person to type."""

from __future__ import annotations

from collections.abc import Iterable


def shell_word(text: str) -> str:
    """`text` as one word of a POSIX shell: quoted, control characters escaped, `./` before a leading dash."""
    if text.startswith("-"):
        text = f"./{text}"
    return _quoted(text)


def _quoted(text: str) -> str:
    if not text.isprintable():
        return "$'" + "".join(_ansi_c(c) for c in text) + "'"
    plain = all(c.isalnum() or c in "_./@%+=:,-" for c in text)
    if plain and text:
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def shell_words(texts: Iterable[str]) -> str:
    """Each of `texts`, such as paths, as a word (`shell_word`), with a space between two."""
    return " ".join(map(shell_word, texts))


def shell_command(words: Iterable[str]) -> str:
    """The words of a command, options among them, as a line to type."""
    return " ".join(map(_quoted, words))


def _ansi_c(c: str) -> str:
    """A character as it stands inside `$'...'`: printable as it is, otherwise as escapes of its bytes."""
    if c in "\\'":
        return "\\" + c
    if c.isprintable():
        return c
    return "".join(f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape"))
