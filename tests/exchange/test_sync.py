"""`git mem sync` with real clones of a real bare repository: both ends equal, nothing forced, nothing lost."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from gitmem.exchange.sync_merge import split_conflicts
from tests.harness import Repo

MEMORY = "# Memory\n\n## Decisions\n\n- Deploys are on Monday.\n- Invoices are in UTC.\n\n## Facts\n\n- The gate has 3 keys.\n"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"


class Machines:
    """A bare repository and clones of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hub = Repo(folder / "hub.git", True, "--bare")
        self.first = Repo(folder / "a")
        self.first.commit(
            "start", {"MEMORY.md": MEMORY, ".gitattributes": "MEMORY.md merge=gitmem\nmemory/**/*.md merge=gitmem\n"}
        )
        self.first.git("remote", "add", "origin", str(self.hub.path))
        self.first.mem("sync")

    def clone(self, name: str) -> Repo:
        self.hub.run("git", "clone", "-q", str(self.hub.path), str(self.folder / name))
        return Repo(self.folder / name, init=False)

    def at_hub(self, path: str = "MEMORY.md", branch: str = "main") -> str:
        return self.hub.git("show", f"{branch}:{path}")


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def sync(repo: Repo, *args: str, ends: int = 0) -> Any:
    done = repo.mem("sync", "--json", *args, check=False)
    assert done.returncode == ends, done.stderr
    return json.loads(done.stdout)


def replaced(repo: Repo, old: str, new: str, path: str = "MEMORY.md") -> str:
    text = repo.read(path)
    assert old in text
    return repo.commit(new or "taken out", {path: text.replace(old, new)})


def pushing_meanwhile(repo: Repo, late: Repo) -> None:
    """Have `late` push once, just before `repo` does."""
    once = repo.path / ".git" / "once"
    hook = repo.path / ".git" / "hooks" / "pre-push"
    hook.write_text(
        f"#!/bin/sh\ntest -e '{once}' || {{ touch '{once}'; cd '{late.path}' && env -u GIT_DIR git push -q origin main; }}\n"
        "exit 0\n"
    )
    hook.chmod(0o755)


def refusing(machines: Machines, words: str) -> Path:
    """A hook of the remote that refuses with these words."""
    hook = machines.hub.path / "hooks" / "pre-receive"
    hook.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    hook.chmod(0o755)
    return hook


def test_the_first_sync_makes_the_remote_s_branch_and_follows_it(machines: Machines) -> None:
    assert machines.at_hub() == MEMORY
    assert machines.first.git("rev-parse", "--abbrev-ref", "main@{upstream}").strip() == "origin/main"
    again = sync(machines.first)
    assert (again["state"], again["received"], again["sent"]) == ("synced", 0, 0)
    assert machines.first.mem("sync").stderr == "origin/main: nothing new on either side\n"
    assert machines.first.mem("sync", "--quiet").stderr == ""


def test_facts_of_both_sides_stay_and_both_ends_are_equal(machines: Machines) -> None:
    a, b = machines.first, machines.clone("b")
    replaced(a, "- Deploys are on Monday.\n", "- Deploys are on Monday.\n- Seoul opens at nine.\n")
    replaced(b, "- Deploys are on Monday.\n", "- Deploys are on Monday.\n- 부산은 열 시에 연다.\n")
    assert sync(a)["sent"] == 1
    done = sync(b)
    assert (done["state"], done["received"], done["sent"], done["kept"]) == ("synced", 1, 2, [])
    assert sync(a)["received"] == 2
    assert a.git("rev-parse", "HEAD") == b.git("rev-parse", "HEAD") == machines.hub.git("rev-parse", "main")
    text = a.read("MEMORY.md")
    assert "Seoul opens at nine" in text and "부산은 열 시에 연다" in text and "<<<" not in text
    assert a.git("status", "--porcelain") == b.git("status", "--porcelain") == ""


def test_what_two_machines_added_to_a_daily_note_of_another_program_stays(machines: Machines) -> None:
    note = "journals/2026_02_05.md"
    settings = '[memory]\ndaily = ["journals/YYYY_MM_DD.md"]\n'
    machines.first.commit("a journal", {".gitmem.toml": settings, note: "- 아침 회의\n"})
    sync(machines.first)
    second = machines.clone("b")
    machines.first.commit("here", {note: "- 아침 회의\n- 노트북에서 적었다\n"})
    second.commit("there", {note: "- 아침 회의\n- 전화에서 적었다\n"})
    sync(machines.first)
    assert sync(second)["state"] == "synced"
    sync(machines.first)
    assert machines.first.read(note) == second.read(note) == "- 아침 회의\n- 전화에서 적었다\n- 노트북에서 적었다\n"
    assert machines.hub.git("branch", "--list").split() == ["*", "main"]


