"""`git mem session hook`: what a host's own hooks call, from their JSON on standard input.

A handler never breaks a turn: whatever goes wrong is logged in the Git directory and the exit code is 0.
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
from gitmem.git.worktree import locked, state_dir
from gitmem.hosts.host import EVENT_SECONDS, USER, Host
from gitmem.hosts.registry import host_named
from gitmem.plural import counted

if TYPE_CHECKING:
    from gitmem.context.assembly import Context
    from gitmem.context.layers import Part
    from gitmem.context.session_contents import Contents
    from gitmem.hosts.transcript import Transcript
    from gitmem.sessions.lifecycle import Flushed, Source
    from gitmem.sessions.recalled_parts import RecalledParts

INPUT_LIMIT = 32 << 20  # bytes of a host's JSON; a prompt may hold a pasted log
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)  # before any line of the log
AT_START = 1 << 20  # bytes of a transcript that waits to be written and is, before a session's start is answered
PROMPT_TRANSCRIPT = 8 << 20  # bytes of a transcript that is read before a prompt is answered
NOT_AGAIN = frozenset(("pinned", "rule", "working", "recent", "summary"))  # layers a session has had
DEEP = 2  # times the budget for the first prompt that memory answers: one deep recall helps, one each turn distracts
INJECTED = 10_000  # characters of context that Claude Code takes
ENVELOPE = 500  # of them for what stands around a context
SHARE = 0.8  # of the time a host gives, the rest is for starting and ending
GIVING_SHARE = 0.3  # of the time a host gives: how long an event waits for another of its session that gives a context
DETACHED = "GITMEM_DETACHED"
SESSION_ID = re.compile(r"[A-Za-z0-9][\w-]{0,127}", re.ASCII)  # of a session whose transcript is looked for by its id
TURN = "compacted-turn"  # the file with the session of the last turn whose compaction was acted on
RESUMED = "resume"  # the `source` of a SessionStart with the old turns


class OutOfTime(BaseException):
    """The time that a host gives an event is over. No `Exception`: nothing on the way may take it for a failure of its
    own, as the gate takes that of a detector for a refusal, and go on."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a host in an opened memory. `name`: ours (EVENT_SECONDS). `fields` are the host's JSON; `transcript`
    and `session` are what it says of the session, None and "" where it does not. `called`: seconds since 1970 when the
    host called the hook, by the machine's clock."""

    repo: Repository
    config: Config
    host: Host
    name: str
    fields: dict[str, Any]
    now: datetime
    called: float

    @property
    def transcript(self) -> Path | None:
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
        return _session(self.host, self.fields)

    def contents(self, conversation: Transcript | None = None, given: RecalledParts | None = None) -> Contents:
        """What the session holds: the files its host has loaded itself (none where it loads those of another folder),
        what was said in its conversation, and what it was given before."""
        from gitmem.context.loaded_files import loaded_files
        from gitmem.context.session_contents import Contents, texts_of

        name = ""
        if self.host.hooks is not None:
            name = self.host.hooks.workspace_field
        folder = None
        if name:
            folder = self.fields.get(name)
        root = self.repo.root
        elsewhere = root is None or (isinstance(folder, str) and Path(folder) != root)
        loaded, texts = ((), ()) if elsewhere or root is None else loaded_files(self.host, root)
        if conversation is not None:
            said = texts_of(conversation)
        else:
            said = ()
        keys, places, alone = frozenset[str](), frozenset[tuple[str, str]](), ""
        if given is not None:
            keys, places = frozenset(given.keys), frozenset(given.places)
            alone = ""
            if conversation is None and not given.compacted:
                alone = self.session
        return Contents(keys, places, (*texts, *said), alone, loaded)

    def conversation(self) -> Transcript | None:
        """What was said in the session so far, None where the host does not hand it over, or too much of it."""
        from gitmem.hosts.transcript_parser import parse

        data = self.transcript_data()
        if not data:
            return None
        return parse(data)

    def transcript_data(self) -> bytes:
        """The transcript as the host hands it over or keeps it, b"" where it does not, or too much of it."""
        from gitmem.regular_file import read_regular

        hooks = self.host.hooks
        if hooks is not None and hooks.transcript is not None:
            return hooks.transcript(self.fields) or b""
        path = self.transcript
        if path is None or not path.is_file() or path.stat().st_size > PROMPT_TRANSCRIPT:
            return b""
        return read_regular(path)


