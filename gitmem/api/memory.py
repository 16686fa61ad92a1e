"""The memory of one repository for programs: open, search, write, correct. Every write passes the gate."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, cast

from gitmem.api.reading import Organisation, read_lines, search
from gitmem.api.session import Session
from gitmem.api.values import Added, Corrected, Insight, Value
from gitmem.config import Config
from gitmem.environment import cache_folder, root_of_active_profile
from gitmem.environment import now as clock
from gitmem.environment import settings as load_settings
from gitmem.errors import GitMemError, UsageError
from gitmem.git.git_config import user_settings
from gitmem.git.opening import Repository, open_repository
from gitmem.json_values import json_object

if TYPE_CHECKING:
    from gitmem.provenance.corrections import Correction


def open(
    path: str | Path | None = None,
    *,
    profile: str = "",
    settings: Mapping[str, str] | None = None,
    now: Callable[[], datetime] = clock,
) -> Memory:
    """Open the memory of the repository that contains `path`. Use it in a `with` block, or close it. One Memory is for
    one thread.

    `path`: default: the profile in force or the current folder, as for a command. `profile`: opens this profile's
    memory whatever `path` is. `settings`: override `mem.*` keys, spelled as in `gitmem.config.Config` (`{"agent":
    "coder"}`). `now`: the clock.

    Raises NotARepository if the folder is in no repository, BadConfig if a setting is invalid, GitMemError if there is
    no such profile or its folder is gone, and without `path` if the current folder is the memory of another profile.
    """
    if profile:
        from gitmem import profiles

        path = profiles.find_profile(profiles.read(user_settings(os.environ)), profile).root
    elif path is None:
        path = _folder_of_profile()
    repo = open_repository(Path(os.path.expanduser(path)), os.environ)
    try:
        return Memory(repo, load_settings(repo, settings), now)
    except BaseException:
        repo.close()
        raise


def _folder_of_profile() -> Path:
    """The folder of the memory that a command started here would use. Raises GitMemError if it is another profile's."""
    pairs = user_settings(os.environ)
    if not any(key.startswith("mem.profile") for key, _, _ in pairs):
        return Path()
    return root_of_active_profile(pairs, Path.cwd()) or Path()


