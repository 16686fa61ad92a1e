"""The queue, the webhooks, taking out, and faults: nothing is lost, nothing stays that should be gone."""

from __future__ import annotations

import hmac
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gitmem.config import Config
from gitmem.errors import GitFailed, IndexUnusable, UsageError
from gitmem.git.opening import open_repository
from gitmem.search.search import Query, search
from gitmem.server.administration import administration
from gitmem.server.ingest import Ingest
from gitmem.server.keys import Keyring
from gitmem.server.postgres.database import Database, migrate, migrations
from gitmem.server.startup import CONFIG
from gitmem.server.worker import Worker
from tests.harness import SOURCE, Repo
from tests.server.conftest import HOOK_SECRET, NOW, Server

MEMORY = "# Memory\n\n- The okapi eats leaves\n- 기린은 키가 크다\n"


@pytest.fixture
def notes(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "notes")
    repo.commit("memory", {"MEMORY.md": MEMORY})
    return repo


def counts(server: Server, tenant: str = "acme") -> dict[str, int]:
    """Rows of the index of a tenant, by table."""
    tables = ("blob", "chunk", "place", "segment", "posting", "snapshot", "entry", "ref", "repository")
    number, connection = server.numbers[tenant], server.owner._connection
    return {
        t: connection.execute(f"SELECT count(*) FROM {t} WHERE tenant = %s", (number,)).fetchone()[0] for t in tables
    }


def push(body: dict[str, Any], forge: str = "github", id: str = "1", secret: str = HOOK_SECRET) -> dict[str, Any]:
    data = json.dumps(body).encode()
    digest = hmac.digest(secret.encode(), data, "sha256").hex()
    headers = {
        "github": {"X-Hub-Signature-256": f"sha256={digest}", "X-GitHub-Delivery": id},
        "forgejo": {"X-Forgejo-Signature": digest, "X-Forgejo-Delivery": id},
        "gitlab": {"X-Gitlab-Token": secret, "X-Gitlab-Event-UUID": id},
    }[forge]
    return {"content": data, "headers": headers}


def jobs(server: Server) -> list[dict[str, Any]]:
    return server.owner.jobs()


@pytest.mark.parametrize("forge", ["github", "gitlab", "forgejo"])
def test_a_signed_push_is_fetched_once(server: Server, notes: Repo, forge: str) -> None:
    server.add("acme", "notes", notes)
    notes.commit("later", {"MEMORY.md": MEMORY + "- The bongo hides\n"})
    part = "project" if forge == "gitlab" else "repository"
    body = {"ref": "refs/heads/main", part: {"clone_url": str(notes.path), "git_http_url": str(notes.path)}}
    delivered = push(body, forge, id=f"{forge}-{notes.path}")
    assert server.ask("", "POST", "/hooks", **delivered).status_code == 202
    assert [job["kind"] for job in jobs(server)] == ["fetch"]
    server.work()
    assert any("bongo" in hit["text"] for hit in server.search("acme read", "bongo")["hits"])
    assert server.ask("", "POST", "/hooks", **delivered).status_code == 202  # replayed: accepted, and nothing happens
    assert jobs(server) == []


def test_who_waits_for_jobs_hears_of_a_push_at_once(server: Server, notes: Repo) -> None:
    server.add("acme", "notes", notes)
    body = {"after": "0" * 40, "repository": {"clone_url": str(notes.path)}}
    with server.running.writers.job_notices() as heard:
        while heard(0.2):  # of what came before
            pass
        assert server.ask("", "POST", "/hooks", **push(body, id=f"heard {notes.path}")).status_code == 202
        assert heard(60.0) and not heard(0.0)


