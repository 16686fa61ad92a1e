"""Makes a bundle of the Open Knowledge Format from the memory of one commit; each fact has its history's records.

It reads committed history only and writes no file. A line that the gate would block is replaced, and the bundle names
its file. `exchange/okf` has the form of each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from gitmem.config import Config
from gitmem.errors import UsageError
from gitmem.exchange import okf
from gitmem.exchange.agent_skills import skills
from gitmem.exchange.okf_history import History
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from gitmem.gate.tree_policies import tree_policy
from gitmem.gate.withholding import withhold_lines
from gitmem.git.objects import Span
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import decode, parse
from gitmem.memory.fact import parse_span
from gitmem.memory.front_matter import items_of
from gitmem.memory.snapshot import tree_files
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind, log_date
from gitmem.plural import counted
from gitmem.provenance.forgotten_texts import forgotten_texts

TYPES = {
    Kind.MEMORY: "Memory", Kind.DAILY: "Daily log", Kind.NOTE: "Note", Kind.SESSION: "Episode", Kind.SKILL: "Playbook",
    Kind.RULE: "Rule", Kind.ARCHIVE: "Archive", Kind.INSTRUCTIONS: "Agent instructions", Kind.OTHER: "Note",
}  # fmt: skip
FACTS = "Facts"  # section of facts in the index
WITH_FACTS = (Kind.MEMORY, Kind.ARCHIVE)  # kinds of files whose facts become concepts of their own


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle, not written yet.

    `files`: path in the bundle -> bytes. `left`: (path, reason) of memory files that are not in it. `withheld`: paths
    of files with replaced lines. `facts`: number of facts.
    """

    files: Mapping[str, bytes]
    left: tuple[tuple[str, str], ...]
    withheld: tuple[str, ...]
    facts: int


def bundle(repo: Repository, config: Config, commit: str, today: date, below: str = "") -> Bundle:
    """The memory of a commit as a bundle.

    `below`: "" for all memory, or a folder that holds an imported bundle, which is exported as it is. Raises UsageError
    if the folder has no memory.
    """
    files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
    prefix = f"{below}/" if below else ""
    chosen = {path: oid for path, oid in sorted(files.items()) if path.startswith(prefix)}
    if below and not chosen:
        raise UsageError(f"there is no memory file below '{below}' at {commit[:12]}", "git mem export okf FOLDER")
    texts = committed_texts(repo, chosen, tree_policy(repo, commit, today))
    maker = _BundleMaker(texts.shown, prefix, History(repo, commit, config))
    files_made = {place: text.encode() for place, text in maker.files().items()}
    return Bundle(files_made, texts.left, texts.withheld, maker.facts)


def skill_bundle(repo: Repository, config: Config, commit: str, today: date) -> Bundle:
    """The procedures of a commit as folders of skills, each with a SKILL.md; nothing is written."""
    files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
    chosen = {path: oid for path, oid in sorted(files.items()) if kind(path) is Kind.SKILL}
    texts = committed_texts(repo, chosen, tree_policy(repo, commit, today))
    return Bundle(skills(texts.shown), texts.left, texts.withheld, 0)


class CommittedTexts(NamedTuple):
    """Texts of memory that may be exported. `shown`: path -> text without blocked lines. `left`: (path, reason) of
    files that are left out. `withheld`: paths of files with replaced lines."""

    shown: Mapping[str, str]
    left: tuple[tuple[str, str], ...]
    withheld: tuple[str, ...]


def committed_texts(repo: Repository, files: Mapping[str, str], policy: Policy) -> CommittedTexts:
    """The texts of these files (path -> oid). A line that the gate would block is replaced by a note, and texts that
    people removed from memory are masked. Files that are too large or no Markdown are left out."""
    texts, left = _texts(repo, files)
    shown = {path: _without_blocked_lines(path, text, policy) for path, text in texts.items()}
    return CommittedTexts(shown, tuple(left), tuple(path for path, text in texts.items() if shown[path] != text))


