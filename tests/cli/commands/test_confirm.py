"""`git mem confirm`: what moves a citation, and for whom."""

from __future__ import annotations

import json
import os
from contextlib import closing
from datetime import date
from itertools import count

import pytest

from gitmem import api
from gitmem.errors import UnknownFact, UsageError
from gitmem.git.opening import open_repository
from gitmem.memory.fact import fact_id
from gitmem.memory.successor import successor
from tests.harness import Repo

CODE = "def limit(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n"


@pytest.fixture
def cited(repo: Repo) -> Repo:
    repo.commit("o", {"src/limit.py": CODE, "MEMORY.md": "# Memory\n"})
    repo.mem("add", "--type", "rule", "--commit", "--cites", "src/limit.py:1-4", "Entry is refused after 30 attempts")
    repo.commit("moved", {"src/limit.py": "# one\n# two\n" + CODE})
    return repo


def line(repo: Repo) -> int:
    return (
        repo.read("MEMORY.md").split("\n").index(next(x for x in repo.read("MEMORY.md").split("\n") if "Entry" in x))
        + 1
    )


def test_lines_that_moved_are_cited_anew_in_one_commit(cited: Repo) -> None:
    done = json.loads(cited.mem("confirm", f"MEMORY.md:{line(cited)}", "--json").stdout)
    assert done["cites"] == ["src/limit.py:3-6"] and "#L3-L6@" in cited.read("MEMORY.md")
    message = cited.git("log", "-1", "--format=%B")
    assert f"Memory-Confirmed: {done['fact']} @ " in message
    assert json.loads(cited.mem("check", "--json").stdout) == {"findings": []}


def test_lines_that_changed_have_to_be_named(cited: Repo) -> None:
    cited.commit("changed", {"src/limit.py": CODE.replace("30", "20")})
    place = f"MEMORY.md:{line(cited)}"
    assert "--cites" in cited.mem("confirm", place, check=False).stderr
    cited.mem("confirm", place, "--cites", "src/limit.py:1-4", "--reason", "read again")
    assert "#L1-L4@" in cited.read("MEMORY.md")


def test_an_agent_quotes_what_it_read(cited: Repo) -> None:
    place = f"MEMORY.md:{line(cited)}"
    assert cited.mem("confirm", place, "--agent", "coder", check=False).returncode != 0
    assert cited.mem("confirm", place, "--agent", "coder", "--quote", "tries = 20", check=False).returncode != 0
    cited.mem("confirm", place, "--agent", "coder", "--quote", CODE)
    assert "Memory-Agent: coder" in cited.git("log", "-1", "--format=%B")


def test_a_fact_without_code_says_what_to_type(repo: Repo) -> None:
    repo.commit("o", {"MEMORY.md": "- A fact.\n"})
    assert "--cites" in repo.mem("confirm", "MEMORY.md:1", check=False).stderr


def test_why_shows_what_became_of_the_code_and_what_stood_there(cited: Repo) -> None:
    place = f"MEMORY.md:{line(cited)}"
    assert "moved to line 3" in cited.mem("why", place).stdout
    cited.commit("changed", {"src/limit.py": CODE.replace("30", "20")})
    said = cited.mem("why", place).stdout
    assert "these lines changed" in said and "tries = 30" in said
    (one,) = json.loads(cited.mem("why", place, "--json").stdout)["code"]
    assert one == {"cites": "src/limit.py:1-4", "state": "changed", "words": "these lines changed"}


def test_one_rule_says_what_names_a_fact_by_its_id(cited: Repo) -> None:
    ident = fact_id("Entry is refused after 30 attempts")
    with api.open(cited.path) as memory:
        done = memory.forget(id=f" {ident[:6].upper()} ", reason="measured", dry_run=True)
        assert done["facts"][0]["line"] == line(cited)
        with pytest.raises(UsageError):
            memory.forget(id=ident[:5], reason="measured")
    assert cited.mem("confirm", ident[:5], check=False).returncode == 2
    assert "no committed fact has the id 000000" in cited.mem("confirm", "000000", check=False).stderr
    cited.mem("confirm", ident[:6].upper())


def test_an_agents_line_names_one_fact_by_the_beginning_of_its_id(repo: Repo) -> None:
    by_beginning: dict[str, str] = {}
    pair: list[str] = []
    for number in count():  # about 5,000 texts, for two ids whose first 6 digits are the same
        text = f"The crane holds {number} tons"
        if other := by_beginning.get(fact_id(text)[:6]):
            pair = [other, text]
            break
        by_beginning[fact_id(text)[:6]] = text
    repo.write("MEMORY.md", f"# Memory\n\n- {pair[0]}\n- {pair[1]}\n")
    with closing(open_repository(repo.path, os.environ)) as there:
        with pytest.raises(UnknownFact):
            successor(there, "The crane is sold", "fact", fact_id(pair[1])[:6], date(2026, 2, 5))
        meta, _ = successor(there, "The crane is sold", "fact", fact_id(pair[1]).upper(), date(2026, 2, 5))
    assert meta == (("proposes", fact_id(pair[1])),)
