"""Proposes a line for a shared memory (`git mem add --to organisation`) as a branch, and never writes to its base.

The memory is a local clone or our copy of a remote one. The line passes the gate and is committed to a new branch in a
separate work tree. Then the branch is pushed and, with a token, its pull request is opened. A branch that cannot be
pushed is kept, and the result says what to type.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, UsageError
from gitmem.gate.redaction import Mask, mask_counts, refuse_or_mask
from gitmem.git import transaction
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.opening import Repository, open_repository
from gitmem.git.other_memories import clean, fetch_mirror, is_url, mirror_of, shown_url
from gitmem.git.repository import file_at
from gitmem.git.revision import CommitRange
from gitmem.git.write import run_git
from gitmem.json_values import json_keys
from gitmem.memory import facts, writing
from gitmem.memory.fact import fact_id, normalise
from gitmem.paths import layout_of
from gitmem.provenance import trailers
from gitmem.review import publish
from gitmem.review.forges.forge import Client, Forge, ForgeError, Pull
from gitmem.review.forges.location import forge_of
from gitmem.search.keywords import slug
from gitmem.shell_word import shell_word

PROPOSAL_REFS = "refs/gitmem/proposals/"  # keeps branches in a copy, whose own branches mirror those of its origin


class OfferState(StrEnum):
    """What became of an offer."""

    WOULD_OFFER = "would offer"  # a dry run
    THERE_ALREADY = "there already"
    KEPT = "kept"  # the branch is only in the local clone, or in our copy of the remote memory
    PUSHED = "pushed"  # without a pull request
    PROPOSED = "proposed"  # as a pull request


@json_keys("state scope path line? text masked branch? base commit? then? pull_request=pull")
@dataclass(frozen=True, slots=True)
class LineOffer:
    """The result of `offer`.

    `scope`: organisation or user. `path`, `line`: where the line stands (1-based, 0 in a dry run). `branch`, `commit`:
    "" when there is none. `then`: what to type or open next, "" for nothing. `pull`: the pull request, None if none was
    opened. `masks`: what the gate masked in the line.

    JSON: `state`: `would offer`; `there already`; `kept` (nothing could be pushed, and `then` is what to type);
    `pushed` (`then` is the link that opens the pull request, with the reason when the forge refused to open it);
    `proposed` (`pull_request` is set). `path`: the file of that memory. `line`, `branch`, `commit`: null
    if there is none. `masked`: how many places the gate masked, by rule. `pull_request`: null if none was opened.
    """

    state: OfferState
    scope: str
    path: str
    line: int
    text: str
    branch: str = ""
    base: str = ""
    commit: str = ""
    then: str = ""
    pull: Pull | None = None
    masks: tuple[Mask, ...] = ()

    @property
    def masked(self) -> dict[str, int]:
        """Rule -> number of masked values."""
        return mask_counts(self.masks)


@dataclass(frozen=True, slots=True)
class Target:
    """The memory that gets the line. `base`: the branch to propose for. `copy`: the repository is our copy of a remote
    memory, whose branches mirror those of its origin."""

    repo: Repository
    scope: str
    base: str
    copy: bool


@dataclass(frozen=True, slots=True)
class PushAccess:
    """What a push needs: the time, the environment, and a function that returns the client of a forge, None without a
    token."""

    now: datetime
    environ: Mapping[str, str]
    client_of: Callable[[Forge], Client | None]


def offer(
    config: Config, scope: str, line: writing.NewLine, access: PushAccess, *, cache: Path, dry_run: bool = False
) -> LineOffer:
    """Propose a line for the memory of `scope`, organisation or user. The same line gets the same branch again.

    `cache`: the folder of copies of remote memories. `dry_run`: only check the line, and commit nothing. Raises
    UsageError when the scope is unknown, that memory is not configured or the line is empty, Refused when the gate
    blocks the line (nothing is kept then), GitFailed when the memory cannot be fetched and no copy of it exists,
    GitMemError when the memory is no repository or has no commit. A push that fails and a pull request that the forge
    refuses raise nothing: the result says what to type or open.
    """
    settings = {
        "organisation": ("mem.organisation", config.organisation),
        "user": ("mem.personal", config.personal),
    }
    if scope not in settings:
        raise UsageError(f"there is no memory '{scope}' to offer a line to", f"the choices are {', '.join(settings)}")
    key, address = settings[scope]
    if not address:
        raise UsageError(f"no {scope} memory is configured", f"git config --global {key} URL")
    gated = refuse_or_mask(normalise(line.text), "MEMORY.md", config)
    text = gated.text
    if not text:
        raise UsageError("there is nothing to add", f'git mem add --to {scope} "what holds for all"')
    place, _, ref = address.partition("#")
    is_copy = is_url(place)
    folder = Path(os.path.expanduser(place))
    if is_copy:
        folder = mirror_of(place, cache)
        fetch_mirror(place, folder, clean(access.environ), access.now, 0)
    repo = open_repository(folder, clean(access.environ))
    try:
        target = Target(repo, scope, _base(repo, ref), copy=is_copy)
        branch = f"memory/{slug([text])}-{fact_id(text)[:6]}"
        if dry_run:
            return LineOffer(
                OfferState.WOULD_OFFER, scope, "MEMORY.md", 0, text, branch, target.base, masks=gated.masks
            )
        offered = _earlier_offer(target, branch, text)
        if offered is None:
            offered = _commit_line(target, config, line, branch, access.now)
        else:
            run_git(repo, ["update-ref", f"refs/heads/{branch}", offered.commit])
        if offered.branch:
            offered = _push_and_propose(target, config, offered, access)
            _settle_refs(target, offered)
        return replace(offered, masks=gated.masks)
    finally:
        repo.close()


def _base(repo: Repository, ref: str) -> str:
    """The branch to propose for: the branch `ref` that the setting names, or the current one if there is no such
    branch. Raises GitMemError when the repository has no commit on it."""
    names = {name.removeprefix("refs/heads/") for name, _ in repo.refs("refs/heads/")}
    base = ref
    if ref not in names:
        base = repo.branch() or ""
    if base not in names:
        raise GitMemError("that memory has no commit to propose to", "its first commit is made by who keeps it")
    return base


def _earlier_offer(target: Target, branch: str, text: str) -> LineOffer | None:
    """The offer of the same line from an earlier call, when its commit still adds only that fact. Writes nothing.

    None when neither the branch nor a kept proposal exists, when its commit changes anything else, or when the base has
    the fact already.
    """
    repo = target.repo
    refs = dict(repo.refs())
    commit = refs.get(f"refs/heads/{branch}") or refs.get(f"{PROPOSAL_REFS}{branch}")
    base = repo.resolve(f"refs/heads/{target.base}")
    if commit is None:
        return None
    start = repo.merge_base(base, commit)
    if start is None or {change.path for change in repo.changes(start, commit)} != {"MEMORY.md"}:
        return None
    ident = fact_id(text)
    old, new, current = (facts.parse(file_at(repo, oid, "MEMORY.md") or b"") for oid in (start, commit, base))
    entry = new.find(ident)
    if entry is None or not _adds_only_the_fact(old, new, ident) or current.find(ident):
        return None
    return LineOffer(OfferState.KEPT, target.scope, "MEMORY.md", entry.fact.line, text, branch, target.base, commit)


def _adds_only_the_fact(old: facts.Memory, new: facts.Memory, ident: str) -> bool:
    """Whether `new` has the facts of `old` and the fact `ident`, and no other."""
    old_ids, new_ids = ({entry.fact.id for entry in memory.entries} for memory in (old, new))
    return new_ids - old_ids == {ident} and old_ids <= new_ids


def _commit_line(target: Target, config: Config, line: writing.NewLine, branch: str, now: datetime) -> LineOffer:
    """Commit the line to `branch`, started at the base. When the memory has the line already, no branch is kept.

    After an error the branch is as it was before.
    """
    repo, full = target.repo, f"refs/heads/{branch}"
    start = repo.resolve(f"refs/heads/{target.base}")
    with branch_worktree(repo, branch, start) as worktree:
        addition = writing.plan_of_addition(worktree, config, replace(line, to="memory"), now=now)

        def plan(reading: transaction.Reading) -> transaction.CommitDraft[writing.Added]:
            draft = addition(reading)
            message = trailers.message_of_line(draft.result.text, line.agent or config.agent)
            return transaction.CommitDraft(draft.contents, draft.result, message)

        added, commit = transaction.commit(worktree, plan)
        if commit:
            publish.ensure_gate_passes(repo, CommitRange(start, commit, start), now.date())
    if not commit:
        run_git(repo, ["update-ref", "-d", full])
        return LineOffer(OfferState.THERE_ALREADY, target.scope, added.path, added.line, added.text, base=target.base)
    return LineOffer(OfferState.KEPT, target.scope, added.path, added.line, added.text, branch, target.base, commit)


def _push_and_propose(target: Target, config: Config, offered: LineOffer, access: PushAccess) -> LineOffer:
    """Push the branch of an offer and open its pull request. When the branch cannot be pushed, there is no token for
    the pull request, or the forge refuses it, `then` says what to type or open. Raises as `_push_and_open`, except
    GitFailed."""
    repo = target.repo
    folder = shell_word(str(repo.root or repo.git_dir))
    try:
        url = publish.remote_url(repo, "origin")
    except GitMemError:
        return replace(offered, then=f"git -C {folder} merge {offered.branch}    # for who keeps that memory")
    try:
        return _push_and_open(target, config, offered, url, access)
    except GitFailed as error:
        refs = f"{_kept_ref(target, offered.branch)}:refs/heads/{offered.branch}"
        return replace(offered, then=f"git -C {folder} push origin {refs}    # {error.message}")


def _push_and_open(target: Target, config: Config, offered: LineOffer, url: str, access: PushAccess) -> LineOffer:
    """Push the branch of an offer to `url` and, at a forge with a token, open its pull request. When the forge refuses
    the pull request, the branch is pushed all the same, and `then` is the link that opens one by hand, with the reason.
    Raises GitFailed when the push fails, and as `publish.publish`, except ForgeError."""
    repo = target.repo
    forge = forge_of(url, access.environ)
    if forge is None:
        publish.push(repo, "origin", offered.branch, offered.base)
        then = f"propose branch {offered.branch} of {shown_url(url)}"
        return replace(offered, state=OfferState.PUSHED, then=then)
    layout = layout_of([entry.path for entry in repo.entries(offered.commit)], config.memory_paths)
    proposal = publish.Proposal(offered.branch, offered.base)
    client = access.client_of(forge)
    try:
        published = publish.publish(repo, forge, client, proposal, layout=layout, today=access.now.date())
    except ForgeError as error:  # only the pull request failed: `publish` pushes the branch first
        link = forge.compare(offered.base, offered.branch)
        return replace(offered, state=OfferState.PUSHED, then=f"{link}    # {error.message}")
    if published.pull:
        return replace(offered, state=OfferState.PROPOSED, pull=published.pull, then="")
    return replace(offered, state=OfferState.PUSHED, then=published.link)


def _kept_ref(target: Target, branch: str) -> str:
    """The ref that keeps a branch which could not be pushed."""
    if target.copy:
        return f"{PROPOSAL_REFS}{branch}"
    return f"refs/heads/{branch}"


def _settle_refs(target: Target, offered: LineOffer) -> None:
    """Move or delete the branch of an offer in a copy of a remote memory. In a local clone the branch stays.

    The refs of a copy, by the state of the offer:

    | state | `refs/heads/BRANCH` | PROPOSAL_REFS + BRANCH |
    |---|---|---|
    | before the push | the offered commit | the commit that an earlier call kept, if any |
    | KEPT | deleted, since the next fetch would delete it | the offered commit |
    | PUSHED, PROPOSED | deleted; the next fetch brings the branch of the origin | as before |
    """
    if not target.copy:
        return
    if offered.state is OfferState.KEPT:
        run_git(target.repo, ["update-ref", _kept_ref(target, offered.branch), offered.commit])
    run_git(target.repo, ["update-ref", "-d", f"refs/heads/{offered.branch}"])