def test_the_same_fact_changed_on_both_sides_is_a_branch_and_a_sentence(machines: Machines) -> None:
    a, b = machines.first, machines.clone("b")
    replaced(a, "on Monday", "on Tuesday")
    b.commit("b", {"memory/2026-05-07.md": "# 2026-05-07\n\n- Lunch was late.\n"})
    replaced(b, "on Monday", "on Friday")
    sync(a)
    done = b.mem("sync", check=False)
    assert done.returncode == 1
    kept = re.search(r"memory/conflict-[0-9a-f]{8}", done.stderr)
    assert kept and "'MEMORY.md'" in done.stderr and f"git merge {kept[0]}" in done.stderr
    assert "on Tuesday" in b.read("MEMORY.md") and "Lunch was late" in b.read("memory/2026-05-07.md")
    assert b.git("rev-parse", "HEAD") == machines.hub.git("rev-parse", "main")
    assert "on Friday" in machines.at_hub(branch=kept[0]) and "on Tuesday" not in machines.at_hub(branch=kept[0])
    assert sync(b)["kept"] == []
    b.git("merge", "-q", "--no-edit", kept[0])
    sync(b)
    assert "on Friday" in machines.at_hub() and "Lunch was late" in machines.at_hub("memory/2026-05-07.md")


def test_a_fact_edited_here_and_forgotten_there_is_kept_on_the_branch(machines: Machines) -> None:
    a, b = machines.first, machines.clone("b")
    replaced(a, "- Invoices are in UTC.\n", "")
    replaced(b, "in UTC", "in UTC, always")
    sync(a)
    done = sync(b, ends=1)
    assert done["paths"] == ["MEMORY.md"] and "Invoices" not in machines.at_hub()
    assert "in UTC, always" in machines.at_hub(branch=done["kept"][0])


def test_a_whole_file_that_one_side_took_away_and_one_edited(machines: Machines) -> None:
    a, name = machines.first, "memory/노트.md"
    a.commit("note", {name: "# 노트\n\n하나\n"})
    sync(a)
    b = machines.clone("b")
    a.git("rm", "-q", name)
    a.commit("gone")
    b.commit("edited", {name: "# 노트\n\n둘\n"})
    sync(a)
    done = sync(b, ends=1)
    assert done["paths"] == [name] and not (b.path / name).exists() and b.git("status", "--porcelain") == ""
    assert "둘" in machines.hub.git("show", f"{done['kept'][0]}:{name}")


def test_files_that_are_no_memory_are_never_settled_by_us(machines: Machines) -> None:
    a = machines.first
    a.commit("code", {"app.py": "x = 1\n"})
    sync(a)
    b = machines.clone("b")
    a.commit("a", {"app.py": "x = 2\n"})
    mine = b.commit("b", {"app.py": "x = 3\n", "MEMORY.md": MEMORY + "- One more.\n"})
    sync(a)
    done = sync(b, ends=1)
    assert (done["state"], done["paths"]) == ("conflict", ["app.py"])
    assert b.git("rev-parse", "HEAD").strip() == mine and b.git("status", "--porcelain") == ""
    assert "One more" not in machines.at_hub() and "git pull origin main" in b.mem("sync", check=False).stderr


def test_edits_that_are_not_committed_are_never_overwritten(machines: Machines) -> None:
    a, b = machines.first, machines.clone("b")
    replaced(a, "3 keys", "4 keys")
    sync(a)
    b.write("MEMORY.md", MEMORY + "- Written just now.\n")
    done = sync(b, ends=1)
    assert (done["state"], done["paths"]) == ("uncommitted", ["MEMORY.md"])
    assert b.read("MEMORY.md") == MEMORY + "- Written just now.\n"
    done = sync(b, "--commit")
    assert done["state"] == "synced" and done["uncommitted"] == []
    assert "4 keys" in b.read("MEMORY.md") and "Written just now" in machines.at_hub()


