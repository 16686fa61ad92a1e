"""Steps that the `git mem session` commands and the host hooks share: end sessions that are due, open the model, store
working values, commit and promote logs."""

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
    from gitmem.sessions.lifecycle import FlushResult
    from gitmem.sessions.resets import EndedSession


def end_due_sessions(
    repo: Repository, config: Config, now: datetime, transcript: Transcript | None = None, session: str = ""
) -> list[EndedSession]:
    """End the sessions that `mem.sessionReset` calls over (a new day in the machine's time zone, or a time without
    activity): write their log lines and their episodes.

    `transcript`: a transcript that the caller has already read, so that its file is not read again. `session`: the name
    of its session, "" for the transcript's own id. Returns the ended sessions, also those that could not be written,
    with the reason; [] if none is over, if the setting is `never`, or if another process is ending sessions.
    """
    if config.session_reset == "never":
        return []
    from gitmem.sessions.resets import end_due
    from gitmem.sessions.state import session_name

    if transcript is not None:
        transcripts = {session_name(transcript, session): transcript}
    else:
        transcripts = {}
    try:
        return end_due(repo, config, now, lambda naive: naive.astimezone(), transcripts)
    except Locked:
        return []


@dataclass(frozen=True, slots=True)
class MissingModel:
    """A model that could not be opened. Its `propose` raises the error `problem`, so that the caller goes on with the
    rules."""

    problem: GitMemError
    id: str = "missing"

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        raise self.problem


def session_model(repo: Repository, config: Config, when: datetime, environ: Mapping[str, str]) -> Model | None:
    """The model of `mem.sessionModel`, which chooses log lines in addition to those of the rules; None if the setting
    is empty or "rules". A model that cannot be opened is returned as a MissingModel."""
    if config.session_model in ("", "rules"):
        return None
    from gitmem.gate.tree_policies import worktree_policy
    from gitmem.promotion.model_registry import model_setting, open_model
    from gitmem.promotion.prompt import packaged_prompt

    words = packaged_prompt("flush").replace(
        "{what}", config.session_prompt.strip() or packaged_prompt("flush-what").strip()
    )
    setting = model_setting(repo, config, worktree_policy(repo, when.date()), environ)
    try:
        return open_model(config.session_model, setting, words)
    except GitMemError as error:
        return MissingModel(error)


def store_value(
    store: Store, config: Config, key: str, text: str, when: datetime, hours: float, owner: Owner = PROJECT
) -> tuple[Value, tuple[Mask, ...]]:
    """Store the working value `text` under `key` for `hours` hours, or delete the owner's value if `text` is "".

    Secrets are masked, and personal data as `mem.onPersonal` says. Returns the stored value (with the text "" after a
    deletion) and the masks that were applied to it. Raises Refused if the gate blocks the text, the key or the
    session's name, for an instruction aimed at the model, for example, because the next session would start with it;
    UsageError for an invalid key, a key with personal data, a too long text and the other limits of `Store.set`;
    GitMemError if the value cannot be written or deleted.
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


def flushed_value(flushed: FlushResult, ended: Sequence[EndedSession], episode: str = "") -> dict[str, object]:
    """The JSON of docs/json.md, "session end": the lines of a flush, the path of the episode ("" for none), and the
    sessions that a reset ended."""
    from gitmem.gate.redaction import mask_counts

    return {
        "kept": [json_object(line, "path line text type turn") for line in flushed.kept],
        "skipped": json_value(flushed.skipped),
        "notes": list(flushed.notes),
        "masked": mask_counts(flushed.masks),
        "differs": json_value(flushed.differs),
        "episode": episode or None,
        "reset": json_value(ended),
    }


def commit_and_promote(
    repo: Repository, config: Config, paths: list[str], when: datetime, environ: Mapping[str, str]
) -> Outcome:
    """Commit the daily logs at `paths`, then promote their lines on a branch for review.

    Returns the outcome of the promotion. Raises Changed, and promotes nothing, if another process changes the logs,
    commits or switches the branch meanwhile; GitMemError if the model of promotion cannot be opened (the logs are
    committed by then).
    """
    from gitmem.gate.tree_policies import worktree_policy
    from gitmem.git.transaction import CommitDraft, Reading, commit
    from gitmem.promotion.model_registry import promotion_model
    from gitmem.promotion.promote import BRANCH, Mode, Request, promote
    from gitmem.provenance import trailers

    message = trailers.with_record("memory: log of a session", trailers.CommitRecord(agent=config.agent))

    def logs(reading: Reading) -> CommitDraft[None]:
        return CommitDraft({path: reading.raw(path) for path in paths}, None, message)

    commit(repo, logs)
    policy = worktree_policy(repo, when.date())
    model = promotion_model(repo, config, policy, environ)
    return promote(repo, config, model, policy, Request(mode=Mode.BRANCH, branch=BRANCH, agent=config.agent), when)
