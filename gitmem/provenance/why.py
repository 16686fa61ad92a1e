"""`git mem why`: finds where a line of memory comes from, and whether its sources still support it.

Two records name the source of a fact: the `Memory-Source` trailer of the commit that promoted it, with the hash of its
text, and the key `src` in the fact's comment, which also survives a squash that loses trailers. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from gitmem.config import Config
from gitmem.daily_logs import agent_of
from gitmem.errors import GitMemError
from gitmem.git.objects import Commit
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.json_values import json_keys
from gitmem.memory import facts as memory_facts
from gitmem.memory.arrivals import LASTING
from gitmem.memory.fact import Fact, cited_spans, fact_id, normalise, render_span, text_hash, values_of
from gitmem.memory.files import read_memory_file, stored_path
from gitmem.messages import Message
from gitmem.paths import kind
from gitmem.plural import counted
from gitmem.provenance import trailers
from gitmem.provenance.archived_facts import Archiving, FactVersion, judged_version
from gitmem.provenance.attribution import Attribution, Attributor
from gitmem.provenance.authorship import actor, agent_of_commit, reviewed_merge, reviewers, shown_name
from gitmem.provenance.checks import Checks
from gitmem.provenance.cited_sources import Source, file_meta, with_file_keys, with_verification
from gitmem.provenance.fact_edits import TEXT, Edit, newest_commit
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.provenance.grounding import WORDS, Support
from gitmem.provenance.ledger import ledger_of, matching_commits, records_promotion
from gitmem.provenance.line_amendments import Amendment, Amendments, amendments, replaced_facts
from gitmem.provenance.writers import writers
from gitmem.search.hits import BY_COMMENT
from gitmem.shell_word import shell_word

if TYPE_CHECKING:
    from gitmem.claims.cited_code import CitationComparison

CUT_NOTE = (
    "this clone is shallow and its history ends at this commit: an older one may have written the line;"
    " 'git fetch --unshallow' gets the rest"
)


@json_keys("what old? new?")
class EditedPart(NamedTuple):
    """A changed part of a fact. `what`: `text` or a key of the comment. `old`, `new`: "" for a part that was added or
    removed."""

    what: str
    old: str
    new: str


class EditedFact(NamedTuple):
    """An edit of a fact. `by`: who made it, in the commit `commit`."""

    by: str
    commit: str
    changes: list[EditedPart]


@json_keys(
    "path line end_line text trail commit? author? date? agent? reason? reviewers model? session? turn? sources"
    " support problem? edited=edited_parts amended_by=links.amended_by supersedes=links.supersedes [code]"
)
@dataclass(frozen=True, slots=True)
class Answer:
    """The provenance of one line of memory, or of the fact that the line belongs to.

    JSON: `line`, `end_line`: the first and last line of the fact; you may ask for any of its lines. `trail`: what
    the fact is about. `commit`, `author`, `date`: the commit that first added the fact to long-term memory; for any
    other line the newest commit that touched it; null if there is none. `agent`, `reason`, `reviewers`: of that
    commit. `model`: the model that proposed the fact, null for a fact written by hand. `session`, `turn`: as the
    comment of a flushed or imported line names them. `sources`: the lines that it was promoted from, none for a
    fact written by hand. `support`: `in-source` (the text is in the source), `shares-words` (it shares words and
    numbers with its source), `not-in-source` (the source exists but does not say it), `edited` (edited after
    promotion) or `no-source`. `problem`: why a text does not follow, or which source is missing. `edited`: the edit
    after the promotion. `amended_by`, `supersedes`: those of the line in a search for its own text. `code`: for a
    fact that cites code, what became of it.
    """

    path: str
    line: int  # first line of the fact
    end_line: int
    text: str
    trail: tuple[str, ...]  # headings and items above the text
    commit: str  # the commit that first added the fact (`writers`), or last touched another line; "" if uncommitted
    author: str  # of that commit, as `date`, `agent` and `reason` are
    date: datetime | None
    agent: str
    reason: str
    reviewers: tuple[str, ...]
    model: str  # the model that proposed the fact, "" without one
    sources: tuple[Source, ...]
    support: Support = Support.NO_SOURCE
    words: str = WORDS[Support.NO_SOURCE]  # `support` as a sentence
    problem: str = ""  # the first check that failed, or the missing source, as a sentence
    edit: Edit | None = None  # the change after the promotion
    edited: tuple[tuple[str, str, str], ...] = ()  # (TEXT or key, before, now) for each part that `edit` changed
    links: Amendments = field(default_factory=Amendments)
    session: str = ""  # the conversation that the fact's comment names, "" for none
    turn: str = ""
    code: tuple[CitationComparison, ...] = ()  # the code that the fact cites, as it was and as it is now
    notes: tuple[str, ...] = ()  # sentences for a person: what could not be followed, and why

    @property
    def edited_parts(self) -> EditedFact | None:
        """The edit after the promotion; None without one."""
        if self.edit is None:
            return None
        return EditedFact(self.edit.by, self.edit.commit.oid, [EditedPart(*part) for part in self.edited])


def why(repo: Repository, config: Config, path: str, line: int, rev: str = "", *, now: datetime) -> Answer:
    """The provenance of one line of a memory file, and the lines that amend it as of `now`.

    `rev`: the commit of the file; "" for the work tree, or for HEAD in a bare repository. Raises MissingFile,
    OutsideRepository, and GitMemError when the file has no such line.
    """
    if not rev and not repo.root:
        rev = repo.head() or ""
    path = stored_path(repo, config, path, rev)
    data = read_memory_file(repo, config, path, rev)
    lines = memory_facts.split_lines(data)
    if not 1 <= line <= len(lines):
        raise GitMemError(
            Message("{} has {}, there is no line {}", path, counted(len(lines), "line"), line),
            f"git mem show {shell_word(path)}",
        )
    fact = _fact_at(lines, data, line)
    shown = fact or Fact(lines[line - 1].strip(), "", line, end=line)
    head = rev or repo.head() or ""
    # Git's search for the records runs while blame does.
    matching: Iterator[Commit] = iter(())
    if head and fact:
        matching = matching_commits(repo, [head], _grep_strings(fact))
    commits = _blamed_commits(repo, path, shown, rev)
    commit = None
    if commits:
        commit = newest_commit(repo, commits)
    notes = _line_notes(repo, line, shown.line, commits, commit)
    if fact is None:
        answer = replace(_answer(path, shown, commit, _trailers_of(commit)), notes=tuple(notes))
        return _without_forgotten(_with_links(repo, config, answer, (), rev, now), repo)
    ledger = ledger_of(repo, _until_promoted(matching, commit, text_hash(fact.text)))
    del matching  # ends Git's search
    checks = Checks(repo, head, ledger, config.memory_paths, whole=False)
    answer = _fact_answer(checks, path, fact, commits, commit)
    answer = replace(answer, notes=(*notes, *answer.notes), code=_code(repo, fact, rev))
    older = [value for key, value in fact.meta if key == "supersedes"]
    answer = _with_links(repo, config, answer, replaced_facts(repo, path, older, commit), rev, now)
    return _without_forgotten(_with_linkers(answer, fact, checks.attributor), repo)


def _fact_answer(
    checks: Checks, path: str, fact: Fact, commits: list[Commit], newest: Commit | None
) -> Answer:  # fmt: skip
    """The answer about a fact, without its cited code and its links. `commits`: those that last touched its lines, []
    if a line is not committed; `newest`: of them, None for none."""
    version = FactVersion(checks.repo, path, fact, lambda: commits)
    if commits:
        version = judged_version(checks, version)
    attribution = checks.attributor.attribution(
        version.path, version.fact, lambda: version.line_commit() if commits else None
    )
    written_by = newest
    if kind(path) in LASTING and (writer := writers(checks.repo, checks.tip, [fact]).get(fact.id)):
        written_by = writer.commit
    origin, block = _recording_commit(attribution, fact, written_by)
    problems = list(checks.problems(version.fact, attribution))
    if newest is not None:
        problems += checks.policy_problems(version.path, version.fact, attribution, version.line_commit)
    sources = attribution.sources
    if problems:
        sources = tuple(with_verification(source, supported=False) for source in sources)
    answer = _answer(path, fact, origin, block)
    return replace(
        answer, reviewers=_with_merge_reviewers(checks, answer.reviewers, origin), sources=sources,
        support=attribution.support, words=attribution.words, edit=attribution.edit,
        problem=attribution.problem or next((problem.message for problem in problems), ""),
        edited=tuple(attribution.edit.values(version.fact)) if attribution.edit else (),
        notes=tuple(_notes(checks.attributor, attribution, origin, newest, version.archiving)),
        session=fact.get("session"), turn=fact.get("turn"),
    )  # fmt: skip


def _with_merge_reviewers(checks: Checks, names: Sequence[str], origin: Commit | None) -> tuple[str, ...]:
    """The names of reviewers, each once, with those of the merge that brought the commit `origin` in."""
    all_names = list(names)
    if origin and (merge := reviewed_merge(checks.repo, checks.tip, origin)):
        from gitmem.gate.withholding import name_for_model

        all_names += map(name_for_model, reviewers(merge))
    return tuple(dict.fromkeys(all_names))


def _blamed_commits(repo: Repository, path: str, fact: Fact, rev: str) -> list[Commit]:
    """The commits that last touched the lines of a fact, without repeats; [] when one of the lines is not committed."""
    oids = list(dict.fromkeys(row.commit for row in repo.blame(path, fact.line, fact.end, rev)))
    if not all(oid.strip("0") for oid in oids):
        return []
    return [repo.commit(oid) for oid in oids]


def _line_notes(
    repo: Repository, line: int, first_line: int, commits: Sequence[Commit], newest: Commit | None
) -> list[str]:
    """Sentences about the line that was asked for. `first_line`: of its fact; `newest`: of `commits`, None for none."""
    notes: list[str] = []
    if first_line != line:
        notes.append(Message("line {} belongs to the fact that begins on line {}", line, first_line))
    if len(commits) > 1 and newest:
        notes.append(Message("{} commits wrote its lines; {} is the newest", len(commits), newest.oid[:12]))
    if newest is None:
        notes.append("not committed yet")
    elif newest.oid in shallow(repo):
        notes.append(CUT_NOTE)
    return notes


def _code(repo: Repository, fact: Fact, rev: str) -> tuple[CitationComparison, ...]:
    """The code that a fact cites, as it was and as it is at `rev`; "" for the work tree."""
    values = values_of(fact.meta, "code")
    if not values:
        return ()
    from gitmem.claims.cited_code import compare_citations

    return tuple(compare_citations(repo, values, rev))


def _without_forgotten(answer: Answer, repo: Repository) -> Answer:
    """The answer with masks in place of the texts that people removed from memory since."""
    forgotten = forgotten_texts(repo)
    if not forgotten:
        return answer
    mask = forgotten.masked
    links = replace(
        answer.links, amended_by=tuple(replace(end, text=mask(end.text)) for end in answer.links.amended_by),
        supersedes=tuple(replace(end, text=mask(end.text)) for end in answer.links.supersedes),
    )  # fmt: skip
    return replace(
        answer, text=mask(answer.text), trail=tuple(map(mask, answer.trail)), reason=mask(answer.reason),
        sources=tuple(replace(each, text=mask(each.text)) for each in answer.sources), links=links,
        edited=tuple((what, mask(before), mask(now)) for what, before, now in answer.edited),
        edit=answer.edit and replace(answer.edit, old=answer.edit.old._replace(text=mask(answer.edit.old.text))),
    )  # fmt: skip


def _notes(
    attributor: Attributor, attribution: Attribution, origin: Commit | None, commit: Commit | None,
    archiving: Archiving | None,
) -> list[str]:  # fmt: skip
    """Sentences for a person. `origin`: the commit that wrote the fact; `commit`: the last one to touch its line;
    `archiving`: the promotion that archived the fact, None without one."""
    notes: list[str] = []
    if archiving:
        by, oid = actor(archiving.commit), archiving.commit.oid[:12]
        notes.append(Message("archived by {} in {}, which promoted {} in its place", by, oid, archiving.successor.id))
    elif origin and commit and origin.oid != commit.oid:
        notes.append(Message("the line was last touched by {} ({})", commit.oid[:12], shown_name(commit.author)))
    edit = attribution.edit
    if edit and TEXT in edit.changed and not edit.recorded:
        notes.append(Message("{} changed the text and recorded no reason", edit.commit.oid[:12]))
    notes += [
        Message("{} was changed since: its lines are shown as they were", render_span(source.recorded))
        for source in attribution.sources
        if attributor.reader.has_changed(source)
    ]
    if any(source.problem for source in attribution.sources) and shallow(attributor.repo):
        notes.append("this clone is shallow: sources may be missing here only")
    return notes


def _with_links(
    repo: Repository, config: Config, answer: Answer, gone: Sequence[Amendment], rev: str, now: datetime
) -> Answer:
    """The answer with the lines that amend its line and the lines that it amends. `gone`: amended facts that are no
    longer in memory."""
    found_amendments = amendments(repo, config, (answer.path, answer.line), answer.text, rev, now)
    present = {end.id for end in found_amendments.supersedes}
    older = (*found_amendments.supersedes, *(end for end in gone if end.id not in present))
    notes = answer.notes
    if found_amendments.problem:
        notes = (*notes, found_amendments.problem)
    return replace(answer, links=replace(found_amendments, supersedes=older), notes=notes)


def _with_linkers(answer: Answer, fact: Fact, attributor: Attributor) -> Answer:
    """The answer with who made each link of a comment as the reason of the link. A link that no commit has keeps its
    reason."""

    def named(end: Amendment, later: tuple[str, str], earlier: str) -> Amendment:
        if end.reason != BY_COMMENT:
            return end
        commit = attributor.commit_of_link(*later, memory_facts.SUPERSEDES, earlier)
        if commit is None:
            return end
        return replace(end, reason=f"by {actor(commit)}")

    links = answer.links
    amended_by = tuple(named(end, (end.path, end.id), fact.id) for end in links.amended_by)
    supersedes = tuple(named(end, (answer.path, fact.id), end.id) for end in links.supersedes)
    return replace(answer, links=replace(links, amended_by=amended_by, supersedes=supersedes))


def _fact_at(lines: Sequence[str], data: bytes, line: int) -> Fact | None:
    """The fact that `line` belongs to; None for a line of no fact. When the front matter names a source, every line
    with text is a fact."""
    entry = memory_facts.parse_lines(lines).at(line)
    of_file = file_meta(data)
    if entry:
        return with_file_keys(entry.fact, of_file)
    words = normalise(lines[line - 1])
    if of_file and words:
        return with_file_keys(Fact(words, fact_id(words), line, end=line), of_file)
    return None


def _grep_strings(fact: Fact) -> list[str]:
    """Strings of which every commit message that records the fact, or the fact that replaced it, contains one: the
    hashes of their texts, its sources. In a long history Git finds these commits much faster than all records."""
    successors = [
        f"sha256:{value}" for key, value in fact.meta if key == memory_facts.SUPERSEDED_BY and value.isalnum()
    ]
    return [text_hash(fact.text), *(render_span(span) for span in cited_spans(fact.meta)), *successors]


def _until_promoted(commits: Iterable[Commit], blamed: Commit | None, digest: str) -> Iterator[Commit]:
    """The commits up to the promotion of the text `digest`, when that promotion is also the commit that last touched
    the line (`blamed`): older records do not matter then. Else all commits."""
    for commit in commits:
        yield commit
        if blamed and commit.oid == blamed.oid and records_promotion(commit, digest):
            return


def _recording_commit(
    attribution: Attribution, fact: Fact, written_by: Commit | None
) -> tuple[Commit | None, list[trailers.Trailer]]:
    """(the commit that wrote the fact, its trailers about the fact). For an uncommitted fact (`written_by` None) the
    newest commit that recorded the same text; (None, []) when there is none."""
    records = attribution.records
    if written_by:
        records = tuple(record for record in records if record.commit.oid == written_by.oid)
    if records:
        return records[0].commit, records[0].block(text_hash(fact.text))
    return written_by, _trailers_of(written_by)


def _trailers_of(commit: Commit | None) -> list[trailers.Trailer]:
    return trailers.memory_trailers(commit.message) if commit is not None else []


def _answer(path: str, fact: Fact, commit: Commit | None, block: Sequence[trailers.Trailer]) -> Answer:
    """The answer with the values of the commit and its trailers; sources and support are added later."""
    from gitmem.gate.withholding import name_for_model  # loads every detector

    def first(key: str) -> str:
        return next(iter(trailers.values(block, key)), "")

    agent = first(trailers.AGENT)
    answer = Answer(
        path, fact.line, fact.end, fact.text, fact.trail, commit="", author="", date=None,
        agent=name_for_model(agent or agent_of(path)), reason=name_for_model(first(trailers.REASON)), reviewers=(),
        model=first(trailers.MODEL), sources=(),
    )  # fmt: skip
    if commit is None:
        return answer
    return replace(
        answer, commit=commit.oid, author=shown_name(commit.author), date=commit.author_date,
        agent=name_for_model(agent or agent_of_commit(commit) or agent_of(path)),
        reviewers=tuple(map(name_for_model, reviewers(commit))),
    )  # fmt: skip
