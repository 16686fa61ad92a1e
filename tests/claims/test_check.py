"""The full check: what stood once and is gone is said, and what never claimed anything is not."""

from __future__ import annotations

import os

import pytest

from gitmem.claims import documents
from gitmem.claims.check import check
from gitmem.claims.finding import Finding
from gitmem.git.opening import open_repository
from tests.harness import Repo

DOOR = "def open_door(key):\n    return key\n"


def found(repo: Repo) -> list[Finding]:
    opened = open_repository(repo.path, os.environ)
    try:
        head = opened.head()
        assert head
        return check(opened, head, documents.read(opened, head)).findings
    finally:
        opened.close()


def sure(repo: Repo) -> list[tuple[str, int, str]]:
    return [(one.path, one.line, one.claim) for one in found(repo) if one.sure]


def test_a_path_that_stood_is_gone_with_the_commit_that_took_it(repo: Repo) -> None:
    repo.commit(
        "o", {"src/door.py": DOOR, "src/wall.py": "x = 1\n", "CLAUDE.md": "# House\n\n- Doors: `src/door.py`\n"}
    )
    repo.git("rm", "-q", "src/door.py")
    taken = repo.commit("away")
    (one,) = found(repo)
    assert (one.path, one.line, one.claim, one.kind, one.state, one.commit) == (
        "CLAUDE.md", 3, "src/door.py", "path", "gone", taken,
    )  # fmt: skip


def test_a_rename_is_said_with_its_new_path(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR * 9, "AGENTS.md": "Doors: `src/door.py`.\n"})
    repo.git("mv", "src/door.py", "src/gate.py")
    repo.commit("renamed")
    assert [one.renamed_to for one in found(repo)] == ["src/gate.py"]


@pytest.mark.parametrize(
    "line",
    [
        "The old `src/door.py` was removed.",
        "Use `src/wall.py` instead of `src/door.py`.",
        "This generates `src/door.py`.",
        "`src/door.py` (removed)",
        "예전의 `src/door.py`는 삭제되었다.",
    ],
)
def test_a_line_that_denies_or_makes_is_not_accused(repo: Repo, line: str) -> None:
    repo.commit("o", {"src/door.py": DOOR, "src/wall.py": "x = 1\n", "CLAUDE.md": line + "\n"})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert found(repo) == []


def test_what_git_ignores_is_not_missed(repo: Repo) -> None:
    repo.commit(
        "o",
        {".gitignore": "history/\n*.local.json\n", "CLAUDE.md": "`history/` and `conf/a.local.json`\n", "conf/b": "x"},
    )
    assert found(repo) == []


def test_a_name_that_code_defined_when_the_line_was_written_is_gone(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "CLAUDE.md": "Call `open_door()`.\n", "README.md": "open_door\n"})
    repo.commit("other", {"src/door.py": DOOR.replace("open_door", "unlock")})
    (one,) = found(repo)
    assert (one.kind, one.claim, one.sure) == ("symbol", "open_door()", True)


def test_a_script_that_no_manifest_defines_is_gone(repo: Repo) -> None:
    repo.commit(
        "o", {"package.json": '{"scripts": {"paint": "x"}}', "CLAUDE.md": "- `npm run paint`\n- `npm run sand`\n"}
    )
    assert sure(repo) == [("CLAUDE.md", 2, "npm run sand")]


def test_a_makefile_that_computes_its_targets_says_nothing(repo: Repo) -> None:
    repo.commit("o", {"Makefile": "$(foreach x,a b,$(eval $(x):))\n", "CLAUDE.md": "Run `make sand`.\n"})
    assert found(repo) == []


def test_a_link_to_instructions_is_judged_once(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "AGENTS.md": "Doors: `src/door.py`.\n"})
    (repo.path / "CLAUDE.md").symlink_to("AGENTS.md")
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert sure(repo) == [("AGENTS.md", 1, "src/door.py")]


def test_a_daily_log_is_a_record_and_is_not_judged(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "memory/2026-02-05.md": "- wrote `src/door.py`\n"})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert found(repo) == []


def test_what_is_found_from_the_files_folder_or_by_its_end_stands(repo: Repo) -> None:
    files = {"web/src/door.ts": "x", "web/CLAUDE.md": "`src/door.js`, `door.ts`\n", "CLAUDE.md": "`src/door.ts`\n"}
    repo.commit("o", files)
    assert found(repo) == []


def test_a_language_version_that_a_manifest_contradicts_changed(repo: Repo) -> None:
    repo.commit(
        "o", {"pyproject.toml": '[project]\nrequires-python = ">=3.12"\n', "CLAUDE.md": "Python 3.10 is enough.\n"}
    )
    (one,) = found(repo)
    assert (one.kind, one.state, one.claim) == ("version", "changed", "Python 3.10")
