"""A commit that touches code which facts cite says which, on stderr, and is never refused for it."""

from __future__ import annotations

import pytest

from tests.harness import Repo

CODE = "def limit(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n"


@pytest.fixture
def cited(repo: Repo) -> Repo:
    repo.commit("o", {"src/the limit--a@b#c.py": CODE, "src/wall.py": "x = 1\n", "MEMORY.md": "# Memory\n"})
    place = "src/the limit--a@b#c.py:1-4"
    repo.mem("add", "--type", "rule", "--commit", "--cites", place, "Entry is refused after 30 attempts")
    repo.mem("install")
    return repo


def committed(repo: Repo, path: str, text: str) -> str:
    repo.write(path, text)
    repo.git("add", "-A")
    return repo.run("git", "commit", "-qm", "change").stderr


def test_a_commit_says_which_fact_cites_what_it_changes(cited: Repo) -> None:
    said = committed(cited, "src/the limit--a@b#c.py", CODE.replace("30", "20"))
    assert "MEMORY.md:5: code changed: src/the limit--a@b#c.py:1-4" in said and "git mem confirm" in said
    assert committed(cited, "src/the limit--a@b#c.py", CODE.replace("30", "10")) == ""  # it is said once


def test_a_commit_that_leaves_the_cited_lines_as_they_were_says_nothing(cited: Repo) -> None:
    assert committed(cited, "src/the limit--a@b#c.py", "# one\n" + CODE) == ""
    assert committed(cited, "src/wall.py", "x = 2\n") == ""


def test_a_rename_is_said(cited: Repo) -> None:
    cited.git("mv", "src/the limit--a@b#c.py", "src/bound.py")
    assert "is in src/bound.py now" in committed(cited, "src/bound.py", CODE)


def test_a_removal_is_said(cited: Repo) -> None:
    (cited.path / "src/the limit--a@b#c.py").unlink()
    assert "not in the code any more: src/the limit--a@b#c.py:1-4, since" in committed(cited, "src/wall.py", "x = 3\n")


def test_of_many_facts_the_first_are_named_and_the_others_counted(cited: Repo) -> None:
    line = next(line for line in cited.read("MEMORY.md").split("\n") if "code=" in line)
    more = "".join(line.replace("30", str(number)) + "\n" for number in range(40, 48))
    committed(cited, "MEMORY.md", cited.read("MEMORY.md") + more)
    said = committed(cited, "src/the limit--a@b#c.py", CODE.replace("30", "20"))
    assert said.count("code changed") == 5 and "4 more facts cite what this commit touches" in said
