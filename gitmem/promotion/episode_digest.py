"""Makes the digest of a month's episodes (written summaries of sessions): their lasting lines, with sources.

A digest repeats lines word for word; a model only chooses them. `plan.decide` makes the checks of a promotion, and a
line that is not in its source word for word is dropped. A digest is a file, `memory/sessions/digests/YYYY-MM.md`; the
episodes are not changed. Pure: no file is read or written here.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from gitmem.git.objects import Span
from gitmem.memory import facts
from gitmem.memory.deciding_words import without_deciding_words
from gitmem.memory.fact import TYPES, Fact, Meta, cited_spans, normalise
from gitmem.memory.similarity import is_near_duplicate
from gitmem.memory.statements import Form, Statement, read
from gitmem.paths import ISO_DAY, Kind, kind, log_date
from gitmem.promotion.plan import Approved, Rules, decide
from gitmem.promotion.proposal import Log, Model, Op, Operation
from gitmem.provenance.cited_text import cited_text

FOLDER = "memory/sessions/digests"
STALE_DAYS = 30  # days after the end of a month before a digest of its episodes is made
MIN_EPISODES = 2  # least number of episodes of a month with a digest
MAX_LINES = 20  # lines that one run adds to the digest of a month
# Least log-odds of a line that `rules` proposes and the digest takes. Half of 36 lines of two public memories reach it
# (docs/promotion.md, "Consolidation", has the count by hand).
MIN_ODDS = 0.3
IMPORTANCE = 0.6  # of an item below the heading DECISIONS
KEYS = ("type", "src", "from", "until", "origin")  # keys of the comment that a line of a digest keeps
DECISIONS = "decisions"  # heading of an episode; its items were chosen when the session ended
Documents = Mapping[tuple[str, str], Sequence[Statement]]  # (path, oid) of an episode -> its statements
# A turn of a talk at the beginning of a line: the file is a transcript, and the lines of it are not conclusions.
_TURN = re.compile(
    r"^(?:[-*] )?\**(?:user|assistant|human|사용자|어시스턴트|ユーザー|アシスタント|用户|助手)\**(?::\**(?: |$)|：)",
    re.I,
)
_NO_HEADING = re.compile(r"[\x00-\x1f\x7f<>`|\[\]]+")
_DAY = re.compile(rf"^{ISO_DAY}[-.]?")


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One line of a digest."""

    text: str  # words of an episode
    meta: Meta  # keys of its comment
    subject: str  # the heading above it
    sources: tuple[Span, ...]  # the lines of episodes that it repeats


@dataclass(frozen=True, slots=True)
class Digest:
    """The new lines of one digest file, and the episodes that were read for it."""

    path: str
    lines: tuple[DigestLine, ...]
    episodes: tuple[str, ...]


def is_digest(path: str) -> bool:
    """Whether a path is below the folder of digests of episodes."""
    return path.startswith(f"{FOLDER}/")


def stale_month(path: str, today: date) -> str:
    """`YYYY-MM` of an episode whose month ended more than STALE_DAYS days before `today`; "" for any other file, for a
    digest and for a path without a day."""
    day = None
    if kind(path) is Kind.SESSION and not is_digest(path):
        day = log_date(path)
    if day is None:
        return ""
    end = day.replace(day=monthrange(day.year, day.month)[1])
    if end + timedelta(days=STALE_DAYS) < today:
        return day.isoformat()[:7]
    return ""


def digested_episodes(data: bytes) -> set[str]:
    """The paths of the episodes that the lines of a digest cite. `data`: the bytes of the digest."""
    return {span.path for fact in facts.parse(data).facts for span in cited_spans(fact.meta)}


