"""Answer a host's events with a context: at the start of a session or of a subagent, and for each prompt.

A context is text from memory. What a session was given is recorded, so that no statement is given twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.agents.event_input import Event, context_lock_held, prompt_of
from gitmem.agents.event_writing import record_activity, write_waiting
from gitmem.environment import cache_folder
from gitmem.hosts.host import EVENT_SECONDS

if TYPE_CHECKING:
    from gitmem.context.assembly import Context
    from gitmem.context.layers import Part
    from gitmem.context.session_contents import SessionContents
    from gitmem.hosts.transcript import Transcript
    from gitmem.sessions.recalled_parts import RecalledParts

MAX_PENDING_BYTES_AT_START = 1 << 20  # of the transcripts of waiting sessions that a start writes first
START_LAYERS = frozenset(("pinned", "rule", "working", "recent", "summary"))  # layers of a start's context alone
FIRST_PROMPT_FACTOR = 2  # factor for the budget of the first answered prompt
MAX_CONTEXT_CHARS = 10_000  # of a context; Claude Code takes no more
FRAME_CHARS = 500  # of these, for the text around a context
MAX_PROMPT_CHARS = 4_000  # of a prompt that are searched for
TIME_SHARE = 0.8  # share of the host's time limit for the handler; the rest is for starting and ending the process
RESUMED = "resume"  # `source` of a SessionStart whose session has its earlier turns


def answer_start(event: Event) -> str:
    """SessionStart: the context of a new session, and the state in which the last session ended; "" if there is
    neither. Sessions that wait to be written are written first."""
    write_waiting(event, MAX_PENDING_BYTES_AT_START)  # so that this session knows what the last one decided
    with context_lock_held(event):
        return _start_context(event)


def _start_context(event: Event) -> str:
    """The context for the start of a session, recorded as given; "" if there is none. The caller must hold the lock of
    `context_lock_held`.

    A resumed session whose transcript has our earlier contexts gets only new statements; so does a session whose first
    prompt was answered since the host called this hook.
    """
    from gitmem.context.checkpoint import checkpoint
    from gitmem.context.session_contents import KnownStatements, compaction_mark
    from gitmem.gate.quoting import END, LEAD
    from gitmem.sessions import recalled_parts
    from gitmem.sessions.recalled_parts import RecalledParts

    began = time.monotonic()
    conversation = event.conversation()
    recorded = recalled_parts.load(event.repo.common_dir, event.session)
    recalled = _parts_still_known(event, conversation, recorded)
    contents = event.contents(conversation if recalled.keys else None, recalled)
    context = _context_without_prompt(event, contents)
    if context is None:
        return ""
    known_statements = KnownStatements(contents.texts)
    for part in context.parts:
        known_statements.add_part(part)
    text = context.text
    given_parts = list(context.parts)
    if not (recalled.started and recalled.keys):  # a resumed session was told then where the one before it left off
        for section in checkpoint(event.repo, event.config, event.now, _session_part(event), known_statements):
            if len(text) + len(section.text) < MAX_CONTEXT_CHARS:  # never cut: that would leave a quotation open
                text = f"{text}\n{section.text}".strip()
                given_parts += section.parts
    if text and not context.text:
        text = f"{LEAD}\n{text}\n{END}"
    if _must_repeat(event, recorded, began):
        return _start_context(event)
    _record_receipt(event, "start", context, began)
    keys, places = _keys_and_files(given_parts)
    mark = compaction_mark(conversation) if conversation is not None else ""
    record = RecalledParts(
        tuple(dict.fromkeys((*recalled.keys, *keys))), answered=recalled.answered, started=True,
        places=tuple(dict.fromkeys((*recalled.places, *places))), mark=mark,
    )  # fmt: skip
    recalled_parts.store_start(event.repo.common_dir, event.session, record, time.time())
    return text


def answer_agent_start(event: Event) -> str:
    """SubagentStart: the context for an agent that the session's agent starts, without the state of the last session.
    "" if memory has nothing or the session's ceiling is reached. What it gave is not recorded for later contexts."""
    began = time.monotonic()
    context = _context_without_prompt(event, event.contents())
    if context is None:
        return ""
    _record_receipt(event, "start", context, began)
    return context.text


def answer_prompt(event: Event) -> str:
    """UserPromptSubmit: the context for a prompt; "" if memory has nothing that fits. For hosts that take no context at
    the start, the first prompt is answered with the context of the start too."""
    from gitmem.sessions import recalled_parts

    may_start = event.hooks.starts_at_prompt and bool(event.session)

    def is_first() -> bool:
        return may_start and not recalled_parts.load(event.repo.common_dir, event.session).started

    if is_first():
        write_waiting(event, MAX_PENDING_BYTES_AT_START)
    start = ""
    with context_lock_held(event):
        if is_first():  # looked at again: another event may have given the start meanwhile
            start = _start_context(event)
            record_activity(event)
        return "\n".join(filter(None, (start, _prompt_context(event))))