def _transcript_file(globs: Sequence[str], session: str) -> Path | None:
    """The newest file of the person's home that a host keeps the session in; None where there is none."""
    if not SESSION_ID.fullmatch(session):
        return None
    home = Path(os.path.expanduser("~"))
    found = [path for pattern in globs for path in home.glob(pattern.replace("{session}", session)) if path.is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def handle(
    event: str, host_name: str, opened: Callable[[], tuple[Repository, Config]], *, user: bool = False
) -> None:  # fmt: skip
    """Carry out one event of a host. Never raises, and ends within the time the host gives it (EVENT_SECONDS).

    The host waits one second for the end of a session: that is done by a process of its own. `user`: the hook stands
    in the person's own settings.
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
        with _time_limit(0 if DETACHED in os.environ else SHARE * EVENT_SECONDS[event]):
            answer = _answer(host, event, EVENTS[event](given))
            if answer:
                sys.stdout.buffer.write(answer.encode("utf-8", "backslashreplace") + b"\n")
                sys.stdout.buffer.flush()
            if event == "SessionStart":
                _remember(given)
                _catch_up(given)
        if event == "PreCompact" and host.hooks is not None and host.hooks.compacts_each_request:
            _note_turn(given)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - a host's turn must not break on our account
        if is_ours:
            _log(repo, host, event, error)


def _session(host: Host, fields: dict[str, Any]) -> str:
    """The id of the session as the host's JSON has it, "" where it has none."""
    if host.hooks is not None:
        names = host.hooks.session_fields
    else:
        names = ()
    value = next((fields[name] for name in names if fields.get(name)), "")
    if not isinstance(value, str):
        return ""
    return value


def _acted_in_this_turn(host: Host, event: str, fields: dict[str, Any]) -> bool:
    """Whether a host that announces a compaction before every request has been heard in this turn of the session
    already: what is said in the turn is written at its end. Any other event of the session begins another turn.

    Reads one file and imports nothing: this is most of what such a host asks.
    """
    if host.hooks is None or not host.hooks.compacts_each_request:
        return False
    try:
        mark = discover(Path.cwd(), os.environ).common_dir / "gitmem" / TURN
        said = b""
        if mark.is_file() and not mark.is_symlink():
            said = mark.read_bytes()
        heard = bool(said) and said == _turn_mark(host, fields)
        if heard and event != "PreCompact":
            mark.unlink(missing_ok=True)
        return heard and event == "PreCompact"
    except (OSError, GitMemError):  # the event itself meets the same, and says it
        return False


def _note_turn(event: Event) -> None:
    """Remember that a compaction of this turn was acted on."""
    from gitmem.git.worktree import write_atomic

    mark = _turn_mark(event.host, event.fields)
    if mark:
        write_atomic(state_dir(event.repo.common_dir), TURN, mark, private=True)


def _turn_mark(host: Host, fields: dict[str, Any]) -> bytes:
    """What the mark holds: the session's id, hashed; empty where the host names no session."""
    session = _session(host, fields)
    if not session:
        return b""
    return sha256(session.encode("utf-8", "replace")).hexdigest().encode()


def _fields(data: bytes) -> tuple[dict[str, Any], str]:
    """The host's JSON, and what is wrong with it."""
    if len(data) > INPUT_LIMIT:
        return {}, f"the host hands over more than {INPUT_LIMIT >> 20} MiB: nothing of it is kept"
    try:
        loaded = json.loads(data)
    except (ValueError, RecursionError):
        return {}, "what the host hands over is no JSON"
    if isinstance(loaded, dict):
        return (loaded, "")
    return ({}, "what the host hands over is no JSON object")


def _enter_project(host: Host, fields: dict[str, Any], user: bool) -> bool:
    """Go to the folder of the project the hook belongs to; False where there is none. What the environment says of a
    repository does not count where the project is known."""
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
    """Raise OutOfTime after so many seconds; 0 for no limit. What was written until then stays, and is whole."""

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
    """The same handler in a process that outlives this one and its host."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "session", "hook", event, "--host", host_name, *([USER] * user)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, DETACHED: "1"}, start_new_session=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(data)
    child.stdin.close()


def _log(repo: Repository | None, host: Host, event: str, error: BaseException, *, once: bool = False) -> None:
    """A line of the log: kind and, for errors of ours, their message (which never quotes memory). `once`: not where the
    log says so already; each turn of a session reads the same transcript."""
    if isinstance(error, GitMemError):
        words = error.message
    else:
        words = type(error).__name__
    try:
        here = Path.cwd()
        if repo is not None:
            common = repo.common_dir
        else:
            common = discover(here, os.environ).common_dir
        is_ours = repo is not None or is_project(host, here, os.environ)
    except (OSError, GitMemError):
        return
    failure = hook_log.Failure(now(), event, words)
    try:
        folder = state_dir(common, make=is_ours)
        if once and any(known[1:] == failure[1:] for known in hook_log.failures(folder, BEGINNING)):
            return
        written = hook_log.append(folder, failure)
    except GitMemError:  # it cannot be made, the Git directory being read-only for one
        written = False
    if is_ours and not written:
        hook_log.append_to_spare(cache_folder(), common, failure)


def _answer(host: Host, event: str, text: str) -> str:
    """The text to add to the context in the form the host reads, "" for nothing."""
    if not text or host.hooks is None:
        return ""
    answer = host.hooks.answer(host.hooks.events.get(event, event), text)
    if isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False)


@contextmanager
def _giving(event: Event) -> Iterator[None]:
    """Hold back other events of the session while this one gives a context and records what it gave.

    A host may call the hooks of a session's start and of its first prompt at once (Copilot CLI): each is then given
    what the other was not. An event that has waited for GIVING_SHARE of its time, and one in a Git directory that
    cannot be written to, gives all the same: a repetition costs less than a silent memory. Where there is time, who
    records second builds its context again (`_is_late`).
    """
    from gitmem.sessions.state import lock_of_giving

    with ExitStack() as held:
        if event.session:
            wait = GIVING_SHARE * EVENT_SECONDS[event.name]
            with suppress(GitMemError, OSError):
                held.enter_context(locked(event.repo.common_dir, lock_of_giving(event.session), wait))
        yield


def _is_late(event: Event, known: RecalledParts, began: float) -> bool:
    """Whether another event of the session gave something since `known` was read, and a context that was begun then
    (`began`: seconds of the monotonic clock) can be built again within the time of the host."""
    from gitmem.sessions import recalled_parts

    if not event.session or recalled_parts.load(event.repo.common_dir, event.session).at == known.at:
        return False
    took = time.monotonic() - began
    return time.time() - event.called + took < SHARE * EVENT_SECONDS[event.name]


def _start(event: Event) -> str:
    """What memory says as a session begins, and where the last one left off."""
    _catch_up(event, AT_START)  # so that this session begins with what the last one decided
    with _giving(event):
        return _give_at_start(event)


def _give_at_start(event: Event) -> str:
    """`_start` while `_giving`. A session that is resumed with what it was given in its transcript is given what is
    new, and so is one whose prompt was answered since the host called this hook."""
    from gitmem.context.checkpoint import checkpoint
    from gitmem.context.session_contents import KnownStatements, mark_of
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
    # A session that goes on with what it was given was told then where the one before it left off.
    told = before.started and bool(before.keys)
    sections = () if told else checkpoint(event.repo, event.config, event.now, _part_of_session(event), known)
    for section in sections:
        if len(text) + len(section.text) < INJECTED:  # whole or not at all: a cut would leave a quotation open
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
        mark = mark_of(conversation)
    now = RecalledParts(
        tuple(dict.fromkeys((*before.keys, *keys))), answered=before.answered, started=True,
        places=tuple(dict.fromkeys((*before.places, *places))), mark=mark,
    )  # fmt: skip
    recalled_parts.begin(event.repo.common_dir, event.session, now, time.time())
    return text


def _still_given(event: Event, conversation: Transcript | None, given: RecalledParts) -> RecalledParts:
    """What of `given` a session that begins has: what was given since the host called this hook, by another event of
    the session; and of one that is resumed what it was given before, where its transcript holds our contexts: only that
    shows that the host gives them to its agent again."""
    from gitmem.context.session_contents import mark_of
    from gitmem.gate.quoting import LEAD
    from gitmem.sessions.recalled_parts import RecalledParts

    if event.called <= given.at <= time.time():
        return given
    if event.fields.get("source") != RESUMED or conversation is None:
        return RecalledParts()
    if LEAD.encode() not in event.transcript_data():
        return RecalledParts()
    return replace(given.after(mark_of(conversation)), answered=False)


def _keys_and_places(parts: Iterable[Part]) -> tuple[list[str], list[tuple[str, str]]]:
    """The keys of what parts say, and the files that they stand in."""
    from gitmem.context.session_contents import keys_of_part

    keys = [key for part in parts for key in keys_of_part(part)]
    return keys, [(part.scope, part.path) for part in parts if part.path and part.pieces]


def _part_of_session(event: Event) -> str:
    """The name of the session's part that begins or goes on; of one that may be either, since the host hands over no
    turns, the session's own name."""
    from gitmem.hosts.transcript_parser import parse
    from gitmem.sessions.state import part_at_start

    hooks = event.host.hooks
    held = None
    if hooks is not None and hooks.transcript is not None:
        held = hooks.transcript(event.fields)
    if held is None or not event.session:
        return event.session
    return part_at_start(event.repo.common_dir, parse(held), event.session)


def _receipt(event: Event, kind: str, context: Context, began: float) -> None:
    """Keep what the session was given, without its text."""
    from gitmem.sessions import receipts

    given = receipts.of_parts([(part.layer.value, part.content, part.tokens) for part in context.parts])
    tokens, parts = given
    milliseconds = round(1000 * (time.monotonic() - began))
    receipts.record(
        event.repo.common_dir, receipts.Receipt(event.now, event.session, kind, milliseconds, tokens, parts)
    )


def _budget(event: Event, wanted: int) -> int:
    """The tokens of a context: no more than the session has left of its ceiling."""
    from gitmem.sessions.receipts import left_of

    return left_of(event.config.context_ceiling, event.repo.common_dir, event.session, wanted)


def _agent_start(event: Event) -> str:
    """What an agent that this one starts is told: memory, not where the session left off, which is its starter's."""
    began = time.monotonic()
    context = _context_of_start(event, event.contents())
    if context is None:
        return ""
    _receipt(event, "start", context, began)
    return context.text


def _context_of_start(event: Event, contents: Contents) -> Context | None:
    """What memory says before anything is asked; None where the session's ceiling is reached."""
    from gitmem.context.request import build, request_of

    budget = _budget(event, event.config.context_budget)
    if not budget:
        return None
    request = request_of(
        event.config, "", budget=budget, loaded=event.host.loads if contents.loaded else (), contents=contents,
        without_layers=frozenset(("working",)), characters=INJECTED - ENVELOPE, folders=_folders(event),
    )  # fmt: skip
    return build(event.repo, event.config, request, event.now, environ=os.environ, cache=cache_folder())


def _folders(event: Event) -> tuple[str, ...]:
    """The folder of the repository in which the agent works, where its host names one below the top."""
    from gitmem.context.request import repository_path

    here = event.fields.get("cwd")
    if not isinstance(here, str) or not Path(here).is_absolute():
        return ()
    name = repository_path(event.repo, here)
    if name in (here, "."):
        return ()
    return (name,)


def _remember(event: Event) -> None:
    """After the answer: end the sessions that are over, and remember this one."""
    from gitmem.sessions.automation import end_due_sessions
    from gitmem.sessions.state import load_state, save_state, touched

    if not event.config.session_flush or event.config.session_reset == "never":
        return
    end_due_sessions(event.repo, event.config, event.now)
    if event.session:
        state = load_state(event.repo.common_dir, event.session)
        save_state(event.repo.common_dir, event.session, touched(state, event.now, str(event.transcript or "")))


def _prompt(event: Event) -> str:
    """What memory says to a prompt, with the context of the start where the host takes none there."""
    from gitmem.sessions import recalled_parts

    hooks = event.host.hooks
    may_start = hooks is not None and hooks.starts_at_prompt and bool(event.session)

    def starts() -> bool:
        return may_start and not recalled_parts.load(event.repo.common_dir, event.session).started

    if starts():
        _catch_up(event, AT_START)
    start = ""
    with _giving(event):
        if starts():
            start = _give_at_start(event)
            _remember(event)
        return "\n".join(text for text in (start, _recall(event)) if text)


def _prompt_text(event: Event) -> str:
    """The prompt as the event holds it, a text or parts of a message, or as the last turn of the transcript."""
    from gitmem.hosts.entries import text_of
    from gitmem.hosts.transcript import By, Role
    from gitmem.hosts.transcript_parser import parse
    from gitmem.regular_file import read_regular

    hooks = event.host.hooks
    if hooks is None:
        return ""
    path = event.transcript
    if hooks.prompt_in_transcript and path is not None and path.is_file() and path.stat().st_size <= PROMPT_TRANSCRIPT:
        turns = parse(read_regular(path)).turns
        is_prompt = bool(turns) and turns[-1].role is Role.USER and turns[-1].by is By.SPEAKER
        if not is_prompt:
            return ""
        return turns[-1].text
    given = (_field(event.fields, name) for name in hooks.prompt_fields)
    texts = (text_of(value) if isinstance(value, list) else value for value in given)
    return hooks.prompt_text(next((text for text in texts if isinstance(text, str)), ""))


def _field(fields: dict[str, Any], name: str) -> Any:
    """The value of a field, of one in another where the name has a point; None where there is none."""
    value: Any = fields
    for part in name.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        else:
            value = None
    return value


def _recall(event: Event) -> str:
    """What memory says to a prompt: much to the first that it answers, later what is telling; never what the session
    holds already."""
    from gitmem.context.request import build, request_of
    from gitmem.context.session_contents import mark_of
    from gitmem.hosts.transcript_parser import spoken_text
    from gitmem.search.evidence import STRONG
    from gitmem.sessions import recalled_parts

    began = time.monotonic()
    prompt = spoken_text(_prompt_text(event))  # Gemini CLI puts the context of the start before it
    if not prompt.strip():
        return ""
    # What the conversation names stands behind a short question; the turns themselves the host has.
    conversation = event.conversation()
    mark = ""
    if conversation is not None:
        mark = mark_of(conversation)
    recorded = recalled_parts.load(event.repo.common_dir, event.session)
    given = recorded.after(mark)
    first = bool(event.session) and not (given.started or given.answered)  # memory has told this session nothing
    budget = _budget(event, event.config.context_budget * (1 if given.answered else DEEP))
    if not budget:
        return ""
    request = request_of(
        event.config, prompt[:4_000], transcript=conversation, without_layers=NOT_AGAIN,
        characters=INJECTED - ENVELOPE, budget=budget, each=STRONG if given.answered else 0.0, folders=_folders(event),
        contents=event.contents(conversation, given), whole=event.config.context_budget if first else 0,
    )  # fmt: skip
    context = build(event.repo, event.config, request, event.now, environ=os.environ, cache=cache_folder())
    if not context.parts:
        return ""
    if _is_late(event, recorded, began):
        return _recall(event)
    _receipt(event, "prompt", context, began)
    recalled_parts.add(event.repo.common_dir, event.session, given, *_keys_and_places(context.parts), time.time())
    return context.text


def _stop(event: Event) -> str:
    from gitmem.sessions.lifecycle import flush

    _write(event, lambda transcript, source: flush(event.repo, event.config, transcript, source, now=event.now))
    return ""


def _compact(event: Event) -> str:
    """Before turns are lost a configured model chooses too; what memory said in them may be said again."""
    from gitmem.sessions import recalled_parts
    from gitmem.sessions.automation import model_of
    from gitmem.sessions.lifecycle import flush

    with _giving(event):
        recalled_parts.announce_compaction(event.repo.common_dir, event.session)

    def write(transcript: Transcript, source: Source) -> Flushed:
        model = model_of(event.repo, event.config, event.now, os.environ)
        return flush(event.repo, event.config, transcript, source, now=event.now, model=model)

    _propose(event, _write(event, write))
    return ""


def _end(event: Event) -> str:
    from gitmem.sessions.automation import model_of
    from gitmem.sessions.due_consolidation import consolidate_if_due
    from gitmem.sessions.lifecycle import end

    def write(transcript: Transcript, source: Source) -> Flushed:
        model = model_of(event.repo, event.config, event.now, os.environ)
        return end(event.repo, event.config, transcript, source, now=event.now, model=model)[0]

    _propose(event, _write(event, write, ended=True))
    consolidate_if_due(event.repo, event.config, event.now, os.environ)
    return ""


def _write(
    event: Event, write: Callable[[Transcript, Source], Flushed], *, ended: bool = False
) -> Flushed | None:  # fmt: skip
    """Read the session's transcript, end the sessions that are over, and `write`; None where nothing is to be kept.
    What cannot be written now waits as a note, and the notes of others are written."""
    from gitmem.hosts.transcript import since
    from gitmem.hosts.transcript_parser import unread_words
    from gitmem.sessions.automation import end_due_sessions
    from gitmem.sessions.lifecycle import Source
    from gitmem.sessions.pending import done

    if event.config.session_flush:
        transcript, file = _transcript(event)
    else:
        transcript, file = (None, "")
    if transcript is None:
        return None
    if problem := unread_words(transcript):
        _log(event.repo, event.host, "transcript", GitMemError(problem), once=True)
    start = _start_of_this_memory(event.repo)
    transcript = since(transcript, start)
    source = Source(event.session, file=file)
    left = _leave(event, transcript, source, ended, start)
    end_due_sessions(event.repo, event.config, event.now, transcript, event.session)
    flushed = write(transcript, replace(source, file=str(event.transcript or "")))
    done(event.repo.common_dir, left)
    _catch_up(event)
    return flushed


def _leave(event: Event, transcript: Transcript, source: Source, ended: bool, start: datetime | None) -> str:
    """Leave a note of the session until it is written (sessions/pending.py): its name, "" where there is none."""
    from gitmem.sessions.pending import Leaving, leave

    try:
        name, dropped = leave(event.repo, transcript, source, Leaving(event.now, ended, start))
    except (GitMemError, OSError):  # the session is written all the same
        return ""
    if dropped:
        sessions = ", ".join(session[:40] for session in dropped[:3])
        problem = f"{counted(len(dropped), 'session')} that waited to be written had to go for newer ones: {sessions}"
        _log(event.repo, event.host, "pending", GitMemError(problem))
    return name


def _catch_up(event: Event, largest: int | None = None) -> None:
    """Write the sessions whose own events could not; `largest` as in `write_pending`. What keeps one from being written
    is a line of the log, and `git mem doctor` names it."""
    from gitmem.sessions.pending import write_pending

    if not event.config.session_flush:
        return
    for written in write_pending(event.repo, event.config, event.now, largest=largest):
        if written.problem:
            _log(event.repo, event.host, "pending", GitMemError(written.problem))
        _propose(event, written.flushed)


def _transcript(event: Event) -> tuple[Transcript | None, str]:
    """The transcript the event holds or names, or the session's last one (the end of a session of Copilot CLI names
    none); where there is none yet, the turn that the event holds itself; else None. And the file it was read from, ""
    for none."""
    from gitmem.hosts.transcript_parser import parse
    from gitmem.regular_file import read_regular

    hooks = event.host.hooks
    if hooks is not None and hooks.transcript is not None:
        held = hooks.transcript(event.fields)
        if held is None:
            return (None, "")
        return (parse(held), "")
    if hooks is not None:
        names = hooks.turn_fields
    else:
        names = ()
    given = zip(("user", "assistant"), map(event.fields.get, names), strict=False)
    said = [(role, text) for role, text in given if isinstance(text, str)]
    file = event.transcript or _last_transcript(event)
    if file is not None and (file.exists() or not said):
        return parse(read_regular(file)), str(file)
    rows = [json.dumps({"role": role, "text": text, "at": event.now.isoformat()}) for role, text in said]
    return (parse("\n".join(rows).encode("utf-8", "replace")) if rows else None), ""


def _last_transcript(event: Event) -> Path | None:
    from gitmem.sessions.state import load_state

    known = ""
    if event.session:
        known = load_state(event.repo.common_dir, event.session).transcript
    if not known:
        return None
    return Path(known)


def _propose(event: Event, flushed: Flushed | None) -> None:
    """Propose the promotion of what was written, where the settings say so."""
    from gitmem.sessions.automation import propose
    from gitmem.sessions.lifecycle import paths_of

    if event.config.session_promote and flushed is not None and flushed.kept:
        propose(event.repo, event.config, paths_of(flushed.kept), event.now, os.environ)


def _start_of_this_memory(repo: Repository) -> datetime | None:
    """The last switch of profile: what was said before it is of another memory. None where there was none."""
    pairs = repo.user_config()
    if not any(key.startswith("mem.profile") for key, _, _ in pairs):
        return None
    from gitmem import profiles

    return profiles.switched(pairs)


EVENTS: dict[str, Callable[[Event], str]] = {
    "SessionStart": _start,
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "PreCompact": _compact,
    "SessionEnd": _end,
    "SubagentStart": _agent_start,
}
