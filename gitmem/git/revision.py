"""Resolves what a person types: a revision or a date to a commit, a range to its commits and the settings for them.

It reads the repository and writes nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from gitmem.errors import GitMemError, UnknownRevision, UsageError
from gitmem.git.ranges import UNSHALLOW, shallow
from gitmem.git.repository import Repository
from gitmem.messages import Message
from gitmem.text.named_times import FORMS, end_of


class CommitRange(NamedTuple):
    """The commits that `tip` reaches and `base` does not (oids).

    `base`: only compared with; "" for all commits of `tip`. `judge`: the tip of the target branch, whose settings and
    exceptions apply to the commits; "" if unknown. It is not `base`, because a branch may have begun before the
    settings did.
    """

    base: str
    tip: str
    judge: str = ""


def towards(repo: Repository, target: str, tip: str) -> CommitRange:
    """The range from the merge base of `target` and `tip` (base "" if they have none) to `tip`, judged by `target`; all
    three are oids."""
    return CommitRange(repo.merge_base(target, tip) or "", tip, target)


def split_range(repo: Repository, typed: str, *, needs_base: bool = False) -> CommitRange:
    """The range that a person typed.

    `A..B` and `A...B` both start at the merge base, so that a line that only A has does not count as removed, or at A
    if there is no merge base; A judges. `A..` ends at HEAD. One revision, or "" (HEAD), has no base; with `needs_base`
    it raises UsageError. Raises UnknownRevision for a side that names no commit, and GitMemError for "" before the
    first commit.
    """
    dots = "..." if "..." in typed else ".."
    left_side, separator, right_side = typed.partition(dots)
    if needs_base and not separator:
        raise UsageError(Message("'{}' is no range", typed), "write BASE..HEAD, for example main..HEAD")
    if not separator and not typed and repo.head() is None:
        raise GitMemError("there is no commit here yet", "git commit")
    head = repo.resolve((right_side if separator else left_side) or "HEAD")
    if not separator:
        return CommitRange("", head)
    target = repo.resolve(left_side or "HEAD")
    commits = towards(repo, target, head)
    return commits if commits.base else commits._replace(base=target)


def resolve_at(repo: Repository, text: str, now: datetime) -> str:
    """The commit that `--at REV|DATE` means: that revision, or the last commit of HEAD's first parents up to the date.

    DATE is YYYY-MM-DD[THH:MM[Z]] or words that name days, in the time zone of `now`; without a time it means the end
    of the (last) day. Raises UnknownRevision for any other text, or if there was no commit by then; UsageError if there
    is no commit at all.
    """
    try:
        return repo.resolve(text)
    except UnknownRevision as unknown:
        moment = end_of(text, now)
        if moment is None and (text not in ("HEAD", "@") or repo.head() is not None):
            forms = Message("a revision (git log --oneline --all) or a time: {}", f"{FORMS}, YYYY-MM-DDTHH:MM[Z]")
            raise UnknownRevision(unknown.message, forms) from None
    if (head := repo.head()) is None:
        raise UsageError("there is no commit yet", "git add -A && git commit")
    assert moment is not None  # it is None only for HEAD before the first commit
    for commit in repo.log([head], first_parent=True):
        if commit.commit_date <= moment:
            return commit.oid
    hint = "git log --first-parent shows the dates"
    if shallow(repo):
        hint = f"this clone is shallow: {UNSHALLOW}"
    raise UnknownRevision(Message("there is no commit at or before {}", text), hint)