def _texts(repo: Repository, files: Mapping[str, str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The text of each file, and (path, reason) of files that are too large or not Markdown text."""
    sizes = repo.sizes(sorted(set(files.values())))
    data = dict(repo.read_many(sorted(oid for oid, size in sizes.items() if size <= MAX_MEMORY_FILE_BYTES)))
    texts: dict[str, str] = {}
    left_out: list[tuple[str, str]] = []
    mask = forgotten_texts(repo)
    for path, oid in files.items():
        content = data.get(oid)
        if content is None:
            left_out.append((path, f"is larger than {counted(MAX_MEMORY_FILE_BYTES, 'byte')}"))
            continue
        _, problems = decode(content, path)
        if problems:
            left_out.append((path, problems[0].message))
        elif not path.endswith(".md"):
            left_out.append((path, "is not Markdown"))
        else:
            texts[path] = mask.masked(content.decode())
    return texts, left_out


def _without_blocked_lines(path: str, text: str, policy: Policy) -> str:
    """The text without the lines that the gate would block."""
    findings = [finding for finding in scan_text(text, path, policy) if finding.severity is Severity.BLOCK]
    return "\n".join(withhold_lines(text.split("\n"), findings))


class _BundleMaker:
    """Makes the files of one bundle from the texts of memory. `prefix` as in `bundle`."""

    def __init__(self, texts: Mapping[str, str], prefix: str, history: History) -> None:
        self._texts, self._prefix, self._history = texts, prefix, history
        self._taken: set[str] = set()
        self._listed: dict[str, list[tuple[str, str, str]]] = {}  # section -> (title, place, description)
        self._places = {path: self._place(path, text) for path, text in texts.items()}
        self.facts = 0

    def files(self) -> dict[str, str]:
        """Path in the bundle -> text."""
        files: dict[str, str] = {}
        for path, text in self._texts.items():
            name = PurePosixPath(self._places[path]).name
            if self._prefix and (name in okf.RESERVED or okf.is_concept(text)):
                files[self._places[path]] = text
            elif kind(path) in WITH_FACTS:
                files.update(self._with_facts(path, text))
            else:
                files[self._places[path]] = self._concept(path, text)
        if not self._prefix:
            files["index.md"] = _index(self._listed)
        return files

    def _place(self, path: str, text: str) -> str:
        """The path of a memory file in the bundle: its path in memory, but no hidden name and no reserved name.

        A listing of an imported bundle keeps its reserved name.
        """
        below = PurePosixPath(path.removeprefix(self._prefix))
        top = len(below.parts) == 1
        keeps_its_name = self._prefix and (okf.is_concept(text) or okf.is_listing(below.name, text, top=top))
        if below.name in okf.RESERVED and not keeps_its_name:
            below = below.with_name(f"{below.stem}-note.md")
        return self._free("/".join(part.lstrip(".") or "_" for part in below.parts))

    def _free(self, place: str) -> str:
        """Take `place`, or the first of `place-2`, `place-3` ... that is free without regard to case, and return it."""
        number, free = 1, place
        while free.casefold() in self._taken:
            number += 1
            free = f"{place.removesuffix('.md')}-{number}.md"
        self._taken.add(free.casefold())
        return free

    def _concept(self, path: str, text: str, about: str = "") -> str:
        """A memory file as a concept, which is added to the index with the description `about`."""
        document, type_name = parse(text.encode()), TYPES[kind(path)]
        title = next((heading.text for heading in document.headings if heading.text.strip()), "")
        title = title or PurePosixPath(path).stem.encode(errors="replace").decode()
        until, cited = document.front_matter.get("until", ""), document.front_matter.get("src", ())
        spans = filter(None, map(parse_span, items_of(cited)))
        author, changed_at = self._history.last_change(path)
        origin = okf.Origin(author, changed_at, (), tuple(map(self._source, spans)))
        keys = [("type", type_name), ("title", title), *origin.keys]
        if isinstance(until, str) and (stale := okf.stale_after(until)):
            keys.append(("stale_after", stale))
        self._listed.setdefault(type_name, []).append((title, self._places[path], about))
        return okf.wrapped(text, keys, {} if self._prefix else {"path": path})

    def _with_facts(self, path: str, text: str) -> dict[str, str]:
        """Path -> text of the concepts for a file of facts: the file itself and its facts. Adds the facts to the
        listing and to `self.facts`.

        Each top-level list item becomes a concept of its own, and a link replaces its lines in the file. All other text
        of the file stays.
        """
        concepts: dict[str, str] = {}
        lines: list[str | None] = list(text.split("\n"))
        memory = memory_facts.parse(text.encode())
        entries = memory.items
        for entry in entries:
            fact = entry.fact
            fact_lines = [line for line in lines[entry.start - 1 : fact.end] if line is not None]
            place = self._free(f"facts/{fact.id}.md")
            origin, spans = self._history.of_fact(path, fact)
            sources = tuple(map(self._source, spans))
            concepts[place] = okf.fact_concept(fact_lines, fact, path, replace(origin, sources=sources))
            end = fact_lines[-1][len(fact_lines[-1].rstrip("\r")) :]
            link = okf.fact_link(memory_facts.marker_of(memory, entry), fact, place, end)
            lines[entry.start - 1 : fact.end] = [link, *[None] * (len(fact_lines) - 1)]
            self._listed.setdefault(FACTS, []).append((fact.text[: okf.MAX_TITLE_CHARS], place, fact.get("type")))
        self.facts += len(entries)
        concepts[self._places[path]] = self._concept(
            path, "\n".join(line for line in lines if line is not None), counted(len(entries), "fact")
        )
        return concepts

    def _source(self, span: Span) -> tuple[str, str, date | None]:
        """(resource, title, day) of cited lines, as in `okf.Origin`."""
        lines = f"line {span.start_line}"
        if span.end_line > span.start_line:
            lines = f"lines {span.start_line} to {span.end_line}"
        place = self._places.get(span.path, span.path)
        return f"/{_address(place)}", f"{span.path}, {lines}", log_date(span.path)


def _address(place: str) -> str:
    """A path in a bundle, quoted for a link; it may hold bytes that are not UTF-8."""
    return quote(place, errors="surrogateescape")


def _index(listed: Mapping[str, list[tuple[str, str, str]]]) -> str:
    """The index.md of the top folder. `listed`: section -> (title, path in the bundle, description)."""
    return "\n".join(["---", f'okf_version: "{okf.VERSION}"', "---", *_sections(listed)])


def _sections(listed: Mapping[str, list[tuple[str, str, str]]]) -> Iterator[str]:
    for section, rows in listed.items():
        yield from ("", f"# {section}", "")
        for title, place, about in rows:
            words = " ".join(re.sub(r"[\[\]\\]", " ", title).split())
            yield " - ".join(filter(None, (f"* [{words}]({_address(place)})", about)))
    yield ""
