"""Memory as a bundle of the Open Knowledge Format: the files of one commit, each fact with what its history records.

Reads committed history only and writes nothing. What the gate would block is not in a bundle: the line is replaced, and
that is said. `exchange/okf` has the form of each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from gitmem.config import Config
from gitmem.errors import UsageError
from gitmem.exchange import okf
from gitmem.exchange.agent_skills import skills
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from gitmem.gate.sources import tree_policy
from gitmem.gate.withholding import screened, withheld
from gitmem.git.objects import Commit, Span
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import decode, parse
from gitmem.memory.fact import Fact, parse_span, text_hash
from gitmem.memory.snapshot import tree_files
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, agent_of, kind, log_date
from gitmem.plural import counted
from gitmem.provenance.attribution import newest
from gitmem.provenance.authorship import agent_of_commit, reviewed_merge, reviewers
from gitmem.provenance.checks import Checks
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.provenance.grounding import Support
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.writers import Writer, writers

COMMITS_AT_ONCE = 500  # commits that are asked together for what they changed
CHECK = "process:git-mem-verify"  # a fact follows from the lines that it cites (docs/provenance.md, "Check")
TYPES = {
    Kind.MEMORY: "Memory", Kind.DAILY: "Daily log", Kind.NOTE: "Note", Kind.SESSION: "Episode", Kind.SKILL: "Playbook",
    Kind.RULE: "Rule", Kind.ARCHIVE: "Archive", Kind.INSTRUCTIONS: "Agent instructions", Kind.OTHER: "Note",
}  # fmt: skip
FACTS = "Facts"  # the section of the index that lists them
WITH_FACTS = (Kind.MEMORY, Kind.ARCHIVE)  # files of which each fact is a concept of its own


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a bundle by their place in it; `left` are (path, reason), `withheld` paths of which lines are."""

    files: Mapping[str, bytes]
    left: tuple[tuple[str, str], ...]
    withheld: tuple[str, ...]
    facts: int


def bundle(repo: Repository, config: Config, commit: str, today: date, below: str = "") -> Bundle:
    """The memory of a commit as a bundle; with `below`, a folder of it, as the bundle that this folder is.

    Raises UsageError for a folder without memory.
    """
    files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
    prefix = ""
    if below:
        prefix = f"{below}/"
    chosen = {path: oid for path, oid in sorted(files.items()) if path.startswith(prefix)}
    if below and not chosen:
        raise UsageError(f"there is no memory file below '{below}' at {commit[:12]}", "git mem export okf FOLDER")
    texts = committed_texts(repo, chosen, tree_policy(repo, commit, today))
    maker = _Maker(texts.shown, prefix, _History(repo, commit, config))
    made = {place: text.encode() for place, text in maker.files().items()}
    return Bundle(made, texts.left, texts.withheld, maker.facts)


def skill_bundle(repo: Repository, config: Config, commit: str, today: date) -> Bundle:
    """The procedures of a commit as folders of skills (`exchange/agent_skills`)."""
    files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
    chosen = {path: oid for path, oid in sorted(files.items()) if kind(path) is Kind.SKILL}
    texts = committed_texts(repo, chosen, tree_policy(repo, commit, today))
    return Bundle(skills(texts.shown), texts.left, texts.withheld, 0)


class CommittedTexts(NamedTuple):
    """The texts that may leave, by path, without the lines that the gate would block; `withheld` had some."""

    shown: Mapping[str, str]
    left: tuple[tuple[str, str], ...]
    withheld: tuple[str, ...]


def committed_texts(repo: Repository, files: Mapping[str, str], policy: Policy) -> CommittedTexts:
    """What of these files (path -> oid) may leave."""
    texts, left = _texts(repo, files)
    shown = {path: _safe(path, text, policy) for path, text in texts.items()}
    return CommittedTexts(shown, tuple(left), tuple(path for path, text in texts.items() if shown[path] != text))


