"""`git mem forget --purge`: no byte of the text is left below the Git directory, and nothing else is lost."""

from __future__ import annotations

import json

import pytest

from gitmem.git.objects import Span
from tests.harness import Repo
from tests.provenance_cases import DAY, promote, record_log
from tests.purge_cases import places_of

pytest.importorskip("git_filter_repo")

WORDS = "Invoices are rounded to whole cents."
KOREAN = "결제 타임아웃은 30초로 한다."


def remembered(repo: Repo, text: str) -> None:
    """A promoted fact with its log line, wrapped and quoted copies, messages, an index and working values."""
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {text}\n- Lunch.\n")
    promote(repo, text, span=Span(DAY, 3, 3, blob))
    first, rest = text.split(" ", 1)
    repo.commit(f"notes\n\n- {text} (decision)\n", {
        "memory/billing.md": f"# Billing\n\nWe said: {first}\n{rest} And we\nmeant it.\n\n> {first.upper()}\n> {rest}\n",
        "src/app.py": f"# {text}\nprint(1)\n",
    })  # fmt: skip
    repo.mem("index")
    repo.mem("search", "--history", text, check=False)
    repo.mem("session", "set", "task:one", text)


def purge(repo: Repo, *options: str, place: str = "MEMORY.md:5", check: bool = True) -> tuple[int, str, str]:
    done = repo.mem("forget", place, "--purge", "--reason", "she asked us to", *options, check=check)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("text", [WORDS, KOREAN])
def test_no_byte_of_it_is_left_below_the_git_directory(repo: Repo, text: str) -> None:
    remembered(repo, text)
    assert places_of(repo, text)
    count = int(repo.git("rev-list", "--count", "HEAD"))
    _, out, told = purge(repo, "--yes")
    assert places_of(repo, text) == []
    assert text not in out + told and "no object and no file below the Git directory says it" in told
    assert int(repo.git("rev-list", "--count", "HEAD")) == count + 1 and repo.git("status", "--porcelain") == ""
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    assert "print(1)" in repo.read("src/app.py") and "meant it." in repo.read("memory/billing.md")
    assert "[forgotten]" in repo.git("log", "--all", "-p")
    assert "task:one" not in repo.mem("session", "list").stdout


def test_what_was_purged_is_not_promoted_again_and_other_records_hold(repo: Repo) -> None:
    remembered(repo, WORDS)
    other = "Refunds are paid within a week."
    blob = record_log(repo, text=repo.read(DAY) + f"- {other}\n")
    promote(repo, other, span=Span(DAY, 5, 5, blob))
    purge(repo, "--yes")
    log = repo.git("log", "--format=%B")
    assert "Memory-Rejected:" in log and log.count("Memory-Source:") == 1
    assert repo.mem("verify").returncode == 0
    line = next(n for n, each in enumerate(repo.read("MEMORY.md").split("\n"), 1) if other in each)
    assert json.loads(repo.mem("why", f"MEMORY.md:{line}", "--json").stdout)["sources"]
    from gitmem.git.opening import open_repository
    from gitmem.memory.fact import text_hash
    from gitmem.provenance.ledger import read_ledger, rejections

    there = open_repository(repo.path, {})
    assert text_hash(WORDS) in rejections(there, read_ledger(there, ["HEAD"])).hashes
    there.close()


def test_branches_tags_and_notes_are_rewritten_too(repo: Repo) -> None:
    remembered(repo, WORDS)
    repo.git("tag", "-a", "v1", "-m", f"release: {WORDS}")
    repo.git("switch", "-q", "-c", "side")
    repo.commit("side", {"memory/side.md": f"# Side\n\n{WORDS.upper()}\n"})
    repo.git("notes", "add", "-m", f"seen: {WORDS}", "HEAD")
    repo.git("switch", "-q", "main")
    repo.git("pack-refs", "--all")
    purge(repo, "--yes")
    assert places_of(repo, WORDS) == []
    assert "[forgotten]" in repo.git("tag", "-n1", "-l", "v1")
    assert "[forgotten]" in repo.git("show", "side:memory/side.md")
    assert repo.git("notes", "show", "side").strip() == "seen: [forgotten]"


