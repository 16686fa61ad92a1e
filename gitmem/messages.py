"""A sentence for a person that keeps its template and its values, so that a page can show it in another language.

A leaf: imports nothing of ours. Terminals, logs and JSON use a message as plain English text; only
`gitmem.ui.translation` reads the template. A sentence without values is a plain string: its text is its template.
"""

from __future__ import annotations

from collections.abc import Iterable


class Message(str):
    """A string: `template` with each `{}` replaced by the next of `values`.

    `template`: the English sentence, and the key of its translation; literal braces are doubled, as in `str.format`.
    `values`: one for each `{}`; a value may be a message itself, or an exception whose text is a message. Raises
    IndexError for fewer values.
    Slicing, `+` and f-strings give a plain `str`, which stays English on every page.
    """

    __slots__ = ("template", "values")

    template: str
    values: tuple[object, ...]

    def __new__(cls, template: str, *values: object) -> Message:
        message = super().__new__(cls, template.format(*values))
        message.template = template
        message.values = values
        return message

    def __str__(self) -> str:
        return self

    def __getnewargs__(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.template, *(str(value) for value in self.values))


def joined(joint: str, parts: Iterable[object]) -> Message:
    """The parts with the text `joint` between them, as one message; each part keeps its own translation."""
    values = tuple(parts)
    return Message(joint.replace("{", "{{").replace("}", "}}").join("{}" for _ in values), *values)
