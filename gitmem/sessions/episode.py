"""Write the episode of a session: a Markdown file in `memory/sessions` with its summary, decisions and topics.

An episode has only sentences that were said in the session. Text that the gate would refuse is masked, so that a
session with a secret still leaves its decisions.
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
from gitmem.json_values import parse_json
from gitmem.memory.fact import normalise
from gitmem.models.wordpiece import words
from gitmem.paths import Kind, kind
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.search.evidence import COURTESY
from gitmem.search.keywords import slug, topics
from gitmem.sessions.decision_turns import MAX_BARE_ANSWER_WORDS, telling_word_count
from gitmem.sessions.echoes import NO_STATEMENTS, MemoryStatements, acknowledges, memory_statements
from gitmem.sessions.latest_statements import current_statements
from gitmem.sessions.rolling_summary import RollingSummary, SummaryLine, add_turns, best_lines
from gitmem.sessions.rolling_summary import sentences as sentences_of
from gitmem.sessions.selection import Selected, select
from gitmem.sessions.state import session_hash
from gitmem.sessions.written_ids import stored_names, written_session

MAX_TURNS = 15  # last spoken turns from which an episode is made
MAX_SUMMARY_TOKENS = 300
FOLDER = "memory/sessions"
UNNAMED = f"{FOLDER}/session.md"  # path with which turns are redacted before the episode has its name
MASK = re.compile(r"\[redacted[^\]\n]*\]|\[forgotten\]")
HEAD_BYTES = 4_096  # of an episode; they hold its front matter and the first line of its summary
TRANSCRIPT = "transcript: sha256:"
TRANSCRIPT_LINE = re.compile(rf"^{TRANSCRIPT}([0-9a-f]{{64}})$", re.M)
MIN_PERSON_TURNS = 2  # of a person, from which a session may be worth an episode
MIN_TELLING_WORDS = 10  # in these turns together, without stop words
# Tools by which an agent looks something up, in memory or on the web.
LOOKS_UP = re.compile(r"(?i)memory|git.?mem|web.?(?:search|fetch)|google|weather|time")
SMALL_TALK = "- (nothing but small talk)"  # the summary of an episode without any line
DECIDED = ("decision", "rule", "constraint", "policy", "exception")


def write_episode(
    repo: Repository, config: Config, turns: Sequence[Turn], session: str, agent: str, now: datetime
) -> str:
    """Write the episode of a session from the last MAX_TURNS of these spoken turns, with secrets, personal data and
    forgotten texts masked. Commits nothing. Returns the episode's path in the repository, "" without turns and in a
    bare repository.

    An earlier episode of the session is replaced; if another session's episode has the path, this one gets a hash in
    its name. `now`: time of the session's last activity. Raises Refused if the gate refuses the masked text, Locked if
    another process is writing memory, and GitMemError if nothing can be written.
    """
    if not turns or repo.root is None:
        return ""
    existing = find_episode(repo.root, session)
    memory = memory_statements(repo.root, config.memory_daily, written_session(session), now)
    forgotten = forgotten_texts(repo)
    if forgotten:
        turns = [replace(turn, text=forgotten.masked(turn.text)) for turn in turns]
    path, text = gated_episode(turns, Heading(session, agent, now), config, existing, memory)

    def plan(reading: Reading) -> Draft[str]:
        place = path
        if not existing and reading.raw(path) is not None:
            place = path_with_hash(path, session)
        return Draft({place: text.encode("utf-8", "surrogateescape")}, place)

    return write(repo, plan)


@dataclass(frozen=True, slots=True)
class Heading:
    """The session that an episode's front matter names. `session`: its name. `agent`: "" if unknown. `when`: time of
    its last activity. Only for an imported session, else "": `transcript`, the SHA-256 (64 hex digits) of the
    transcript's bytes, and `file`, the name of the transcript's file."""

    session: str
    agent: str
    when: datetime
    transcript: str = ""
    file: str = ""


def gated_episode(
    turns: Sequence[Turn],
    heading: Heading,
    config: Config,
    existing: str = "",
    memory: MemoryStatements = NO_STATEMENTS,
) -> tuple[str, str]:
    """(path, text) of the episode of these spoken turns, masked and accepted by the gate. Writes nothing. Only the last
    MAX_TURNS turns are used.

    A person's own sentence that is worth a log line is not masked when the gate only warns that it reads like an
    instruction, unless the gate is strict.

    `existing`: path of the session's earlier episode, "" for none. `memory`: statements of memory; an agent's sentences
    that only repeat them are left out. Raises Refused if the gate refuses the masked text.
    """
    policy = Policy()
    spoken = turns[-MAX_TURNS:]
    own_texts: list[str] = []
    if config.gate != "strict":
        own_texts = [normalise(text) for item in select(spoken, UNNAMED, heading.when)[0] for text in _own_words(item)]
    clean = [replace(turn, text=redact(turn.text, UNNAMED, policy, spoken=own_texts)) for turn in spoken]
    # The name comes from the redacted text: a secret in it would be in every listing.
    name = slug(MASK.sub(" ", turn.text) for turn in clean)
    path = existing or f"{FOLDER}/{heading.when.date().isoformat()}-{name}.md"
    return path, refuse_or_mask_text(
        redact(render_episode(clean, heading, memory), path, policy, spoken=own_texts), path, config
    )


def _own_words(item: Selected) -> list[str]:
    """The texts of a selection that the person said: all of it, or its core beside sentences of an agent; [] for what
    may be pasted and for an agent's core."""
    if item.origin == "user":
        return [item.text]
    if item.origin == "agent" and item.turn.role is Role.USER:
        return [item.core]
    return []


