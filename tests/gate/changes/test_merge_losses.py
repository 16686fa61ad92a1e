"""What a merge drops of one of its parents is a change of that merge; an honest merge changes nothing of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness import Repo
from tests.samples import GITHUB

SETTINGS = '[gate]\nprotected = ["SOUL.md", "AGENTS.md"]\nstrict = true\n'
LOG = "memory/2026-01-02.md"


def rules(repo: Repo, *args: str) -> set[str]:
    """The rules of the findings of `git mem scan`."""
    done = repo.mem("scan", "--json", *args, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert GITHUB not in done.stdout + done.stderr
    return {row["rule"] for row in json.loads(done.stdout)["findings"]}


@pytest.fixture
def base(repo: Repo) -> Repo:
    """Tag `old`, and on main since then settings, a tighter SOUL.md and a log."""
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- one fact\n", "SOUL.md": "Be kind.\n"})
    repo.git("tag", "old")
    repo.commit("settings", {".gitmem.toml": SETTINGS, LOG: "- first\n- second\n"})
    repo.commit("tighter", {"SOUL.md": "Be kind. Ask before you delete.\n"})
    return repo


def merge_old(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "x", "old")
    repo.git("commit", "-q", "--allow-empty", "-m", "wip")
    repo.git("merge", "-q", "-s", "ours", "main", "-m", "Merge")


def test_a_merge_that_keeps_the_older_side_is_found_in_a_range(base: Repo) -> None:
    merge_old(base)
    assert rules(base, "--range", "main..HEAD") == {"settings-loosened", "protected-file", "log-rewritten"}


def test_what_the_base_took_out_and_a_merge_brings_back_is_read(base: Repo) -> None:
    base.commit("secret", {"memory/a.md": f"- {GITHUB}\n"})
    base.git("tag", "leak")
    base.git("rm", "-q", "memory/a.md")
    base.commit("out")
    tip = base.git("commit-tree", "leak^{tree}", "-p", "main", "-p", "leak", "-m", "Merge").strip()
    base.git("switch", "-q", "-c", "x", tip)
    assert any(rule.startswith("github") for rule in rules(base, "--range", "main..HEAD"))


def test_what_a_merge_drops_is_found_by_the_hook_before_a_push(base: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "remote.git", True, "--bare")
    base.git("remote", "add", "origin", str(bare.path))
    base.git("push", "-q", "origin", "main")
    merge_old(base)
    base.mem("install")
    done = base.run("git", "push", "origin", "x", check=False)
    assert done.returncode != 0 and "settings-loosened" in done.stderr


def feature(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "feature", "old")
    repo.commit("work", {"MEMORY.md": "# Memory\n\n- one fact\n- another\n", "memory/b.md": "- b\n"})


def test_an_honest_merge_of_the_base_is_clean(base: Repo) -> None:
    feature(base)
    base.git("merge", "-q", "main", "-m", "Merge main")
    assert rules(base, "--range", "main..HEAD") == set()
    base.commit("more", {"memory/c.md": "- c\n"})
    assert rules(base, "--range", "main..HEAD") == set()
    assert rules(base, "--range", "old..HEAD") == {"protected-file"}  # what main itself brings beyond `old`


def test_an_honest_merge_into_the_base_is_clean(base: Repo) -> None:
    start = base.git("rev-parse", "main").strip()
    feature(base)
    base.git("switch", "-q", "main")
    base.git("merge", "-q", "--no-ff", "feature", "-m", "Merge feature")
    assert rules(base, "--range", f"{start}..HEAD") == set()


def test_a_merge_that_leaves_all_as_the_base_has_it_is_clean(base: Repo) -> None:
    start = base.git("rev-parse", "main").strip()
    base.git("switch", "-q", "-c", "release", "main")
    base.commit("release", {LOG: "- first\n"})
    base.git("switch", "-q", "main")
    base.git("merge", "-q", "-s", "ours", "release", "-m", "Close the release branch")
    assert "protected-file" not in rules(base, "--range", f"{start}..HEAD")
    assert [row for row in findings(base, start) if row["commit"] == base.git("rev-parse", "HEAD").strip()] == []


def findings(repo: Repo, start: str) -> list[dict[str, str]]:
    done = repo.mem("scan", "--json", "--range", f"{start}..HEAD", check=False)
    return list(json.loads(done.stdout)["findings"])


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_settings_that_become_a_link_or_a_submodule_are_lost(base: Repo, mode: str) -> None:
    replaced(base, mode)
    assert "settings-loosened" in rules(base, "--staged")
    base.mem("install")
    refused = base.run("git", "commit", "-q", "-m", "link", check=False)
    assert refused.returncode != 0 and "settings-loosened" in refused.stderr
    base.git("commit", "-q", "--no-verify", "-m", "link")
    assert "settings-loosened" in rules(base, "--range", "HEAD~1..HEAD")
    shown = base.mem("review", "HEAD~1..HEAD", check=False).stdout
    assert "no longer name what they kept under the gate: protected" in shown


def test_settings_put_back_and_taken_out_again_are_lost(base: Repo) -> None:
    base.commit("less", {".gitmem.toml": SETTINGS.replace("strict = true\n", "")})
    base.commit("back", {".gitmem.toml": SETTINGS})
    base.git("rm", "-q", ".gitmem.toml")
    base.commit("gone")
    assert "settings-loosened" in rules(base, "--range", "HEAD~3..HEAD")


def test_exceptions_that_become_a_link_except_nothing(base: Repo) -> None:
    base.commit("secret", {"memory/a.md": f"- {GITHUB}\n"})
    print_of = findings(base, "HEAD~1")[0]["fingerprint"]
    base.mem("allow", print_of, "--reason", "a sample")
    base.commit("exception")
    assert rules(base, "--history") == {"protected-file"}
    replaced(base, "120000", ".gitmem-allow.toml")
    base.git("commit", "-q", "-m", "link")
    assert any(rule.startswith("github") for rule in rules(base, "--history"))


@pytest.mark.parametrize("how", ["strategy", "index"])
def test_what_a_merge_drops_is_refused_where_it_is_made(base: Repo, how: str) -> None:
    base.mem("install")
    base.git("switch", "-q", "-c", "x", "old")
    base.git("commit", "-q", "--allow-empty", "-m", "wip")
    if how == "strategy":
        done = base.run("git", "merge", "-s", "ours", "main", "-m", "Merge", check=False)
    else:
        base.git("merge", "-q", "--no-commit", "--no-ff", "main")
        base.git("read-tree", "HEAD")
        done = base.run("git", "commit", "-m", "Merge", check=False)
    assert done.returncode != 0 and "settings-loosened" in done.stderr and "protected-file" in done.stderr
    assert how == "index" or "log-rewritten" in done.stderr  # where pre-commit refuses first, no message is asked for


def test_an_honest_merge_passes_the_hooks_though_it_brings_a_protected_file(base: Repo) -> None:
    base.mem("install")
    feature(base)
    base.git("merge", "-q", "--no-edit", "main")
    assert base.read("SOUL.md") == "Be kind. Ask before you delete.\n"
    base.git("switch", "-q", "main")
    base.commit("more", {"memory/c.md": "- c\n"})
    base.git("merge", "-q", "--no-edit", "--no-ff", "feature")
    assert (base.path / "memory/b.md").is_file()


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_settings_that_one_side_of_a_merge_added_are_kept(base: Repo, side: str) -> None:
    base.git("switch", "-q", "-c", "x")
    base.commit("mine", {".gitmem.toml": SETTINGS.replace('["SOUL.md"', '["USER.md", "SOUL.md"')})
    base.git("switch", "-q", "main")
    base.commit("theirs", {".gitmem.toml": SETTINGS.replace('["SOUL.md"', '["TOOLS.md", "SOUL.md"')})
    base.git("switch", "-q", "x")
    base.mem("install")
    done = base.run("git", "merge", "-X", side, "main", "-m", "Merge", check=False)
    lost = "TOOLS.md" if side == "ours" else "USER.md"
    assert done.returncode != 0 and f"protected '{lost}'" in done.stderr
    base.git("commit", "-q", "--no-verify", "-m", "Merge")
    assert ("settings-loosened" in rules(base, "--range", "main..HEAD")) is (side == "ours")


def test_lines_of_a_log_that_a_merge_loses_of_one_side_are_found(base: Repo) -> None:
    base.git("switch", "-q", "-c", "x")
    base.commit("mine", {LOG: "- first\n- second\n- mine\n"})
    base.git("switch", "-q", "main")
    base.commit("theirs", {LOG: "- first\n- second\n- theirs\n"})
    base.git("switch", "-q", "x")
    base.mem("install")
    base.run("git", "merge", "--no-commit", "main", check=False)
    for more in ("", "- more\n"):
        base.write(LOG, f"- first\n- second\n- mine\n{more}")
        base.git("add", "-A")
        done = base.run("git", "commit", "-m", "Merge", check=False)
        assert done.returncode != 0 and "log-rewritten" in done.stderr
    base.git("commit", "-q", "--no-verify", "-m", "Merge")
    assert rules(base, "--range", "main..HEAD") == {"log-rewritten"}
    base.write(LOG, "- first\n- second\n- mine\n- theirs\n")
    base.git("commit", "-q", "--no-verify", "--amend", "-a", "-m", "Merge")
    assert rules(base, "--range", "main..HEAD") == set()


def test_a_release_branch_that_is_closed_passes_the_hook_before_a_push(base: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "remote.git", True, "--bare")
    base.git("remote", "add", "origin", str(bare.path))
    base.git("switch", "-q", "-c", "release", "main")
    base.commit("release", {LOG: "- first\n- second\n- released\n"})
    base.git("push", "-q", "origin", "main", "release")
    base.git("switch", "-q", "main")
    base.git("merge", "-q", "-s", "ours", "release", "-m", "Close the release branch")
    base.mem("install")
    base.git("push", "-q", "origin", "main")


def test_settings_that_a_side_branch_gives_back_are_compared_at_the_tip(base: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "remote.git", True, "--bare")
    base.git("remote", "add", "origin", str(bare.path))  # not cloned: its default branch is not known here
    base.git("push", "-q", "origin", "main")
    base.git("switch", "-q", "-c", "x", "main")
    base.git("rm", "-q", ".gitmem.toml")
    base.commit("loosen", date="2027-01-02T00:00:00Z")
    base.git("switch", "-q", "-c", "y", "main")
    base.commit("add", {".gitmem.toml": SETTINGS + "# note\n"}, date="2027-01-03T00:00:00Z")
    base.commit("take back", {".gitmem.toml": SETTINGS}, date="2027-01-04T00:00:00Z")
    base.git("switch", "-q", "x")
    base.git("merge", "-q", "--no-ff", "-m", "Merge", "y")
    base.mem("install")
    pushed = base.run("git", "push", "-q", "origin", "x", check=False)
    assert pushed.returncode and "settings-loosened" in pushed.stderr and not bare.git("branch", "--list", "x")


def test_review_and_verify_tell_what_a_merge_drops(base: Repo) -> None:
    merge_old(base)
    shown = base.mem("review", "main..HEAD", check=False)
    assert shown.returncode == 1 and "no longer name what they kept under the gate" in shown.stdout
    assert "protected-file" in shown.stdout and "log-rewritten" in shown.stdout


def replaced(repo: Repo, mode: str, path: str = ".gitmem.toml") -> None:
    """What stands at a path is staged as something that is no file."""
    oid = repo.git("rev-parse", f":{path}" if mode == "120000" else "HEAD").strip()
    repo.git("update-index", "--cacheinfo", f"{mode},{oid},{path}")


def octopus(repo: Repo) -> None:
    """Branches `a` and `b` off main, each with a note, and a branch `x` without either."""
    for name in "ab":
        repo.git("switch", "-q", "-c", name, "main")
        repo.commit(name, {f"memory/{name}.md": f"- {name}\n"})
    repo.git("switch", "-q", "-c", "x", "old")
    repo.git("commit", "-q", "--allow-empty", "-m", "wip")


def test_a_merge_of_many_branches_is_scanned_as_each_of_them(base: Repo) -> None:
    octopus(base)
    base.mem("install")
    base.git("merge", "-q", "-m", "Merge", "main", "a", "b")
    assert len(base.git("log", "-1", "--format=%p").split()) > 2
    assert rules(base, "--range", "main..HEAD") == set()
    assert base.mem("review", "main..HEAD").returncode == 0
    base.git("switch", "-q", "-c", "c", "main")
    base.commit("secret", {"memory/c.md": f"- token {GITHUB}\n"})
    base.git("switch", "-q", "-c", "y", "old")
    base.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "wip")
    refused = base.run("git", "merge", "-q", "-m", "Merge", "a", "b", "c", check=False)
    assert refused.returncode and "github-token" in refused.stderr and GITHUB not in refused.stderr


def test_what_a_merge_of_many_branches_drops_is_found(base: Repo) -> None:
    octopus(base)
    base.git("merge", "-q", "-s", "ours", "-m", "Merge", "main", "a", "b")
    assert rules(base, "--range", "main..HEAD") == {"settings-loosened", "protected-file", "log-rewritten"}
    shown = base.mem("review", "main..HEAD", check=False)
    assert shown.returncode == 1 and all(rule in shown.stdout for rule in ("protected-file", "log-rewritten"))


def crossed(repo: Repo) -> None:
    """Branches `a` and `b` that merged each other's first commit (two merge bases), then went on; HEAD is `a`."""
    for name in "ab":
        repo.git("switch", "-q", "-c", name, "main")
        repo.commit(name, {f"memory/2026-01-03.{name}.md": "- first\n"})
    first = {name: repo.git("rev-parse", name).strip() for name in "ab"}
    for name, other in ("ab", "ba"):
        repo.git("switch", "-q", name)
        repo.git("merge", "-q", "-m", "Merge", first[other])
        repo.commit(f"more of {name}", {f"memory/2026-01-03.{name}.md": "- first\n- second\n"})
    assert len(repo.git("merge-base", "--all", "a", "b").split()) == 2
    repo.git("switch", "-q", "a")


def test_branches_that_merged_each_other_before_merge_without_a_finding(base: Repo) -> None:
    crossed(base)
    base.mem("install")
    base.git("merge", "-q", "-m", "Merge", "b")
    assert rules(base, "--range", "main..HEAD") == set() and rules(base, "--range", "b..HEAD") == set()
    assert base.mem("review", "main..HEAD").returncode == 0


def test_what_one_of_branches_that_merged_each_other_drops_is_found(base: Repo) -> None:
    crossed(base)
    base.git("merge", "-q", "-s", "ours", "-m", "Merge", "b")
    assert rules(base, "--range", "b..HEAD") == {"log-rewritten"}
    shown = base.mem("review", "b..HEAD", check=False)
    assert shown.returncode == 1 and "log-rewritten" in shown.stdout and "second" in shown.stdout