def test_commit_takes_memory_alone(machines: Machines) -> None:
    a = machines.first
    a.write(".gitignore", "secret.md\n")
    a.write("secret.md", "mine\n")
    a.write("memory/일지.md", "# 일지\n\n- 새 줄\n")
    a.write("app.py", "x = 1\n")
    assert sync(a)["uncommitted"] == ["memory/일지.md"]
    assert "1 memory file not committed" in a.mem("sync").stderr
    assert sync(a, "--commit")["sent"] == 1
    assert sorted(a.git("status", "--porcelain").split()) == [".gitignore", "??", "??", "app.py"]
    assert "새 줄" in machines.at_hub("memory/일지.md")


def test_a_dry_run_changes_nothing(machines: Machines) -> None:
    a, b = machines.first, machines.clone("b")
    replaced(a, "3 keys", "4 keys")
    sync(a)
    replaced(b, "on Monday", "on Friday")
    before = b.git("for-each-ref", "refs/heads", "refs/remotes"), b.read("MEMORY.md")
    done = sync(b, "--dry-run")
    assert (done["state"], done["received"], done["sent"]) == ("would sync", 1, 1)
    assert (b.git("for-each-ref", "refs/heads", "refs/remotes"), b.read("MEMORY.md")) == before
    assert "would be received" in b.mem("sync", "--dry-run").stderr


def test_offline_it_waits_and_goes_the_next_time(machines: Machines) -> None:
    a = machines.first
    a.git("remote", "set-url", "origin", "http://127.0.0.1:9/memory.git")
    replaced(a, "3 keys", "4 keys")
    done = sync(a)
    assert (done["state"], done["waiting"]) == ("offline", 1) and done["reason"]
    assert "offline: 1 commit for origin/main will go next time" in a.mem("sync").stderr
    a.git("remote", "set-url", "origin", str(machines.hub.path))
    assert sync(a)["sent"] == 1 and "4 keys" in machines.at_hub()


def test_a_remote_that_has_moved_is_an_error_that_says_where_to_look(machines: Machines) -> None:
    machines.first.git("remote", "set-url", "origin", "../moved away.git")
    done = machines.first.mem("sync", check=False)
    assert done.returncode == 3 and done.stderr.splitlines()[1].startswith(
        "hint: git remote -v shows where origin leads"
    )


def test_a_remote_that_refuses_for_another_reason_is_an_error(machines: Machines) -> None:
    refusing(machines, "not today")
    replaced(machines.first, "3 keys", "4 keys")
    done = machines.first.mem("sync", check=False)
    assert done.returncode == 3 and "push failed" in done.stderr and "3 keys" in machines.at_hub()


def test_somebody_who_pushes_between_our_fetch_and_push_is_merged(machines: Machines) -> None:
    a, b, late = machines.first, machines.clone("b"), machines.clone("late")
    replaced(late, "3 keys", "3 keys\n- Late news.")
    pushing_meanwhile(a, late)
    replaced(a, "on Monday", "on Tuesday")
    assert sync(a)["state"] == "synced"
    assert "Late news" in machines.at_hub() and "on Tuesday" in machines.at_hub()
    assert sync(b)["received"] == 3 and b.git("rev-parse", "HEAD") == a.git("rev-parse", "HEAD")


def test_what_was_taken_out_of_the_remote_s_history_is_not_brought_back(machines: Machines) -> None:
    a, b = machines.first, machines.clone("b")
    replaced(a, "3 keys", "a secret")
    sync(a)
    sync(b)
    a.git("reset", "-q", "--hard", "HEAD^")
    a.git("push", "-q", "--force", "origin", "main")
    replaced(b, "on Monday", "on Friday")
    before = b.git("rev-parse", "HEAD")
    done = b.mem("sync", check=False)
    assert done.returncode == 3 and "was rewritten" in done.stderr and "git rebase --onto" in done.stderr
    assert b.git("rev-parse", "HEAD") == before and "a secret" not in machines.at_hub()
    assert b.mem("sync", check=False).returncode == 3
    rebase = re.search(r"git rebase --onto \S+ \S+", done.stderr)
    assert rebase
    b.git("fetch", "-q")
    b.run(*rebase[0].split())
    assert sync(b)["sent"] == 1
    assert "on Friday" in machines.at_hub() and "a secret" not in machines.at_hub()


