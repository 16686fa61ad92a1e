"""`.pre-commit-hooks.yaml` under the real pre-commit, in real repositories.

The hooks run as `language: system` with this Python: building an environment needs a package index, and tests
use no network. `make bench` and docs/gate.md say how `try-repo` was proven.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitmem.gate import setup_checks
from tests.harness import SOURCE, Repo
from tests.samples import GITHUB

CLEAN = "- 오늘 배포했다\n"
BAD = f"- 토큰은{GITHUB}를 쓴다\n"
STAGES = [
    "pre-commit",
    "pre-merge-commit",
    "commit-msg",
    "pre-push",
    "post-checkout",
    "post-commit",
    "post-merge",
    "post-rewrite",
]


def published() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml.safe_load((SOURCE / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return rows


@pytest.fixture
def framed(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Repo:
    """A memory repository whose hooks are pre-commit's, with ours in its configuration."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit-home"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    hooks = [
        {**hook, "language": "system", "entry": hook["entry"].replace("git-mem", f"{sys.executable} -P -m gitmem", 1)}
        for hook in published()
    ]
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    repo.commit("start", {".pre-commit-config.yaml": yaml.safe_dump(config), "MEMORY.md": "- one\n", "app.py": "1\n"})
    for stage in STAGES:
        repo.run(sys.executable, "-m", "pre_commit", "install", "-t", stage)
    return repo


def test_every_published_hook_says_when_it_runs_and_needs_no_file_list_it_cannot_trust() -> None:
    rows = {row["id"]: row for row in published()}
    assert {name: tuple(row["stages"]) for name, row in rows.items()} == setup_checks.HOOK_TYPES
    for row in rows.values():
        assert row["stages"] and row["minimum_pre_commit_version"] == "3.2.0" and row["require_serial"]
    assert rows["git-mem-index"]["always_run"] is True and rows["git-mem-push"]["always_run"] is True
    assert rows["git-mem-scan"]["types"] == [], "links are memory's business too"


