"""Every word of the interface is in both languages, and says the same of the same values."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from gitmem.memory.fact import ORIGINS, TYPES
from gitmem.provenance.grounding import WORDS as SUPPORT
from gitmem.provenance.present_facts import AGES, STATES, TRUST_STATES
from gitmem.review.fact_diff import Op
from gitmem.ui.pages import TABS
from gitmem.ui.pages.facts import FILTERS, PARTS
from gitmem.ui.pages.today import GROUPS
from gitmem.ui.rendering import HERE
from gitmem.ui.translation import SINGULARS, language_of, translate_phrase
from tests.harness import SOURCE
from tests.ui.korean import WORDS

PHRASE = re.compile(r"""\bt\(\s*"((?:[^"\\]|\\.)*)"\s*[,)]""")
FIELD = re.compile(r"\{(\w+)\}")


def phrases() -> set[str]:
    """What templates and pages ask to be translated, and the closed lists they ask it of."""
    files = [*HERE.rglob("*.html"), *HERE.rglob("*.py")]
    found = {phrase for file in files for phrase in PHRASE.findall(file.read_text(encoding="utf-8"))}
    found |= {title for _, title in TABS} | {*GROUPS, *(part.title for part in PARTS)}
    found |= {*TYPES, *ORIGINS, *STATES, *TRUST_STATES, *AGES, *FILTERS, *SUPPORT.values(), *map(str, Op)}
    return found


def test_the_compiled_catalogs_are_current() -> None:
    done = subprocess.run([sys.executable, "tools/catalogs.py", "--check"], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_phrase_has_its_korean_words() -> None:
    assert phrases() - set(WORDS) == set()


def test_one_of_a_thing_has_words_of_its_own_in_english() -> None:
    assert (
        translate_phrase("en", "{count} facts", count=1) == "1 fact"
        and translate_phrase("en", "{count} facts", count=2) == "2 facts"
    )
    assert translate_phrase("ko", "{count} facts", count=1) == "사실 1개"
    assert set(SINGULARS) <= set(WORDS)


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"), ("ko", "ko"), ("ko-KR,ko;q=0.9,en-US;q=0.8", "ko"), ("en-US,en;q=0.9,ko;q=0.8", "en"), ("de,ko;q=0.1", "ko"),
        ("fr", "en"), ("ko;q=0", "en"), ("ko;q=x,en", "en"), (",,;;", "en"), ("en;q=0.5,KO;q=0.6", "ko"),
    ],
)  # fmt: skip
def test_the_language_is_the_one_that_the_browser_wants_most(header: str, language: str) -> None:
    assert language_of(header) == language