def path_with_hash(path: str, session: str) -> str:
    """The path of a session's episode when another session's episode already has `path`: 6 digits of the session's hash
    stand before `.md`."""
    return path.removesuffix(".md") + f"-{session_hash(session)[:6]}.md"


def render_episode(turns: Sequence[Turn], heading: Heading, memory: MemoryStatements = NO_STATEMENTS) -> str:
    """The Markdown of an episode: front matter, summary, decisions and topics. An agent's sentences that only repeat
    `memory` are left out. The texts must be masked already."""
    session, agent, now = written_session(heading.session), heading.agent, heading.when
    selected, _ = select(turns, f"{FOLDER}/x.md", now)
    selected = [item for item in selected if item.turn.role is not Role.ASSISTANT or not memory.has(item.text)]
    current = current_statements(selected)
    replaced = frozenset(item.text for item in selected) - frozenset(item.text for item in current)
    decisions = [f"- {item.text}" for item in current if item.type in DECIDED and item.origin != "web"]
    about = ", ".join(topics(MASK.sub(" ", turn.text) for turn in turns)[:8])
    front = ["---", "type: episode", f"session: {json.dumps(session)}", "origin: agent"]
    if agent:
        front += [f"agent: {json.dumps(agent)}"]
    if heading.transcript:
        front += [f"{TRANSCRIPT}{heading.transcript}", f"file: {json.dumps(heading.file)}"]
    body = [*front, "---", f"# Session of {now.date().isoformat()}", "", "## Summary", ""]
    acknowledged = acknowledgements(turns)
    summary: list[str] = []
    for line in _most_telling(turns, decisions, "\n".join(replaced)):
        # No `user:` before a person's sentence: the gate and models would take it for a forged turn.
        if line.role != Role.ASSISTANT:
            summary.append(f"- {line.text}")
        elif line.text not in acknowledged and not memory.has(line.text):
            summary.append(f"- {line.text} (agent)")
    body += [*(summary or [SMALL_TALK]), ""]
    if decisions:
        body += ["## Decisions", "", *decisions, ""]
    if about:
        body += ["## Topics", "", about, ""]
    return "\n".join(body).rstrip() + "\n"


def _most_telling(turns: Sequence[Turn], decisions: Sequence[str], replaced: str) -> list[SummaryLine]:
    """The sentences for a summary of at most MAX_SUMMARY_TOKENS, in order: each belongs to one of `decisions` or has
    telling words. `replaced`: the text of decisions that a later one replaced; their sentences are left out."""
    decided = "\n".join(decisions)
    summary = add_turns(RollingSummary(), turns)
    summary = replace(summary, lines=tuple(line for line in summary.lines if line.text not in replaced))
    return [
        line for line in best_lines(summary, MAX_SUMMARY_TOKENS) if line.text in decided or _says_something(line.text)
    ]


