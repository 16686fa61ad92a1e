"""Handle the events of agents' hosts (`git mem session hook`): read the host's JSON from standard input, answer with
memory, and write what the session decided.

A handler never breaks the host's turn: every error is logged in the Git directory, and the exit code is 0. Each handler
imports inside functions what the others do not need, because the host waits for it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.agents import hook_log
from gitmem.agents.host_project import LOCATION, is_project, project_folder, stated_root
from gitmem.config import Config
from gitmem.environment import cache_folder, now
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository, discover
from gitmem.git.worktree import locked, state_dir, write_atomic
from gitmem.hosts.host import EVENT_SECONDS, USER, Host
from gitmem.hosts.registry import host_named
from gitmem.plural import counted

if TYPE_CHECKING:
    from gitmem.context.assembly import Context
    from gitmem.context.layers import Part
    from gitmem.context.session_contents import SessionContents
    from gitmem.hosts.transcript import Transcript
    from gitmem.sessions.lifecycle import FlushResult, Source
    from gitmem.sessions.recalled_parts import RecalledParts

INPUT_LIMIT = 32 << 20  # bytes of a host's JSON; a prompt may hold a pasted log
LOG_START = datetime(2000, 1, 1, tzinfo=UTC)  # earlier than every line of the log
MAX_PENDING_BYTES_AT_START = (
    1 << 20
)  # bytes of a waiting session's transcript that is written before a start is answered
MAX_TRANSCRIPT_BYTES = 8 << 20  # bytes of a transcript that is read before a prompt is answered
START_LAYERS = frozenset(
    ("pinned", "rule", "working", "recent", "summary")
)  # layers that a prompt is not answered with
FIRST_PROMPT_FACTOR = 2  # the first answered prompt gets this many times the budget; later ones would distract with it
MAX_CONTEXT_CHARS = 10_000  # characters of context that Claude Code takes
FRAME_CHARS = 500  # characters of them for the text around a context
MAX_PROMPT_CHARS = 4_000  # characters of a prompt that are searched for
TIME_SHARE = 0.8  # share of the host's time limit for the handler; the rest is for starting and ending the process
WAIT_SHARE = 0.3  # share of the host's time limit for which an event waits for another event of its session
DETACHED = "GITMEM_DETACHED"  # variable that is set in the process that writes the end of a session
SESSION_ID = re.compile(r"[A-Za-z0-9][\w-]{0,127}", re.ASCII)  # ids of sessions whose transcripts are looked for by id
TURN = "compacted-turn"  # file in the state folder: the session in whose current turn a compaction was handled
RESUMED = "resume"  # `source` of a SessionStart whose session has its earlier turns


class OutOfTime(BaseException):
    """The host's time limit for an event is over. It is not an `Exception`, so that no code on the way handles it as
    its own failure and goes on."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a host, with the opened memory. `name`: our name of the event (EVENT_SECONDS). `fields`: the host's
    JSON. `called`: when the host called the hook, seconds since 1970."""

    repo: Repository
    config: Config
    host: Host
    name: str
    fields: dict[str, Any]
    now: datetime
    called: float

    @property
    def transcript(self) -> Path | None:
        """The file of the session's transcript: the one that the host names, else the one with the session's id; None
        without one."""
        hooks = self.host.hooks
        if hooks is None:
            return None
        named = (self.fields.get(name) for name in hooks.transcript_fields)
        path = next((value for value in named if isinstance(value, str) and value), "")
        if path:
            return Path(path)
        return _transcript_file(hooks.transcript_files, self.session)

    @property
    def session(self) -> str:
        """The id of the session, "" if the host names none."""
        return _session(self.host, self.fields)

    def contents(self, conversation: Transcript | None = None, given: RecalledParts | None = None) -> SessionContents:
        """What the session knows already: the files that its host has loaded (none if the host works in another
        folder), the texts of its conversation, and what it was given before. None for an unknown argument."""
        from gitmem.context.loaded_files import loaded_files
        from gitmem.context.session_contents import SessionContents, present_texts

        root, folder = self.repo.root, None
        if self.host.hooks is not None and self.host.hooks.workspace_field:
            folder = self.fields.get(self.host.hooks.workspace_field)
        loaded: Sequence[str] = ()
        texts: Sequence[str] = ()
        if root is not None and not (isinstance(folder, str) and Path(folder) != root):
            loaded, texts = loaded_files(self.host, root)
        if conversation is not None:
            texts = (*texts, *present_texts(conversation))
        if given is None:
            return SessionContents(texts=tuple(texts), loaded=tuple(loaded))
        session = ""
        if conversation is None and not given.compacted:
            session = self.session
        return SessionContents(frozenset(given.keys), frozenset(given.places), tuple(texts), session, tuple(loaded))

    def conversation(self) -> Transcript | None:
        """The session's transcript; None without one, or if it is larger than MAX_TRANSCRIPT_BYTES."""
        from gitmem.hosts.transcript_parser import parse

        data = self.transcript_data()
        if data:
            return parse(data)
        return None

    def transcript_data(self) -> bytes:
        """The bytes of the transcript, from the host's JSON or its file; b"" without one, or if the file is larger than
        MAX_TRANSCRIPT_BYTES."""
        from gitmem.regular_file import read_regular

        hooks = self.host.hooks
        if hooks is not None and hooks.transcript is not None:
            return hooks.transcript(self.fields) or b""
        path = self.transcript
        if path is None or not path.is_file() or path.stat().st_size > MAX_TRANSCRIPT_BYTES:
            return b""
        return read_regular(path)


