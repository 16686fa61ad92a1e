"""Who wrote a fact is the author of the commit that first brought its statement, whatever happened to it since."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.git.opening import open_repository
from gitmem.memory import facts as memory_facts
from gitmem.provenance.writers import writers
from tests.harness import Repo
from tests.provenance.random_history import facts_of, first_commits, grown, who_made


@pytest.mark.parametrize("seed", range(6))
def test_the_writer_is_who_first_brought_the_statement_in_any_history(tmp_path: Path, seed: int) -> None:
    repo = Repo(tmp_path / "r")
    grown(repo, seed, 45)
    head = repo.git("rev-parse", "HEAD").strip()
    facts = {ident: fact for some in facts_of(repo, head).values() for ident, fact in some.items()}
    first = first_commits(repo)
    found = writers(open_repository(repo.path, os.environ), head, facts.values())
    assert len(facts) > 5
    assert {ident: one.commit.oid for ident, one in found.items()} == {ident: first[ident] for ident in facts}
    assert {ident: one.name for ident, one in found.items()} == {i: who_made(repo, first[i]) for i in facts}


def writer_of(repo: Repo, text: str) -> str:
    """The name of who wrote the text, "" where nobody did."""
    (fact,) = memory_facts.parse(f"- {text}\n".encode()).facts
    head = repo.git("rev-parse", "HEAD").strip()
    found = writers(open_repository(repo.path, os.environ), head, [fact])
    return found[fact.id].name if fact.id in found else ""


FENCED = "# Memory\n\n```\n- in a fence\n```\n\n- the port is 8080\n"


def test_a_fact_in_a_file_with_fences_wrapped_lines_and_quoted_names_has_its_writer(repo: Repo) -> None:
    def by(name: str, files: dict[str, str]) -> None:
        repo.git("config", "user.name", name)
        repo.commit("change", files)

    by("Aiko", {"MEMORY.md": FENCED})
    by("Bea", {"MEMORY.md": FENCED + "- 배포는\n  오전 11시 이전에만 한다\n"})
    memory, archive = "# Memory\n\n- the port is 8080 <!-- mem pinned=true -->\n", "- 배포는 오전 11시 이전에만 한다\n"
    by("Cho", {"MEMORY.md": memory, "memory/archive/옛 일.md": archive})
    assert writer_of(repo, "the port is 8080") == "Aiko"
    assert writer_of(repo, "배포는 오전 11시 이전에만 한다") == "Bea"
    assert writer_of(repo, "nobody said this") == ""
