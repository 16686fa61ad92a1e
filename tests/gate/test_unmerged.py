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
