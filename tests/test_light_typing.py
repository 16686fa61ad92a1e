"""Named tuples that are quickly made behave as those of `typing` do."""

from __future__ import annotations

import pickle
import typing

import pytest

from gitmem.light_typing import NamedTuple


class Ours(NamedTuple):
    """Three fields."""

    path: str
    line: int = 1
    tags: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Theirs(typing.NamedTuple):
    """The same."""

    path: str
    line: int = 1
    tags: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("values", "named"),
    [(("a",), {}), (("a", 2, ("x",)), {}), (("a",), {"tags": ("y",)}), ((), {"path": "b", "line": 3})],
)
def test_a_tuple_is_made_and_read_as_those_of_typing(
    values: tuple[typing.Any, ...], named: dict[str, typing.Any]
) -> None:
    ours, theirs = Ours(*values, **named), Theirs(*values, **named)
    assert ours == theirs == tuple(ours)
    assert hash(ours) == hash(theirs)
    assert (ours.path, ours.line, ours.tags) == (theirs.path, theirs.line, theirs.tags)
    assert ours._asdict() == theirs._asdict()
    assert ours._replace(line=9) == theirs._replace(line=9)
    assert type(ours._replace(line=9)) is Ours
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert (Ours._fields, Ours._field_defaults) == (Theirs._fields, Theirs._field_defaults)
    assert Ours._make(theirs) == ours
    assert type(pickle.loads(pickle.dumps(ours))) is Ours
    assert not hasattr(ours, "__dict__")
    match ours:
        case Ours(path, line):
            assert (path, line) == (theirs.path, theirs.line)


def test_properties_and_defaults_are_kept() -> None:
    assert Ours("a").place == "a:1"


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), (("a", 1, (), 4), {}), (("a",), {"path": "b"}), (("a",), {"other": 1}), ((), {"line": 1})],
)
def test_wrong_fields_are_refused(values: tuple[typing.Any, ...], named: dict[str, typing.Any]) -> None:
    with pytest.raises(TypeError):
        Theirs(*values, **named)
    with pytest.raises(TypeError):
        Ours(*values, **named)
    with pytest.raises(ValueError):
        Ours("a")._replace(**{"other": 1})


def test_a_field_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Ours("a").path = "b"  # type: ignore[misc]
