"""A session for programs: its working values, its context, flush and end. Every write passes the gate."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import cast

from gitmem.api.values import Episode, Flushed, KeptValue, SessionValue, Turn, Value
from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.git.opening import Repository
from gitmem.hosts.transcript import Transcript
from gitmem.json_values import json_object
from gitmem.sessions.lifecycle import Source
from gitmem.sessions.working_memory import Owner, Store
from gitmem.sessions.working_memory import Value as Stored

Contexts = Callable[[str, "str | Sequence[str]"], Value]  # (prompt, entity) -> the context of this session


@dataclass(frozen=True, slots=True)
class Session:
    """One session of one agent, made by `Memory.session`. `owner`: the session and agent whose values it sets and sees.
    `contexts(prompt, entity)`: returns its context."""

    repo: Repository
    config: Config
    now: Callable[[], datetime]
    owner: Owner
    contexts: Contexts

    def set(self, key: str, value: str, *, hours: float = 24.0) -> KeptValue:
        """`git mem session set`: keep a value, its secrets and personal data masked, under `entity:name[:phase[:sub]]`
        for `hours`; "" forgets it.

        Raises UsageError for a key that is invalid or has personal data, a value that is too large and hours that are
        not above 0 and at most 366 days; Refused if the gate blocks the value, such as an instruction to the model.
        """
        from gitmem.gate.redaction import mask_counts
        from gitmem.sessions.automation import store_value

        kept, masks = store_value(self._store(), self.config, key, value, self.now(), hours, self.owner)
        return {**_value(kept), "masked": mask_counts(masks)}

    def get(self, key: str) -> SessionValue | None:
        """`git mem session get`: the session's value, else the project's, else None. Raises UsageError for an invalid
        key."""
        found = self._store().get(key, self.now(), self.owner)
        if not found:
            return None
        return self._shown([found])[0]

    def list(self, prefix: str = "") -> Sequence[SessionValue]:
        """`git mem session list`: the values below `prefix` that this session and agent see, by key."""
        return self._shown(self._store().list(prefix, self.now(), self.owner))

    def context(self, prompt: str = "", *, entity: str | Sequence[str] = ()) -> Value:
        """`git mem context --session`: the context for a prompt, with the working values of this session, and those of
        the project whose entity the prompt names. `entity`: only the values whose keys begin with these entities; ""
        for no such limit."""
        return self.contexts(prompt, entity)

    def flush(self, turns: str | Path | Sequence[Turn]) -> Flushed:
        """`git mem session flush`: write the decisions of the conversation to the agent's daily log; a second call with
        the same turns writes nothing. Other sessions that `mem.sessionReset` makes due are ended first (`reset`).
        Nothing is committed.

        `turns`: the turns so far, or the path of a host's transcript. Raises GitMemError for an unreadable transcript,
        UsageError for a turn without a role or a text.
        """
        from gitmem.sessions.automation import end_due_sessions, flushed_value, session_model
        from gitmem.sessions.lifecycle import flush

        conversation, source, moment = *self._conversation(turns), self.now()
        ended = end_due_sessions(self.repo, self.config, moment, conversation, self.owner.session)
        model = session_model(self.repo, self.config, moment, os.environ)
        done = flush(self.repo, self.config, conversation, source, now=moment, model=model)
        value = flushed_value(done, ended)
        del value["episode"]
        return cast(Flushed, value)

    def end(self, turns: str | Path | Sequence[Turn]) -> Episode:
        """`git mem session end`: flush, then write the episode of the session. Raises as `flush`."""
        from gitmem.sessions.automation import end_due_sessions, flushed_value, session_model
        from gitmem.sessions.lifecycle import end_session

        conversation, source, moment = *self._conversation(turns), self.now()
        ended = end_due_sessions(self.repo, self.config, moment, conversation, self.owner.session)
        model = session_model(self.repo, self.config, moment, os.environ)
        done, path = end_session(self.repo, self.config, conversation, source, now=moment, model=model)
        return cast(Episode, flushed_value(done, ended, path))

    def _store(self) -> Store:
        return Store(self.repo.common_dir, self.config.profile)

    def _shown(self, values: Sequence[Stored]) -> Sequence[SessionValue]:
        """The values as JSON, with forgotten texts masked."""
        from gitmem.provenance.forgotten_texts import forgotten_texts

        mask = forgotten_texts(self.repo)
        return [_value(replace(value, text=mask.masked(value.text))) for value in values]

    def _conversation(self, turns: str | Path | Sequence[Turn]) -> tuple[Transcript, Source]:
        """The conversation and its source. `turns`: the path of a transcript, or the turns themselves. Raises
        GitMemError if the file cannot be read, UsageError for a turn without a role or a text."""
        from gitmem.hosts.transcript_parser import parse
        from gitmem.regular_file import read_regular

        agent = self.owner.agent
        if isinstance(turns, str | Path):
            try:
                data = read_regular(Path(turns))
            except OSError as error:
                raise GitMemError(f"cannot read '{turns}': {error.strerror}", "check the path") from None
            return parse(data), Source(self.owner.session, agent, str(Path(turns).absolute()))
        rows = []
        for turn in turns:
            if not isinstance(turn.get("role"), str) or not isinstance(turn.get("text"), str):
                raise UsageError("a turn has a role and a text", '{"role": "user", "text": "We use REST webhooks."}')
            rows.append(json.dumps(turn))
        return parse("\n".join(rows).encode("utf-8")), Source(self.owner.session, agent)


def _value(value: Stored) -> SessionValue:
    return cast(SessionValue, json_object(value))
