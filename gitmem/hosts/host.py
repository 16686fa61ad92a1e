"""The description of an agent's host (Claude Code, Codex, ...). Each `hosts/<host>.py` fills in one `Host`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.hosts.transcript import Transcript, Turn

if TYPE_CHECKING:
    from sqlite3 import Connection

HOOK_COMMAND = "git-mem session hook"  # begins the command that we register in a host's hooks
USER_OPTION = "--user"  # option of that command in the person's own settings
Entry = Mapping[str, Any]  # one JSON object of a transcript: a line, or a message
SKILLS = (".agents/skills/", "SKILL.md")  # agentskills.io

# Hook event, by Claude Code's name -> time limit in seconds. That of SessionEnd is only a default: `Hooks.end_seconds`
# of a host decides it.
EVENT_SECONDS = {
    "SessionStart": 10, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 30, "SessionEnd": 1, "SubagentStart": 10,
}  # fmt: skip
# The events of every host with hooks.
COMMON_EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
WITH_SUBAGENTS = (*COMMON_EVENTS, "SubagentStart")  # of hosts that give context to the agents they start


@dataclass(frozen=True, slots=True)
class Place:
    """The position of an entry in a transcript. `id`: of the entry. `line`: 1-based. `at`: its time, None if it has
    none."""

    id: str
    line: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Entries:
    """How to read and rewrite a transcript with one JSON object on each line.

    `read(entry, place)`: the turns of an entry; None for an entry of an unknown form. `shorten(entry, call, text)`:
    replaces the result of the tool call `call` by `text`, in the entry itself. `summary(like, last, text)`: a new entry
    of the user with `text`, in the form of the removed entry `like`; `last` is the last removed entry.
    `session(entry)`: the session id that an entry states, else "". `is_silent(entry)`: whether an entry is known and
    has no turns, such as a status line. `repeats_answer(entry)`: whether the host itself wrote the agent's message
    before this entry, such as a summary.
    """

    read: Callable[[Entry, Place], Iterable[Turn] | None]
    shorten: Callable[[dict[str, Any], str, str], None]
    summary: Callable[[Entry, Entry, str], dict[str, Any]]
    session: Callable[[Entry], str] = lambda entry: ""
    is_silent: Callable[[Entry], bool] = lambda entry: False
    repeats_answer: Callable[[Entry], bool] = lambda entry: False


@dataclass(frozen=True, slots=True)
class InsertedText:
    """Text that a host inserts into a person's messages, such as our context. It is removed when a session is read.

    `tags`: patterns of the names of tags around inserted text. `blocks`: patterns of other inserted text; the first
    match of each is removed. `notes`: beginnings of messages that are not the person's at all.
    """

    tags: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def settings_in(folder: str) -> tuple[str, ...]:
    """Globs of the settings files (JSON, TOML, YAML) directly in a folder."""
    return tuple(f"{folder}/*.{ending}" for ending in ("json", "jsonc", "toml", "yaml", "yml"))


def hook_specific_output(event: str, text: str) -> dict[str, Any]:
    """A hook's answer that adds `text` to the context, in Claude Code's form, which several hosts read."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of a host: how our command is registered, and how it reads an event and answers.

    Registration. `events`: event of EVENT_SECONDS -> the host's name of it, for each event that calls our command.
    `grouped`: commands stand in groups, as in Claude Code. `typed`: each has `"type": "command"`. `milliseconds`: time
    limits are in milliseconds, not seconds. `end_seconds`: the time limit of SessionEnd.

    Event. The `..._fields` are keys of the event's JSON; the first key that is present counts.
    `session_fields`: the session id. `prompt_fields`: the prompt. `prompt_text`: turns the prompt of the event into the
    text that the person typed. `turn_fields`: the person's and the agent's message, at the end of a turn.
    `project_fields`: the root of the project, or a list of roots. `project_variables`: environment variables with that
    root. `workspace_field`: the folder whose memory files the host loads, when it is not the project's.
    `plugin_variable`: the environment variable that says that the hook belongs to a plugin of the person and runs in
    every project.
    `starts_at_prompt`: the host ignores the answer to SessionStart, so the first prompt is answered with both contexts.
    `prompt_in_transcript`: the event has no prompt; the last turn of the transcript is the prompt if a person wrote it.
    `compacts_each_request`: the host sends PreCompact before each request; only the first of a turn counts.

    Transcript. `transcript_fields`: keys with the path of the transcript. `transcript_files`: globs of that file below
    the home folder, with `{session}` for the session id, for a host whose events name no file. `transcript(event)`: the
    transcript from the event itself, for a host that puts it there.

    Answer. `answer(event, text)`: what our command prints to add `text` to the context; a dict is printed as JSON.
    """

    events: Mapping[str, str]
    answer: Callable[[str, str], dict[str, Any] | str] = hook_specific_output
    grouped: bool = True
    typed: bool = True
    milliseconds: bool = False
    end_seconds: int = 10  # the command only starts another process, which writes the episode
    session_fields: tuple[str, ...] = ("session_id", "sessionId")
    prompt_fields: tuple[str, ...] = ("prompt",)
    prompt_text: Callable[[str], str] = str
    turn_fields: tuple[str, ...] = ()
    starts_at_prompt: bool = False
    prompt_in_transcript: bool = False
    transcript_fields: tuple[str, ...] = ("transcript_path",)
    transcript_files: tuple[str, ...] = ()
    transcript: Callable[[Mapping[str, Any]], bytes | None] | None = None
    compacts_each_request: bool = False
    workspace_field: str = ""
    project_variables: tuple[str, ...] = ()
    project_fields: tuple[str, ...] = ()
    plugin_variable: str = ""


@dataclass(frozen=True, slots=True)
class Setup:
    """What to write into a host's settings.

    `root`: the memory's folder, for a host that starts servers in another folder; "" for the host's own folder.
    `program`: the name of git-mem on the host's PATH, or an absolute path without spaces. `remove`: remove our entries
    instead. `user`: write to the person's own settings, for all projects. `posix`: a POSIX shell runs the hooks, so
    that a command can end with 0 if the program is missing.
    """

    root: str = ""
    program: str = "git-mem"
    remove: bool = False
    posix: bool = True
    user: bool = False


@dataclass(frozen=True, slots=True)
class RegistrationFile:
    """A settings file that our entries are written to.

    `path`: from the project's root, or from the home folder with `~/`. `rewrite(host, path, text, setup)`: the text
    with our entries, or without them for `setup.remove`. `names_us`: a text with our entries contains our name.
    `only_with`: a folder of the project; if it is missing `install` does not write the file, because the product is not
    used there; "" to write the file always.
    """

    path: str
    rewrite: Callable[[Host, str, str, Setup], str]
    names_us: bool = True
    only_with: str = ""


@dataclass(frozen=True, slots=True)
class OwnMemory:
    """The memory that a host keeps by itself, outside the repository.

    `where(home, root)`: the folder for the project at `root`, None if the host has none for it. `setting`: the key in
    the file `settings` (a path in the project, private to a person) that names another folder; "" if the host has no
    such key.
    """

    where: Callable[[Path, Path], Path | None]
    settings: str = ""
    setting: str = ""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session in a host's database. `start`: None if unknown. `project`: the folder that it worked in, "" if
    unknown."""

    id: str
    start: datetime | None
    project: str