@pytest.mark.parametrize("way", ["comes", "goes"])
def test_what_the_gate_blocks_is_not_merged_and_not_pushed(machines: Machines, way: str) -> None:
    a, b = machines.first, machines.clone("b")
    replaced(b, "3 keys", f"the token is {TOKEN}")
    if way == "comes":
        b.git("push", "-q", "--no-verify", "origin", "main")
    reader = a if way == "comes" else b
    before, at_hub = reader.git("rev-parse", "HEAD"), machines.at_hub()
    done = reader.mem("sync", check=False)
    assert done.returncode == 1 and "github-token" in done.stderr and TOKEN not in done.stderr
    assert ("was not merged" if way == "comes" else "nothing was pushed") in done.stderr
    assert reader.git("rev-parse", "HEAD") == before and machines.at_hub() == at_hub


def test_a_clone_of_an_empty_remote_and_an_empty_clone(machines: Machines, tmp_path: Path) -> None:
    hub = Repo(tmp_path / "empty.git", True, "--bare")
    one = Repo(tmp_path / "one")
    one.git("remote", "add", "origin", str(hub.path))
    assert one.mem("sync", check=False).returncode == 3
    one.git("remote", "set-url", "origin", str(machines.hub.path))
    assert sync(one)["received"] == 1 and one.read("MEMORY.md") == MEMORY


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (("switch", "-q", "--detach"), "no branch is checked out"),
        (("remote", "remove", "origin"), "there is no remote"),
    ],
)
def test_what_cannot_be_synced_says_why(machines: Machines, prepare: tuple[str, ...], words: str) -> None:
    machines.first.git(*prepare)
    done = machines.first.mem("sync", check=False)
    assert done.returncode == 3 and words in done.stderr and "hint:" in done.stderr


def test_a_merge_in_progress_and_a_shallow_clone_are_refused(machines: Machines, tmp_path: Path) -> None:
    replaced(machines.first, "3 keys", "4 keys")
    sync(machines.first)
    machines.hub.run("git", "clone", "-q", "--depth=1", machines.hub.path.as_uri(), str(tmp_path / "cut"))
    cut = Repo(tmp_path / "cut", init=False)
    assert "git fetch --unshallow" in cut.mem("sync", check=False).stderr
    (machines.first.path / ".git" / "MERGE_HEAD").write_text(machines.first.git("rev-parse", "HEAD"))
    assert "a merge is in progress" in machines.first.mem("sync", check=False).stderr


def test_during_a_rebase_sync_and_publish_name_it_and_not_the_missing_branch(machines: Machines) -> None:
    machines.first.git("switch", "-q", "--detach")
    (machines.first.path / ".git" / "rebase-merge").mkdir()
    for command in ("sync", "publish"):
        done = machines.first.mem(command, check=False)
        assert done.returncode == 3 and "git rebase --continue" in done.stderr


def test_nothing_of_ours_is_left_behind(machines: Machines) -> None:
    a, b = machines.first, machines.clone("b")
    replaced(a, "on Monday", "on Tuesday")
    replaced(b, "on Monday", "on Friday")
    sync(a)
    sync(b, ends=1)
    assert b.git("worktree", "list").count("\n") == 1 and b.git("stash", "list") == ""


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_a_timer_is_printed_and_quoted(tmp_path: Path, kind: str) -> None:
    odd = Repo(tmp_path / "it's 50% 기억")
    odd.commit("start", {"MEMORY.md": MEMORY})
    text = odd.mem("sync", "--timer", kind, "--every", "5").stdout
    home = tmp_path / "home"
    script = "systemctl() { :; }; launchctl() { :; }\n" + text
    odd.run("sh", "-euc", script, env={"HOME": str(home), "XDG_CONFIG_HOME": str(home / "x")})
    made = {path.suffix: path.read_text() for path in home.rglob("git-mem-sync-it-s-50-*")}
    if kind == "systemd":
        assert f"WorkingDirectory={odd.path}\n".replace("%", "%%") in made[".service"]
        assert "OnUnitInactiveSec=5min" in made[".timer"] and '"sync" "--commit"' in made[".service"]
    else:
        assert f"<string>{odd.path}</string>" in made[".plist"] and "<integer>300</integer>" in made[".plist"]
    assert odd.git("for-each-ref", "refs/gitmem") == ""


