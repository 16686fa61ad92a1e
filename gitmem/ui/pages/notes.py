"""The page Files: all memory files folder by folder with their titles, or those whose name has some words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from unicodedata import normalize

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.git.transaction import Reading
from gitmem.memory.document import parse
from gitmem.memory.files import memory_paths
from gitmem.memory.snapshot import tree_files
from gitmem.paths import log_date
from gitmem.ui.page_snapshot import memory_key
from gitmem.ui.view import View

MAX_FILES = 100  # on one page
MAX_FOLDERS = 200  # on one page
MAX_TITLE_BYTES = 4_000  # at the beginning of a file, in which its title is searched


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Folder:
    """A subfolder. `files`: the number of memory files in it and below it."""

    path: str
    name: str
    files: int


def page(view: View) -> Response:
    """The files and subfolders of `folder`, or the files below it whose path or title has all words of `name`. A page
    has MAX_FILES files and at most MAX_FOLDERS folders; it names the number of the other folders."""
    folder, name = view.fields.get("folder", "").strip("/"), " ".join(view.fields.get("name", "").split())
    paths = [path for path in file_paths(view) if not folder or path.startswith(f"{folder}/")]
    if name:
        words = _comparable(name).split()
        title_of = _all_titles(view, paths)
        text_of = {path: _comparable(f"{path} {title_of.get(path, '')}") for path in paths}
        files, folders = [path for path in paths if all(word in text_of[path] for word in words)], list[Folder]()
    else:
        files, folders = _inside(paths, folder)
    number, count, shown = page_of(view, files, MAX_FILES)
    steps = list(filter(None, folder.split("/")))
    above = [("/".join(steps[:depth]), step) for depth, step in enumerate(steps, 1)]
    return view.render(
        "notes.html", files=shown, titles=titles(view, shown), total=len(files), folders=folders[:MAX_FOLDERS],
        left=max(0, len(folders) - MAX_FOLDERS), above=above, folder=folder, asked=name, number=number, pages=count,
        everything=len(paths),
    )  # fmt: skip


def page_of(view: View, rows: Sequence[Row], size: int) -> tuple[int, int, Sequence[Row]]:
    """(the number of the page, the number of pages, the rows of that page) of a list with `size` rows on a page. The
    number is the `page` of the query, or the nearest page that exists; the first is 1, also for an empty list."""
    count = max(1, -(-len(rows) // size))
    number = min(max(1, view.number("page", 1)), count)
    return number, count, rows[(number - 1) * size : number * size]


def file_paths(view: View) -> Sequence[str]:
    """The sorted paths of the memory files of the snapshot."""
    if not view.snapshot.commit:
        return memory_paths(view.repo, view.config)
    files, _ = tree_files(view.repo, view.repo.tree(view.snapshot.commit), view.config.memory_paths)
    return sorted(files)


def _all_titles(view: View, paths: Sequence[str]) -> Mapping[str, str]:
    """As `titles`, cached while memory does not change."""
    key = view.snapshot.commit or memory_key(view.repo, view.config), view.config, tuple(paths)
    return view.site.cache.get("titles", key, lambda: titles(view, paths))


def titles(view: View, paths: Sequence[str]) -> dict[str, str]:
    """The title of each note by its path: `title` or `name` of its front matter, else its first heading.

    Daily logs, files without a title, unreadable files, and forgotten titles are left out.
    """
    oids: Mapping[str, str] = {}
    if view.snapshot.commit:
        oids = view.repo.blobs(view.snapshot.commit, list(paths))
    reading = Reading(view.repo)
    title_of = {}
    for path in paths:
        if log_date(path):
            continue
        try:
            data = view.repo.read(oids[path]) if view.snapshot.commit else reading.raw(path)
        except (GitMemError, KeyError):  # the page of the file says why
            continue
        title = _title((data or b"")[:MAX_TITLE_BYTES], path)
        if title and not view.forgotten.is_removed_text(title):
            title_of[path] = title
    return title_of


def _title(data: bytes, path: str) -> str:
    """`title` or `name` of the front matter, else the first heading, on one line; "" without any of them. `data`: the
    beginning of the file."""
    document = parse(data, path)
    for key in ("title", "name"):
        value = document.front_matter.get(key, "")
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    if not document.headings:
        return ""
    return " ".join(document.headings[0].text.split())


def _inside(paths: Sequence[str], folder: str) -> tuple[list[str], list[Folder]]:
    """(the files directly in a folder, its subfolders). `paths`: all files below the folder."""
    prefix = f"{folder}/" if folder else ""
    start = len(prefix)
    files = [path for path in paths if "/" not in path[start:]]
    below = Counter(path[start:].partition("/")[0] for path in paths if "/" in path[start:])
    return files, [Folder(f"{prefix}{name}", name, below[name]) for name in sorted(below)]


def _comparable(text: str) -> str:
    """A text for comparing names, in NFC since some systems write 회 as three characters."""
    return normalize("NFC", text).casefold()