def test_a_secret_is_refused_and_clean_memory_passes(framed: Repo) -> None:
    framed.write("memory/a.md", BAD)
    framed.git("add", "-A")
    done = framed.run("git", "commit", "-m", "note", check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "memory/a.md:1:6: block github" in said and GITHUB not in said
    framed.write("memory/a.md", CLEAN)
    framed.git("commit", "-qam", "note")
    framed.git("commit", "-q", "--amend", "-m", "note again")


def test_what_is_staged_counts_though_the_work_tree_differs(framed: Repo) -> None:
    framed.write("memory/a.md", BAD)
    framed.git("add", "-A")
    framed.write("memory/a.md", CLEAN)
    assert framed.run("git", "commit", "-m", "note", check=False).returncode == 1
    framed.git("add", "-A")
    framed.write("memory/a.md", BAD)
    framed.git("commit", "-qm", "note")
    assert framed.read("memory/a.md") == BAD


def test_commit_all_and_commit_with_path_are_scanned(framed: Repo) -> None:
    framed.commit("a", {"memory/a.md": CLEAN})
    framed.write("memory/a.md", BAD)
    assert framed.run("git", "commit", "-am", "note", check=False).returncode == 1
    assert framed.run("git", "commit", "-m", "note", "memory/a.md", check=False).returncode == 1


def test_a_link_is_refused(framed: Repo) -> None:
    (framed.path / "memory").mkdir()
    (framed.path / "memory/x.md").symlink_to("/etc/passwd")
    framed.git("add", "-A")
    assert framed.run("git", "commit", "-m", "note", check=False).returncode == 1


def test_a_message_is_scanned_and_a_rewritten_log_needs_a_reason(framed: Repo) -> None:
    framed.write("app.py", "2\n")
    assert framed.run("git", "commit", "-am", f"use {GITHUB}", check=False).returncode == 1
    log = "memory/2026-02-05.md"
    framed.commit("log", {log: "# 2026-02-05\n\n- one\n- two\n"})
    framed.write(log, "# 2026-02-05\n\n- two\n")
    assert framed.run("git", "commit", "-am", "x", check=False).returncode == 1
    framed.git("commit", "-qam", "x\n\nMemory-Rewrite: wrong")


def test_a_merge_a_rebase_and_a_checkout_work_and_a_bad_merge_does_not(framed: Repo) -> None:
    framed.git("checkout", "-qb", "side")
    framed.write("memory/s.md", CLEAN)
    framed.git("add", "-A")
    framed.git("commit", "-qm", "side")
    framed.git("checkout", "-qb", "bad")
    framed.commit("bad", {"memory/b.md": BAD})
    framed.git("checkout", "-q", "main")
    framed.commit("main", {"memory/m.md": CLEAN})
    framed.git("merge", "-q", "--no-edit", "side")
    framed.git("checkout", "-q", "side")
    framed.git("rebase", "-q", "main")
    framed.git("checkout", "-q", "main")
    framed.commit("more", {"memory/n.md": CLEAN})
    assert framed.run("git", "merge", "-q", "--no-edit", "bad", check=False).returncode == 1


def test_a_push_is_scanned_commit_by_commit(framed: Repo, tmp_path: Path) -> None:
    remote = Repo(tmp_path / "remote.git", True, "--bare")
    framed.git("remote", "add", "origin", str(remote.path))
    framed.git("push", "-q", "origin", "main")
    framed.commit("bad", {"memory/a.md": BAD})
    framed.commit("gone", {"memory/a.md": CLEAN})
    assert framed.run("git", "push", "-q", "origin", "main", check=False).returncode == 1


@pytest.fixture
def remote(framed: Repo, tmp_path: Path) -> Repo:
    """An empty remote named origin."""
    bare = Repo(tmp_path / "remote.git", True, "--bare")
    framed.git("remote", "add", "origin", str(bare.path))
    return bare


def refused(framed: Repo, *refs: str) -> bool:
    """Whether a push to origin is refused by the gate; what it says never holds the secret."""
    done = framed.run("git", "push", "-q", "origin", *refs, check=False)
    said = done.stdout + done.stderr
    assert GITHUB not in said and (done.returncode == 0) == ("block github" not in said), said
    return done.returncode != 0


def test_a43_the_history_of_a_first_push_is_scanned(framed: Repo, remote: Repo) -> None:
    framed.commit("bad", {"memory/a.md": BAD})
    framed.commit("gone", {"memory/a.md": CLEAN})
    assert refused(framed, "main")
    framed.git("reset", "-q", "--hard", "HEAD~2")
    assert not refused(framed, "main") and "refs/heads/main" in remote.git("show-ref")


def test_a43_branches_that_are_not_checked_out_are_scanned(framed: Repo, remote: Repo) -> None:
    assert not refused(framed, "main")
    framed.git("checkout", "-q", "-b", "side")
    framed.commit("bad", {"memory/a.md": BAD})
    framed.commit("gone", {"memory/a.md": CLEAN})
    framed.git("checkout", "-q", "main")
    framed.commit("fine", {"memory/m.md": CLEAN})
    assert refused(framed, "side"), "pushed alone"
    assert refused(framed, "main", "side"), "the second ref of a push"
    assert refused(framed, "main:refs/heads/other", "side:refs/heads/x")
    framed.git("branch", "-q", "-D", "side")
    assert not refused(framed, "main")


def test_a43_a_push_to_an_address_is_scanned(framed: Repo, remote: Repo) -> None:
    framed.git("push", "-q", "--no-verify", "origin", "main")
    framed.commit("bad", {"memory/a.md": BAD})
    framed.commit("gone", {"memory/a.md": CLEAN})
    assert framed.run("git", "push", "-q", str(remote.path), "main", check=False).returncode == 1


def test_the_readme_installs_every_type_that_its_hooks_need() -> None:
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    (block,) = [part for part in text.split("```yaml\n")[1:] if "git-mem-scan" in part]
    config = yaml.safe_load(block.split("```")[0])
    ids = [hook["id"] for row in config["repos"] for hook in row["hooks"]]
    wanted = {stage for name in ids for stage in setup_checks.HOOK_TYPES[name]}
    assert wanted <= set(config["default_install_hook_types"]) and "git-mem-push" in ids


def test_doctor_names_the_types_that_are_not_installed(framed: Repo) -> None:
    assert "hook types" not in framed.mem("doctor", check=False).stdout
    framed.run(sys.executable, "-m", "pre_commit", "uninstall", "-t", "commit-msg", "-t", "pre-push")
    rows = json.loads(framed.mem("doctor", "--json", check=False).stdout)["checks"]
    (row,) = [row for row in rows if row["name"] == "hook types"]
    assert row["wrong"] == "pre-commit is installed, but not for commit-msg, pre-push"
    assert "pre-commit install -t commit-msg -t pre-push" in row["hint"]
    for stage in STAGES:
        framed.run(sys.executable, "-m", "pre_commit", "uninstall", "-t", stage)
    assert "hook types" not in framed.mem("doctor", check=False).stdout, "as in CI, where nobody commits"


def test_all_files_are_scanned_when_asked_for(framed: Repo) -> None:
    framed.commit("bad, long ago", {"memory/a.md": BAD})
    done = framed.run(sys.executable, "-m", "pre_commit", "run", "git-mem-scan", "--all-files", check=False)
    assert done.returncode == 1
    assert "memory/a.md:1:6: block github" in done.stdout


def test_our_own_hooks_and_pre_commits_live_side_by_side(framed: Repo) -> None:
    before = (framed.path / ".git/hooks/pre-commit").read_bytes()
    framed.mem("install")
    framed.write("memory/a.md", BAD)
    framed.git("add", "-A")
    assert framed.run("git", "commit", "-m", "note", check=False).returncode == 1
    framed.write("memory/a.md", CLEAN)
    framed.git("commit", "-qam", "note")
    framed.mem("uninstall")
    assert (framed.path / ".git/hooks/pre-commit").read_bytes() == before


def test_a_commit_says_within_pre_commit_which_facts_cite_what_it_touches(framed: Repo) -> None:
    code = "def limit(attempt):\n    if attempt > 30:\n        raise Refused(attempt)\n    return attempt\n"
    framed.commit("code", {"src/limit.py": code})
    framed.mem("add", "--type", "rule", "--commit", "--cites", "src/limit.py:1-4", "Entry is refused after 30 attempts")
    framed.write("src/limit.py", code.replace("30", "20"))
    done = framed.run("git", "commit", "-qam", "other limit")
    assert "code changed: src/limit.py:1-4" in done.stdout + done.stderr
