"""The Korean catalog of the pages as a table, read by Babel."""

from __future__ import annotations

from babel.messages.pofile import read_po

from gitmem.ui.translation import DOMAIN, KOREAN, LOCALE

with (LOCALE / KOREAN / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as _file:
    _CATALOG = read_po(_file, locale=KOREAN, abort_invalid=True)

WORDS: dict[str, str] = {}  # the Korean words of each English sentence; of a plural for the plural
for _entry in _CATALOG:
    if _entry.id:
        several = isinstance(_entry.id, tuple)
        WORDS[_entry.id[1] if several else _entry.id] = _entry.string[0] if several else _entry.string
FUZZY = [_entry.id for _entry in _CATALOG if _entry.id and _entry.fuzzy]
