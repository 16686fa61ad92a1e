"""The static embedder over small tables made by the tool that makes the real one."""

import math
import subprocess
import sys
from array import array
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import ModelUnavailable
from gitmem.index.db.values import bits, int8
from gitmem.models import static_embedder, wordpiece
from gitmem.models.static_embedder import StaticEmbedder
from tools.distill import write_table

PIECES = [
    "the",
    "memory",
    "##ies",
    "index",
    "▁메",
    "메모",
    "모리",
    "리는",
    "▁메모",
    "会",
    "議",
    "会議",
    "サ",
    "サー",
    "7",
]


@pytest.fixture(scope="module")
def rows():
    return numpy.random.default_rng(7).standard_normal((len(PIECES), 64)).astype(numpy.float32)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("table") / "table.bin"
    write_table(path, PIECES, rows)
    return StaticEmbedder(path)


def test_a_text_is_the_sum_of_its_pieces_at_length_one(embedder, rows):
    found = [PIECES.index(piece) for piece in ("the", "memory", "##ies", "会", "議", "会議")]
    assert [row for word in wordpiece.words("The memoryies: 会議") for row in embedder.rows(word)] == found
    total = rows[found].sum(0)
    vector = numpy.frombuffer(embedder.embed_query("The memoryies: 会議"), "<f4")
    assert len(vector) == embedder.dims == 64
    assert numpy.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert vector @ total / numpy.linalg.norm(total) > 0.9999


def test_every_piece_is_found_by_its_own_text_and_no_other(embedder):
    for row, piece in enumerate(PIECES):
        assert embedder._find(piece) == row
    assert embedder._find("none of them") == embedder._find("") == -1


def test_a_row_survives_eight_bits(embedder, rows):
    for number, row in enumerate(rows):
        kept = numpy.array(embedder.row(number), float)
        assert kept @ row / numpy.linalg.norm(kept) / numpy.linalg.norm(row) > 0.9999


@pytest.mark.parametrize("word", [*[w for w in PIECES if w.isalnum()], "memoryies", "메모리는", "サーサー", "会議会議"])
def test_the_signs_of_a_word_are_those_of_its_vector(embedder, word):
    signs = f"{embedder.signs[word]:064b}"
    vector = numpy.frombuffer(embedder.embed_query(word), "<f4")
    large = [at for at, number in enumerate(vector) if abs(number) > 0.02]  # signs are quick, scales are rounded
    assert len(large) > 40
    assert all((signs[at] == "1") == (vector[at] > 0) for at in large)
    assert embedder.signs[word] == embedder.signs[word]


def test_a_word_of_many_pieces_has_signs_too_and_one_of_none_has_no_length(embedder):
    vector = numpy.frombuffer(embedder.embed_query("memory" + "ies" * 30), "<f4")
    signs = f"{embedder.signs['memory' + 'ies' * 30]:064b}"
    assert [sign == "1" for sign in signs] == [number > 0 for number in vector]
    assert embedder.signs["zzz"] == 0 == embedder.length("zzz")
    assert embedder.length("memory") > 0


def test_a_text_without_pieces_is_all_zeros(embedder):
    assert embedder.embed_query("") == embedder.embed_query("!? zzz 🙂") == bytes(256)


@given(st.lists(st.lists(st.sampled_from([*PIECES, "메모리는", "사", "zzz", "会議サーバ"]), max_size=30), max_size=6))
@settings(deadline=None)
def test_many_at_once_are_the_same_bytes_as_one_at_a_time(embedder, texts):
    joined = [" ".join(words) for words in texts]
    many = (joined * 300)[:300]  # so many that the pieces are read into a dict
    assert StaticEmbedder(embedder.path).embed(many) == [embedder.embed_query(text) for text in many]


def test_a_text_too_long_for_one_lane_is_summed_in_parts(embedder):
    text = "memory " * 40_000
    long, short = (memoryview(embedder.embed_query(words)).cast("f") for words in (text, "memory"))
    assert list(long) == pytest.approx(list(short), abs=1e-6)


def test_a_word_that_recurs_counts_by_the_root_of_its_number(embedder, rows):
    vector = numpy.frombuffer(embedder.embed_query("index 7 7 7 7"), "<f4")
    total = rows[PIECES.index("index")] + 2 * rows[PIECES.index("7")]
    assert vector @ total / numpy.linalg.norm(total) > 0.9999
    assert [static_embedder._weight(count) for count in (1, 2, 3, 4, 9, 100, 10**9)] == [4, 6, 7, 8, 12, 40, 40]


