"""Words of documents and of questions."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.text.terms import nfkc, other_kana, split_token, stem, terms, tokens, without_ending, without_particle


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("POSTGRES_URL", ["postgres_url", "postgr", "url"]),
        ("v2.3.0", ["v2_3_0", "v", "2", "3", "0"]),
        ("ERR_1042", ["err_1042", "err", "1042"]),
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("RedisUUIDLock", ["redisuuidlock", "redi", "uuid", "lock"]),
        ("memory/notes.md", ["memory_notes_md", "memori", "note", "md"]),
        ("_last_tool", ["last_tool", "last", "tool"]),
        ("Caroline's agencies", ["carolin", "agenc"]),
        ("메모리는", ["메모", "모리", "리는", "는"]),
        ("데이터 락", ["데이", "이터", "터", "락"]),
        ("データを", ["デー", "ータ", "タを", "を"]),
        ("DB가 죽음", ["db", "가", "죽음", "음"]),
        ("ＡＢＣ café", ["abc", "cafe"]),
    ],
)
def test_text_is_cut_into(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("running", "runs"),
        ("agency", "agencies"),
        ("decided", "decide"),
        ("deployments", "deployed"),
        ("studies", "study"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_decomposed_hangul_is_the_same_word() -> None:
    decomposed = unicodedata.normalize("NFD", "메모리")
    assert decomposed != "메모리" and terms(decomposed) == terms("메모리")


@given(st.text(max_size=200))
def test_any_text_gives_terms_that_need_no_quoting(text: str) -> None:
    assert not any(re.search(r"[\s!-/:-@\[-^`{-~]", term) for term in terms(text))
    assert terms(text) == terms(text)


@given(st.text() | st.text(alphabet="aB9_.-/:'’`=\u0338é\u0301가ㅏ漢ｶﾞ \u3000\n", max_size=40))
def test_what_is_remembered_of_words_is_what_cutting_the_whole_text_gives(text: str) -> None:
    assert terms(text) == [term for token, script in tokens(nfkc(text)) for term in split_token(token, script)]
    assert terms(text) == terms(text)


@pytest.mark.parametrize(
    ("word", "noun"),
    [
        ("서버에서는", "서버"),
        ("팀장에게는", "팀장"),
        ("캐시라고", "캐시"),
        ("설정이라고", "설정"),
        ("배포", "배포"),
        ("은", "은"),
        ("집에서", "집"),
    ],
)
def test_a_particle_is_taken_off_a_noun(word: str, noun: str) -> None:
    assert without_particle(word) == noun


@pytest.mark.parametrize(
    ("word", "stem"), [("메모리는", "메모리"), ("만료되나요", "만료"), ("집에서", "집에서"), ("쓰는", "쓰는")]
)
def test_the_ending_of_a_question_is_taken_off_where_two_syllables_stay(word: str, stem: str) -> None:
    assert without_ending(word) == stem


@pytest.mark.parametrize(
    ("term", "other"),
    [("りん", "リン"), ("ゴミ", "ごみ"), ("らー", "ラー"), ("ヴァ", "ゔぁ"), ("ます", ""), ("マス", ""), ("ごリ", ""), ("ーー", ""),
     ("林檎", ""), ("の林", ""), ("ab", ""), ("메모", ""), ("", "")],
)  # fmt: skip
def test_kana_are_written_in_two_ways_but_for_grammar(term: str, other: str) -> None:
    assert other_kana(term) == other
    assert not other or other_kana(other) == term