def _transcript_file(globs: Sequence[str], session: str) -> Path | None:
    """The newest file below the person's home that matches a glob of the host with the session's id; None without
    one."""
    if not SESSION_ID.fullmatch(session):
        return None
    home = Path(os.path.expanduser("~"))
    found = [path for pattern in globs for path in home.glob(pattern.replace("{session}", session)) if path.is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def handle(
    event: str, host_name: str, opened: Callable[[], tuple[Repository, Config]], *, user: bool = False
) -> None:  # fmt: skip
    """Handle one event of a host and print the answer. Never raises, and ends within the host's time limit
    (EVENT_SECONDS).

    The end of a session is handled by a process of its own, since a host waits only one second for it. `opened`: opens
    the repository of the current folder. `user`: the hook stands in the person's own settings. Does nothing outside a
    project (`host_project`).
    """
    called = time.time()
    repo: Repository | None = None
    is_ours = False
    host = host_named(host_name)
    try:
        data = sys.stdin.buffer.read(INPUT_LIMIT + 1) or b"{}"
        fields, problem = _fields(data)
        is_ours = _enter_project(host, fields, user)
        if not is_ours:
            return
        if problem:
            raise GitMemError(problem)
        if _acted_in_this_turn(host, event, fields):
            return
        if event == "SessionEnd" and DETACHED not in os.environ:
            _detach(event, host_name, data, user)
            return
        repo, config = opened()
        given = Event(repo, config, host, event, fields, now(), called)
        with _time_limit(0 if DETACHED in os.environ else TIME_SHARE * EVENT_SECONDS[event]):
            answer = _answer(host, event, EVENTS[event](given))
            if answer:
                sys.stdout.buffer.write(answer.encode("utf-8", "backslashreplace") + b"\n")
                sys.stdout.buffer.flush()
            if event == "SessionStart":
                _remember(given)
                _catch_up(given)
        if event == "PreCompact" and host.hooks is not None and host.hooks.compacts_each_request:
            _note_turn(given)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - an error of ours must not stop the host's turn
        if is_ours:
            _log(repo, host, event, error)


def _session(host: Host, fields: dict[str, Any]) -> str:
    """The session's id in the host's JSON; "" without one."""
    if host.hooks is None:
        return ""
    value = next((fields[name] for name in host.hooks.session_fields if fields.get(name)), "")
    if isinstance(value, str):
        return value
    return ""


def _acted_in_this_turn(host: Host, event: str, fields: dict[str, Any]) -> bool:
    """Whether a compaction of this turn was handled already, by a host that announces one before every request.

    Any other event of the session begins another turn, and then removes the mark file. The function reads one file and
    imports nothing, because such a host calls it very often.
    """
    if host.hooks is None or not host.hooks.compacts_each_request:
        return False
    try:
        mark = discover(Path.cwd(), os.environ).common_dir / "gitmem" / TURN
        if mark.is_symlink() or not mark.is_file():
            return False
        marked = mark.read_bytes()
        if not marked or marked != _turn_mark(host, fields):
            return False
        if event != "PreCompact":
            mark.unlink(missing_ok=True)
        return event == "PreCompact"
    except (OSError, GitMemError):  # handling the event will meet the same error and log it
        return False


def _note_turn(event: Event) -> None:
    """Write the mark file: a compaction of this turn was handled."""
    mark = _turn_mark(event.host, event.fields)
    if mark:
        write_atomic(state_dir(event.repo.common_dir), TURN, mark, private=True)


def _turn_mark(host: Host, fields: dict[str, Any]) -> bytes:
    """The bytes of the mark file: the hash of the session's id; b"" without one."""
    session = _session(host, fields)
    if not session:
        return b""
    return sha256(session.encode("utf-8", "replace")).hexdigest().encode()


def _fields(data: bytes) -> tuple[dict[str, Any], str]:
    """(the host's JSON object, what is wrong with it); one of them is empty."""
    if len(data) > INPUT_LIMIT:
        return {}, f"the host hands over more than {INPUT_LIMIT >> 20} MiB: nothing of it is kept"
    try:
        loaded = json.loads(data)
    except (ValueError, RecursionError):
        return {}, "what the host hands over is no JSON"
    if isinstance(loaded, dict):
        return loaded, ""
    return {}, "what the host hands over is no JSON object"


def _enter_project(host: Host, fields: dict[str, Any], user: bool) -> bool:
    """Change to the folder of the hook's project, and return False if there is none. If the host states the project's
    root, Git's variables about a repository (LOCATION) are removed from the environment."""
    folder = project_folder(host, fields, os.environ, user=user)
    if folder is None:
        return False
    if stated_root(host, fields, os.environ) is not None:
        for name in LOCATION:
            os.environ.pop(name, None)
    os.chdir(folder)
    return True


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after `seconds`; 0 for no limit. What was written until then is kept, and is
    whole."""

    def late(*_: object) -> None:
        raise OutOfTime

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _detach(event: str, host_name: str, data: bytes, user: bool) -> None:
    """Handle the event in a process that goes on when this one and the host have ended."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "session", "hook", event, "--host", host_name, *([USER] * user)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, DETACHED: "1"}, start_new_session=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(data)
    child.stdin.close()


def _log(repo: Repository | None, host: Host, event: str, error: BaseException, *, once: bool = False) -> None:
    """Write an error to the log: the message of an error of ours (which never quotes memory), the type of any other.

    `once`: not if the log has the same line already, since each turn of a session reads the same transcript. Never
    raises.
    """
    words = error.message if isinstance(error, GitMemError) else type(error).__name__
    try:
        here = Path.cwd()
        common = repo.common_dir if repo is not None else discover(here, os.environ).common_dir
        is_ours = repo is not None or is_project(host, here, os.environ)
    except (OSError, GitMemError):
        return
    failure = hook_log.Failure(now(), event, words)
    try:
        folder = state_dir(common, make=is_ours)
        if once and any(known[1:] == failure[1:] for known in hook_log.failures(folder, LOG_START)):
            return
        written = hook_log.append(folder, failure)
    except GitMemError:  # the state folder cannot be created, for example in a read-only Git directory
        written = False
    if is_ours and not written:
        hook_log.append_to_spare(cache_folder(), common, failure)


def _answer(host: Host, event: str, text: str) -> str:
    """The text for the host's context, in the form that the host reads; "" for no text."""
    if not text or host.hooks is None:
        return ""
    answer = host.hooks.answer(host.hooks.events.get(event, event), text)
    if isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False)


