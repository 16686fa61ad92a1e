"""Where a line of memory comes from, and whether that is still true: line, blame, commit, trailer, source lines.

Two records lead from a fact to its source: the `Memory-Source` trailer of the commit that promoted it (with the hash
of its text), and the `src` in its own comment, which survives a squash that loses the trailers. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from shlex import quote
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.objects import Commit
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.arrivals import LASTING
from gitmem.memory.fact import Fact, fact_id, normalise, render_span, text_hash
from gitmem.memory.files import read_memory_file
from gitmem.messages import Message
from gitmem.paths import agent_of, kind
from gitmem.plural import counted
from gitmem.provenance import trailers
from gitmem.provenance.attribution import TEXT, Attribution, Attributor, Edit, newest
from gitmem.provenance.authorship import agent_of_commit, named, reviewed_merge, reviewers
from gitmem.provenance.checks import Checks
from gitmem.provenance.cited_sources import Source, cited, file_meta, inherit, verified
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.provenance.grounding import WORDS, Support
from gitmem.provenance.ledger import ledger_of, matching_commits, promotes
from gitmem.provenance.line_amendments import Amendment, Amendments, amendments, replaced
from gitmem.provenance.writers import writers

if TYPE_CHECKING:
    from gitmem.claims.cited_code import Compared

CUT = (
    "this clone is shallow and its history ends at this commit: an older one may have written the line;"
    " 'git fetch --unshallow' gets the rest"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a statement is there: `text`, on `line` to `end_line`, about what `trail` says. `commit` is the one that
    first brought a fact's text (`writers`), of another line the one that touched it last, "" for one not committed yet;
    `author`, `date` and `agent` are that commit's; `model` is "" for a fact that no promotion brought.

    `support` says what holds the text up, `problem` in words why it does not or which source is missing; `edit` what
    was changed after the promotion and by whom; `links` what amends the line, and what it amends. `session` and `turn`
    are those of a conversation that the line's comment names, "" for none; `code` is the code that it cites, then and
    now. `notes` are for a person: what could not be followed, and why.
    """

    path: str
    line: int
    end_line: int
    text: str
    trail: tuple[str, ...]
    commit: str
    author: str
    date: datetime | None
    agent: str
    reason: str
    reviewers: tuple[str, ...]
    model: str
    sources: tuple[Source, ...]
    support: Support = Support.NO_SOURCE
    words: str = WORDS[Support.NO_SOURCE]
    problem: str = ""
    edit: Edit | None = None
    edited: tuple[tuple[str, str, str], ...] = ()  # (what, before, now) of each difference
    links: Amendments = field(default_factory=Amendments)
    session: str = ""
    turn: str = ""
    code: tuple[Compared, ...] = ()
    notes: tuple[str, ...] = ()


