"""The language modules: each list has its name in every language that has such words, and stands in one place."""

from __future__ import annotations

import ast
import unicodedata
from pathlib import Path
from types import ModuleType

import pytest

import gitmem
from gitmem.text import chinese, english, japanese, korean
from gitmem.text.languages import EASTERN, LANGUAGES, language_of, languages_in

PACKAGE = Path(gitmem.__file__).parent
# Packages whose tables are learned, translated or scored as a whole.
WITH_TABLES = ("text", "gate", "ui", "promotion/lexicon", "memory/relation")
DAYS_IN_WORDS = (
    ("monday", "tuesday"),
    ("january", "february"),
    ("월요일", "화요일"),
    ("어제", "오늘"),
    ("昨日", "今日"),
    ("昨天", "今天"),
)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_list_is_of_words_as_a_text_is_folded(language: object) -> None:
    for name, value in vars(language).items():
        if name.isupper() and isinstance(value, frozenset | tuple):
            for word in value:
                assert (
                    word and word == unicodedata.normalize("NFC", word).lower() == word.strip(" ")
                ) or word.endswith(" "), name


def test_a_list_for_one_purpose_has_one_name() -> None:
    own = [{name for name in vars(each) if name.isupper()} for each in EASTERN]
    shared = set.intersection(*own)
    assert {"COURTESY", "GREETING", "DENIAL", "AGREEMENT", "WEEKDAYS", "UNITS", "NEAR_DAYS"} <= shared


def test_no_other_module_lists_the_days_of_a_language() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).as_posix().startswith(WITH_TABLES):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Tuple | ast.List | ast.Set):
                words = {item.value for item in node.elts if isinstance(item, ast.Constant)}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
                words = set(node.value.replace("|", " ").split())
            else:
                continue
            assert not any(words.issuperset(pair) for pair in DAYS_IN_WORDS), f"{path}:{node.lineno}"


@pytest.mark.parametrize(
    ("text", "code", "modules"),
    [
        ("the café", "en", (english,)),
        ("결제 API", "ko", (english, korean)),
        ("決済の方法", "ja", (english, japanese, chinese)),
        ("支付方式", "zh", (english, japanese, chinese)),
        ("결제 支付", "ko", (english, korean, japanese, chinese)),
    ],
)
def test_the_letters_of_a_text_say_which_languages_it_needs(
    text: str, code: str, modules: tuple[ModuleType, ...]
) -> None:
    assert language_of(text) == code and languages_in(text) == modules