def test_amended_commits_and_dropped_stashes_leave_nothing(repo: Repo) -> None:
    remembered(repo, WORDS)
    repo.commit(f"loose: {WORDS}", {"x.md": WORDS})
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.write("memory/billing.md", f"{WORDS} again\n")
    repo.git("stash", "-q")
    repo.git("stash", "drop", "-q")
    purge(repo, "--yes")
    assert places_of(repo, WORDS) == [] and repo.git("reflog") == ""


def test_a_fact_that_was_forgotten_before_is_named_by_where_it_stood(repo: Repo) -> None:
    remembered(repo, WORDS)
    repo.mem("forget", "MEMORY.md:5", "--everywhere", "--reason", "x")
    head = repo.git("rev-list", "--count", "HEAD")
    purge(repo, "--yes", "--at", "HEAD~1")
    assert places_of(repo, WORDS) == [] and repo.git("rev-list", "--count", "HEAD") == head


def test_undo_does_not_bring_it_back(repo: Repo) -> None:
    remembered(repo, WORDS)
    purge(repo, "--yes")
    before = repo.git("rev-parse", "HEAD")
    assert repo.mem("undo", "--yes", check=False).returncode != 0
    assert repo.git("rev-parse", "HEAD") == before


def test_a_dry_run_and_a_missing_confirmation_change_nothing(repo: Repo) -> None:
    remembered(repo, WORDS)
    before = repo.git("for-each-ref") + repo.git("reflog")
    _, out, told = purge(repo, "--dry-run")
    assert "src/app.py" in out and "nothing was changed" in told and WORDS not in out + told
    value = json.loads(purge(repo, "--dry-run", "--json")[1])
    assert value["blobs"] and value["commits"] and value["head"] is None
    code, _, told = purge(repo, check=False)
    assert code == 2 and "--yes" in told
    assert repo.git("for-each-ref") + repo.git("reflog") == before


def _stash(repo: Repo) -> None:
    repo.write("memory/billing.md", "x\n")
    repo.git("stash", "-q")


@pytest.mark.parametrize(("hinder", "said"), [
    (lambda repo: repo.write("memory/new.md", "x\n"), "not committed"),
    (_stash, "stash"),
    (lambda repo: repo.git("worktree", "add", "-q", "../other", "-b", "other"), "linked work trees"),
    (lambda repo: repo.git("switch", "-q", "--detach"), "no branch"),
    (lambda repo: repo.git("branch", "invoices-are-rounded-to-whole-cents"), "name of a branch"),
    (lambda repo: repo.commit("x", {"x.bin": b"\0" + WORDS.encode()}), "no text"),
    (lambda repo: repo.git("tag", "blob", "HEAD:MEMORY.md"), "no commit"),
])  # fmt: skip
def test_it_refuses_where_it_could_not_do_all_of_it(repo: Repo, hinder: object, said: str) -> None:
    remembered(repo, WORDS)
    hinder(repo)  # type: ignore[operator]
    before = repo.git("for-each-ref")
    code, _, told = purge(repo, "--yes", check=False)
    assert code == 1 and said in told and WORDS not in told, told
    assert repo.git("for-each-ref") == before


def test_a_shallow_clone_is_refused(repo: Repo) -> None:
    remembered(repo, WORDS)
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", "../cut")
    code, _, told = purge(Repo(repo.path.parent / "cut", init=False), "--yes", check=False)
    assert code == 1 and "shallow" in told


def test_what_the_remote_had_is_no_longer_in_a_clone(repo: Repo) -> None:
    remembered(repo, WORDS)
    repo.git("clone", "-q", "--bare", str(repo.path), "../origin.git")
    repo.git("remote", "add", "origin", "../origin.git")
    repo.git("fetch", "-q", "origin")
    _, _, told = purge(repo, "--yes")
    assert places_of(repo, WORDS) == [] and "git push --force --all" in told
    assert repo.git("remote").strip() == "origin" and repo.git("for-each-ref", "refs/remotes") == ""


