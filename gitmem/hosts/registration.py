"""Write our entries into the settings files of agents' hosts: the MCP server and the hooks. Texts in, texts out.

Our entries are one server named `git-mem` and hook commands that begin with `git-mem session hook`; uninstalling
removes exactly these. A project's settings are committed, and not everybody who checks them out has git-mem: a hook's
command then ends with 0 and prints nothing. All other text of a file stays. A file of an unexpected form is refused
with GitMemError. Each host's module names its files and their forms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError
from gitmem.hosts.host import EVENT_SECONDS, HOOK_COMMAND, USER_OPTION, Host, RegistrationFile, Setup
from gitmem.hosts.json_editing import edited, was_empty
from gitmem.json_values import json_keys, parse_json

NAME = "git-mem"
SERVER = {"command": NAME, "args": ["mcp"]}
PERSONAL_SERVER = {"command": NAME, "args": ["mcp", USER_OPTION]}  # it offers no tools in a project without memory
OUR_COMMAND = re.compile(rf"(?:/\S*/)?{HOOK_COMMAND}\b")
# The end of a hook's command in a POSIX shell or fish. Gemini CLI refuses the prompt when a hook ends with 127, and
# shows the standard error of a hook that ends with 0.
HARMLESS = " 2>/dev/null || exit 0"
START, END = "# >>> git-mem >>>", "# <<< git-mem <<<"
INCLUDE = re.compile(r"^// include ([\w.]+)\n", re.M)  # a line of a plugin, replaced by another file's text
MARKDOWN_START, MARKDOWN_END = "<!-- >>> git-mem >>> -->", "<!-- <<< git-mem <<< -->"
Rewrite = Callable[[Host, str, str, Setup], str]  # as in `host.RegistrationFile`


@json_keys("path text?")
@dataclass(frozen=True, slots=True)
class Change:
    """A file to write. `path`: from the project's root, or from the home folder with `~/`. `text`: its new text, "" to
    remove it."""

    path: str
    text: str


def plan(host: Host, texts: Mapping[str, str], setup: Setup, staying: Sequence[Host] = ()) -> list[Change]:
    """The changes of files that register a host, or with `setup.remove` unregister it; [] if nothing changes.

    `texts`: path -> current text, "" or no entry for a missing file. `staying`: other registered hosts, whose entries
    in shared files stay when this host is removed. Raises GitMemError for a file of an unexpected form, or one with
    another server of our name.
    """
    changes = []
    for file in host.registration:
        old = texts.get(file.path, "")
        if setup.remove:
            new = _without_host(host, file, old, setup, staying)
        else:
            new = file.rewrite(host, file.path, old, setup)
        if new != old:
            changes.append(Change(file.path, new))
    return changes


def _without_host(host: Host, file: RegistrationFile, text: str, setup: Setup, staying: Sequence[Host]) -> str:
    """The file's text without this host's entries, but with the entries that the `staying` hosts need. Unchanged if it
    does not name us, or if it is already as the `staying` hosts need it and has no command of this host."""
    if file.names_us and NAME not in text:
        return text
    put_back = replace(setup, remove=False)
    others = [(other, shared.rewrite) for other in staying for shared in other.registration if shared.path == file.path]
    option = command_option(host)
    is_named = bool(option) and option in text
    if others and not is_named and all(rewrite(other, file.path, text, put_back) == text for other, rewrite in others):
        return text  # as a person made it, `--read-only` for one
    text = file.rewrite(host, file.path, text, setup)
    for other, rewrite in others:
        text = rewrite(other, file.path, text, put_back)
    return text


def command_option(host: Host) -> str:
    """The option of a hook's command that names the host, such as ` --host codex`; "" for Claude Code."""
    return "" if host.name == "claude" else f" --host {host.name}"


