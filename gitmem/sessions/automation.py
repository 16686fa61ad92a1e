"""What the session commands and the hooks of a host share: the person's clock, resets, models, the last checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitmem.config import Config
from gitmem.errors import GitMemError, Locked, UsageError
from gitmem.git.opening import Repository
from gitmem.sessions.working_memory import Store, Value


def renewed(repo: Repository, config: Config, when: datetime, found: Any = None, session: str = "") -> list[Any]:
    """End the sessions whose time is over (`mem.sessionReset`); `found` is the transcript in hand."""
    if config.session_reset == "never":
        return []
    from gitmem.sessions.resets import renew
    from gitmem.sessions.state import name_of

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


def model_of(repo: Repository, config: Config, when: datetime, environ: Mapping[str, str]) -> Any:
    """The model that chooses besides the rules, None where none is configured."""
    if config.session_model in ("", "rules"):
        return None
    from gitmem.promotion.prompt import packaged
    from gitmem.promotion.registry import model_setting, open_model

    words = packaged("flush").replace("{what}", config.session_prompt.strip() or packaged("flush-what").strip())
    made, _ = model_setting(repo, config, when.date(), environ)
    try:
        return open_model(config.session_model, made, words)
    except GitMemError as error:
        return Missing(error)


def keep_value(store: Store, config: Config, key: str, text: str, when: datetime, hours: float) -> Value:
    """Keep a working value; an empty one forgets the key. Secrets are masked in it, and an instruction aimed at the
    model is refused: the next session starts with it. Raises UsageError, Refused."""
    from gitmem.gate.policy import Policy
    from gitmem.gate.redaction import guard, redact
    from gitmem.sessions.working_memory import normalise

    if not text:
        key = normalise(key)
        store.drop(key)
        return Value(key, "", when, when)
    place = "memory/sessions/value.md"
    safe = guard(redact(text, place, Policy(), only_secrets=True), place, config)
    if guard(key, place, config) != key:
        raise UsageError("a key holds no personal data", "write it as entity:name[:phase[:sub]]")
    return store.set(key, safe, when, hours)


def propose(repo: Repository, config: Config, paths: list[str], when: datetime, environ: Mapping[str, str]) -> Any:
    """Commit the logs alone, then promote on a branch: what was decided can be reviewed at once."""
    from gitmem.git.write import commit_paths
    from gitmem.promotion.promote import BRANCH, Mode, Request, promote
    from gitmem.promotion.registry import promotion_model

    trailer = f"\nMemory-Agent: {config.agent}\n" if config.agent else ""
    commit_paths(repo, f"memory: log of a session\n{trailer}", paths)
    model, policy = promotion_model(repo, config, when.date(), environ)
    return promote(repo, config, model, policy, Request(mode=Mode.BRANCH, branch=BRANCH, agent=config.agent), when)
