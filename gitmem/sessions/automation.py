"""Steps that session commands and host hooks share: resets by the person's clock, models, promotion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.errors import GitMemError, Locked, UsageError
from gitmem.git.opening import Repository
from gitmem.hosts.transcript import Transcript
from gitmem.json_values import json_object, json_value
from gitmem.memory.fact import Fact
from gitmem.promotion.proposal import Log, Model, Proposal
from gitmem.sessions.working_memory import PROJECT, Owner, Store, Value

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask
    from gitmem.promotion.promote import Outcome
    from gitmem.sessions.lifecycle import Flushed
    from gitmem.sessions.resets import EndedSession


def end_due_sessions(
    repo: Repository, config: Config, now: datetime, transcript: Transcript | None = None, session: str = ""
) -> list[EndedSession]:
    """End the sessions that are due by `mem.sessionReset` and the person's clock.

    `transcript`: a transcript that is already read, of `session` or of the session it names. Ends nothing while another
    process does.
    """
    if config.session_reset == "never":
        return []
    from gitmem.sessions.resets import end_due
    from gitmem.sessions.state import name_of

    if transcript is not None:
        in_hand = {name_of(transcript, session): transcript}
    else:
        in_hand = {}
    try:
        return end_due(repo, config, now, lambda naive: naive.astimezone(), in_hand)
    except Locked:
        return []


@dataclass(frozen=True, slots=True)
class MissingModel:
    """Stands for a model that could not be opened: `propose` raises its error, and the rules choose alone."""

    problem: GitMemError
    id: str = "missing"

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        raise self.problem


def model_of(repo: Repository, config: Config, when: datetime, environ: Mapping[str, str]) -> Model | None:
    """The model that chooses lines besides the rules; None if none is configured."""
    if config.session_model in ("", "rules"):
        return None
    from gitmem.promotion.model_registry import model_setting, open_model
    from gitmem.promotion.prompt import packaged

    words = packaged("flush").replace("{what}", config.session_prompt.strip() or packaged("flush-what").strip())
    made, _ = model_setting(repo, config, when.date(), environ)
    try:
        return open_model(config.session_model, made, words)
    except GitMemError as error:
        return MissingModel(error)


def keep_value(
    store: Store, config: Config, key: str, text: str, when: datetime, hours: float, owner: Owner = PROJECT
) -> tuple[Value, tuple[Mask, ...]]:
    """Store a working value of its owner and return it with the masks that were applied; "" removes the key.

    Secrets are masked. An instruction aimed at the model is refused, since the next session would start with it. Raises
    UsageError, Refused.
    """
    from gitmem.gate.redaction import refuse_or_mask
    from gitmem.sessions.working_memory import key_to_read, normalise

    if not text:
        store.drop(key, owner)
        return Value(key_to_read(key), "", when, when, owner), ()
    key = normalise(key)
    place = "memory/sessions/value.md"
    safe = refuse_or_mask(text, place, config._replace(on_secret="mask"))
    refuse_or_mask(owner.session, place, config)
    if refuse_or_mask(key, place, config).masks:
        raise UsageError("a key holds no personal data", "write it as entity:name[:phase[:sub]]")
    return store.set(key, safe.text, when, hours, owner), safe.masks


def flushed_value(flushed: Flushed, ended: Sequence[EndedSession], episode: str = "") -> dict[str, object]:
    """The JSON of docs/json.md, "session end": the lines of a flush, the episode, and the sessions that a reset
    ended."""
    from gitmem.gate.redaction import mask_counts

    return {
        "kept": [json_object(line, "path line text type turn") for line in flushed.kept],
        "skipped": [{"text": text, "reason": reason} for text, reason in flushed.skipped],
        "notes": list(flushed.notes),
        "masked": mask_counts(flushed.masks),
        "differs": json_value(flushed.differs),
        "episode": episode or None,
        "reset": json_value(ended),
    }


def propose(repo: Repository, config: Config, paths: list[str], when: datetime, environ: Mapping[str, str]) -> Outcome:
    """Commit the logs `paths`, then promote their lines on a branch for review.

    Raises Changed, and promotes nothing, if somebody writes the logs, commits or switches the branch meanwhile.
    """
    from gitmem.git.transaction import CommitDraft, Reading, commit
    from gitmem.promotion.model_registry import promotion_model
    from gitmem.promotion.promote import BRANCH, Mode, Request, promote
    from gitmem.provenance import trailers

    message = trailers.with_record("memory: log of a session", trailers.Recorded(agent=config.agent))

    def logs(reading: Reading) -> CommitDraft[None]:
        return CommitDraft({path: reading.raw(path) for path in paths}, None, message)

    commit(repo, logs)
    model, policy = promotion_model(repo, config, when.date(), environ)
    return promote(repo, config, model, policy, Request(mode=Mode.BRANCH, branch=BRANCH, agent=config.agent), when)
