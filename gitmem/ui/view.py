"""One request as a page sees it: the repository, the snapshot, the reader's language, addresses, and the answer."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import escape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gitmem.agents.repository_pool import OpenRepository, RepositoryPool
from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.gate.policy import Policy
from gitmem.git.opening import Repository
from gitmem.git.write import merging
from gitmem.memory.forgotten import Forgotten
from gitmem.messages import Message
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.provenance.present_facts import FactList, FactLists, PresentFact, statements_of
from gitmem.review.fact_diff import FactChange, doer
from gitmem.review.masking import masked
from gitmem.ui.asked_forms import AskedForms
from gitmem.ui.background_work import BackgroundWork
from gitmem.ui.file_findings import Examined
from gitmem.ui.model_answers import Answers
from gitmem.ui.page_cache import Kept
from gitmem.ui.page_snapshot import Snapshot, branches, state
from gitmem.ui.rendering import Ours, masked_word, rendered
from gitmem.ui.security import Keys
from gitmem.ui.translation import is_phrase, translate, translated
from gitmem.ui.visits import Visit

NAVIGATION = (  # the name of a page (`pages.PAGES`), its title
    ("today", "Today"), ("facts", "Facts"), ("notes", "Files"), ("timeline", "Timeline"), ("review", "Review"),
    ("compare", "Compare"), ("sessions", "Sessions"), ("pictures", "Pictures"),
)  # fmt: skip

FACT = 400  # characters of a fact in a list
FACTS = 20_000  # characters of all facts of a list, as HTML

OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Site:
    """What all requests share. `at` is the snapshot of addresses that name none; `visit` the one before this start."""

    keys: Keys
    pool: RepositoryPool
    read_only: bool
    at: str
    visit: Visit
    facts: FactLists = field(default_factory=FactLists)
    crash_log: Callable[[BaseException], str] = lambda _: ""  # writes down a bug and says where
    answers: Answers = field(default_factory=Answers)
    kept: Kept = field(default_factory=Kept)
    read_logs: dict[Any, Any] = field(default_factory=dict)  # what the rules model read of each log
    examined: Examined = field(default_factory=Examined)
    asked: AskedForms = field(default_factory=AskedForms)
    work: BackgroundWork = field(default_factory=BackgroundWork)
    patience: float = 0.3  # seconds that a page waits for what is worked out beside it
    changing: threading.Lock = field(default_factory=threading.Lock)  # one change after the other


@dataclass(frozen=True)
class View:
    """One request. `page` is the name of the page, `fields` what the address says after `?`."""

    site: Site
    opened: OpenRepository
    snapshot: Snapshot
    page: str
    fields: Mapping[str, str]
    parts: Mapping[str, str]
    language: str
    nonce: str
    fragment: bool
    now: datetime

    @property
    def csrf(self) -> str:
        """What every form that changes something holds."""
        return Ours(self.site.keys.csrf)

    @property
    def repo(self) -> Repository:
        return self.opened.repo

    @property
    def config(self) -> Config:
        return self.opened.config

    @property
    def name(self) -> str:
        """What the repository is called: its folder."""
        return (self.repo.root or self.repo.git_dir).name

    @property
    def today(self) -> date:
        """The day on which a fact is current or expired: the snapshot's own."""
        return (self.snapshot.when or self.now).date()

    @property
    def changes(self) -> bool:
        """Whether anything can be changed from this page."""
        return not self.site.read_only and not self.snapshot.past

    @property
    def static(self) -> bool:
        """Whether this is a file of an export: it can ask for nothing."""
        return False

    @cached_property
    def merging(self) -> bool:
        """Whether a merge waits here that was begun in a terminal."""
        return not (self.static or self.snapshot.past) and merging(self.repo)

    @property
    def done(self) -> str:
        """The commit that a change has just made, for the page that its form led to; "" for none."""
        oid = self.fields.get("done", "")
        if not OID.fullmatch(oid):
            return ""
        return oid

    @cached_property
    def undoable(self) -> bool:
        """Whether `done` is what the page Undo would take back."""
        from gitmem.provenance.undo import last_write

        try:
            return bool(self.done) and self.done in last_write(self.repo).commits
        except GitMemError:
            return False

    @cached_property
    def something_to_undo(self) -> bool:
        """Whether git mem remembers a write here: the page Undo says whether it can be taken back."""
        from gitmem.git.undo_record import last_write

        try:
            return bool(last_write(self.repo))
        except (GitMemError, OSError):
            return False

    @property
    def start(self) -> int:
        """How many rows of a list come before those of this page: what `and N more` leads to."""
        given = self.fields.get("start", "")
        if given.isascii() and given.isdigit() and len(given) < 8:
            return int(given)
        return 0

    @property
    def origin(self) -> str:
        """The address of a page that can be asked for: of the answer to a form the page that it belongs to,
        "" for this one itself."""
        section = self.page.partition("/")[0]
        if "/" not in self.page and self.page:
            return ""
        return self.url("facts" if section == "fact" else section or "today", at="")

    @cached_property
    def facts(self) -> FactList:
        """The facts of the snapshot, as they stand in their files: mask what is shown of them (`mask`). An earlier
        snapshot has none that was forgotten since."""
        found = self.site.facts.of(self.repo, self.config, self.snapshot.commit, self.today)
        if not (self.snapshot.past and self.forgotten):
            return found
        rows = tuple(row for row in found.rows if not self.forgotten.says_only(row.fact.text))
        if len(rows) == len(found.rows):
            return found
        return FactList(rows)

    def statements(self, path: str) -> Sequence[PresentFact]:
        """The statements of a memory file that are shown: those of a log or a note too. Raises MissingFile,
        OutsideRepository."""
        if path not in self._statements:
            rows = statements_of(self.repo, self.config, path, self.snapshot.commit)
            kept = (row for row in rows if not self.forgotten.says_only(row.fact.text))
            listed = {(row.path, row.fact.line): row for row in self.facts.rows if row.path == path}
            self._statements[path] = tuple(listed.get((row.path, row.fact.line), row) for row in kept)
        return self._statements[path]

    @cached_property
    def _statements(self) -> dict[str, Sequence[PresentFact]]:
        return {}

    @cached_property
    def forgotten(self) -> Forgotten:
        """The texts that people took out: shown nowhere."""
        return forgotten_texts(self.repo)

    def mask(self, value: Any) -> Any:
        """The value (a list becomes a tuple) with its texts masked: for what does not go through a template."""
        return masked(tuple(value) if isinstance(value, list) else value, Policy())

    def done_by(self, change: FactChange) -> str:
        """What stands before the name of who made a change, "" where it is nobody's."""
        return doer(change)

    def longest(self, rows: Sequence[PresentFact]) -> int:
        """Characters of a fact in a list of these: fewer where they are many and long."""
        size = sum(len(escape(row.fact.text[:FACT])) for row in rows)
        if size <= FACTS:
            return FACT
        return FACT * FACTS // size

    def t(self, phrase: str, **values: object) -> str:
        """The phrase of a page, or the sentence of a flow, in the reader's language; one that is not ours, or that
        holds a text, is masked."""
        if isinstance(phrase, Message) or not is_phrase(phrase):
            return translated(self.language, phrase)
        words = translate(self.language, phrase, **values)
        ours = all(isinstance(value, int) for value in values.values())
        if ours:
            return Ours(words)
        return words

    def url(self, page: str, /, *parts: str, **fields: object) -> str:
        """The address of a page of this snapshot; `at=""` names the present. Empty fields are left out."""
        at = str(fields.pop("at", self.snapshot.named if self.snapshot.named != self.site.at else ""))
        given = [(name, masked_word(str(value))) for name, value in fields.items() if value not in ("", None, False)]
        query = urlencode([*given, *([("at", at)] if at else [])], errors="surrogateescape")
        path = "/".join([page, *(quote(masked_word(part), safe="", errors="surrogateescape") for part in parts)])
        return Ours(f"{self.site.keys.base}/{path}" + (f"?{query}" if query else ""))

    def again(self, **fields: object) -> str:
        """The address of this page with other values of some fields."""
        kept = {name: value for name, value in self.fields.items() if name not in ("at", "done")}
        return self.url(self.page, *self.parts.values(), **{**kept, **fields})

    def action(self, address: str) -> str:
        """Where the form of a change goes."""
        return Ours(f"{self.site.keys.base}/{address}")

    def file(self, name: str) -> str:
        """The address of a file that a page loads."""
        return Ours(f"{self.site.keys.base}/static/{name}")

    def render(self, template: str, status: int = 200, **values: object) -> Response:
        """The template as an answer; `view` and `t` are there beside `values`."""
        text = rendered(template, view=self, t=self.t, url=self.url, navigation=NAVIGATION, **values)
        return HTMLResponse(text.encode("utf-8", "replace"), status)

    def redirect(self, page: str, /, *parts: str, **fields: object) -> Response:
        """Go and look at another page: what a change answers with."""
        return RedirectResponse(self.url(page, *parts, **fields), 303)

    @cached_property
    def live(self) -> str:
        """The address that tells of changes after this page, "" for a page of the past."""
        if self.snapshot.past:
            return ""
        return Ours(f"{self.site.keys.base}/live?since={state(self.repo, self.config)}")

    @cached_property
    def branches(self) -> Sequence[str]:
        return branches(self.repo)
