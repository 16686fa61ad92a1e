"""The pages of one snapshot as files: for an auditor, or beside a release. No server, no script, no form; every link is
relative and leads to a file that is there.

Only what the commit holds is in them: nothing that is not committed, no sessions, whose receipts are of this machine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gitmem.errors import GitMemError, MissingFile, OutsideRepository, UsageError
from gitmem.messages import Message
from gitmem.ui.page_snapshot import snapshot
from gitmem.ui.pages import PAGES
from gitmem.ui.rendering import STATIC, Ours, masked_word
from gitmem.ui.view import NAVIGATION, Site, View

FIELDS: Mapping[str, tuple[str, ...]] = {  # the pages that are exported, with the fields that make another file of them
    "today": (), "facts": ("page",), "fact": ("path",), "file": ("path", "from"), "timeline": ("day", "from"),
    "pictures": (),
}  # fmt: skip
LOADED = ("style.css", "icon.svg")
READABLE = 60  # characters of a file's name that say what it is
_ODD = re.compile(r"[^A-Za-z0-9.]+")
_NUMBERS = re.compile(r"[0-9][0-9-]{0,20}")  # of a page of a list, a day


@dataclass(frozen=True, slots=True)
class Target:
    """A page with its fields: one file."""

    page: str
    parts: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def file(self) -> str:
        """Its name: what it shows as far as that can be a name, and a digest where that is not all."""
        if self.page == "today":
            return "index.html"
        values = [masked_word(value) for value in (*self.parts, *(value for _, value in self.fields))]
        words = "-".join([self.page, *(_ODD.sub("-", value).strip("-.") for value in values)])
        if not values or (len(values) == 1 and _NUMBERS.fullmatch(values[0])):
            return f"{words}.html"
        key = "\0".join([self.page, *self.parts, *(f"{name}={value}" for name, value in self.fields)])
        digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        return f"{words[:READABLE].rstrip('-.')}-{digest}.html"


@dataclass(frozen=True)
class Static(View):
    """A page of the export. Each page that it links to is one more `wanted`."""

    wanted: dict[Target, None] = field(default_factory=dict)

    @property
    def static(self) -> bool:
        return True

    def url(self, page: str, /, *parts: str, **fields: object) -> str:
        """The file of a page; of one that is not exported nothing is there to lead to."""
        if page not in FIELDS:
            return Ours("#")
        kept = tuple((name, str(fields[name])) for name in FIELDS[page] if fields.get(name) not in (None, "", 1, "1"))
        target = Target(page, parts, kept)
        self.wanted.setdefault(target)
        return Ours(target.file)

    def file(self, name: str) -> str:
        """A file that a page loads lies beside it."""
        return Ours(name)

    @property
    def live(self) -> str:
        return ""


def export(site: Site, folder: Path, moment: datetime, language: str) -> int:
    """Write the pages of the site's snapshot (HEAD where it has none) into a new or empty folder; how many they are.

    Raises UsageError where something is in the folder, GitMemError where there is no commit or nothing can be written.
    """
    wanted: dict[Target, None] = {Target(name): None for name, _ in NAVIGATION if name in FIELDS}
    done: set[str] = set()
    try:
        _make(folder)
        for name in LOADED:
            _write_file(folder / name, (STATIC / name).read_bytes())
        with site.pool.opened() as opened:
            shown = snapshot(opened.repo, site.at or "HEAD", moment)
            while target := next((each for each in wanted if each.file not in done), None):
                done.add(target.file)
                found: dict[Target, None] = {}
                parts = dict(zip(("id",), target.parts, strict=False))
                view = Static(
                    site, opened, shown, target.page, dict(target.fields), parts, language, "", False, moment,
                    wanted=found,
                )  # fmt: skip
                _write_file(folder / target.file, _page(view))
                wanted = {each: None for each in (*wanted, *found) if each.file not in done}
    except OSError as error:
        raise GitMemError(Message("cannot write '{}': {}", folder, error.strerror)) from None
    return len(done)


def _page(view: Static) -> bytes:
    """The page, or where what it is about is not in the snapshot a sentence that says so."""
    try:
        return bytes(PAGES[view.page][1](view).body)
    except (MissingFile, OutsideRepository) as error:
        return bytes(view.render("error.html", title=view.t(error.message), hint=view.t(error.hint)).body)


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty", "name a folder that is not there yet")


def _write_file(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
