"""Decides whether a person, an agent or a bot made a commit, and which of its `Reviewed-by` trailers count.

The message of a commit proves nothing. Any line that names an agent is believed, because nobody gains by a false one.
A `Reviewed-by` is believed only in a commit that a person made (docs/threats.md, A49). Git does not prove who the
author is; signatures do (`signatures`).
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

# Keys of trailers that name further authors, as hosts and projects such as the kernel write them.
OTHER_AUTHORS = (
    "co-authored-by", "co-authored-with", "co-developed-by", "assisted-by", "assisted-with", "generated-by",
    "generated-with", "created-by", "written-by", "on-behalf-of",
)  # fmt: skip
# Name patterns that mean an agent in such a trailer, but not in the author field: people are called Claude too.
MODELS = (
    "claude*", "gemini*", "gpt*", "chatgpt*", "openai*", "anthropic*", "llama*", "deepseek*", "grok*", "mistral*",
    "devin*", "qwen*", "codex*", "@openai", "@anthropic", "ai", "an ai*",
)  # fmt: skip
BOTS = ("github-actions", "dependabot", "renovate", "renovate bot", "gitlab-bot")  # bot accounts without `[bot]`
_ADDRESSES = tuple(known for known in AUTHORS if "@" in known)
_NAMES = tuple(known for known in (*AUTHORS, *BOTS) if "@" not in known)
SUBJECTS = ("memory: promote ", "memory: consolidate ")  # beginnings of subjects of commits in which a model decides
MAX_MERGES = 8  # reviewed merges above a commit that `reviewed_merge` looks at
MAX_NAMED = 50  # trailers of OTHER_AUTHORS that are read of a message, and people that are read of one trailer
_NAME = lazy(r"\s*(?P<name>[^<]*?)\s*(?:<(?P<email>[^>]*)>.*)?")
_PERSON = lazy(r"(?P<name>[^<>]*)<(?P<email>[^<>]*)>|(?P<bare>[^<>]+)")
_NICKNAME = lazy(r"[(\[]\s*([^()\[\]]+?)\s*[)\]]")  # `Alice (codex)`: aider writes such author names
_BOT = lazy(r"\[\s*bot\s*\]")
_AUTHOR_LINE = lazy(  # the value may be folded over several lines
    r"^[^\S\n]*(?:[*-][^\S\n]+)?(?P<key>[A-Za-z]+(?:-[A-Za-z]+)+)[^\S\n]*:"
    r"(?P<value>[^\n]*(?:\n[^\S\n]+\S[^\n]*)*)",
    re.MULTILINE,
)
# "Generated with [Claude Code](...)": a line that agent hosts write below a message.
_GENERATED = lazy(
    r"^[^\w\n]*(?:generated|created|written|made|authored)[^\S\n]+(?:with|by|using)[^\S\n]+"
    r"\[?(?P<name>[^\]\n(<.,]{1,60})",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=4096)  # callers ask for every fact, and many facts share a commit
def agent_of_commit(commit: Commit) -> str:
    """The name of the agent or bot that made the commit, or the e-mail of one without a name; "" when a person made it.

    The name comes from the first of these that has one: the `Memory-Agent` trailer ("agent" if it is empty), the
    author, the committer, a trailer of OTHER_AUTHORS, a line such as "Generated with Claude Code".
    """
    message = normalised_name(commit.message)
    names = trailers.values(trailers.memory_trailers(message), trailers.AGENT)
    if names:
        return names[0] or "agent"
    agent = next((person for person in (commit.author, commit.committer) if is_agent(person)), None)
    agent = agent or next(_other_agents(message), None)
    if not agent:
        return ""
    return agent.name or agent.email


def normalised_name(text: str) -> str:
    """`text` as a reader sees it: NFKC-normalised, every dash as `-`, without invisible characters. A look-alike of a
    name is the same name."""
    if text.isascii():
        return text
    chars = ((unicodedata.category(c), c) for c in unicodedata.normalize("NFKC", text))
    return "".join("-" if category == "Pd" else c for category, c in chars if category != "Cf")


def _other_agents(message: str) -> Iterator[Person]:
    """The agents that trailers of OTHER_AUTHORS and lines like "Generated with ..." name."""
    lines = (line for line in _AUTHOR_LINE.finditer(message) if line["key"].lower() in OTHER_AUTHORS)
    for line in islice(lines, MAX_NAMED):
        may_be_model = not line["key"].lower().startswith("co-")
        for person in islice(_PERSON.finditer(line["value"]), MAX_NAMED):
            bare = person["bare"] or ""
            names = (person["name"] or bare, *bare.split(":"), *bare.split(","))  # the kernel's form is `AGENT:MODEL`
            for name in names:
                agent = Person(name.strip(" \t\n,;"), person["email"] or "")
                if is_agent(agent) or (may_be_model and _matches(agent.name, MODELS)):
                    yield agent
    for line in _GENERATED.finditer(message.partition("\n")[2]):
        agent = Person(line["name"].strip(), "")
        if is_agent(agent) or _matches(agent.name, MODELS):
            yield agent


def by_machine(commit: Commit) -> bool:
    """Whether an agent or a bot made the commit."""
    return bool(agent_of_commit(commit))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name, without regard to case, matches one of the glob patterns."""
    folded = " ".join(name.casefold().split())
    return any(fnmatchcase(folded, pattern) for pattern in patterns)