@contextmanager
def _giving(event: Event) -> Iterator[None]:
    """Lock the session while an event answers with a context and records it, so that two events do not give the same.

    Copilot CLI calls the hooks of a session's start and of its first prompt at once. An event that cannot get the lock
    within WAIT_SHARE of its time, or in a read-only Git directory, answers without it: a repetition is better than no
    memory. If there is time, the event that records second builds its context again (`_is_late`).
    """
    from gitmem.sessions.state import context_lock

    with ExitStack() as locks:
        if event.session:
            wait = WAIT_SHARE * EVENT_SECONDS[event.name]
            with suppress(GitMemError, OSError):
                locks.enter_context(locked(event.repo.common_dir, context_lock(event.session), wait))
        yield


def _is_late(event: Event, known: RecalledParts, began: float) -> bool:
    """Whether another event of the session has recorded a context since `known` was read, and the host's time limit is
    long enough to build this event's context again. `began`: when it was begun, seconds of the monotonic clock."""
    from gitmem.sessions import recalled_parts

    if not event.session or recalled_parts.load(event.repo.common_dir, event.session).at == known.at:
        return False
    took = time.monotonic() - began
    return time.time() - event.called + took < TIME_SHARE * EVENT_SECONDS[event.name]


def _start(event: Event) -> str:
    """SessionStart: the context of a new session, and where the last session left off."""
    _catch_up(event, MAX_PENDING_BYTES_AT_START)  # so that this session knows what the last one decided
    with _giving(event):
        return _give_at_start(event)


