"""Reads a bundle of the Open Knowledge Format for an import into memory; `exchange/document_import` writes it.

The files of a bundle that `git mem export okf` made get their old paths. Any other bundle goes below `memory/NAME/`,
byte for byte, so that its links and its front matter stay valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from gitmem.errors import OutsideRepository, UsageError
from gitmem.exchange import okf
from gitmem.exchange.document_import import Arrival
from gitmem.git.worktree import read_bytes
from gitmem.memory.importing import markdown_below
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Layout, is_memory

NAME = re.compile(r"[^\W_][\w.-]*")
NO_TEXT = "its name or its front matter holds what is no text"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
RECORDED = (
    "who made, reviewed and sourced a fact is what the history here records; what the bundle says now is not kept"
)


@dataclass(frozen=True, slots=True)
class ReadBundle:
    """A bundle to import.

    `arrivals`: its documents. `left`: (name, reason) of files that are not imported. `notes`: for the person.
    """

    arrivals: tuple[Arrival, ...]
    left: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


def read_bundle(folder: Path, name: str = "", globs: Sequence[str] = ()) -> ReadBundle:
    """Read the bundle in a folder. Nothing is written.

    `name`: the folder below `memory/` for a bundle that `git mem` did not make; "" for the name of `folder`. `globs`:
    `[memory] paths`, which make other paths memory too. Raises UsageError if there is no folder, if it has no Markdown
    or if the name cannot be used; GitMemError for too many files.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'", "git mem import okf FOLDER")
    folder_name = name or re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-._") or "bundle"
    if not NAME.fullmatch(folder_name):
        raise UsageError(f"'{name}' cannot name a folder of memory", "letters, digits, '_', '-' and '.'")
    names, left_out = markdown_below(folder)
    if not names:
        raise UsageError(f"there is no Markdown in '{folder}'", "a bundle is a folder of Markdown files")
    concepts: dict[str, okf.Concept] = {}
    raw: dict[str, bytes] = {}
    for path in names:
        try:
            raw[path] = read_bytes(folder, path, MAX_MEMORY_FILE_BYTES + 1)
            concept = okf.read(raw[path].decode())
            if _CONTROL.search(path) or not okf.is_text(concept):
                left_out.append((path, NO_TEXT))
            else:
                concepts[path] = concept
        except (OSError, OutsideRepository):
            left_out.append((path, "cannot be read"))
        except UnicodeDecodeError:
            left_out.append((path, "is not UTF-8"))
    if not any(concept.own for concept in concepts.values()):
        arrivals = [Arrival(path, f"memory/{folder_name}/{path}", raw[path]) for path in concepts]
        return ReadBundle(tuple(arrivals), tuple(left_out))
    return _OwnBundle(concepts, left_out, Layout(extra=tuple(globs))).read()


class _OwnBundle:
    """Reads a bundle that `git mem export okf` made and that others may have changed since."""

    def __init__(self, concepts: Mapping[str, okf.Concept], left: list[tuple[str, str]], layout: Layout) -> None:
        self._concepts, self._left, self._layout = concepts, left, layout
        self._facts = {place: concept for place, concept in concepts.items() if "fact" in concept.own}
        self._linked: set[str] = set()  # concepts of facts to which a file links
        self._changed: list[str] = []  # concepts of facts whose records of the history were changed

    def read(self) -> ReadBundle:
        """The bundle with each fact in its file. A fact to which no file links is left out, and named in the result.
        Call it once: it collects what is left out."""
        arrivals = list(self._arrivals())
        for place in self._facts.keys() - self._linked:
            self._left.append((place, f"no line of {self._facts[place].own.get('file', 'a file')} leads to it"))
        notes: tuple[str, ...] = ()
        if self._changed:
            notes = (f"{', '.join(sorted(self._changed))}: {RECORDED}",)
        return ReadBundle(tuple(arrivals), tuple(sorted(self._left)), notes)

    def _arrivals(self) -> Iterator[Arrival]:
        """The files of the bundle at their old paths, in order, without facts and listings. A path that is not memory
        goes below `memory/`; one that cannot be a path of the repository, or is taken, is left out and added to
        `self._left`."""
        taken_paths: set[str] = set()
        for place, concept in self._concepts.items():
            if place in self._facts or (place in okf.RESERVED and not concept.own):
                continue  # a fact, which is read with its file, or a listing that the export made
            path = str(concept.own.get("path") or place)
            if not is_memory(path, self._layout):
                path = f"memory/{place}"
            if not (_is_repository_path(path) and path.endswith(".md")) or path in taken_paths:
                self._left.append((place, f"'{path}' is no path that it can have"))
                continue
            taken_paths.add(path)
            text = okf.unwrapped(concept) if concept.own else concept.text
            yield Arrival(place, path, "\n".join(self._lines(text, path)).encode())

    def _lines(self, text: str, path: str) -> Iterator[str]:
        """The lines of a file, with each fact in place of the link to it. Adds the facts to `self._linked`, and those
        whose text was changed to `self._changed`."""
        for line in text.split("\n"):
            place = unquote(okf.linked_place(line))
            concept = self._facts.get(place)
            if concept is None or concept.own.get("file") != path:
                yield line
                continue
            fact, changed = okf.fact_line(concept)
            self._linked.add(place)
            if changed:
                self._changed += [place]
            yield fact


def _is_repository_path(path: str) -> bool:
    """Whether a path stays in the repository and is written as Git writes it."""
    parts = path.split("/")
    return (
        path == str(PurePosixPath(path))
        and not _CONTROL.search(path)
        and not path.startswith("/")
        and not {"..", ".git"} & {p.lower() for p in parts}
    )
