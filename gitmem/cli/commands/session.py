"""`git mem session`: write the decisions of an agent's session to memory, from its start to its end, by hand or from a
host's hooks.

The commands import inside functions what only some of them need: agents call `get` and `set` often.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitmem.cli.options import agent_option, json_option, open_here
from gitmem.cli.session_values import get_command, list_command, set_command
from gitmem.cli.terminal import escape, page, say, say_masked, say_rivals, write, write_json
from gitmem.environment import cache_folder, now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.hosts.registry import all_hosts
from gitmem.hosts.transcript import Transcript
from gitmem.hosts.transcript_parser import parse, too_long_message
from gitmem.json_values import json_object
from gitmem.plural import counted
from gitmem.regular_file import read_input, writable_file

if TYPE_CHECKING:
    from gitmem.promotion.promote import Outcome
    from gitmem.sessions.lifecycle import FlushResult
    from gitmem.sessions.pending_sessions import NoteResult
    from gitmem.sessions.resets import EndedSession

HOSTS_WITH_HOOKS = [host.name for host in all_hosts() if host.hooks is not None]
RETRY_WAIT = 5.0  # seconds that `retry` waits for another git mem that writes
MAX_AGE_SECONDS = 100 * 365 * 86_400  # greater ages in options are cut to this, since `timedelta` has a limit

transcript_argument = click.argument("transcript", type=click.Path(path_type=Path))
session_option = click.option("--session", "session", default="", help="The session's id (default: the transcript's).")
output_option = click.option(
    "-o", "--output", "target", type=click.Path(path_type=Path), help="Write here, not to stdout."
)
in_place_option = click.option("--in-place", is_flag=True, help="Replace TRANSCRIPT itself.")


@click.group()
def command() -> None:
    """Keep what an agent's session decided.

    `flush` before a context is compacted, `end` with an episode. TRANSCRIPT is a session's file of a host of
    docs/sessions.md (Claude Code, Codex ...) or in the neutral form of that page; `-` reads standard input. Nothing of
    it is written before secrets are taken out. `flush`, `end`, `compact` and `start` first end other sessions that
    `mem.sessionReset` makes due.
    """


def read(path: Path) -> tuple[bytes, Transcript]:
    """(bytes, transcript) of a file, "-" for standard input. Prints a note if nothing in it is a turn, and one if
    entries were not read. Raises GitMemError if it cannot be read."""
    data = read_input(path, sys.stdin.buffer)
    conversation = parse(data)
    if conversation.skipped and not conversation.turns:
        say(f"git mem: nothing in {escape(str(path), keep='')} is a turn of a known host (docs/sessions.md)")
    if problem := too_long_message(conversation):
        say(f"git mem: {problem}")
    return data, conversation


@command.command("flush")
@transcript_argument
@session_option
@agent_option()
@click.option("--if-due", is_flag=True, help="Only when the model's context is nearly full (mem.sessionWindow).")
@click.option("--window", type=click.IntRange(0), default=None, help="The model's context in tokens.")
@click.option("--promote", "promoting", is_flag=True, help="Commit the log and propose its promotion on a branch.")
@json_option
def flush_command(
    transcript: Path, session: str, agent: str, if_due: bool, window: int | None, promoting: bool, as_json: bool
) -> None:
    """Write what TRANSCRIPT decided to the agent's daily log.

    Decisions, promises, preferences and exceptions are kept. Appends only, each line with its turn; twice is the same
    as once. Nothing is committed without --promote (or `mem.sessionPromote`).
    """
    from gitmem.sessions.automation import commit_and_promote, end_due_sessions, session_model
    from gitmem.sessions.compaction import full_window_reason
    from gitmem.sessions.lifecycle import FlushResult, Source, flush, log_paths

    repo, config = open_here()
    conversation, moment = read(transcript)[1], now()
    ended = end_due_sessions(repo, config, moment, conversation, session)
    due_reason = ""
    if if_due:
        size = config.session_window if window is None else window
        if not size:
            raise UsageError("the size of the model's context is unknown", "--window 200000, or mem.sessionWindow")
        due_reason = full_window_reason(
            conversation.turns, size, config.session_reserve, config.session_soft, config.session_share
        )
        if not due_reason:
            show_report(Report(FlushResult((), ()), ended), as_json, of_flush=True)
            return
    flushed = flush(
        repo, config, conversation, Source(session, agent, place(transcript)), now=moment,
        model=session_model(repo, config, moment, os.environ),
    )  # fmt: skip
    promotion = None
    if flushed.kept and (promoting or config.session_promote):
        promotion = commit_and_promote(repo, config, log_paths(flushed.kept), moment, os.environ)
    show_report(Report(flushed, ended, due=due_reason, promotion=promotion), as_json, of_flush=True)


def show_report(report: Report, as_json: bool, *, of_flush: bool = False) -> None:
    """Print a report, as JSON or in words. `of_flush`: with the JSON keys that only `flush` has."""
    if as_json:
        report.write_json(of_flush=of_flush)
    else:
        report.write_text()


def place(transcript: Path) -> str:
    """The absolute path of the transcript, which is recorded so that a later reset finds the file; "" for standard
    input."""
    if str(transcript) == "-":
        return ""
    return str(transcript.absolute())


def say_ended(ended: Sequence[EndedSession]) -> None:
    """Print on standard error which sessions were ended because `mem.sessionReset` made them due, why, and the path of
    the episode of each."""
    for session in ended:
        outcome = session.episode or session.problem or "nothing was said"
        say(f"git mem: session {escape(session.session, keep='')} ended, {session.reason}: {escape(outcome, keep='')}")


def say_refused(flushed: FlushResult) -> None:
    """Print on standard error which lines the gate refused, by its message without their text. Such a line is left out,
    or only its deciding sentence was written."""
    from gitmem.sessions.lifecycle import REFUSED_TEXT

    refused = [skipped.reason for skipped in flushed.skipped if skipped.text == REFUSED_TEXT]
    for reason in refused:
        say(f"git mem: a line was left out or shortened: {escape(reason, keep='')}")
    if refused:
        say("hint: if memory should have it, say it in other words: git mem add TEXT")


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `flush` or `end`.

    `flushed`: the lines that were written. `ended`: other sessions that were due (`mem.sessionReset`) and were ended.
    `episode`: the path of the episode, "" for none. `due`: why a flush was due, "" if that was not asked. `promotion`:
    the promotion that a flush proposed, None for none.
    """

    flushed: FlushResult
    ended: Sequence[EndedSession]
    episode: str = ""
    due: str = ""
    promotion: Outcome | None = None

    def write_json(self, *, of_flush: bool) -> None:
        """Print the JSON of docs/json.md. `of_flush`: with the keys `due` and `promotion`."""
        from gitmem.promotion.promote import as_value
        from gitmem.sessions.automation import flushed_value

        value = flushed_value(self.flushed, self.ended, self.episode)
        if of_flush:
            value |= {"due": self.due or None, "promotion": as_value(self.promotion) if self.promotion else None}
        write_json(value)

    def write_text(self) -> None:
        """Print the report for a person."""
        say_ended(self.ended)
        for note in self.flushed.notes:
            say(f"git mem: {escape(note, keep='')}")
        for line in self.flushed.kept:
            write(escape(f"{line.path}:{line.line}  {line.text} ({line.type}, turn {line.turn})\n"))
        say_masked(self.flushed.masks)
        say_refused(self.flushed)
        say_rivals(self.flushed.differs)
        if self.episode:
            write(escape(f"{self.episode}\n"))
        if not self.flushed.kept and not self.episode:
            write("nothing new to keep\n")
        if self.promotion is not None:
            from gitmem.cli.promotion_output import as_text

            write(as_text(self.promotion, explain=False))


