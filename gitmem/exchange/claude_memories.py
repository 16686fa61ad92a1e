"""Reads Claude's memories of a person from the archive that claude.ai sends: a note per account and per project.

`memories.json` is a list of objects; newer archives have one object in each of `memories/*.json`. An object has
`conversations_memory`, a text, and `project_memories`, id of the project -> text. `projects.json` or `projects/*.json`
have the names. The service documents no format; this is the one of 2026, as people describe it. A note counts as an
agent's text, not as facts of memory; it names its source, for a person to check.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from gitmem.exchange.document_import import Arrival
from gitmem.exchange.okf import rendered
from gitmem.exchange.service_archives import files_named
from gitmem.json_values import parse_json

SERVICE = "claude-export"
HOME = f"memory/{SERVICE}"
MAX_FILE_BYTES = 16 << 20  # people describe files below 100 KiB
_MEMORIES = re.compile(r"(?:^|[/:])memories(?:[^/]*|/[^/]+)\.json$")
_PROJECTS = re.compile(r"(?:^|/)projects(?:|/[^/]+)\.json$")
_PLAIN = re.compile(r"[0-9A-Za-z-]{1,64}")


def read_memories(path: Path) -> tuple[list[Arrival], list[tuple[str, str]]]:
    """(the notes from the archive at `path`, (place, reason) of the parts that cannot be read).

    Both are empty if the archive holds no memories. Raises UsageError if there is nothing at `path`, GitMemError if the
    archive is damaged or too large.
    """
    arrivals: dict[str, Arrival] = {}
    left_out: list[tuple[str, str]] = []
    names = _project_names(path)
    account = 0
    for place, file in files_named(path, _MEMORIES):
        match = _MEMORIES.search(place)
        values = _objects(file)
        if values is None or match is None:
            left_out.append((place, "cannot be read: it is no JSON of at most 16 MiB"))
            continue
        for value in values:
            notes = list(_notes(match[0].lstrip("/:"), value, names, account))
            arrivals |= {note.path: note for note in notes if note.path not in arrivals}
            account += bool(notes)
            if notes and value.get("memory_files"):
                left_out.append((f"{place}#memory_files", "is of a form that is not known"))
    return list(arrivals.values()), left_out


def _notes(name: str, value: Mapping[str, Any], names: Mapping[str, str], account: int) -> Iterator[Arrival]:
    """The notes of one account. `name`: its file in the archive. `names`: of projects. `account`: number, from 0."""
    text = value.get("conversations_memory")
    if isinstance(text, str) and text.strip():
        number = f"-{account + 1}" if account else ""
        yield _note(f"{name}#conversations_memory", f"{HOME}/memory{number}.md", "What Claude remembered", text)
    projects = value.get("project_memories")
    if not isinstance(projects, dict):
        return
    for ident, project in projects.items():
        if isinstance(project, str) and project.strip():
            plain = ident
            if not _PLAIN.fullmatch(ident):
                plain = hashlib.sha256(ident.encode("utf-8", "replace")).hexdigest()
            title = f"What Claude remembered of {names.get(ident) or f'project {plain}'}"
            yield _note(f"{name}#project_memories/{plain}", f"{HOME}/project-{plain}.md", title, project)


def _note(place: str, path: str, title: str, text: str) -> Arrival:
    """A note, marked as an agent's text (docs/format.md, `origin`) with its source."""
    keys = rendered([("type", "note"), ("origin", "agent"), ("source", f"{SERVICE} {place}")])
    lines = ["---", *keys, "---", "", f"# {title}", "", text.strip().replace("\r\n", "\n"), ""]
    return Arrival(place, path, "\n".join(lines).encode("utf-8", "replace"))


def _project_names(path: Path) -> dict[str, str]:
    """Id of a project -> its name, on one line."""
    names: dict[str, str] = {}
    for _, file in files_named(path, _PROJECTS):
        for value in _objects(file) or ():
            ident, name = value.get("uuid"), value.get("name")
            if isinstance(ident, str) and isinstance(name, str) and name.strip():
                names[ident] = " ".join(name.split())
    return names


def _objects(file: IO[bytes]) -> list[Mapping[str, Any]] | None:
    """The JSON objects of a file: the one that it is, or those of its list; None if it is too long or no JSON."""
    file.seek(0)
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        return None
    try:
        value = parse_json(data)
    except ValueError:
        return None
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
