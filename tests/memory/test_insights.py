"""Insights: newest first, one for an entity and day, a limited number, complete, and through the gate."""

from __future__ import annotations

import json

import pytest

from gitmem.errors import UsageError
from gitmem.memory import facts
from gitmem.memory.insights import MAX_INSIGHTS, ensure_complete, parse
from tests.harness import Repo

DAY = {"GITMEM_NOW": "2026-02-07T12:00:00+00:00"}


def test_the_newest_insight_comes_first_below_its_heading(repo: Repo) -> None:
    repo.write("MEMORY.md", "# Memory\n\n## Decisions\n\n- REST\n")
    repo.mem("insight", "[ACME] margin fell to 3 % in Q2", env={"GITMEM_NOW": "2026-02-06T12:00:00+00:00"})
    done = repo.mem("insight", "[Globex]", "orders", "doubled", "--json", env=DAY)
    assert json.loads(done.stdout)["line"] == 9
    assert [f.text for f in facts.parse(repo.read("MEMORY.md").encode()).facts] == [
        "REST", "[Globex] orders doubled", "[ACME] margin fell to 3 % in Q2",
    ]  # fmt: skip
    assert repo.git("log", "--oneline", "--all", check=False) == ""


def test_an_entity_has_one_insight_a_day(repo: Repo) -> None:
    repo.mem("insight", "[ACME] margin fell to 3 %", env=DAY)
    done = repo.mem("insight", "[acme] margin is 4 %", env=DAY)
    assert "already" in done.stdout and repo.read("MEMORY.md").count("[") == 1
    repo.mem("insight", "[ACME] margin is 4 %", env={"GITMEM_NOW": "2026-02-08T12:00:00+00:00"})
    assert repo.read("MEMORY.md").count("ACME") == 2


def test_fifty_stay_and_the_oldest_goes_to_the_archive(repo: Repo) -> None:
    rows = "".join(
        f"- [E{n}] value {n} <!-- mem type=note from=2025-06-{28 - n % 28:02} -->\n" for n in range(MAX_INSIGHTS)
    )
    repo.write("MEMORY.md", f"## Insights\n\n{rows}")
    repo.mem("insight", "[New] value rose to 7", env=DAY)
    kept = facts.parse(repo.read("MEMORY.md").encode()).facts
    assert len(kept) == MAX_INSIGHTS and kept[0].text == "[New] value rose to 7"
    assert f"[E{MAX_INSIGHTS - 1}]" in repo.read("memory/archive/2025.md")


@pytest.mark.parametrize(
    "text",
    [
        "no entity",
        "[] x",
        "[A]",
        "[A] revenue: null",
        "[A] {{value}} up",
        "[A] ${X} up",
        "[A] growth: -",
        "[A] TODO write",
        "[{name}] value rose",
        "[unknown] value rose",
        "[A] x <!-- y",
        "[A] 5 %",
        "[A] 출시일 미정",
    ],
)
def test_incomplete_data_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        ensure_complete(*parse(text))


def test_a_refusal_says_what_is_missing_and_quotes_nothing_personal(repo: Repo) -> None:
    done = repo.mem("insight", "[ACME] margin: ?, revenue 0.00 in Q2", check=False, env=DAY)
    assert done.returncode == 2 and "'?' behind 'margin'" in done.stderr and "'0.00' behind 'revenue'" in done.stderr
    done = repo.mem("insight", "[ACME] 010-9482-7315 ? in May", check=False, env=DAY)
    assert done.returncode == 2 and "character 15" in done.stderr and "9482" not in done.stderr
    assert not (repo.path / "MEMORY.md").exists()


def test_a_dry_run_writes_nothing_and_a_secret_is_refused(repo: Repo) -> None:
    repo.mem("insight", "--dry-run", "[ACME] margin fell to 3 %", env=DAY)
    assert not (repo.path / "MEMORY.md").exists()
    done = repo.mem("insight", "[ACME] token " + "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z2A", check=False, env=DAY)
    assert done.returncode == 1 and "aB3dE5fG7" not in done.stderr
    assert not (repo.path / "MEMORY.md").exists()
