"""The note of one finished session: what it says, which file it is, and its writing.

Extracted, so it says only what was said. What the gate would refuse is masked: a session that held a secret still
leaves what it decided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import OutsideRepository
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import redact, refuse_or_mask_text
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading, write
from gitmem.git.worktree import read_bytes
from gitmem.hosts.transcript import Role, Turn
from gitmem.paths import Kind, kind
from gitmem.search.keywords import slug, topics
from gitmem.sessions.rolling_summary import Rolling, SummaryLine, best, fold
from gitmem.sessions.selection import select
from gitmem.sessions.state import file_of

TURNS = 15  # spoken turns an episode is made of
TOKENS = 300  # of its summary
FOLDER = "memory/sessions"
UNNAMED = f"{FOLDER}/session.md"  # what a turn is masked as, before the episode has its name
MASK = re.compile(r"\[redacted[^\]\n]*\]")
DECIDED = ("decision", "rule", "constraint", "policy")


def write_episode(
    repo: Repository, config: Config, turns: Sequence[Turn], session: str, agent: str, now: datetime
) -> str:
    """Write the episode of these spoken turns; its path from the root, "" where there are none.

    The session's own episode is replaced, another's of the same name is not. Raises Refused where the gate refuses
    what is left after masking, Locked, GitMemError when nothing can be written.
    """
    recent = turns[-TURNS:]
    if not recent or repo.root is None:
        return ""
    existing = episode_of(repo.root, session)
    policy = Policy()
    clean = [replace(turn, text=redact(turn.text, UNNAMED, policy)) for turn in recent]
    # The name is made of what is masked already: a secret in it would be in every listing.
    words = slug(MASK.sub(" ", turn.text) for turn in clean)
    path = existing or f"{FOLDER}/{now.date().isoformat()}-{words}.md"
    text = refuse_or_mask_text(redact(render_episode(clean, session, agent, now), path, policy), path, config)

    def plan(reading: Reading) -> Draft[str]:
        place = path
        if not existing and reading.raw(path) is not None:
            place = path.removesuffix(".md") + f"-{file_of(session)[:6]}.md"
        return Draft({place: text.encode("utf-8", "surrogateescape")}, place)

    return write(repo, plan)


def render_episode(turns: Sequence[Turn], session: str, agent: str, now: datetime) -> str:
    """The Markdown of an episode: summary, decisions, topics."""
    selected, _ = select(turns, f"{FOLDER}/x.md", now)
    decisions = [f"- {item.text}" for item in selected if item.type in DECIDED and item.origin != "web"]
    about = ", ".join(topics(MASK.sub(" ", turn.text) for turn in turns)[:8])
    front = ["---", "type: episode", f"session: {json.dumps(session)}", "origin: agent"]
    front += [f"agent: {json.dumps(agent)}"] if agent else []
    body = [*front, "---", f"# Session of {now.date().isoformat()}", "", "## Summary", ""]
    # No `user:` before a sentence: a role's name makes a plain wish look like a forged turn, to the gate and to models.
    summary = [f"- {line.text}" + (" (agent)" if line.role == Role.ASSISTANT else "") for line in _most_telling(turns)]
    body += [*(summary or ["- (nothing but small talk)"]), ""]
    body += ["## Decisions", "", *decisions, ""] if decisions else []
    body += ["## Topics", "", about, ""] if about else []
    return "\n".join(body).rstrip() + "\n"


def _most_telling(turns: Sequence[Turn]) -> list[SummaryLine]:
    return best(fold(Rolling(), turns), TOKENS)


def episode_of(root: Path, session: str) -> str:
    """The episode this session wrote before, "" when there is none."""
    folder = root / FOLDER
    wanted = f"session: {json.dumps(session)}\n"
    for path in sorted(folder.glob("*.md")) if folder.is_dir() and not folder.is_symlink() else []:
        name = path.relative_to(root).as_posix()
        try:
            if kind(name) is Kind.SESSION and wanted in read_bytes(root, name, 4096).decode("utf-8", "replace"):
                return name
        except (OSError, OutsideRepository):
            continue
    return ""
