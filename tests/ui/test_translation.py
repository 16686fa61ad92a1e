"""Every word of the interface is in both languages, and says the same of the same values."""

from __future__ import annotations

import calendar
import re

import pytest

from gitmem.context.layer_limits import Layer
from gitmem.memory.fact import ORIGINS, TYPES
from gitmem.provenance.grounding import WORDS as SUPPORT
from gitmem.provenance.present_facts import AGES, STATES, TRUST
from gitmem.review.fact_diff import Op
from gitmem.search.hits import BY_HAND
from gitmem.ui.korean_pages import WORDS
from gitmem.ui.pages.facts import FILTERS, PARTS
from gitmem.ui.pages.today import GROUPS
from gitmem.ui.rendering import HERE
from gitmem.ui.translation import ONE, language_of, translate
from gitmem.ui.view import NAVIGATION

PHRASE = re.compile(r"""\bt\(\s*"((?:[^"\\]|\\.)*)"\s*[,)]""")
FIELD = re.compile(r"\{(\w+)\}")


def phrases() -> set[str]:
    """What templates and pages ask to be translated, and the closed lists they ask it of."""
    files = [*HERE.rglob("*.html"), *HERE.rglob("*.py")]
    found = {phrase for file in files for phrase in PHRASE.findall(file.read_text(encoding="utf-8"))}
    found |= {title for _, title in NAVIGATION} | {*GROUPS, *(title for title, _ in PARTS)}
    found |= {*TYPES, *ORIGINS, *STATES, *TRUST, *AGES, *FILTERS, *SUPPORT.values(), *map(str, Op)}
    return found


def test_every_phrase_has_its_korean_words() -> None:
    assert phrases() - set(WORDS) == set()


REASONS = (BY_HAND,)


def test_no_entry_is_left_over_without_a_use() -> None:
    files = [file for file in HERE.rglob("*.*") if file.suffix in (".py", ".html") and file.name != "korean.py"]
    texts = "\n".join(file.read_text(encoding="utf-8") for file in files)
    used = phrases() | {"older", "none", "from tool", "from web", "reverted", "amended", "text", "moved", "history"}
    used |= {
        *calendar.day_name,
        *map(str, Layer),
        "start",
        "context",
        *REASONS,
    }  # the layers of a context, the kinds of receipts
    assert [phrase for phrase in WORDS if phrase not in used and f'"{phrase}"' not in texts] == []


@pytest.mark.parametrize("phrase", [*WORDS])
def test_both_languages_have_the_same_placeholders(phrase: str) -> None:
    assert set(FIELD.findall(phrase)) == set(FIELD.findall(WORDS[phrase]))
    assert re.search("[가-힣]", WORDS[phrase])


def test_one_of_a_thing_has_words_of_its_own_in_english() -> None:
    assert (
        translate("en", "{count} facts", count=1) == "1 fact" and translate("en", "{count} facts", count=2) == "2 facts"
    )
    assert translate("ko", "{count} facts", count=1) == "사실 1개"
    assert set(ONE) <= set(WORDS)


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"), ("ko", "ko"), ("ko-KR,ko;q=0.9,en-US;q=0.8", "ko"), ("en-US,en;q=0.9,ko;q=0.8", "en"), ("de,ko;q=0.1", "ko"),
        ("fr", "en"), ("ko;q=0", "en"), ("ko;q=x,en", "en"), (",,;;", "en"), ("en;q=0.5,KO;q=0.6", "ko"),
    ],
)  # fmt: skip
def test_the_language_is_the_one_that_the_browser_wants_most(header: str, language: str) -> None:
    assert language_of(header) == language