def _give_at_start(event: Event) -> str:
    """The context of a session's start, recorded as given. Called with the lock of `_giving`.

    A resumed session whose transcript has our earlier contexts gets only what is new; so does one whose first prompt
    was answered since the host called this hook.
    """
    from gitmem.context.checkpoint import checkpoint
    from gitmem.context.session_contents import KnownStatements, compaction_mark
    from gitmem.gate.quoting import END, LEAD
    from gitmem.sessions import recalled_parts
    from gitmem.sessions.recalled_parts import RecalledParts

    began = time.monotonic()
    conversation = event.conversation()
    recorded = recalled_parts.load(event.repo.common_dir, event.session)
    before = _still_given(event, conversation, recorded)
    contents = event.contents(conversation if before.keys else None, before)
    context = _context_of_start(event, contents)
    if context is None:
        return ""
    known = KnownStatements(contents.texts)
    for part in context.parts:
        known.add_part(part)
    text = context.text
    given = list(context.parts)
    if not (before.started and before.keys):  # a resumed session was told then where the one before it left off
        for section in checkpoint(event.repo, event.config, event.now, _part_of_session(event), known):
            if len(text) + len(section.text) < MAX_CONTEXT_CHARS:  # never cut: that would leave a quotation open
                text = f"{text}\n{section.text}".strip()
                given += section.parts
    if text and not context.text:
        text = f"{LEAD}\n{text}\n{END}"
    if _is_late(event, recorded, began):
        return _give_at_start(event)
    _receipt(event, "start", context, began)
    keys, places = _keys_and_places(given)
    mark = ""
    if conversation is not None:
        mark = compaction_mark(conversation)
    record = RecalledParts(
        tuple(dict.fromkeys((*before.keys, *keys))), answered=before.answered, started=True,
        places=tuple(dict.fromkeys((*before.places, *places))), mark=mark,
    )  # fmt: skip
    recalled_parts.store_start(event.repo.common_dir, event.session, record, time.time())
    return text


def _still_given(event: Event, conversation: Transcript | None, given: RecalledParts) -> RecalledParts:
    """The part of `given` that a starting session still has.

    All of it if another event of the session recorded it since the host called this hook. For a resumed session, what
    it was given before, if its transcript holds our contexts: only then does the host give them to its agent again.
    Else nothing.
    """
    from gitmem.context.session_contents import compaction_mark
    from gitmem.gate.quoting import LEAD
    from gitmem.sessions.recalled_parts import RecalledParts

    if event.called <= given.at <= time.time():
        return given
    if event.fields.get("source") != RESUMED or conversation is None:
        return RecalledParts()
    if LEAD.encode() not in event.transcript_data():
        return RecalledParts()
    return replace(given.after(compaction_mark(conversation)), answered=False)


def _keys_and_places(parts: Iterable[Part]) -> tuple[list[str], list[tuple[str, str]]]:
    """(the keys of the parts' statements, the (scope, path) of their files)."""
    from gitmem.context.session_contents import keys_of_part

    keys = [key for part in parts for key in keys_of_part(part)]
    return keys, [(part.scope, part.path) for part in parts if part.path and part.pieces]


def _part_of_session(event: Event) -> str:
    """The name of the session's part that begins or goes on. The session's id if the host's JSON has no transcript,
    which would tell the parts apart."""
    from gitmem.hosts.transcript_parser import parse
    from gitmem.sessions.state import part_at_start

    hooks = event.host.hooks
    if hooks is None or hooks.transcript is None or not event.session:
        return event.session
    data = hooks.transcript(event.fields)
    if data is None:
        return event.session
    return part_at_start(event.repo.common_dir, parse(data), event.session)


