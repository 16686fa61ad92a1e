"""A line for a memory that is not ours alone (`git mem add --to organisation`): offered as a branch, never written.

The line goes through the gate into a work tree of its own, on a branch of its own, in the copy we keep of that memory
(or the clone the configuration names); the branch is pushed and its pull request opened where a token allows. The
branch that is proposed to is never written, checked out or pushed. What cannot be pushed stays, and the answer says
what to type.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, UsageError
from gitmem.gate.redaction import Mask, mask_counts, refuse_or_mask
from gitmem.git import transaction
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.opening import Repository, open_repository
from gitmem.git.other_memories import clean, fetch_mirror, is_url, mirror_of, shown_url
from gitmem.git.revision import CommitRange
from gitmem.git.transaction import CommitDraft, Reading
from gitmem.git.write import run_git
from gitmem.json_values import json_object, json_value
from gitmem.memory import facts, writing
from gitmem.memory.fact import fact_id, normalise
from gitmem.memory.writing import Added, NewLine
from gitmem.paths import layout_of
from gitmem.provenance import trailers
from gitmem.review import publish
from gitmem.review.forges.forge import Client, Forge, Pull
from gitmem.review.forges.location import forge_of
from gitmem.search.keywords import slug

PROPOSAL_REFS = "refs/gitmem/proposals/"  # in a copy, whose branches follow those of its origin


@dataclass(frozen=True, slots=True)
class Offered:
    """What was done: `state` is `would offer`, `there already`, `kept` (on `branch` here, `then` says what to type),
    `pushed` (`then` is where to open the pull request) or `proposed` (`pull`)."""

    state: str
    scope: str
    path: str
    line: int
    text: str
    branch: str = ""
    base: str = ""
    commit: str = ""
    then: str = ""
    pull: Pull | None = None
    masks: tuple[Mask, ...] = ()  # what the gate masked of what was said


@dataclass(frozen=True, slots=True)
class Target:
    """The memory a line is offered to: its repository here, its name as a scope, the branch to propose to. In a `copy`
    of a memory behind a URL branches follow those of the origin."""

    repo: Repository
    scope: str
    base: str
    copy: bool


@dataclass(frozen=True, slots=True)
class PushAccess:
    """How a branch leaves: the clock, the environment, and the client of a forge (None without a token)."""

    now: datetime
    environ: Mapping[str, str]
    client_of: Callable[[Forge], Client | None]


def offer(
    config: Config, scope: str, line: NewLine, access: PushAccess, *, cache: Path, dry_run: bool = False
) -> Offered:
    """Offer a line to the organisation's (or the person's) memory. The same line again is the same branch.

    Raises UsageError where none is configured, Refused when the gate says no (then nothing is left behind), GitFailed
    where there is no copy of it and none can be fetched.
    """
    where = {"organisation": config.organisation, "user": config.personal}[scope]
    if not where:
        key = "mem.personal"
        if scope == "organisation":
            key = "mem.organisation"
        raise UsageError(f"no {scope} memory is configured", f"git config --global {key} URL")
    gated = refuse_or_mask(normalise(line.text), "MEMORY.md", config)
    text = gated.text
    if not text:
        raise UsageError("there is nothing to add", 'git mem add --to organisation "what holds for all"')
    place, _, ref = where.partition("#")
    remote = is_url(place)
    if remote:
        folder = mirror_of(place, cache)
    else:
        folder = Path(os.path.expanduser(place))
    if remote:
        fetch_mirror(place, folder, clean(access.environ), access.now, 0)
    repo = open_repository(folder, clean(access.environ))
    try:
        target = Target(repo, scope, _base(repo, ref), copy=remote)
        branch = f"memory/{slug([text])}-{fact_id(text)[:6]}"
        if dry_run:
            return Offered("would offer", scope, "MEMORY.md", 0, text, branch, target.base, masks=gated.masks)
        made = _offered_before(target, branch, text) or _on_a_branch(target, config, line, branch, access.now)
        return replace(_push_and_propose(target, config, made, access) if made.branch else made, masks=gated.masks)
    finally:
        repo.close()


def _base(repo: Repository, ref: str) -> str:
    """The branch to propose to: the one that is pinned, else the default one."""
    names = {name.removeprefix("refs/heads/") for name, _ in repo.refs("refs/heads/")}
    if ref in names:
        base = ref
    else:
        base = repo.branch() or ""
    if base not in names:
        raise GitMemError("that memory has no commit to propose to", "its first commit is made by who keeps it")
    return base


def _offered_before(target: Target, branch: str, text: str) -> Offered | None:
    """The offer of the same line that an earlier call made, where its branch adds that fact alone to what is proposed
    to; None where there is none, or the fact is there already."""
    repo, full = target.repo, f"refs/heads/{branch}"
    commits = dict(repo.refs())
    commit = commits.get(full) or commits.get(f"{PROPOSAL_REFS}{branch}")
    base = repo.resolve(f"refs/heads/{target.base}")
    start = None
    if commit:
        start = repo.merge_base(base, commit)
    if commit is None or start is None or {change.path for change in repo.changes(start, commit)} != {"MEMORY.md"}:
        return None
    own = fact_id(text)
    old, new = (facts.parse(_memory_at(repo, at)) for at in (start, commit))
    entry = new.find(own)
    added = {item.fact.id for item in new.entries} - {item.fact.id for item in old.entries}
    kept = {item.fact.id for item in old.entries} <= {item.fact.id for item in new.entries}
    if entry is None or added != {own} or not kept or facts.parse(_memory_at(repo, base)).find(own):
        return None
    run_git(repo, ["update-ref", full, commit])
    return Offered("kept", target.scope, "MEMORY.md", entry.fact.line, text, branch, target.base, commit)


def _memory_at(repo: Repository, commit: str) -> bytes:
    """The bytes of MEMORY.md in a commit, none where there is no such file."""
    oid = next((entry.oid for entry in repo.entries(commit, ["MEMORY.md"])), None)
    if not oid:
        return b""
    return repo.read(oid)


def _on_a_branch(target: Target, config: Config, line: NewLine, branch: str, now: datetime) -> Offered:
    """The line as a commit on a branch of its own, from what is there now; without a branch where it says so already.

    Whatever goes wrong, the branch is as it was.
    """
    repo, full = target.repo, f"refs/heads/{branch}"
    start = repo.resolve(f"refs/heads/{target.base}")
    with branch_worktree(repo, branch, start) as there:
        addition = writing.addition(there, config, replace(line, to="memory"), now=now)

        def plan(reading: Reading) -> CommitDraft[Added]:
            draft = addition(reading)
            message = trailers.message_of_line(draft.result.text, line.agent or config.agent)
            return CommitDraft(draft.contents, draft.result, message)

        added, commit = transaction.commit(there, plan)
        if commit:
            publish.through_the_gate(repo, CommitRange(start, commit, start), now.date())
    if not commit:
        run_git(repo, ["update-ref", "-d", full])
        return Offered("there already", target.scope, added.path, added.line, added.text, base=target.base)
    return Offered("kept", target.scope, added.path, added.line, added.text, branch, target.base, commit)


def _push_and_propose(target: Target, config: Config, done: Offered, access: PushAccess) -> Offered:
    """Push the branch and open its pull request, as far as that goes; what to type for the rest."""
    repo, full = target.repo, f"refs/heads/{done.branch}"
    at = shlex.quote(str(repo.root or repo.git_dir))
    try:
        url = publish.remote_url(repo, "origin")
    except GitMemError:
        return replace(done, then=f"git -C {at} merge {done.branch}    # for who keeps that memory")
    try:
        sent = _pushed(target, config, done, url, access)
    except GitFailed as error:
        if target.copy:
            name = f"{PROPOSAL_REFS}{done.branch}"
        else:
            name = full
        sent = replace(done, then=f"git -C {at} push origin {name}:{full}    # {error.message}")
    if target.copy:
        if sent.state == "kept":
            run_git(repo, ["update-ref", f"{PROPOSAL_REFS}{done.branch}", done.commit])
        run_git(repo, ["update-ref", "-d", full])
    return sent


def _pushed(target: Target, config: Config, done: Offered, url: str, access: PushAccess) -> Offered:
    """The offer, pushed to `url` and, where that is a forge with a token, proposed. Raises GitFailed."""
    repo = target.repo
    forge = forge_of(url, access.environ)
    if forge is None:
        publish.push(repo, "origin", done.branch, done.base)
        return replace(done, state="pushed", then=f"propose branch {done.branch} of {shown_url(url)}")
    layout = layout_of([entry.path for entry in repo.entries(done.commit)], config.memory_paths)
    proposal = publish.Proposal(done.branch, done.base)
    made = publish.publish(repo, forge, access.client_of(forge), proposal, layout=layout, today=access.now.date())
    state = "pushed"
    if made.pull:
        state = "proposed"
    return replace(done, state=state, pull=made.pull, then="" if made.pull else made.link)


def as_value(offered: Offered) -> dict[str, object]:
    """The JSON of docs/json.md, "git mem add --to organisation"."""
    value = json_object(offered, "state scope path line? text")
    value["masked"] = mask_counts(offered.masks)
    value |= json_object(offered, "branch? base commit? then?")
    return value | {"pull_request": json_value(offered.pull)}
