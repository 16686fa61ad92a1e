"""Which commit a revision or a date means, which commits a range, and whose settings judge them. Pure but for what it
asks of Git."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from gitmem.errors import GitMemError, UnknownRevision, UsageError
from gitmem.git.repository import Repository
from gitmem.messages import Message
from gitmem.text.named_times import FORMS, moment


class CommitRange(NamedTuple):
    """What a change brings: the commits that `tip` has and `base` has not (oids; `base` "" for all of `tip`'s).

    `judge` is the tip of the branch that takes them, whose settings and exceptions they are held to, "" where nobody
    knows one. `base` is only what they are compared with: a branch may have begun before the settings did.
    """

    base: str
    tip: str
    judge: str = ""


def towards(repo: Repository, target: str, tip: str) -> CommitRange:
    """What `tip` brings to the branch whose tip is `target` (oids), from where the two parted."""
    return CommitRange(repo.merge_base(target, tip) or "", tip, target)


def split_range(repo: Repository, typed: str, *, both: bool = False) -> CommitRange:
    """The range that a person typed. `A..B` and `A...B` both start at the merge base, so that what B never had is not
    counted as removed, and A judges; `A..` ends at HEAD. One revision, or nothing (HEAD), has no base unless `both`
    asks for two.
    """
    dots = ".."
    if "..." in typed:
        dots = "..."
    left, separator, right = typed.partition(dots)
    if both and not separator:
        raise UsageError(Message("'{}' is no range", typed), "write BASE..HEAD, for example main..HEAD")
    if not separator and not typed and repo.head() is None:
        raise GitMemError("there is no commit here yet", "git commit")
    head = repo.resolve((right if separator else left) or "HEAD")
    if not separator:
        return CommitRange("", head)
    target = repo.resolve(left or "HEAD")
    found = towards(repo, target, head)
    if found.base:
        return found
    return found._replace(base=target)


def resolve_at(repo: Repository, text: str, now: datetime) -> str:
    """The commit of `--at REV|DATE`. A revision wins; a date means the last commit of HEAD's first parents by then.

    DATE is YYYY-MM-DD[THH:MM[Z]] or words that name days, the end of the last of them where no time is given, in the
    zone of `now`. Raises UnknownRevision for any other text and where there was no commit yet.
    """
    try:
        return repo.resolve(text)
    except UnknownRevision as unknown:
        when = moment(text, now)
        if when is None and (text not in ("HEAD", "@") or repo.head() is not None):
            hint = Message("a revision (git log --oneline --all) or a time: {}", f"{FORMS}, YYYY-MM-DDTHH:MM[Z]")
            raise UnknownRevision(unknown.message, hint) from None
    if (head := repo.head()) is None:
        raise UsageError("there is no commit yet", "git add -A && git commit")
    assert when is not None  # HEAD names no commit only where there is none
    for commit in repo.log([head], first_parent=True):
        if commit.commit_date <= when:
            return commit.oid
    raise UnknownRevision(Message("there is no commit at or before {}", text), "git log --first-parent shows the dates")