def _texts(repo: Repository, files: Mapping[str, str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The text of each file, and (path, reason) of those that are none."""
    sizes = repo.sizes(sorted(set(files.values())))
    data = dict(repo.read_many(sorted(oid for oid, size in sizes.items() if size <= MAX_MEMORY_FILE_BYTES)))
    texts: dict[str, str] = {}
    left: list[tuple[str, str]] = []
    mask = forgotten_texts(repo)
    for path, oid in files.items():
        found = data.get(oid)
        if found is None:
            left.append((path, f"is larger than {counted(MAX_MEMORY_FILE_BYTES, 'byte')}"))
            continue
        _, problems = decode(found, path)
        if problems or not path.endswith(".md"):
            left.append((path, problems[0].message if problems else "is not Markdown"))
        else:
            texts[path] = mask.masked(found.decode())
    return texts, left


def _safe(path: str, text: str, policy: Policy) -> str:
    """The text without the lines that the gate would block."""
    findings = [found for found in scan_text(text, path, policy) if found.severity is Severity.BLOCK]
    return "\n".join(withheld(text.split("\n"), findings))


class _Maker:
    """Makes the files of one bundle from the texts of memory."""

    def __init__(self, texts: Mapping[str, str], prefix: str, history: _History) -> None:
        self._texts, self._prefix, self._history = texts, prefix, history
        self._taken: set[str] = set()
        self._listed: dict[str, list[tuple[str, str, str]]] = {}  # section -> (title, place, description)
        self._places = {path: self._place(path, text) for path, text in texts.items()}
        self.facts = 0

    def files(self) -> dict[str, str]:
        """Each file of the bundle by its place."""
        made: dict[str, str] = {}
        for path, text in self._texts.items():
            name = PurePosixPath(self._places[path]).name
            if self._prefix and (name in okf.RESERVED or okf.is_concept(text)):
                made[self._places[path]] = text
            elif kind(path) in WITH_FACTS:
                made.update(self._with_facts(path, text))
            else:
                made[self._places[path]] = self._concept(path, text)
        if not self._prefix:
            made["index.md"] = _index(self._listed)
        return made

    def _place(self, path: str, text: str) -> str:
        """Where a file stands in the bundle: where it stands in memory, but under no hidden name, and under one that is
        reserved for listings only where it is one."""
        below = PurePosixPath(path.removeprefix(self._prefix))
        top = len(below.parts) == 1
        kept = self._prefix and (okf.is_concept(text) or okf.is_listing(below.name, text, top=top))
        if below.name in okf.RESERVED and not kept:
            below = below.with_name(f"{below.stem}-note.md")
        return self._free("/".join(part.lstrip(".") or "_" for part in below.parts))

    def _free(self, place: str) -> str:
        """The place, or the next like it that nothing has, on a file system that folds case too; taken from now on."""
        number, free = 1, place
        while free.casefold() in self._taken:
            number += 1
            free = f"{place.removesuffix('.md')}-{number}.md"
        self._taken.add(free.casefold())
        return free

    def _concept(self, path: str, text: str, about: str = "") -> str:
        document, of = parse(text.encode()), kind(path)
        title = next((heading.text for heading in document.headings if heading.text.strip()), "")
        title = title or PurePosixPath(path).stem.encode(errors="replace").decode()
        until, stated = document.front_matter.get("until", ""), document.front_matter.get("src", ())
        stale = None
        if isinstance(until, str):
            stale = okf.stale_after(until)
        spans = filter(None, map(parse_span, [stated] if isinstance(stated, str) else stated))
        by, at = self._history.made_file(path)
        origin = okf.Origin(by, at, (), tuple(map(self._source, spans)))
        keys = [("type", TYPES[of]), ("title", title), *origin.keys, *([("stale_after", stale)] if stale else [])]
        self._listed.setdefault(TYPES[of], []).append((title, self._places[path], about))
        return okf.wrapped(text, keys, {} if self._prefix else {"path": path})

    def _with_facts(self, path: str, text: str) -> dict[str, str]:
        """A file of facts and its facts: each list item that stands below no other is a concept of its own, and a link
        to it takes the place of its lines in the file. What else the file says, it says as it did."""
        made: dict[str, str] = {}
        lines: list[str | None] = list(text.split("\n"))
        memory = memory_facts.parse(text.encode())
        found = memory.items
        for entry in found:
            fact = entry.fact
            own = [line for line in lines[entry.start - 1 : fact.end] if line is not None]
            place = self._free(f"facts/{fact.id}.md")
            origin, spans = self._history.of_fact(path, fact)
            sources = tuple(map(self._source, spans))
            made[place] = okf.fact_concept(own, fact, path, okf.Origin(origin.by, origin.at, origin.verified, sources))
            end = own[-1][len(own[-1].rstrip("\r")) :]
            link = okf.fact_link(memory_facts.marker_of(memory, entry), fact, place, end)
            lines[entry.start - 1 : fact.end] = [link, *[None] * (len(own) - 1)]
            self._listed.setdefault(FACTS, []).append((fact.text[: okf.TITLE], place, fact.get("type")))
        self.facts += len(found)
        made[self._places[path]] = self._concept(
            path, "\n".join(line for line in lines if line is not None), counted(len(found), "fact")
        )
        return made

    def _source(self, span: Span) -> tuple[str, str, date | None]:
        if span.end_line > span.start_line:
            lines = f"{span.start_line} to {span.end_line}"
        else:
            lines = str(span.start_line)
        place = self._places.get(span.path, span.path)
        return f"/{_address(place)}", f"{span.path}, line{'s' if ' ' in lines else ''} {lines}", log_date(span.path)


class _History:
    """What the history of a commit records of files and facts; each part of it is read once, and only if asked."""

    def __init__(self, repo: Repository, commit: str, config: Config) -> None:
        self._repo, self._tip, self._globs = repo, commit, config.memory_paths
        self._blames: dict[str, list[str]] = {}
        self._merges: dict[str, Commit | None] = {}

    @cached_property
    def _checks(self) -> Checks:
        return Checks(self._repo, self._tip, read_ledger(self._repo, [self._tip]), self._globs)

    @cached_property
    def _newest(self) -> dict[str, str]:
        """The newest commit that changed each file."""
        newest: dict[str, str] = {}
        walk = self._repo.reaches(self._tip)
        while oids := list(islice(walk, COMMITS_AT_ONCE)):
            touched = self._repo.touched(oids)
            for oid in oids:
                for path in touched.get(oid, ()):
                    newest.setdefault(path, oid)
        return newest

    def made_file(self, path: str) -> tuple[str, datetime | None]:
        """Who last changed a file, and when."""
        oid = self._newest.get(path)
        commit = None
        if oid:
            commit = self._repo.commit(oid)
        if commit:
            return (actor(commit, agent_of(path)), commit.author_date)
        return ("", None)

    def of_fact(self, path: str, fact: Fact) -> tuple[okf.Origin, list[Span]]:
        """Who made a fact and who confirmed it, and the lines that it is from, as `git mem why` and `verify` say."""
        oids = dict.fromkeys(self._blamed(path)[fact.line - 1 : fact.end])
        blamed = newest(self._repo, [self._repo.commit(oid) for oid in oids])
        found = self._checks.attributor.attribution(path, fact, lambda: blamed)
        problems = [*self._checks.wrong(fact, found), *self._checks.against_policy(path, fact, found, lambda: blamed)]
        writer = self._writers.get(fact.id)
        if writer:
            commit = writer.commit
        else:
            commit = blamed
        record = next((one for one in found.records if one.commit.oid == commit.oid), None)
        model = ""
        if record:
            model = record.model(text_hash(fact.text))
        if model:
            by = f"git-mem/{_model(model)}"
        else:
            by = actor(commit)
        verified = self._reviews(commit)
        if found.support is Support.IN_SOURCE and not problems:
            verified.append((CHECK, self._repo.commit(self._tip).commit_date))
        spans = dict.fromkeys(Span(source.path, source.start_line, source.end_line) for source in found.sources)
        return okf.Origin(by, commit.author_date, tuple(verified)), list(spans)

    def _blamed(self, path: str) -> list[str]:
        if path not in self._blames:
            lines = memory_facts.split_lines(self._repo.read(self._repo.blobs(self._tip, [path])[path]))
            self._blames[path] = [row.commit for row in self._repo.blame(path, 1, len(lines), self._tip)]
        return self._blames[path]

    @cached_property
    def _writers(self) -> dict[str, Writer]:
        return writers(self._repo, self._tip, [fact for _, _, fact in facts_at(self._repo, self._tip)])

    def _reviews(self, commit: Commit) -> list[tuple[str, datetime]]:
        """Who reviewed a commit, or the merge that brought it in, and when."""
        if commit.oid not in self._merges:
            self._merges[commit.oid] = reviewed_merge(self._repo, self._tip, commit)
        events: dict[str, datetime] = {}
        for reviewed in filter(None, (commit, self._merges[commit.oid])):
            for name in reviewers(reviewed):
                events.setdefault(f"human:{_name(screened(name.partition('<')[0]))}", reviewed.commit_date)
        return list(events.items())


def actor(commit: Commit, agent: str = "") -> str:
    """Who made a commit, as OKF spells actors: an agent, an automated process or a person, without an address."""
    agent = agent or agent_of_commit(commit)
    if "[bot]" in agent.casefold():
        return f"process:{_name(agent)}"
    if agent:
        return f"{_name(agent)}/unknown"
    return f"human:{_name(screened(commit.author.name))}"


def _model(spec: str) -> str:
    """The name of a model, without the place of its file or server."""
    name = spec.rpartition("#")[2]
    return _name(name.rpartition("/")[2] if name.startswith(("gguf:", "http:")) else name)


def _name(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", text).strip("-") or "unknown"


def _address(place: str) -> str:
    """A place in a bundle as links spell it; a name that is no text too."""
    return quote(place, errors="surrogateescape")


def _index(listed: Mapping[str, list[tuple[str, str, str]]]) -> str:
    """The listing at the top of a bundle, section by section."""
    return "\n".join(["---", f'okf_version: "{okf.VERSION}"', "---", *_sections(listed)])


def _sections(listed: Mapping[str, list[tuple[str, str, str]]]) -> Iterator[str]:
    for section, rows in listed.items():
        yield from ("", f"# {section}", "")
        for title, place, about in rows:
            words = " ".join(re.sub(r"[\[\]\\]", " ", title).split())
            yield f"* [{words}]({_address(place)})" + (f" - {about}" if about else "")
    yield ""
