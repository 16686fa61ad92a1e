"""goose: a plugin in .agents/plugins/git-mem, ~/.config/goose/config.yaml, sessions in a database (documentation of
github.com/block/goose: guides/context-engineering/hooks and plugins, guides/config-files; the tables as public readers
of sessions.db describe them). From the documentation; its program is neither on npm nor on PyPI, and was not run here.

goose takes no context from a hook: it gets memory as tools. Its hooks name no transcript: our hook reads the session
from goose's database. In a database with other tables or columns, of another version of goose, `git mem import` finds
no sessions; the hook keeps nothing of the session, and `git mem doctor` shows that it failed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.hosts.entries import role_of, string_at, time_of
from gitmem.hosts.host import SKILLS, Hooks, Host, InsertedText, Reads, RegistrationFile, SessionDatabase, StoredSession
from gitmem.hosts.registration import hooks_file, own_file, yaml_entry
from gitmem.hosts.session_database import read_session
from gitmem.hosts.transcript import Role
from gitmem.json_values import parse_json

if TYPE_CHECKING:
    from sqlite3 import Connection

FOLDER = ".agents/plugins/git-mem"
MANIFEST = Path(__file__).with_name("goose_plugin.json")
EXTENSION = """git-mem:
  enabled: true
  name: git-mem
  type: stdio
  cmd: "git-mem"
  args: [mcp]
  timeout: 300
"""
DATABASE = ".local/share/goose/sessions/sessions.db"


def _stored_sessions(connection: Connection) -> Iterator[StoredSession]:
    """The sessions in the database, the earliest first."""
    for session, created, folder in connection.execute(
        "SELECT id, created_at, working_dir FROM sessions ORDER BY created_at"
    ):
        yield StoredSession(str(session), time_of(created), folder if isinstance(folder, str) else "")


def _stored_transcript(connection: Connection, session: str) -> bytes:
    """A session in the neutral form, without the results of tools."""
    query = "SELECT role, content_json, created_timestamp FROM messages WHERE session_id = ? ORDER BY id"
    rows = []
    for number, (role, content, timestamp) in enumerate(connection.execute(query, (session,)), 1):
        text = _text(content)
        if text and role_of(role) in (Role.USER, Role.ASSISTANT):
            moment = time_of(timestamp)
            rows.append({"id": f"g{number}", "role": role, "text": text, "at": moment.isoformat() if moment else ""})
    return "\n".join(json.dumps({"session": session, **row}) for row in rows).encode()


def _text(content: Any) -> str:
    """The texts of a message, joined by LF. `content`: the JSON text of a list of parts, of which only those of type
    `text` count; "" if there are none or the JSON is not such a list."""
    try:
        parts = parse_json(content)
    except (TypeError, ValueError):
        return ""
    if not isinstance(parts, list):
        return ""
    objects = (part for part in parts if isinstance(part, dict))
    return "\n".join(string_at(part, "text") for part in objects if string_at(part, "type") == "text")


SESSIONS = SessionDatabase((DATABASE,), _stored_sessions, _stored_transcript)


def session_transcript(fields: Mapping[str, Any], database: Path | None = None) -> bytes | None:
    """The transcript of the session that an event names; None if there is no database or no session id. `database`: the
    file, None for the one in the person's home. Raises OSError if the database cannot be read, or has other tables or
    columns."""
    path, session = database or Path.home() / DATABASE, string_at(fields, "session_id")
    if session and path.is_file():
        return read_session(path, SESSIONS, session)
    return None


HOST = Host(
    "goose",
    (RegistrationFile("~/.config/goose/config.yaml", yaml_entry("extensions", EXTENSION)),
     RegistrationFile(f"{FOLDER}/plugin.json", own_file(MANIFEST)),
     RegistrationFile(f"{FOLDER}/hooks/hooks.json", hooks_file)),
    hooks=Hooks({"Stop": "Stop", "SessionEnd": "SessionEnd"}, transcript=session_transcript),
    inserted=InsertedText(tags=("turn-context",)),
    loads=("AGENTS.md", ".goosehints"),
    database=SESSIONS,
    settings=(".agents/plugins/**",),
    authors=("goose", "codename goose"),
    reads=Reads(
        instructions=("AGENTS.md", ".goosehints"),
        agents=(".agents/agents/",),
        skills=(*SKILLS, ".goose/skills/"),
    ),
    programs=("goose",),
)  # fmt: skip
