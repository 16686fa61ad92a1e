"""Builds a context for a request: adds the settings, the memories, the conversation and the tokenizer. Records the
receipt of a context that was given."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from gitmem.config import Config
from gitmem.context.assembly import Context, assemble
from gitmem.context.context_request import ContextRequest
from gitmem.context.layer_limits import PRESETS, Layer, Weights, limits_of_layers
from gitmem.errors import GitMemError, ModelUnavailable, UsageError
from gitmem.git.opening import Repository
from gitmem.hosts.transcript import Transcript
from gitmem.json_values import json_object
from gitmem.memory.fact import fact_id
from gitmem.messages import Message
from gitmem.sessions import receipts

SUMMARY_TOKENS = 1_000  # tokens of the summary before the budget of its layer cuts it
MAX_AGE = 3_600  # seconds after which a host should ask for a new context
PLACE = re.compile(r"^(.+?)(?::(\d+)(?:-(\d+))?)?$")


def repository_path(repo: Repository, subject: str) -> str:
    """The path, relative to the repository, of an existing file or folder in it that `subject` names from the current
    folder; any other subject unchanged. Symbolic links are followed."""
    if repo.root is None or subject == "*" or not (place := Path(subject)).exists():
        return subject
    try:
        return place.resolve().relative_to(repo.root.resolve()).as_posix()
    except ValueError:
        return subject


def staged_paths(repo: Repository) -> tuple[str, ...]:
    """The paths with staged changes; empty in a bare repository."""
    if repo.root is None:
        return ()
    return tuple(change.path for change in repo.staged_changes())


def value_of(context: Context, max_age: int = MAX_AGE) -> dict[str, object]:
    """The JSON of docs/json.md, "context". `max_age`: seconds from its assembly to `fresh_until`."""
    return {**json_object(context), "fresh_until": (context.assembled_at + timedelta(seconds=max_age)).isoformat()}


def append_receipt(common_dir: Path, session: str, kind: str, context: Context, at: datetime, began: float) -> None:
    """Append the receipt of a context that a session was given: ids and tokens of its parts, without text. `kind`: as
    in `receipts.Receipt`. `at`: local time. `began`: when the context was begun, in seconds of the monotonic clock."""
    tokens: Counter[str] = Counter()
    for part in context.parts:
        tokens[part.layer.value] += part.tokens
    ids = [fact_id(part.content) for part in context.parts]
    milliseconds = round(1000 * (time.monotonic() - began))
    receipts.append(common_dir, receipts.Receipt(at, session, kind, milliseconds, tokens, ids))


def parse_place(value: str) -> tuple[str, int, int]:
    """(path, first line, last line) of `PATH`, `PATH:A` or `PATH:A-B`; the last line is 0 for the end of the file.

    `PATH` alone is (path, 1, 0), and `PATH:A` is line A alone. Raises UsageError for a range that
    ends before it begins, for an empty value and for one with a line break.
    """
    match = PLACE.match(value)
    if match is None:
        raise UsageError(Message("'{}' is no place", value), "--include PATH:A-B")
    path, start, end = match.groups()
    if start is None:
        return path, 1, 0
    first = max(1, int(start))
    last = int(end or first)
    if last < first:
        raise UsageError(Message("'{}' ends before it begins", value), "--include PATH:A-B")
    return path, first, last


def request_of(
    config: Config, prompt: str, *, budget: int | None = None, transcript: Path | Transcript | None = None,
    max_characters: int = 0, **more: object,
) -> ContextRequest:  # fmt: skip
    """A ContextRequest with limits and weights from the settings. `budget`: None for the configured one. `transcript`:
    a file or a parsed transcript. `max_characters`: 0 for the configured preset's limit. `more`: further fields of
    `ContextRequest`.

    Raises GitMemError for a transcript that cannot be read, BadConfig for a wrong `mem.contextLayer`.
    """
    conversation = transcript if isinstance(transcript, Transcript) else None
    if isinstance(transcript, Path):
        from gitmem.hosts.transcript_parser import parse
        from gitmem.regular_file import read_regular

        try:
            conversation = parse(read_regular(transcript))
        except OSError as error:
            raise GitMemError(Message("cannot read '{}': {}", transcript, error.strerror)) from None
    weights = Weights(
        config.context_similarity, config.context_recency, config.context_importance, config.context_decay
    )
    warn = preset_characters = 0
    if preset := PRESETS.get(config.context_preset):
        warn, preset_characters = preset.warn_characters, preset.max_characters
    if budget is None:
        budget = config.context_budget
    return ContextRequest(
        prompt=prompt, budget=budget, layer_limits=limits_of_layers(config.context_layer),
        transcript=conversation, weights=weights, min_best_evidence=config.context_evidence,
        max_characters=max_characters or preset_characters, warn_characters=warn,
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """A context as a person or a program asks for it, with the options of `git mem context`.

    `budget`: tokens, None for the configured budget. `subjects`: files here, or names. `staged`: the staged files count
    beside the subjects; without subjects they always do. `transcript`: a file, None for none. `include`: places,
    `PATH:A-B`. `max_characters`: 0 for the limit of the configured preset. `merge`: the model that condenses the parts,
    "" or None for none. The other fields are those of `ContextRequest`.
    """

    prompt: str = ""
    budget: int | None = None
    subjects: Sequence[str] = ()
    staged: bool = False
    transcript: Path | None = None
    session: str = ""
    entities: Sequence[str] = ()
    include: Sequence[str] = ()
    loaded: Sequence[str] = ()
    without_layers: Sequence[str] = ()
    without_paths: Sequence[str] = ()
    without_agents: Sequence[str] = ()
    max_characters: int = 0
    merge: str | None = ""


def request_of_options(
    repo: Repository, config: Config, options: ContextOptions, when: datetime, environ: Mapping[str, str]
) -> ContextRequest:
    """The request that the options describe.

    Raises UsageError for a place of `include` in another form than `PATH:A-B`, GitMemError for a transcript that cannot
    be read, BadConfig for a wrong `mem.contextLayer` and for a `merge` that names no language model, ModelUnavailable
    if that model cannot be opened.
    """
    staged: tuple[str, ...] = ()
    if options.staged or not options.subjects:
        staged = staged_paths(repo)
    request = request_of(
        config,
        options.prompt,
        budget=options.budget,
        subjects=tuple(repository_path(repo, subject) for subject in options.subjects),
        staged=staged,
        transcript=options.transcript,
        session=options.session,
        entities=tuple(options.entities),
        include=tuple(parse_place(value) for value in options.include),
        loaded=tuple(options.loaded),
        without_layers=frozenset(options.without_layers),
        without_paths=tuple(options.without_paths),
        without_agents=tuple(options.without_agents),
        max_characters=options.max_characters,
    )
    if options.merge:
        from gitmem.context.condensing import open_merger  # most contexts are not condensed by a model

        request = replace(request, merge=open_merger(repo, config, options.merge, when, environ))
    return request


def build_context(
    repo: Repository,
    config: Config,
    request: ContextRequest,
    when: datetime,
    at: str = "",
    *,
    environ: Mapping[str, str],
    cache: Path,
) -> Context:
    """The context of a request, from the organisation's, the person's, the project's and the session's memory.

    Stores the rolling summary of a given transcript, and fetches mirrors of other memories; writes no memory. `when`:
    the present moment. `at`: the revision or day whose memory is used, without the session's working values; "" for the
    work tree. `environ`: the environment of git when it fetches other memories. `cache`: the folder of their mirrors.
    If the configured tokenizer cannot be opened, the built-in one counts and `Context.notes` says so. Raises
    UnknownRevision for an `at` that names no commit, UsageError for any `at` in a repository without commits and for a
    budget that is not positive.
    """
    from gitmem.context import scopes
    from gitmem.context.working_values import values_for
    from gitmem.git.revision import resolve_at
    from gitmem.sessions.state import session_name

    owner = request.session
    if request.transcript is not None and not owner:
        owner = session_name(request.transcript)
    if request.transcript is not None and not request.summary:
        request = _with_rolling_summary(repo, request, request.transcript)
    other_scopes, opened = scopes.other_memories(repo, config, environ, cache, when)
    try:
        commit = resolve_at(repo, at, when) if at else ""
        # decides which facts hold
        day = repo.commit(commit).commit_date if commit else when
        history = Layer.HISTORY.value not in request.without_layers and request.layer_limits[Layer.HISTORY].on
        all_scopes = [*other_scopes, scopes.project_scope(repo, config, day, commit=commit, history=history)]
        if not at:
            question = " ".join((request.prompt, *request.subjects))
            values = values_for(repo, config, when, session=owner, entities=request.entities, question=question)
            session = scopes.session_scope(repo, values)
            if session.values:
                all_scopes += [session]
        request, missing = _with_tokenizer(request, config)
        context = replace(assemble(all_scopes, request, day), assembled_at=when)
        if missing:
            return replace(context, notes=(missing,))
        return context
    finally:
        for repository in opened:
            repository.close()


def _with_rolling_summary(repo: Repository, request: ContextRequest, transcript: Transcript) -> ContextRequest:
    """The request with the turns of `transcript` since the last reset of its session, and with a summary of them."""
    from gitmem.provenance.forgotten_texts import forgotten_texts
    from gitmem.sessions import rolling_summary, state

    conversation = state.current_part(repo.common_dir, transcript)
    summary = rolling_summary.render(state.summary(repo.common_dir, transcript), SUMMARY_TOKENS, request.prompt)
    return replace(request, transcript=conversation, summary=forgotten_texts(repo).masked(summary))


def _with_tokenizer(request: ContextRequest, config: Config) -> tuple[ContextRequest, str]:
    """(the request with the configured tokenizer, ""), or with the built-in one and a message if the configured one
    cannot be opened. If neither can be opened, the request is unchanged beside the message."""
    from gitmem.models.token_count import BUILT_IN, count_of

    missing = ""
    for name in dict.fromkeys((config.tokenizer, BUILT_IN)):
        try:
            return replace(request, count_tokens=count_of(name), tokenizer=name), missing
        except ModelUnavailable as error:
            missing = f"{error.message}; the built-in word pieces count"
    return request, missing
