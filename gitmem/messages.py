"""A sentence for a person that remembers its template and its values, so that a page can say it in another language.

A leaf: imports nothing of ours. Terminals, logs and JSON take a message as the English text that it is; only
`gitmem.ui.translation` looks at the template. A sentence without values is a plain string: its text is its template.
"""

from __future__ import annotations

from collections.abc import Iterable


class Message(str):
    """`template` with each `{}` replaced by the next of `values`; a plain `str` to whoever does not know this class.

    `template`: the English sentence, the key of its translation; literal braces are doubled, as in `str.format`.
    `values`: what stands in the holes; a value may be a message, or an exception that carries one.
    Slicing, `+` and f-strings give a plain `str`: such a text stays English on every page.
    """

    __slots__ = ("template", "values")

    template: str
    values: tuple[object, ...]

    def __new__(cls, template: str, *values: object) -> Message:
        made = super().__new__(cls, template.format(*values))
        made.template = template
        made.values = values
        return made

    def __str__(self) -> str:
        return self

    def __getnewargs__(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.template, *(str(value) for value in self.values))


def joined(joint: str, parts: Iterable[object]) -> Message:
    """The parts with `joint` between them; each keeps its own translation."""
    values = tuple(parts)
    return Message(joint.replace("{", "{{").replace("}", "}}").join("{}" for _ in values), *values)