def load_json(path: str, text: str, hint: str = "add the server by hand (docs/agents.md)") -> dict[str, Any]:
    """The object of a JSON file; {} for an empty text. Raises GitMemError for another JSON value, and with `hint` for a
    text that is not JSON."""
    if not text.strip():
        return {}
    try:
        value = parse_json(text)
    except ValueError:
        raise GitMemError(f"'{path}' is not plain JSON and is left as it is", hint) from None
    if not isinstance(value, dict):
        raise GitMemError(f"'{path}' holds no JSON object and is left as it is")
    return value


def dump_json(value: Mapping[str, Any], like: str = "") -> str:
    """The JSON text of `value`, in the layout of the text `like` (`json_editing`).

    An empty `value` gives "", or `{}` if the file was `{}` before our entries were added.
    """
    if not like.strip():
        if not value:
            return ""
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    before, _, after = like.partition(like.strip())
    if not value:
        if not was_empty(like):
            return ""
        return f"{before}{{}}{after}"
    return edited(like, value)


def table_at(value: dict[str, Any], key: str, path: str) -> dict[str, Any]:
    """The object at `key` of the settings file `path`; an empty one is added if it is missing. Raises GitMemError if
    the value is not an object."""
    table = value.setdefault(key, {})
    if not isinstance(table, dict):
        raise GitMemError(f"'{key}' of '{path}' is no object and is left as it is")
    return table


def others_file(path: str, text: str, setup: Setup) -> str:
    """The unchanged text of a file that is not ours, if our entries are being removed (`setup.remove`); raises
    GitMemError if they are being added."""
    if setup.remove:
        return text
    raise GitMemError(f"'{path}' is not ours and is left as it is", "rename it, then install again")


def json_server(table: str, server: Mapping[str, Any] = SERVER, **extra: Any) -> Rewrite:
    """A function that adds our MCP server to the text of a JSON file, below the key `table`, or removes it (a `rewrite`
    of `RegistrationFile`). `server`: the entry to write; `extra`: further keys.

    An existing entry of ours keeps a person's changes. It gets the current program, and the keys of `extra` that
    it lacks: without them the host starts the server in another folder or hides its tools. The `rewrite` raises
    GitMemError for a file that is no JSON object, if `table` is no object in it, or, unless entries are removed, if
    another program has our name there.
    """

    def rewrite(host: Host, path: str, text: str, setup: Setup) -> str:
        value = load_json(path, text)
        servers = table_at(value, table, path)
        present = servers.get(NAME)
        is_ours = isinstance(present, dict) and _is_our_program(present.get("command"))
        if present is not None and not is_ours and not setup.remove:
            raise GitMemError(f"'{path}' has a git-mem server of another kind", "remove it, or leave it as it is")
        if setup.remove and is_ours:
            del servers[NAME]
        elif not setup.remove:
            entry = {**(present or server), **{key: extra[key] for key in extra if key not in (present or {})}}
            command = entry["command"]
            if isinstance(command, list):
                entry["command"] = [setup.program, *command[1:]]
            else:
                entry["command"] = setup.program
            servers[NAME] = entry
        if not servers and not _was_empty(text, table):
            del value[table]
        return dump_json(value, text)

    return rewrite


def _was_empty(text: str, key: str) -> bool:
    """Whether the object below `key` was there and empty before our entries were added."""
    return bool(text.strip()) and was_empty(text, key)


def _is_our_program(command: Any) -> bool:
    """Whether a server's command (a program, or a list that begins with one) starts git-mem."""
    program = command[0] if isinstance(command, list) and command else command
    return isinstance(program, str) and program.rsplit("/", 1)[-1] == NAME


def hooks_file(host: Host, path: str, text: str, setup: Setup) -> str:
    """The text of a JSON settings file with our hooks added or brought up to date, in Claude Code's form, or removed
    for `setup.remove` (a `rewrite` of `RegistrationFile`); other hooks keep their order. Raises GitMemError if `hooks`
    is of another form, and as `load_json`."""
    form = host.hook_form
    value = load_json(path, text)
    hooks = table_at(value, "hooks", path)
    for name, hook in _our_hooks(host, setup).items():
        present = hooks.get(name, [])
        if not isinstance(present, list):
            raise GitMemError(f"'hooks.{name}' of '{path}' is no list and is left as it is")
        others = map(_without_ours, present)
        rows = [row for row in others if row is not None]
        if not setup.remove:
            rows.append(hook)
        if rows:
            hooks[name] = rows
        else:
            hooks.pop(name, None)
    if hooks and not form.grouped:
        value = {"version": 1, **value}
    if not hooks and not _was_empty(text, "hooks"):
        del value["hooks"]
        if not form.grouped and value == {"version": 1}:
            value = {}
    return dump_json(value, text)


