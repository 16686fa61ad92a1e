"""The checkpoint at the start of a session: open working values, an interrupted session, and the last episode."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from gitmem.config import Config
from gitmem.context import layers
from gitmem.context.layer_limits import Layer, limits_of_layers
from gitmem.context.layers import Part
from gitmem.context.pieces import Piece, as_markdown, first_fitting
from gitmem.context.session_contents import KnownStatement, KnownStatements
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.opening import Repository
from gitmem.memory.similarity import terms
from gitmem.memory.state import LapsedFacts, State, state_of_text
from gitmem.sessions.working_memory import Owner, Store

MAX_EXCEPTIONS = 10  # ended exceptions that are shown
MAX_VALUES = 20  # working values that are shown
MAX_EPISODE_CHARACTERS = 1_500  # characters of the last episode that are shown
# A session that was not ended counts as interrupted if its last activity is older than ACTIVE, newer than INTERRUPTED.
ACTIVE, INTERRUPTED = timedelta(minutes=10), timedelta(days=2)
INTERRUPTED_TOKENS = 300  # tokens of the summary of an interrupted session
AGENT_SUFFIX = " (agent)"  # ends a line of an episode that an agent said
TOPICS = "Topics"  # the heading of an episode's topics
MAX_EPISODES_READ = 10  # newest episodes that are read to find one of this agent


class Section(NamedTuple):
    """One section of a checkpoint. `parts`: the statements of memory in its text, as parts of a context."""

    text: str
    parts: tuple[Part, ...] = ()


def checkpoint(
    repo: Repository, config: Config, when: datetime, session: str = "", known: KnownStatements | None = None
) -> list[Section]:  # fmt: skip
    """The sections of a checkpoint that have text, quoted as data; empty if there is nothing to show.

    In order: exceptions that ended recently, working values, an interrupted session, the last episode. In the other
    sections than the first, statements that have ended, or were replaced or forgotten, are left out. `session`: the id
    of the session that begins or continues, or of its part (`s1#2`). `known`: the statements that the session has; they
    are left out of these sections too, and the statements shown there are added to it.
    """
    known = known or KnownStatements()

    @cache
    def lapsed() -> LapsedFacts:
        from gitmem.context import scopes

        scope = scopes.project_scope(repo, config, when)
        return layers.lapsed_statements(scope.read, scope.paths, when.date(), scope.forgotten_ids())

    sections = (
        Section(_ended_exceptions(repo, config, when)),
        Section(_values(repo, config, when, session, lapsed, known)), Section(_interrupted(repo, when, session, known)),
        _last_episode(repo, config, session, lapsed, known),
    )  # fmt: skip
    return [section for section in sections if section.text]


def _ended_exceptions(repo: Repository, config: Config, when: datetime) -> str:
    """The section with the exceptions of MEMORY.md that ended recently, at most MAX_EXCEPTIONS; "" if there are none.

    The MEMORY.md of the work tree is read; the result is "" if it cannot be read. An exception is a fact that permits
    something until a day; an agent must learn that the permission is over.
    """
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
    from gitmem.gate.quoting import HIDDEN, escaped, without_secrets

    ended = ended_exceptions(parse_lines(lines).facts, when.date())[:MAX_EXCEPTIONS]
    rows = [
        f"- {escaped(' '.join(fact.text[:200].split()))} (MEMORY.md:{fact.line}, until {day})" for day, fact in ended
    ]
    if rows:
        rows = [row for row in without_secrets(rows) if row != HIDDEN]
    if not rows:
        return ""
    return "\n".join(["Exceptions that have ended, and allow nothing any more (data):", *rows])


def _interrupted(repo: Repository, when: datetime, session: str, known: KnownStatements) -> str:
    """The section with the summary of the last active session other than `session`, if it was interrupted (ACTIVE,
    INTERRUPTED); "" if it was not. Lines that `known` says are left out; the others are added to it."""
    if not (repo.common_dir / "gitmem/sessions").is_dir():
        return ""
    from gitmem.gate.quoting import fence
    from gitmem.sessions.rolling_summary import best_lines
    from gitmem.sessions.state import all_states, full_summary

    states = [state for state in all_states(repo.common_dir, when) if state.name != session]
    last = states[-1] if states else None
    if last is None or last.ended or last.seen is None or not ACTIVE < when - last.seen < INTERRUPTED:
        return ""
    lines = [
        line
        for line in best_lines(full_summary(repo.common_dir, last), INTERRUPTED_TOKENS, "")
        if _add_if_new(line.text, known)
    ]
    text = "\n".join(f"- {line.role}: {line.text}" for line in lines)
    if not text:
        return ""
    note = f"not ended, last active {last.seen.isoformat(sep=' ', timespec='minutes')}"
    return "A session that was interrupted (data):\n" + fence(text, f"session:{last.name}", note=note)


def _add_if_new(text: str, known: KnownStatements) -> bool:
    """Add a text to the statements that the session has, and return True; return False if they say it already."""
    if known.says(text):
        return False
    known.add(KnownStatement(text, frozenset(terms(text))))
    return True


def _values(
    repo: Repository,
    config: Config,
    when: datetime,
    session: str,
    lapsed: Callable[[], LapsedFacts],
    known: KnownStatements,
) -> str:
    """The section with the working values of the project and of `session` that the configured agent may see; "" if
    there are none. A working value is a short text under a key that lasts for a task. Only the first MAX_VALUES are
    looked at. Values that lapsed or that `known` says are left out; the others are added to it."""
    if not (repo.common_dir / "gitmem").is_dir():
        return ""
    from gitmem.gate.quoting import HIDDEN, escaped, without_secrets

    open_values = Store(repo.common_dir, config.profile).list("", when, Owner(session, config.agent))[:MAX_VALUES]
    open_values = [value for value in open_values if state_of_text(value.text, lapsed()) is State.HOLDS]
    open_values = [value for value in open_values if _add_if_new(value.text, known)]
    rows = [f"- {escaped(' '.join(f'{value.key}: {value.text[:200]}'.split()))}" for value in open_values]
    if rows:
        rows = [row for row in without_secrets(rows) if row != HIDDEN]
    return "\n".join(["Open from the last session (data):", *rows]) if rows else ""


def _last_episode(
    repo: Repository, config: Config, session: str, lapsed: Callable[[], LapsedFacts], known: KnownStatements
) -> Section:  # fmt: skip
    """The section with the newest episode (the written summary of a session) that is not of `session`, up to
    MAX_EPISODE_CHARACTERS.

    An episode of an agent other than the configured one is skipped, not one that names no agent; so is an unreadable
    file. The section is empty if none of the MAX_EPISODES_READ newest files is such an episode, if that episode has
    nothing new, if the episode layer is off, or in a bare repository. Statements that lapsed or that `known` says are
    left out; those that are shown are added to it.
    """
    if repo.root is None or not limits_of_layers(config.context_layer)[Layer.EPISODE].on:
        return Section("")
    from gitmem.gate.quoting import fence
    from gitmem.git.unmerged import WorkTreeReader
    from gitmem.memory.document import parse
    from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind, log_date
    from gitmem.sessions.written_ids import stored_names

    folder = repo.root / "memory/sessions"
    own_names = frozenset(stored_names(session))
    try:
        if folder.is_symlink():
            names = []
        else:
            names = [f"memory/sessions/{name}" for name in os.listdir(folder)]
    except OSError:
        return Section("")
    dated = sorted(((log_date(name), name) for name in names if kind(name) is Kind.SESSION and log_date(name)), key=str)
    reader = WorkTreeReader(repo)
    for _, name in dated[: -MAX_EPISODES_READ - 1 : -1]:
        try:
            document = parse(reader.read(name, MAX_MEMORY_FILE_BYTES), name)
        except (OSError, GitMemError):
            continue
        agent = document.front_matter.get("agent", "")
        written = str(document.front_matter.get("session", ""))
        is_own = session and not own_names.isdisjoint((written, written.partition("#")[0]))
        if is_own or (config.agent and agent and agent != config.agent):
            continue
        new_pieces = _new_statements(layers.valid_pieces(document, lapsed()), known)
        if not new_pieces:
            return Section("")
        text = fence(as_markdown(new_pieces), name, (new_pieces[0].first, new_pieces[-1].last), note="episode")
        part = layers.with_pieces(Part(Layer.EPISODE, name, "", 0.0, name), new_pieces)
        return Section("The last session (data):\n" + text, (part,))
    return Section("")


def _new_statements(episode: Sequence[Piece], known: KnownStatements) -> list[Piece]:
    """The statements of an episode that the session lacks, in order, up to MAX_EPISODE_CHARACTERS.

    If a decision and a sentence of the summary say the same, the longer one is kept. The topics of the episode are kept
    only beside another statement. The texts of the statements returned, without the topics, are added to `known`.
    """
    topics = [piece for piece in episode if piece.section and piece.above[-1].text.lstrip("# ") == TOPICS]
    ranked = sorted((piece for piece in episode if piece not in topics), key=lambda piece: -len(piece.own.text))
    added = KnownStatements()
    fresh = {piece.position for piece in ranked if not known.says(_said(piece)) and _add_if_new(_said(piece), added)}
    fitting = [piece for piece in episode if piece.position in fresh or (fresh and piece in topics)]
    shown = first_fitting(fitting, MAX_EPISODE_CHARACTERS, len, MAX_EPISODE_CHARACTERS)
    for piece in shown:
        if piece.position in fresh:
            _add_if_new(_said(piece), known)
    return shown


def _said(piece: Piece) -> str:
    """The text of a piece of an episode without the mark that an agent said it."""
    return piece.own.text.removesuffix(AGENT_SUFFIX)