def why(repo: Repository, config: Config, path: str, line: int, rev: str = "", *, now: datetime) -> Answer:
    """The provenance of one line of a memory file at `rev`, and what amends it as of `now`; when `rev` is empty of the
    work tree's file, of HEAD's where there is no work tree. Raises MissingFile, OutsideRepository, GitMemError for no
    such line."""
    rev = rev or ("" if repo.root else repo.head() or "")
    data = read_memory_file(repo, config, path, rev)
    lines = memory_facts.split_lines(data)
    if not 1 <= line <= len(lines):
        raise GitMemError(
            Message("{} has {}, there is no line {}", path, counted(len(lines), "line"), line),
            f"git mem show {quote(path)}",
        )
    fact = _fact_at(lines, data, line)
    if fact:
        start = fact.line
    else:
        start = line
    at = rev or repo.head() or ""
    recorded = matching_commits(repo, [at] if at and fact else [], _about(fact) if fact else ())
    rows = repo.blame(path, start, fact.end if fact else line, rev)
    oids = list(dict.fromkeys(row.commit for row in rows))
    uncommitted = any(not oid.strip("0") for oid in oids)
    if uncommitted:
        commit = None
    else:
        commit = newest(repo, [repo.commit(oid) for oid in oids])
    notes: list[str] = []
    if start != line:
        notes.append(Message("line {} belongs to the fact that begins on line {}", line, start))
    if len(oids) > 1 and commit:
        notes.append(Message("{} commits wrote its lines; {} is the newest", len(oids), commit.oid[:12]))
    if commit is None:
        notes.append("not committed yet")
    elif commit.oid in shallow(repo):
        notes.append(CUT)
    if fact is None:
        text = lines[line - 1].strip()
        if commit:
            block = trailers.memory_trailers(commit.message)
        else:
            block = []
        answer = _answer(path, Fact(text, "", line, end=line), commit, block)
        return _shown(_with_links(repo, config, replace(answer, notes=tuple(notes)), (), rev, now), repo)
    known = ledger_of(repo, _until_promoted(recorded, commit, text_hash(fact.text)))
    del recorded  # ends Git's walk
    checks = Checks(repo, at, known, config.memory_paths, whole=False)
    attribution = checks.attributor.attribution(path, fact, lambda: commit)
    writer = None
    if kind(path) in LASTING:
        writer = writers(repo, at, [fact]).get(fact.id)
    origin, block = _recorded(attribution, fact, writer.commit if writer else commit)
    notes += _notes(checks.attributor, attribution, origin, commit)
    problems = list(checks.wrong(fact, attribution))
    if commit is not None:
        problems += checks.against_policy(path, fact, attribution, lambda: commit)
    problem = attribution.problem or next((problem.message for problem in problems), "")
    if not problems:
        sources = attribution.sources
    else:
        sources = tuple(verified(each, False) for each in attribution.sources)
    answer = _answer(path, fact, origin, block)
    from gitmem.gate.withholding import screened

    merge = None
    if origin:
        merge = reviewed_merge(repo, at, origin)
    looked = dict.fromkeys([*answer.reviewers, *(map(screened, reviewers(merge)) if merge else [])])
    answer = replace(
        answer, reviewers=tuple(looked), sources=sources, support=attribution.support,
        words=attribution.words, problem=problem, edit=attribution.edit, notes=tuple(notes),
        edited=tuple(attribution.edit.values(fact)) if attribution.edit else (),
        session=fact.get("session"), turn=fact.get("turn"), code=_code(repo, fact, rev),
    )  # fmt: skip
    older = [value for key, value in fact.meta if key == "supersedes"]
    return _shown(_with_links(repo, config, answer, replaced(repo, path, older, commit), rev, now), repo)


def _code(repo: Repository, fact: Fact, rev: str) -> tuple[Compared, ...]:
    """The code that a fact cites, as it was and as it is at `rev`, the work tree where that is ""."""
    values = [value for key, value in fact.meta if key == "code"]
    if not values:
        return ()
    from gitmem.claims.cited_code import compared

    return tuple(compared(repo, values, rev))


def _shown(answer: Answer, repo: Repository) -> Answer:
    """The answer without what a person took out since."""
    forgotten = forgotten_texts(repo)
    if not forgotten:
        return answer
    mask = forgotten.masked
    ends = answer.links
    links = replace(
        ends, amended_by=tuple(replace(end, text=mask(end.text)) for end in ends.amended_by),
        supersedes=tuple(replace(end, text=mask(end.text)) for end in ends.supersedes),
    )  # fmt: skip
    return replace(
        answer, text=mask(answer.text), trail=tuple(map(mask, answer.trail)), reason=mask(answer.reason),
        sources=tuple(replace(each, text=mask(each.text)) for each in answer.sources), links=links,
        edited=tuple((what, mask(before), mask(now)) for what, before, now in answer.edited),
        edit=answer.edit and replace(answer.edit, old=answer.edit.old._replace(text=mask(answer.edit.old.text))),
    )  # fmt: skip


def _notes(attributor: Attributor, attribution: Attribution, origin: Commit | None, commit: Commit | None) -> list[str]:
    """What a person should know of a fact whose record is `origin` and whose line `commit` touched last."""
    notes: list[str] = []
    if origin and commit and origin.oid != commit.oid:
        notes.append(Message("the line was last touched by {} ({})", commit.oid[:12], named(commit.author)))
    edit = attribution.edit
    if edit and TEXT in edit.changed and not edit.recorded:
        notes.append(Message("{} changed the text and recorded no reason", edit.commit.oid[:12]))
    notes += [
        Message("{} was changed since: its lines are shown as they were", render_span(source.recorded))
        for source in attribution.sources
        if attributor.reader.changed(source)
    ]
    if any(source.problem for source in attribution.sources) and shallow(attributor.repo):
        notes.append("this clone is shallow: sources may be missing here only")
    return notes