def acknowledgements(turns: Sequence[Turn]) -> frozenset[str]:
    """The agent's sentences that only acknowledge what the person said in the turn before."""
    acknowledged: set[str] = set()
    for previous, turn in pairwise(turns):
        if previous.role is Role.USER and turn.role is Role.ASSISTANT:
            sentences = [text for _, text in sentences_of(turn)]
            acknowledged.update(text for text in sentences if acknowledges(text, turn.text, previous.text))
    return frozenset(acknowledged)


def is_worth_an_episode(turns: Sequence[Turn], now: datetime, *, worked: bool) -> bool:
    """Whether a session gets an episode; greetings and single questions of general knowledge do not.

    True if the agent worked (`worked`), if a sentence is worth a log line, or if the person has at least
    MIN_PERSON_TURNS turns with together MIN_TELLING_WORDS telling words and two of them share a topic.
    """
    if worked or select(turns, f"{FOLDER}/x.md", now)[0]:
        return True
    own_turns = [turn for turn in turns if turn.role is Role.USER]
    telling_words = sum(telling_word_count(turn.text) for turn in own_turns)
    if len(own_turns) < MIN_PERSON_TURNS or telling_words < MIN_TELLING_WORDS:
        return False
    return any(
        set(topics([turn.text])) & set(topics(earlier.text for earlier in own_turns[:index]))
        for index, turn in enumerate(own_turns)
    )


def agent_worked(turns: Iterable[Turn]) -> bool:
    """Whether an agent worked in these turns: a turn names files, or a tool was called that does more than look
    something up."""
    names = [turn.name for turn in turns if turn.role is Role.TOOL or turn.calls]
    return any(turn.files for turn in turns) or any(not LOOKS_UP.search(name) for name in names)


def _says_something(text: str) -> bool:
    """Whether a sentence is more than a greeting or thanks: it has at least MAX_BARE_ANSWER_WORDS words that are not
    stop words, one more if it has a word of courtesy."""
    unmasked = MASK.sub(" ", text)
    return telling_word_count(unmasked) >= MAX_BARE_ANSWER_WORDS + (not COURTESY.isdisjoint(words(unmasked)))


class EpisodeFile(NamedTuple):
    """An episode file. `path`: in the repository. `session`: name of the session, or of its part, as the file has it:
    its own name or a neutral id (`written_ids.stored_names`). Only for an imported session, else "": `transcript`, the
    SHA-256 of the transcript, and `file`, the name of its file. `title`: the first line of the summary, "" for none."""

    path: str
    session: str
    transcript: str = ""
    file: str = ""
    title: str = ""


def list_episodes(root: Path) -> Iterator[EpisodeFile]:
    """The episodes below the work tree `root`, by path. Files that cannot be read or name no session are left out."""
    folder = root / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return
    for path in sorted(folder.glob("*.md")):
        name = path.relative_to(root).as_posix()
        if kind(name) is not Kind.SESSION:
            continue
        try:
            head = read_bytes(root, name, HEAD_BYTES).decode("utf-8", "replace")
        except (OSError, OutsideRepository):
            continue
        front = head.split("\n---\n", 1)[0]
        session, transcript = _quoted("session", front), TRANSCRIPT_LINE.search(front)
        if session:
            sha256 = transcript[1] if transcript else ""
            yield EpisodeFile(name, session, sha256, _quoted("file", front), _title(head))


def _title(text: str) -> str:
    """The text of the first item (`- `) of the section "Summary"; "" if there is no such section, or if it begins with
    anything else or with SMALL_TALK."""
    _, _, summary = text.partition("\n## Summary\n")
    first = next((line for line in summary.split("\n") if line.strip()), "")
    if first.startswith("- ") and first != SMALL_TALK:
        return first[2:].strip()
    return ""


def _quoted(key: str, front: str) -> str:
    """The value of `key` in the front matter `front`, written there as a JSON string; "" if there is none."""
    match = re.search(rf"^{key}: (\".*\")$", front, re.M)
    if not match:
        return ""
    try:
        return str(parse_json(match[1]))
    except ValueError:
        return ""


def find_episode(root: Path, session: str) -> str:
    """The path of the episode of `session`, the name of a session or of a part of it (`s1#2`); "" if there is none."""
    names = stored_names(session)
    return next((episode.path for episode in list_episodes(root) if episode.session in names), "")