def test_the_sides_of_a_text_with_marks() -> None:
    marked = b"a\n<<<<<<< ours\nb\n||||||| base\nc\n=======\nd\n>>>>>>> theirs\ne\n"
    assert split_conflicts(marked) == (b"a\nb\ne\n", b"a\nd\ne\n")
    assert split_conflicts(b"<<<<<<< o\n=======\nd\n>>>>>>> t\n") == (b"", b"d\n")
    for odd in (b"a\n", b"<<<<<<< o\nb\n", b"<<<<<<< o\n<<<<<<< o\n=======\n>>>>>>> t\n", b"<<<<<<< o\n>>>>>>> t\n"):
        assert split_conflicts(odd) is None
    assert split_conflicts(b"a\n=======\nb\n") is None


# -- what a reviewer found -----------------------------------------------------------------------------------


def test_a_file_that_git_ignores_is_not_overwritten(machines: Machines) -> None:
    a, b = machines.first, machines.clone("b")
    b.write(".git/info/exclude", "memory/private.md\n")
    b.write("memory/private.md", "mine\n")
    a.commit("theirs", {"memory/private.md": "theirs\n"})
    sync(a)
    done = sync(b, ends=1)
    assert (done["state"], done["paths"]) == ("uncommitted", ["memory/private.md"]) and b.read(
        "memory/private.md"
    ) == "mine\n"
    assert sync(b, "--commit", ends=1)["state"] == "uncommitted" and b.read("memory/private.md") == "mine\n"


def test_a_file_in_an_empty_clone_is_not_overwritten(machines: Machines, tmp_path: Path) -> None:
    one = Repo(tmp_path / "one")
    one.git("remote", "add", "origin", str(machines.hub.path))
    one.write(".git/info/exclude", "MEMORY.md\n")
    one.write("MEMORY.md", "mine\n")
    assert sync(one, ends=1)["paths"] == ["MEMORY.md"] and one.read("MEMORY.md") == "mine\n"


def test_a_rewrite_is_seen_before_the_first_sync_and_after_a_pull_or_fetch(machines: Machines) -> None:
    a, pulled, fetched = machines.first, machines.clone("pulled"), machines.clone("fetched")
    replaced(a, "3 keys", "a secret")
    sync(a)
    for one in (pulled, fetched):
        one.git("pull", "-q")
    a.git("reset", "-q", "--hard", "HEAD^")
    a.git("push", "-q", "--force", "origin", "main")
    fetched.git("fetch", "-q")  # its tracking branch is the new one already
    for one in (pulled, fetched):
        done = one.mem("sync", check=False)
        assert done.returncode == 3 and "was rewritten" in done.stderr
    assert "a secret" not in machines.at_hub()
    machines.hub.git("branch", "-m", "main", "old")
    done = pulled.mem("sync", check=False)
    assert done.returncode == 3 and "is gone at the remote" in done.stderr
    assert "refs/heads/main" not in machines.hub.git("for-each-ref")


def in_conflict(machines: Machines) -> Repo:
    b = machines.clone("b")
    replaced(machines.first, "on Monday", "on Tuesday")
    sync(machines.first)
    replaced(b, "on Monday", "on Friday")
    return b


def test_our_side_of_a_conflict_is_pushed_as_soon_as_it_can_be(machines: Machines) -> None:
    b = in_conflict(machines)
    hook = refusing(machines, "not today")
    assert b.mem("sync", check=False).returncode == 3
    hook.unlink()
    done = sync(b, ends=1)
    assert len(done["kept"]) == 1 and "on Friday" in machines.at_hub(branch=done["kept"][0])
    assert sync(b)["kept"] == []


def test_a_branch_named_memory_leaves_room_for_our_side(machines: Machines) -> None:
    b = in_conflict(machines)
    b.git("branch", "memory")
    done = sync(b, ends=1)
    assert done["kept"][0].startswith("memory-conflict-") and "on Friday" in machines.at_hub(branch=done["kept"][0])


def test_a_conflict_is_told_when_somebody_pushes_meanwhile(machines: Machines) -> None:
    b, late = in_conflict(machines), machines.clone("late")
    late.git("pull", "-q")
    replaced(late, "3 keys", "4 keys")
    pushing_meanwhile(b, late)
    done = sync(b, ends=1)
    assert done["paths"] == ["MEMORY.md"] and "on Friday" in machines.at_hub(branch=done["kept"][0])
    assert "4 keys" in machines.at_hub()


def test_a_conflict_whose_merge_was_not_taken_in_leaves_no_branch(machines: Machines) -> None:
    b = in_conflict(machines)
    b.write("MEMORY.md", b.read("MEMORY.md") + "- Just written.\n")
    assert sync(b, ends=1)["state"] == "uncommitted"
    assert b.git("branch", "--list", "memory*") == "" and b.git("for-each-ref", "refs/gitmem/kept") == ""