def _with_links(
    repo: Repository, config: Config, answer: Answer, gone: Sequence[Amendment], rev: str, now: datetime
) -> Answer:
    """The answer with what amends its line and what that amends, those included that are `gone`."""
    found = amendments(repo, config, (answer.path, answer.line), answer.text, rev, now)
    there = {end.id for end in found.supersedes}
    older = (*found.supersedes, *(end for end in gone if end.id not in there))
    if found.problem:
        notes = (*answer.notes, found.problem)
    else:
        notes = answer.notes
    return replace(answer, links=replace(found, supersedes=older), notes=notes)


def _fact_at(lines: Sequence[str], data: bytes, line: int) -> Fact | None:
    """The fact that `line` belongs to, or the line itself where front matter names a source for the whole file."""
    entry = memory_facts.parse_lines(lines).at(line)
    whole = file_meta(data)
    if entry:
        return inherit(entry.fact, whole)
    words = normalise(lines[line - 1])
    if whole and words:
        return inherit(Fact(words, fact_id(words), line, end=line), whole)
    return None


def _about(fact: Fact) -> list[str]:
    """What the records of a fact hold: the hash of its text, or a source it cites. Reading no others is what makes one
    question quick in a long history."""
    return [text_hash(fact.text), *(render_span(span) for span in cited(fact))]


def _until_promoted(commits: Iterable[Commit], blamed: Commit | None, digest: str) -> Iterator[Commit]:
    """The commits as far as what they record can matter: of a fact as its promotion wrote it no older record is asked,
    and the rest of a long history need not be read."""
    for commit in commits:
        yield commit
        if blamed and commit.oid == blamed.oid and promotes(commit, digest):
            return


def _recorded(
    attribution: Attribution, fact: Fact, writing: Commit | None
) -> tuple[Commit | None, list[trailers.Trailer]]:
    """The commit that wrote the fact and what its message says of it; of a text whose writing is in no commit the
    newest one that recorded it."""
    digest = text_hash(fact.text)
    own = next((record for record in attribution.records if writing and record.commit.oid == writing.oid), None)
    record = own or (next(iter(attribution.records), None) if writing is None else None)
    if record:
        return record.commit, record.block(digest)
    return writing, trailers.memory_trailers(writing.message) if writing else []


def _answer(path: str, fact: Fact, commit: Commit | None, block: Sequence[trailers.Trailer]) -> Answer:
    from gitmem.gate.withholding import screened  # loads every detector

    def first(key: str) -> str:
        return next(iter(trailers.values(block, key)), "")

    return Answer(
        path=path,
        line=fact.line,
        end_line=fact.end,
        text=fact.text,
        trail=fact.trail,
        commit=commit.oid if commit else "",
        author=named(commit.author) if commit else "",
        date=commit.author_date if commit else None,
        agent=screened(first(trailers.AGENT) or (agent_of_commit(commit) if commit else "") or agent_of(path)),
        reason=screened(first(trailers.REASON)),
        reviewers=tuple(map(screened, reviewers(commit))) if commit else (),
        model=first(trailers.MODEL),
        sources=(),
    )


def _edit_value(answer: Answer) -> dict[str, object] | None:
    """The edit after promotion as JSON: its author, its commit and each changed part; None without an edit."""
    if not answer.edit:
        return None
    changes = [{"what": what, "old": old or None, "new": new or None} for what, old, new in answer.edited]
    return {"by": answer.edit.by, "commit": answer.edit.commit.oid, "changes": changes}


def as_value(answer: Answer) -> dict[str, object]:
    """The JSON of docs/json.md, "why"."""
    code = [{"cites": one.place, "state": one.state.value, "words": one.words} for one in answer.code]
    return {
        "path": answer.path,
        "line": answer.line,
        "end_line": answer.end_line,
        "text": answer.text,
        "trail": list(answer.trail),
        "commit": answer.commit or None,
        "author": answer.author or None,
        "date": answer.date.isoformat() if answer.date else None,
        "agent": answer.agent or None,
        "reason": answer.reason or None,
        "reviewers": list(answer.reviewers),
        "model": answer.model or None,
        "session": answer.session or None,
        "turn": answer.turn or None,
        "sources": [
            {
                "path": source.path,
                "start_line": source.start_line,
                "end_line": source.end_line,
                "blob": source.blob,
                "text": source.text,
                "verified": source.verified,
                "moved": source.moved,
            }
            for source in answer.sources
        ],
        "support": answer.support.value,
        "problem": answer.problem or None,
        "edited": _edit_value(answer),
        **answer.links.as_value(),
        **({"code": code} if code else {}),
    }