def server_and_hooks(server: Mapping[str, Any] = SERVER, **extra: Any) -> Rewrite:
    """A function that adds both our server (below `mcpServers`) and our hooks to the text of a JSON file, or removes
    them (a `rewrite` of `RegistrationFile`). It raises as `json_server` and `hooks_file`."""
    rewrite = json_server("mcpServers", server, **extra)
    return lambda host, path, text, setup: hooks_file(host, path, rewrite(host, path, text, setup), setup)


def named_hooks_file(host: Host, path: str, text: str, setup: Setup) -> str:
    """The text of a JSON file of named groups of hooks with our hooks as the group `git-mem`, or without that group for
    `setup.remove` (a `rewrite` of `RegistrationFile`). A person's `enabled` in it stays. Raises GitMemError if the
    group is no object, and as `load_json`."""
    value = load_json(path, text)
    present = table_at(value, NAME, path)
    if setup.remove:
        del value[NAME]
    else:
        rows = {name: [hook] for name, hook in _our_hooks(host, setup).items()}
        value[NAME] = {**{key: present[key] for key in present if key == "enabled"}, **rows}
    return dump_json(value, text)


def toml_hooks(host: Host, path: str, text: str, setup: Setup) -> str:
    """The text of a TOML file with a marked block of one `[[hooks]]` table for each of our events, or without it for
    `setup.remove` (a `rewrite` of `RegistrationFile`). Raises GitMemError if the file sets `hooks` in another form, and
    as `toml_block`."""
    if not setup.remove and re.search(r"^hooks\s*=", text, re.M):
        raise GitMemError(f"'hooks' of '{path}' is no array of tables and is left as it is")
    tables = [
        f"[[hooks]]\nevent = {json.dumps(name)}\ncommand = {json.dumps(hook['command'])}\ntimeout = {hook['timeout']}\n"
        for name, hook in _our_hooks(host, setup).items()
    ]
    return toml_block("".join(tables))(host, path, text, setup)


def versioned_hooks_file(host: Host, path: str, text: str, setup: Setup) -> str:
    """The text of a JSON file with a list of hooks, each with a name, a trigger and an action, in which ours are the
    last, or removed for `setup.remove` (a `rewrite` of `RegistrationFile`). Raises GitMemError if `hooks` is no list,
    and as `load_json`."""
    value = load_json(path, text)
    hooks = value.get("hooks", [])
    if not isinstance(hooks, list):
        raise GitMemError(f"'hooks' of '{path}' is no list and is left as it is")
    rows = [row for row in hooks if not (isinstance(row, dict) and str(row.get("name", "")).startswith(f"{NAME} "))]
    for name, hook in () if setup.remove else _our_hooks(host, setup).items():
        action = {"type": "command", "command": hook["command"]}
        rows.append({"name": f"{NAME} {name}", "trigger": name, "action": action, "timeout": hook["timeout"]})
    if not rows and set(value) <= {"version", "hooks"}:
        return dump_json({}, text)
    return dump_json({"version": "v1", **value, "hooks": rows}, text)


def hook_script(event: str) -> Rewrite:
    """A function that returns the text of a shell script of ours that handles one event and always ends with 0, or ""
    for `setup.remove` (a `rewrite` of `RegistrationFile`). For a script that is not ours it raises GitMemError, or
    leaves it as it is if our entries are removed."""

    def rewrite(host: Host, path: str, text: str, setup: Setup) -> str:
        mark = f"# {NAME}: the memory of this project. Written by `git mem install --agent {host.name}`."
        if text and mark not in text:
            return others_file(path, text, setup)
        if setup.remove:
            return ""
        return f"#!/bin/sh\n{mark}\n{_hook(host, event, setup)['command']}\nexit 0\n"

    return rewrite


