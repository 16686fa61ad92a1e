"""The life of an agent's session: flush what matters before a context is compacted, end with an episode.

Reads a transcript, writes only through the gate, appends only, and says the same thing once: what a session has
already written is remembered (`sessions/state.py`), and what memory already holds is not written again. Nothing here
needs a model; the rules of promotion choose what was decided, promised, preferred or excepted, and a model may add to
them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitMemError, OutsideRepository, Refused
from gitmem.gate.policy import Policy
from gitmem.gate.quoting import without_secrets
from gitmem.gate.redaction import guard, redact
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked, read_bytes, write_atomic
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.memory import facts, writing
from gitmem.memory.fact import fact_id, normalise
from gitmem.memory.writing import Entry
from gitmem.paths import Kind, daily_path, kind, log_date
from gitmem.promotion.protocol import Log, Model, Op
from gitmem.search.keywords import slug, topics
from gitmem.sessions.compaction import SENTENCE
from gitmem.sessions.rolling_summary import Line, Rolling, best, fold, key
from gitmem.sessions.state import file_of, load_state, lock_of, name_of, present, save_state, summary, touched

RECENT_DAYS = 7  # of logs in which a flush looks for what it would write
EPISODE_MESSAGES = 15  # spoken turns an episode is made of
EPISODE_TOKENS = 300
EPISODE_FILE = "memory/sessions/session.md"  # what a turn is masked as, before the episode has its name
MASK = re.compile(r"\[redacted[^\]\n]*\]")
KEPT_TYPES = frozenset(
    ("decision", "preference", "constraint", "deadline", "todo", "rule", "policy", "exception", "lesson", "profile",
     "goal", "fact")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kept:
    """One line a flush wrote: where, what, and the turn it was said in."""

    path: str
    line: int
    text: str
    type: str
    turn: str


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did: lines written, and texts that were left out with the reason."""

    kept: tuple[Kept, ...]
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()  # what a model did not do


def flush(
    repo: Repository, config: Config, transcript: Transcript, *, now: datetime, session: str = "", agent: str = "",
    place: str = "", model: Model | None = None,
) -> Flushed:  # fmt: skip
    """Write what the transcript decided, promised, preferred or excepted to the agent's daily log.

    A turn is read once; a fact that MEMORY.md or a recent log holds is not written again. What the gate refuses is
    left out, with the reason, never quoted. `place` is the host's file, for a later reset. A `model` chooses more of
    the lines, and its failure is a note: what the rules choose is written all the same. Raises GitMemError in a bare
    repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files", "run it in a clone")
    session = name_of(transcript, session)
    agent = agent or config.agent
    with locked(repo.common_dir, lock_of(session)):
        state = load_state(repo.common_dir, session)
        turns = [turn for turn in transcript.spoken() if key(turn) not in state.turns]
        known = set(state.facts) | _known(repo.root, now)
        skipped: list[tuple[str, str]] = []
        notes: list[str] = []
        chosen: list[tuple[Turn, Entry]] = []
        for text, type_, turn in propose(turns, daily_path(now.date(), agent), now, model, notes):
            ident = fact_id(text)
            if ident in known:
                skipped.append((without_secrets([text])[0], "memory holds it already"))
                continue
            known.add(ident)
            origin = "user" if turn.role is Role.USER else "agent"
            chosen.append((turn, Entry(text, type_, origin, (("session", session), ("turn", turn.id)))))
        kept: list[Kept] = []
        entries = [entry for _, entry in chosen]
        done = writing.log(repo, config, entries, now=now, agent=agent, topic="session") if entries else []
        for (turn, entry), one in zip(chosen, done, strict=True):
            if isinstance(one, Refused):
                skipped.append(("(refused by the gate)", one.message))
            else:
                kept.append(Kept(one.path, one.line, one.text, entry.kind, turn.id))
        written = state.facts | {fact_id(k.text) for k in kept}
        state = replace(state, turns=state.turns | {key(t) for t in turns}, facts=frozenset(written))
        save_state(repo.common_dir, session, touched(state, now, place))
    summary(repo.common_dir, transcript, session)
    return Flushed(tuple(kept), tuple(skipped), tuple(notes))


def propose(
    turns: Sequence[Turn], path: str, now: datetime, model: Model | None = None, notes: list[str] | None = None
) -> list[tuple[str, str, Turn]]:
    """(text, type, turn) of what is worth a line of the log, in the order it was said: always what was said, never a
    model's wording. What a model could not do is added to `notes`.
    """
    lines: list[str] = []
    said_in: list[Turn] = []
    for turn in turns:
        for sentence in SENTENCE.split(turn.text):
            text = normalise(sentence)
            if 6 <= len(text) <= 400 and not text.startswith(("```", "|", "<", "#", ">")):
                lines.append(f"- {text}")
                said_in.append(turn)
    if not lines:
        return []
    from gitmem.promotion.rules import RulesModel  # 0.1 s of tables, which a turn with nothing new need not pay

    log = Log(path, "", now.date(), tuple(lines), frozenset(range(1, len(lines) + 1)))
    operations = list(RulesModel().propose([log], ()).operations)
    if model is not None:
        try:
            answer = model.propose([log], ())
            operations += answer.operations
            told: tuple[str, ...] = answer.notes
        except GitMemError as error:
            told = (f"only the rules chose: {error.message}",)
        if notes is not None:
            notes += told
    found: dict[int, str] = {}
    for operation in operations:
        at = operation.sources[0].start_line - 1 if operation.sources else -1
        if operation.op is not Op.SKIP and operation.type in KEPT_TYPES and 0 <= at < len(lines):
            found.setdefault(at, operation.type)
    return [(normalise(lines[at]), found[at], said_in[at]) for at in sorted(found)]


def _known(root: Path, now: datetime) -> set[str]:
    """Ids of the facts of MEMORY.md and of the bullets of the last days' logs, whoever wrote them."""
    found: set[str] = set()
    try:
        names = [f"memory/{name}" for name in os.listdir(root / "memory")]
    except OSError:
        names = []
    days = {now.date() - timedelta(days=back) for back in range(RECENT_DAYS)}
    recent = sorted(name for name in names if kind(name) is Kind.DAILY and log_date(name) in days)
    for path in ("MEMORY.md", *recent):
        try:
            found |= {fact.id for fact in facts.parse(read_bytes(root, path)).facts}
        except (OSError, OutsideRepository):
            continue
    return found


