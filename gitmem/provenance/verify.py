"""`git mem verify`: checks that each promoted fact still has its promoted text, and sources that exist and say it.

The checks themselves are in `checks`; this module chooses the facts and the lines to check. Reads committed history
only. A flaw names its rule, place and reason and holds no text of memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from gitmem.gate.policy import MESSAGE
from gitmem.git.objects import EXECUTABLE, REGULAR, Change, Commit
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.git.write import run_git
from gitmem.json_values import json_keys
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, render_span, text_hash
from gitmem.messages import Message
from gitmem.paths import Kind, kind
from gitmem.provenance.archived_facts import FactVersion, judged_version
from gitmem.provenance.attribution import Attribution
from gitmem.provenance.authorship import by_machine, shown_name
from gitmem.provenance.checks import Checks
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.fact_edits import Edit, differing_keys
from gitmem.provenance.grounding import Support
from gitmem.provenance.ledger import read_ledger, unfounded_claims
from gitmem.provenance.signatures import FORMAT, UNSIGNED, Signature, parse_signatures, signature_summary

MAX_MOVES = 500  # newest commits of the range that touch a file, in which the move of a fact is looked for
LOADED = (Kind.MEMORY, Kind.RULE, Kind.INSTRUCTIONS)  # files that agents load whole


@json_keys("rule path line message fact? commit?")
@dataclass(frozen=True, slots=True)
class Flaw:
    """A check that failed, and its place.

    JSON: `rule`: `source-missing`, `source-changed`, `source-cut`, `text-changed` or, with `--policy`,
    `not-in-source`, `not-word-for-word`, `origin`, `forged` (at `COMMIT_EDITMSG`), `unrecorded`, `moved`, `edited`
    or `rejected`. `fact`: the fact's id, null for a line that is no fact.
    """

    rule: str  # its name in docs/provenance.md, "Check"
    path: str
    line: int
    message: str
    fact: str  # id of the fact, "" for a line that is not a fact
    commit: str = ""


@json_keys("path line=fact.line fact=fact.id support=attribution.support edited_by=attribution.edit.by")
@dataclass(frozen=True, slots=True)
class CheckedFact:
    """A fact that was checked. `commit`: the commit that last touched its line; may be None without a policy.

    JSON: `fact`: its id. `support`: as in `git mem why`. `edited_by`: who edited it after its promotion.
    """

    path: str
    fact: Fact
    attribution: Attribution
    flaws: tuple[Flaw, ...]
    commit: Commit | None = None


@dataclass(frozen=True, slots=True)
class ProseLine:
    """A changed line that is not a fact, in a file that agents load whole. `commit`: the commit that last touched
    it."""

    path: str
    line: int
    text: str
    commit: Commit
    flaws: tuple[Flaw, ...] = ()


@json_keys("checked findings=flaws facts signatures=signed")
@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a verification; without flaws every check passed. `prose`: changed lines that are no facts, with a
    policy only. `notes`: sentences for a person on the signatures and on what could not be checked. `all_facts`: (path,
    fact) of all facts at `head`, checked or not. `false_trailers`: false trailers in messages of agents since `base`,
    with a policy only.

    JSON: `checked`: how many facts were checked. `findings`: the checks that failed; no finding holds text of memory.
    `facts`: every fact that was checked. `signatures`: the signed commits of a range.
    """

    facts: tuple[CheckedFact, ...]  # the facts that were checked, in the order of paths and lines
    prose: tuple[ProseLine, ...] = ()
    notes: tuple[str, ...] = ()
    signatures: tuple[Signature, ...] = ()  # of the commits since `base`
    all_facts: tuple[tuple[str, Fact], ...] = ()
    false_trailers: tuple[Flaw, ...] = ()

    @property
    def checked(self) -> int:
        return len(self.facts)

    @property
    def signed(self) -> list[Signature]:
        """The signatures of the signed commits."""
        return [one for one in self.signatures if one.state != UNSIGNED]

    @property
    def flaws(self) -> tuple[Flaw, ...]:
        rows = [*(row.flaws for row in self.facts), *(row.flaws for row in self.prose), self.false_trailers]
        return tuple(flaw for flaws in rows for flaw in flaws)


def verify(
    repo: Repository, base: str = "", head: str = "HEAD", *, policy: bool = False, globs: Sequence[str] = ()
) -> Verdict:
    """Check the promoted facts at `head`, and with `policy` all facts and who wrote them.

    With `base` (an oid or revision), a fact is checked when it is new or its comment changed since `base`. Of the other
    facts only the sources that changed since are checked. `globs`: the `[memory] paths` in force; a file outside them
    and the usual places is no source. Raises UnknownRevision if `base` or `head` names no commit.
    """
    tip = repo.resolve(head)
    rows = list(facts_at(repo, tip))
    base_commit = base and repo.resolve(base)
    run = _Verification(repo, base_commit, tip, policy, globs)
    run.read_base(rows)
    checked: list[CheckedFact] = []
    for path, data, fact in rows:
        if run.is_unchanged(path, data, fact):
            if policy:
                checked += run.check_place(path, fact)
            checked += run.check_sources(path, data, fact)
        elif policy or fact.get("src") or text_hash(fact.text) in run.ledger.by_hash:
            checked.append(run.check(path, data, fact))
    notes = []
    if shallow(repo):
        notes.append("this clone is shallow: trailers and sources beyond its history were not seen")
    prose_lines: tuple[ProseLine, ...] = tuple(run.prose()) if policy else ()
    signatures: tuple[Signature, ...] = ()
    if base_commit:
        signatures = parse_signatures(run_git(repo, ["log", f"--format={FORMAT}", tip, f"^{base_commit}", "--"]))
    if words := signature_summary(signatures):
        notes.append(words)
    forged: tuple[Flaw, ...] = ()
    if policy and base_commit:
        forged = tuple(_false_trailers(repo, base_commit, tip))
    standing = tuple((path, fact) for path, _, fact in rows)
    return Verdict(tuple(checked), prose_lines, tuple(notes), signatures, standing, forged)


