"""A scan of commits in a partial clone: what was left out is fetched from a plain remote, and never called clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import Repo
from tests.samples import GITHUB


@pytest.fixture
def clone(repo: Repo, tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A clone without blobs, of a repository in whose middle commit a token stands."""
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.commit("begin", {"MEMORY.md": "# Memory\n"})
    repo.commit("bad", {"memory/a.md": f"- {GITHUB}\n"})
    repo.git("rm", "-q", "memory/a.md")
    repo.commit("gone")
    place = tmp_path_factory.mktemp("clone") / "c"
    repo.git("-c", "protocol.file.allow=always", "clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(place))
    return Repo(place, init=False)


def test_what_a_partial_clone_left_out_is_fetched_and_scanned(clone: Repo) -> None:
    done = clone.mem("scan", "--range", "HEAD~2..HEAD", check=False)
    assert done.returncode == 1 and "github-token" in done.stdout


def test_a_remote_that_is_gone_is_no_clean_scan(clone: Repo, repo: Repo) -> None:
    repo.path.rename(repo.path.with_name("gone"))
    assert clone.mem("scan", "--range", "HEAD~2..HEAD", check=False).returncode == 3


@pytest.mark.parametrize("key", ["core.sshCommand", "remote.origin.uploadpack", "url.x.insteadOf"])
def test_a_configuration_that_may_run_a_program_fetches_nothing(clone: Repo, tmp_path: Path, key: str) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    clone.git("config", key, str(program))
    assert clone.mem("scan", "--range", "HEAD~2..HEAD", check=False).returncode == 3
    assert not mark.exists()


@pytest.mark.parametrize("args", [("--range", "HEAD~2..HEAD"), ("--history",)])
def test_what_a_treeless_clone_left_out_is_fetched_and_scanned(clone: Repo, repo: Repo, args: tuple[str, ...]) -> None:
    treeless = Repo(clone.path.with_name("treeless"), init=False)
    treeless.git("-c", "protocol.file.allow=always", "clone", "-q", "--filter=tree:0", f"file://{repo.path}", ".")
    done = treeless.mem("scan", *args, check=False)
    assert done.returncode == 1 and "github-token" in done.stdout, done.stderr
    repo.path.rename(repo.path.with_name("gone"))
    other = Repo(clone.path.with_name("other"), init=False)
    other.git("clone", "-q", "--filter=tree:0", f"file://{repo.path.with_name('gone')}", ".")
    repo.path.with_name("gone").rename(repo.path)
    assert other.mem("scan", *args, check=False).returncode == 3


def test_why_says_in_a_partial_clone_how_to_get_the_objects_that_it_lacks(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit("begin", {"MEMORY.md": "# Memory\n\n- We sing\n"})
    repo.commit("more", {"MEMORY.md": "# Memory\n\n- We sing\n- We dance\n"})
    place = tmp_path / "c"
    file_allowed = ("-c", "protocol.file.allow=always")
    repo.git(*file_allowed, "clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(place))
    clone = Repo(place, init=False)
    done = clone.mem("why", "MEMORY.md:3", check=False)
    assert done.returncode == 3
    assert "git blame needs objects that this partial clone left out" in done.stderr
    assert "hint: git fetch --refetch --no-filter" in done.stderr
    clone.git(*file_allowed, "fetch", "-q", "--refetch", "--no-filter")
    assert "We sing" in clone.mem("why", "MEMORY.md:3").stdout
