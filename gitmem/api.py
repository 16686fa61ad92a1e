"""The Python API: memory from a program, with the same results as the commands (docs/api.md).

An entry point, as the command line is: it opens the repository, reads the settings and the clock, and calls the
flows. Every method returns the value that its command prints with `--json` (docs/json.md), raises
`gitmem.errors.GitMemError` with a message and a hint, prints nothing, and never ends the process.

    from gitmem import api

    with api.open("~/memory") as memory:
        memory.add("We use REST webhooks: easier to debug", type="decision")
        for hit in memory.search("why webhooks")["hits"]:
            print(hit["path"], hit["start_line"], hit["text"])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from gitmem.config import Config
from gitmem.environment import cache_folder, in_force
from gitmem.environment import now as clock
from gitmem.environment import settings as load_settings
from gitmem.errors import UsageError
from gitmem.git.git_config import user_settings
from gitmem.git.opening import Repository, open_repository
from gitmem.memory.relation import Kind, Relation, Said, relation

__all__ = ["Kind", "Memory", "Relation", "Said", "open", "relation"]

Value = dict[str, Any]


def open(
    path: str | Path | None = None,
    *,
    profile: str = "",
    settings: Mapping[str, str] | None = None,
    now: Callable[[], datetime] = clock,
) -> Memory:
    """The memory of the repository that holds `path`; without one, that of the profile in force or of the folder the
    program is in, as for a command. Use it in a `with` block, or close it.

    `settings` are `mem.*` keys in the spelling of `gitmem.config.Config` (`{"agent": "coder"}`), above the user's own;
    `now` is the clock. With `profile` it is that profile's memory, wherever `path` leads. Raises NotARepository,
    BadConfig. One Memory is for one thread.
    """
    if profile:
        from gitmem import profiles

        path = profiles.named(profiles.read(user_settings(os.environ)), profile).root
    elif path is None:
        path = _folder_of_profile()
    repo = open_repository(Path(os.path.expanduser(path)), os.environ)
    try:
        return Memory(repo, load_settings(repo, settings), now)
    except BaseException:
        repo.close()
        raise


def _folder_of_profile() -> Path:
    """The memory a command started here would speak of; GitMemError where that is another profile's."""
    pairs = user_settings(os.environ)
    if not any(key.startswith("mem.profile") for key, _, _ in pairs):
        return Path()
    return in_force(pairs, Path.cwd()) or Path()