def make_digest(month: str, logs: Sequence[Log], known_facts: Iterable[Fact], model: Model, rules: Rules) -> Digest:
    """The new lines for the digest of a month (`YYYY-MM`), at most `rules.limit`, in the order of their sources; none
    that repeats a fact of `known_facts`. `logs`: the episodes, each as a log; transcripts among them are left out.

    The items below a heading DECISIONS are taken as they are; `model` is only asked about episodes without such items.
    With fewer than MIN_EPISODES episodes there are no lines. Raises ModelUnavailable if the model gives no answer.
    """
    path = f"{FOLDER}/{month}.md"
    logs = [log for log in logs if not any(map(_TURN.match, log.lines))]
    episodes = tuple(log.path for log in logs)
    if len(logs) < MIN_EPISODES:
        return Digest(path, (), episodes)
    documents = {(log.path, log.blob): read(log.lines) for log in logs}
    decisions = list(_decisions(logs, documents))
    with_decisions = {span.path for operation in decisions for span in operation.sources}
    undecided = [log for log in logs if log.path not in with_decisions]
    proposed: Sequence[Operation] = ()
    if undecided:
        proposed = model.propose(undecided, ()).operations
    operations = [*decisions, *(item for item in proposed if item.odds is None or item.odds >= MIN_ODDS)]
    plan = decide(operations, logs, facts.parse(b""), rules)
    claims = [without_deciding_words(fact.text) for fact in known_facts]
    lines = []
    for item in plan.approved:
        text = item.operation.text
        is_new = not any(is_near_duplicate(without_deciding_words(text), claim) for claim in claims)
        if is_new and all(_is_word_for_word(text, span, logs, documents) for span in item.operation.sources):
            lines.append(_line(item, documents))
    return Digest(path, tuple(sorted(lines, key=lambda line: line.sources[0])), episodes)


def _decisions(logs: Sequence[Log], documents: Documents) -> Iterator[Operation]:
    """An addition for each item directly below a heading DECISIONS, with the type that its comment states if it is one
    of TYPES, else `decision`."""
    for log in logs:
        for item in documents[log.path, log.blob]:
            if item.form is Form.ITEM and item.has_content and item.above and item.above[-1].casefold() == DECISIONS:
                fact_type = item.get("type")
                if fact_type not in TYPES:
                    fact_type = "decision"
                span = Span(log.path, item.first, item.last, log.blob)
                yield Operation(Op.ADD, item.text, (span,), fact_type, IMPORTANCE, reason="the episode decided it")


def _is_word_for_word(text: str, span: Span, logs: Sequence[Log], documents: Documents) -> bool:
    """Whether the cited lines have the text, or the part after its colon while the trail has the part before."""
    log = next(log for log in logs if (log.path, log.blob) == (span.path, span.blob))
    source = cited_text(documents[log.path, log.blob], log.lines, span.start_line, span.end_line)
    whole = " ".join(log.lines[span.start_line - 1 : span.end_line])
    cited_texts = [normalise(cited) for cited in (*source.statements, whole)]
    if any(text in cited for cited in cited_texts):
        return True
    topic, colon, statement = text.partition(": ")
    if not (colon and statement and any(statement in cited for cited in cited_texts)):
        return False
    trail = [normalise(step) for step in source.trail]
    return all(any(name in step for step in trail) for name in topic.split(", ") if name)


def _line(item: Approved, documents: Documents) -> DigestLine:
    """The line for an approved operation. A topic that is the title of the episode is left out: the heading has it."""
    sources = item.operation.sources
    text = item.operation.text
    topic, colon, rest = text.partition(": ")
    title = next((row.text for row in documents[sources[0].path, sources[0].blob] if row.form is Form.HEADING), "")
    if colon and topic == title:
        text = rest
    meta = tuple(pair for pair in item.meta if pair[0] in KEYS)
    return DigestLine(text, meta, _subject(sources[0].path), sources)


def _subject(path: str) -> str:
    """The subject of an episode by its file name: `payment retries` for `2026-01-05-payment-retries.md`; its day when
    the name has nothing else."""
    name = path.rpartition("/")[2].removesuffix(".md")
    words = _as_heading(_DAY.sub("", name).replace("-", " ").replace("_", " "))
    if re.search(r"[^\W\d_]{2}", words):
        return words
    return _as_heading(name)


def _as_heading(text: str) -> str:
    """The text as one line without markup, "episode" when nothing is left."""
    return normalise(_NO_HEADING.sub(" ", text)).strip("# ") or "episode"


def digest_file(data: bytes, digest: Digest) -> bytes:
    """The bytes of the digest file with the new lines below the headings of their subjects. `data`: its bytes before,
    b"" for a new file."""
    month = digest.path.rpartition("/")[2].removesuffix(".md")
    text = data or f"---\ntype: episode-digest\norigin: agent\n---\n# Episodes of {month}\n".encode()
    memory = facts.parse(text)
    groups: dict[str, list[DigestLine]] = {}
    for line in digest.lines:
        groups.setdefault(line.subject, []).append(line)
    for subject, lines in groups.items():
        for line in reversed(lines):  # `facts.add` puts the newest above
            memory = facts.add(memory, line.text, line.meta, subject)
    return memory.data()
