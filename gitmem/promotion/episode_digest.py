"""The digest of a month's episodes: what they decided and learned, word for word, each line with its source.

A model only chooses lines; `plan.decide` holds them to the checks of a promotion, and what does not stand word for word
in its source is dropped. A digest is a file of its own, `memory/sessions/digests/YYYY-MM.md`: the episodes stay as they
are, and the digest names them with path and lines. Pure: no file is read or written here.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from gitmem.git.objects import Span
from gitmem.memory import facts
from gitmem.memory.deciding_words import claim
from gitmem.memory.fact import TYPES, Fact, Meta, normalise, parse_span
from gitmem.memory.similarity import same
from gitmem.memory.statements import Form, Statement, read
from gitmem.paths import Kind, kind, log_date
from gitmem.promotion.plan import Approved, Rules, decide
from gitmem.promotion.proposal import Log, Model, Op, Operation
from gitmem.provenance.cited_text import cited_text

FOLDER = "memory/sessions/digests"
STALE_DAYS = 30  # days after the end of a month from which its episodes are digested
EPISODES = 2  # episodes that a month must have: a digest of one says less than the episode
LINES = 20  # lines of one run's digest of a month
# Log-odds of being worth keeping from which a line that `rules` proposes is taken. Of 36 lines of two public memories
# half reach it (docs/promotion.md, "Measurements", has the count by hand).
ODDS = 0.3
IMPORTANCE = 0.6  # of a line that an episode itself has among its decisions
KEYS = ("type", "src", "from", "until", "origin")  # of the comment of a digest's line
DECISIONS = "decisions"  # heading of an episode below which each item was chosen when the session ended
Documents = Mapping[tuple[str, str], Sequence[Statement]]  # (path, oid) of an episode -> its statements
# A turn of a talk at the beginning of a line: the file is a transcript, and the lines of it are no conclusions.
_TURN = re.compile(
    r"^(?:[-*] )?\**(?:user|assistant|human|사용자|어시스턴트|ユーザー|アシスタント|用户|助手)\**(?::\**(?: |$)|：)",
    re.I,
)
_NO_HEADING = re.compile(r"[\x00-\x1f\x7f<>`|\[\]]+")
_DAY = re.compile(r"^\d{4}-\d{2}-\d{2}[-.]?")


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One line of a digest. `text`: words of an episode; `meta`: its comment; `subject`: the heading that it stands
    below; `sources`: the lines of episodes that say it."""

    text: str
    meta: Meta
    subject: str
    sources: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """The new lines of one digest file, and the episodes that were read for it."""

    path: str
    lines: tuple[DigestLine, ...]
    episodes: tuple[str, ...]


def is_digest(path: str) -> bool:
    """Whether a path is a digest of episodes."""
    return path.startswith(f"{FOLDER}/")


def stale_month(path: str, today: date) -> str:
    """`YYYY-MM` of an episode that is old enough to be digested, "" for every other file."""
    day = None
    if kind(path) is Kind.SESSION and not is_digest(path):
        day = log_date(path)
    if day is None:
        return ""
    end = day.replace(day=monthrange(day.year, day.month)[1])
    if end + timedelta(days=STALE_DAYS) < today:
        return day.isoformat()[:7]
    return ""


def digested(data: bytes) -> set[str]:
    """The episodes that the lines of a digest come from."""
    values = (value for fact in facts.parse(data).facts for key, value in fact.meta if key == "src")
    return {span.path for value in values if (span := parse_span(value)) is not None}


def digest_of(month: str, logs: Sequence[Log], known: Iterable[Fact], model: Model, rules: Rules) -> Digest:
    """What the episodes of a month leave: nothing that `known` facts say already. Raises ModelUnavailable.

    `rules.limit` lines at most. No lines: there is nothing to write.
    """
    path = f"{FOLDER}/{month}.md"
    logs = [log for log in logs if not any(map(_TURN.match, log.lines))]
    episodes = tuple(log.path for log in logs)
    if len(logs) < EPISODES:
        return Digest(path, (), episodes)
    documents = {(log.path, log.blob): read(log.lines) for log in logs}
    decided = list(_own_decisions(logs, documents))
    chosen = {span.path for operation in decided for span in operation.sources}  # of these a person or a rule chose
    others = [log for log in logs if log.path not in chosen]
    if others:
        offered = model.propose(others, ()).operations
    else:
        offered = ()
    proposed = [*decided, *(each for each in offered if each.odds is None or each.odds >= ODDS)]
    plan = decide(proposed, logs, facts.parse(b""), rules)
    said = [claim(fact.text) for fact in known]
    lines = []
    for item in plan.approved:
        new = not any(same(claim(item.operation.text), other) for other in said)
        if new and all(_stands(item.operation.text, span, logs, documents) for span in item.operation.sources):
            lines.append(_line(item, documents))
    return Digest(path, tuple(sorted(lines, key=lambda line: line.sources[0])), episodes)


def _own_decisions(logs: Sequence[Log], documents: Documents) -> Iterator[Operation]:
    """The items that an episode has among its decisions."""
    for log in logs:
        for each in documents[log.path, log.blob]:
            if each.form is Form.ITEM and each.says and each.above and each.above[-1].casefold() == DECISIONS:
                named = each.get("type")
                kind_of = "decision"
                if named in TYPES:
                    kind_of = named
                span = Span(log.path, each.first, each.last, log.blob)
                yield Operation(Op.ADD, each.text, (span,), kind_of, IMPORTANCE, reason="the episode decided it")


def _stands(text: str, span: Span, logs: Sequence[Log], documents: Documents) -> bool:
    """Whether a text stands word for word in cited lines; what only their headings say may stand before a colon."""
    log = next(each for each in logs if (each.path, each.blob) == (span.path, span.blob))
    cited = cited_text(documents[log.path, log.blob], log.lines, span.start_line, span.end_line)
    said = [normalise(each) for each in (*cited.statements, " ".join(log.lines[span.start_line - 1 : span.end_line]))]
    if any(text in each for each in said):
        return True
    topic, colon, rest = text.partition(": ")
    above = [normalise(step) for step in cited.trail]
    names = [part for part in topic.split(", ") if part]
    return (
        bool(colon and rest)
        and any(rest in each for each in said)
        and all(any(name in step for step in above) for name in names)
    )


def _line(item: Approved, documents: Documents) -> DigestLine:
    """The line of a digest. The episode's own title is left out before it: the heading above says it."""
    sources = item.operation.sources
    topic, colon, rest = item.operation.text.partition(": ")
    title = next((each.text for each in documents[sources[0].path, sources[0].blob] if each.form is Form.HEADING), "")
    if colon and topic == title:
        text = rest
    else:
        text = item.operation.text
    meta = tuple(pair for pair in item.meta if pair[0] in KEYS)
    return DigestLine(text, meta, _subject(sources[0].path), sources)


def _subject(path: str) -> str:
    """What an episode is about, by its file's name: `payment retries` of `2026-01-05-payment-retries.md`; its day where
    the name says nothing more."""
    name = path.rpartition("/")[2].removesuffix(".md")
    words = _plain(_DAY.sub("", name).replace("-", " ").replace("_", " "))
    if re.search(r"[^\W\d_]{2}", words):
        return words
    return _plain(name)


def _plain(text: str) -> str:
    """A name as a heading: one line without markup, whatever somebody called the file."""
    return normalise(_NO_HEADING.sub(" ", text)).strip("# ") or "episode"


def written(data: bytes, digest: Digest) -> bytes:
    """The bytes of the digest file with the new lines: below the heading of their subject, what is there kept."""
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