def test_a_long_text_in_parts_is_the_text(embedder, monkeypatch):
    text = " ".join(PIECES * 7 + ["memory"] * 300)
    whole = embedder.embed_query(text)
    monkeypatch.setattr(static_embedder, "_LETTERS_A_SUM", 4000)
    assert embedder.embed_query(text) == whole


def test_the_longest_part_cannot_overflow_a_lane():
    top = static_embedder.SCALE_LIMIT * static_embedder.ZERO
    assert top * static_embedder.PIECES_PER_LETTER * static_embedder._LETTERS_A_SUM < 2**31
    assert static_embedder._LETTERS_A_SUM // static_embedder._ONCE > 2500  # a chunk of 400 tokens takes one part
    assert (
        wordpiece.WORD_LIMIT * static_embedder._weight(static_embedder._MAX_WORD_COUNT)
        <= static_embedder._LETTERS_A_SUM
    )  # one word always fits


def test_the_id_names_the_bytes_of_the_table(tmp_path, embedder, rows):
    same, other = tmp_path / "same.bin", tmp_path / "other.bin"
    write_table(same, PIECES, rows)
    write_table(other, PIECES, -rows)
    assert StaticEmbedder(same).id == embedder.id != StaticEmbedder(other).id
    assert embedder.id.startswith("static:") and len(embedder.id) == len("static:") + 12


@pytest.mark.parametrize(
    "spoil", [lambda b: b[:-1], lambda b: b"", lambda b: b[:20], lambda b: b"X" + b[1:], lambda b: b + b"\0"]
)
def test_a_table_that_is_not_whole_is_refused(tmp_path, embedder, spoil):
    path = tmp_path / "table.bin"
    path.write_bytes(spoil(Path(embedder.path).read_bytes()))
    with pytest.raises(ModelUnavailable):
        StaticEmbedder(path)


def test_a_missing_table_says_what_to_type(tmp_path):
    with pytest.raises(ModelUnavailable) as caught:
        StaticEmbedder(tmp_path / "none.bin")
    assert "--lane lexical" in caught.value.hint


def test_embedding_imports_nothing_heavy(embedder):
    code = (
        "import sys; from pathlib import Path; from gitmem.models.static_embedder import StaticEmbedder\n"
        f"e = StaticEmbedder(Path({str(embedder.path)!r})); e.embed_query('memory'); e.embed(['memory'] * 300)\n"
        "print(*{'numpy', 'json', 'hashlib', 'importlib.resources'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_threads_may_share_one(embedder):
    from concurrent.futures import ThreadPoolExecutor

    texts = [f"the memory index {n}" for n in range(400)]
    shared = StaticEmbedder(embedder.path)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(shared.embed_query, texts)) == [embedder.embed_query(text) for text in texts]


def test_unit_vectors_are_unit(embedder):
    vector = memoryview(embedder.embed_query("the index 7")).cast("f")
    assert math.hypot(*vector) == pytest.approx(1, abs=1e-6)


@given(st.lists(st.sampled_from([*PIECES, "메모리는", "사", "zzz", "会議サーバ"]), max_size=400))
@settings(deadline=None)
def test_what_the_index_stores_of_a_text_is_its_vector_in_fewer_bits(embedder, found):
    text = " ".join(found)
    ((signs, small),) = embedder.codes([text])
    vector = embedder.embed_query(text)
    assert signs == bits(vector)
    pairs = zip(array("b", small), array("b", int8(vector)), strict=True)
    assert all(abs(a - b) <= 1 for a, b in pairs)  # the last digit: rounded from whole numbers, not from floats


def test_what_the_index_stores_of_a_text_in_parts_is_that_of_the_text(embedder, monkeypatch):
    text = " ".join(PIECES * 7 + ["memory"] * 300)
    whole = embedder.codes([text, ""])
    monkeypatch.setattr(static_embedder, "_LETTERS_A_SUM", 4000)
    assert embedder.codes([text, ""]) == whole
    assert whole[1] == (bytes(8), bytes(64))
    monkeypatch.undo()
    ((_, long),) = embedder.codes(["memory " * 40_000])
    assert max(array("b", long)) == 127 or min(array("b", long)) == -127


@pytest.mark.parametrize(
    "text", ["the harbour crane is blue", "배포는 화요일에만 한다", "請求書は月末に送る", "", "\u2603"]
)
def test_a_cosine_is_that_of_the_unit_vectors(text: str) -> None:
    table = static_embedder.shared()
    question = array("f", table.embed_query("which colour is the crane?"))
    whole = sum(a * b for a, b in zip(question, array("f", table.embed_query(text)), strict=True))
    assert table.cosine(question, text) == pytest.approx(whole, abs=1e-6)