def yaml_entry(table: str, entry: str) -> Rewrite:
    """A function that adds a marked block with our entry of the mapping `table` to the text of a YAML file, or removes
    it (a `rewrite` of `RegistrationFile`).

    `entry`: YAML without indentation. The mapping must be in block style; a missing mapping is added inside the block.
    The `rewrite` raises GitMemError if our block has no end, and, unless entries are removed, if the file has an entry
    of our name outside of our block, if the mapping is in another style, or if the file ends with the line of its key
    without a line break.
    """

    def rewrite(host: Host, path: str, text: str, setup: Setup) -> str:
        text = _without_block(path, text)
        if setup.remove:
            return text
        if re.search(rf"^\s*['\"]?{NAME}['\"]?\s*:", text, re.M):
            raise GitMemError(f"'{path}' has an entry of our name already", "remove it, or leave it as it is")
        own_entry = entry.replace(f'"{NAME}"', json.dumps(setup.program))
        head = re.search(rf"^{re.escape(table)}:[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)", text, re.M)
        if head is None:
            if re.search(rf"^['\"]?{re.escape(table)}['\"]?\s*:", text, re.M):
                raise GitMemError(f"'{table}' of '{path}' is no block mapping and is left as it is")
            block = [START, f"{table}:", *(f"  {line}" for line in own_entry.splitlines()), END]
            return text + ("\n" if text else "") + "\n".join(block) + "\n"
        if not head[0].endswith("\n"):
            raise GitMemError(f"'{path}' ends in the middle of a line and is left as it is")
        following = re.search(r"^([ \t]*)[^\s#]", text[head.end() :], re.M)
        indent = (following[1] if following else "") or "  "
        block = [indent + line for line in (START, *own_entry.splitlines(), END)]
        return text[: head.end()] + "\n".join(block) + "\n" + text[head.end() :]

    return rewrite


def _without_block(path: str, text: str) -> str:
    """The YAML text without our block, and without the line break that was added before a block at the margin. Raises
    GitMemError if the block has no end."""
    match = re.search(rf"(^|\n)([ \t]*){re.escape(START)}\n.*?{re.escape(END)}(?:\n|\Z)", text, re.DOTALL)
    if match is None:
        if START in text:
            raise GitMemError(f"the git-mem block of '{path}' has no end and is left as it is")
        return text
    line_break = match[1] if match[2] else ""  # inside a mapping the line break is that of the line before
    return text[: match.start()] + line_break + text[match.end() :]


def markdown_block(block: str) -> Rewrite:
    """A function that puts our marked block at the end of a Markdown text, from any other place too, or removes it (a
    `rewrite` of `RegistrationFile`). `block`: Markdown that ends with a line break. The `rewrite` raises GitMemError if
    our block has no end."""

    def rewrite(host: Host, path: str, text: str, setup: Setup) -> str:
        before, start, remainder = text.partition(MARKDOWN_START)
        if start:
            _, end, after = remainder.partition(MARKDOWN_END + "\n")
            if not end:
                raise GitMemError(f"the git-mem block of '{path}' has no end and is left as it is")
            text = before.removesuffix("\n") + ("\n" if after and not before.endswith("\n\n") else "") + after
        if setup.remove:
            return text
        return text + ("\n" if text else "") + f"{MARKDOWN_START}\n{block}{MARKDOWN_END}\n"

    return rewrite


def _our_hooks(host: Host, setup: Setup) -> dict[str, dict[str, Any]]:
    """The host's name of each of our events -> the entry of our hook (`_hook`)."""
    return {name: _hook(host, event, setup) for event, name in host.hook_form.events.items()}


