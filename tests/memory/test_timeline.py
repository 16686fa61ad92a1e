"""`git mem log`: days, their sections, and the facts that cite them."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from tests.harness import Repo
from tests.provenance_cases import FACT, LOG, promote, record_log


def days(repo: Repo, *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(repo.mem("log", "--json", *options).stdout)["days"]
    return found


def test_a_day_has_its_sections_and_the_facts_promoted_from_it(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    (day,) = days(repo)
    assert day["date"] == "2026-02-05"
    assert day["facts"] == [{"path": "MEMORY.md", "line": 5, "text": FACT, "type": "decision"}]
    (section,) = day["logs"][0]["sections"]
    assert (section["time"], section["topic"], section["start_line"]) == ("10:00", "webhooks", 3)
    assert section["lines"][0] == "- PoC phase 1 uses REST webhooks."
    out = repo.mem("log").stdout
    assert out.startswith("2026-02-05 Thursday\n  10:00 webhooks  memory/2026-02-05.md:3\n    PoC phase 1")
    assert f"  => {FACT}  MEMORY.md:5\n" in out


def test_the_newest_of_the_requested_days_comes_first_with_uncommitted_lines(repo: Repo) -> None:
    record_log(repo)
    repo.write("memory/2026-02-06.codex.md", "# 2026-02-06\n\n## 1:30 PM – 점심\n\n- 커밋 전\n")
    repo.write("memory/2026-02-07.md", "loose line\n")
    assert [day["date"] for day in days(repo)] == ["2026-02-07", "2026-02-06", "2026-02-05"]
    assert [day["date"] for day in days(repo, "--since", "2026-02-06", "--until", "2026-02-06")] == ["2026-02-06"]
    assert [day["date"] for day in days(repo, "-n", "1")] == ["2026-02-07"]
    (mine,) = days(repo, "--agent", "codex")
    assert mine["logs"][0]["agent"] == "codex"
    assert (mine["logs"][0]["sections"][0]["time"], mine["logs"][0]["sections"][0]["topic"]) == ("1:30 PM", "점심")
    assert [day["date"] for day in days(repo, "--at", "HEAD")] == ["2026-02-05"]
    assert days(repo)[0]["logs"][0]["sections"][0]["lines"] == ["loose line"]


def test_nothing_in_a_log_reaches_the_terminal_raw_and_links_are_not_followed(repo: Repo) -> None:
    record_log(repo, text=LOG.replace("Lunch", "\x1b]0;x\x07\u202e"))
    (repo.path / "memory/2026-02-09.md").symlink_to("/etc/passwd")
    out = repo.mem("log").stdout
    assert "\x1b" not in out and "\u202e" not in out and "root:" not in out


def test_bad_dates_are_a_usage_error_without_output(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    assert repo.mem("log", "--since", "soon", check=False).returncode == 2
    done = repo.mem("log")
    assert done.stdout == "" and "no daily log here" in done.stderr


def test_an_agent_whose_name_is_typed_decomposed_is_the_same_agent(repo: Repo) -> None:
    repo.commit("logs", {"memory/2026-02-06.클로드.md": "# 2026-02-06\n\n- 배포는 화요일\n", "MEMORY.md": "# m\n"})
    decomposed = unicodedata.normalize("NFD", "클로드")
    (mine,) = days(repo, "--agent", decomposed)
    assert [log["agent"] for log in mine["logs"]] == ["클로드"]


def test_the_mark_with_which_windows_begins_a_file_is_no_text(repo: Repo) -> None:
    repo.write("memory/2026-02-05.md", "\ufeff# 2026-02-05\n\n- The crane is blue\n")
    repo.write("memory/2026-02-06.md", "\ufeff## 09:00 - standup\n\n- The mast is oak\n")
    said = repo.mem("log").stdout
    assert "ufeff" not in said and "\ufeff" not in said and "# 2026" not in said
    assert "09:00 standup" in said and "The crane is blue" in said


def test_a_file_with_a_title_in_its_name_is_said_to_be_an_episode_and_no_log(repo: Repo) -> None:
    repo.write("memory/2026-11-30.md", "- 금요일에는 배포하지 않는다\n")
    repo.write("memory/2026-11-30-회의.md", "- 배포 창은 화요일이다\n")
    done = repo.mem("log")
    assert "금요일에는" in done.stdout and "화요일" not in done.stdout
    assert "note: 1 episode is left out: memory/2026-11-30-회의.md" in done.stderr
    for words in (["--since", "2026-12-01"], ["--agent", "coder"]):
        assert "episode" not in repo.mem("log", *words, check=False).stderr