@dataclass(frozen=True, slots=True)
class Memory:
    """An open memory; made by `open`."""

    repo: Repository
    config: Config
    now: Callable[[], datetime]

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what the repository holds open."""
        self.repo.close()

    def search(
        self,
        query: str,
        *,
        limit: int = 6,
        at: str = "",
        paths: Sequence[str] = (),
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        since: str | date | None = None,
        until: str | date | None = None,
        expired: bool = False,
        min_score: float | None = None,
        history: bool = False,
        history_only: bool = False,
        everything: bool = False,
    ) -> Value:
        """`git mem search`: {"query", "at", "lanes", "stale", "answered", "hits": [...]}, best hit first. Any text is a
        query; `everything` is `--all`."""
        from gitmem.git.revision import resolve_at
        from gitmem.provenance.forgotten_texts import forgotten_texts
        from gitmem.search.results import as_value
        from gitmem.search.search import Query, search
        from gitmem.text.named_times import first_day, last_day

        moment = self.now()
        asked = Query(
            query, limit=limit, commit=resolve_at(self.repo, at, moment) if at else "", paths=tuple(paths),
            types=tuple(types), tags=tuple(tags),
            since=since if isinstance(since, date) else first_day(since or "", moment, "since"),
            until=until if isinstance(until, date) else last_day(until or "", moment, "until"), expired=expired,
            min_score=min_score, history="only" if history_only else "with" if history else "",
            everything=everything, forgotten=forgotten_texts(self.repo),
        )  # fmt: skip
        return as_value(search(self.repo, self.config, asked, moment))

    def get(self, path: str, first: int = 0, last: int = 0, *, at: str = "") -> Value:
        """`git mem show`: lines `first` to `last` of a memory file, all of it without them. Raises MissingFile."""
        from gitmem.git.revision import resolve_at
        from gitmem.memory.show import as_value, read
        from gitmem.provenance.forgotten_texts import forgotten_texts

        commit = resolve_at(self.repo, at, self.now()) if at else ""
        return as_value(read(self.repo, self.config, path, commit, forgotten_texts(self.repo)), first, last)

    def add(
        self,
        text: str,
        *,
        type: str = "",
        to: str = "auto",
        agent: str = "",
        origin: str = "",
        tags: Sequence[str] = (),
        topic: str = "",
    ) -> Value:
        """`git mem add`: append one line through the gate; {"path", "line", "text"}. Raises Refused."""
        from gitmem.memory import writing
        from gitmem.memory.fact import ORIGINS, TYPES
        from gitmem.memory.writing import as_value

        if type and type not in TYPES:
            raise UsageError(f"'{type}' is no type", f"one of {', '.join(TYPES)}")
        if origin and origin not in ORIGINS:
            raise UsageError(f"'{origin}' is no origin", f"one of {', '.join(ORIGINS)}")
        line = writing.NewLine(text, type, to=to, agent=agent, origin=origin, tags=tuple(tags), topic=topic)
        return as_value(writing.add(self.repo, self.config, line, now=self.now()))

    def context(
        self,
        prompt: str = "",
        *,
        budget: int | None = None,
        subjects: Sequence[str] = (),
        at: str = "",
        transcript: str | Path | None = None,
        session: str = "",
        entity: str | Sequence[str] = (),
        include: Sequence[str] = (),
        loaded: Sequence[str] = (),
        without_layers: Sequence[str] = (),
        without_paths: Sequence[str] = (),
        without_agents: Sequence[str] = (),
        preset: str = "",
        max_characters: int = 0,
        max_age: int = 3_600,
        merge: str = "",
    ) -> Value:
        """`git mem context`: what a model should know for `prompt`; `text` is the block, `parts` its structure.

        `subjects` are those of `--for`, `include` is `PATH:A-B`. `session`: whose working values come along; `entity`:
        prefixes of keys outside of which none does ("": no bound). Raises UsageError, BadConfig.
        """
        from gitmem.context.layer_limits import PRESETS, Layer
        from gitmem.context.request import build, place, repository_path, request_of, staged_of, value_of

        for layer in without_layers:
            if layer not in tuple(Layer):
                raise UsageError(f"'{layer}' is no layer", f"one of {', '.join(Layer)}")
        if preset and preset not in PRESETS:
            raise UsageError(f"'{preset}' is no preset", f"one of {', '.join(PRESETS)}")
        config = self.config._replace(context_preset=preset) if preset else self.config
        moment = self.now()
        request = request_of(
            config, prompt, budget=budget, subjects=tuple(repository_path(self.repo, subject) for subject in subjects),
            staged=() if subjects else staged_of(self.repo), transcript=Path(transcript) if transcript else None,
            include=tuple(place(value) for value in include), loaded=tuple(loaded),
            without_layers=frozenset(without_layers), without_paths=tuple(without_paths),
            without_agents=tuple(without_agents), characters=max_characters, session=session,
            entities=(entity,) if isinstance(entity, str) else tuple(entity),
        )  # fmt: skip
        if merge:
            from dataclasses import replace

            from gitmem.context.condensing import merger

            request = replace(request, merge=merger(self.repo, config, merge, moment, os.environ))
        return value_of(
            build(self.repo, config, request, moment, at, environ=os.environ, cache=cache_folder()), max_age
        )

    def why(self, path: str, line: int, *, at: str = "") -> Value:
        """`git mem why`: commit, author, reason, reviewers, verified sources and amendments of a line."""
        from gitmem.provenance import why
        from gitmem.provenance.why import as_value

        commit = self.repo.resolve(at) if at else ""
        return as_value(why.why(self.repo, self.config, path, line, commit, now=self.now()))

    def forget(self, path: str, line: int, *, reason: str, everywhere: bool = False, dry_run: bool = False) -> Value:
        """`git mem forget`: remove the fact on that line and commit that alone. Raises Refused, GitMemError.

        With `everywhere` the lines of logs, episodes and notes that say it go too. A dry run writes nothing.
        """
        from gitmem.provenance import corrections, erasure

        if not reason.strip():
            raise UsageError("a reason is missing", "say why the fact goes")
        if everywhere:
            from gitmem.sessions.working_memory import drop_saying

            done = erasure.forget_everywhere(self.repo, self.config, path, line, reason, dry_run=dry_run)
            values = [] if dry_run else drop_saying(self.repo.common_dir, done.texts)
            return {**erasure.erasure_value(done), "session_values": values}
        return corrections.as_value(corrections.forget(self.repo, self.config, path, line, reason, dry_run=dry_run))
