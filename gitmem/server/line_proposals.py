"""Proposes a line of memory as a pull request at the repository's forge, never as a direct write.

The line passes the gate, is committed in a temporary clone of the mirror, and is pushed with the forge's token from the
server's environment (`review/forges/location`). No hook and no filter of the repository runs.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, UsageError
from gitmem.gate.quoting import one_line
from gitmem.gate.reports.markdown import code
from gitmem.git.git_config import settings_as_variables
from gitmem.git.opening import Repository, open_repository
from gitmem.git.other_memories import clean
from gitmem.git.write import run_git
from gitmem.memory.snapshot import layout_at
from gitmem.memory.writing import NewLine, add_and_commit
from gitmem.review import publish
from gitmem.review.forges.forge import Client, Forge, Pull
from gitmem.review.forges.location import client_of, forge_of, token_of
from gitmem.server.mirrors import Mirrors

PLACES = ("auto", "memory", "daily")
SAFE = {"core.hooksPath": os.devnull, "commit.gpgSign": "false", "core.fsmonitor": "false"}


@dataclass(frozen=True, slots=True)
class Proposed:
    """The opened pull request. `branch`: the new branch with the line. `base`: the branch that it is to be merged into.
    `commit`: the oid of the commit with the line. `number`, `url`: at the forge. `path`: the memory file that got the
    line."""

    branch: str
    base: str
    commit: str
    number: int
    url: str
    path: str


@dataclass(frozen=True, slots=True)
class Change:
    """A proposed line. `title`: of the pull request, "" for a default. `reason`: why, for the commit message. `who`:
    the person or token that proposes it."""

    line: NewLine
    title: str
    reason: str
    who: str


class Proposals:
    """Opens pull requests. `environ`: the variables with the addresses and tokens of the forges."""

    def __init__(self, mirrors: Mirrors, config: Config, environ: Mapping[str, str]) -> None:
        self._mirrors = mirrors
        self._config = config
        self._environ = dict(environ)

    def propose(self, tenant: int, repository: int, url: str, change: Change, now: datetime) -> Proposed:
        """Open a pull request that adds a line, on a branch named by a hash of the line.

        Raises UsageError if the repository's forge takes no proposals or the line exists already; Refused if the gate
        refuses the line; NotARepository without a mirror; GitMemError if the forge fails or the branch cannot be
        pushed, for example because the line is proposed already.
        """
        forge, client = self._client(url)
        base = client.default_branch()
        name = hashlib.sha256(f"{change.line.to}\0{change.line.kind}\0{change.line.text}".encode()).hexdigest()[:12]
        branch = f"memory/proposal-{name}"
        place = self._mirrors.place(tenant, repository)
        with TemporaryDirectory(prefix="gitmem-proposal-") as folder:
            clone = Path(folder) / "clone"
            environ = self._environment(change.who)
            with self._mirrors.lent(tenant, repository) as mirror:
                options = ["--quiet", "--no-tags", "--single-branch", f"--branch={base}", "--template="]
                run_git(mirror, ["clone", *options, "--", os.fspath(place), os.fspath(clone)], env=environ)
            with closing(open_repository(clone, environ)) as repo:
                run_git(repo, ["remote", "set-url", "origin", url])
                run_git(repo, ["switch", "--quiet", "-c", branch])
                added, commit, _ = add_and_commit(
                    repo, self._config, change.line, lambda text: _message(change, text), now=now
                )
                if not commit:
                    raise UsageError("the line is there already", "search finds it")
                notes = (f"Proposed by {code(change.who)} through the shared index.",)
                proposal = publish.Proposal(branch, base, title=change.title, notes=notes)
                pull = self._published(repo, forge, client, proposal, now, environ)
        return Proposed(branch, base, commit, pull.number, pull.url, added.path)

    def _client(self, url: str) -> tuple[Forge, Client]:
        """The forge of a repository's address, and a client with its token. Raises UsageError if the forge is unknown
        or has no token."""
        forge = forge_of(url, self._environ)
        client = client_of(forge, token_of(forge, self._environ), time.sleep) if forge is not None else None
        if forge is None or client is None:
            raise UsageError(
                "this repository takes no proposals here", "an administrator gives the server a token of its forge"
            )
        return forge, client

    def _environment(self, who: str) -> dict[str, str]:
        """The environment of git: no hook, signing or file system monitor runs, and the author is `who`."""
        name = "".join(c for c in one_line(who) if c not in "<>\n\0")[:100] or "git mem"
        environ = {**clean(self._environ), **settings_as_variables(SAFE, self._environ)}
        for role in ("AUTHOR", "COMMITTER"):
            environ |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": "git-mem-server@localhost"}
        return environ

    def _published(
        self, repo: Repository, forge: Forge, client: Client, proposal: publish.Proposal, now: datetime,
        environ: Mapping[str, str],
    ) -> Pull:  # fmt: skip
        """Push the branch and open its pull request. Raises GitMemError if the branch cannot be pushed."""
        layout = layout_at(repo, "HEAD", self._config)
        try:
            published = publish.publish(repo, forge, client, proposal, layout=layout, today=now.date(), environ=environ)
        except GitFailed as error:
            raise GitMemError("the branch cannot be pushed", "it may be proposed already") from error
        assert published.pull is not None
        return published.pull


def _message(change: Change, text: str) -> str:
    """The commit message: the title, or `memory: TEXT` without one, on one line of at most 72 characters; then the
    reason, if there is one."""
    subject = change.title or f"memory: {text}"
    return f"{' '.join(subject.split())[:72]}\n\n{change.reason}".strip()
