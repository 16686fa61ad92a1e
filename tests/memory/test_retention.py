"""Retention: the last day of a new fact by its type, limits for a clone, and facts that end soon."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from gitmem import api
from gitmem.config import Config
from gitmem.config.loading import load
from gitmem.config.retention import life_form
from gitmem.config.tracked_file import TIGHTEN
from gitmem.errors import BadConfig
from gitmem.memory import facts
from gitmem.memory.fact import Meta
from gitmem.memory.retention import ended_exceptions, ending_soon, with_until
from tests.harness import Repo

TODAY = date(2026, 2, 6)
NOW = datetime(2026, 2, 6, 12, tzinfo=UTC)
DAY = {"GITMEM_NOW": NOW.isoformat()}
TOML = '[retention]\nnote = "180d"\nexception = "90d"\n'


def until(repo: Repo, words: str) -> str:
    found = [fact for fact in facts.parse(repo.read("MEMORY.md").encode()).facts if words in fact.text]
    assert len(found) == 1
    return found[0].get("until")


def test_a_clone_may_shorten_lives_and_never_makes_facts_vanish() -> None:
    assert load([], TOML).retention == ("note=180d", "exception=90d")
    hostile = load([], '[retention]\nnote = "0d"\ndecision = "1d"\nrule = "-5d"\nfact = 3\n"x y;" = "40d"\n')
    assert hostile.retention == ("decision=30d",) and len(hostile.warnings) == 4
    own = [("mem.retention", "note=7d", "global"), ("mem.retention", "Exception = 400d", "global")]
    assert load(own, TOML).retention == ("note=7d", "exception=400d", "exception=90d")
    assert TIGHTEN["shorter"].combine(("note=60d",), ("note=1d",)) == ("note=60d", "note=30d")
    assert load(own, '[retention]\nnote = "180d"\n').retention == ("note=7d", "exception=400d")
    for wrong in ("note", "note=0d", "note=5w", "=5d", "note=99999999d"):
        with pytest.raises(BadConfig):
            load([("mem.retention", wrong, "global")])
    assert life_form("Episode-Digest = 030d") == "episode-digest=30d"
    assert Config().retention == ()


@pytest.mark.parametrize(
    ("meta", "day"),
    [
        ((("type", "note"),), "2026-08-05"),
        ((("type", "decision"),), ""),
        ((), ""),
        ((("type", "note"), ("until", "2030-01-01")), "2030-01-01"),
        ((("type", "note"), ("pinned", "true")), ""),
        ((("type", "note"), ("pinned", "Yes")), ""),
    ],
)
def test_a_fact_has_the_last_day_of_its_type_unless_it_says_its_own(meta: Meta, day: str) -> None:
    assert dict(with_until(meta, ("note=180d",), TODAY)).get("until", "") == day


def test_what_ends_soon_and_what_ended_not_long_ago_is_known() -> None:
    rows = [("today", "2026-02-06"), ("soon", "2026-03-08"), ("later", "2026-03-09"), ("over", "2026-02-05"),
            ("long over", "2025-11-07"), ("no day", "soon")]  # fmt: skip
    text = "".join(f"- {name} <!-- mem type=exception until={day} -->\n" for name, day in rows)
    found = facts.parse(text.encode()).facts
    assert [fact.text for _, fact in ending_soon(found, TODAY)] == ["today", "soon"]
    assert [fact.text for _, fact in ended_exceptions(found, TODAY)] == ["over"]


def test_every_writer_gives_the_last_day(repo: Repo) -> None:
    repo.commit("one", {".gitmem.toml": TOML, "MEMORY.md": "# Memory\n"})
    repo.mem("add", "--type", "exception", "포트 8080을 열어 둔다", env=DAY)
    repo.mem("add", "--type", "decision", "We use UTC", env=DAY)
    repo.mem("add", "--type", "note", "--to", "daily", "a line of a log", env=DAY)
    repo.mem("insight", "[ACME] margin fell to 3 %", env=DAY)
    assert until(repo, "포트 8080") == "2026-05-07" and until(repo, "We use UTC") == ""
    assert until(repo, "[ACME]") == "2026-08-05" and "until" not in repo.read("memory/2026-02-06.md")
    said = "# 2026-02-06\n\n## 09:00 - api\n\n- Exception: the partner API may skip the rate limit because they pay for it.\n"
    repo.commit("log", {"memory/2026-02-06.md": said})
    with api.open(repo.path, now=lambda: NOW) as memory:
        promoted = memory.promote()
        memory.edit("MEMORY.md", _line(repo, "포트 8080"), text="포트 9090을 열어 둔다", supersede=True, reason="moved")
    assert until(repo, "포트 9090") == "2026-05-07"
    for row in promoted["facts"]:
        assert until(repo, row["text"]) == ("2026-05-07" if row["type"] == "exception" else row["until"] or "")


def _line(repo: Repo, words: str) -> int:
    return next(number for number, line in enumerate(repo.read("MEMORY.md").splitlines(), 1) if words in line)


def test_doctor_lists_what_ends_and_a_session_starts_with_exceptions_that_have_ended(repo: Repo) -> None:
    text = "# Memory\n\n- Port 8080 is open <!-- mem type=exception until=2026-02-20 -->\n- TLS 1.0 is allowed for the old till <!-- mem type=exception until=2026-01-31 -->\n"
    repo.commit("one", {"MEMORY.md": text})
    checks = json.loads(repo.mem("doctor", "--json", env=DAY, check=False).stdout)["checks"]
    (ending,) = [check for check in checks if check["name"] == "endings"]
    assert ending["detail"] == "1 fact in the next 30 days: MEMORY.md:3 on 2026-02-20" and ending["wrong"] == ""
    start = repo.mem("session", "start", env=DAY).stdout
    assert (
        "Exceptions that have ended" in start
        and "TLS 1.0 is allowed for the old till (MEMORY.md:4, until 2026-01-31)" in start
    )
    assert (
        "Exceptions that have ended"
        not in repo.mem("session", "start", env={"GITMEM_NOW": "2026-01-30T12:00:00+00:00"}).stdout
    )
