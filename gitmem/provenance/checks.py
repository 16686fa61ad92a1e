"""Checks the provenance of committed facts, for `verify`, `review`, `why` and the OKF export.

Promotion makes the same checks of a proposal: whether its source says it, who wrote the source, whether a person
removed it. The checks here catch facts that came into memory in another way. Reads committed history only. A problem
names its rule and reason and holds no text of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from gitmem.git.objects import EXECUTABLE, REGULAR, Commit
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.memory.fact import (
    UNSEEN_ORIGINS,
    Fact,
    cited_spans,
    normalise,
    parse_span,
    render_span,
    text_hash,
    worst_origin,
)
from gitmem.messages import Message
from gitmem.paths import Kind, kind
from gitmem.provenance.attribution import Attribution, Attributor
from gitmem.provenance.authorship import by_machine, reviewed_merge, reviewers
from gitmem.provenance.cited_sources import lines_of_span
from gitmem.provenance.commit_effects import CommitEffects
from gitmem.provenance.fact_edits import TEXT
from gitmem.provenance.grounding import WORDS, Support, cut_sentence_problem
from gitmem.provenance.ledger import Ledger, Refusal, read_ledger, refusals, reverted_by_people, span_key
from gitmem.provenance.line_origins import line_origins, log_origin
from gitmem.provenance.removals import LONG_TERM_PATHS, removed_by_people

LOGS = (Kind.DAILY, Kind.SESSION, Kind.NOTE, Kind.OTHER)  # a setting may add daily notes of the kind OTHER
MAX_MERGES = 500  # newest merges of long-term memory in which an agent's merge is looked for
LineCommit = Callable[[], Commit]


class Problem(NamedTuple):
    """A check that failed. `rule`: its name in docs/provenance.md, "Check"; `message`: a sentence."""

    rule: str
    message: str


class Checks:
    """Checks the facts of the commit `tip`.

    `whole`: `ledger` has the whole history of `tip`. False when it has only the records of one fact; the rest of the
    history is then read only when a check needs it.
    """

    def __init__(
        self, repo: Repository, tip: str, ledger: Ledger, globs: Sequence[str] | None, *, whole: bool = True
    ) -> None:
        self.repo, self.tip, self.ledger, self.whole = repo, tip, ledger, whole
        self.attributor = Attributor(repo, tip, ledger, globs)
        self._reviewed: dict[str, bool] = {}
        self._origins: dict[str, list[str]] = {}

    # -- checks of every fact --------------------------------------------------------------------------------

    def problems(self, fact: Fact, attribution: Attribution) -> Iterator[Problem]:
        """The problems of a fact that do not depend on who wrote it: `text-changed`, then `source-missing` for `src`
        keys that cannot be read, then `source-missing` or `source-changed` for each source, then `source-cut`."""
        edit = attribution.edit
        if edit and TEXT in edit.changed and not edit.recorded:
            template = "edited after promotion by {} in {}, no reason recorded"
            yield Problem("text-changed", Message(template, edit.by, edit.commit.oid[:12]))
        if any(key == "src" and parse_span(value) is None for key, value in fact.meta):
            yield Problem("source-missing", "its comment names a source that cannot be read")
        recorded = {span_key(span) for span in self.ledger.sources.get(text_hash(fact.text), ())}
        cited_by_comment = {span_key(span) for span in cited_spans(fact.meta)}
        for source in attribution.sources:
            span = source.recorded
            if recorded and span_key(span) in cited_by_comment - recorded and not shallow(self.repo):
                yield Problem("source-changed", Message("{} is not what its promotion recorded", render_span(span)))
            elif source.problem:
                yield Problem("source-missing", source.problem)
            elif self.attributor.reader.has_changed(source):
                yield Problem("source-changed", Message("{} was changed since", render_span(span)))
            elif self.is_reverted_from_log(source.path, source.text):
                yield Problem("source-changed", Message("{} was taken back by a git revert", render_span(span)))
        if not edit and (words := self._cut_sentence(fact, attribution)):
            yield Problem("source-cut", words)

    def _cut_sentence(self, fact: Fact, attribution: Attribution) -> str:
        """Why the fact has only half a sentence of one of its sources: the half in the cited lines, while the sentence
        goes on below them or begins above them. "" if no sentence is cut. Sources that were moved or not found are not
        compared."""
        lines_by_blob: dict[str, set[int]] = {}
        for source in attribution.sources:
            if not source.problem and not source.moved:
                lines_by_blob.setdefault(source.blob, set()).update(range(source.start_line, source.end_line + 1))
        reader = self.attributor.reader
        for blob, numbers in lines_by_blob.items():
            if words := cut_sentence_problem(fact.text, reader.lines(blob), reader.document(blob), numbers):
                return words
        return ""

    def is_reverted_from_log(self, path: str, text: str) -> bool:
        """Whether a `git revert` removed all lines of `text` from the log at `path`, and no person brought one back."""
        lines = [line for line in text.split("\n") if line.strip()]
        if not lines or not all((path, line) in self._reverted_lines for line in lines):
            return False
        present: Sequence[str] = ()
        if oid := self.attributor.reader.paths.get(path):
            present = self.attributor.reader.lines(oid)
        return not any(
            line in lines and not self._is_restored_by_agent(path, number, self._reverted_lines[path, line])
            for number, line in enumerate(present, 1)
        )

    def _is_restored_by_agent(self, path: str, line: int, revert: str) -> bool:
        """Whether an agent's commit that descends from `revert` last touched the line."""
        commits = {row.commit for row in self.repo.blame(path, line, line, self.tip)}
        return any(by_machine(self.repo.commit(oid)) and self.repo.is_ancestor(revert, oid) for oid in commits)

    @cached_property
    def _reverted_lines(self) -> dict[tuple[str, str], str]:
        """(path, line) of each log line whose commit was reverted -> the revert. Reverts that a person reverted do not
        count."""
        ledger = read_ledger(self.repo, [self.tip]) if not self.whole else self.ledger
        reverted = reverted_by_people(self.repo, ledger)
        reader = self.attributor.reader
        lines: dict[tuple[str, str], str] = {}
        for commit, oid in ledger.reverts:
            if commit in reverted:
                continue
            parent = "".join(self.repo.commit(oid).parents[:1])
            for change in self.repo.changes(parent, oid):
                if kind(change.path) not in LOGS or change.new_mode not in (REGULAR, EXECUTABLE):
                    continue
                old_lines: set[str] = set()
                if change.old_mode:
                    old_lines = set(reader.lines(change.old_oid))
                for line in reader.lines(change.new_oid):
                    if line not in old_lines:
                        lines.setdefault((change.path, line), commit)
        return lines

    # -- checks of the policy: facts that an agent wrote and no person reviewed ------------------------------

    def policy_problems(
        self, path: str, fact: Fact, attribution: Attribution, line_commit: LineCommit
    ) -> Iterator[Problem]:
        """The problems of a fact that only `verify --policy` reports: `edited`, `not-in-source`, `unrecorded`,
        `not-word-for-word`, `origin`, `rejected`, in this order. `line_commit` returns the commit that counts as the
        writer of the fact's line."""
        edit = attribution.edit
        if edit and edit.machine and (edit.recorded or TEXT not in edit.changed):
            keys = ", ".join(edit.changed)
            words = Message("edited after promotion by {}, which is no person: {}", edit.by, keys)
            yield Problem("edited", words)
        if attribution.support is Support.NOT_IN_SOURCE:
            yield Problem("not-in-source", attribution.problem)
        edited = edit is not None and edit.recorded
        if not attribution.promoted and not edited and by_machine(line_commit()):
            commit = line_commit().oid[:12]
            yield Problem("unrecorded", Message("added by {}, which is an agent's, and by no promotion", commit))
        elif not edit and self._is_unreviewed(attribution, line_commit):
            if attribution.support is Support.SHARES_WORDS:
                words = Message("{}, and no person looked at it: {}", WORDS[Support.SHARES_WORDS], attribution.problem)
                yield Problem("not-word-for-word", words)
            if origin := self._origin(fact, attribution):
                words = Message("its source is of origin {}, and no person let it in", origin)
                yield Problem("origin", words)
        if message := self._refusal_reason(path, fact, attribution, line_commit):
            yield Problem("rejected", message)

    def _is_unreviewed(self, attribution: Attribution, line_commit: LineCommit) -> bool:
        """Whether an agent made the fact and no person reviewed its commit, or the merge that brought that in."""
        commit = attribution.records[0].commit if attribution.records else line_commit()
        if commit.oid not in self._reviewed:
            self._reviewed[commit.oid] = (
                not (by_machine(commit) or by_machine(line_commit()))
                or bool(reviewers(commit))
                or reviewed_merge(self.repo, self.tip, commit) is not None
            )
        return not self._reviewed[commit.oid]

    def _origin(self, fact: Fact, attribution: Attribution) -> str:
        """The worst origin of the fact, of its source lines and of their logs when it is one of UNSEEN_ORIGINS; else
        ""."""
        origins = [fact.origin]
        for source in attribution.sources:
            if source.problem or not source.blob:
                continue
            if source.blob not in self._origins:
                reader = self.attributor.reader
                of_log = log_origin(reader.lines(source.blob))
                of_lines = line_origins(reader.document(source.blob))
                self._origins[source.blob] = [worst_origin(of_log, origin) for origin in of_lines]
            origins += self._origins[source.blob][source.start_line - 1 : source.end_line]
        worst = worst_origin(*origins)
        return "" if worst not in UNSEEN_ORIGINS else worst

    def _refusal_reason(self, path: str, fact: Fact, attribution: Attribution, line_commit: LineCommit) -> str:
        """Why the fact may not be in memory, "" when it may.

        It may not if a person took out its text or refused all of its source lines, and a machine's commit or a model's
        promotion added it again, or an agent's merge brought it back. A fact that a person wrote again may stay.
        """
        digest = text_hash(fact.text)
        commit = line_commit()
        if merge := self._merge_that_brought_back(path, digest, commit):
            return f"taken out by {self._removals[digest][:12]}, and brought back by {merge[:12]}, an agent's merge"
        promoted = any(record.commit.oid == commit.oid and record.model(digest) for record in attribution.records)
        if not (by_machine(commit) or promoted):
            return ""  # a person wrote the fact
        refusal = self._refusals.get(digest)
        if refusal and not refusal.declined and not self.repo.is_ancestor(commit.oid, refusal.commit):
            return f"taken out by {refusal.commit[:12]}, and added again by {commit.oid[:12]}"
        removal = self.whole and self._removals.get(digest)
        if removal and removal != commit.oid and self.repo.is_ancestor(removal, commit.oid):
            return f"taken out by {removal[:12]}, and added again by {commit.oid[:12]}"
        lines = {
            (source.recorded.path, normalise(line))
            for source in attribution.sources
            for line in source.text.split("\n")
        }
        lines = {row for row in lines if row[1]}
        if not lines:
            return ""
        for oid, refused in self._refused_lines.items():
            if lines <= refused and oid != commit.oid and self.repo.is_ancestor(oid, commit.oid):
                return f"its source was taken back by {oid[:12]}, and {commit.oid[:12]} cites it again"
        return ""

    def _merge_that_brought_back(self, path: str, digest: str, commit: Commit) -> str:
        """The oid of an agent's merge that brought back a text which a person had removed on one of its sides; "" when
        there is none or `whole` is False. Blame does not name such a merge: it names the commit that first wrote the
        line."""
        if not self.whole or not self._agents_merges:
            return ""
        removal = self._removals.get(digest, "")
        if not removal or self.repo.is_ancestor(removal, commit.oid):
            return ""
        effects = CommitEffects(self.repo)
        for merge in self._agents_merges:
            if self.repo.is_ancestor(removal, merge.oid) and digest in effects.texts(merge.oid, [path]):
                after_removal = (parent for parent in merge.parents if self.repo.is_ancestor(removal, parent))
                if any(digest not in effects.texts(parent, [path]) for parent in after_removal):
                    return merge.oid
        return ""

    @cached_property
    def _agents_merges(self) -> list[Commit]:
        """The merges by agents among the newest MAX_MERGES of long-term memory."""
        merges = self.repo.log([self.tip], LONG_TERM_PATHS, merges=True, full_history=True, limit=MAX_MERGES)
        return [merge for merge in merges if by_machine(merge)]

    @cached_property
    def _removals(self) -> dict[str, str]:
        return removed_by_people(self.repo, self.tip)

    @cached_property
    def _refusals(self) -> dict[str, Refusal]:
        return refusals(self.repo, self.ledger)

    @cached_property
    def _refused_lines(self) -> dict[str, set[tuple[str, str]]]:
        """Commit that refused facts -> (path, text) of their source lines. The source of an edited fact is not
        refused."""
        lines: dict[str, set[tuple[str, str]]] = {}
        for refusal in self._refusals.values():
            if refusal.edited:
                continue
            for span in refusal.spans:
                rows = ((span.path, normalise(line)) for line in lines_of_span(self.repo, span, self.tip))
                lines.setdefault(refusal.commit, set()).update(row for row in rows if row[1])
        return lines
