"""What the session commands and the hooks of a host share: the person's clock, resets, models, the last checkpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gitmem.config import Config
from gitmem.errors import GitMemError, Locked, UsageError
from gitmem.git import Repository
from gitmem.working import Store, Value

OPEN = 20  # working values a checkpoint shows
EPISODE = 1_500  # characters of the last episode it shows
ACTIVE, INTERRUPTED = timedelta(minutes=10), timedelta(days=2)  # since then a session is over, and is of interest
TOLD = 300  # tokens of what was said in it
LOOKED = 10  # episodes that are looked at for one of this agent's


def renewed(repo: Repository, config: Config, when: datetime, found: Any = None, session: str = "") -> list[Any]:
    """End the sessions whose time is over (`mem.sessionReset`); `found` is the transcript in hand."""
    if config.session_reset == "never":
        return []
    from gitmem.renewal import renew
    from gitmem.running import name_of

    given = {name_of(found, session): found} if found is not None else {}
    try:
        return renew(repo, config, when, lambda naive: naive.astimezone(), given)
    except Locked:  # another process is at it
        return []


def as_value(done: Sequence[Any]) -> list[dict[str, Any]]:
    """`reset` of docs/json.md."""
    return [
        {"session": one.session, "reason": one.reason, "episode": one.episode or None, "kept": one.kept,
         "problem": one.problem or None}
        for one in done
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Missing:
    """A model that could not be opened: it says so when it is asked, and the rules choose alone."""

    problem: GitMemError
    id: str = "missing"

    def propose(self, *_: object) -> Any:
        raise self.problem


def model_of(repo: Repository, config: Config, when: datetime) -> Any:
    """The model that chooses besides the rules, None where none is configured."""
    if config.session_model in ("", "rules"):
        return None
    from gitmem.commands._model import setting
    from gitmem.models import open_model
    from gitmem.models.asking import packaged

    words = packaged("flush").replace("{what}", config.session_prompt.strip() or packaged("flush-what").strip())
    made, _ = setting(repo, config, when.date(), words)
    try:
        return open_model(config.session_model, made)
    except GitMemError as error:
        return Missing(error)


def keep_value(store: Store, config: Config, key: str, text: str, when: datetime, hours: float) -> Value:
    """Keep a working value; an empty one forgets the key. Secrets are masked in it, and an instruction aimed at the
    model is refused: the next session starts with it. Raises UsageError, Refused."""
    from gitmem.policy import Policy
    from gitmem.redaction import guard, redact
    from gitmem.working import normalise

    if not text:
        key = normalise(key)
        store.drop(key)
        return Value(key, "", when, when)
    place = "memory/sessions/value.md"
    safe = guard(redact(text, place, Policy(), only_secrets=True), place, config)
    if guard(key, place, config) != key:
        raise UsageError("a key holds no personal data", "write it as entity:name[:phase[:sub]]")
    return store.set(key, safe, when, hours)


def propose(repo: Repository, config: Config, paths: list[str], when: datetime) -> Any:
    """Commit the logs alone, then promote on a branch: what was decided can be reviewed at once."""
    from gitmem.commands._model import promoter
    from gitmem.git.write import commit_paths
    from gitmem.promote import BRANCH, Mode, Request, promote

    trailer = f"\nMemory-Agent: {config.agent}\n" if config.agent else ""
    commit_paths(repo, f"memory: log of a session\n{trailer}", paths)
    model, policy = promoter(repo, config)
    return promote(repo, config, model, policy, Request(mode=Mode.BRANCH, branch=BRANCH, agent=config.agent), when)


def checkpoint(repo: Repository, config: Config, when: datetime, session: str = "") -> list[str]:
    """Where the last session left off: working values that have not ended, what was said in a session that was
    interrupted, and the last episode. Quoted as data. `session` is the one that begins or goes on."""
    found = (_values(repo, config, when), _interrupted(repo, when, session), _last_episode(repo, config))
    return [text for text in found if text]


def _interrupted(repo: Repository, when: datetime, session: str) -> str:
    """What was said in the session that was active last, where nothing ended it and it is not likely to go on."""
    if not (repo.common_dir / "gitmem/sessions").is_dir():
        return ""
    from gitmem.fence import fence
    from gitmem.rolling import render
    from gitmem.running import known, so_far

    states = [state for state in known(repo.common_dir, when) if state.name != session]
    last = states[-1] if states else None
    if last is None or last.ended or last.seen is None or not ACTIVE < when - last.seen < INTERRUPTED:
        return ""
    text = render(so_far(repo.common_dir, last), TOLD)
    if not text:
        return ""
    note = f"not ended, last active {last.seen.isoformat(sep=' ', timespec='minutes')}"
    return "A session that was interrupted (data):\n" + fence(text, f"session:{last.name}", note=note)


def _values(repo: Repository, config: Config, when: datetime) -> str:
    if not (repo.common_dir / "gitmem").is_dir():
        return ""
    from gitmem.fence import HIDDEN, neutral, without_secrets

    found = Store(repo.common_dir, config.profile).list("", when)[:OPEN]
    rows = [f"- {neutral(' '.join(f'{value.key}: {value.text[:200]}'.split()))}" for value in found]
    rows = [row for row in without_secrets(rows) if row != HIDDEN] if rows else []
    return "\n".join(["Open from the last session (data):", *rows]) if rows else ""


def _last_episode(repo: Repository, config: Config) -> str:
    """The newest episode of this agent, or of nobody in particular."""
    from gitmem.shares import Layer, shares

    if repo.root is None or not shares(config.context_layer)[Layer.EPISODE].on:
        return ""
    from gitmem.document import parse
    from gitmem.fence import fence
    from gitmem.files import LIMIT, Kind, kind, log_date
    from gitmem.worktree import read_bytes

    folder = repo.root / "memory/sessions"
    try:
        names = [f"memory/sessions/{name}" for name in os.listdir(folder)] if not folder.is_symlink() else []
    except OSError:
        return ""
    dated = sorted(((log_date(name), name) for name in names if kind(name) is Kind.SESSION and log_date(name)), key=str)
    for _, name in dated[: -LOOKED - 1 : -1]:
        try:
            document = parse(read_bytes(repo.root, name, LIMIT), name)
        except (OSError, GitMemError):
            continue
        agent = document.front_matter.get("agent", "")
        if config.agent and agent and agent != config.agent:
            continue
        text = "\n".join(document.lines[document.front :]).strip()
        text = text if len(text) <= EPISODE else text[:EPISODE].rpartition("\n")[0]
        first = document.front + 1
        return "The last session (data):\n" + fence(text, name, first, first + text.count("\n"), note="episode")
    return ""
