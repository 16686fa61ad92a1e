"""The one list of checks that a fact's provenance is held to, whoever asks: `verify`, `review`, `why`, the OKF export.

What promotion asks of a proposal (is it in its source, whose words are they, did a person take it out) is asked here of
what stands in a commit, so that a promotion made by hand is held to the same. Reads only, committed history only. A
problem names rule and reason, never text of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from gitmem.git.objects import EXECUTABLE, REGULAR, Commit, Span
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import UNSEEN_ORIGINS, Fact, normalise, parse_span, render_span, text_hash, worst_origin
from gitmem.messages import Message
from gitmem.paths import Kind, kind
from gitmem.provenance.attribution import TEXT, Attribution, Attributor
from gitmem.provenance.authorship import by_machine, named, reviewed_merge, reviewers
from gitmem.provenance.commit_effects import CommitEffects
from gitmem.provenance.grounding import WORDS, Support, cut_sentence
from gitmem.provenance.ledger import Ledger, Refusal, read_ledger, refusals, reverted_by_people, span_key
from gitmem.provenance.line_origins import line_origins, log_origin
from gitmem.provenance.removals import LASTING, removed_by_people

LOGS = (Kind.DAILY, Kind.SESSION, Kind.NOTE, Kind.OTHER)  # the last: daily notes and notes by a setting
MAX_MERGES = 500  # newest merges of memory that are asked whether an agent made them
LineCommit = Callable[[], Commit]


class Problem(NamedTuple):
    """What does not hold: a rule of docs/provenance.md, "Check", and the sentence that says it."""

    rule: str
    message: str


class Checks:
    """The checks of the facts of one commit. `whole` is False where `known` holds the records of one fact alone: what
    else happened in the history is then read only where it matters."""

    def __init__(
        self, repo: Repository, tip: str, known: Ledger, globs: Sequence[str] | None, *, whole: bool = True
    ) -> None:
        self.repo, self.tip, self.known, self.whole = repo, tip, known, whole
        self.attributor = Attributor(repo, tip, known, globs)
        self._reviewed: dict[str, bool] = {}
        self._origins: dict[str, list[str]] = {}

    @cached_property
    def _cut(self) -> bool:
        return bool(shallow(self.repo))

    # -- what is wrong with a fact whoever wrote it ----------------------------------------------------------

    def wrong(self, fact: Fact, attribution: Attribution) -> Iterator[Problem]:
        """What does not hold, in committed history, without asking who wrote it."""
        edit = attribution.edit
        if edit and TEXT in edit.changed and not edit.recorded:
            words: str = Message(
                "edited after promotion by {} in {}, no reason recorded", _who(edit.commit), edit.commit.oid[:12]
            )
            yield Problem("text-changed", words)
        if any(key == "src" and parse_span(value) is None for key, value in fact.meta):
            yield Problem("source-missing", "its comment names a source that cannot be read")
        recorded = {span_key(span) for span in self.known.sources.get(text_hash(fact.text), ())}
        own = {span_key(span) for key, value in fact.meta if key == "src" and (span := parse_span(value))}
        for source in attribution.sources:
            span = source.recorded
            if recorded and span_key(span) in own - recorded and not self._cut:
                yield Problem("source-changed", Message("{} is not what its promotion recorded", render_span(span)))
            elif source.problem:
                yield Problem("source-missing", source.problem)
            elif self.attributor.reader.changed(source):
                yield Problem("source-changed", Message("{} was changed since", render_span(span)))
            elif self.is_taken_back(source.path, source.text):
                yield Problem("source-changed", Message("{} was taken back by a git revert", render_span(span)))
        if not edit and (words := self._cut_sentence(fact, attribution)):
            yield Problem("source-cut", words)

    def _cut_sentence(self, fact: Fact, attribution: Attribution) -> str:
        """Why a fact is half a sentence of one of its sources, "" where it is none."""
        cited: dict[str, set[int]] = {}
        for source in attribution.sources:
            if not source.problem and not source.moved:
                cited.setdefault(source.blob, set()).update(range(source.start_line, source.end_line + 1))
        reader = self.attributor.reader
        for blob, numbers in cited.items():
            if words := cut_sentence(fact.text, reader.lines(blob), reader.document(blob), numbers):
                return words
        return ""

    def is_taken_back(self, path: str, text: str) -> bool:
        """Whether a `git revert` took out these lines of a log, and no person put one there again."""
        lines = [line for line in text.split("\n") if line.strip()]
        if not lines or not all((path, line) in self._taken_back for line in lines):
            return False
        now = self.attributor.reader.paths.get(path)
        if now:
            present = self.attributor.reader.lines(now)
        else:
            present = []
        return not any(
            line in lines and not self._put_back_by_agent(path, number, self._taken_back[path, line])
            for number, line in enumerate(present, 1)
        )

    def _put_back_by_agent(self, path: str, line: int, revert: str) -> bool:
        """Whether the line of a log stands there by an agent's commit after the `revert` that took its text out."""
        commits = {row.commit for row in self.repo.blame(path, line, line, self.tip)}
        return any(by_machine(self.repo.commit(oid)) and self.repo.is_ancestor(revert, oid) for oid in commits)

    @cached_property
    def _taken_back(self) -> dict[tuple[str, str], str]:
        """(path, line) of the log lines that a `git revert`, not itself reverted by a person, took out -> it."""
        known = self._all_known
        undone = reverted_by_people(self.repo, known)
        taken: dict[tuple[str, str], str] = {}
        for commit, oid in known.reverts:
            if commit in undone:
                continue
            reverted = self.repo.commit(oid)
            for change in self.repo.changes(reverted.parents[0] if reverted.parents else "", oid):
                if kind(change.path) in LOGS and change.new_mode in (REGULAR, EXECUTABLE):
                    if change.old_mode:
                        old = set(self.attributor.reader.lines(change.old_oid))
                    else:
                        old = set()
                    new = (line for line in self.attributor.reader.lines(change.new_oid) if line not in old)
                    for line in new:
                        taken.setdefault((change.path, line), commit)
        return taken

    @cached_property
    def _all_known(self) -> Ledger:
        if self.whole:
            return self.known
        return read_ledger(self.repo, [self.tip])

    # -- what the policy asks: who wrote it, and does its source say so --------------------------------------

    def against_policy(
        self, path: str, fact: Fact, attribution: Attribution, line_commit: LineCommit
    ) -> Iterator[Problem]:
        """What may not be so where an agent wrote the fact, and no person looked at it."""
        edit = attribution.edit
        if edit and edit.machine and (edit.recorded or TEXT not in edit.changed):
            what = ", ".join(edit.changed)
            words = Message("edited after promotion by {}, which is no person: {}", _who(edit.commit), what)
            yield Problem("edited", words)
        if attribution.support is Support.NOT_IN_SOURCE:
            yield Problem("not-in-source", attribution.problem)
        edited = edit is not None and edit.recorded
        if not attribution.promoted and not edited and by_machine(line_commit()):
            commit = line_commit().oid[:12]
            yield Problem("unrecorded", Message("added by {}, which is an agent's, and by no promotion", commit))
        elif not edit and self._unseen(attribution, line_commit):
            if attribution.support is Support.SHARES_WORDS:
                words = Message("{}, and no person looked at it: {}", WORDS[Support.SHARES_WORDS], attribution.problem)
                yield Problem("not-word-for-word", words)
            if origin := self._origin(fact, attribution):
                words = Message("its source is of origin {}, and no person let it in", origin)
                yield Problem("origin", words)
        if message := self._refused(path, fact, attribution, line_commit):
            yield Problem("rejected", message)

    def _unseen(self, attribution: Attribution, line_commit: LineCommit) -> bool:
        """Whether an agent made the fact and no person reviewed its commit, or the merge that brought that in."""
        if attribution.records:
            made = attribution.records[0].commit
        else:
            made = line_commit()
        if made.oid not in self._reviewed:
            machine = by_machine(made) or by_machine(line_commit())
            merge = None
            if machine and not reviewers(made):
                merge = reviewed_merge(self.repo, self.tip, made)
            self._reviewed[made.oid] = not machine or bool(reviewers(made)) or merge is not None
        return not self._reviewed[made.oid]

    def _origin(self, fact: Fact, attribution: Attribution) -> str:
        """The worst origin of a fact and of the lines it cites, where nothing of it becomes a fact unseen; else ""."""
        stated = [fact.origin]
        for source in attribution.sources:
            if source.problem or not source.blob:
                continue
            if source.blob not in self._origins:
                reader = self.attributor.reader
                whole = log_origin(reader.lines(source.blob))
                origins = line_origins(reader.document(source.blob))
                self._origins[source.blob] = [worst_origin(whole, each) for each in origins]
            stated += self._origins[source.blob][source.start_line - 1 : source.end_line]
        origin = worst_origin(*stated)
        if origin not in UNSEEN_ORIGINS:
            return ""
        return origin

    def _refused(self, path: str, fact: Fact, attribution: Attribution, line_commit: LineCommit) -> str:
        """Why a fact should not be there again: a person took it, or its source, out. "" where it may."""
        digest = text_hash(fact.text)
        commit = line_commit()
        if merge := self._merge_that_brought_back(path, digest, commit):
            return f"taken out by {self._removals[digest][:12]}, and brought back by {merge[:12]}, an agent's merge"
        modelled = any(record.commit.oid == commit.oid and record.model(digest) for record in attribution.records)
        if not (by_machine(commit) or modelled):
            return ""  # a person put it there
        refusal = self._refusals.get(digest)
        if refusal and not refusal.declined and not self.repo.is_ancestor(commit.oid, refusal.commit):
            return f"taken out by {refusal.commit[:12]}, and added again by {commit.oid[:12]}"
        removal = None
        if self.whole:
            removal = self._removals.get(digest)
        if removal and removal != commit.oid and self.repo.is_ancestor(removal, commit.oid):
            return f"taken out by {removal[:12]}, and added again by {commit.oid[:12]}"
        lines = {
            (source.recorded.path, normalise(line))
            for source in attribution.sources
            for line in source.text.split("\n")
        }
        lines = {row for row in lines if row[1]}
        for oid, taken in self._refused_lines.items() if lines else ():
            if lines <= taken and oid != commit.oid and self.repo.is_ancestor(oid, commit.oid):
                return f"its source was taken back by {oid[:12]}, and {commit.oid[:12]} cites it again"
        return ""

    def _merge_that_brought_back(self, path: str, digest: str, commit: Commit) -> str:
        """The agent's merge that took a text from a branch on which a person had not taken it out; "" where none did.
        Blame names the commit that wrote the line once, and not that merge."""
        if not self.whole or not self._agents_merges:
            return ""
        removal = self._removals.get(digest, "")
        if not removal or self.repo.is_ancestor(removal, commit.oid):
            return ""
        effects = CommitEffects(self.repo)
        for merge in self._agents_merges:
            if self.repo.is_ancestor(removal, merge.oid) and digest in effects.texts(merge.oid, [path]):
                after = (parent for parent in merge.parents if self.repo.is_ancestor(removal, parent))
                if any(digest not in effects.texts(parent, [path]) for parent in after):
                    return merge.oid
        return ""

    @cached_property
    def _agents_merges(self) -> list[Commit]:
        """The newest merges of long-term memory that an agent made."""
        merges = self.repo.log([self.tip], LASTING, merges=True, full_history=True, limit=MAX_MERGES)
        return [merge for merge in merges if by_machine(merge)]

    @cached_property
    def _removals(self) -> dict[str, str]:
        return removed_by_people(self.repo, self.tip)

    @cached_property
    def _refusals(self) -> dict[str, Refusal]:
        return refusals(self.repo, self.known)

    @cached_property
    def _refused_lines(self) -> dict[str, set[tuple[str, str]]]:
        """Commit that took facts out -> (path, text) of their source lines; an edit keeps its source."""
        lines: dict[str, set[tuple[str, str]]] = {}
        for refusal in self._refusals.values():
            for span in refusal.spans if not refusal.edited else ():
                rows = ((span.path, normalise(line)) for line in self._lines_of(span))
                lines.setdefault(refusal.commit, set()).update(row for row in rows if row[1])
        return lines

    def _lines_of(self, span: Span) -> list[str]:
        oid = None
        if span.blob:
            oid = self.repo.find_blob(span.path, span.blob, self.tip)
        data = None
        if oid:
            data = next(iter(self.repo.read_many([oid])))[1]
        if not data:
            return []
        return blob_lines(data)[span.start_line - 1 : span.end_line]


def _who(commit: Commit) -> str:
    return named(commit.author)
