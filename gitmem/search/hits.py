"""Declares the hits of a search, adds trust and authors to them from Git, and cuts a list of hits to a budget.

Nothing here searches, orders or prints hits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.json_values import json_keys
from gitmem.memory.fact import FOREIGN_ORIGINS
from gitmem.plural import line_range

if TYPE_CHECKING:
    from gitmem.memory.code_state import CitedCode

BY_COMMENT = "its comment says so"  # the reason of a link that a comment makes with the key `supersedes`


@json_keys("path start_line end_line date? id proposed reason [later]")
class LinkedLine(NamedTuple):
    """A line that amends a line of a passage, or that a line of a passage amends.

    `date`: its day, ISO, "" if unknown. `id`: the fact id of its text. `proposed`: whether the link counts only after a
    review. `reason`: why the two are linked. `passage_line`: the linked line of the passage. `later`: whether it is a
    later line that contradicts the passage.

    JSON: `id`: of its text. `later`: only in `differs`, true for a later line.
    """

    path: str
    start_line: int
    end_line: int
    date: str
    id: str
    proposed: bool = False
    reason: str = ""
    passage_line: int = 0
    later: bool = False

    @property
    def otherwise(self) -> str:
        """The sentence that marks a passage which this line contradicts: `a later line says otherwise`."""
        if self.later:
            return "a later line says otherwise"
        return "an earlier line says otherwise"


class SourceLine(NamedTuple):
    """The lines of a log that a fact was promoted from. `text`: "" if the search did not find these lines."""

    path: str
    start_line: int
    end_line: int
    text: str = ""


@json_keys(
    "path? start_line end_line heading trail text score date? type? tags origin? trust blob? id"
    " [kind] [subject] [cut] [state] [by] [branch] [commit] [author] [repository] [explain] [sources] [code]"
    " [amended_by] [supersedes] [differs]"
)
class Hit(NamedTuple):
    """A passage that was found.

    `heading`: the headings above it, joined by " > ". `score`: 0..1, comparable within one answer. `date`: ISO, "" if
    unknown. `trust`: "committed", "uncommitted" or "promoted". `state`: "", "expired", "superseded", "promoted", or for
    a passage that cites code "changed" or "gone"; `code`: the code that changed. `branch`: only in a search across
    branches. `commit`, `author`: only with `Query.blame`. `amended_by`, `supersedes`, `differs`: other lines that this
    search found, newest first: lines that replace this one, lines that it replaces, and lines that contradict it
    where it is not known which is true, later ones before earlier ones. `trail`: its context, outermost first: the
    note's name, headings, parent items, a table's header. `names`: the title, aliases and description of its note.
    `sources`: the lines that a fact was promoted from, those that the search found first. `cut`: how many
    characters `text` lacks of its long lines
    (`results.shown`). `chunk` (id), `raw` (the line's weighted sum), `scale` (the divisor of the sum), `evidence` (one
    value for each weight) and `priors` (name, value): the parts of the score.

    For a commit `kind` is "commit", `path` and `blob` are "", and the lines are those of its message. `subject`: of the
    commit. `state`: "reverted", "amended" or ""; `by`: the commit that did so. `repository`: the clone, if another one.

    JSON: `path`, `blob`: null for a commit. `start_line`, `end_line`: lines of the file, or of a commit's message.
    `trail`: what the passage is about, from the outside in: the note's name, headings (without day and time of a
    log), parent items, a table's header. `text`: the passage; of a line longer than 4,000 characters the part that
    matches. `score`: 0 to 1, comparable within one answer only. `date`: the day of the text, null if it states no
    day and is committed; an uncommitted text without a day has today's. `trust`: `promoted` (the fact names its
    source), `committed` or `uncommitted`. `id`: the same for the same text. `kind`: `commit` with `--history`.
    `subject`: of a commit. `cut`: how many characters of long lines are left out of `text` (`git mem show` has
    them). `state`: `expired`, `superseded`, `promoted` (an episode that is in a digest), `changed` or `gone` (the
    code that it cites); `reverted` or `amended` of a commit. `by`: the later commit that reverted or amended this
    one. `branch`: with `--all-branches`. `commit`, `author`: with `--blame` the commit that first brought the fact.
    `repository`: of a server, or a clone of `mem.historyRepos`. `explain`: with `--explain`, see below. `sources`:
    of a fact, the lines of logs that it was promoted from; such a line is no hit of its own. `code`: cited code
    that is not as it was. `amended_by`: what replaces or ends it, newest first. `supersedes`: what it replaces.
    `differs`: lines that say otherwise.
    """

    path: str
    start_line: int
    end_line: int
    heading: str
    text: str
    score: float
    date: str
    type: str
    tags: tuple[str, ...]
    origin: str
    trust: str
    blob: str
    id: str
    state: str = ""
    branch: str = ""
    commit: str = ""
    author: str = ""
    amended_by: tuple[LinkedLine, ...] = ()
    supersedes: tuple[LinkedLine, ...] = ()
    differs: tuple[LinkedLine, ...] = ()
    chunk: int = 0
    raw: float = 0.0
    scale: float = 1.0
    evidence: tuple[float, ...] = ()
    priors: tuple[tuple[str, float], ...] = ()
    explain: dict[str, Any] | None = None
    kind: str = ""
    subject: str = ""
    by: str = ""
    repository: str = ""
    trail: tuple[str, ...] = ()
    code: tuple[CitedCode, ...] = ()
    names: tuple[str, ...] = ()
    sources: tuple[SourceLine, ...] = ()
    cut: int = 0

    @property
    def topic(self) -> str:
        """Its headings, parent items and table header, joined by " > ", for a person."""
        above = max((number for number, step in enumerate(self.trail, 1) if step in self.heading), default=0)
        return " > ".join(filter(None, [self.heading, *self.trail[above:]]))

    @property
    def trail_and_names(self) -> str:
        """Its trail (headings, parent items) and the names of its note, joined by spaces."""
        return " ".join((*self.trail, *self.names))

    @property
    def text_with_sources(self) -> str:
        """Its text, and below it the texts of its sources."""
        return "\n".join([self.text, *(source.text for source in self.sources if source.text)])

    @property
    def origin_words(self) -> str:
        """Its origin in words for a reader if that is a tool or the web, else ""."""
        return FOREIGN_ORIGINS.get(self.origin, "")

    @property
    def until(self) -> tuple[tuple[int, str], ...]:
        """(line number, ISO day of the later line) for each of its lines that a later line replaces or ends, in order;
        without proposals."""
        return tuple(
            sorted({line.passage_line: line.date for line in reversed(self.amended_by) if not line.proposed}.items())
        )

    @property
    def note(self) -> str:
        """A note for a model: an origin in a tool or the web, changed code, state, lines that a later line replaced,
        and a line that contradicts it; "" for none."""
        notes = [self.origin_words] if self.origin_words else []
        notes += [one.words for one in self.code] or list(filter(None, [self.state]))
        notes += [f"line {line} until {day}" for line, day in self.until]
        notes += [f"{one.otherwise}, {one.path} line {one.start_line}{_day(one)}" for one in self.differs[:1]]
        return "; ".join(notes)


def _day(linked: LinkedLine) -> str:
    """The day of a linked line after ` of `; "" without a day."""
    return f" of {linked.date}" if linked.date else ""


def with_trust(repo: Repository, hits: list[Hit], lines: Callable[[Hit], list[str]]) -> list[Hit]:
    """All hits of a search in the work tree; `trust` is "uncommitted" for a hit with a line that HEAD's version of the
    file lacks, and for each hit if HEAD cannot be read.

    `lines`: returns all lines of a hit's file as it was searched.
    """
    if not hits:
        return hits
    try:  # one process; `head()` would start another
        head_blobs = repo.blobs("HEAD", sorted({hit.path for hit in hits}))
    except GitMemError:
        return [hit._replace(trust="uncommitted") for hit in hits]
    changed = {hit.path: head_blobs[hit.path] for hit in hits if head_blobs.get(hit.path, hit.blob) != hit.blob}
    contents = dict(repo.read_many(dict.fromkeys(changed.values()))) if changed else {}
    head_lines = {path: set(text_lines(contents.get(oid) or b"")) for path, oid in changed.items()}
    marked = []
    for hit in hits:
        hit_lines = [line for line in lines(hit)[hit.start_line - 1 : hit.end_line] if line.strip()]
        if hit.path not in head_blobs or (hit.path in head_lines and not set(hit_lines) <= head_lines[hit.path]):
            hit = hit._replace(trust="uncommitted")
        marked.append(hit)
    return marked


def with_authors(repo: Repository, hits: Sequence[Hit], commit: str) -> list[Hit]:
    """All hits with `commit` and `author`, and with the commit's day if they have no date. `commit`: "" for the work
    tree.

    A fact gets the commit that first added it. Any other hit gets the newest of the commits that last changed one of
    its lines; its uncommitted lines do not count. A hit with no committed line stays as it is.
    """
    from gitmem.memory.arrivals import LASTING, first_commits
    from gitmem.memory.fact import Fact, normalise
    from gitmem.paths import kind

    facts = [Fact(normalise(hit.text), hit.id, hit.start_line) for hit in hits if kind(hit.path) in LASTING]
    first_commit_of = first_commits(repo, commit or repo.head() or "", facts) if facts else {}
    from gitmem.gate.withholding import name_for_model  # loads every detector

    attributed = []
    for hit in hits:
        if hit.id in first_commit_of and kind(hit.path) in LASTING:
            oids = [first_commit_of[hit.id]]
        else:
            oids = _last_commits(repo, hit, commit)
        if not oids:
            attributed.append(hit)
            continue
        newest = max((repo.commit(oid) for oid in dict.fromkeys(oids)), key=lambda written: written.author_date)
        author = name_for_model(f"{newest.author.name} <{newest.author.email}>")
        day = newest.author_date.date().isoformat()
        attributed.append(hit._replace(commit=newest.oid, author=author, date=hit.date or day))
    return attributed


def _last_commits(repo: Repository, hit: Hit, commit: str) -> list[str]:
    """The oids of the commits that last changed the lines of a hit; uncommitted lines have none."""
    return [row.commit for row in repo.blame(hit.path, hit.start_line, hit.end_line, commit) if row.commit.strip("0")]


def with_source(hit: Hit, log_hit: Hit) -> Hit:
    """The hit of a fact with one more source, the log lines of `log_hit`. Sources with text come first."""
    source = SourceLine(log_hit.path, log_hit.start_line, log_hit.end_line, log_hit.text)
    with_text = [known for known in hit.sources if known.text]
    without = [known for known in hit.sources if not known.text and not _overlap(known, source)]
    return hit._replace(sources=(*with_text, source, *without))


def _overlap(source: SourceLine, other: SourceLine) -> bool:
    return source.path == other.path and source.start_line <= other.end_line and other.start_line <= source.end_line


def first_within_budget(hits: Sequence[Hit], budget: int) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """(the first hits whose texts have at most `budget` tokens together, a note for each hit that alone has more).

    `budget`: 0 for no limit. A hit is never cut, because half a code block or table row could not be read.
    """
    if not budget:
        return tuple(hits), ()
    from gitmem.models.token_count import estimate

    kept: list[Hit] = []
    notes = []
    remaining = budget
    for hit in hits:
        size = estimate(hit.text)
        if size > budget:
            lines = line_range(hit.start_line, hit.end_line)
            notes.append(f"{hit.path}:{lines} has about {size} tokens and is left out")
        elif size > remaining:
            break
        else:
            remaining -= size
            kept.append(hit)
    return tuple(kept), tuple(notes)


def text_lines(data: bytes) -> list[str]:
    """The lines of a file, split as the index splits them; [] for a file that the index skips (`document.SKIPPED`).
    Plain UTF-8 is split here, without the slow import of `document`."""
    if b"\0" not in data and b"\r" not in data and not data.startswith(b"\xef\xbb\xbf"):
        try:
            if not data:
                return []
            return data.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError:
            pass
    from gitmem.memory.document import decode, split_lines

    return split_lines(decode(data)[0])
