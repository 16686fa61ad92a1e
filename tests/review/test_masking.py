"""What a review shows of memory is masked by the name of its field: here that no field of a warning is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

import pytest

from gitmem.gate.policy import Policy
from gitmem.review.masking import PEOPLE, TEXTS, Texts
from gitmem.review.warnings.registry import WARNINGS
from tests.samples import GITHUB

NO_MEMORY = {"SettingsChange.what"}  # fields of text that hold none of memory: a kind of change


def fields_of_text(kind: Any, name: str = "", owner: str = "", seen: frozenset[Any] = frozenset()) -> Iterator[str]:
    """`Owner.field` for every field of text that a value of this type can hold and that no mask covers."""
    if kind is str and name not in TEXTS | PEOPLE:
        yield f"{owner}.{name}"
    for inner in get_args(kind):
        yield from fields_of_text(inner, name, owner, seen)
    if isinstance(kind, type) and kind not in seen and (is_dataclass(kind) or hasattr(kind, "_fields")):
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind)] if is_dataclass(kind) else list(hints)
        for each in names:
            yield from fields_of_text(hints[each], each, kind.__name__, seen | {kind})


@pytest.mark.parametrize("check", WARNINGS, ids=lambda check: check.__module__.rpartition(".")[2])
def test_every_field_of_text_in_a_warning_is_masked_or_holds_none_of_memory(check: Any) -> None:
    assert set(fields_of_text(get_type_hints(check)["return"])) <= NO_MEMORY


def test_a_key_in_one_text_does_not_take_the_path_beside_it_along() -> None:
    texts = Texts()
    rows = ["memory/a.md", f"- key {GITHUB}", "memory/b.md", f"- the key is\n  {GITHUB[:-1]}X", "memory/c.md", ""]
    for row in rows:
        texts.collect(row)
    texts.mask(Policy(), ())
    shown = [texts.masked(row) for row in rows]
    assert [shown[0], shown[2], shown[4], shown[5]] == ["memory/a.md", "memory/b.md", "memory/c.md", ""]
    assert GITHUB not in "".join(shown) and GITHUB[:-1] not in "".join(shown) and shown[3].count("\n") == 1
