"""The language modules in one order, for whoever reads a list that each of them has."""

from __future__ import annotations

from gitmem.text import chinese, english, japanese, korean

LANGUAGES = (english, korean, japanese, chinese)
# Those whose words are looked for as parts of a text too.
EASTERN = (korean, japanese, chinese)
