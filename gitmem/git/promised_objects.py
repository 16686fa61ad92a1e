"""Fetches the blobs and trees that a partial clone left out and that a scan of commits needs.

A clone's own configuration may name programs that a fetch runs. So nothing is fetched if the configuration holds a key
that is not in PLAIN_KEYS; the scan then reports missing objects. No other code that reads a repository fetches.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from gitmem.git.process import git_of
from gitmem.git.repository import Repository

PLAIN_KEYS = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|longpaths)"
    r"|extensions\.(?:partialclone|objectformat|worktreeconfig)|remote\.[^\n]+\.(?:url|fetch|promisor|partialclonefilter|tagopt)"
    r"|branch\.[^\n]+\.(?:remote|merge|rebase)|user\.(?:name|email)|uploadpack\.\w+|gc\.\w+|mem\.\w+|merge\.gitmem\.(?:name|driver)"
    r"|advice\.\w+|http\.[^\n]+\.extraheader",
    re.IGNORECASE,
)
PLAIN_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+|/\S+")


def fetch(repo: Repository, oids: Iterable[str]) -> None:
    """Fetch the objects `oids` from the promisor remote of a partial clone.

    Does nothing in any other clone, and if the clone's configuration is not plain (PLAIN_KEYS, PLAIN_ADDRESS). Writes
    no ref. Raises nothing if the remote cannot be reached; reading a blob then fails.
    """
    remote = _promisor(repo)
    if not remote:
        return
    lines = "".join(f"{oid}\n" for oid in dict.fromkeys(oids))
    if not lines:
        return
    options = (
        "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--no-auto-maintenance",
        "--filter=blob:none", "--stdin",
    )  # fmt: skip
    settings = ("-c", "fetch.negotiationAlgorithm=noop", "-c", "protocol.ext.allow=never")
    git = git_of(repo)
    fetching = git._replace(env={name: value for name, value in git.env.items() if name != "GIT_NO_LAZY_FETCH"})
    fetching.result([*settings, "fetch", *options, remote], lines.encode())


def fetch_trees(repo: Repository, trees: Iterable[str]) -> None:
    """Fetch these trees (oids) whole, without blobs, in a clone that left trees out, where `fetch` would fetch;
    otherwise do nothing."""
    name = f"remote.{_promisor(repo)}.partialclonefilter"
    if git_of(repo).result(["config", "--local", "--get", name]).stdout.startswith(b"tree:"):
        fetch(repo, trees)


def _promisor(repo: Repository) -> str:
    """The name of the promisor remote; "" if there is none or more than one, or if the clone's configuration is not
    plain."""
    result = git_of(repo).result(["config", "--local", "--list", "-z"])
    pairs = [row.partition("\n") for row in os.fsdecode(result.stdout).split("\0") if row]
    remotes = [
        key[len("remote.") : -len(".promisor")] for key, _, value in pairs
        if key.startswith("remote.") and key.endswith(".promisor") and value.lower() in ("true", "1", "yes", "on")
    ]  # fmt: skip
    plain = all(
        PLAIN_KEYS.fullmatch(key) and (not key.endswith(".url") or PLAIN_ADDRESS.fullmatch(value))
        for key, _, value in pairs
    )
    if len(remotes) == 1 and plain and not remotes[0].startswith("-"):
        return remotes[0]
    return ""
