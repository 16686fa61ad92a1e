"""Exports the pages of one snapshot as HTML files, for an auditor or beside a release.

The files need no server and have no script and no form. Every link is relative and leads to an exported file. They
contain only what the commit contains: no uncommitted changes, and no sessions, whose receipts belong to this machine.
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
from gitmem.ui.pages import PAGES, TABS
from gitmem.ui.rendering import STATIC, Unmasked, masked_word
from gitmem.ui.view import Site, View

FIELDS: Mapping[str, tuple[str, ...]] = {  # exported page -> the query fields for whose values it gets separate files
    "today": (), "facts": ("page",), "fact": ("path",), "file": ("path", "from"), "timeline": ("day", "from"),
    "pictures": (),
}  # fmt: skip
STATIC_FILES = ("style.css", "icon.svg")
MAX_NAME_CHARS = 60  # of a file name before its digest
_UNSAFE = re.compile(r"[^A-Za-z0-9.]+")
_NUMBERS = re.compile(r"[0-9][0-9-]{0,20}")  # a page number or a day


@dataclass(frozen=True, slots=True)
class Target:
    """One exported file: a page with the variable `parts` of its path and the `fields` of its query."""

    page: str
    parts: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def file(self) -> str:
        """The file name: the page with its values, as far as a file name can have them, and a digest if they are more
        than one number."""
        if self.page == "today":
            return "index.html"
        values = [masked_word(value) for value in (*self.parts, *(value for _, value in self.fields))]
        words = "-".join([self.page, *(_UNSAFE.sub("-", value).strip("-.") for value in values)])
        if not values or (len(values) == 1 and _NUMBERS.fullmatch(values[0])):
            return f"{words}.html"
        key = "\0".join([self.page, *self.parts, *(f"{name}={value}" for name, value in self.fields)])
        digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        return f"{words[:MAX_NAME_CHARS].rstrip('-.')}-{digest}.html"


@dataclass(frozen=True)
class ExportView(View):
    """The view of an exported page. `targets`: the pages that it links to, in order; `url` adds to them."""

    targets: dict[Target, None] = field(default_factory=dict)

    @property
    def static(self) -> bool:
        return True

    def url(self, page: str, /, *parts: str, **fields: object) -> str:
        """The name of the file to which a page is exported, which is noted in `targets`; `#` for a page that is not
        exported."""
        if page not in FIELDS:
            return Unmasked("#")
        kept = tuple((name, str(fields[name])) for name in FIELDS[page] if fields.get(name) not in (None, "", 1, "1"))
        target = Target(page, parts, kept)
        self.targets.setdefault(target)
        return Unmasked(target.file)

    def file(self, name: str) -> str:
        """The name of a static file, which is in the same folder."""
        return Unmasked(name)

    @property
    def live(self) -> str:
        return ""


def export(site: Site, folder: Path, moment: datetime, language: str) -> int:
    """Write the pages of the site's snapshot (default: HEAD) into a new or empty folder, and return how many there are.
    `moment`: the time of the export. `language`: of the pages, as `language_of` returns it.

    Raises UsageError when the folder is not empty, UnknownRevision for an unknown `Site.at`, GitMemError when there is
    no commit or a file cannot be written.
    """
    targets: dict[Target, None] = {Target(name): None for name, _ in TABS if name in FIELDS}
    written: set[str] = set()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"'{folder}' is not empty", "name a folder that is not there yet")
        for name in STATIC_FILES:
            _write_file(folder / name, (STATIC / name).read_bytes())
        with site.pool.lend_open() as opened:
            shown = snapshot(opened.repo, site.at or "HEAD", moment)
            while target := next((target for target in targets if target.file not in written), None):
                written.add(target.file)
                links: dict[Target, None] = {}
                parts = dict(zip(("id",), target.parts, strict=False))
                view = ExportView(
                    site, opened, shown, target.page, dict(target.fields), parts, language, "", False, moment,
                    targets=links,
                )  # fmt: skip
                _write_file(folder / target.file, _page(view))
                targets = {target: None for target in (*targets, *links) if target.file not in written}
    except OSError as error:
        raise GitMemError(Message("cannot write '{}': {}", folder, error.strerror)) from None
    return len(written)


def _page(view: ExportView) -> bytes:
    """The HTML of a page. An error page if the snapshot does not have what the page is about."""
    try:
        return bytes(PAGES[view.page].show(view).body)
    except (MissingFile, OutsideRepository) as error:
        return bytes(view.render("error.html", title=view.t(error.message), hint=view.t(error.hint)).body)


def _write_file(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