def _hook(host: Host, event: str, setup: Setup) -> dict[str, Any]:
    """The entry of our hook for an event, in the form of the host: `command` and `timeout`, with `type` if the host
    wants it; inside `{"hooks": [...]}` for a host with groups."""
    form = host.hook_form
    words = f"{setup.program}{HOOK_COMMAND.removeprefix(NAME)} {event}{command_option(host)}"
    if setup.user:
        words = f"{words} {USER_OPTION}"
    command: dict[str, Any] = {"command": words + (HARMLESS if setup.posix else "")}
    seconds = form.end_seconds if event == "SessionEnd" else EVENT_SECONDS[event]
    command["timeout"] = seconds * (1000 if form.milliseconds else 1)
    if form.typed:
        command = {"type": "command", **command}
    if form.grouped:
        return {"hooks": [command]}
    return command


def _without_ours(row: Any) -> Any:
    """A hook command or a group of commands without our commands; None if nothing is left. Any other value is
    unchanged."""
    commands = row.get("hooks", [row]) if isinstance(row, dict) else None
    if not isinstance(commands, list):
        return row
    other_hooks = [
        hook for hook in commands if not (isinstance(hook, dict) and OUR_COMMAND.match(str(hook.get("command", ""))))
    ]
    if len(other_hooks) == len(commands):
        return row
    if not other_hooks:
        return None
    return {**row, "hooks": other_hooks}


def own_file(source: Path, names: Mapping[str, str] | None = None) -> Rewrite:
    """A function that returns the text of the file `source`, for a settings file that is all ours (a `rewrite` of
    `RegistrationFile`). A file is ours if it has the first line of `source`.

    A line `// include NAME` stands for the text of the file NAME beside `source`. Each key of `names` is replaced by
    its value, and `"git-mem"` in `spawn("git-mem"` by the setup's program. If our entries are removed, our file becomes
    "", and another file stays as it is; else the `rewrite` raises GitMemError for a file that is not ours.
    """

    def included(line: re.Match[str]) -> str:
        return source.with_name(line[1]).read_text(encoding="utf-8")

    def rewrite(host: Host, path: str, text: str, setup: Setup) -> str:
        own_text = INCLUDE.sub(included, source.read_text(encoding="utf-8"))
        for old, new in (names or {}).items():
            own_text = own_text.replace(old, new)
        own_text = own_text.replace(f'spawn("{NAME}"', f"spawn({json.dumps(setup.program)}")
        if text and text.partition("\n")[0] != own_text.partition("\n")[0]:
            return others_file(path, text, setup)
        if setup.remove:
            return ""
        return own_text

    return rewrite


def _is_toml(text: str) -> bool:
    """Whether the text is valid TOML."""
    import tomllib

    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True


def toml_block(block: str) -> Rewrite:
    """A function that puts our marked block at the end of a TOML text, from any other place too, or removes it (a
    `rewrite` of `RegistrationFile`). `block`: TOML that ends with a line break. The `rewrite` raises GitMemError if our
    block has no end, or if the file has a server of our name or tables that exclude ours."""

    def rewrite(host: Host, path: str, text: str, setup: Setup) -> str:
        before, start, remainder = text.partition(START)
        if start:
            _, end, after = remainder.partition(END)
            if not end:
                raise GitMemError(f"the git-mem block of '{path}' has no end and is left as it is")
            before, after = before.removesuffix("\n"), after.removeprefix("\n")
            text = before + ("\n" if before and after and not before.endswith("\n") else "") + after
        if setup.remove:
            return text
        if "[mcp_servers.git-mem]" in text:
            raise GitMemError(f"'{path}' has a git-mem server of its own already", "remove it, or leave it as it is")
        own_block = block.replace(f'"{NAME}"', json.dumps(setup.program), 1)
        new_text = text + ("\n" if text else "") + f"{START}\n{own_block}{END}\n"
        if _is_toml(text) and not _is_toml(new_text):  # the table is already there in another spelling
            problem = f"'{path}' has tables that ours does not go with, and is left as it is"
            raise GitMemError(problem, "add the server by hand (docs/agents.md)")
        return new_text

    return rewrite
