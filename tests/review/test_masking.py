"""What a review shows is masked string by string: every field but those of a short list, and no text hides another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, get_args, get_type_hints

from gitmem.gate.policy import Policy
from gitmem.memory.fact import Fact
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.masking import UNMASKED_FIELDS, Texts, mask_strings
from gitmem.review.review import Review
from gitmem.review.warnings.registry import WARNINGS
from tests.samples import GITHUB


@dataclass(frozen=True, slots=True)
class Row:
    """A value of a review with a field that nobody has thought of."""

    path: str
    unheard_of: str = ""
    commit: str = ""
    more: tuple[str, ...] = ()


def strings(kind: Any, name: str = "", seen: frozenset[Any] = frozenset()) -> Iterator[str]:
    """The names of all fields that hold text in a value of this type."""
    if kind is str:
        yield name
    for inner in get_args(kind):
        yield from strings(inner, name, seen)
    if not isinstance(kind, type) or kind in seen or issubclass(kind, Enum):
        return
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        for each in [row.name for row in fields(kind)] if is_dataclass(kind) else hints:
            yield from strings(hints[each], each, seen | {kind})


def test_a_field_that_nobody_has_named_is_masked() -> None:
    row = mask_strings(Row("memory/a.md", f"token {GITHUB}", "1a2b" * 10, (f"x {GITHUB}", "fine")), Policy())
    assert GITHUB not in repr(row) and row.commit == "1a2b" * 10 and row.more[1] == "fine"


def test_a_secret_in_one_string_hides_nothing_of_the_next() -> None:
    rows = (
        Row("-----BEGIN RSA PRIVATE KEY-----"),
        Row("memory/password.md"),
        Row("memory/b.md", "password:"),
        Row("memory/c.md"),
    )
    shown = mask_strings(rows, Policy())
    assert [row.path for row in shown[1:]] == ["memory/password.md", "memory/b.md", "memory/c.md"]


def test_a_source_in_a_comment_stays_readable_and_other_keys_are_masked() -> None:
    fact = Fact("Deploys are on Tuesdays.", "0" * 12, 3)
    fact = fact._replace(meta=(("src", "memory/2026-02-05.md#L3@1a2b3c4d5e6f"), ("note", GITHUB)))
    shown = mask_strings((FactChange(Op.ADDED, "MEMORY.md", None, fact),), Policy())[0].new
    assert (
        shown is not None
        and shown.get("src") == "memory/2026-02-05.md#L3@1a2b3c4d5e6f"
        and GITHUB not in shown.get("note")
    )


def test_the_fields_that_are_not_masked_are_few_and_there() -> None:
    names = {name for check in WARNINGS for name in strings(get_type_hints(check)["return"])}
    names |= set(strings(get_type_hints(Review)["changes"])) | set(strings(Review))
    assert names >= UNMASKED_FIELDS and len(UNMASKED_FIELDS) < 12


def test_a_key_in_one_text_does_not_take_the_path_beside_it_along() -> None:
    texts = Texts()
    rows = ["memory/a.md", f"- key {GITHUB}", "memory/b.md", f"- the key is\n  {GITHUB[:-1]}X", "memory/c.md", ""]
    for row in rows:
        texts.collect(row)
    texts.mask(Policy(), ())
    shown = [texts.masked(row) for row in rows]
    assert [shown[0], shown[2], shown[4], shown[5]] == ["memory/a.md", "memory/b.md", "memory/c.md", ""]
    assert GITHUB not in "".join(shown) and GITHUB[:-1] not in "".join(shown) and shown[3].count("\n") == 1


def test_no_two_warnings_have_one_key() -> None:
    keys = [get_type_hints(check)["return"].key for check in WARNINGS]
    assert len(keys) == len(set(keys))