@command.command("end")
@transcript_argument
@session_option
@agent_option()
@json_option
def end_command(transcript: Path, session: str, agent: str, as_json: bool) -> None:
    """Flush, then write the episode of the session.

    An episode has summary, decisions and topics. It goes to memory/sessions/YYYY-MM-DD-<slug>.md; ending the same
    session again replaces its own episode.
    """
    from gitmem.sessions.automation import end_due_sessions, session_model
    from gitmem.sessions.due_consolidation import sessions_due
    from gitmem.sessions.lifecycle import Source, end_session

    repo, config = open_here()
    conversation, moment = read(transcript)[1], now()
    ended = end_due_sessions(repo, config, moment, conversation, session)
    flushed, episode = end_session(
        repo, config, conversation, Source(session, agent, place(transcript)), now=moment,
        model=session_model(repo, config, moment, os.environ),
    )  # fmt: skip
    show_report(Report(flushed, ended, episode), as_json)
    if count := sessions_due(repo, config):
        say(f"git mem: {counted(count, 'session')} ended since memory was consolidated: git mem consolidate --dry-run")


@command.command("retry")
@click.option("--dry-run", is_flag=True, help="Say which sessions wait, write nothing.")
@json_option
def retry_command(dry_run: bool, as_json: bool) -> int:
    """Write the sessions that wait to be written.

    A session waits where the hooks of its host could not write it: another git mem held a lock, or the host's time was
    over. The next event of any session writes it as well. Exits with 1 when one still waits.
    """
    from gitmem.sessions.automation import session_model
    from gitmem.sessions.pending_sessions import NoteResult, list_notes, write_pending

    repo, config = open_here()
    moment = now()
    if dry_run:
        results = [NoteResult(note) for note in list_notes(repo.common_dir)]
    else:
        model = session_model(repo, config, moment, os.environ)
        results = list(write_pending(repo, config, moment, model=model, tries=None, wait=RETRY_WAIT))
    if as_json:
        write_json({"sessions": [_pending_value(result) for result in results], "dry_run": dry_run})
    else:
        for result in results:
            _show_pending(result, dry_run)
        if not results:
            write("no session waits to be written\n")
    return Exit.findings_if(any(result.problem for result in results))


