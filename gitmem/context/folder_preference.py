"""Leaves out statements that hold for other folders than those in hand, and prefers those of nearer folders. Pure.

Layers read documents without the statements of other folders. A message tells how many were left out and for which
folders. A `scope` that names no folder is ignored, and a message names it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace

from gitmem.context import layers
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.gate.quoting import shown_name
from gitmem.memory.document import Document
from gitmem.memory.folder_scope import KEY, FoldersInHand, faulty_scopes, folder_of_path, folders_of
from gitmem.memory.statements import Form, Statement
from gitmem.messages import Message
from gitmem.plural import counted

Read = Callable[[str], Document | None]
# Layers whose parts are preferred if they hold for a nearer folder; rules have globs of their own.
PREFERRED = frozenset((Layer.MEMORY, Layer.PROJECT, Layer.DAILY, Layer.EPISODE))
MAX_WEIGHED_RELEVANCE = 0.89  # relevance that a weighed part may have
GAP_KEPT = 0.5  # factor of the gap between a part's relevance and MAX_WEIGHED_RELEVANCE, for each level of its folder
MAX_NAMED = 3  # folders and faulty scopes that a message names


@dataclass(frozen=True, slots=True)
class _InHand(Document):
    """A document with statements for the folders in hand only. `said`: its statements; those left out are empty."""

    said: tuple[Statement, ...] = ()

    @property
    def statements(self) -> tuple[Statement, ...]:
        return self.said


class FolderReader:
    """Reads documents without statements for other folders, and counts these for `limits`."""

    def __init__(self, read: Read, in_hand: FoldersInHand, whole: Collection[str]) -> None:
        self._read, self._in_hand, self._whole = read, in_hand, whole
        self._known: dict[str, Document | None] = {}
        self._left_out: dict[str, int] = {}  # folder -> statements
        self._faulty: list[tuple[str, int, str]] = []

    def __call__(self, path: str) -> Document | None:
        """The document of a path; None if there is none."""
        if path not in self._known:
            document = self._read(path)
            self._known[path] = document and self._filtered(document)
        return self._known[path]

    def _filtered(self, document: Document) -> Document:
        if not may_be_scoped(document, self._whole):
            return document
        found = document.statements
        self._faulty += [(document.path, *each) for each in faulty_scopes(found, document.front_matter)]
        folders = folders_of(found, document.path, document.front_matter, self._whole)
        if all(self._in_hand.depth(folder) >= 0 for folder in set(folders)):
            return document
        said = []
        for each, folder in zip(found, folders, strict=True):
            if self._in_hand.depth(folder) >= 0:
                said.append(each)
                continue
            if each.says and each.text:
                self._left_out[folder] = self._left_out.get(folder, 0) + 1
            if each.says:
                each = each._replace(form=Form.COMMENT, text="", meta=())
            said.append(each)
        given = {each.name: getattr(document, each.name) for each in fields(Document)}
        return _InHand(**given, said=tuple(said))

    def limits(self) -> list[str]:
        """Messages on statements that were left out and on faulty scopes."""
        said: list[str] = []
        if self._left_out:
            names = sorted(self._left_out)
            where = ", ".join(map(shown_name, names[:MAX_NAMED]))
            if len(names) > MAX_NAMED:
                where = Message("{} and {} more", where, len(names) - MAX_NAMED)
            number = counted(sum(self._left_out.values()), "statement")
            said.append(Message("folders: {} for {} left out; --for PATH names a file there", number, where))
        said += [
            Message(
                "scope: {}:{} names '{}', no folder of this repository: ignored",
                shown_name(path),
                line,
                shown_name(value[:80]),
            )
            for path, line, value in self._faulty[:MAX_NAMED]
        ]
        if len(self._faulty) > MAX_NAMED:
            said.append(
                Message("scope: {} more name no folder of this repository: ignored", len(self._faulty) - MAX_NAMED)
            )
        return said


def may_be_scoped(document: Document, whole: Collection[str]) -> bool:
    """Whether a document may have statements that hold for a folder; a quick check."""
    stated = KEY in document.front_matter or any(f"{KEY}=" in line for line in document.lines)
    return stated or bool(folder_of_path(document.path, whole))


def nearest(
    parts: Sequence[Part], read: Read, in_hand: FoldersInHand, whole: Collection[str]
) -> tuple[list[Part], list[tuple[Part, str]]]:
    """The parts, with more relevance for those of nearer folders, and (part, reason) for hidden facts.

    A fact is hidden if a nearer folder has a fact with the same key (`Test runner: ...`).
    """
    known: dict[str, dict[int, str]] = {}

    def folder(part: Part) -> str:
        if part.path not in known:
            known[part.path] = {}
            document = None
            if part.pieces:
                document = read(part.path)
            if document is not None and may_be_scoped(document, whole):
                found = document.statements
                folders = folders_of(found, part.path, document.front_matter, whole)
                known[part.path] = {each.first: name for each, name in zip(found, folders, strict=True)}
        names = [known[part.path].get(piece.first, "") for piece in part.pieces]
        return max(names, key=in_hand.depth, default="")

    deepest: dict[str, str] = {}
    placed = [(part, folder(part), layers.key_of(part)[0] if part.layer is Layer.MEMORY else "") for part in parts]
    for _, name, key in placed:
        if key and in_hand.depth(name) > in_hand.depth(deepest.get(key, "")):
            deepest[key] = name
    kept: list[Part] = []
    hidden: list[tuple[Part, str]] = []
    for part, name, key in placed:
        depth = in_hand.depth(name)
        if depth < in_hand.depth(deepest.get(key, "")):
            hidden.append((part, Message("the {} scope says it", deepest[key])))
        elif depth > 0 and part.layer in PREFERRED and part.relevance < MAX_WEIGHED_RELEVANCE:
            kept.append(
                replace(
                    part, relevance=MAX_WEIGHED_RELEVANCE - (MAX_WEIGHED_RELEVANCE - part.relevance) * GAP_KEPT**depth
                )
            )
        else:
            kept.append(part)
    return kept, hidden
