"""Which commit `--at REV|DATE` means. Pure but for what it asks of Git."""

from __future__ import annotations

from datetime import datetime

from gitmem.errors import UnknownRevision, UsageError
from gitmem.git.protocol import Repository


def resolve_at(repo: Repository, text: str, now: datetime) -> str:
    """The commit of `--at REV|DATE`. A revision wins; a date means the last commit of HEAD's first parents by then.

    DATE is YYYY-MM-DD[THH:MM[Z]], the end of that day where no time is given, in the local zone.
    """
    try:
        return repo.resolve(text)
    except UnknownRevision as unknown:
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            hint = "a revision (git log --oneline --all) or a day as YYYY-MM-DD[THH:MM[Z]]"
            raise UnknownRevision(unknown.message, hint) from None
    if len(text) <= 10:
        when = when.replace(hour=23, minute=59, second=59, microsecond=999999)
    if when.tzinfo is None:
        when = when.replace(tzinfo=now.tzinfo)
    if (head := repo.head()) is None:
        raise UsageError("there is no commit yet")
    for commit in repo.log([head], first_parent=True):
        if commit.commit_date <= when:
            return commit.oid
    raise UnknownRevision(f"there is no commit at or before {text}", "git log --first-parent shows the dates")