def _false_trailers(repo: Repository, base: str, tip: str) -> Iterator[Flaw]:
    """A flaw for each false trailer in an agent's message, of the commits of `tip` that `base` lacks."""
    for claim in unfounded_claims(repo, [tip, f"^{base}"]):
        if claim.forged:
            message = f"{claim.key} of {claim.commit[:12]}, which is an agent's: {claim.why}"
            yield Flaw("forged", MESSAGE, 1, message, "", claim.commit)


class _Verification:
    """One run of `verify`: the facts of `tip`, compared with those of `base`; `base` "" compares with nothing."""

    def __init__(self, repo: Repository, base: str, tip: str, policy: bool, globs: Sequence[str]) -> None:
        self.repo, self.base, self.tip, self.policy = repo, base, tip, policy
        self.ledger = read_ledger(repo, [tip])
        self.checks = Checks(repo, tip, self.ledger, globs)
        self.attributor = self.checks.attributor
        self.changes: dict[str, Change] = {}  # path -> its change since `base`
        if base:
            self.changes = {change.path: change for change in repo.changes(base, tip)}
        self.before: dict[str, list[Fact]] = {}  # fact id -> facts at `base`
        self._commits: dict[str, Commit] = {}
        self._touching_commits: dict[str, list[Commit]] = {}
        self._blames: dict[str, dict[int, str]] = {}

    def read_base(self, rows: Sequence[tuple[str, bytes, Fact]]) -> None:
        """Fill `before`. `rows`: the facts at `tip`; those in unchanged files are not read again."""
        if not self.base:
            return
        same = ((path, fact) for path, _, fact in rows if path not in self.changes)
        changed = ((path, fact) for path, _, fact in facts_at(self.repo, self.base, self.changes.keys()))
        for _, fact in sorted((*same, *changed), key=lambda row: row[0]):
            self.before.setdefault(fact.id, []).append(fact)

    def is_unchanged(self, path: str, data: bytes, fact: Fact) -> bool:
        """Whether `base` has the fact, in any file, with the same keys in its comment; of a fact that a promotion
        archived since, with the keys that it had before."""
        metas = [set(old.meta) for old in self.before.get(fact.id, ())]
        return bool(metas) and (set(fact.meta) in metas or set(self._version(path, data, fact).fact.meta) in metas)

    def _version(self, path: str, data: bytes, fact: Fact) -> FactVersion:
        """The version of a fact that is judged (`archived_facts`)."""
        lines = partial(self._line_commits, path, data, fact.line, fact.end)
        return judged_version(self.checks, FactVersion(self.repo, path, fact, lines))

    def check(self, path: str, data: bytes, fact: Fact) -> CheckedFact:
        """Make every check of a fact that is new or has another comment than at `base`."""
        version = self._version(path, data, fact)
        judged = version.fact
        attribution = self.attributor.attribution(version.path, judged, version.line_commit)
        olds = self.before.get(fact.id, ())
        if attribution.edit is None and olds:  # only the comment changed since `base`
            changed = differing_keys(olds[0].meta, judged.meta)
            edit = Edit(version.line_commit(), olds[0], changed)
            attribution = replace(attribution, support=Support.EDITED, edit=edit)
        problems = list(self.checks.problems(judged, attribution))
        if self.policy:
            problems += self.checks.policy_problems(version.path, judged, attribution, version.writer)
        promotion = self.ledger.by_hash.get(text_hash(fact.text), "")
        if not promotion and attribution.edit:
            promotion = attribution.edit.commit.oid
        flaws = []
        for rule, message in problems:
            oid = version.writer().oid if rule == "unrecorded" else promotion
            flaws.append(Flaw(rule, path, fact.line, message, fact.id, oid))
        return CheckedFact(path, fact, attribution, tuple(flaws), version.line_commit() if self.policy else None)

    def check_place(self, path: str, fact: Fact) -> Iterator[CheckedFact]:
        """Check whether an agent moved an unchanged fact below another heading or item, which may change its meaning.
        A move to the archive is allowed, as a removal is."""
        olds = [old for old in self.before[fact.id] if set(old.meta) == set(fact.meta)]
        if kind(path) is Kind.ARCHIVE or any(old.trail == fact.trail for old in olds):
            return
        mover = self._mover(path, fact)
        if mover is None:
            return
        attribution = self.attributor.attribution(path, fact, lambda: mover)
        message = (
            f"put below another heading or item by {shown_name(mover.author)} in {mover.oid[:12]}, which is no person"
        )
        yield CheckedFact(
            path, fact, attribution, (Flaw("moved", path, fact.line, message, fact.id, mover.oid),), mover
        )

    def _mover(self, path: str, fact: Fact) -> Commit | None:
        """The commit since `base` that put the fact at its present trail, when an agent made it; else None."""
        for commit in self._commits_touching(path):
            if fact.trail not in self._trails(commit.oid, path, fact.id):
                continue
            parents = [trail for parent in commit.parents for trail in self._trails(parent, path, fact.id)]
            if fact.trail not in parents:
                if not by_machine(commit):
                    return None
                return commit
        return None

    def _commits_touching(self, path: str) -> list[Commit]:
        """The newest MAX_MOVES commits since `base` that touch a file, newest first; cached."""
        if path not in self._touching_commits:
            walk = self.repo.log([self.tip, f"^{self.base}"], [path], full_history=True)
            self._touching_commits[path] = list(islice(walk, MAX_MOVES))
        return self._touching_commits[path]

    def _trails(self, commit: str, path: str, ident: str) -> frozenset[tuple[str, ...]]:
        """The trails of a fact in a file at a commit."""
        return frozenset(fact.trail for fact in self.attributor.history.facts_in(commit, path) if fact.id == ident)

    def check_sources(self, path: str, data: bytes, fact: Fact) -> Iterator[CheckedFact]:
        """Check whether the source lines of an unchanged fact were changed since `base`; yields the fact at most
        once."""
        records = self.ledger.recorded.get(text_hash(fact.text), ())
        reader = self.attributor.reader
        for span in self.attributor.cited_spans(fact, records):
            change = self.changes.get(span.path)
            if change is None or change.status == "A" or not change.old_oid:
                continue
            source = reader.read(fact, span, records)
            lines = {line for line in source.text.split("\n") if line.strip()}
            if not lines <= set(reader.lines(change.old_oid)):
                continue  # the lines were changed before `base`
            if reader.has_changed(source) or self.checks.is_reverted_from_log(source.path, source.text):
                message = Message("{} was changed since", render_span(span))
                oid = self.ledger.by_hash.get(text_hash(fact.text), "")
                version = self._version(path, data, fact)
                attribution = self.attributor.attribution(version.path, version.fact, version.line_commit)
                flaw = Flaw("source-changed", path, fact.line, message, fact.id, oid)
                yield CheckedFact(path, fact, attribution, (flaw,), version.line_commit())
                return

    def _line_commits(self, path: str, data: bytes, first: int, last: int) -> list[Commit]:
        """The commits that last touched the lines `first` to `last`, without repeats. Blame is cached for each file."""
        if path not in self._blames:
            rows = self.repo.blame(path, 1, max(1, len(blob_lines(data))), self.tip)
            self._blames[path] = {row.line: row.commit for row in rows}
        oids = dict.fromkeys(self._blames[path][line] for line in range(first, max(first, last) + 1))
        for oid in oids:
            if oid not in self._commits:
                self._commits[oid] = self.repo.commit(oid)
        return [self._commits[oid] for oid in oids]

    def prose(self) -> Iterator[ProseLine]:
        """The lines of LOADED files that changed since `base` and are not facts; in instruction files all changed
        lines.

        An agent's line in MEMORY.md is a flaw, unless it is a heading of a promotion. Rules and instruction files have
        a guard of their own (docs/gate.md); their lines are only shown.
        """
        for change in self.repo.changes(self.base, self.tip):
            if kind(change.path) not in LOADED or change.new_mode not in (REGULAR, EXECUTABLE):
                continue
            old_lines: set[str] = set()
            if change.old_mode:
                old_lines = set(self.attributor.reader.lines(change.old_oid))
            data = self.repo.read(change.new_oid)
            fact_lines: set[int] = set()
            if kind(change.path) is not Kind.INSTRUCTIONS:
                facts = memory_facts.reviewed_facts(change.path, memory_facts.parse(data))
                fact_lines = memory_facts.lines_of(facts)
            for line, text in enumerate(blob_lines(data), 1):
                if not text.strip() or text in old_lines or line in fact_lines:
                    continue
                (commit,) = self._line_commits(change.path, data, line, line)
                yield ProseLine(
                    change.path, line, text, commit, tuple(self._prose_flaws(change.path, line, text, commit))
                )

    def _prose_flaws(self, path: str, line: int, text: str, commit: Commit) -> Iterator[Flaw]:
        """The flaw of a line that an agent added to MEMORY.md without a promotion; none for any other line."""
        of_promotion = text.startswith("#") and any(record.commit.oid == commit.oid for record in self.ledger.records)
        if kind(path) is Kind.MEMORY and by_machine(commit) and not of_promotion:
            message = Message("added by {}, which is an agent's, and by no promotion", commit.oid[:12])
            yield Flaw("unrecorded", path, line, message, "", commit.oid)
