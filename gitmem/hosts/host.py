"""What is known of one agent's host, as values: the form that hosts/<host>.py fills in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.hosts.transcript import Transcript, Turn

if TYPE_CHECKING:
    from sqlite3 import Connection

OURS = "git-mem session hook"  # what our commands in a host's hooks say
USER = "--user"  # the option of our commands in a person's own settings
Entry = Mapping[str, Any]  # one line of a transcript, or one message of it
READS = ("instructions", "commands", "agents", "styles", "skills", "imports")  # the keys of `Host.reads`
SKILLS = (".agents/skills/", "SKILL.md")  # agentskills.io

# Hook events, by Claude Code's names, and the seconds each may take (SessionEnd is given 1.5 s by the host itself).
EVENT_SECONDS = {
    "SessionStart": 10, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 30, "SessionEnd": 1, "SubagentStart": 10,
}  # fmt: skip
# Those that every host with hooks has in some form.
COMMON_EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
WITH_SUBAGENTS = (*COMMON_EVENTS, "SubagentStart")  # of those that give the agents they start context of their own


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands: its id, 1-based line and time."""

    id: str
    line: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a host's transcript, a JSON object a line: how they are read, and how they are written again.

    `read` gives the turns of an entry, None for one of another form. `shorten` puts a text in the place of a tool's
    result (the id of its call is the second argument), in the entry itself. `summary` is a user's entry in the form of
    one that was dropped, with the id of the last that was, and the text. `session` is the session's id where an
    entry states it, else "". Entries for which `is_silent` holds are understood and say nothing. Before one for which
    `repeats_answer` holds, what stands as the agent's last words was written by the host.
    """

    read: Callable[[Entry, Place], Iterable[Turn] | None]
    shorten: Callable[[dict[str, Any], str, str], None]
    summary: Callable[[Entry, Entry, str], dict[str, Any]]
    session: Callable[[Entry], str] = lambda entry: ""
    is_silent: Callable[[Entry], bool] = lambda entry: False
    repeats_answer: Callable[[Entry], bool] = lambda entry: False


@dataclass(frozen=True, slots=True)
class InsertedText:
    """What a host writes in a person's name. `tags` are patterns of the names of tags it puts around such text, our
    context among it; `blocks` are patterns of other text (its first match is taken out); a turn that begins with one
    of `notes` is the host's as a whole."""

    tags: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def settings_in(folder: str) -> tuple[str, ...]:
    """Globs of the files of settings, of any form, that stand in a folder itself."""
    return tuple(f"{folder}/*.{ending}" for ending in ("json", "jsonc", "toml", "yaml", "yml"))


def hook_specific_output(event: str, text: str) -> dict[str, Any]:
    """Claude Code's form of an answer that adds `text` to the context; others took it over."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


@dataclass(frozen=True, slots=True)
class Hooks:
    """A host's own hooks.

    `events` gives the host's name for those of EVENT_SECONDS it has and takes an answer to. `answer` is what it reads
    on standard output, from its name of the event and the text to add: an object as JSON, or a text as it is. Commands
    stand in groups (`grouped`), say that they are commands (`typed`), and have a time limit in seconds or
    `milliseconds`. `starts_at_prompt`: the host adds no context at the start of a session, so the first prompt is
    answered with that context too. `prompt_in_transcript`: the event before a prompt does not hold it; the prompt is
    the last turn of the transcript where that turn is the person's. `transcript_files`: globs of the session's
    transcript from home, with `{session}` in the place of its id, for a host whose events name no file.
    """

    events: Mapping[str, str]
    answer: Callable[[str, str], dict[str, Any] | str] = hook_specific_output
    grouped: bool = True
    typed: bool = True
    milliseconds: bool = False
    end_seconds: int = 10  # the time limit of SessionEnd: only what starts the process that writes the episode
    session_fields: tuple[str, ...] = ("session_id", "sessionId")  # of the event's JSON, the first that is there
    prompt_fields: tuple[str, ...] = ("prompt",)  # of the event's JSON before a prompt, the first that is there
    prompt_text: Callable[[str], str] = str  # what the person typed of a prompt, from what the event gives as it
    turn_fields: tuple[str, ...] = ()  # of that at the end of a turn: what the person said, what the agent answered
    starts_at_prompt: bool = False
    prompt_in_transcript: bool = False
    transcript_fields: tuple[str, ...] = ("transcript_path",)  # of the event's JSON: the transcript's path
    transcript_files: tuple[str, ...] = ()
    transcript: Callable[[Mapping[str, Any]], bytes | None] | None = None  # of the event's JSON, which holds it itself
    compacts_each_request: bool = False  # PreCompact comes before every request: only the first of a turn is acted on
    workspace_field: str = ""  # of the event's JSON: the folder whose memory files it loads, where it may be another
    project_variables: tuple[str, ...] = ()  # of the environment, with the root of the host's project
    project_fields: tuple[str, ...] = ()  # of the event's JSON, with the same: a folder or a list of them
    plugin_variable: str = ""  # of the environment, in a hook of a plugin: it runs in every project of its person


@dataclass(frozen=True, slots=True)
class Setup:
    """What is registered: the memory's folder `root`, for a host that starts servers elsewhere, and the `program` it
    starts, a name on its PATH or a whole path without a space; or, with `remove`, that all of it is taken out. `posix`:
    hooks are run by a shell of POSIX, and their commands say what happens where the program is not there. `user`: it is
    registered in the person's own settings, for all projects."""

    root: str = ""
    program: str = "git-mem"
    remove: bool = False
    posix: bool = True
    user: bool = False