def _receipt(event: Event, kind: str, context: Context, began: float) -> None:
    """Record what the session was given, without its text. `began`: seconds of the monotonic clock."""
    from gitmem.sessions import receipts

    tokens, parts = receipts.tokens_and_ids([(part.layer.value, part.content, part.tokens) for part in context.parts])
    milliseconds = round(1000 * (time.monotonic() - began))
    receipts.append(
        event.repo.common_dir, receipts.Receipt(event.now, event.session, kind, milliseconds, tokens, parts)
    )


def _budget(event: Event, wanted: int) -> int:
    """The tokens of a context: `wanted`, or what the session has left of its ceiling if that is less."""
    from gitmem.sessions.receipts import tokens_left

    return tokens_left(event.config.context_ceiling, event.repo.common_dir, event.session, wanted)


def _agent_start(event: Event) -> str:
    """SubagentStart: the context for an agent that the session's agent starts. Not where the last session left off:
    that is for the agent that starts it."""
    began = time.monotonic()
    context = _context_of_start(event, event.contents())
    if context is None:
        return ""
    _receipt(event, "start", context, began)
    return context.text


def _context_of_start(event: Event, contents: SessionContents) -> Context | None:
    """The context without a prompt; None if the session's ceiling is reached."""
    from gitmem.context.request import build_context, request_of

    budget = _budget(event, event.config.context_budget)
    if not budget:
        return None
    request = request_of(
        event.config, "", budget=budget, loaded=event.host.loads if contents.loaded else (), contents=contents,
        without_layers=frozenset(("working",)), max_characters=MAX_CONTEXT_CHARS - FRAME_CHARS, folders=_folders(event),
    )  # fmt: skip
    return build_context(event.repo, event.config, request, event.now, environ=os.environ, cache=cache_folder())


def _folders(event: Event) -> tuple[str, ...]:
    """The repository path of the folder in which the agent works; () if the host names none below the root."""
    from gitmem.context.request import repository_path

    here = event.fields.get("cwd")
    if not isinstance(here, str) or not Path(here).is_absolute():
        return ()
    name = repository_path(event.repo, here)
    if name in (here, "."):
        return ()
    return (name,)


def _remember(event: Event) -> None:
    """End the sessions that are over, and record that this one was active now."""
    from gitmem.sessions.automation import end_due_sessions
    from gitmem.sessions.state import load_state, save_state, with_activity

    if not event.config.session_flush or event.config.session_reset == "never":
        return
    end_due_sessions(event.repo, event.config, event.now)
    if event.session:
        state = load_state(event.repo.common_dir, event.session)
        save_state(event.repo.common_dir, event.session, with_activity(state, event.now, str(event.transcript or "")))


def _prompt(event: Event) -> str:
    """UserPromptSubmit: the context for a prompt; before it that of the start, if the host takes none at the start."""
    from gitmem.sessions import recalled_parts

    hooks = event.host.hooks
    may_start = hooks is not None and hooks.starts_at_prompt and bool(event.session)

    def is_first() -> bool:
        return may_start and not recalled_parts.load(event.repo.common_dir, event.session).started

    if is_first():
        _catch_up(event, MAX_PENDING_BYTES_AT_START)
    start = ""
    with _giving(event):
        if is_first():  # looked at again: another event may have given the start meanwhile
            start = _give_at_start(event)
            _remember(event)
        return "\n".join(filter(None, (start, _recall(event))))


def _prompt_text(event: Event) -> str:
    """The text of the prompt: in the event, as a text or as parts of a message, or the last turn of the transcript; ""
    without one."""
    from gitmem.hosts.entries import text_of
    from gitmem.hosts.transcript import By, Role
    from gitmem.hosts.transcript_parser import parse
    from gitmem.regular_file import read_regular

    hooks = event.host.hooks
    if hooks is None:
        return ""
    path = event.transcript
    if (
        hooks.prompt_in_transcript
        and path is not None
        and path.is_file()
        and path.stat().st_size <= MAX_TRANSCRIPT_BYTES
    ):
        turns = parse(read_regular(path)).turns
        if turns and turns[-1].role is Role.USER and turns[-1].by is By.SPEAKER:
            return turns[-1].text
        return ""
    values = (_field(event.fields, name) for name in hooks.prompt_fields)
    texts = (text_of(value) if isinstance(value, list) else value for value in values)
    return hooks.prompt_text(next((text for text in texts if isinstance(text, str)), ""))


