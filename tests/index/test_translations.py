"""Korean words find their English, and only whole words do."""

from __future__ import annotations

import json

from gitmem.index.translations import _FILE, english
from gitmem.text.terms import stem
from tests.harness import Repo


def test_a_korean_word_has_the_stems_that_stand_for_it() -> None:
    assert english("컨테이너") == (stem("container"),)
    assert stem("store") in english("저장소")
    assert english("컨테이") == () == english("컨테이너\tcontain") == english("") == english("#")


def test_the_file_has_words_as_questions_have_them_each_once() -> None:
    rows = [line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    words = [row[0] for row in rows]
    assert len(words) > 2_000 and words == sorted(set(words)) and all(2 <= len(row) <= 3 for row in rows)
    assert _FILE.stat().st_size < 50_000


def test_a_korean_question_finds_the_english_word_by_words_alone(repo: Repo) -> None:
    lines = ["- 매주 금요일에 청소를 한다", "- 여기서는 container 두 개만 띄운다", "- 점심은 각자 먹는다"]
    repo.commit("notes", {"memory/notes.md": "# 메모\n\n" + "\n".join(lines) + "\n"})
    found = json.loads(repo.mem("search", "--json", "--lane", "lexical", "컨테이너는 몇 개").stdout)["hits"]
    assert "container" in found[0]["text"]
