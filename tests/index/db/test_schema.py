"""The statements that an index of this version contains, word for word."""

from __future__ import annotations

from hashlib import sha256

from gitmem.index.db.schema import STATEMENTS, VERSION

DIGESTS = {6: "3070ca25ac6551e8bf85d7c03b073a2510088ce01b05b055c76f2e7117023b4e"}  # version -> of its statements


def test_another_statement_needs_another_version() -> None:
    text = "\n".join(STATEMENTS.values())
    assert sha256(text.encode()).hexdigest() == DIGESTS[VERSION], "an index of today would no longer open"


def test_each_statement_has_the_name_of_what_it_creates() -> None:
    for name, statement in STATEMENTS.items():
        assert statement.split("(")[0].split()[-1] == name or f" {name} " in statement.split("(")[0]