def _field(fields: dict[str, Any], name: str) -> Any:
    """The value of a field; a name with points is a path into nested objects. None without such a field."""
    value: Any = fields
    for part in name.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def _recall(event: Event) -> str:
    """The context for a prompt, recorded as given; "" if memory has nothing to say.

    The first answered prompt of a session gets a larger budget; later ones get only strong hits. What the session knows
    already is left out.
    """
    from gitmem.context.request import build_context, request_of
    from gitmem.context.session_contents import compaction_mark
    from gitmem.hosts.transcript_parser import spoken_text
    from gitmem.search.evidence import STRONG
    from gitmem.sessions import recalled_parts

    began = time.monotonic()
    prompt = spoken_text(_prompt_text(event))  # without the context that Gemini CLI puts before it
    if not prompt.strip():
        return ""
    conversation = event.conversation()  # a short prompt is understood by what the conversation has named
    recorded = recalled_parts.load(event.repo.common_dir, event.session)
    given = recorded.after(compaction_mark(conversation) if conversation is not None else "")
    budget, threshold, whole = event.config.context_budget, STRONG, 0
    if not given.answered:
        budget, threshold = budget * FIRST_PROMPT_FACTOR, 0.0
    if event.session and not (given.started or given.answered):  # the session has been given nothing yet
        whole = event.config.context_budget
    budget = _budget(event, budget)
    if not budget:
        return ""
    request = request_of(
        event.config, prompt[:MAX_PROMPT_CHARS], transcript=conversation, without_layers=START_LAYERS,
        max_characters=MAX_CONTEXT_CHARS - FRAME_CHARS, budget=budget, min_evidence=threshold, folders=_folders(event),
        contents=event.contents(conversation, given), whole_memory_tokens=whole,
    )  # fmt: skip
    context = build_context(event.repo, event.config, request, event.now, environ=os.environ, cache=cache_folder())
    if not context.parts:
        return ""
    if _is_late(event, recorded, began):
        return _recall(event)
    _receipt(event, "prompt", context, began)
    recalled_parts.store_answer(
        event.repo.common_dir, event.session, given, *_keys_and_places(context.parts), time.time()
    )
    return context.text


def _stop(event: Event) -> str:
    """Stop: write what the turn decided to the daily log."""
    from gitmem.sessions.lifecycle import flush

    _write(event, lambda transcript, source: flush(event.repo, event.config, transcript, source, now=event.now))
    return ""


def _compact(event: Event) -> str:
    """PreCompact: before turns are dropped, write what they decided, with the configured model too. What the session
    was given in them may be given again."""
    from gitmem.sessions import recalled_parts
    from gitmem.sessions.automation import session_model
    from gitmem.sessions.lifecycle import flush

    with _giving(event):
        recalled_parts.announce_compaction(event.repo.common_dir, event.session)

    def write(transcript: Transcript, source: Source) -> FlushResult:
        model = session_model(event.repo, event.config, event.now, os.environ)
        return flush(event.repo, event.config, transcript, source, now=event.now, model=model)

    _propose(event, _write(event, write))
    return ""


def _end(event: Event) -> str:
    """SessionEnd: write what the session decided and its episode, and consolidate memory if that is due."""
    from gitmem.sessions.automation import session_model
    from gitmem.sessions.due_consolidation import consolidate_if_due
    from gitmem.sessions.lifecycle import end_session

    def write(transcript: Transcript, source: Source) -> FlushResult:
        model = session_model(event.repo, event.config, event.now, os.environ)
        return end_session(event.repo, event.config, transcript, source, now=event.now, model=model)[0]

    _propose(event, _write(event, write, ended=True))
    consolidate_if_due(event.repo, event.config, event.now, os.environ)
    return ""


def _write(
    event: Event, write: Callable[[Transcript, Source], FlushResult], *, ended: bool = False
) -> FlushResult | None:  # fmt: skip
    """Read the session's transcript, end the sessions that are over, and call `write`. Returns its result, None without
    a transcript or with mem.sessionFlush=false.

    A note keeps the session until `write` has succeeded; notes of other sessions are written, too. `ended`: the session
    has ended.
    """
    from gitmem.hosts.transcript import since
    from gitmem.hosts.transcript_parser import unread_words
    from gitmem.sessions.automation import end_due_sessions
    from gitmem.sessions.lifecycle import Source
    from gitmem.sessions.pending_sessions import delete_note

    if not event.config.session_flush:
        return None
    transcript, file = _transcript(event)
    if transcript is None:
        return None
    if problem := unread_words(transcript):
        _log(event.repo, event.host, "transcript", GitMemError(problem), once=True)
    start = _start_of_this_memory(event.repo)
    transcript = since(transcript, start)
    source = Source(event.session, file=file)
    note = _leave_note(event, transcript, source, ended, start)
    end_due_sessions(event.repo, event.config, event.now, transcript, event.session)
    flushed = write(transcript, replace(source, file=str(event.transcript or "")))
    delete_note(event.repo.common_dir, note)
    _catch_up(event)
    return flushed


