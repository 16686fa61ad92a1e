"""Cutting text into pieces, the same at training and at search."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from gitmem.models.wordpiece import PIECES_PER_LETTER, WORD_LIMIT, _split_words, ngrams, rows_of, words

PIECES = {
    piece: row
    for row, piece in enumerate(["un", "##believ", "##ably", "caf", "##e", "▁메모", "모리", "会議", "v", "##2"])
}


def find(piece: str) -> int:
    return PIECES.get(piece, -1)


def cut(text: str) -> list[str]:
    names = list(PIECES)
    return [names[row] for word in words(text) for row in rows_of(word, find)]


def test_latin_words_are_cut_longest_piece_first_as_bert_does():
    assert cut("Unbelievably") == ["un", "##believ", "##ably"]
    assert cut("v2") == ["v", "##2"]


def test_accents_case_and_width_do_not_matter():
    assert cut("CAFÉ") == cut("cafe") == cut("ｃａｆｅ") == cut(unicodedata.normalize("NFD", "café"))


def test_hangul_is_recomposed_and_its_particles_share_the_stem():
    decomposed = unicodedata.normalize("NFD", "메모리는")
    assert words(decomposed) == ["메모리는"]
    assert cut("메모리는") == cut("메모리를") == cut(decomposed) == ["모리", "▁메모"]


def test_voiced_kana_stay_voiced():
    assert words("がぎぐ") == ["がぎぐ"]
    assert words(unicodedata.normalize("NFD", "ガギグ")) == ["ガギグ"]


def test_scripts_and_identifiers_part():
    assert words("OpenAI의 POSTGRES_URL을 会議で v2.3") == [
        "openai",
        "의",
        "postgres",
        "url",
        "을",
        "会議で",
        "v2",
        "3",
    ]


def test_grams_of_each_script():
    assert ngrams("메모리") == ["▁메", "메모", "모리", "▁메모", "메모리"]
    assert ngrams("会議") == ["会", "議", "会議"]
    assert "サーバ" in ngrams("サーバー") and "を再起" not in ngrams("を再起動")


def test_what_is_not_known_has_no_piece_and_the_rest_is_kept():
    assert cut("unQQbelievably") == ["un", "##believ", "##ably"]
    assert cut("🙂 !!") == []


@given(st.text())
def test_any_text_is_cut_into_few_pieces_of_bounded_words(text):
    for word in words(text):
        assert 0 < len(word) <= WORD_LIMIT
        everything = rows_of(word, lambda piece: 0)
        assert 0 < len(everything) <= PIECES_PER_LETTER * len(word)
        assert rows_of(word, lambda piece: -1) == []


@given(st.text() | st.text(alphabet="aB9_.-/:'’`=\u0338é\u0301가ᄀ漢ｶﾞΣσ \u3000\n", max_size=40))
def test_what_is_remembered_of_words_is_what_cutting_the_whole_text_gives(text):
    assert words(text) == _split_words(text)
    assert words(text) == words(text)
