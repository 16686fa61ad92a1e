"""Every word of the interface is in both languages, and says the same of the same values."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from gitmem.memory.fact import ORIGINS, TYPES
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.provenance.grounding import WORDS as SUPPORT
from gitmem.provenance.present_facts import AGES, STATES, TRUST_STATES
from gitmem.review.fact_diff import Op
from gitmem.ui.pages import TABS
from gitmem.ui.pages.facts import FILTERS, PARTS
from gitmem.ui.pages.today import GROUPS
from gitmem.ui.rendering import HERE
from gitmem.ui.translation import SINGULARS, language_of, translate_message, translate_phrase, with_particles
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


@pytest.mark.parametrize(("number", "words"), [(1, "그 뒤 파일 1개 바뀜"), (3, "그 뒤 파일 3개 바뀜")])
def test_a_count_within_a_message_is_filled_in(number: int, words: str) -> None:
    assert translate_message("ko", Message("{} changed since", counted(number, "file"))) == words


@pytest.mark.parametrize(
    ("template", "values", "words"),
    [
        ("'{}'은(는) 파일입니다", ("결정",), "'결정'은 파일입니다"),
        ("'{}'은(는) 파일입니다", ("메모",), "'메모'는 파일입니다"),
        ("{}을(를) 뺐고 {}이(가) 남음", ("사실 2개", "줄"), "사실 2개를 뺐고 줄이 남음"),
        ("{1}(으)로 옮기고 {0}과(와) 비교", ("메모", "서울"), "서울로 옮기고 메모와 비교"),
        ("{}(으)로 옮김", ("부산",), "부산으로 옮김"),
        ("{}: {}이(가) 없음", ("a", "줄 3"), "a: 줄 3이 없음"),
        ("'{}'은(는) 파일입니다", ("notes.md",), "'notes.md'은(는) 파일입니다"),
        ("{{}}은(는) {}", ("값",), "{}은(는) 값"),
        ("{}", ("사과이(가)",), "사과이(가)"),
    ],
)
def test_a_particle_has_the_form_that_its_word_takes(template: str, values: tuple[str, ...], words: str) -> None:
    assert with_particles(template, values).format(*values) == words