# -- the end of a session -------------------------------------------------------------------------------------


def end(
    repo: Repository, config: Config, transcript: Transcript, *, now: datetime, session: str = "", agent: str = "",
    place: str = "", model: Model | None = None,
) -> tuple[Flushed, str]:  # fmt: skip
    """Flush, then write the session's episode; its path, "" when nothing was said. Twice is the same as once.

    What the gate would refuse is masked in the episode: a session that held a secret still leaves what it decided.
    """
    flushed = flush(repo, config, transcript, now=now, session=session, agent=agent, place=place, model=model)
    assert repo.root is not None
    whole = name_of(transcript, session)
    part = present(repo.common_dir, transcript, whole)
    session, turns = part.session, part.spoken()[-EPISODE_MESSAGES:]
    save_state(repo.common_dir, whole, replace(load_state(repo.common_dir, whole), ended=True))
    if not turns:
        return flushed, ""
    existing = _episode_of(repo.root, session)
    policy = Policy()
    clean = [replace(turn, text=redact(turn.text, EPISODE_FILE, policy)) for turn in turns]
    # The name is made of what is masked already: a secret in it would be in every listing.
    words = slug(MASK.sub(" ", turn.text) for turn in clean)
    path = existing or f"memory/sessions/{now.date().isoformat()}-{words}.md"
    text = redact(episode(clean, session, agent or config.agent, now), path, policy)
    text = guard(text, path, config)
    with locked(repo.common_dir, "write"):
        if not existing and (repo.root / path).exists():
            path = path.removesuffix(".md") + f"-{file_of(session)[:6]}.md"
        write_atomic(repo.root, path, text.encode("utf-8", "surrogateescape"))
    return flushed, path


def episode(turns: Sequence[Turn], session: str, agent: str, now: datetime) -> str:
    """The Markdown of an episode: summary, decisions, topics. Extracted, so it says only what was said."""
    chosen = propose(turns, "memory/sessions/x.md", now)
    decisions = [f"- {text}" for text, type_, _ in chosen if type_ in ("decision", "rule", "constraint", "policy")]
    about = ", ".join(topics(MASK.sub(" ", turn.text) for turn in turns)[:8])
    front = ["---", "type: episode", f"session: {json.dumps(session)}", "origin: agent"]
    front += [f"agent: {json.dumps(agent)}"] if agent else []
    body = [*front, "---", f"# Session of {now.date().isoformat()}", "", "## Summary", ""]
    # No `user:` before a sentence: a role's name makes a plain wish look like a forged turn, to the gate and to models.
    said = [f"- {line.text}" + (" (agent)" if line.role == Role.ASSISTANT else "") for line in _best(turns)]
    body += [*(said or ["- (nothing but small talk)"]), ""]
    body += ["## Decisions", "", *decisions, ""] if decisions else []
    body += ["## Topics", "", about, ""] if about else []
    return "\n".join(body).rstrip() + "\n"


def _best(turns: Sequence[Turn]) -> list[Line]:
    return best(fold(Rolling(), turns), EPISODE_TOKENS)


def _episode_of(root: Path, session: str) -> str:
    """The episode this session wrote before, "" when there is none."""
    folder = root / "memory/sessions"
    wanted = f"session: {json.dumps(session)}\n"
    for path in sorted(folder.glob("*.md")) if folder.is_dir() and not folder.is_symlink() else []:
        name = path.relative_to(root).as_posix()
        try:
            if kind(name) is Kind.SESSION and wanted in read_bytes(root, name, 4096).decode("utf-8", "replace"):
                return name
        except (OSError, OutsideRepository):
            continue
    return ""
