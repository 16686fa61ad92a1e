"""Who made a commit: a person, or an agent or bot; and which reviews in its message count. Reads only.

A message is a claim. That an agent wrote it is believed from any line, since nobody gains by saying so; that a person
reviewed it is believed only where a person made the commit (docs/threats.md, A49). Git does not prove who an author is:
signatures do (`signatures`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice

from gitmem.agent_paths import AUTHORS
from gitmem.git.objects import Commit, Person
from gitmem.git.repository import Repository
from gitmem.lazy_patterns import lazy
from gitmem.provenance import trailers

# Trailers in which a host, or the rules of the kernel and other projects, name who else made a commit.
OTHER_AUTHORS = (
    "co-authored-by", "co-authored-with", "co-developed-by", "assisted-by", "assisted-with", "generated-by",
    "generated-with", "created-by", "written-by", "on-behalf-of",
)  # fmt: skip
# Names that only such a line, and no author, gives to an agent: people are called Claude too.
MODELS = (
    "claude*", "gemini*", "gpt*", "chatgpt*", "openai*", "anthropic*", "llama*", "deepseek*", "grok*", "mistral*",
    "devin*", "qwen*", "codex*", "@openai", "@anthropic", "ai", "an ai*",
)  # fmt: skip
BOTS = ("github-actions", "dependabot", "renovate", "renovate bot", "gitlab-bot")  # accounts that leave `[bot]` out
_ADDRESSES = tuple(known for known in AUTHORS if "@" in known)
_NAMES = tuple(known for known in (*AUTHORS, *BOTS) if "@" not in known)
MERGES = 8  # reviewed merges above a commit that are asked whether they brought it in
MAX_NAMED = 50  # such lines of a message that are looked at, and people of one
_NAME = lazy(r"\s*(?P<name>[^<]*?)\s*(?:<(?P<email>[^>]*)>.*)?")
_PERSON = lazy(r"(?P<name>[^<>]*)<(?P<email>[^<>]*)>|(?P<bare>[^<>]+)")
_NICKNAME = lazy(r"[(\[]\s*([^()\[\]]+?)\s*[)\]]")  # `Alice (codex)`, as aider signs
_BOT = lazy(r"\[\s*bot\s*\]")
_AUTHOR_LINE = lazy(  # a folded value too
    r"^[^\S\n]*(?:[*-][^\S\n]+)?(?P<key>[A-Za-z]+(?:-[A-Za-z]+)+)[^\S\n]*:"
    r"(?P<value>[^\n]*(?:\n[^\S\n]+\S[^\n]*)*)",
    re.MULTILINE,
)
# "Generated with [Claude Code](...)", a line that hosts write below a message.
_GENERATED = lazy(
    r"^[^\w\n]*(?:generated|created|written|made|authored)[^\S\n]+(?:with|by|using)[^\S\n]+"
    r"\[?(?P<name>[^\]\n(<.,]{1,60})",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=4096)  # asked for each fact, of few commits
def agent_of_commit(commit: Commit) -> str:
    """The name of the agent or bot that made the commit, "" for a person.

    `Memory-Agent` names it; else an author, a committer or one of OTHER_AUTHORS is a bot or one that a host signs with,
    or the message has a host's line that says what it was generated with.
    """
    message = plain(commit.message)
    by = trailers.values(trailers.memory_trailers(message), trailers.AGENT)
    if by:
        return by[0] or "agent"
    found = next((one for one in (commit.author, commit.committer) if is_agent(one)), None)
    found = found or next(islice(_other_agents(message), 1), None)
    if not found:
        return ""
    return found.name or found.email


def plain(text: str) -> str:
    """A text as a reader sees it: Unicode's compatibility forms are letters and signs, every dash is `-`, and what
    cannot be seen is left out. A look-alike is no other name."""
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    seen = ((unicodedata.category(c), c) for c in folded)
    return "".join("-" if kind == "Pd" else c for kind, c in seen if kind != "Cf")


def _other_agents(message: str) -> Iterator[Person]:
    """The agents that a message names as makers of its commit: each of several in a line, folded lines too."""
    lines = (line for line in _AUTHOR_LINE.finditer(message) if line["key"].lower() in OTHER_AUTHORS)
    for line in islice(lines, MAX_NAMED):
        modelled = not line["key"].lower().startswith("co-")
        for one in islice(_PERSON.finditer(line["value"]), MAX_NAMED):
            bare = one["bare"] or ""
            for name in (one["name"] or bare, *bare.split(":"), *bare.split(",")):  # the kernel's form is `AGENT:MODEL`
                maker = Person(name.strip(" \t\n,;"), one["email"] or "")
                if is_agent(maker) or (modelled and _like(maker.name, MODELS)):
                    yield maker
    for line in _GENERATED.finditer(message.partition("\n")[2]):
        maker = Person(line["name"].strip(), "")
        if is_agent(maker) or _like(maker.name, MODELS):
            yield maker


def by_machine(commit: Commit) -> bool:
    """Whether an agent or a bot made the commit. Anything else is a person's."""
    return bool(agent_of_commit(commit))


def _like(name: str, forms: Iterable[str]) -> bool:
    folded = " ".join(name.casefold().split())
    return any(fnmatchcase(folded, form) for form in forms)


@lru_cache(maxsize=4096)
def is_agent(one: Person) -> bool:
    """Whether a name or an e-mail is a bot's, or one under which an agent of a known host commits."""
    name, email = " ".join(plain(one.name).casefold().split()), plain(one.email).casefold().strip()
    if _BOT.search(name) or _BOT.search(email):
        return True
    names = {name, *_NICKNAME.findall(name)}
    return any(fnmatchcase(email, known) for known in _ADDRESSES) or any(_like(each, _NAMES) for each in names)


def named(one: Person) -> str:
    """`Name <e-mail>` as it may be told, to a model too (`gate/withholding.screened`)."""
    from gitmem.gate.withholding import screened  # loads every detector

    return screened(f"{one.name} <{one.email}>")


def person(text: str) -> Person:
    """`Name <e-mail>` as a value."""
    match = _NAME.fullmatch(text)
    if match:
        return Person(match["name"], match["email"] or "")
    return Person(text, "")


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