def test_what_the_gate_blocks_is_not_committed(machines: Machines) -> None:
    a = machines.first
    before = a.git("rev-parse", "HEAD")
    a.write("memory/2026-05-07.md", f"# 2026-05-07\n\n- the token is {TOKEN}\n")
    done = a.mem("sync", "--commit", check=False)
    assert done.returncode == 1 and "nothing was committed" in done.stderr and TOKEN not in done.stderr
    assert a.git("rev-parse", "HEAD") == before


def test_line_ends_of_a_clone_are_not_what_is_pushed(machines: Machines) -> None:
    b = machines.clone("b")
    b.git("config", "core.autocrlf", "true")
    b.git("rm", "-q", "--cached", "-r", ".")
    b.git("reset", "-q", "--hard")
    assert "\r\n" in (b.path / "MEMORY.md").read_bytes().decode()
    replaced(machines.first, "on Monday", "on Tuesday")
    sync(machines.first)
    b.commit("b", {"MEMORY.md": (b.path / "MEMORY.md").read_bytes().replace(b"on Monday", b"on Friday")})
    done = sync(b, ends=1)
    for branch in ("main", done["kept"][0]):
        assert "\r" not in machines.hub.git("show", f"{branch}:MEMORY.md")


def test_settings_of_a_person_do_not_break_a_merge(machines: Machines) -> None:
    b = in_conflict(machines)
    for key, value in (
        ("merge.ff", "only"),
        ("merge.autoStash", "true"),
        ("rerere.enabled", "true"),
        ("push.followTags", "true"),
    ):
        b.git("config", key, value)
    b.git("tag", "-a", "-m", "a tag", "v1")
    b.write("MEMORY.md", b.read("MEMORY.md").replace("on Friday", "on Sunday"))
    assert sync(b, ends=1)["state"] == "uncommitted" and "<<<" not in b.read("MEMORY.md")
    b.git("checkout", "-q", "MEMORY.md")
    assert len(sync(b, ends=1)["kept"]) == 1
    assert machines.hub.git("tag") == ""


def test_a_refusal_that_speaks_of_a_network_is_no_network(machines: Machines) -> None:
    refusing(machines, "could not connect to the policy server")
    replaced(machines.first, "3 keys", "4 keys")
    assert machines.first.mem("sync", check=False).returncode == 3


def test_an_edited_file_that_is_no_memory_is_named(machines: Machines) -> None:
    a = machines.first
    a.commit("readme", {"README.txt": "one\n"})
    sync(a)
    b = machines.clone("b")
    a.commit("readme", {"README.txt": "two\n"})
    sync(a)
    b.write("README.txt", "mine\n")
    for words in ((), ("--commit",)):
        done = b.mem("sync", *words, check=False)
        assert done.returncode == 1 and "'README.txt'" in done.stderr and "--commit" not in done.stderr
    assert b.read("README.txt") == "mine\n"


def test_branches_below_the_name_of_a_former_one_and_remotes_without_tracking(machines: Machines) -> None:
    a = machines.first
    for name in ("mem", "mem/x"):
        a.git("switch", "-q", "-c", name, "main")
        assert sync(a)["state"] == "synced"
        a.git("switch", "-q", "main")
        a.git("branch", "-q", "-D", name)
        machines.hub.git("branch", "-q", "-D", name)
    a.git("config", "remote.bk.url", str(machines.hub.path))
    replaced(a, "3 keys", "4 keys")
    assert sync(a, "bk")["sent"] == 1 and "4 keys" in machines.at_hub()
    assert a.git("rev-parse", "--abbrev-ref", "main@{upstream}").strip() == "origin/main"


