"""The commits of a repository over the server: as locally, of one repository, gone with what is rewritten."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest

from gitmem.cli.search_output import render
from gitmem.config import Config
from gitmem.exchange.shared_index import _hit
from gitmem.git.opening import open_repository
from gitmem.index.history import opened
from gitmem.search.search import Answer, Query, search
from tests.harness import Repo
from tests.server.conftest import NOW, Server

MESSAGES = (
    "billing: put a queue before the invoices\n\nThe bank answers slowly on Mondays.",
    "웹훅 재시도를 세 번으로 줄인다\n\n상대 서버가 느려서 다섯 번은 너무 많았다.",
    "search: index tapir notes at night\n\nThe office is asleep then.",
)
QUESTIONS = ("why is there a queue before billing", "웹훅 재시도", "tapir", "okapi", "nothing of the kind")
TAPIR = {"query": "tapir notes at night", "repository": "notes", "history": "only"}


@pytest.fixture
def notes(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "notes")
    repo.commit("first", {"MEMORY.md": "# Memory\n\n- The okapi eats leaves\n- billing waits for the queue\n"})
    for number, message in enumerate(MESSAGES):
        repo.commit(message, {f"src/{number}.txt": "code\n"})
    return repo


@pytest.mark.parametrize("how", ["with", "only"])
def test_commits_are_found_as_by_the_repositorys_own_index(server: Server, notes: Repo, how: str) -> None:
    number = server.add("acme", "notes", notes)
    shared = server.running.operations.shared
    own = open_repository(notes.path, {})
    for question in QUESTIONS:
        query = Query(question, history=how)
        here = search(own, Config(), query._replace(commit=own.head() or ""), NOW)
        there, _ = shared.search(server.numbers["acme"], [number], query, NOW)
        rows = [
            [(hit.kind, hit.path, hit.start_line, hit.end_line, hit.text, hit.subject, hit.author) for hit in one.hits]
            for one in (here, there)
        ]
        assert rows[0] == rows[1]
        assert [hit.commit for hit in there.hits if hit.kind] == [hit.commit for hit in here.hits if hit.kind]
        assert {hit.repository for hit in there.hits} <= {"notes"}
        assert [hit.score for hit in there.hits] == pytest.approx([hit.score for hit in here.hits], abs=0.001)
        assert question != QUESTIONS[0] or "commit" in {hit.kind for hit in there.hits}
    own.close()


def test_commits_are_of_the_moment_that_is_asked_for(server: Server, notes: Repo) -> None:
    before = notes.git("rev-parse", "HEAD~1").strip()
    server.add("acme", "notes", notes)
    assert [hit["subject"] for hit in server.search("acme read", **TAPIR)["hits"]][:1] == [MESSAGES[2].split("\n")[0]]
    then = server.search("acme read", **TAPIR, at=before)["hits"]
    assert MESSAGES[2].split("\n")[0] not in [hit["subject"] for hit in then]


def test_a_fetch_adds_the_new_commits_and_a_rewritten_history_takes_its_own_away(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    assert server.search("acme read", **TAPIR)["hits"]
    notes.commit("deploy: never on a Friday", {"src/9.txt": "x\n"})
    fetch(server, number)
    found = server.search("acme read", "deploy on a Friday", repository="notes", history="only")["hits"]
    assert found[0]["subject"] == "deploy: never on a Friday" and found[0]["kind"] == "commit"
    dropped = notes.git("rev-parse", "HEAD~1").strip()
    notes.git("reset", "-q", "--hard", "HEAD~2")
    notes.commit("another way", {"src/8.txt": "y\n"})
    fetch(server, number)
    with server.running.mirrors.lent(server.numbers["acme"], number) as repo:
        assert opened(repo) is None  # deleted: it had the words
    subjects = [hit["subject"] for hit in server.search("acme read", **TAPIR)["hits"]]
    assert MESSAGES[2].split("\n")[0] not in subjects
    with server.running.mirrors.lent(server.numbers["acme"], number) as repo:
        index = opened(repo)
        assert index is not None
        assert bytes.fromhex(dropped) not in {bytes(oid) for (oid,) in index.database.rows("SELECT oid FROM blob")}
        index.close()


def fetch(server: Server, number: int) -> None:
    server.owner._connection.execute("SELECT put_job(%s, 'fetch', '0')", (number,))
    server.work()


def test_a_secret_of_a_message_is_neither_found_nor_shown(server: Server, notes: Repo) -> None:
    token = "ghp_" + "".join(random.Random(5).choices(string.ascii_letters + string.digits, k=36))
    notes.commit(f"rotate the marmot key\n\nit was {token} before\nthe marmot sleeps", {"src/5.txt": "z\n"})
    server.add("acme", "notes", notes)
    answer = server.search("acme read", "marmot key before", repository="notes", history="only")
    assert answer["hits"] and token not in str(answer)
    assert answer["hits"][0]["subject"] == "rotate the marmot key" and "marmot sleeps" in answer["hits"][0]["text"]


def test_history_is_of_one_repository_that_the_caller_may_see(server: Server, notes: Repo) -> None:
    server.add("acme", "notes", notes)
    for given in ({}, {"repository": []}):
        answer = server.ask("acme read", "POST", "/v1/search", json={"query": "tapir", "history": "with", **given})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad-request")
    answers = [
        server.ask("rival read", "POST", "/v1/search", json={**TAPIR, "repository": name}) for name in ("notes", "none")
    ]
    assert answers[0].status_code == 400 and answers[0].content == answers[1].content
    assert server.ask("acme read", "POST", "/v1/search", json={**TAPIR, "history": "all"}).status_code == 400


def test_a_history_that_is_damaged_is_built_again(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    before = server.search("acme read", **TAPIR)
    file = server.running.mirrors.place(server.numbers["acme"], number) / "gitmem" / "history.sqlite"
    assert file.exists()
    file.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    assert server.search("acme read", **TAPIR) == before


def test_the_index_of_a_history_goes_with_its_repository(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    assert server.search("acme read", **TAPIR)["hits"]
    place = server.running.mirrors.place(server.numbers["acme"], number)
    server.running.operations.ingest.remove(server.numbers["acme"], number)
    assert not place.exists()


def test_a_client_shows_commits_of_a_server(server: Server, notes: Repo) -> None:
    server.add("acme", "notes", notes)
    value = server.search("acme read", **TAPIR)["hits"][0]
    hit = _hit(value)
    assert (hit.kind, hit.path, hit.repository, hit.subject) == ("commit", "", "notes", MESSAGES[2].split("\n")[0])
    shown = render(Answer("tapir", "branches", (), False, (hit,)), "tapir", False)
    assert hit.commit[:12] in shown and hit.subject in shown and "in notes" in shown
