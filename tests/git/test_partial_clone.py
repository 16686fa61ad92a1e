"""Commands that read memory in a partial clone: what is here is read, what is missing is named, nothing is fetched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness import Repo

FILE_ALLOWED = ("-c", "protocol.file.allow=always")
MISSING = "this partial clone left"
TYPE = "git fetch --refetch --no-filter"
LOG = "# 2026-02-05\n\n## 10:00\n\n- The cache holds pages for an hour\n"


@pytest.fixture
def source(repo: Repo) -> Repo:
    """Old versions of two files, a forgotten fact, and a branch of its own."""
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.commit("begin", {"MEMORY.md": "# Memory\n\n- We deploy with rsync\n", "notes.py": "print()\n"})
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    repo.commit("more", {"MEMORY.md": "# Memory\n\n- We deploy with rsync\n- Lanterns are kept in the shed\n"})
    repo.mem("forget", "MEMORY.md:4", "--reason", "wrong")
    repo.git("switch", "-q", "-c", "side", "HEAD~1")
    repo.commit("side", {"MEMORY.md": "# Memory\n\n- Kafka carries the events\n"})
    repo.git("switch", "-q", "main")
    return repo


def clone_of(source: Repo, kind: str, *options: str) -> Repo:
    place = source.path.with_name(f"clone-{kind.replace(':', '-')}")
    address = f"file://{source.path}"
    source.git(*FILE_ALLOWED, "clone", "-q", f"--filter={kind}", *options, address, str(place))
    clone = Repo(place, init=False)
    clone.git("branch", "-q", "side", "origin/side")
    return clone


def objects_of(repo: Repo) -> str:
    return repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
@pytest.mark.parametrize(
    "args",
    [("search", "how do we deploy"), ("context", "how do we deploy"), ("show", "MEMORY.md"), ("log",), ("check",)],
)
def test_files_that_are_checked_out_are_read(source: Repo, kind: str, args: tuple[str, ...]) -> None:
    clone = clone_of(source, kind)
    objects = objects_of(clone)
    done = clone.mem(*args)
    assert {"log": "pages", "check": ""}.get(args[0], "rsync") in done.stdout
    assert objects_of(clone) == objects


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_a_search_of_all_branches_names_what_is_missing(source: Repo, kind: str) -> None:
    clone = clone_of(source, kind)
    done = clone.mem("search", "--all-branches", "how do we deploy")
    assert "rsync" in done.stdout and MISSING in done.stderr and TYPE in done.stderr
    assert (
        "MEMORY.md" in json.loads(clone.mem("search", "--all-branches", "--json", "deploy").stdout)["hits"][0]["path"]
    )


def test_what_was_missing_is_found_when_it_was_fetched(source: Repo) -> None:
    clone = clone_of(source, "blob:none")
    assert MISSING in clone.mem("search", "--at", "side", "events").stderr
    assert MISSING in clone.mem("search", "--at", "side", "events").stderr
    clone.git(*FILE_ALLOWED, "fetch", "-q", "--refetch", "--no-filter")
    done = clone.mem("search", "--at", "side", "events")
    assert "Kafka" in done.stdout and MISSING not in done.stderr


@pytest.mark.parametrize("args", [("search", "pages"), ("log",), ("context", "pages"), ("check",), ("index",)])
def test_what_a_commit_lacks_is_named(source: Repo, args: tuple[str, ...]) -> None:
    clone = clone_of(source, "blob:none", "--no-checkout")
    clone.git("-c", "core.bare=false", "sparse-checkout", "set", "--no-cone", "notes.py")
    at = () if args[0] in ("context", "check", "index") else ("--at", "HEAD")
    done = clone.mem(*args[:1], *at, *args[1:])
    assert MISSING in done.stderr and TYPE in done.stderr


def test_show_of_a_missing_version_says_what_to_type(source: Repo) -> None:
    clone = clone_of(source, "blob:none")
    done = clone.mem("show", "MEMORY.md", "--at", "side", check=False)
    assert done.returncode == 3 and MISSING in done.stderr and TYPE in done.stderr


def test_a_forgotten_text_is_looked_up_again_when_it_was_fetched(source: Repo) -> None:
    clone = clone_of(source, "blob:none")
    clone.mem("search", "deploy")
    clone.git(*FILE_ALLOWED, "fetch", "-q", "--refetch", "--no-filter")
    clone.write("memory/2026-02-06.md", "# 2026-02-06\n\n- Lanterns are kept in the shed\n")
    assert "shed" not in clone.mem("search", "lanterns").stdout


def test_a_commit_in_a_partial_clone_is_scanned_as_ever(source: Repo, tmp_path: Path) -> None:
    clone = clone_of(source, "blob:none")
    source.path.rename(source.path.with_name("gone"))
    assert clone.mem("scan", "--range", "HEAD~2..HEAD~1", check=False).returncode == 3
