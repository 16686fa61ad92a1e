"""Leaves out statements that apply only to folders outside the request, and prefers statements of nearer folders. Pure.

A statement applies to a folder if it lies in that folder's memory, or names the folder in its metadata key `scope`. The
request is about the folders of its subjects, staged paths and prompt (FoldersInUse). A message tells how many
statements were left out and for which folders. A `scope` that names no folder of the repository is ignored, and a
message names it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace

from gitmem.context import layers
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.gate.quoting import shown_name
from gitmem.memory.document import Document
from gitmem.memory.folder_scope import KEY, FoldersInUse, faulty_scopes, folder_of_path, folders_of
from gitmem.memory.statements import Form, Statement
from gitmem.messages import Message
from gitmem.plural import counted

Read = Callable[[str], Document | None]
# Layers whose parts are preferred if they apply to a nearer folder; rules have globs of their own.
PREFERRED = frozenset((Layer.MEMORY, Layer.PROJECT, Layer.DAILY, Layer.EPISODE))
MAX_RAISED_RELEVANCE = 0.89  # highest relevance that a nearer folder gives
GAP_KEPT = 0.5  # for each level of a folder, the share that stays of the gap to MAX_RAISED_RELEVANCE
MAX_NAMED = 3  # folders and faulty scopes that a message names


@dataclass(frozen=True, slots=True)
class _FilteredDocument(Document):
    """A document without the statements of other folders. `shown_statements`: all statements; one that is left
    out is an empty comment."""

    shown_statements: tuple[Statement, ...] = ()

    @property
    def statements(self) -> tuple[Statement, ...]:
        return self.shown_statements


class FolderReader:
    """Reads documents without the statements that apply to folders outside the request, and counts these for `limits`.
    `in_hand`: the folders of the request. `whole`: folders whose memory belongs to the whole repository."""

    def __init__(self, read: Read, in_hand: FoldersInUse, whole: Collection[str]) -> None:
        self._read, self._in_hand, self._whole = read, in_hand, whole
        self._known: dict[str, Document | None] = {}
        self._left_out: dict[str, int] = {}  # folder -> statements
        self._faulty: list[tuple[str, int, str]] = []

    def __call__(self, path: str) -> Document | None:
        """The document of a path, in whose `statements` those of other folders are empty comments (its `lines` keep
        their text); None if it cannot be read. Results are cached."""
        if path not in self._known:
            document = self._read(path)
            self._known[path] = document and self._filtered(document)
        return self._known[path]

    def _filtered(self, document: Document) -> Document:
        """The document, in whose `statements` those of folders outside the request are empty comments at the same
        lines; headings, and `lines` and `facts` with all their text, stay. What is left out, and each value of `scope`
        that names no folder, is noted for `limits`, so call it once for each document."""
        if not may_be_scoped(document, self._whole):
            return document
        statements = document.statements
        self._faulty += [(document.path, *fault) for fault in faulty_scopes(statements, document.front_matter)]
        folders = folders_of(statements, document.path, document.front_matter, self._whole)
        if all(self._in_hand.depth(folder) >= 0 for folder in set(folders)):
            return document
        shown = []
        for statement, folder in zip(statements, folders, strict=True):
            if self._in_hand.depth(folder) >= 0:
                shown.append(statement)
                continue
            if statement.has_content and statement.text:
                self._left_out[folder] = self._left_out.get(folder, 0) + 1
            if statement.has_content:
                statement = statement._replace(form=Form.COMMENT, text="", meta=())
            shown.append(statement)
        values = {field.name: getattr(document, field.name) for field in fields(Document)}
        return _FilteredDocument(**values, shown_statements=tuple(shown))

    def limits(self) -> list[str]:
        """Messages for a person on the statements that were left out and on values of `scope` that name no folder, in
        the documents read so far; [] if there are none. At most MAX_NAMED folders and values are named."""
        messages: list[str] = []
        if self._left_out:
            names = sorted(self._left_out)
            folders = ", ".join(map(shown_name, names[:MAX_NAMED]))
            if len(names) > MAX_NAMED:
                folders = Message("{} and {} more", folders, len(names) - MAX_NAMED)
            number = counted(sum(self._left_out.values()), "statement")
            messages.append(Message("folders: {} for {} left out; --for PATH names a file there", number, folders))
        messages += [
            Message(
                "scope: {}:{} names '{}', no folder of this repository: ignored",
                shown_name(path),
                line,
                shown_name(value[:80]),
            )
            for path, line, value in self._faulty[:MAX_NAMED]
        ]
        if len(self._faulty) > MAX_NAMED:
            messages.append(
                Message("scope: {} more name no folder of this repository: ignored", len(self._faulty) - MAX_NAMED)
            )
        return messages


def may_be_scoped(document: Document, own_folders: Collection[str]) -> bool:
    """Whether a document may have statements that apply to one folder only; a quick check that may say True wrongly.

    `own_folders`: folders whose memory belongs to the whole repository.
    """
    stated = KEY in document.front_matter or any(f"{KEY}=" in line for line in document.lines)
    return stated or bool(folder_of_path(document.path, own_folders))


def prefer_nearest(
    parts: Sequence[Part], read: Read, subject_folders: FoldersInUse, own_folders: Collection[str]
) -> tuple[list[Part], list[tuple[Part, str]]]:
    """(the parts that remain, with more relevance for those of deeper folders; (part, reason) for each hidden fact).

    A fact of the layer MEMORY is hidden if a deeper folder has one with the same key (`Test runner: ...`). Only parts
    of PREFERRED layers gain relevance, up to MAX_RAISED_RELEVANCE. `own_folders`: folders whose memory belongs to the
    whole repository.
    """
    folders_by_path: dict[str, dict[int, str]] = {}

    def folder(part: Part) -> str:
        if part.path not in folders_by_path:
            folders_by_path[part.path] = {}
            document = read(part.path) if part.pieces else None
            if document is not None and may_be_scoped(document, own_folders):
                statements = document.statements
                folders = folders_of(statements, part.path, document.front_matter, own_folders)
                folders_by_path[part.path] = {row.first: name for row, name in zip(statements, folders, strict=True)}
        names = [folders_by_path[part.path].get(piece.first, "") for piece in part.pieces]
        return max(names, key=subject_folders.depth, default="")

    deepest: dict[str, str] = {}
    placed = [
        (part, folder(part), layers.override_key(part)[0] if part.layer is Layer.MEMORY else "") for part in parts
    ]
    for _, name, key in placed:
        if key and subject_folders.depth(name) > subject_folders.depth(deepest.get(key, "")):
            deepest[key] = name
    kept: list[Part] = []
    hidden: list[tuple[Part, str]] = []
    for part, name, key in placed:
        depth = subject_folders.depth(name)
        if depth < subject_folders.depth(deepest.get(key, "")):
            hidden.append((part, Message("the {} scope says it", deepest[key])))
        elif depth > 0 and part.layer in PREFERRED and part.relevance < MAX_RAISED_RELEVANCE:
            gap = (MAX_RAISED_RELEVANCE - part.relevance) * GAP_KEPT**depth
            kept.append(replace(part, relevance=MAX_RAISED_RELEVANCE - gap))
        else:
            kept.append(part)
    return kept, hidden