@dataclass(frozen=True, slots=True)
class RegistrationFile:
    """A file a host is registered in: its path from the project (or home, with `~/`), and `rewrite`, which gives its
    text with our entries, or without them: (host, path, text, setup) -> text. `names_us`: a text that holds our entries
    has our name in it. `only_with`: a folder of the project without which `install` leaves the file out, for a product
    that may not be used there; "" for always."""

    path: str
    rewrite: Callable[[Host, str, str, Setup], str]
    names_us: bool = True
    only_with: str = ""


@dataclass(frozen=True, slots=True)
class OwnMemory:
    """A host's own memory: `where` gives the folder it keeps for a project, from a person's home and
    the project's root, None where there is none; `setting` is the key of `settings` (a path in
    the project that is one person's alone) by which it keeps it elsewhere, "" where it has none."""

    where: Callable[[Path, Path], Path | None]
    settings: str = ""
    setting: str = ""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session in a database: its id, when it began, and the folder it worked in ("" where it does not say)."""

    id: str
    start: datetime | None
    project: str


@dataclass(frozen=True, slots=True)
class SessionDatabase:
    """The SQLite databases a host keeps sessions in: where they are, as globs from the person's home folder, the
    sessions of one, and one session in the form of a transcript. `transcript` may raise OSError with a sentence."""

    paths: tuple[str, ...]
    sessions: Callable[[Connection], Iterable[StoredSession]]
    transcript: Callable[[Connection, str], bytes]


@dataclass(frozen=True, slots=True)
class Host:
    """All that is known of a host.

    `hooks` is None for one without, `entries` None for one whose transcripts are not lines; `whole` reads those that
    are one JSON object (None for any other). `loads` are the memory files it loads by itself, left out of a context.
    `reads` are the files, and the folders (with "/" at the end), in any folder of a project, that it gives its agents:
    for each of READS what its documentation names, () for nothing; the gate scans them. `imports` are those of them
    whose `@path` it replaces by another file, which is scanned too.
    `settings` are globs of the files, there too, that name the servers
    and commands it starts (`*` crosses no "/", `**` does): a review tells of a change there first.
    `authors` are names and e-mails (globs, lower case) under which its agent is the author or co-author of commits.
    `transcripts` are globs of the files it keeps its sessions in, from the person's home folder; () where it has none.
    `database` is where it keeps them besides, or now. `programs` are names of which one is on the PATH of a person who
    has the host, `trust` what it asks of a person before it runs our hooks, and `validator` the command with which it
    checks its own settings; "" and () where it has none. `personal` are the files of the person's own settings that it
    can be registered in for all projects, `below` is its name for people where it lacks our hooks when it is
    started in a folder below the project's, "" where it lacks nothing, `tools_below` whether it has our tools there,
    `own_memory` is what it remembers by itself, and `personal_tools` the command that gives it our tools in all
    projects, where that is none of these files.
    """

    name: str
    registration: tuple[RegistrationFile, ...]
    reads: Mapping[str, tuple[str, ...]]
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
    def instructions(self) -> tuple[str, ...]:
        """All that it gives its agents, whatever it calls it."""
        return tuple(dict.fromkeys(path for what in READS if what != "imports" for path in self.reads[what]))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it is registered in."""
        return tuple(file.path for file in self.registration)