def _prompt_context(event: Event) -> str:
    """The context for a prompt, recorded as given; "" if memory has nothing that fits.

    The first answered prompt of a session gets a larger budget; later prompts get only strong hits. Statements that the
    session already has are left out.
    """
    from gitmem.context.request import build_context, request_of
    from gitmem.context.session_contents import compaction_mark
    from gitmem.hosts.transcript_parser import spoken_text
    from gitmem.search.evidence import STRONG
    from gitmem.sessions import recalled_parts

    began = time.monotonic()
    prompt = spoken_text(prompt_of(event))  # without the context that Gemini CLI puts before it
    if not prompt.strip():
        return ""
    conversation = event.conversation()  # a short prompt is understood by what the conversation has named
    recorded = recalled_parts.load(event.repo.common_dir, event.session)
    recalled = recorded.after(compaction_mark(conversation) if conversation is not None else "")
    budget, threshold, whole_tokens = event.config.context_budget, STRONG, 0
    if not recalled.answered:
        budget, threshold = budget * FIRST_PROMPT_FACTOR, 0.0
    if event.session and not (recalled.started or recalled.answered):  # the session has been given nothing yet
        whole_tokens = event.config.context_budget
    budget = _tokens_left(event, budget)
    if not budget:
        return ""
    request = request_of(
        event.config, prompt[:MAX_PROMPT_CHARS], transcript=conversation, without_layers=START_LAYERS,
        max_characters=MAX_CONTEXT_CHARS - FRAME_CHARS, budget=budget, min_evidence=threshold,
        folders=_working_folder(event), contents=event.contents(conversation, recalled),
        whole_memory_tokens=whole_tokens,
    )  # fmt: skip
    context = build_context(event.repo, event.config, request, event.now, environ=os.environ, cache=cache_folder())
    if not context.parts:
        return ""
    if _must_repeat(event, recorded, began):
        return _prompt_context(event)
    _record_receipt(event, "prompt", context, began)
    recalled_parts.store_answer(
        event.repo.common_dir, event.session, recalled, *_keys_and_files(context.parts), time.time()
    )
    return context.text


def _must_repeat(event: Event, recorded: RecalledParts, began: float) -> bool:
    """Whether an event has to build its context again: another event of the session has recorded a context since
    `recorded` was read, and the host's time limit leaves enough time. `began`: when this event began, in seconds of the
    monotonic clock."""
    from gitmem.sessions import recalled_parts

    if not event.session or recalled_parts.load(event.repo.common_dir, event.session).at == recorded.at:
        return False
    elapsed = time.monotonic() - began
    return time.time() - event.called + elapsed < TIME_SHARE * EVENT_SECONDS[event.name]


def _parts_still_known(event: Event, conversation: Transcript | None, recorded: RecalledParts) -> RecalledParts:
    """Which of the parts in `recorded` a starting session still has.

    All of them if another event of the session recorded them since the host called this hook. For a resumed session,
    those from before, if its transcript contains our contexts: only then does the host show them to its agent again.
    Else none.
    """
    from gitmem.context.session_contents import compaction_mark
    from gitmem.gate.quoting import LEAD
    from gitmem.sessions.recalled_parts import RecalledParts

    if event.called <= recorded.at <= time.time():
        return recorded
    if event.fields.get("source") != RESUMED or conversation is None:
        return RecalledParts()
    if LEAD.encode() not in event.transcript_data():
        return RecalledParts()
    return replace(recorded.after(compaction_mark(conversation)), answered=False)


def _keys_and_files(parts: Iterable[Part]) -> tuple[list[str], list[tuple[str, str]]]:
    """(keys of the statements of these parts, (scope, path) of the files of these parts)."""
    from gitmem.context.session_contents import keys_of_part

    keys = [key for part in parts for key in keys_of_part(part)]
    return keys, [(part.scope, part.path) for part in parts if part.path and part.pieces]


def _session_part(event: Event) -> str:
    """The name of the session's part that begins or continues (`sessions.state.part_name`). The session's id if the
    host's JSON has no transcript, from which the parts could be distinguished."""
    from gitmem.hosts.transcript_parser import parse
    from gitmem.sessions.state import part_at_start

    if event.hooks.transcript is None or not event.session:
        return event.session
    data = event.hooks.transcript(event.fields)
    if data is None:
        return event.session
    return part_at_start(event.repo.common_dir, parse(data), event.session)


def _record_receipt(event: Event, kind: str, context: Context, began: float) -> None:
    """Record the receipt of a context. `kind`, `began`: as in `append_receipt`."""
    from gitmem.context.request import append_receipt

    append_receipt(event.repo.common_dir, event.session, kind, context, event.now, began)


def _tokens_left(event: Event, wanted_tokens: int) -> int:
    """The tokens that a context may have: `wanted_tokens`, or fewer if the session's ceiling (`mem.contextCeiling`) is
    nearly reached."""
    from gitmem.sessions.receipts import tokens_left

    return tokens_left(event.config.context_ceiling, event.repo.common_dir, event.session, wanted_tokens)


def _context_without_prompt(event: Event, contents: SessionContents) -> Context | None:
    """The context for a start, which is not based on a prompt; None if the session's ceiling is reached. It has no
    working values, which the checkpoint shows. `contents`: texts that the session already has."""
    from gitmem.context.request import build_context, request_of

    budget = _tokens_left(event, event.config.context_budget)
    if not budget:
        return None
    request = request_of(
        event.config, "", budget=budget, loaded=event.host.loads if contents.loaded else (), contents=contents,
        without_layers=frozenset(("working",)), max_characters=MAX_CONTEXT_CHARS - FRAME_CHARS,
        folders=_working_folder(event),
    )  # fmt: skip
    return build_context(event.repo, event.config, request, event.now, environ=os.environ, cache=cache_folder())


def _working_folder(event: Event) -> tuple[str, ...]:
    """The repository path of the folder in which the agent works, as a tuple of one; () if the host names none or the
    folder is the root or outside the repository."""
    from gitmem.context.request import repository_path

    folder = event.fields.get("cwd")
    if not isinstance(folder, str) or not Path(folder).is_absolute():
        return ()
    name = repository_path(event.repo, folder)
    return () if name in (folder, ".") else (name,)
