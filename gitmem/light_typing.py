"""What a search needs of `typing`, which takes 2.4 ms to import: a leaf that every package may import.

To a type checker these are the names of `typing` themselves. `TYPE_CHECKING` is true to it as there, by its name. A
`Protocol` is a plain class. A `NamedTuple` is made in a fraction of the time: `typing` writes each class a constructor
as text and compiles it, 0.13 ms, and a search waits for fifty of them before it begins; what is made here has the same
methods and reads the same, and no generic types or docstrings of fields.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any
    from typing import NamedTuple as NamedTuple
    from typing import Protocol as Protocol
    from typing import cast as cast
else:
    from collections import _tuplegetter

    class Protocol:
        """What others have, for type checkers."""

    def cast(kind: Any, value: Any) -> Any:
        """The value."""
        return value

    class _Meta(type):
        """Makes of a class with annotations a tuple with these fields. Its module postpones annotations: from Python
        3.14 on a class has none in its namespace otherwise (KeyError)."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if bases != (tuple,):
                fields = tuple(namespace["__annotations__"])
                own = {field: namespace[field] for field in fields if field in namespace}
                namespace.update({field: _tuplegetter(at, None) for at, field in enumerate(fields)})
                namespace.update(_fields=fields, _known=frozenset(fields), _field_defaults=own, __match_args__=fields)
            namespace["__slots__"] = ()
            return type.__new__(cls, name, bases, namespace)

    class NamedTuple(tuple, metaclass=_Meta):
        _fields: tuple[str, ...] = ()

        def __new__(cls, *values: Any, **named: Any) -> NamedTuple:
            if named or len(values) != len(cls._fields):
                values = cls._filled(values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _filled(cls, values: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
            fields = cls._fields
            given = dict(zip(fields, values, strict=False)) | named
            whole = cls._field_defaults | given
            if len(given) < len(values) + len(named) or whole.keys() != cls._known:
                raise TypeError(f"{cls.__name__} takes {', '.join(fields)}: got {len(values)} and {[*named]}")
            return [whole[field] for field in fields]

        @classmethod
        def _make(cls, values: Any) -> NamedTuple:
            return cls(*values)

        def _replace(self, **named: Any) -> NamedTuple:
            changed = tuple.__new__(type(self), map(named.pop, self._fields, self))
            if named:
                raise ValueError(f"{type(self).__name__} has no {', '.join(named)}")
            return changed

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"
