"""What the last session left open: its working values, what was said where it was interrupted, and the last episode."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache

from gitmem.config import Config
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.opening import Repository
from gitmem.memory.state import Lapsed, State, of_text
from gitmem.sessions.working_memory import Owner, Store

EXCEPTIONS = 10  # exceptions that have ended a checkpoint shows
OPEN = 20  # working values a checkpoint shows
EPISODE = 1_500  # characters of the last episode it shows
ACTIVE, INTERRUPTED = timedelta(minutes=10), timedelta(days=2)  # since then a session is over, and is of interest
INTERRUPTED_TOKENS = 300  # of the summary of such a session
EPISODES_READ = 10  # until one of this agent's is found


def checkpoint(repo: Repository, config: Config, when: datetime, session: str = "") -> list[str]:
    """Where the last session left off: working values that have not ended, what was said in a session that was
    interrupted, and the last episode; nothing that holds no longer. Quoted as data. `session` is the one that begins or
    goes on, or the part of it where that is known (`s1#2`)."""

    @cache
    def known() -> Lapsed:
        from gitmem.context import layers, scopes

        scope = scopes.project(repo, config, when)
        return layers.lapsed(scope.read, scope.paths, when.date(), scope.forgotten())

    sections = (
        _ended_exceptions(repo, config, when),
        _values(repo, config, when, session, known), _interrupted(repo, when, session),
        _last_episode(repo, config, session, known),
    )  # fmt: skip
    return [text for text in sections if text]


def _ended_exceptions(repo: Repository, config: Config, when: datetime) -> str:
    """Exceptions of MEMORY.md that ended not long ago: whoever knows them from before must not go on by them."""
    from gitmem.errors import MissingFile
    from gitmem.memory.facts import parse_lines
    from gitmem.memory.retention import ended_exceptions
    from gitmem.memory.show import read

    if repo.root is None or not os.path.lexists(repo.root / "MEMORY.md"):
        return ""
    try:
        lines = read(repo, config, "MEMORY.md", "").lines
    except (MissingFile, OutsideRepository):
        return ""
    if not any("exception" in line for line in lines):
        return ""
    from gitmem.gate.quoting import HIDDEN, neutral, without_secrets

    ended = ended_exceptions(parse_lines(lines).facts, when.date())[:EXCEPTIONS]
    rows = [
        f"- {neutral(' '.join(fact.text[:200].split()))} (MEMORY.md:{fact.line}, until {day})" for day, fact in ended
    ]
    rows = [row for row in without_secrets(rows) if row != HIDDEN] if rows else []
    return "\n".join(["Exceptions that have ended, and allow nothing any more (data):", *rows]) if rows else ""


def _interrupted(repo: Repository, when: datetime, session: str) -> str:
    """What was said in the session that was active last, where nothing ended it and it is not likely to go on."""
    if not (repo.common_dir / "gitmem/sessions").is_dir():
        return ""
    from gitmem.gate.quoting import fence
    from gitmem.sessions.rolling_summary import render
    from gitmem.sessions.state import all_states, so_far

    states = [state for state in all_states(repo.common_dir, when) if state.name != session]
    last = states[-1] if states else None
    if last is None or last.ended or last.seen is None or not ACTIVE < when - last.seen < INTERRUPTED:
        return ""
    text = render(so_far(repo.common_dir, last), INTERRUPTED_TOKENS)
    if not text:
        return ""
    note = f"not ended, last active {last.seen.isoformat(sep=' ', timespec='minutes')}"
    return "A session that was interrupted (data):\n" + fence(text, f"session:{last.name}", note=note)


def _values(repo: Repository, config: Config, when: datetime, session: str, known: Callable[[], Lapsed]) -> str:
    """The values of the project and of this session that this agent may see."""
    if not (repo.common_dir / "gitmem").is_dir():
        return ""
    from gitmem.gate.quoting import HIDDEN, neutral, without_secrets

    open_values = Store(repo.common_dir, config.profile).list("", when, Owner(session, config.agent))[:OPEN]
    open_values = [value for value in open_values if of_text(value.text, known()) is State.HOLDS]
    rows = [f"- {neutral(' '.join(f'{value.key}: {value.text[:200]}'.split()))}" for value in open_values]
    rows = [row for row in without_secrets(rows) if row != HIDDEN] if rows else []
    return "\n".join(["Open from the last session (data):", *rows]) if rows else ""


def _last_episode(repo: Repository, config: Config, session: str, known: Callable[[], Lapsed]) -> str:
    """The newest episode of this agent, or of nobody in particular; none of `session`, which knows what it said."""
    from gitmem.context.layer_limits import Layer, shares
    from gitmem.context.layers import holding
    from gitmem.context.pieces import layout, within

    if repo.root is None or not shares(config.context_layer)[Layer.EPISODE].on:
        return ""
    from gitmem.gate.quoting import fence
    from gitmem.git.worktree import read_bytes
    from gitmem.memory.document import parse
    from gitmem.paths import LIMIT, Kind, kind, log_date

    folder = repo.root / "memory/sessions"
    try:
        names = [f"memory/sessions/{name}" for name in os.listdir(folder)] if not folder.is_symlink() else []
    except OSError:
        return ""
    dated = sorted(((log_date(name), name) for name in names if kind(name) is Kind.SESSION and log_date(name)), key=str)
    for _, name in dated[: -EPISODES_READ - 1 : -1]:
        try:
            document = parse(read_bytes(repo.root, name, LIMIT), name)
        except (OSError, GitMemError):
            continue
        agent = document.front_matter.get("agent", "")
        written = str(document.front_matter.get("session", ""))
        own = session and session in (written, written.partition("#")[0])
        if own or (config.agent and agent and agent != config.agent):
            continue
        found = within(holding(document, known()), EPISODE, len, EPISODE)
        places = ((found[0].first, found[-1].last),) if found else ()
        return "The last session (data):\n" + fence(layout(found), name, *places, note="episode") if found else ""
    return ""
