"""The note of one finished session: what it says, which file it is, and its writing.

Extracted, so it says only what was said. What the gate would refuse is masked: a session that held a secret still
leaves what it decided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from gitmem.config import Config
from gitmem.errors import OutsideRepository
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import redact, refuse_or_mask_text
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading, write
from gitmem.git.worktree import read_bytes
from gitmem.hosts.transcript import Role, Turn
from gitmem.models.wordpiece import words
from gitmem.paths import Kind, kind
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.search.evidence import COURTESY
from gitmem.search.keywords import slug, topics
from gitmem.sessions.decision_turns import AGREED, telling
from gitmem.sessions.echoes import NOTHING_TOLD, Echoes, acknowledges, echoes
from gitmem.sessions.last_words import in_force
from gitmem.sessions.rolling_summary import Rolling, SummaryLine, best, fold
from gitmem.sessions.rolling_summary import sentences as sentences_of
from gitmem.sessions.selection import select
from gitmem.sessions.state import file_of
from gitmem.sessions.written_ids import spellings, written_session

TURNS = 15  # spoken turns an episode is made of
TOKENS = 300  # of its summary
FOLDER = "memory/sessions"
UNNAMED = f"{FOLDER}/session.md"  # what a turn is masked as, before the episode has its name
MASK = re.compile(r"\[redacted[^\]\n]*\]|\[forgotten\]")
HEAD = 4_096  # bytes of an episode that hold its front matter
TRANSCRIPT = "transcript: sha256:"
TRANSCRIPT_LINE = re.compile(rf"^{TRANSCRIPT}([0-9a-f]{{64}})$", re.M)
MATTER_TURNS, MATTER_WORDS = 2, 10  # turns of a person, and telling words in them, that make a matter without a line
# Tools by which an agent looks something up, in memory or on the web.
LOOKS_UP = re.compile(r"(?i)memory|git.?mem|web.?(?:search|fetch)|google|weather|time")
SMALL_TALK = "- (nothing but small talk)"  # stands where a summary has no line
DECIDED = ("decision", "rule", "constraint", "policy", "exception")


def write_episode(
    repo: Repository, config: Config, turns: Sequence[Turn], session: str, agent: str, now: datetime
) -> str:
    """Write the episode of these spoken turns; its path from the root, "" where there are none.

    The session's own episode is replaced, another's of the same name is not. Raises Refused where the gate refuses
    what is left after masking, Locked, GitMemError when nothing can be written.
    """
    if not turns or repo.root is None:
        return ""
    existing = episode_of(repo.root, session)
    told = echoes(repo.root, config.memory_daily, written_session(session), now)
    forgotten = forgotten_texts(repo)
    if forgotten:
        turns = [replace(turn, text=forgotten.masked(turn.text)) for turn in turns]
    path, text = gated_episode(turns, Heading(session, agent, now), config, existing, told)

    def plan(reading: Reading) -> Draft[str]:
        if existing or reading.raw(path) is None:
            place = path
        else:
            place = other_path(path, session)
        return Draft({place: text.encode("utf-8", "surrogateescape")}, place)

    return write(repo, plan)


@dataclass(frozen=True, slots=True)
class Heading:
    """What an episode says of its session: its name, whose it is, when it was last active, and, for one that was read
    from an old transcript, the SHA-256 (64 hex) of its bytes and the name of its file."""

    session: str
    agent: str
    when: datetime
    transcript: str = ""
    file: str = ""


def gated_episode(
    turns: Sequence[Turn], heading: Heading, config: Config, existing: str = "", told: Echoes = NOTHING_TOLD
) -> tuple[str, str]:
    """The path and the text of the episode of these spoken turns, as they may be written; `existing` is the path it
    has already, `told` what memory held, which the agent's sentences may only repeat. Raises Refused where the gate
    refuses what is left after masking."""
    policy = Policy()
    clean = [replace(turn, text=redact(turn.text, UNNAMED, policy)) for turn in turns[-TURNS:]]
    # The name is made of what is masked already: a secret in it would be in every listing.
    named = slug(MASK.sub(" ", turn.text) for turn in clean)
    path = existing or f"{FOLDER}/{heading.when.date().isoformat()}-{named}.md"
    return path, refuse_or_mask_text(redact(render_episode(clean, heading, told), path, policy), path, config)


def other_path(path: str, session: str) -> str:
    """Where the session's episode stands when `path` is another session's."""
    return path.removesuffix(".md") + f"-{file_of(session)[:6]}.md"


def render_episode(turns: Sequence[Turn], heading: Heading, told: Echoes = NOTHING_TOLD) -> str:
    """The Markdown of an episode: summary, decisions, topics, without what the agent says again of memory."""
    session, agent, now = written_session(heading.session), heading.agent, heading.when
    selected, _ = select(turns, f"{FOLDER}/x.md", now)
    selected = [item for item in selected if item.turn.role is not Role.ASSISTANT or not told.hold(item.text)]
    held = in_force(selected)
    over = frozenset(item.text for item in selected) - frozenset(item.text for item in held)
    decisions = [f"- {item.text}" for item in held if item.type in DECIDED and item.origin != "web"]
    about = ", ".join(topics(MASK.sub(" ", turn.text) for turn in turns)[:8])
    front = ["---", "type: episode", f"session: {json.dumps(session)}", "origin: agent"]
    if agent:
        front += [f"agent: {json.dumps(agent)}"]
    if heading.transcript:
        front += [f"{TRANSCRIPT}{heading.transcript}", f"file: {json.dumps(heading.file)}"]
    body = [*front, "---", f"# Session of {now.date().isoformat()}", "", "## Summary", ""]
    # No `user:` before a sentence: a role's name makes a plain wish look like a forged turn, to the gate and to models.
    lines = _most_telling(turns, decisions, "\n".join(over))
    taken_up = acknowledgements(turns)
    lines = [
        line for line in lines if line.role != Role.ASSISTANT or not (line.text in taken_up or told.hold(line.text))
    ]
    summary = [f"- {line.text}" + (" (agent)" if line.role == Role.ASSISTANT else "") for line in lines]
    body += [*(summary or [SMALL_TALK]), ""]
    if decisions:
        body += ["## Decisions", "", *decisions, ""]
    if about:
        body += ["## Topics", "", about, ""]
    return "\n".join(body).rstrip() + "\n"


def _most_telling(turns: Sequence[Turn], decisions: Sequence[str], over: str) -> list[SummaryLine]:
    """The sentences of a summary: those of the decisions, and of the others those that say something of a subject; none
    of `over`, the decisions that a later one replaced."""
    decided = "\n".join(decisions)
    said = fold(Rolling(), turns)
    said = replace(said, lines=tuple(line for line in said.lines if line.text not in over))
    return [line for line in best(said, TOKENS) if line.text in decided or _says_something(line.text)]


def acknowledgements(turns: Sequence[Turn]) -> frozenset[str]:
    """The sentences of the agent that only take up what the person said right before."""
    return frozenset(
        text
        for before, turn in pairwise(turns)
        if before.role is Role.USER and turn.role is Role.ASSISTANT
        for _, text in sentences_of(turn)
        if acknowledges(text, turn.text, before.text)
    )


def has_matter(turns: Sequence[Turn], now: datetime, *, worked: bool) -> bool:
    """Whether a session leaves something to remember: files were read or edited or commands run (`worked`), a line is
    worth the log, or the person kept to a matter for MATTER_TURNS turns and more. Greetings, a riddle and a question of
    general knowledge are small talk."""
    if worked or select(turns, f"{FOLDER}/x.md", now)[0]:
        return True
    own = [turn for turn in turns if turn.role is Role.USER]
    if len(own) < MATTER_TURNS or sum(telling(turn.text) for turn in own) < MATTER_WORDS:
        return False
    return any(
        set(topics([turn.text])) & set(topics(earlier.text for earlier in own[:at])) for at, turn in enumerate(own)
    )


def worked(turns: Iterable[Turn]) -> bool:
    """Whether an agent worked in these turns: it called a tool other than those that only look something up."""
    names = [turn.name for turn in turns if turn.role is Role.TOOL or turn.calls]
    return any(turn.files for turn in turns) or any(not LOOKS_UP.search(name) for name in names)


def _says_something(text: str) -> bool:
    """Whether a sentence has telling words, more of them where it is courteous: no greeting, no thanks."""
    said = MASK.sub(" ", text)
    return telling(said) >= AGREED + (not COURTESY.isdisjoint(words(said)))


class EpisodeFile(NamedTuple):
    """An episode that is there: its path, its session, and of one that was imported the SHA-256 (64 hex) of the
    transcript and the name of its file ("" for any other). `title`: the first line of its summary, "" for none."""

    path: str
    session: str
    transcript: str = ""
    file: str = ""
    title: str = ""


def episodes(root: Path) -> Iterator[EpisodeFile]:
    """The episodes that are there, by path; what cannot be read is left out."""
    folder = root / FOLDER
    for path in sorted(folder.glob("*.md")) if folder.is_dir() and not folder.is_symlink() else []:
        name = path.relative_to(root).as_posix()
        try:
            head = ""
            if kind(name) is Kind.SESSION:
                head = read_bytes(root, name, HEAD).decode("utf-8", "replace")
        except (OSError, OutsideRepository):
            continue
        front = head.split("\n---\n", 1)[0]
        session, transcript = _quoted("session", front), TRANSCRIPT_LINE.search(front)
        if session:
            file = _quoted("file", front)
            yield EpisodeFile(name, session, transcript[1] if transcript else "", file, _title(head))


def _title(text: str) -> str:
    """The first line of the summary of an episode, "" where it has none or was small talk."""
    _, _, summary = text.partition("\n## Summary\n")
    first = next((line for line in summary.split("\n") if line.strip()), "")
    if first.startswith("- ") and first != SMALL_TALK:
        return first[2:].strip()
    return ""


def _quoted(key: str, front: str) -> str:
    """The JSON text that a line of the front matter holds, "" where there is none."""
    match = re.search(rf"^{key}: (\".*\")$", front, re.M)
    try:
        if not match:
            return ""
        return str(json.loads(match[1]))
    except ValueError:
        return ""


def episode_of(root: Path, session: str) -> str:
    """The episode this session wrote before, "" when there is none."""
    names = spellings(session)
    return next((episode.path for episode in episodes(root) if episode.session in names), "")
