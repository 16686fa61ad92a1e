"""Daily notes of another program, by the patterns of `[memory] daily`, in a review: folded as logs, never as facts."""

from __future__ import annotations

import json

from tests.harness import Repo

GITHUB = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "team/memory"}
NOTE = "journals/2026_02_05.md"
SETTINGS = '[memory]\ndaily = ["journals/YYYY_MM_DD.md"]\n'
MEMORY = "# Memory\n\n- The API listens on port 8080.\n"


def text_of(repo: Repo) -> str:
    return repo.mem("review", "main..HEAD", env=GITHUB).stdout


def test_lines_of_daily_notes_are_folded_as_logs(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": MEMORY, ".gitmem.toml": SETTINGS, NOTE: "# 2026-02-05\n\n- first\n- second\n"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("day", {NOTE: "# 2026-02-05\n\n## Evening\n\n- second\n- first\n- 저녁에 배포했다\n"})
    text = text_of(repo)
    assert "**1 fact" not in text and "no fault in what was checked" in text
    assert "2 lines of logs" in text and "<details>" in text and "저녁에 배포했다" in text
    assert "## Prose and headings" not in text and "reordered" not in text
    found = json.loads(repo.mem("review", "main..HEAD", "--format", "json", env=GITHUB).stdout)
    assert found["verdict"] == "clean"


def test_a_change_does_not_make_its_own_files_logs(repo: Repo) -> None:
    settings = '[memory]\npaths = ["plans/*.md"]\n'
    plan = "plans/2026_02_05.md"
    repo.commit("start", {"MEMORY.md": MEMORY, ".gitmem.toml": settings, plan: "# Plan\n\n- first\n"})
    repo.git("checkout", "-q", "-b", "topic")
    hidden = settings + 'daily = ["plans/YYYY_MM_DD.md"]\n'
    repo.commit("hide", {".gitmem.toml": hidden, plan: "# Plan\n\n- first\n- Deploy on Friday.\n"})
    text = text_of(repo)
    assert "**1 fact new or changed**" in text and "Deploy on Friday." in text
