"""`git mem eval` over a person's own questions: made, reviewed, measured, compared with the last run."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.harness import Repo

MEMORY = "# Memory\n\n- Deploy window: before 11 on weekdays\n- We decided that the mast is made of oak.\n"


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": MEMORY, "memory/2026-01-01.md": "# 2026-01-01\n\n- nothing of note happened\n"})
    return repo


def test_questions_are_made_asked_and_compared_with_the_last_run(memory: Repo) -> None:
    assert "git mem eval --make" in memory.mem("eval", check=False).stderr
    made = memory.mem("eval", "--make").stdout
    assert made.startswith("2 questions, 2 new")
    private = memory.path / ".git/gitmem/questions.jsonl"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600 and memory.git("status", "--porcelain") == ""
    first = json.loads(memory.mem("eval", "--json").stdout)
    assert first["since"] is None and first["runs"][0]["groups"][0]["hit@5"] == 1.0
    memory.commit("moved", {"MEMORY.md": MEMORY.replace("# Memory\n", "# Memory\n\nA line above.\n")})
    again = json.loads(memory.mem("eval", "--json").stdout)
    assert again["since"]["commits"] == 1 and again["runs"][0]["groups"][0]["hit@5"] == 1.0 and again["lost"] == []
    memory.git("config", "--global", "mem.searchFloor", "0.99")
    worse = memory.mem("eval").stdout
    assert "mem.searchFloor 0.0 -> 0.99" in worse and "hit@5 1.000 -> " in worse and "lost: " in worse
    text = (memory.path / ".git/gitmem/questions-run.json").read_text()
    assert "mast" not in text and "window" not in text


def test_a_fact_that_was_changed_is_left_out_and_asked_anew(memory: Repo) -> None:
    memory.mem("eval", "--make")
    memory.commit("pine", {"MEMORY.md": MEMORY.replace("oak", "pine")})
    done = memory.mem("eval")
    assert "1 question left out" in done.stderr and " all 1 " in " ".join(done.stdout.split())
    assert "2 questions, 1 new" in memory.mem("eval", "--make").stdout


def test_a_person_goes_through_the_questions_in_the_editor(memory: Repo, tmp_path: Path) -> None:
    editor = memory.editor(
        "sed -i -e 's/^What is known about Deploy window?$/When do we deploy?/' -e '/mast?$/d' \"$1\""
    )
    file = tmp_path / "mine.jsonl"
    done = memory.mem("eval", str(file), "--make", "--edit", env={"GIT_EDITOR": editor})
    assert done.stdout.startswith("1 question, 1 new")
    row, declined = map(json.loads, file.read_text().splitlines())
    assert declined["query"] == ""
    assert row["query"] == "When do we deploy?" and set(row) == {"query", "category", "fact"}
    assert " all 1 " in " ".join(memory.mem("eval", str(file)).stdout.split())
    left = memory.mem("eval", str(file), "--make", "--edit", env={"GIT_EDITOR": "true"}, check=False)
    assert left.returncode == 3 and len(file.read_text().splitlines()) == 2


def test_what_if_compares_words_meaning_and_the_history(memory: Repo) -> None:
    memory.commit(
        "We decided that the anchor chain is forged of steel\n\nBecause iron broke.", {"hull.c": "int main;\n"}
    )
    memory.commit("moved", {"MEMORY.md": MEMORY + "- We decided that the anchor chain is forged of steel\n"})
    memory.mem("eval", "--make")
    runs = {
        run["name"]: run["groups"][0] for run in json.loads(memory.mem("eval", "--what-if", "--json").stdout)["runs"]
    }
    assert list(runs) == ["now", "words alone", "meaning alone", "with history"]
    assert runs["with history"]["questions"] == 3 and runs["with history"]["hit@5"] == 1.0


def test_questions_of_the_repository_are_asked_where_a_person_has_none(memory: Repo) -> None:
    memory.mem("eval", ".gitmem-questions.jsonl", "--make")
    assert not (memory.path / ".git/gitmem/questions.jsonl").exists()
    assert " all 2 " in " ".join(memory.mem("eval").stdout.split())


@pytest.mark.parametrize("options", [("--edit",), ("--model", "rules"), ("--compare", "HEAD", "--what-if")])
def test_options_that_do_not_fit_are_said(memory: Repo, options: tuple[str, ...]) -> None:
    memory.mem("eval", "--make")
    assert memory.mem("eval", *options, check=False).returncode == 2


def test_a_broken_record_of_the_last_run_counts_as_none(memory: Repo) -> None:
    memory.mem("eval", "--make")
    for text in ("[", '{"at": 1}', '{"at": "x", "commit": "y", "settings": {}, "facts": {"a": 3}}', "\0" * 9):
        (memory.path / ".git/gitmem/questions-run.json").write_text(text)
        assert memory.mem("eval").returncode == 0


def test_making_questions_loses_no_row_and_asks_no_deleted_question_again(memory: Repo, tmp_path: Path) -> None:
    file = tmp_path / "new/folder/mine.jsonl"
    memory.mem("eval", str(file), "--make")
    rows = file.read_text().splitlines()
    mine = [
        json.dumps({"query": "oak?", "relevant": [{"path": "MEMORY.md", "start_line": 4, "end_line": 4}]}),
        json.dumps({"query": "gone?", "category": "x", "fact": "0" * 12}),
        json.dumps({**json.loads(rows[0]), "category": "my own"}),
    ]
    file.write_text("\n".join([*mine, rows[1]]) + "\n")
    memory.mem("eval", str(file), "--make")
    assert file.read_text().splitlines() == [*mine, rows[1]]

    editor = memory.editor("sed -i -e '/?$/d' \"$1\"")
    for place in ([str(file)], []):
        done = memory.mem("eval", *place, "--make", "--edit", env={"GIT_EDITOR": editor})
        assert done.stdout.startswith("0 questions, 0 new")
        assert memory.mem("eval", *place, "--make").stdout.startswith("0 questions, 0 new")
    left = file.read_text().splitlines()
    assert left[:2] == mine[:2] and [json.loads(row)["query"] for row in left[2:]] == ["", ""]
    assert "there is no question" in memory.mem("eval", check=False).stderr
    (tmp_path / "empty.jsonl").write_text("")
    assert memory.mem("eval", str(tmp_path / "empty.jsonl"), "--make").stdout.startswith("2 questions, 2 new")
    blocked = memory.mem("eval", str(tmp_path / "empty.jsonl/mine.jsonl"), "--make", check=False)
    assert blocked.returncode == 3 and "cannot write" in blocked.stderr
