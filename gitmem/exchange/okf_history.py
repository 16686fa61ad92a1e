"""Finds who wrote and who confirmed each file and each fact of a bundle of the Open Knowledge Format, in the history of
a commit."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cached_property
from itertools import islice

from gitmem.config import Config
from gitmem.daily_logs import agent_of
from gitmem.exchange import okf
from gitmem.gate.withholding import name_for_model
from gitmem.git.objects import Commit, Span
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, text_hash
from gitmem.provenance.archived_facts import FactVersion, judged_version
from gitmem.provenance.authorship import agent_of_commit, reviewed_merge, reviewers
from gitmem.provenance.checks import Checks
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.grounding import Support
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.writers import Writer, writers

COMMITS_PER_CALL = 500  # commits whose changed paths are read at once
CHECK = "process:git-mem-verify"  # the actor that confirms a fact by its cited lines (docs/provenance.md, "Check")


class History:
    """Finds author, time and confirmations of files and facts in the history of a commit; each part of the history is
    read once, when it is needed."""

    def __init__(self, repo: Repository, commit: str, config: Config) -> None:
        self._repo, self._tip, self._globs = repo, commit, config.memory_paths
        self._blames: dict[str, list[str]] = {}
        self._merges: dict[str, Commit | None] = {}

    @cached_property
    def _checks(self) -> Checks:
        return Checks(self._repo, self._tip, read_ledger(self._repo, [self._tip]), self._globs)

    @cached_property
    def _newest(self) -> dict[str, str]:
        """Path -> the newest commit that changed it."""
        newest: dict[str, str] = {}
        walk = self._repo.reaches(self._tip)
        while oids := list(islice(walk, COMMITS_PER_CALL)):
            touched = self._repo.touched(oids)
            for oid in oids:
                for path in touched.get(oid, ()):
                    newest.setdefault(path, oid)
        return newest

    def last_change(self, path: str) -> tuple[str, datetime | None]:
        """(actor, time) of the last change of a file, in OKF's form of actors; ("", None) if unknown."""
        oid = self._newest.get(path)
        if oid is None:
            return "", None
        commit = self._repo.commit(oid)
        return actor(commit, agent_of(path)), commit.author_date

    def of_fact(self, path: str, fact: Fact) -> tuple[okf.Origin, list[Span]]:
        """(the origin of a fact, without its sources; its cited lines). The author is the one that `git mem why` names.
        A review by a person confirms the fact, and so does `git mem verify` if its source says it and no check
        fails."""
        oids = dict.fromkeys(self._blamed(path)[fact.line - 1 : fact.end])
        commits = [self._repo.commit(oid) for oid in oids]
        version = judged_version(self._checks, FactVersion(self._repo, path, fact, lambda: commits))
        attribution = self._checks.attributor.attribution(version.path, version.fact, version.line_commit)
        problems = [
            *self._checks.problems(version.fact, attribution),
            *self._checks.policy_problems(version.path, version.fact, attribution, version.line_commit),
        ]
        writer = self._writers.get(fact.id)
        commit = writer.commit if writer else version.line_commit()
        record = next((candidate for candidate in attribution.records if candidate.commit.oid == commit.oid), None)
        author = actor(commit)
        if record and (model := record.model(text_hash(fact.text))):
            author = f"git-mem/{_model(model)}"
        verified = self._reviews(commit)
        if attribution.support is Support.IN_SOURCE and not problems:
            verified.append((CHECK, self._repo.commit(self._tip).commit_date))
        spans = dict.fromkeys(Span(source.path, source.start_line, source.end_line) for source in attribution.sources)
        return okf.Origin(author, commit.author_date, tuple(verified)), list(spans)

    def _blamed(self, path: str) -> list[str]:
        """The commit of each line of a file, cached."""
        if path not in self._blames:
            lines = memory_facts.split_lines(self._repo.read(self._repo.blobs(self._tip, [path])[path]))
            self._blames[path] = [row.commit for row in self._repo.blame(path, 1, len(lines), self._tip)]
        return self._blames[path]

    @cached_property
    def _writers(self) -> dict[str, Writer]:
        return writers(self._repo, self._tip, [fact for _, _, fact in facts_at(self._repo, self._tip)])

    def _reviews(self, commit: Commit) -> list[tuple[str, datetime]]:
        """(reviewer, time) of a commit and of the merge that brought it in."""
        if commit.oid not in self._merges:
            self._merges[commit.oid] = reviewed_merge(self._repo, self._tip, commit)
        events: dict[str, datetime] = {}
        for reviewed in filter(None, (commit, self._merges[commit.oid])):
            for name in reviewers(reviewed):
                events.setdefault(f"human:{_actor_name(name_for_model(name.partition('<')[0]))}", reviewed.commit_date)
        return list(events.items())


def actor(commit: Commit, agent: str = "") -> str:
    """The author of a commit in OKF's form of actors, without an e-mail address: `NAME/unknown` for an agent,
    `process:NAME` for a bot, `human:NAME` for a person. `agent`: the agent's name if it is known otherwise, "" to ask
    the commit."""
    agent = agent or agent_of_commit(commit)
    if "[bot]" in agent.casefold():
        return f"process:{_actor_name(agent)}"
    if agent:
        return f"{_actor_name(agent)}/unknown"
    return f"human:{_actor_name(name_for_model(commit.author.name))}"


def _model(spec: str) -> str:
    """The name of a model, without the path of its file or the address of its server."""
    name = spec.rpartition("#")[2]
    if name.startswith(("gguf:", "http:")):
        name = name.rpartition("/")[2]
    return _actor_name(name)


def _actor_name(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", text).strip("-") or "unknown"