def test_a_hook_that_came_with_what_is_blocked_does_not_run(machines: Machines) -> None:
    a = machines.first
    hook = a.write(".githooks/pre-commit", "#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    a.commit("hooks")
    sync(a)
    b = machines.clone("b")
    b.git("config", "core.hooksPath", ".githooks")
    ran = machines.folder / "ran"
    hook.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    text = MEMORY.replace("on Monday", "on Tuesday")
    a.commit("theirs", {"MEMORY.md": text})
    sync(a)
    replaced(b, "on Monday", "on Friday")
    sync(b, ends=1)
    assert not ran.exists()


def test_a_name_with_line_breaks_stands_in_no_message(machines: Machines) -> None:
    a = machines.first
    a.write("memory/a\n\nReviewed-by: Boss <b@example.com>\nx.md", "- one\n")
    a.mem("sync", "--commit", check=False)
    assert "Boss" not in a.git("log", "-1", "--format=%B")


def test_a_dry_run_says_what_would_be_refused(machines: Machines) -> None:
    b = machines.clone("b")
    replaced(b, "3 keys", f"the token is {TOKEN}")
    assert b.mem("sync", "--dry-run", check=False).returncode == 1


def test_a_timer_keeps_the_remote_that_was_named(machines: Machines) -> None:
    machines.first.git("remote", "add", "backup", str(machines.hub.path))
    assert '"sync" "backup" "--commit"' in machines.first.mem("sync", "backup", "--timer", "systemd").stdout
    assert machines.first.mem("sync", "nowhere", "--timer", "systemd", check=False).returncode == 3


def test_a_lone_carriage_return_ends_no_line_of_a_conflict() -> None:
    marked = b"a\r<<<<<<< x\r=======\rb\n<<<<<<< o\nc\n=======\nd\n>>>>>>> t\n"
    assert split_conflicts(marked) == (b"a\r<<<<<<< x\r=======\rb\nc\n", b"a\r<<<<<<< x\r=======\rb\nd\n")


# -- many edits on three machines ----------------------------------------------------------------------------


class Person:
    """Somebody who edits one clone at random. `gone` are the words that somebody who saw them took away."""

    def __init__(self, repo: Repo, seed: int, gone: set[str], made: set[str]) -> None:
        self.repo, self.random, self.gone, self.made = repo, random.Random(seed), gone, made
        self.name, self.count = repo.path.name, 0

    def edit(self) -> None:
        self.count += 1
        word = f"{self.name}w{self.count}w"
        path = self.random.choice(["MEMORY.md", "MEMORY.md", "memory/2026-05-07.md", "memory/policies.md"])
        text = self.repo.read(path) if (self.repo.path / path).exists() else f"# {path}\n"
        lines = text.splitlines(keepends=True)
        facts = [n for n, line in enumerate(lines) if line.startswith("- ") and re.search(r"\w+w\d+w", line)]
        what = self.random.choice(["add", "add", "edit", "forget"]) if facts and "20" not in path else "add"
        if what == "add":
            lines.insert(len(lines) if "20" in path else self.random.randint(1, len(lines)), f"- Rule {word} holds.\n")
            self.made.add(word)
        else:
            at = self.random.choice(facts)
            self.gone.update(re.findall(r"\w+w\d+w", lines[at]))
            lines[at : at + 1] = [f"- Rule {word} holds now.\n"] if what == "edit" else []
            self.made |= {word} if what == "edit" else set()
        self.repo.commit(word, {path: "".join(lines)})


def random_edits(machines: Machines, edits: int, offline: int, between: int, seed: int) -> None:
    gone: set[str] = set()
    made: set[str] = set()
    people = [
        Person(repo, seed + n, gone, made)
        for n, repo in enumerate((machines.first, machines.clone("b"), machines.clone("c")))
    ]
    for step in range(edits):
        for person in people:
            person.edit()
            away = person is people[2] and step < offline
            if not away and person.random.randrange(between) == 0:
                assert person.repo.mem("sync", check=False).returncode in (0, 1)
    for person in (*people, *people):
        assert person.repo.mem("sync", check=False).returncode in (0, 1)
    assert len({person.repo.git("rev-parse", "HEAD") for person in people}) == 1
    trees = [machines.hub.git("grep", "-hI", "", branch) for branch in machines.hub.git(
        "for-each-ref", "--format=%(refname)", "refs/heads").split()]  # fmt: skip
    there = set(re.findall(r"\w+w\d+w", "\n".join(trees)))
    assert made - gone <= there
    main = machines.hub.git("grep", "-hI", "", "main")
    assert "<<<<<<<" not in main and all(person.repo.git("status", "--porcelain") == "" for person in people)


def test_three_machines_with_random_edits_end_equal_and_lose_nothing(machines: Machines) -> None:
    random_edits(machines, edits=12, offline=6, between=4, seed=7)


@pytest.mark.stress
def test_two_machines_with_two_hundred_edits_and_a_third_that_is_offline_for_fifty(machines: Machines) -> None:
    random_edits(machines, edits=200, offline=50, between=10, seed=11)
