"""One search over several repositories, and the same answers as each repository's own index."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.search.search import Lane, Query, search
from tests.harness import Repo
from tests.purge_cases import places_of
from tests.server.conftest import NOW, Server

MEMORY = """# Memory

## Decisions

- PoC phase 1 uses REST webhooks, not a queue <!-- mem type=decision from=2026-02-05 -->
- Deploy before 11:00 only <!-- mem type=rule tags=deploy,ops -->
- 결제 타임아웃은 30초로 한다. 고객 불만 때문이다. <!-- mem type=decision from=2026-03-02 -->
- 退款需要两位经理批准 <!-- mem type=policy -->
"""
LOG = """# 2026-02-05

## 09:10 - 회의

- 웹훅 재시도는 세 번까지만 한다
- the queue was rejected: nobody wants to run a broker

## 15:00

- POSTGRES_URL moved to the vault, ERR_1042 came from the old one
- port 8443 answers again
"""
QUESTIONS = [
    "why webhooks and not a queue", "결제 타임아웃", "deploy window", "ERR_1042", "退款", "웹훅 재시도 몇 번", "vault", "큐",
    "what was rejected", "port 8443", "POSTGRES_URL", "배포", "2026-02-05 회의", "nothing of the kind at all", "",
]  # fmt: skip


@pytest.fixture
def notes(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "notes")
    repo.commit("memory", {"MEMORY.md": MEMORY, "memory/2026-02-05.md": LOG}, date="2026-02-06T09:00:00+00:00")
    return repo


@pytest.mark.parametrize("lane", list(Lane))
def test_answers_are_those_of_the_repositorys_own_index(server: Server, notes: Repo, lane: Lane) -> None:
    for number in range(12):
        notes.commit("more", {f"memory/note-{number}.md": f"# Note {number}\n\n" + LOG.replace("three", str(number))})
    server.add("acme", "notes", notes)
    own = open_repository(notes.path, {})
    for question in QUESTIONS:
        query = Query(question, lane=lane, explain=True)
        here = search(own, Config(), query._replace(commit=own.head() or ""), NOW)
        shared, _ = server.running.operations.shared.search(server.numbers["acme"], None, query, NOW)
        assert shared.lanes == here.lanes
        # A cosine of half floats differs from one of bytes in the fifth digit: equal scores stand in any order.
        assert [hit.score for hit in shared.hits] == pytest.approx([hit.score for hit in here.hits], abs=0.001)
        of_server, of_own = (
            [*sorted(hits, key=lambda hit: (hit.path, hit.start_line))] for hits in (shared.hits, here.hits)
        )
        places = [(hit.path, hit.start_line, hit.end_line, hit.text) for hit in of_own]
        assert [(hit.path, hit.start_line, hit.end_line, hit.text) for hit in of_server] == places
        for ours, theirs in zip(of_server, of_own, strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=0.001)
            assert numbers_of(ours.explain) == pytest.approx(numbers_of(theirs.explain), abs=0.002)


def numbers_of(value: object) -> list[float]:
    """Every number of an explanation, in order."""
    if isinstance(value, dict):
        return [number for key in sorted(value) for number in numbers_of(value[key])]
    if isinstance(value, list | tuple):
        return [number for one in value for number in numbers_of(one)]
    return [float(value)] if isinstance(value, int | float) else []


def test_one_search_is_over_every_repository_and_says_which(server: Server, notes: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.commit("memory", {"MEMORY.md": "# Memory\n\n- Webhooks are signed with a key of each customer\n"})
    server.add("acme", "notes", notes)
    server.add("acme", "billing", other)
    hits = server.search("acme read", "webhooks")["hits"]
    assert {hit["repository"] for hit in hits} == {"notes", "billing"}
    assert {hit["repository"] for hit in server.search("acme read", "webhooks", repository="billing")["hits"]} == {
        "billing"
    }
    assert all(len(hit["commit"]) == 40 for hit in hits)


def test_a_passage_that_two_repositories_have_is_shown_once(server: Server, notes: Repo, tmp_path: Path) -> None:
    copy = Repo(tmp_path / "copy")
    copy.commit("memory", {"MEMORY.md": MEMORY})
    server.add("acme", "notes", notes)
    server.add("acme", "copy", copy)
    texts = [hit["text"] for hit in server.search("acme read", "deploy before 11:00")["hits"]]
    assert sum("Deploy before 11:00 only" in text for text in texts) == 1


def test_a_branch_or_a_tag_is_searched_by_name(server: Server, notes: Repo) -> None:
    notes.git("tag", "v1")
    notes.commit("later", {"MEMORY.md": MEMORY.replace("before 11:00", "after 16:00")})
    notes.git("branch", "topic")
    notes.commit("latest", {"MEMORY.md": MEMORY.replace("before 11:00", "on Fridays")})
    server.add("acme", "notes", notes)
    for ref, words in (("v1", "before 11:00"), ("topic", "after 16:00"), ("", "on Fridays"), ("main", "on Fridays")):
        texts = [hit["text"] for hit in server.search("acme read", "when do we deploy", ref=ref)["hits"]]
        assert any(words in text for text in texts), ref
    assert server.search("acme read", "deploy", ref="no-such")["hits"] == []


def test_a_day_or_a_commit_is_searched_as_it_was(server: Server, notes: Repo, tmp_path: Path) -> None:
    old = notes.git("rev-parse", "HEAD").strip()
    later = MEMORY.replace("before 11:00", "after 16:00")
    notes.commit(
        "later", {"MEMORY.md": later, "memory/new.md": "# New\n\n- an ibex\n"}, date="2026-06-01T09:00:00+00:00"
    )
    server.add("acme", "notes", notes)
    for at in ("2026-03-01", old, old[:10], "HEAD~1"):
        hits = server.search("acme read", "when do we deploy", repository="notes", at=at)["hits"]
        assert any("before 11:00" in hit["text"] for hit in hits) and not any("16:00" in hit["text"] for hit in hits)
        assert {hit["commit"] for hit in hits} == {old}
    assert not any(
        "ibex" in hit["text"] for hit in server.search("acme read", "ibex", repository="notes", at=old)["hits"]
    )
    for given in ({"at": "2020-01-01"}, {"at": "no such"}, {"at": "0" * 40}, {"at": old, "ref": "main"}):
        answer = server.ask("acme read", "POST", "/v1/search", json={"query": "a", "repository": "notes", **given})
        assert answer.status_code == 400, given
    everywhere = server.ask("acme read", "POST", "/v1/search", json={"query": "a", "at": old})
    assert everywhere.status_code == 400 and "names of 20" in everywhere.text
    # The next fetch drops what no branch names; a commit that a rewritten history dropped is none.
    notes.git("reset", "-q", "--hard", old)
    notes.commit("instead", {"MEMORY.md": MEMORY})
    gone = notes.git("rev-parse", "ORIG_HEAD").strip()
    server.running.operations.ingest.fetch(server.numbers["acme"], _number(server))
    answer = server.ask("acme read", "POST", "/v1/search", json={"query": "a", "repository": "notes", "at": gone})
    assert answer.status_code == 400


def _number(server: Server) -> int:
    return server.owner.repository(server.enter("acme"), "notes")


def test_filters_hold(server: Server, notes: Repo) -> None:
    server.add("acme", "notes", notes)
    assert all(
        hit["type"] == "decision" for hit in server.search("acme read", "결제 webhooks", type="decision")["hits"]
    )
    assert all(
        hit["path"].startswith("memory/") for hit in server.search("acme read", "queue", path="memory/*")["hits"]
    )
    assert all("deploy" in hit["tags"] for hit in server.search("acme read", "deploy", tag="deploy")["hits"])
    since = server.search("acme read", "webhooks queue port", since="2026-02-01", until="2026-02-28")["hits"]
    assert since and all("2026-02" in (hit["date"] or "") for hit in since)


def test_a_line_with_a_secret_is_neither_indexed_nor_shown(server: Server, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "leaky")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    repo.commit(
        "memory", {"memory/2026-02-05.md": f"# 2026-02-05\n\n- the zebra token is {token[:40]}\n- zebra stripes\n"}
    )
    server.add("acme", "leaky", repo)
    for query in ("zebra", token[:40], "token"):
        answer = server.search("acme read", query)
        assert token[4:20] not in str(answer["hits"]) and answer["withheld"] == 1
    shown = server.ask("acme read", "GET", "/v1/lines", params={"repository": "leaky", "path": "memory/2026-02-05.md"})
    assert shown.status_code == 200 and token[4:20] not in shown.text and "stripes" in shown.text


def test_a_push_is_searchable_after_the_next_fetch_and_what_is_gone_is_not(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    notes.commit("later", {"MEMORY.md": "# Memory\n\n- The giraffe is tall\n"})
    server.running.workers[0]._ingest.fetch(server.numbers["acme"], number)
    texts = [hit["text"] for hit in server.search("acme read", "giraffe")["hits"]]
    assert any("giraffe" in text for text in texts)
    assert not any("Deploy before" in hit["text"] for hit in server.search("acme read", "deploy before 11:00")["hits"])


FORGOTTEN = "Deploy before 11:00 only"


def test_what_was_forgotten_leaves_by_no_door_and_a_purge_reaches_the_rows(server: Server, notes: Repo) -> None:
    pytest.importorskip("git_filter_repo")
    line = MEMORY.split("\n").index(next(row for row in MEMORY.split("\n") if FORGOTTEN in row)) + 1
    notes.commit(f"ops\n\n- {FORGOTTEN} (rule)\n", {"memory/ops.md": f"# Ops\n\nRemember: {FORGOTTEN}, on any day.\n"})
    before = notes.git("rev-parse", "HEAD").strip()
    blob = notes.git("rev-parse", "HEAD:memory/ops.md").strip()
    number = server.add("acme", "notes", notes)
    assert FORGOTTEN in str(server.search("acme read", "deploy before 11:00"))
    notes.mem("forget", f"MEMORY.md:{line}", "--everywhere", "--reason", "x")
    fetch = server.running.workers[0]._ingest.fetch
    fetch(server.numbers["acme"], number)
    for given in ({}, {"at": before}, {"history": "with"}, {"history": "only"}):
        found = server.search("acme read", "deploy before 11:00", repository="notes", **given)
        assert FORGOTTEN not in str(found["hits"]), given
    notes.mem("forget", f"MEMORY.md:{line}", "--purge", "--yes", "--at", before, "--reason", "x")
    fetch(server.numbers["acme"], number)
    mirror = Repo(server.running.mirrors.place(server.numbers["acme"], number), init=False)
    assert mirror.run("git", "cat-file", "-e", blob, check=False).returncode
    assert not any(server.owner.audit(server.enter("acme"), "notes")["unreachable"].values())
    assert places_of(mirror, FORGOTTEN, ".") == []
