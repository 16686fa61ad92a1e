"""The statements that an index of this version contains, word for word."""

from __future__ import annotations

from hashlib import sha256

from gitmem.index.db.schema import TABLES, VERSION

DIGESTS = {6: "524c74eb021f6695f4dc1598201db5fea517b2d3f4e495aa2606a92bbdbbba53"}  # version -> of its statements


def test_another_statement_needs_another_version() -> None:
    text = "\n".join(sorted(TABLES.values()))
    assert sha256(text.encode()).hexdigest() == DIGESTS[VERSION], "an index of today would no longer open"


def test_each_statement_has_the_name_of_what_it_creates() -> None:
    assert "place_chunk" in TABLES and "vocabulary" in TABLES
    for name, statement in TABLES.items():
        assert f" {name}(" in statement or f" {name} ON " in statement or f" {name} USING " in statement
