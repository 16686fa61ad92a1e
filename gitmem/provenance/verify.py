"""Whether provenance still holds: every promoted fact has a source that is there, that says it, and its promoted text.

The list of checks is that of `checks`. Reads only, committed history only. A flaw names rule, place and
reason, never text of memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from gitmem.gate.policy import MESSAGE
from gitmem.git.objects import EXECUTABLE, REGULAR, Commit
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.git.write import run_git
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, render_span, text_hash
from gitmem.messages import Message
from gitmem.paths import Kind, kind
from gitmem.provenance.attribution import Attribution, Edit, differing, newest
from gitmem.provenance.authorship import by_machine, named
from gitmem.provenance.checks import Checks
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.grounding import Support
from gitmem.provenance.ledger import Ledger, claims, read_ledger
from gitmem.provenance.signatures import FORMAT, Signature, parse_signatures, summary

MAX_MOVES = 500  # newest commits of a range that touch a file and are asked whether they moved a fact
LOADED = (Kind.MEMORY, Kind.RULE, Kind.INSTRUCTIONS)


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fact whose provenance does not hold. `rule` is one of docs/provenance.md, "Check"; `message` holds no text of
    memory."""

    rule: str
    path: str
    line: int
    message: str
    fact: str  # its id
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """One fact, how it stands, and what does not hold. `commit` last touched its line; None without a policy."""

    path: str
    fact: Fact
    attribution: Attribution
    flaws: tuple[Flaw, ...]
    commit: Commit | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """A line that is no fact, of a file that agents load as it is, and the commit that last touched it."""

    path: str
    line: int
    text: str
    commit: Commit
    flaws: tuple[Flaw, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The facts that were checked, in order of path and line, and with a policy the lines around them; no flaws:
    everything held. `standing` are all facts there are, as (path, fact); `forged` what agents' messages in a range
    record that was not done."""

    facts: tuple[Checked, ...]
    prose: tuple[Prose, ...] = ()
    notes: tuple[str, ...] = ()
    signatures: tuple[Signature, ...] = ()  # of the commits of a range
    standing: tuple[tuple[str, Fact], ...] = ()
    forged: tuple[Flaw, ...] = ()

    @property
    def checked(self) -> int:
        return len(self.facts)

    @property
    def flaws(self) -> tuple[Flaw, ...]:
        return tuple(flaw for flaws in self._flaws() for flaw in flaws)

    def _flaws(self) -> Iterator[tuple[Flaw, ...]]:
        yield from (row.flaws for row in self.facts)
        yield from (row.flaws for row in self.prose)
        yield self.forged


def verify(
    repo: Repository, base: str = "", head: str = "HEAD", *, policy: bool = False, known: Ledger | None = None,
    globs: Sequence[str] = (),
) -> Verdict:  # fmt: skip
    """Check every promoted fact at `head`; where `base` is given, those that are new or have another comment since, and
    the sources of the others (oids or revisions). With `policy` every fact, and who wrote it.

    `known` is the ledger of `head`, where the caller has it; `globs` are the `[memory] paths` in force: what neither
    they nor the usual places name is no memory, and no source. Raises UnknownRevision; finding nothing is no error.
    """
    tip = repo.resolve(head)
    there = list(facts_at(repo, tip))
    run = _Run(repo, repo.resolve(base) if base else "", tip, known or read_ledger(repo, [tip]), policy, globs)
    run.compare_with(there)
    rows: list[Checked] = []
    for path, data, fact in there:
        if run.unchanged(path, fact):
            if policy:
                rows += run.check_place(path, fact)
            rows += run.check_sources(path, data, fact)
            continue
        promoted = bool(fact.get("src")) or text_hash(fact.text) in run.known.by_hash
        if promoted or policy:
            rows.append(run.check(path, data, fact))
    notes = []
    if shallow(repo):
        notes.append("this clone is shallow: trailers and sources beyond its history were not seen")
    standing = tuple((path, fact) for path, _, fact in there)
    if base:
        signatures = _signatures(repo, run.base, tip)
    else:
        signatures = ()
    if said := summary(signatures):
        notes.append(said)
    if policy and base:
        forged = tuple(_forged(repo, run.base, tip))
    else:
        forged = ()
    return Verdict(tuple(rows), tuple(run.prose()) if policy else (), tuple(notes), signatures, standing, forged)


def _forged(repo: Repository, base: str, tip: str) -> Iterator[Flaw]:
    for claim in claims(repo, [tip, f"^{base}"]):
        if claim.forged:
            message = f"{claim.key} of {claim.commit[:12]}, which is an agent's: {claim.why}"
            yield Flaw("forged", MESSAGE, 1, message, "", claim.commit)


def _signatures(repo: Repository, base: str, tip: str) -> tuple[Signature, ...]:
    """What Git says of the signatures of the commits that `tip` has and `base` has not."""
    return parse_signatures(run_git(repo, ["log", f"--format={FORMAT}", tip, f"^{base}", "--"]))


class _Run:
    """One verification of `tip` (since `base`, "" for all of it)."""

    def __init__(
        self, repo: Repository, base: str, tip: str, known: Ledger, policy: bool, globs: Sequence[str]
    ) -> None:
        self.repo, self.base, self.tip, self.known, self.policy = repo, base, tip, known, policy
        self.checks = Checks(repo, tip, known, globs)
        self.attributor = self.checks.attributor
        if base:
            self.touched = {change.path: change for change in repo.changes(base, tip)}
        else:
            self.touched = {}
        self.before: dict[str, list[Fact]] = {}
        self._commits: dict[str, Commit] = {}
        self._touched_by: dict[str, list[Commit]] = {}
        self._blames: dict[str, dict[int, str]] = {}

    def compare_with(self, there: Sequence[tuple[str, bytes, Fact]]) -> None:
        """Learn which facts stood at `base`: those `there` at `tip` hold for every file that did not change."""
        if not self.base:
            return
        same = ((path, fact) for path, _, fact in there if path not in self.touched)
        changed = ((path, fact) for path, _, fact in facts_at(self.repo, self.base, self.touched.keys()))
        for _, fact in sorted((*same, *changed), key=lambda row: row[0]):
            self.before.setdefault(fact.id, []).append(fact)

    def unchanged(self, path: str, fact: Fact) -> bool:
        """Whether the fact stood at `base` already, in any file, with this very comment."""
        return any(set(old.meta) == set(fact.meta) for old in self.before.get(fact.id, ()))

    def check(self, path: str, data: bytes, fact: Fact) -> Checked:
        """The whole judgement of one fact."""
        line_commit = partial(self.line_commit, path, data, fact)
        attribution = self.attributor.attribution(path, fact, line_commit)
        olds = self.before.get(fact.id, ())
        if attribution.edit is None and olds:  # its comment alone changed since `base`, whoever wrote the fact
            changed = differing(olds[0].meta, fact.meta)
            edit = Edit(line_commit(), olds[0], changed)
            attribution = replace(attribution, support=Support.EDITED, edit=edit)
        problems = list(self.checks.wrong(fact, attribution))
        if self.policy:
            problems += self.checks.against_policy(path, fact, attribution, partial(self._writer, path, data, fact))
        oid = self.known.by_hash.get(text_hash(fact.text), "")
        oid = oid or (attribution.edit.commit.oid if attribution.edit else "")
        flaws = tuple(
            Flaw(
                rule,
                path,
                fact.line,
                message,
                fact.id,
                self._writer(path, data, fact).oid if rule == "unrecorded" else oid,
            )
            for rule, message in problems
        )
        return Checked(path, fact, attribution, flaws, line_commit() if self.policy else None)

    def check_place(self, path: str, fact: Fact) -> Iterator[Checked]:
        """A fact that stood at `base` with these words: whether an agent has put it below another heading or item,
        which may turn what it says around. A fact that went to the archive is out of memory, as one taken out is."""
        olds = [old for old in self.before[fact.id] if set(old.meta) == set(fact.meta)]
        if kind(path) is Kind.ARCHIVE or any(old.trail == fact.trail for old in olds):
            return
        mover = self._mover(path, fact)
        if mover is None:
            return
        attribution = self.attributor.attribution(path, fact, lambda: mover)
        message = f"put below another heading or item by {named(mover.author)} in {mover.oid[:12]}, which is no person"
        yield Checked(path, fact, attribution, (Flaw("moved", path, fact.line, message, fact.id, mover.oid),), mover)

    def _mover(self, path: str, fact: Fact) -> Commit | None:
        """The agent's commit of the range that gave a fact this trail last; None where a person's did."""
        for commit in self._touching(path):
            if fact.trail not in self._trails(commit.oid, path, fact.id):
                continue
            parents = [trail for parent in commit.parents for trail in self._trails(parent, path, fact.id)]
            if fact.trail not in parents:
                if not by_machine(commit):
                    return None
                return commit
        return None

    def _touching(self, path: str) -> list[Commit]:
        """The commits of the range that touch a file, the newest first."""
        if path not in self._touched_by:
            walk = self.repo.log([self.tip, f"^{self.base}"], [path], full_history=True)
            self._touched_by[path] = list(islice(walk, MAX_MOVES))
        return self._touched_by[path]

    def _trails(self, commit: str, path: str, ident: str) -> frozenset[tuple[str, ...]]:
        """Where a file has a fact at a commit."""
        return frozenset(fact.trail for fact in self.attributor.facts_in(commit, path) if fact.id == ident)

    def check_sources(self, path: str, data: bytes, fact: Fact) -> Iterator[Checked]:
        """A fact that stood at `base` as it does now: only whether the range changed the lines it cites."""
        records = self.known.recorded.get(text_hash(fact.text), ())
        for span in self.attributor.spans(fact, records):
            change = self.touched.get(span.path)
            if change is None or change.status == "A":
                continue
            source = self.attributor.reader.read(fact, span, records)
            lost = [line for line in source.text.split("\n") if line.strip()]
            held = change.old_oid and set(lost) <= set(self.attributor.reader.lines(change.old_oid))
            if held and (self.attributor.reader.changed(source) or self.checks.is_taken_back(source.path, source.text)):
                message = Message("{} was changed since", render_span(span))
                oid = self.known.by_hash.get(text_hash(fact.text), "")
                commit = self.line_commit(path, data, fact)
                attribution = self.attributor.attribution(path, fact, partial(self.line_commit, path, data, fact))
                flaw = Flaw("source-changed", path, fact.line, message, fact.id, oid)
                yield Checked(path, fact, attribution, (flaw,), commit)
                return

    def line_commit(self, path: str, data: bytes, fact: Fact) -> Commit:
        """The commit that last touched one of a fact's lines."""
        return newest(self.repo, self._line_commits(path, data, fact.line, fact.end))

    def _writer(self, path: str, data: bytes, fact: Fact) -> Commit:
        """The commit that answers for a fact: the newest of an agent's that touched one of its lines, since a person's
        edit of another line does not vouch for these, else the newest."""
        commits = self._line_commits(path, data, fact.line, fact.end)
        return newest(self.repo, [commit for commit in commits if by_machine(commit)] or commits)

    def _line_commits(self, path: str, data: bytes, first: int, last: int) -> list[Commit]:
        """The commits that last touched lines, each once; a file is blamed once."""
        if path not in self._blames:
            rows = self.repo.blame(path, 1, max(1, len(blob_lines(data))), self.tip)
            self._blames[path] = {row.line: row.commit for row in rows}
        oids = dict.fromkeys(self._blames[path][line] for line in range(first, max(first, last) + 1))
        for oid in oids:
            if oid not in self._commits:
                self._commits[oid] = self.repo.commit(oid)
        return [self._commits[oid] for oid in oids]

    def prose(self) -> Iterator[Prose]:
        """The changed lines that are no facts, of MEMORY.md, rules and instruction files: agents load them whole.

        In MEMORY.md one that an agent wrote is a flaw; the others have their own guard (docs/gate.md) and are shown.
        """
        for change in self.repo.changes(self.base, self.tip):
            if kind(change.path) not in LOADED or change.new_mode not in (REGULAR, EXECUTABLE):
                continue
            if change.old_mode:
                old = set(self.attributor.reader.lines(change.old_oid))
            else:
                old = set()
            data = self.repo.read(change.new_oid)
            facts = memory_facts.lines_of(memory_facts.reviewed_facts(change.path, memory_facts.parse(data)))
            if kind(change.path) is Kind.INSTRUCTIONS:
                facts = set()
            for line, text in enumerate(blob_lines(data), 1):
                if not text.strip() or text in old or line in facts:
                    continue
                (commit,) = self._line_commits(change.path, data, line, line)
                yield Prose(change.path, line, text, commit, tuple(self._prose_flaws(change.path, line, text, commit)))

    def _prose_flaws(self, path: str, line: int, text: str, commit: Commit) -> Iterator[Flaw]:
        heading = text.startswith("#") and any(record.commit.oid == commit.oid for record in self.known.records)
        if kind(path) is Kind.MEMORY and by_machine(commit) and not heading:
            message = Message("added by {}, which is an agent's, and by no promotion", commit.oid[:12])
            yield Flaw("unrecorded", path, line, message, "", commit.oid)
