"""Converts skills of agents' hosts (a folder with SKILL.md each) to procedures of memory, and back.

An imported skill goes to `memory/skills/NAME/` byte for byte, its Markdown only: a script is not memory. On export a
procedure of one file, `memory/skills/NAME.md`, becomes a folder; the `metadata` of its SKILL.md holds the front matter,
so that an import restores the file. (agentskills.io/specification: `name` is that of the folder, of a-z, 0-9 and "-",
at most 64; `description` has at most 1,024 characters; `license`, `compatibility`, `metadata`, `allowed-tools`.)
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any

from gitmem.errors import OutsideRepository, UsageError
from gitmem.exchange.document_import import Arrival
from gitmem.exchange.okf import rendered
from gitmem.git.worktree import read_bytes
from gitmem.memory.document import parse
from gitmem.memory.front_matter import closing_line, items_of, nested, read
from gitmem.memory.importing import markdown_below
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind

FILE = "SKILL.md"
FOLDERS = (".agents/skills", ".claude/skills")  # in which hosts look for skills of a project
HOME = "memory/skills"
NAME_LIMIT, DESCRIPTION_LIMIT = 64, 1024  # characters
COPIED_FIELDS = ("license", "compatibility", "allowed-tools")
PATH, FRONT = "git-mem-path", "git-mem-front"  # keys of `metadata`: path and front matter of the procedure


# -- in --------------------------------------------------------------------------------------------------------------


def read_skills(folder: Path) -> tuple[list[Arrival], list[tuple[str, str]]]:
    """(the skills of a folder as documents of memory to import, (name, reason) of the files that are not imported).

    `folder`: a skill, a folder of skills or a project. Raises UsageError if there is no folder or no skill, GitMemError
    for too many files.
    """
    top = next((folder / inside for inside in FOLDERS if (folder / inside).is_dir()), folder)
    if not top.is_dir():
        raise UsageError(f"there is no folder '{folder}'", f"name a folder of skills: each skill has a {FILE}")
    names, left_out = markdown_below(top)
    homes = sorted({str(PurePosixPath(name).parent) for name in names if PurePosixPath(name).name == FILE})
    if not homes:
        raise UsageError(f"there is no {FILE} in '{folder}'", "name a folder of skills, as .agents/skills")
    arrivals: dict[str, Arrival] = {}
    for name in names:
        home = next((home for home in reversed(homes) if home == "." or name.startswith(f"{home}/")), None)
        if home is None:
            left_out.append((name, "belongs to no skill"))
            continue
        try:
            data = read_bytes(top, name, MAX_MEMORY_FILE_BYTES + 1)
        except (OSError, OutsideRepository):
            left_out.append((name, "cannot be read"))
            continue
        try:
            restored = _restored(name, data)
        except UnicodeEncodeError:
            left_out.append((name, "its front matter holds what is no text"))
            continue
        title, inside = home.replace("/", "-"), name.removeprefix(f"{home}/")
        if home == ".":
            title, inside = top.resolve().name, name
        arrival = restored or Arrival(name, f"{HOME}/{title}/{inside}", data)
        if arrival.path in arrivals:
            left_out.append((name, f"'{arrival.path}' comes from {arrivals[arrival.path].name} too"))
        else:
            arrivals[arrival.path] = arrival
    return list(arrivals.values()), left_out


def _restored(name: str, data: bytes) -> Arrival | None:
    """The procedure from which `skill_of` made this SKILL.md, with its present description; None for another skill.

    Raises UnicodeEncodeError if the front matter holds surrogates.
    """
    if PurePosixPath(name).name != FILE:
        return None
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    keys = _keys(lines)
    metadata = keys.get("metadata")
    if not isinstance(metadata, dict):
        return None
    path, front = metadata.get(PATH), metadata.get(FRONT)
    if not isinstance(path, str) or not isinstance(front, str) or kind(path) is not Kind.SKILL or ".." in path:
        return None
    old_text = body = "\n".join(lines[closing_line(lines) :])
    if front:
        old_text = f"---\n{front}\n---\n{body}"
    if _description(old_text, path) == keys.get("description"):
        return Arrival(name, path, old_text.encode())
    other_keys = [line for line in front.split("\n") if line and not line.startswith("description:")]
    rows = [*other_keys, *rendered([("description", keys.get("description"))])]
    return Arrival(name, path, "\n".join(["---", *rows, "---", body]).encode())


# -- out -------------------------------------------------------------------------------------------------------------


def skills(texts: Mapping[str, str]) -> dict[str, bytes]:
    """The procedures among memory files as folders of skills: path below the folder of skills -> bytes. `texts`: path
    -> text of memory files; other kinds are left out.

    A folder of `memory/skills` with a SKILL.md stays as it is. Any other procedure becomes a folder with a SKILL.md,
    under a name that no other has.
    """
    chosen = {path: text for path, text in sorted(texts.items()) if kind(path) is Kind.SKILL}
    homes = {str(PurePosixPath(path).parent) for path in chosen if PurePosixPath(path).name == FILE} - {HOME}
    files: dict[str, bytes] = {}
    for path, text in chosen.items():
        if any(path.startswith(f"{home}/") for home in homes):
            files[path.removeprefix(f"{HOME}/")] = text.encode()
    names = {place.split("/")[0] for place in files}
    for path, text in chosen.items():
        if path.removeprefix(f"{HOME}/") not in files:
            name = _free(_skill_name(path), names)
            names.add(name)
            files[f"{name}/{FILE}"] = skill_of(path, text, name).encode()
    return files


def skill_of(path: str, text: str, name: str) -> str:
    """The text of SKILL.md in the folder `name` for the procedure with `text` at `path`. Its `metadata` holds the path
    and the front matter, from which `read_skills` restores the procedure."""
    lines = text.split("\n")
    end = closing_line(lines)
    keys = _keys(lines)
    rows: list[tuple[str, Any]] = [("name", name), ("description", _description(text, path))]
    rows += [(key, keys[key]) for key in COPIED_FIELDS if isinstance(keys.get(key), str)]
    rows.append(("metadata", {PATH: path, FRONT: "\n".join(lines[1 : max(end, 1) - 1])}))
    return "\n".join(["---", *rendered(rows), "---", *lines[end:]])


def _description(text: str, path: str) -> str:
    """The `description` of a procedure; if it has none, its first line and its triggers. At most DESCRIPTION_LIMIT
    characters."""
    document = parse(text.encode())
    keys = document.front_matter
    stated, triggers = keys.get("description", ""), keys.get("triggers", ())
    if isinstance(stated, str) and stated.strip():
        return " ".join(stated.split())[:DESCRIPTION_LIMIT]
    shown = (line.lstrip("# ").strip() for line in document.lines[document.front :])
    words = " ".join(next(filter(None, shown), PurePosixPath(path).stem).split())
    when = ", ".join(items_of(triggers))
    if when:
        words = f"{words.rstrip('.')}. Use it where the request says: {when}."
    return words[:DESCRIPTION_LIMIT]


def _keys(lines: Sequence[str]) -> dict[str, Any]:
    """The front matter; {} if there is none or it cannot be read."""
    front = read(lines)
    return nested(lines, front.end) if front.end and not front.fault else {}


def _skill_name(path: str) -> str:
    """A name that hosts accept for the skill of a procedure; a hash if its path has no Latin letter or digit."""
    stem = unicodedata.normalize("NFKD", path.removeprefix(f"{HOME}/").removesuffix(".md")).lower()
    plain = re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:NAME_LIMIT].strip("-")
    if plain:
        return plain
    return f"skill-{hashlib.sha256(path.encode()).hexdigest()[:8]}"


def _free(name: str, taken_names: Collection[str]) -> str:
    """`name`, or the first of `name-2`, `name-3` ... that is not taken."""
    names = chain([name], (f"{name[: NAME_LIMIT - 4]}-{number}" for number in count(2)))
    return next(candidate for candidate in names if candidate not in taken_names)