def test_a_copy_of_many_packs_becomes_one_pack_without_what_nothing_reaches(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    place = server.running.mirrors.place(server.numbers["acme"], number)
    subprocess.run(["git", "-C", str(place), "config", "gc.autoPackLimit", "3"], check=True)
    for animal in ("bongo", "quokka", "takin", "gaur", "saola"):
        notes.commit(animal, {"MEMORY.md": f"{MEMORY}- The {animal} hides\n"})
        server.add("acme", "notes", notes)
        assert len(list(place.glob("objects/pack/*.pack"))) <= 4
        assert any(animal in hit["text"] for hit in server.search("acme read", "what hides")["hits"])
    assert not (place / "gc.pid").exists()


@pytest.mark.parametrize("forge", ["github", "forgejo"])
def test_a_push_that_is_sent_again_under_another_number_does_nothing(server: Server, notes: Repo, forge: str) -> None:
    """The number of a delivery is not signed: whoever saw one can give it another."""
    server.add("acme", "notes", notes)
    body = {"after": notes.git("rev-parse", "HEAD").strip(), "repository": {"clone_url": str(notes.path)}}
    assert server.ask("", "POST", "/hooks", **push(body, forge, id=f"first {notes.path}")).status_code == 202
    assert len(jobs(server)) == 1
    server.work()
    assert server.ask("", "POST", "/hooks", **push(body, forge, id=f"second {notes.path}")).status_code == 202
    assert jobs(server) == []


@pytest.mark.parametrize("forge", ["github", "gitlab", "forgejo"])
def test_pushes_out_of_order_end_with_what_the_branch_has(server: Server, notes: Repo, forge: str) -> None:
    server.add("acme", "notes", notes)
    deliveries = []
    for animal in ("bongo", "quokka"):
        notes.commit(animal, {"MEMORY.md": f"{MEMORY}- The {animal} hides\n"})
        after, address = notes.git("rev-parse", "HEAD").strip(), {"clone_url": str(notes.path), "url": str(notes.path)}
        deliveries.append(push({"after": after, "repository": address}, forge, id=after))
    for delivered in reversed(deliveries):
        assert server.ask("", "POST", "/hooks", **delivered).status_code == 202
        server.work()
        found = "".join(hit["text"] for hit in server.search("acme read", "what hides")["hits"])
        assert "quokka" in found and "bongo" not in found


@pytest.mark.parametrize("forge", ["github", "gitlab", "forgejo"])
def test_a_forged_push_does_nothing(server: Server, notes: Repo, forge: str) -> None:
    server.add("acme", "notes", notes)
    body = {"repository": {"clone_url": str(notes.path)}}
    for delivered in (push(body, forge, secret="another"), {"content": b"{}"}, {"content": b""}):
        assert server.ask("", "POST", "/hooks", **delivered).status_code == 401
    changed = push(body, forge)
    if forge != "gitlab":  # whose token signs nothing
        changed["content"] += b" "
        assert server.ask("", "POST", "/hooks", **changed).status_code == 401
    assert jobs(server) == []


def test_a_push_of_an_unknown_repository_is_answered_as_one_of_a_known(server: Server, notes: Repo) -> None:
    server.add("acme", "notes", notes)
    known = server.ask("", "POST", "/hooks", **push({"repository": {"clone_url": str(notes.path)}}, id="k"))
    unknown = server.ask("", "POST", "/hooks", **push({"repository": {"clone_url": "https://x.example/y"}}, id="u"))
    assert (known.status_code, known.content) == (unknown.status_code, unknown.content)


@pytest.mark.parametrize(
    "body", [b"[]", b"not json", b"[" * 100_000, b'{"repository": 3}', b'{"repository": {"url": 5}}']
)
def test_odd_deliveries_are_refused_or_mean_nothing(server: Server, body: bytes) -> None:
    digest = hmac.digest(HOOK_SECRET.encode(), body, "sha256").hex()
    answer = server.ask("", "POST", "/hooks", content=body, headers={"X-Hub-Signature-256": f"sha256={digest}"})
    assert answer.status_code in (202, 400) and jobs(server) == []


def test_a_repository_that_is_removed_leaves_nothing(server: Server, notes: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.commit("memory", {"MEMORY.md": MEMORY, "memory/x.md": "# X\n\n- only here: quokka\n"})
    server.add("acme", "notes", notes)
    before = counts(server)
    number = server.add("acme", "other", other)
    server.owner.remove_repository(server.enter("acme"), "other")
    server.work()
    assert counts(server) == before
    assert not server.running.mirrors.place(server.numbers["acme"], number).exists()
    proof = server.owner.audit(server.numbers["acme"], "other")
    assert not proof["there"] and not any(proof["unreachable"].values())
    assert not any("quokka" in hit["text"] for hit in server.search("acme read", "quokka")["hits"])
    assert any("okapi" in hit["text"] for hit in server.search("acme read", "okapi")["hits"])


def test_what_a_rewritten_history_dropped_is_gone_from_rows_and_mirror(server: Server, notes: Repo) -> None:
    notes.commit("slip", {"memory/slip.md": "# Slip\n\n- the wombat is a confidential matter\n"})
    gone = notes.git("rev-parse", "HEAD:memory/slip.md").strip()
    number = server.add("acme", "notes", notes)
    assert any("wombat" in hit["text"] for hit in server.search("acme read", "wombat")["hits"])
    notes.git("reset", "-q", "--hard", "HEAD~1")
    notes.commit("forward", {"MEMORY.md": MEMORY + "- The bongo hides\n"})
    server.running.workers[0]._ingest.fetch(server.numbers["acme"], number)
    assert not any("wombat" in hit["text"] for hit in server.search("acme read", "wombat")["hits"])
    mirror = Repo(server.running.mirrors.place(server.numbers["acme"], number), init=False)
    assert mirror.run("git", "cat-file", "-e", gone, check=False).returncode
    assert not any(server.owner.audit(server.enter("acme"), "notes")["unreachable"].values())


def test_what_history_dropped_is_proven_to_be_gone(server: Server, notes: Repo, tmp_path: Path) -> None:
    notes.commit("slip", {"memory/slip.md": "# Slip\n\n- the wombat is a confidential matter\n"})
    gone = notes.git("rev-parse", "HEAD:memory/slip.md").strip()
    tenant = server.tenant("proof")
    number = server.add("proof", "notes", notes)
    file = tmp_path / "server.toml"
    file.write_text(f'state = "{server.running.settings.state}"\n')
    env = {"GITMEM_OWNER_DATABASE_URL": server.owner_url}

    def proof(*given: str) -> tuple[int, dict[str, Any]]:
        command = ["server", "--config", str(file), "audit", tenant, "notes", "--json", *given]
        done = notes.mem(*command, check=False, env=env)
        return done.returncode, json.loads(done.stdout)

    status, value = proof("--blob", gone)
    assert (status, value["blob"], value["copy"]) == (1, 1, {"copies": 1, "unreachable": 0, "blob": 1})
    notes.git("reset", "-q", "--hard", "HEAD~1")
    server.running.workers[0]._ingest.fetch(server.numbers["proof"], number)
    status, value = proof("--blob", gone)
    assert (status, value["blob"], value["copy"]) == (0, 0, {"copies": 1, "unreachable": 0, "blob": 0})
    left = Repo(server.running.mirrors.place(server.numbers["proof"], number), init=False)
    left.git("hash-object", "-w", "--stdin", input="- the wombat is a confidential matter\n")
    assert proof()[0] == 1 and proof()[1]["copy"]["unreachable"] == 1  # what nothing reaches is not gone
    server.owner.remove_repository(server.enter("proof"), "notes")
    server.work()
    status, value = proof()
    assert (status, value["there"], value["copy"]["copies"], any(value["rows"].values())) == (0, False, 0, False)


def test_a_deleted_branch_is_no_longer_searched(server: Server, notes: Repo) -> None:
    notes.git("switch", "-qc", "topic")
    notes.commit("topic", {"memory/topic.md": "# Topic\n\n- the ibex climbs\n"})
    notes.git("switch", "-q", "main")
    number = server.add("acme", "notes", notes)
    assert server.search("acme read", "ibex", ref="topic")["hits"]
    notes.git("branch", "-qD", "topic")
    server.running.workers[0]._ingest.fetch(server.numbers["acme"], number)
    assert server.search("acme read", "ibex", ref="topic")["hits"] == []


def test_a_rebuild_from_git_alone_gives_the_same_answers(server: Server, notes: Repo) -> None:
    server.add("acme", "notes", notes)
    before = server.search("acme read", "what does the okapi eat")
    assert server.owner.forget_index(server.enter("acme")) == 1
    assert server.search("acme read", "what does the okapi eat")["hits"] == []
    server.work()
    assert server.search("acme read", "what does the okapi eat") == before


def test_a_repository_that_is_away_is_tried_again_then_shown_as_dead(server: Server, notes: Repo) -> None:
    number = server.owner.add_repository(server.enter("acme"), "away", str(notes.path / "nowhere"))
    for tries in range(1, 9):
        server.owner._connection.execute("UPDATE job SET due = now()")
        server.work()
        (job,) = jobs(server)
        assert job["tries"] == tries and job["state"] == ("dead" if tries == 8 else "ready")
        assert "nowhere" not in job["problem"] and "fetched" in job["problem"]
    notes.git("clone", "-q", str(notes.path), str(notes.path / "nowhere"))
    assert server.owner.retry() == 1
    server.work()
    assert jobs(server) == [] and server.search("acme read", "okapi")["hits"]
    assert number


def test_a_job_of_a_worker_that_was_killed_is_done_by_another(server: Server, notes: Repo) -> None:
    server.owner.add_repository(server.enter("acme"), "notes", str(notes.path))
    with server.running.database.anyone() as connection:
        connection.execute("SELECT * FROM take_job('30 minutes')")
    server.work()
    assert [job["state"] for job in jobs(server)] == ["taken"]
    server.owner._connection.execute("UPDATE job SET taken = now() - interval '1 hour'")
    server.work()
    assert jobs(server) == [] and server.search("acme read", "okapi")["hits"]


KILLED = """
import sys
from pathlib import Path
from gitmem.server.settings import Settings
from gitmem.server.startup import Running
running = Running(Settings(Path(sys.argv[1]), poll_minutes=0,
                           secrets={"DATABASE_URL": sys.argv[2], "SECRET": "s" * 40}))
print("ready", flush=True)
while running.workers[0].once():
    pass
"""


@pytest.mark.parametrize("wait", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
def test_a_worker_that_is_killed_leaves_all_or_nothing_of_a_batch(server: Server, tmp_path: Path, wait: float) -> None:
    repo = Repo(tmp_path / "many")
    lines = "".join(f"- fact {n}: the okapi number {n} eats leaf {n * 7}\n" for n in range(40))
    repo.commit("memory", {f"memory/note-{n}.md": f"# Note {n}\n\n{lines}" for n in range(60)})
    server.owner.add_repository(server.enter("acme"), "many", str(repo.path))
    url = server.owner_url.replace("postgres:@", "gitmem_server:@")
    command = [sys.executable, "-c", KILLED, str(server.running.settings.state), url]
    child = subprocess.Popen(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"ready\n"
    time.sleep(wait)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    server.owner._connection.execute("UPDATE job SET taken = now() - interval '1 hour', due = now()")
    server.work()
    assert jobs(server) == []
    after = counts(server)
    fresh = server.numbers["rival"]
    server.owner._connection.execute("SELECT set_config('gitmem.tenant', %s, false)", (str(fresh),))
    server.owner.add_repository(fresh, "many", str(repo.path))
    server.work()
    whole = counts(server, "rival")
    after.pop("segment"), whole.pop("segment"), after.pop("posting"), whole.pop("posting")
    assert after == whole
    hits = [hit["text"] for hit in server.search("acme read", "okapi number 17")["hits"]]
    assert hits == [hit["text"] for hit in server.search("rival read", "okapi number 17")["hits"]] and hits


def test_two_ingests_of_a_tenant_at_once_lose_nothing(server: Server, tmp_path: Path) -> None:
    """Repositories that share most of their text, fetched again and again by two workers, with changes between."""
    repos = [Repo(tmp_path / name) for name in ("one", "two")]
    shared = {f"memory/s{n}.md": f"# S{n}\n\n- shared okapi fact {n}\n" for n in range(20)}
    for repo in repos:
        repo.commit("memory", {**shared, "memory/own.md": f"# Own\n\n- own of {repo.path.name}\n"})
    numbers = [server.add("acme", repo.path.name, repo) for repo in repos]
    running = server.running
    others = [
        Ingest(running.database, running.mirrors, Keyring(b"s" * 40), CONFIG, running.settings.state) for _ in repos
    ]
    failures: list[BaseException] = []

    def again(at: int) -> None:
        try:
            for turn in range(6):
                files = {f"memory/s{n}.md": shared[f"memory/s{n}.md"] for n in range(20) if (n + turn + at) % 3}
                repos[at].git("rm", "-rqf", "memory")
                repos[at].commit(
                    "turn", {**files, "memory/own.md": f"# Own\n\n- turn {turn} of {repos[at].path.name}\n"}
                )
                others[at].fetch(server.numbers["acme"], numbers[at])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=again, args=(at,)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for repo in repos:
        own = open_repository(repo.path, {})
        for query in ("shared okapi fact", f"turn 5 of {repo.path.name}"):
            here = search(own, Config(), Query(query, commit=own.head() or "", limit=20), NOW)
            there = server.search("acme read", query, repository=repo.path.name, limit=20)["hits"]
            assert {hit["text"] for hit in there} == {hit.text for hit in here.hits} and there
    assert not any(server.owner.audit(server.enter("acme"), "one")["unreachable"].values())


def test_many_small_pushes_become_few_segments(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    for n in range(30):
        notes.commit("more", {f"memory/note-{n}.md": f"# Note {n}\n\n- animal number {n}\n"})
        server.running.workers[0]._ingest.fetch(server.numbers["acme"], number)
    assert counts(server)["segment"] < 26
    assert any("animal number 3" in hit["text"] for hit in server.search("acme read", "animal number 3")["hits"])
    assert any("기린" in hit["text"] for hit in server.search("acme read", "기린")["hits"])


def test_a_tenant_has_a_number_of_chunks(server: Server, notes: Repo) -> None:
    server.owner._connection.execute("UPDATE tenant SET most_chunks = 0 WHERE id = %s", (server.numbers["acme"],))
    server.add("acme", "notes", notes)
    (job,) = jobs(server)
    assert "may have 0 chunks" in job["problem"] and counts(server)["chunk"] == 0
    server.owner._connection.execute("UPDATE tenant SET most_chunks = 1 WHERE id = %s", (server.numbers["acme"],))
    for _ in range(3):  # what was dropped counts no more
        server.owner.forget_index(server.enter("acme"))
        server.owner._connection.execute("UPDATE job SET due = now()")
        server.work()
        assert counts(server)["chunk"] == 1 and jobs(server) == []


@pytest.mark.parametrize("address", ["ext::sh -c touch% pwned", "--upload-pack=touch pwned", "fd::3"])
def test_no_address_runs_anything(server: Server, tmp_path: Path, address: str) -> None:
    with pytest.raises(GitFailed):
        server.running.mirrors.fetch(server.numbers["acme"], 999, address)
    assert not list(tmp_path.rglob("pwned"))


def test_an_address_with_a_password_is_refused(server: Server) -> None:
    for address in ("https://u:secret@git.example/x", "ssh://git:secret@git.example/x", "https://token@git.example/x"):
        with pytest.raises(UsageError, match="name or password"):
            server.owner.add_repository(server.enter("acme"), "x", address)


def test_migrations_run_once_and_a_newer_schema_is_refused(server: Server) -> None:
    assert migrate(server.owner_url) == []
    server.owner._connection.execute("INSERT INTO migration VALUES (9999, 'of_tomorrow')")
    try:
        with pytest.raises(IndexUnusable, match="newer git mem"):
            migrate(server.owner_url)
    finally:
        server.owner._connection.execute("DELETE FROM migration WHERE number = 9999")
    assert [number for number, _, _ in migrations()] == list(range(1, len(migrations()) + 1))


def test_no_error_names_the_address_of_the_database(tmp_path: Path) -> None:
    url = "postgresql://someone:hunter2secret@127.0.0.1:1/x"
    for call in (lambda: Database(url, wait=1.0), lambda: migrate(url)):
        with pytest.raises(IndexUnusable) as error:
            call()
        assert "hunter2secret" not in error.value.message + error.value.hint and "127.0.0.1" not in error.value.message


def test_a_branch_name_that_is_no_text_stops_nothing(server: Server, notes: Repo) -> None:
    oid = notes.git("rev-parse", "HEAD").strip()
    notes.write(b".git/refs/heads/caf\xe9".decode("utf-8", "surrogateescape"), oid + "\n")
    server.add("acme", "notes", notes)
    assert jobs(server) == [] and server.search("acme read", "okapi")["hits"]


def test_a_remote_without_the_branch_that_its_head_names_is_searched(server: Server, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "unborn")
    repo.commit("memory", {"MEMORY.md": MEMORY})
    repo.git("symbolic-ref", "HEAD", "refs/heads/never")
    server.add("acme", "unborn", repo)
    assert server.search("acme read", "okapi")["hits"]


def test_a_branch_whose_tree_unfolds_without_end_is_left_out_and_named_and_the_rest_is_served(
    server: Server, tmp_path: Path
) -> None:
    repo = Repo(tmp_path / "bomb")
    repo.commit("memory", {"MEMORY.md": MEMORY})
    oid = repo.git("rev-parse", "HEAD:MEMORY.md").strip()
    tree = repo.git("mktree", input="".join(f"100644 blob {oid}\tf{n}.md\n" for n in range(10))).strip()
    for _ in range(6):
        tree = repo.git("mktree", input="".join(f"040000 tree {tree}\td{n}\n" for n in range(10))).strip()
    commit = repo.git("commit-tree", tree, "-m", "bomb").strip()
    repo.git("update-ref", "refs/heads/bomb", commit)
    server.add("acme", "bomb", repo)
    assert server.search("acme read", "okapi")["hits"] and not jobs(server)
    (row,) = server.owner.repositories(server.enter("acme"))
    assert row["problem"] == "left out for too many files: bomb"


def test_a_repository_that_fails_keeps_its_waits_while_it_is_polled(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    worker = Worker(server.running.writers, server.running.operations.ingest, poll_minutes=1)
    connection = server.owner._connection
    connection.execute(
        "UPDATE repository SET url = '/nowhere', fetched = now() - interval '1 hour' WHERE id = %s", (number,)
    )
    connection.execute("UPDATE repository SET fetched = now() WHERE id <> %s", (number,))  # those of earlier tests
    for _ in range(5):
        worker.put_due()
        server.work()
    mine = [job for job in jobs(server) if job["repository"] == number]
    assert [(job["state"], job["tries"]) for job in mine] == [("ready", 1)]
    connection.execute("UPDATE job SET state = 'dead'")
    worker.put_due()
    assert [job["state"] for job in jobs(server) if job["repository"] == number] == ["dead"]


def test_a_job_that_fails_while_a_newer_one_waits_gives_way_to_it(server: Server) -> None:
    number = server.owner.add_repository(server.enter("acme"), "away", "/nowhere")
    with server.running.database.anyone() as taking:
        job = taking.execute("SELECT * FROM take_job('30 minutes')").fetchone()
    assert job is not None
    server.owner._connection.execute("SELECT put_job(%s, 'fetch', '0')", (number,))
    with server.running.database.anyone() as ending:
        ending.execute("SELECT end_job(%s, 'failed', '10 s', 8)", (job[0],))
    assert [(one["state"], one["tries"]) for one in jobs(server)] == [("ready", 0)]


def test_a_worker_goes_on_after_a_fault_of_the_database(
    server: Server, notes: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = server.running.workers[0]
    server.owner.add_repository(server.enter("acme"), "notes", str(notes.path))
    faults: list[Exception] = [psycopg.errors.UniqueViolation("x"), psycopg.InterfaceError("y")]
    once = worker.once

    def failing() -> bool:
        if faults:
            raise faults.pop()
        if not once():
            worker.stop()
        return False

    monkeypatch.setattr(worker, "once", failing)
    monkeypatch.setattr("gitmem.server.worker.IDLE_SECONDS", 0.01)
    worker.run()
    assert not faults and server.search("acme read", "okapi")["hits"]


def test_what_history_dropped_goes_from_the_mirror_though_another_repository_has_it(
    server: Server, notes: Repo, tmp_path: Path
) -> None:
    files = {"memory/slip.md": "# Slip\n\n- the wombat is a confidential matter\n"}
    other = Repo(tmp_path / "other")
    other.commit("memory", files)
    server.add("acme", "other", other)
    notes.commit("slip", files)
    gone = notes.git("rev-parse", "HEAD:memory/slip.md").strip()
    number = server.add("acme", "notes", notes)
    notes.git("reset", "-q", "--hard", "HEAD~1")
    server.running.workers[0]._ingest.fetch(server.numbers["acme"], number)
    mirror = Repo(server.running.mirrors.place(server.numbers["acme"], number), init=False)
    assert mirror.run("git", "cat-file", "-e", gone, check=False).returncode


def test_adding_again_takes_a_waiting_removal_back(server: Server, notes: Repo) -> None:
    server.add("acme", "notes", notes)
    server.owner.remove_repository(server.enter("acme"), "notes")
    server.add("acme", "notes", notes)
    assert server.search("acme read", "okapi")["hits"]


@pytest.mark.parametrize("url", ["postgresql://gm:s3cr%et@h/db", "postgres//gm:hunter2@h/db", "host='x"])
def test_an_address_that_is_none_is_never_quoted(url: str, caplog: pytest.LogCaptureFixture) -> None:
    for call in (lambda: Database(url, wait=1.0), lambda: migrate(url), lambda: administration(url).__enter__()):
        with pytest.raises(IndexUnusable) as error:
            call()
        assert "s3cr" not in str(error.value) + error.value.hint and "hunter2" not in str(error.value)
    assert "s3cr" not in caplog.text and "hunter2" not in caplog.text


def test_a_repository_of_instructions_alone_is_fetched_again_and_again(server: Server, tmp_path: Path) -> None:
    """None of its files is searched by default: its snapshot has entries and no norms."""
    repo = Repo(tmp_path / "code")
    repo.commit("instructions", {"AGENTS.md": "# Rules\n\n- The okapi is fed at nine\n", "src/a.py": "a = 1\n"})
    number = server.add("acme", "code", repo)
    before = counts(server)
    assert before["entry"] == 1
    repo.commit("code", {"src/a.py": "a = 2\n"})
    server.running.workers[0]._ingest.fetch(server.numbers["acme"], number)
    assert counts(server)["entry"] == 1
    server.running.workers[0]._ingest.fetch(server.numbers["acme"], number)
    assert counts(server) == before
    assert server.search("acme read", "okapi", path="AGENTS.md")["hits"]
