"""Days and moments as a person names them, for options and calls: `2026-02-05`, `yesterday`, `지난주`, `3 days ago`.

The whole text has to be the name of a time; words that merely hold one are refused. A revision, where one is taken too,
comes before a day.
"""

# A search imports this: annotations are not postponed, and nothing is compiled.
from datetime import date, datetime, time

from gitmem.errors import UnknownRevision, UsageError
from gitmem.git.protocol import Repository
from gitmem.memory.dates import Days, named_days

FORMS = "YYYY-MM-DD, yesterday, last week, 3 days ago, 어제, 지난주, 3일 전"


def first_day(text: str, now: datetime, option: str = "--since") -> date | None:
    """The first day of the time that `text` names as of `now`, None for no text. Raises UsageError, naming `option`."""
    return _named(text, now, option).first if text else None


def last_day(text: str, now: datetime, option: str = "--until") -> date | None:
    """The last day of it: `last week` ends on Sunday. Raises UsageError, naming `option`."""
    return _named(text, now, option).last if text else None


def _named(text: str, now: datetime, option: str) -> Days:
    days = named_days(text, now.date())
    if days is None:
        raise UsageError(f"{option} takes a day, not '{text[:40]}'", FORMS)
    return days


def resolve_at(repo: Repository, text: str, now: datetime) -> str:
    """The commit of `--at REV|DATE`. A revision wins; a date means the last commit of HEAD's first parents by then.

    DATE is YYYY-MM-DD[THH:MM[Z]] or words that name days, the end of the last of them where no time is given, in the
    zone of `now`. Raises UnknownRevision for any other text and where there was no commit yet.
    """
    try:
        return repo.resolve(text)
    except UnknownRevision as unknown:
        when = _moment(text, now)
        if when is None:
            hint = f"a revision (git log --oneline --all) or a time: {FORMS}, YYYY-MM-DDTHH:MM[Z]"
            raise UnknownRevision(unknown.message, hint) from None
    if (head := repo.head()) is None:
        raise UsageError("there is no commit yet")
    for commit in repo.log([head], first_parent=True):
        if commit.commit_date <= when:
            return commit.oid
    raise UnknownRevision(f"there is no commit at or before {text}", "git log --first-parent shows the dates")


def _moment(text: str, now: datetime) -> datetime | None:
    """The end of the days that `text` names, or the moment it gives; None for any other text."""
    days = named_days(text, now.date())
    if days is not None and days.last is not None:
        return datetime.combine(days.last, time.max, now.tzinfo)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return when if when.tzinfo is not None else when.replace(tzinfo=now.tzinfo)
