"""The page Files: every memory file, folder by folder, adopted notes too, by title; or those with some words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.git.transaction import Reading
from gitmem.memory.document import parse
from gitmem.memory.files import memory_paths
from gitmem.memory.snapshot import tree_files
from gitmem.paths import log_date
from gitmem.ui.page_snapshot import state
from gitmem.ui.view import View

MAX_FILES = 100  # files of one page
FOLDERS = 200  # folders of one page
BEGINNING = 4_000  # bytes of a file in which its title is looked for


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder below the one that is shown, and how many memory files are in it and below it."""

    path: str
    name: str
    files: int


def page(view: View) -> Response:
    """The files of the folder that the address names, or all whose path or title has the words of `name`."""
    folder, asked = view.fields.get("folder", "").strip("/"), " ".join(view.fields.get("name", "").split())
    paths = [path for path in file_paths(view) if not folder or path.startswith(f"{folder}/")]
    if asked:
        words = _plain(asked).split()
        named = _all_titles(view, paths)
        plain = {path: _plain(f"{path} {named.get(path, '')}") for path in paths}
        files, folders = [path for path in paths if all(word in plain[path] for word in words)], list[Folder]()
    else:
        files, folders = _inside(paths, folder)
    count = max(1, -(-len(files) // MAX_FILES))
    number = min(max(1, _number(view.fields.get("page", "1"))), count)
    if folder:
        steps = folder.split("/")
    else:
        steps = []
    above = [("/".join(steps[: at + 1]), step) for at, step in enumerate(steps)]
    here = files[(number - 1) * MAX_FILES : number * MAX_FILES]
    return view.render(
        "notes.html", files=here, titles=titles(view, here), total=len(files), folders=folders[:FOLDERS],
        left=max(0, len(folders) - FOLDERS), above=above, folder=folder, asked=asked, number=number, pages=count,
        everything=len(paths),
    )  # fmt: skip


def file_paths(view: View) -> Sequence[str]:
    """The paths of the memory files of the snapshot, in order."""
    if not view.snapshot.commit:
        return memory_paths(view.repo, view.config)
    files, _ = tree_files(view.repo, view.repo.tree(view.snapshot.commit), view.config.memory_paths)
    return sorted(files)


def _all_titles(view: View, paths: Sequence[str]) -> Mapping[str, str]:
    """The titles of many files, kept for the state of memory that they are of."""
    key = view.snapshot.commit or state(view.repo, view.config), view.config, tuple(paths)
    return view.site.kept.of("titles", key, lambda: titles(view, paths))


def titles(view: View, paths: Sequence[str]) -> dict[str, str]:
    """path -> what a note calls itself: `title` or `name` of its front matter, else its first heading; none for a file
    that has no such thing or cannot be read, for a daily log, and for a title that people took out."""
    oids: Mapping[str, str] = {}
    if view.snapshot.commit:
        oids = view.repo.blobs(view.snapshot.commit, list(paths))
    reading = Reading(view.repo)
    found = {}
    for path in paths:
        if log_date(path):
            continue
        try:
            data = view.repo.read(oids[path]) if view.snapshot.commit else reading.raw(path)
        except (GitMemError, KeyError):  # the page of the file says why
            continue
        title = _title((data or b"")[:BEGINNING], path)
        if title and not view.forgotten.says_only(title):
            found[path] = title
    return found


def _title(data: bytes, path: str) -> str:
    document = parse(data, path)
    for key in ("title", "name"):
        value = document.front_matter.get(key, "")
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    if not document.headings:
        return ""
    return " ".join(document.headings[0].text.split())


def _inside(paths: Sequence[str], folder: str) -> tuple[list[str], list[Folder]]:
    """The files that stand in a folder itself, and the folders in it."""
    start = 0
    if folder:
        start = len(folder) + 1
    files = [path for path in paths if "/" not in path[start:]]
    below = Counter(path[start:].partition("/")[0] for path in paths if "/" in path[start:])
    return files, [Folder(f"{folder}/{name}" if folder else name, name, below[name]) for name in sorted(below)]


def _plain(text: str) -> str:
    """A text as names are compared: some systems write 회 as three letters."""
    return normalize("NFC", text).casefold()


def _number(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 7:
        return int(text)
    return 1
