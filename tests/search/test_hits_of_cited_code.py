"""A hit whose code changed is marked, one whose code is gone comes behind what stands; none of it is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness import Repo

CODE = "def limit(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n"
OTHERS = "".join(f"- The gate of the {name} counts entry attempts\n" for name in ("cellar", "attic", "hall", "yard"))


@pytest.fixture
def cited(repo: Repo) -> Repo:
    repo.commit("o", {"src/limit.py": CODE, "MEMORY.md": f"# Memory\n\n## Rules\n\n{OTHERS}"})
    repo.mem("add", "--type", "rule", "--commit", "--cites", "src/limit.py:1-4", "Entry is refused after 30 attempts")
    return repo


def hits(repo: Repo, *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(repo.mem("search", "entry refused attempts", "--json", *more).stdout)[
        "hits"
    ]
    return found


def of_the_fact(found: list[dict[str, Any]]) -> dict[str, Any]:
    return next(hit for hit in found if "refused" in hit["text"])


def test_code_that_stands_is_not_spoken_of(cited: Repo) -> None:
    cited.commit("moved", {"src/limit.py": "# one\n\n" + CODE})
    assert "state" not in of_the_fact(hits(cited)) and "code" not in of_the_fact(hits(cited))


def test_code_that_changed_is_a_mark_and_costs_no_rank(cited: Repo) -> None:
    before = hits(cited)
    cited.commit("changed", {"src/limit.py": CODE.replace("30", "20")})
    after = hits(cited)
    assert [hit["id"] for hit in after] == [hit["id"] for hit in before] and "refused" in after[0]["text"]
    assert after[0]["state"] == "changed"
    assert after[0]["code"] == [{"cites": "src/limit.py:1-4", "state": "changed", "now": None, "commit": None}]
    assert "code changed: src/limit.py:1-4" in cited.mem("search", "entry refused attempts").stdout


def test_code_that_is_gone_comes_behind_what_stands_and_is_found(cited: Repo) -> None:
    cited.git("rm", "-q", "src/limit.py")
    gone = cited.commit("away")
    found = hits(cited, "--all")
    assert "refused" in found[-1]["text"] and found[-1]["state"] == "gone"
    assert found[-1]["code"][0]["commit"] == gone
    assert hits(cited, "-n", "1")[0]["id"] == found[0]["id"]


def test_a_rename_is_said_with_the_new_path(cited: Repo) -> None:
    cited.git("mv", "src/limit.py", "src/bound.py")
    cited.commit("renamed")
    hit = hits(cited)[0]
    assert "state" not in hit and hit["code"][0]["state"] == "renamed" and hit["code"][0]["now"] == "src/bound.py"


def test_another_snapshot_has_its_own_answer(cited: Repo) -> None:
    cited.git("branch", "before")
    cited.commit("changed", {"src/limit.py": CODE.replace("30", "20")})
    assert "state" not in of_the_fact(hits(cited, "--at", "before"))
    assert of_the_fact(hits(cited, "--at", "HEAD"))["state"] == "changed"


def test_an_agents_line_of_a_log_is_marked_too(cited: Repo) -> None:
    cited.commit("log", {"memory/2026-02-05.md": "# 2026-02-05\n\n- nothing\n"})
    line = cited.read("MEMORY.md").split("code=")[1].split(" ")[0]
    cited.commit("logged", {"memory/2026-02-05.md": f"# 2026-02-05\n\n- Entry closes <!-- mem code={line} -->\n"})
    cited.commit("changed", {"src/limit.py": CODE.replace("30", "20")})
    found: list[dict[str, Any]] = json.loads(cited.mem("search", "entry closes", "--json").stdout)["hits"]
    assert next(hit for hit in found if "closes" in hit["text"])["state"] == "changed"