@dataclass(frozen=True, slots=True)
class SessionDatabase:
    """The SQLite databases in which a host keeps sessions.

    `paths`: globs of the files, from the home folder. `sessions(connection)`: the sessions of one database.
    `transcript(connection, id)`: the bytes of a session's transcript; raises OSError, with a sentence as its text, if
    the session cannot be read.
    """

    paths: tuple[str, ...]
    sessions: Callable[[Connection], Iterable[StoredSession]]
    transcript: Callable[[Connection, str], bytes]


@dataclass(frozen=True, slots=True)
class Reads:
    """The files, and folders ending in "/", that a host gives to its agents, in any folder: `instructions`, `commands`,
    `agents`, output `styles` and `skills`. `imports`: files among them whose `@path` the host replaces by another file.
    """

    instructions: tuple[str, ...]
    commands: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Host:
    """An agent's host.

    `name`: its name in commands, such as `claude`. `programs`: names of its program on the PATH.

    Registration. `registration`: the files of a project that our entries are written to. `personal`: the same in the
    person's own settings, for all projects. `personal_tools`: the command that registers our tools for all projects,
    for a host without such a file; "" if not needed. `hooks`: None for a host without hooks. `trust`: what the host
    asks a person before it runs our hooks, "" for nothing. `validator`: the command that checks the host's settings.
    `below`: the host's name for people, if our hooks do not run when the host is started below the project's root;
    "" if they run there too. `tools_below`: whether our tools work there.

    Files of a project. `reads`: what the host gives to its agents; the gate scans these files and those that they
    import. `loads`: memory files that the host loads by itself, so that a context leaves them out. `settings`: globs of
    files that name the servers and commands it starts (`**` crosses "/"); a review lists a change of these first.
    `authors`: globs, in lower case, of names and e-mails under which the host's agent commits.

    Sessions. `transcripts`: globs of transcript files, from the home folder. `entries`: how to read transcripts of one
    JSON object a line; None for a host that has none. `whole`: reads a transcript that is one JSON object; it returns
    None for any other bytes. `inserted`: text that the host adds to messages. `database`: where sessions are, besides
    or instead of files. `own_memory`: the memory that the host keeps by itself.
    """

    name: str
    registration: tuple[RegistrationFile, ...]
    reads: Reads
    hooks: Hooks | None = None
    entries: Entries | None = None
    whole: Callable[[bytes], Transcript | None] | None = None
    inserted: InsertedText = InsertedText()
    loads: tuple[str, ...] = ("AGENTS.md",)
    settings: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    transcripts: tuple[str, ...] = ()
    database: SessionDatabase | None = None
    programs: tuple[str, ...] = ()
    trust: str = ""
    validator: tuple[str, ...] = ()
    personal: tuple[RegistrationFile, ...] = ()
    below: str = ""
    tools_below: bool = False
    personal_tools: str = ""
    own_memory: OwnMemory | None = None

    @property
    def hook_form(self) -> Hooks:
        """`hooks` of a host that has hooks."""
        assert self.hooks is not None
        return self.hooks

    @property
    def instructions(self) -> tuple[str, ...]:
        """All files and folders whose texts the host gives to its agents."""
        reads = self.reads
        files = (*reads.instructions, *reads.commands, *reads.agents, *reads.styles, *reads.skills)
        return tuple(dict.fromkeys(files))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that our entries are written to, in a project or with `~/` in the home folder."""
        return tuple(file.path for file in self.registration)