def _leave_note(event: Event, transcript: Transcript, source: Source, ended: bool, start: datetime | None) -> str:
    """Make a note of the session before it is written (`sessions/pending_sessions.py`). Returns the note's name, "" if
    it cannot be written or there is nothing to write."""
    from gitmem.sessions.pending_sessions import NoteDetails, add_note

    try:
        name, dropped = add_note(event.repo, transcript, source, NoteDetails(event.now, ended, start))
    except (GitMemError, OSError):  # the session itself can still be written
        return ""
    if dropped:
        sessions = ", ".join(session[:40] for session in dropped[:3])
        problem = f"{counted(len(dropped), 'session')} that waited to be written had to go for newer ones: {sessions}"
        _log(event.repo, event.host, "pending", GitMemError(problem))
    return name


def _catch_up(event: Event, largest: int | None = None) -> None:
    """Write the sessions that wait, since their own events could not write them; problems are logged. `largest`: bytes
    of the largest transcript that is written, None for no limit."""
    from gitmem.sessions.pending_sessions import write_pending

    if not event.config.session_flush:
        return
    for written in write_pending(event.repo, event.config, event.now, largest=largest):
        if written.problem:
            _log(event.repo, event.host, "pending", GitMemError(written.problem))
        _propose(event, written.flushed)


def _transcript(event: Event) -> tuple[Transcript | None, str]:
    """(the session's transcript, None without one; the file it was read from, "" for none).

    It is in the host's JSON, in the file that the event names, or in the file that an earlier event of the session
    named (Copilot CLI names none at the end of a session). Without a file yet, it is the turn in the event itself.
    """
    from gitmem.hosts.transcript_parser import parse
    from gitmem.regular_file import read_regular

    hooks = event.host.hooks
    names: Sequence[str] = ()
    if hooks is not None:
        if hooks.transcript is not None:
            data = hooks.transcript(event.fields)
            if data is None:
                return (None, "")
            return (parse(data), "")
        names = hooks.turn_fields
    turn = zip(("user", "assistant"), map(event.fields.get, names), strict=False)
    spoken = [(role, text) for role, text in turn if isinstance(text, str)]
    file = event.transcript or _last_transcript(event)
    if file is not None and (file.exists() or not spoken):
        return parse(read_regular(file)), str(file)
    if not spoken:
        return None, ""
    rows = [json.dumps({"role": role, "text": text, "at": event.now.isoformat()}) for role, text in spoken]
    return parse("\n".join(rows).encode("utf-8", "replace")), ""


def _last_transcript(event: Event) -> Path | None:
    """The transcript that an earlier event of the session named; None for none."""
    from gitmem.sessions.state import load_state

    if not event.session:
        return None
    known = load_state(event.repo.common_dir, event.session).transcript
    if known:
        return Path(known)
    return None


def _propose(event: Event, flushed: FlushResult | None) -> None:
    """Propose a promotion of the written lines, if mem.sessionPromote is set."""
    from gitmem.sessions.automation import commit_and_promote
    from gitmem.sessions.lifecycle import log_paths

    if event.config.session_promote and flushed is not None and flushed.kept:
        commit_and_promote(event.repo, event.config, log_paths(flushed.kept), event.now, os.environ)


def _start_of_this_memory(repo: Repository) -> datetime | None:
    """When the profile was last switched: turns before that belong to another memory. None if it never was."""
    pairs = repo.user_config()
    if not any(key.startswith("mem.profile") for key, _, _ in pairs):
        return None
    from gitmem import profiles  # needed only where there are profiles

    return profiles.switched(pairs)


EVENTS: dict[str, Callable[[Event], str]] = {
    "SessionStart": _start,
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "PreCompact": _compact,
    "SessionEnd": _end,
    "SubagentStart": _agent_start,
}