def _pending_value(result: NoteResult) -> dict[str, object]:
    """An item of `sessions` of docs/json.md, "session retry"."""
    return {
        "session": result.note.session, "at": result.note.at.isoformat(), "ended": result.note.ended,
        "cut": result.note.cut,
        "lines": [{"path": line.path, "line": line.line, "text": line.text} for line in result.flushed.kept],
        "episode": result.episode or None, "problem": result.problem or None,
    }  # fmt: skip


def _show_pending(result: NoteResult, dry_run: bool) -> None:
    """Print a line for a session that waits, or for the result of writing it."""
    name = escape(result.note.session, keep="")
    if result.note.cut:
        say(f"git mem: session {name}: not kept for their size: {counted(result.note.cut, 'turn')}")
    if dry_run:
        write(f"{result.note.at:%Y-%m-%d %H:%M}  {name}{'  ended' if result.note.ended else ''}\n")
    elif result.problem:
        say(f"git mem: session {name} still waits: {escape(result.problem, keep='')}")
    else:
        parts = filter(None, (counted(len(result.flushed.kept), "line"), escape(result.episode, keep="")))
        write(f"{name}: {', '.join(parts)}\n")
        say_masked(result.flushed.masks)


@command.command("distill")
@click.option("--older-than", "days", type=click.IntRange(0), required=True, metavar="DAYS", help="Only older ones.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@json_option
def distill_command(days: int, dry_run: bool, as_json: bool) -> None:
    """Make one lasting fact of the episodes older than DAYS.

    It links to each of them. The episodes stay, marked `promoted: true`, and searches leave them out unless asked with
    --expired or --path. Nothing is committed.
    """
    from gitmem.sessions.distill import MEMORY, distill

    repo, config = open_here()
    distilled = distill(repo, config, now=now(), older_than=min(days, MAX_AGE_SECONDS // 86_400), dry_run=dry_run)
    if as_json:
        skipped = [{"path": path, "reason": reason} for path, reason in distilled.skipped]
        write_json(
            {"path": MEMORY, "line": distilled.line or None, "text": distilled.text or None,
             "episodes": list(distilled.episodes), "skipped": skipped, "dry_run": dry_run}
        )  # fmt: skip
        return
    for path, reason in distilled.skipped:
        say(f"git mem: {escape(path, '')}: {reason}")
    if not distilled.text:
        write("no episode is old enough\n")
        return
    write(escape(f"{'would write ' if dry_run else f'{MEMORY}:{distilled.line}  '}{distilled.text}\n"))
    verb = "would mark" if dry_run else "marked"
    for path in distilled.episodes:
        write(escape(f"{verb} {path}\n"))


@command.command("compact")
@transcript_argument
@output_option
@in_place_option
@session_option
@agent_option()
@click.option("--keep", type=click.IntRange(1), default=8, show_default=True, help="Spoken turns that stay verbatim.")
@click.option("--focus", default="", help="Words whose sentences the summary takes first.")
@click.option("--window", type=int, default=None, help="The model's context in tokens (mem.sessionWindow).")
@click.option("--force", is_flag=True, help="Compact even where it is not due.")
def compact_command(
    transcript: Path, target: Path | None, in_place: bool, session: str, agent: str, keep: int, focus: str,
    window: int | None, force: bool,
) -> None:  # fmt: skip
    """Replace the oldest turns of TRANSCRIPT by a summary.

    They are flushed first. The last turns stay verbatim and every tool call keeps its result. Writes to standard output
    or -o, never over the host's file unless told with --in-place.
    """
    from gitmem.hosts.transcript_editing import compact_transcript
    from gitmem.sessions.automation import end_due_sessions, session_model
    from gitmem.sessions.compaction import compact, compaction_reason
    from gitmem.sessions.lifecycle import Source, flush
    from gitmem.sessions.rolling_summary import render
    from gitmem.sessions.state import summary

    data, conversation = read(transcript)
    repo, config = open_here()
    moment = now()
    say_ended(end_due_sessions(repo, config, moment, conversation, session))
    size = config.session_window if window is None else window
    reason = compaction_reason(
        conversation.turns, size, config.session_reserve, config.session_soft, config.session_share
    )
    flush(
        repo, config, conversation, Source(session, agent, place(transcript)), now=moment,
        model=session_model(repo, config, moment, os.environ),
    )  # fmt: skip
    if not reason and not force:
        say("git mem: compaction is not due; --force compacts all the same")
        put(data, transcript, target, in_place)
        return
    rewritable(conversation)
    compaction = compact(conversation.turns, keep=keep)
    text = render(summary(repo.common_dir, conversation, session, keep=keep), focus=focus)
    put(compact_transcript(data, compaction.kept, compaction.dropped, text), transcript, target, in_place)
    dropped = counted(len(compaction.dropped), "turn")
    say(f"git mem: {dropped} summed up, {len(compaction.kept)} kept ({reason or 'forced'})")


@command.command("prune")
@transcript_argument
@output_option
@in_place_option
@click.option(
    "--ttl", type=click.IntRange(0), default=600, show_default=True, help="Seconds a tool result stays whole."
)
@click.option("--hard", is_flag=True, help="Clear old tool results instead of trimming them.")
def prune_command(transcript: Path, target: Path | None, in_place: bool, ttl: int, hard: bool) -> None:
    """Shorten old tool results of TRANSCRIPT.

    The last three turns of the assistant keep theirs. Masks secrets, and writes to standard output or -o, over
    TRANSCRIPT only with --in-place.
    """
    from gitmem.hosts.transcript_editing import prune_transcript
    from gitmem.sessions.compaction import prune

    data, conversation = read(transcript)
    rewritable(conversation)
    pruned = prune(conversation.turns, now=now(), ttl=timedelta(seconds=min(ttl, MAX_AGE_SECONDS)), hard=hard)
    put(prune_transcript(data, conversation.turns, pruned), transcript, target, in_place)


def rewritable(conversation: Transcript) -> None:
    """Raise UsageError for a transcript that is one JSON object: only a file with a line for each turn can be
    rewritten."""
    if not conversation.lines:
        raise UsageError("a transcript that is one JSON object is read, not rewritten")


def put(data: bytes, source: Path, target: Path | None, in_place: bool) -> None:
    """Write a transcript with its secrets masked: to `target`, over `source` if `in_place`, else to stdout. Raises
    UsageError for options that do not go together, GitMemError if it cannot be written."""
    from gitmem.gate.policy import Policy
    from gitmem.gate.redaction import redact
    from gitmem.hosts.transcript_editing import mask_transcript

    if in_place and (target or str(source) == "-"):
        raise UsageError("--in-place replaces TRANSCRIPT itself", "leave -o away, and name a file")
    masked = mask_transcript(data, lambda text: redact(text, "transcript", Policy(), only_secrets=True))
    if masked.changed_lines:
        say(f"git mem: a secret was masked in {masked.changed_lines} of its entries")
    result = source if in_place else target
    if result is None:
        sys.stdout.buffer.write(masked.data)
        return
    result = writable_file(result)
    temporary = result.with_name(f".{result.name}.gitmem-{os.getpid()}")
    try:
        temporary.write_bytes(masked.data)
        os.chmod(temporary, 0o600)
        os.replace(temporary, result)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise GitMemError(f"cannot write '{result}': {error.strerror}") from None


@command.command("start")
@agent_option()
@json_option
def start_command(agent: str, as_json: bool) -> None:
    """Print the context of a new session, and what is left open."""
    from gitmem.context.checkpoint import checkpoint
    from gitmem.context.request import build_context, request_of
    from gitmem.sessions.automation import end_due_sessions

    repo, config = open_here({"agent": agent})
    moment = now()
    ended = end_due_sessions(repo, config, moment)
    request = request_of(config, "", without_layers=frozenset(("working",)))
    context = build_context(repo, config, request, moment, environ=os.environ, cache=cache_folder())
    for note in context.notes:
        say(f"git mem: {note}")
    checkpoint_text = "\n".join(section.text for section in checkpoint(repo, config, moment))
    if as_json:
        write_json({**json_object(context), "checkpoint": checkpoint_text or None, "reset": ended})
    else:
        say_ended(ended)
        page("\n".join(text for text in (context.text, checkpoint_text) if text) + "\n")


@command.command("hook", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("event")
@click.option("--host", default="claude", show_default=True, help=f"Whose JSON it is: {', '.join(HOSTS_WITH_HOOKS)}.")
@click.option("--user", is_flag=True, help="The hook stands in the person's own settings, not in a project's.")
def hook_command(event: str, host: str, user: bool) -> None:
    """Handle EVENT of an agent's host.

    Reads the host's JSON from standard input and always ends with 0. EVENT is SessionStart, UserPromptSubmit, Stop,
    PreCompact, SessionEnd or SubagentStart. What is none is said on standard error: to a host, the exit code of a
    mistyped word would stop the turn.
    """
    from gitmem.cli.host_hooks import handle_event

    handle_event(event, host, user=user)


for value_command in (set_command, get_command, list_command):
    command.add_command(value_command)