def test_the_name_of_an_episode_and_its_topics_go_too(repo: Repo) -> None:
    text = "Kim is allergic to peanuts."
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {text}\n- Lunch.\n")
    promote(repo, text, span=Span(DAY, 3, 3, blob))
    old = "memory/sessions/2026-02-06-allergic-peanuts-menu.md"
    repo.commit("more", {
        old: f"# Session\n\n## Summary\n\n- {text}\n- The menu is ready.\n\n## Topics\n\nallergic, peanuts, menu\n",
        "memory/links.md": f"See [it](sessions/{old.rpartition('/')[2]}).\n",
    })  # fmt: skip
    purge(repo, "--yes")
    names = repo.git("log", "--all", "--name-only", "--format=")
    assert "memory/sessions/2026-02-06-menu.md" in names and "allergic" not in names
    assert repo.read("memory/sessions/2026-02-06-menu.md").endswith("## Topics\n\nmenu\n")
    assert places_of(repo, "allergic-peanuts") == [] and "2026-02-06-menu.md" in repo.read("memory/links.md")


def test_a_copy_without_the_topic_that_promotion_put_before_it_goes_too(repo: Repo) -> None:
    words = "Kim is allergic to peanuts and carries a pen."
    blob = record_log(repo, text=f"# 2026-02-05\n\n- Decided: {words}\n- Lunch.\n")
    promote(repo, f"Menu: {words}", span=Span(DAY, 3, 3, blob))
    repo.commit(
        "more", {"memory/menu.md": "# Menu\n\nThey said: Kim is allergic\nto peanuts and carries a pen. So no nuts.\n"}
    )
    before = repo.git("rev-parse", "HEAD").strip()
    repo.mem("forget", "MEMORY.md:5", "--everywhere", "--reason", "x")
    assert repo.read("memory/menu.md") == "# Menu\n\nThey said: [forgotten] So no nuts.\n"
    assert words not in repo.mem("show", DAY, "--at", before).stdout
    purge(repo, "--yes", "--at", before)
    assert places_of(repo, words) == []


def test_a_purge_that_failed_goes_on_with_the_commit_it_names(repo: Repo) -> None:
    remembered(repo, WORDS)
    stop = repo.path / ".git/stop"
    hook = repo.write(".git/hooks/reference-transaction", f"#!/bin/sh\ntest ! -f {stop}\n")
    hook.chmod(0o755)
    repo.write(".git/hooks/post-commit", f"#!/bin/sh\ntouch {stop}\n").chmod(0o755)
    code, _, told = purge(repo, "--yes", check=False)
    assert code == 3 and "--at " in told, told
    stop.unlink()
    hook.unlink()
    purge(repo, "--yes", "--at", told.split("--at ")[1].split()[0])
    assert places_of(repo, WORDS) == []


def test_a_note_that_is_called_after_it_gets_another_name_and_links_follow(repo: Repo) -> None:
    text = "김민수 환자는 땅콩 알레르기가 있으므로 급식에서 땅콩을 뺀다."
    blob = record_log(repo, text=f"# 2026-02-05\n\n- {text}\n- 점심.\n")
    promote(repo, text, span=Span(DAY, 3, 3, blob))
    name = "memory/김민수-땅콩-알레르기.md"
    repo.commit(
        "note", {name: f"# 급식\n\n{text}\n\n수요일에는 국수.\n", "memory/links.md": "[[김민수-땅콩-알레르기]]\n"}
    )
    purge(repo, "--yes")
    assert "땅콩" not in repo.git("-c", "core.quotePath=false", "log", "--all", "--name-only", "--format=")
    assert places_of(repo, "땅콩-알레르기") == [] and "수요일에는 국수." in repo.read("memory/note.md")
    assert repo.read("memory/links.md") == "[[note]]\n"


def test_a_file_in_another_encoding_is_refused_and_named(repo: Repo) -> None:
    remembered(repo, KOREAN)
    repo.commit("wide", {"docs/wide.txt": f"x {KOREAN} y\n".encode("utf-16")})
    code, _, told = purge(repo, "--yes", check=False)
    assert code == 1 and "docs/wide.txt" in told and KOREAN not in told


def test_the_name_of_an_author_and_a_message_in_another_encoding_are_rewritten(repo: Repo) -> None:
    remembered(repo, KOREAN)
    repo.git("-c", "i18n.commitEncoding=EUC-KR", "commit", "-q", "--allow-empty", "-F", "-", "--author", f"{KOREAN} <a@b.example>",
             input=KOREAN.encode("euc-kr").decode("utf-8", "surrogateescape"))  # fmt: skip
    purge(repo, "--yes")
    assert places_of(repo, KOREAN) == [] and "[forgotten] [forgotten]" in repo.git("log", "--format=%an %s")