@lru_cache(maxsize=4096)
def is_agent(person: Person) -> bool:
    """Whether the name or the e-mail belongs to a bot, or to an agent of a known host (`AUTHORS`)."""
    name, email = (
        " ".join(normalised_name(person.name).casefold().split()),
        normalised_name(person.email).casefold().strip(),
    )
    if _BOT.search(name) or _BOT.search(email) or _matches(email, _ADDRESSES):
        return True
    return any(_matches(each, _NAMES) for each in (name, *_NICKNAME.findall(name)))


def shown_name(person: Person) -> str:
    """`Name <e-mail>` in the form in which people and models may see it; a placeholder when it holds a secret or reads
    as an instruction."""
    from gitmem.gate.withholding import name_for_model  # loads every detector

    return name_for_model(f"{person.name} <{person.email}>")


def actor(commit: Commit) -> str:
    """Who made the changes of a commit that keep every text: a promotion or consolidation, as its `Memory-Model` names
    it, an agent, or the author (`shown_name`). The author is named beside a model or an agent, too.

    A model counts only in a commit of git mem, with its subject and in the trailers that Git sees: a squash joins the
    trailers of several commits.
    """
    from gitmem.gate.withholding import name_for_model  # loads every detector

    author = shown_name(commit.author)
    program = ""
    if commit.message.startswith(SUBJECTS):
        program = next(iter(trailers.values(trailers.parse(commit.message), trailers.MODEL)), "")
    doer = program or agent_of_commit(commit)
    if not doer or doer == commit.author.name:
        return author
    return f"{name_for_model(doer)} in a commit of {author}"


def _parse_person(text: str) -> Person:
    """The Person that `Name <e-mail>` spells; its e-mail is "" when there is none."""
    match = _NAME.fullmatch(text)
    if match:
        return Person(match["name"], match["email"] or "")
    return Person(text, "")


def reviewers(commit: Commit) -> list[str]:
    """The `Reviewed-by` values that count, in order, without repeats.

    Only trailers that Git itself parses count, and only in a commit that a person made. Values that name an agent are
    left out. A `Reviewed-by` line elsewhere in the message does not count.
    """
    if by_machine(commit):
        return []
    values = trailers.values(trailers.parse(commit.message), trailers.REVIEWED)
    return [value for value in dict.fromkeys(values) if value and not is_agent(_parse_person(value))]


def reviewed_merge(repo: Repository, head: str, commit: Commit) -> Commit | None:
    """The merge that brought `commit` into the history of `head` and has a `Reviewed-by` that counts, as a forge writes
    it for a pull request. None when there is none among the oldest MAX_MERGES merges with a `Reviewed-by` above
    `commit`."""
    if head == commit.oid:
        return None
    merges = repo.log([head, f"^{commit.oid}"], grep=[trailers.REVIEWED], merges=True, reverse=True)
    later = (merge for merge in merges if merge.commit_date >= commit.commit_date)
    for merge in islice(later, MAX_MERGES):
        in_branch = any(repo.is_ancestor(commit.oid, parent) for parent in merge.parents[1:])
        if in_branch and not repo.is_ancestor(commit.oid, merge.parents[0]) and reviewers(merge):
            return merge
    return None
