"""`git mem check`: exit codes, formats, the baseline and `--fix`."""

from __future__ import annotations

import json

import pytest

from tests.harness import Repo


@pytest.fixture
def moved(repo: Repo) -> Repo:
    repo.commit(
        "o", {"src/door.py": "def open_door():\n    return 1\n" * 5, "CLAUDE.md": "# House\n\nDoors: `src/door.py`.\n"}
    )
    repo.git("mv", "src/door.py", "src/gate.py")
    repo.commit("renamed")
    return repo


def test_json_has_the_shape_of_the_docs_and_the_exit_says_gone(moved: Repo) -> None:
    done = moved.mem("check", "--json", check=False)
    (one,) = json.loads(done.stdout)["findings"]
    assert done.returncode == 1 and list(one) == [
        "path", "line", "claim", "kind", "state", "evidence", "commit", "renamed_to",
    ]  # fmt: skip
    assert (one["claim"], one["state"], one["renamed_to"]) == ("src/door.py", "gone", "src/gate.py")


def test_base_says_only_what_the_change_broke(moved: Repo) -> None:
    assert moved.mem("check", "--base", "HEAD~1", "--json", check=False).returncode == 1
    moved.commit("other", {"x.py": "y\n"})
    assert json.loads(moved.mem("check", "--base", "HEAD~1", "--json").stdout) == {"findings": []}


def test_base_with_a_path_says_nothing_of_other_files(moved: Repo) -> None:
    moved.commit(
        "lift", {"lift.py": "".join(f"weight_{n} = {n}\n" for n in range(9)), "AGENTS.md": "# A\n\nBe kind.\n"}
    )
    moved.mem("add", "The lift has weights", "--to", "memory", "--cites", "lift.py:2-5", "--commit")
    moved.git("rm", "-q", "lift.py")
    moved.git("commit", "-qm", "gone")
    findings = json.loads(moved.mem("check", "--base", "HEAD~1", "--json", check=False).stdout)["findings"]
    assert [one["path"] for one in findings] == ["MEMORY.md"]
    assert json.loads(moved.mem("check", "--base", "HEAD~1", "--json", "AGENTS.md").stdout) == {"findings": []}


def test_fix_writes_the_new_path_in_one_commit(moved: Repo) -> None:
    assert moved.mem("check", "--fix").returncode == 0
    assert moved.read("CLAUDE.md") == "# House\n\nDoors: `src/gate.py`.\n"
    assert moved.git("log", "-1", "--format=%s") == "memory: follow 1 path renamed in the code\n"
    assert moved.git("status", "--porcelain") == ""


def test_a_baseline_silences_what_is_known_wherever_its_line_goes(moved: Repo) -> None:
    moved.mem("check", "--new-baseline")
    moved.commit("known", {"CLAUDE.md": "# House\n\n\n\nDoors: `src/door.py`.\n"})
    assert moved.read(".gitmem/check-baseline") == "CLAUDE.md\tpath\tsrc/door.py\n"
    assert json.loads(moved.mem("check", "--json").stdout) == {"findings": []}


def test_each_sarif_result_has_its_place(moved: Repo) -> None:
    (run,) = json.loads(moved.mem("check", "--format", "sarif", check=False).stdout)["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "CLAUDE.md" and place["region"]["startLine"] == 3


def test_before_the_first_commit_there_is_nothing_to_find(repo: Repo) -> None:
    assert json.loads(repo.mem("check", "--json").stdout) == {"findings": []}


def test_a_review_says_what_a_change_makes_false_and_fails_where_that_is_set(moved: Repo) -> None:
    done = moved.mem("review", "HEAD~1..HEAD")
    assert "Lines that this change makes false" in done.stdout
    assert "\n  ```diff\n  -Doors: `src/door.py`.\n  +Doors: `src/gate.py`.\n  ```\n" in done.stdout
    moved.commit("settings", {".gitmem.toml": '[check]\ngone = "block"\n'})
    assert moved.mem("review", "HEAD~2..HEAD", check=False).returncode == 1
