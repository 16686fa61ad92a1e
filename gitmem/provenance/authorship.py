"""Who made a commit: a person, or an agent or bot; and which reviews in its message count. Reads only.

A message is a claim. That an agent wrote it is believed from any line, since nobody gains by saying so; that a person
reviewed it is believed only where a person made the commit (docs/threats.md, A49). Git does not prove who an author is:
signatures do (`signatures`).
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import islice

from gitmem.agent_paths import AUTHORS
from gitmem.git.objects import Commit, Person
from gitmem.git.repository import Repository
from gitmem.lazy_patterns import lazy
from gitmem.provenance import trailers

CO_AUTHOR = "Co-authored-by"
MERGES = 8  # reviewed merges above a commit that are asked whether they brought it in
_NAME = lazy(r"\s*(?P<name>[^<]*?)\s*(?:<(?P<email>[^>]*)>.*)?")


def agent_of_commit(commit: Commit) -> str:
    """The name of the agent or bot that made the commit, "" for a person.

    `Memory-Agent` names it; else an author, a committer or a `Co-authored-by` is a bot or one that a host signs with.
    """
    by = trailers.values(trailers.memory_trailers(commit.message), trailers.AGENT)
    if by:
        return by[0] or "agent"
    others = trailers.values(trailers.parse_lenient(commit.message), CO_AUTHOR)
    people = (commit.author, commit.committer, *map(person, others))
    return next((one.name or one.email for one in people if is_agent(one)), "")


def by_machine(commit: Commit) -> bool:
    """Whether an agent or a bot made the commit. Anything else is a person's."""
    return bool(agent_of_commit(commit))


def is_agent(one: Person) -> bool:
    """Whether a name or an e-mail is a bot's, or one under which an agent of a known host commits."""
    name, email = " ".join(one.name.casefold().split()), one.email.casefold()
    if "[bot]" in name or "[bot]" in email:
        return True
    return any(fnmatchcase(email if "@" in known else name, known) for known in AUTHORS)


def named(one: Person) -> str:
    """`Name <e-mail>` as it may be told, to a model too (`gate/withholding.screened`)."""
    from gitmem.gate.withholding import screened  # loads every detector

    return screened(f"{one.name} <{one.email}>")


def person(text: str) -> Person:
    """`Name <e-mail>` as a value."""
    match = _NAME.fullmatch(text)
    return Person(match["name"], match["email"] or "") if match else Person(text, "")


def reviewers(commit: Commit) -> list[str]:
    """The `Reviewed-by` trailers that count, in order: those of a commit that a person made, which Git itself reads as
    trailers, and which name no agent. A line of prose or of a joined message is nobody's review."""
    if by_machine(commit):
        return []
    values = trailers.values(trailers.parse(commit.message), trailers.REVIEWED)
    return [value for value in dict.fromkeys(values) if value and not is_agent(person(value))]


def reviewed_merge(repo: Repository, at: str, commit: Commit) -> Commit | None:
    """The reviewed merge that brought a commit in, where a forge's pull request says so; None where none did."""
    if at == commit.oid:
        return None
    merges = repo.log([at, f"^{commit.oid}"], grep=[trailers.REVIEWED], merges=True, reverse=True)
    above = (merge for merge in merges if merge.commit_date >= commit.commit_date)
    for merge in islice(above, MERGES):
        brought = any(repo.is_ancestor(commit.oid, parent) for parent in merge.parents[1:])
        if brought and not repo.is_ancestor(commit.oid, merge.parents[0]) and reviewers(merge):
            return merge
    return None