@dataclass(frozen=True, slots=True)
class Memory:
    """The open memory of one repository, made by `open`. `config`: its settings. `now`: the clock."""

    repo: Repository
    config: Config
    now: Callable[[], datetime]
    _opened: ExitStack = field(default_factory=ExitStack)  # repositories that `organisation` opened

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the repository, and the organisation's if it was opened."""
        self._opened.close()
        self.repo.close()

    def session(self, name: str, *, agent: str = "") -> Session:
        """The session with the id `name`, for its working values, its context, and writing its conversation; nothing is
        read or written yet. `agent`: the owner of its values, "" for `mem.agent`; without either every agent sees them.
        Raises UsageError for an invalid name."""
        from gitmem.sessions.working_memory import owner_of

        if not name.strip():
            raise UsageError("a session has a name", "give the run's or the host's session id")
        owner = owner_of(name, agent or self.config.agent)
        config = self.config._replace(agent=owner.agent)
        memory = Memory(self.repo, config, self.now)
        return Session(
            self.repo, config, self.now, owner,
            lambda prompt, entity: memory.context(prompt, session=owner.session, entity=entity),
        )  # fmt: skip

    def organisation(self) -> Organisation | None:
        """The organisation's memory (`mem.organisation`), None if none is configured. It is closed with this one.
        Raises GitMemError if it cannot be opened."""
        if not self.config.organisation:
            return None
        from gitmem.context.scopes import open_memory

        try:
            scope, repo = open_memory(
                "organisation", self.config.organisation, self.config, os.environ, cache_folder(), self.now()
            )
        except OSError as error:
            raise GitMemError(
                f"the organisation's memory cannot be read: {error.strerror}", "git config --global mem.organisation"
            ) from None
        self._opened.callback(repo.close)
        return Organisation(repo, load_settings(repo), self.now, scope.commit, scope.note)

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
        """`git mem search`: {"query", "at", "lanes", "stale", "answered", "hits": [...]}, best hit first.

        Any text is a query. `limit`: hits at most. `at`: a revision or day, "" for the work tree. `paths`: globs.
        `types`, `tags`: a hit has one of each. `since`, `until`: a day as text or a date, None for no limit. `expired`:
        find expired and superseded facts too. `min_score`: None for `mem.searchFloor`. `history`: find commits too;
        `history_only`: find only commits. `everything`: show all hits even if none is likely to answer. Raises
        UsageError for an invalid day, UnknownRevision if `at` names no commit.
        """
        from gitmem.search.request import SearchRequest, history_mode

        request = SearchRequest(
            query, limit, at, paths=tuple(paths), types=tuple(types), tags=tuple(tags), since=since, until=until,
            expired=expired, min_score=min_score, everything=everything, history=history_mode(history, history_only),
        )  # fmt: skip
        return search(self.repo, self.config, request, self.now())

    def get(self, path: str, first: int = 0, last: int = 0, *, at: str = "") -> Value:
        """`git mem show`: lines `first` to `last` of a memory file, 0 for its ends. `at`: a revision or day, "" for the
        work tree. Raises MissingFile if memory has no such file, UsageError if `first` is past its end, UnknownRevision
        if `at` names no commit."""
        from gitmem.git.revision import resolve_at

        commit = resolve_at(self.repo, at, self.now()) if at else ""
        return read_lines(self.repo, self.config, path, first, last, commit)

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
        cites: Sequence[str] = (),
    ) -> Added:
        """`git mem add`: append one line; nothing is committed. `type`: "" for none. `to`: "daily", "memory", the path
        of a memory file, or "auto" for the file of its type. `agent`: whose daily log is used, "" for `mem.agent`.
        `origin`: "" if unknown. `topic`: what the line is about. `cites`: the code that it describes, as `PATH:LINES`
        or `PATH#SYMBOL`.

        Raises UsageError for an empty text, an unknown type or origin, a file that is not memory, and code that cannot
        be cited; Refused if the gate refuses the line.
        """
        from gitmem.claims.anchoring import citation_pairs
        from gitmem.memory import writing
        from gitmem.memory.fact import ORIGINS, TYPES

        if type and type not in TYPES:
            raise UsageError(f"'{type}' is no type", f"one of {', '.join(TYPES)}")
        if origin and origin not in ORIGINS:
            raise UsageError(f"'{origin}' is no origin", f"one of {', '.join(ORIGINS)}")
        line = writing.NewLine(
            text, type, to=to, agent=agent, origin=origin, tags=tuple(tags), topic=topic,
            more=citation_pairs(self.repo, tuple(cites)),
        )  # fmt: skip
        return cast(Added, json_object(writing.add(self.repo, self.config, line, now=self.now())))

    def insight(
        self, entity: str, text: str, *, agent: str = "", cites: Sequence[str] = (), dry_run: bool = False
    ) -> Insight:
        """`git mem insight`: put what a pipeline found about `entity` first below "Insights" in MEMORY.md.

        If the entity has an insight of today, it is kept and nothing is written; `reason` says so. Above MAX_INSIGHTS
        insights the oldest move to the archive. Nothing is committed; a dry run writes nothing.

        Raises Incomplete, with the reasons in its `missing`, for missing data (`?`, 0.00, unknown, a field without a
        value) and for a text of fewer than MIN_LETTERS letters or digits; UsageError for an empty text, an entity that
        is empty, has a bracket or more than 80 characters, for comment marks, and for code in `cites` that cannot be
        cited; Refused for what the gate blocks, a secret among it unless `mem.onSecret` is `mask`; GitMemError in a
        bare repository; Locked. Personal data is masked.
        """
        from gitmem.claims.anchoring import citation_pairs
        from gitmem.memory import insights

        done = insights.record(
            self.repo, self.config, insights.joined(entity, text), self.now(), agent=agent,
            extra_meta=citation_pairs(self.repo, tuple(cites)), dry_run=dry_run,
        )  # fmt: skip
        return cast(Insight, json_object(done))

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

        `budget`: tokens, None for the configured budget. `subjects`: as `--for`. `at`: a revision or day, "" for the
        work tree. `transcript`: the path of a host's transcript. `include`: `PATH:A-B`. `session`: whose working values
        are included, with those of the project whose entity the prompt names. `entity`: only values whose keys begin
        with these entities, "" for no such limit. `loaded`: paths that the host has loaded, which are not repeated.
        `without_layers`, `without_paths` (globs), `without_agents`: what is left out. `preset`: "" for the configured
        one; `max_characters`: 0 for the limit of the preset. `max_age`: seconds. `merge`: the model that condenses the
        parts, "" for none.

        Raises UsageError for an unknown layer or preset and a place of `include` that cannot be read, GitMemError for a
        transcript that cannot be read, BadConfig for an invalid setting.
        """
        from gitmem.context.layer_limits import PRESETS, Layer
        from gitmem.context.request import ContextOptions, build_context, request_of_options, value_of

        for layer in without_layers:
            if layer not in tuple(Layer):
                raise UsageError(f"'{layer}' is no layer", f"one of {', '.join(Layer)}")
        if preset and preset not in PRESETS:
            raise UsageError(f"'{preset}' is no preset", f"one of {', '.join(PRESETS)}")
        config = self.config
        if preset:
            config = config._replace(context_preset=preset)
        if isinstance(entity, str):
            entity = (entity,)
        options = ContextOptions(
            prompt=prompt, budget=budget, subjects=subjects, transcript=Path(transcript) if transcript else None,
            session=session, entities=entity, include=include, loaded=loaded, without_layers=without_layers,
            without_paths=without_paths, without_agents=without_agents, max_characters=max_characters, merge=merge,
        )  # fmt: skip
        moment = self.now()
        request = request_of_options(self.repo, config, options, moment, os.environ)
        made = build_context(self.repo, config, request, moment, at, environ=os.environ, cache=cache_folder())
        return value_of(made, max_age)

    def why(self, path: str, line: int, *, at: str = "") -> Value:
        """`git mem why`: commit, author, reason, reviewers, sources (each with whether it was verified) and amendments
        of a line. `at`: a revision (no day), "" for the work tree. Raises MissingFile if memory has no such file,
        GitMemError if it has no such line, UnknownRevision if `at` names no commit."""
        from gitmem.provenance import why

        commit = self.repo.resolve(at) if at else ""
        return json_object(why.why(self.repo, self.config, path, line, commit, now=self.now()))

    def receipts(self, *, session: str = "", since: str = "") -> Value:
        """`git mem receipts`: when sessions were given memory, how many tokens that took, and which facts most often
        and never. `session`: "" for all. `since`: a day as text, "" for no limit. Raises UsageError for an invalid
        day."""
        from gitmem.sessions import receipts
        from gitmem.text.named_times import first_day

        found = receipts.read(self.repo.common_dir, session, first_day(since, self.now(), "since"))
        return json_object(receipts.recall(self.repo, self.config, found))

    def promote(
        self, *, since: str = "", limit: int = 0, mode: str = "commit", branch: str = "", accept: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Value:  # fmt: skip
        """`git mem promote`: put facts from committed logs into MEMORY.md. A dry run writes nothing.

        `since`: a revision or day, "" for the cursor. `limit`: facts at most, 0 for `mem.maxFacts`. `mode`: commit,
        commit-per-fact or stage. `branch`: commit there instead. `accept`: ids of facts of origin web or tool that a
        person accepted.

        Raises UsageError for an unknown mode and for facts of `accept` that are not there, ModelUnavailable if the
        model gives no answer, Refused if the gate refuses the commit, GitFailed if a hook does, Changed if the branch
        or MEMORY.md changed meanwhile.
        """
        from gitmem.gate.tree_policies import worktree_policy
        from gitmem.promotion.model_registry import promotion_model
        from gitmem.promotion.promote import Mode, Request, as_value, promote
        from gitmem.provenance.forgotten_texts import forgotten_texts

        modes = (Mode.COMMIT.value, Mode.EACH.value, Mode.STAGE.value)
        if mode not in modes:
            raise UsageError(f"'{mode}' is no mode", f"one of {', '.join(modes)}, or branch=")
        where = Mode.BRANCH if branch else Mode(mode)
        if dry_run:
            where = Mode.NOTHING
        request = Request(mode=where, since=since, limit=limit, branch=branch, accept=tuple(accept))
        moment = self.now()
        policy = worktree_policy(self.repo, moment.date())
        model = promotion_model(self.repo, self.config, policy, os.environ)
        outcome = promote(self.repo, self.config, model, policy, request, moment)
        return cast(Value, forgotten_texts(self.repo).masked_json(as_value(outcome)))

    def edit(
        self,
        path: str = "",
        line: int = 0,
        *,
        id: str = "",
        text: str = "",
        reason: str,
        supersede: bool = False,
        pinned: bool | None = None,
        until: date | str | None = None,
        over: bool = False,
    ) -> Corrected:
        """`git mem edit`: change one fact, named by its place or its `id`, in one commit.

        Give exactly one of: `text`: the new text (`supersede`: as a new fact from today on; the old one was true until
        now). `pinned`: whether promotions never archive the fact. `until`: the last day on which it is true, "never"
        for none. `over`: True: yesterday was its last day.

        Raises UsageError for a missing reason, for none or several of these, and for a text that cannot be a fact;
        UnknownFact if no fact, or more than one, has that place or id; MissingFile if the file is no memory;
        GitMemError if it has edits that are not committed; Refused if the gate refuses the commit or another fact
        says it; GitFailed if a hook refuses the commit; Changed if another process wrote meanwhile.
        """
        from gitmem.gate.exceptions import parse_date
        from gitmem.provenance import corrections, lifetimes

        _ensure_reason(reason)
        if sum((bool(text), pinned is not None, until is not None, over)) != 1 or (supersede and not text):
            raise UsageError("what is to become of the fact?", "give text, or one of pinned, until and over")
        place, today = self._place(path, line, id), self.now().date()
        if text:
            change = corrections.supersede if supersede else corrections.edit
            return _corrected(change(self.repo, self.config, place, text, reason, today))
        if pinned is not None:
            plan = lifetimes.pin_plan(self.config, *place, pinned, reason)
        elif until is not None:
            last = None
            if isinstance(until, date):
                last = until
            elif until != "never":
                last = parse_date(until)
            plan = lifetimes.until_plan(self.config, *place, last, reason)
        else:
            plan = lifetimes.end_plan(self.config, *place, today, reason)
        return _corrected(lifetimes.commit_change(self.repo, place[0], plan))

    def forget(
        self,
        path: str = "",
        line: int = 0,
        *,
        id: str = "",
        reason: str,
        everywhere: bool = False,
        dry_run: bool = False,
    ) -> Corrected:
        """`git mem forget`: remove one fact, named by its place or its `id`, and the facts that are indented below it,
        in one commit.

        `everywhere`: remove the lines of logs, episodes and notes that say the same, too; the result then also has
        `lines`, `remaining`, `unsure` and `session_values`. A dry run writes nothing. Raises as `edit`.
        """
        from gitmem.provenance import corrections, erasure

        _ensure_reason(reason)
        path, line = self._place(path, line, id)
        if everywhere:
            from gitmem.sessions.working_memory import delete_containing

            done = erasure.forget_everywhere(self.repo, self.config, path, line, reason, dry_run=dry_run)
            values = [] if dry_run else delete_containing(self.repo.common_dir, done.texts)
            return cast(Corrected, {**erasure.erasure_value(done), "session_values": values})
        return _corrected(corrections.forget(self.repo, self.config, path, line, reason, dry_run=dry_run))

    def revert(
        self,
        *,
        source: str = "",
        lines: tuple[int, int] = (0, 0),
        commit: str = "",
        agent: str = "",
        session: str = "",
        origin: str = "",
        reason: str = "",
        dry_run: bool = False,
    ) -> Corrected:
        """`git mem revert`: remove all facts that derive from one source, in one commit. A dry run writes nothing.

        Give exactly one of `source` (a path; `lines`: only these lines of it), `commit`, `agent`, `session`, `origin`.
        Raises UsageError otherwise, UnknownRevision if there is no such commit, MissingFile if there is no such file
        and no fact cites it, Refused if the gate refuses the commit, GitFailed if a hook does, Changed if another
        process wrote meanwhile.
        """
        from gitmem.provenance import corrections
        from gitmem.provenance.facts_of_source import By, Selector

        given = (
            (By.SOURCE, source),
            (By.COMMIT, commit),
            (By.AGENT, agent),
            (By.SESSION, session),
            (By.ORIGIN, origin),
        )
        named = [(by, value) for by, value in given if value]
        if len(named) != 1:
            raise UsageError("name one of source, commit, agent, session, origin", "see docs/api.md")
        by, value = named[0]
        if by is By.COMMIT:
            value = self.repo.resolve(value)
        if by is not By.SOURCE:
            lines = (0, 0)
        selector = Selector(by, value, lines)
        return _corrected(corrections.revert(self.repo, self.config, selector, reason, dry_run=dry_run))

    def _place(self, path: str, line: int, ident: str) -> tuple[str, int]:
        """The place of a fact that is named by path and line, or by its id. Raises UsageError for both, neither, or an
        invalid id, UnknownFact if no fact or several facts have an id that begins so."""
        if bool(ident) == bool(path):
            raise UsageError("name a fact by path and line, or by its id", "forget('MEMORY.md', 17, reason=...)")
        if not ident:
            return path, line
        from gitmem.provenance.corrections import place_of_fact

        return place_of_fact(self.repo, ident)


def _ensure_reason(reason: str) -> None:
    if not reason.strip():
        raise UsageError("a reason is missing", "say why the fact goes or changes")


def _corrected(done: Correction) -> Corrected:
    return cast(Corrected, json_object(done))
