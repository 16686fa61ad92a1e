"""A request as a page sees it: the repository, the snapshot, the reader's language, URLs and responses."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from markupsafe import escape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gitmem.agents.repository_pool import OpenRepository, RepositoryPool
from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.gate.policy import Policy
from gitmem.gate.quoting import visible
from gitmem.git.commit import merging
from gitmem.git.opening import Repository
from gitmem.memory.forgotten import Forgotten
from gitmem.messages import Message
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.provenance.present_facts import FactList, FactLists, PresentFact, statements_of
from gitmem.review.fact_diff import FactChange, author_words
from gitmem.review.masking import mask_strings
from gitmem.ui.background_work import BackgroundWork
from gitmem.ui.file_findings import FileFindings
from gitmem.ui.page_cache import PageCache
from gitmem.ui.page_snapshot import Snapshot, memory_key
from gitmem.ui.preview_forms import PreviewForms
from gitmem.ui.rendering import Unmasked, masked_word, render_template
from gitmem.ui.security import Keys
from gitmem.ui.translation import is_phrase, translate_message, translate_phrase
from gitmem.ui.visits import Visit

if TYPE_CHECKING:
    from gitmem.promotion.proposal_review import RecordedModel

MAX_FACT_CHARS = 400  # of one fact in a list
MAX_LIST_CHARS = 20_000  # of all facts in a list, as HTML
MAX_DIGITS = 7  # of a number in a URL

BRANCH = "refs/heads/"
OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Site:
    """What all requests of one server run share.

    `tabs`: the name and title of each page of the navigation.
    `at`: the revision that pages show when their URL names none, "" for the work tree. `visit`: the last visit before
    this start. `crash_log`: writes a bug to a file and returns its path. `answers`: the answer of each language model
    that a person asked, by its name in the settings. `read_logs`: what the rules model read in each log. `patience`:
    the seconds that a page waits for background work. `changing`: held during a change, so that changes run one by one.
    """

    keys: Keys
    pool: RepositoryPool
    read_only: bool
    at: str
    visit: Visit
    tabs: Sequence[tuple[str, str]]
    facts: FactLists = field(default_factory=FactLists)
    crash_log: Callable[[BaseException], str] = lambda _: ""
    answers: dict[str, RecordedModel] = field(default_factory=dict)
    cache: PageCache = field(default_factory=PageCache)
    read_logs: dict[Any, Any] = field(default_factory=dict)
    file_findings: FileFindings = field(default_factory=FileFindings)
    preview_forms: PreviewForms = field(default_factory=PreviewForms)
    work: BackgroundWork = field(default_factory=BackgroundWork)
    patience: float = 0.3
    changing: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class View:
    """One request. `page`: the name of the page. `fields`: the query of the URL. `parts`: the variable parts of its
    path. `nonce`: what the scripts and styles of the page must carry. `fragment`: htmx asks for a part of the page."""

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
        """The CSRF token, which every form of a change contains."""
        return Unmasked(self.site.keys.csrf)

    @property
    def repo(self) -> Repository:
        return self.opened.repo

    @property
    def config(self) -> Config:
        return self.opened.config

    @property
    def name(self) -> str:
        """The name of the repository's folder."""
        return (self.repo.root or self.repo.git_dir).name

    @property
    def today(self) -> date:
        """The day by which facts are current or expired: the day of the snapshot."""
        return (self.snapshot.when or self.now).date()

    @property
    def changes(self) -> bool:
        """Whether this page can make changes: the server is not read-only, and the page is not of the past."""
        return not self.site.read_only and not self.snapshot.past

    @property
    def static(self) -> bool:
        """Whether this is a file of an export, which cannot load anything later."""
        return False

    @cached_property
    def merging(self) -> bool:
        """Whether the work tree has an unfinished merge that was begun in a terminal."""
        return not (self.static or self.snapshot.past) and merging(self.repo)

    @property
    def done(self) -> str:
        """The oid of the commit that a form just made, on the page that the form led to; else ""."""
        oid = self.fields.get("done", "")
        return oid if OID.fullmatch(oid) else ""

    @cached_property
    def undoable(self) -> bool:
        """Whether the page Undo would undo the commit `done`."""
        from gitmem.provenance.undo import last_write

        try:
            return bool(self.done) and self.done in last_write(self.repo).commits
        except (GitMemError, OSError):
            return False

    @cached_property
    def something_to_undo(self) -> bool:
        """Whether a last write is recorded. The page Undo says whether it can be undone."""
        from gitmem.git.undo_record import last_write

        try:
            return bool(last_write(self.repo))
        except (GitMemError, OSError):
            return False

    def number(self, name: str, default: int = 0) -> int:
        """A field of the query as a whole number; `default` if it is not one, or has more than MAX_DIGITS digits."""
        text = self.fields.get(name, "")
        if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS:
            return int(text)
        return default

    @property
    def start(self) -> int:
        """The index of the first row of a list that this page shows; earlier pages show the rows before it."""
        return self.number("start")

    @property
    def origin(self) -> str:
        """The URL of the page to go back to from the response to a form; "" on a page that is not the response to a
        form."""
        if self.page and "/" not in self.page:
            return ""
        section = self.page.partition("/")[0]
        return self.url({"": "today", "fact": "facts"}.get(section, section), at="")

    @cached_property
    def facts(self) -> FactList:
        """The facts of the snapshot, not masked (see `mask`). A past snapshot lacks those that were forgotten since."""
        facts = self.site.facts.facts_of(self.repo, self.config, self.snapshot.commit, self.today)
        if not (self.snapshot.past and self.forgotten):
            return facts
        rows = tuple(row for row in facts.rows if not self.forgotten.is_removed_text(row.fact.text))
        if len(rows) == len(facts.rows):
            return facts
        return FactList(rows)

    def statements(self, path: str) -> Sequence[PresentFact]:
        """The statements of a memory file, also of a log or note, without forgotten ones. Raises MissingFile if there
        is no such file or it is not memory, OutsideRepository, GitMemError for a file above MAX_MEMORY_FILE_BYTES."""
        if path not in self._statements:
            rows = statements_of(self.repo, self.config, path, self.snapshot.commit)
            listed = {row.fact.line: row for row in self.facts.rows if row.path == path}
            self._statements[path] = tuple(
                listed.get(row.fact.line, row) for row in rows if not self.forgotten.is_removed_text(row.fact.text)
            )
        return self._statements[path]

    @cached_property
    def _statements(self) -> dict[str, Sequence[PresentFact]]:
        return {}

    @cached_property
    def forgotten(self) -> Forgotten:
        """The texts that people removed from memory in the history of HEAD; no page shows them."""
        return forgotten_texts(self.repo)

    def mask(self, value: Any) -> Any:
        """A copy of the value with secrets and personal data masked in its strings; a list becomes a tuple. For values
        that do not reach the page through a template."""
        if isinstance(value, list):
            value = tuple(value)
        return mask_strings(value, Policy())

    def done_by(self, change: FactChange) -> str:
        """The English words before the name of who made a change, such as "edited by"; the template translates them.
        "" if nobody is known, and for a fact that expired or was archived."""
        return author_words(change)

    def longest(self, rows: Sequence[PresentFact]) -> int:
        """The number of characters of each fact that a list of `rows` shows: MAX_FACT_CHARS, or fewer if the list would
        have more than MAX_LIST_CHARS."""
        size = sum(len(escape(row.fact.text[:MAX_FACT_CHARS])) for row in rows)
        if size <= MAX_LIST_CHARS:
            return MAX_FACT_CHARS
        return MAX_FACT_CHARS * MAX_LIST_CHARS // size

    def t(self, phrase: str, **values: object) -> str:
        """A phrase of a page or a message of git-mem in the reader's language. The page masks it unless it is a phrase
        whose values are all numbers."""
        if isinstance(phrase, Message) or not is_phrase(phrase):
            return translate_message(self.language, phrase)
        words = translate_phrase(self.language, phrase, **values)
        if all(isinstance(value, int) for value in values.values()):
            return Unmasked(words)
        return words

    def url(self, page: str, /, *parts: str, **fields: object) -> str:
        """The URL of a page of this snapshot. `parts`: the variable parts of its path. `fields`: its query, without
        empty values; `at=""` names the present."""
        own_at = self.snapshot.named if self.snapshot.named != self.site.at else ""
        revision = str(fields.pop("at", own_at))
        values = [(name, masked_word(str(value))) for name, value in fields.items() if value not in ("", None, False)]
        if revision:
            values.append(("at", revision))
        path = "/".join([page, *(quote(masked_word(part), safe="", errors="surrogateescape") for part in parts)])
        query = urlencode(values, errors="surrogateescape")
        return Unmasked("?".join(filter(None, (f"{self.site.keys.base}/{path}", query))))

    def again(self, **fields: object) -> str:
        """The URL of this page with other values for some fields of its query, and without the field `done`."""
        kept = {name: value for name, value in self.fields.items() if name not in ("at", "done")}
        return self.url(self.page, *self.parts.values(), **{**kept, **fields})

    def action(self, address: str) -> str:
        """The URL to which the form of a change is sent."""
        return Unmasked(f"{self.site.keys.base}/{address}")

    def file(self, name: str) -> str:
        """The URL of a static file."""
        return Unmasked(f"{self.site.keys.base}/static/{name}")

    def render(self, template: str, status: int = 200, **values: object) -> Response:
        """The response with a rendered template, which gets `values`, `view`, `t`, `url` and `navigation`."""
        text = render_template(template, view=self, t=self.t, url=self.url, navigation=self.site.tabs, **values)
        return HTMLResponse(text.encode("utf-8", "replace"), status)

    def redirect(self, page: str, /, *parts: str, **fields: object) -> Response:
        """The response (303) that sends the browser to another page. `parts`: the variable parts of its path. `fields`:
        its query."""
        return RedirectResponse(self.url(page, *parts, **fields), 303)

    @cached_property
    def live(self) -> str:
        """The URL of the event stream that reports changes after this page; "" for a page of the past."""
        if self.snapshot.past:
            return ""
        return Unmasked(f"{self.site.keys.base}/live?since={memory_key(self.repo, self.config)}")

    @cached_property
    def branches(self) -> Sequence[str]:
        """The names of the local branches."""
        return [name.removeprefix(BRANCH) for name, _ in self.repo.refs(BRANCH)]


def typed_line(form: Mapping[str, str], name: str) -> str:
    """A field of a form as one line: white space and line breaks become one space each, and invisible characters are
    spelled out; "" without the field."""
    return visible(" ".join(form.get(name, "").split()))
