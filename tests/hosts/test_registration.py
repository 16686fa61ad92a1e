"""Registering with a host adds what is ours, keeps what is not, and can be taken back."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import GitMemError
from gitmem.hosts import registration
from gitmem.hosts.host import Setup
from gitmem.hosts.registration import HARMLESS, Change
from gitmem.hosts.registry import HOSTS, host_named


def plan(host: str, texts: dict[str, str], *, root: str = "", remove: bool = False) -> list[Change]:
    return registration.plan(host_named(host), texts, Setup(root, remove=remove))


THEIRS = {
    ".mcp.json": {"mcpServers": {"other": {"command": "x"}}},
    ".claude/settings.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}, "model": "m"},
    ".codex/config.toml": 'model = "m"\n\n[mcp_servers.other]\ncommand = "x"\n',
    ".codex/hooks.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}},
    ".cursor/mcp.json": {"mcpServers": {"other": {}}},
    ".cursor/hooks.json": {
        "version": 1,
        "hooks": {"stop": [{"command": "theirs"}], "afterFileEdit": [{"command": "x"}]},
    },
    ".vscode/mcp.json": {"servers": {"other": {}}},
    ".github/hooks/git-mem.json": {"version": 1, "hooks": {"Stop": [{"type": "command", "command": "theirs"}]}},
    ".gemini/settings.json": {
        "theme": "dark",
        "hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "t"}]}]},
    },
    ".qwen/settings.json": {"tools": {"visible": ["x"]}, "mcpServers": {"other": {"command": "x"}}},
    "opencode.json": {"mcp": {"other": {"type": "local", "command": ["x"]}}},
    ".opencode/plugins/git-mem.js": "",
    "~/.openclaw/openclaw.json": {"mcp": {"servers": {"other": {}}}, "plugins": {"entries": {"theirs": {}}}},
    "~/.openclaw/extensions/git-mem/openclaw.plugin.json": "",
    "~/.openclaw/extensions/git-mem/index.mjs": "",
    ".pi/mcp.json": {"autoEnableCodemode": False, "mcpServers": {"other": {"command": "x"}}},
    ".pi/extensions/git-mem.js": "",
    ".agents/mcp_config.json": {"mcpServers": {"other": {"command": "x"}}},
    ".agents/hooks.json": {"theirs": {"enabled": False, "Stop": [{"command": "x"}]}},
    ".factory/mcp.json": {"mcpServers": {"other": {"type": "stdio", "command": "x"}}},
    ".factory/settings.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}},
    ".kimi-code/mcp.json": {"mcpServers": {"other": {"command": "x"}}},
    "~/.kimi-code/config.toml": 'default_model = "m"\n\n[[hooks]]\nevent = "Stop"\ncommand = "theirs"\n',
    "kilo.json": {"mcp": {"other": {"type": "local", "command": ["x"]}}},
    ".kilo/plugins/git-mem.js": "",
    "~/.cline/data/settings/cline_mcp_settings.json": {"mcpServers": {"other": {"command": "x"}}},
    ".clinerules/hooks/TaskStart": "",
    ".clinerules/hooks/UserPromptSubmit": "",
    "~/.config/goose/config.yaml": "GOOSE_MODE: auto\nextensions:\n    # theirs\n    other:\n        enabled: true\nx: 1\n",
    ".agents/plugins/git-mem/plugin.json": "",
    ".agents/plugins/git-mem/hooks/hooks.json": {"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}},
    ".kiro/settings/mcp.json": {"mcpServers": {"other": {"command": "x"}}},
    ".kiro/hooks/git-mem.json": {"version": "v1", "hooks": [{"name": "theirs", "trigger": "Stop", "action": {}}]},
    "~/.hermes/plugins/git-mem/__init__.py": "",
    "~/.hermes/plugins/git-mem/plugin.yaml": "",
    "~/.hermes/plugins/git-mem/root.json": "",
    "~/.hermes/config.yaml": "memory:\n  provider: ''\nmodel: m",
    "AGENTS.md": "# Rules\n\n- Marmots are counted twice.",
    ".junie/mcp/mcp.json": {"mcpServers": {"other": {"command": "x"}}},
    ".roo/mcp.json": {"mcpServers": {"other": {"command": "x"}}},
    ".amp/settings.json": {"amp.notifications.enabled": True, "amp.mcpServers": {"other": {"command": "x"}}},
    ".continue/mcpServers/git-mem.yaml": "",
    ".warp/.mcp.json": {"mcpServers": {"other": {"command": "x"}}},
    ".zed/settings.json": {"tab_size": 2},
}
THEIRS = {path: text if isinstance(text, str) else json.dumps(text, indent=2) + "\n" for path, text in THEIRS.items()}


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_there_stays_twice_is_once_and_it_can_be_undone(host: str) -> None:
    texts = {path: THEIRS[path] for path in host_named(host).paths}
    done = {**texts, **{change.path: change.text for change in plan(host, texts)}}
    assert done != texts and all("git-mem" in done[path] for path in host_named(host).paths)
    assert plan(host, done) == []
    back = {**done, **{change.path: change.text for change in plan(host, done, remove=True)}}
    assert back == texts


FORMS: dict[str, Callable[[str], str]] = {
    "compact": lambda text: json.dumps(json.loads(text), separators=(",", ":")),
    "one line": lambda text: json.dumps(json.loads(text)) + "\n",
    "tabs": lambda text: json.dumps(json.loads(text), indent="\t") + "\n\n",
    "spaces": lambda text: json.dumps(json.loads(text), indent=4).replace(":", "  :").replace(",", " ,"),
    "windows": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("host", HOSTS)
def test_installing_and_uninstalling_leaves_every_byte_as_it_was(host: str, form: str) -> None:
    shape = FORMS[form]
    texts = {path: THEIRS[path] for path in host_named(host).paths}
    texts = {path: shape(text) if path.endswith(".json") and text else text for path, text in texts.items()}
    done = {**texts, **{change.path: change.text for change in plan(host, texts)}}
    assert all(json.loads(text) for path, text in done.items() if path.endswith(".json"))
    assert {**done, **{change.path: change.text for change in plan(host, done, remove=True)}} == texts


@pytest.mark.parametrize("theirs", ["{}", "{}\n", "\n{}\r\n"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_file_of_a_person_that_held_nothing_is_there_again_after_uninstall(host: str, theirs: str) -> None:
    ours_whole = ("openclaw.plugin.json", "root.json", "git-mem/plugin.json")
    paths = [path for path in host_named(host).paths if path.endswith(".json") and not path.endswith(ours_whole)]
    texts = dict.fromkeys(paths, theirs)
    done = {**texts, **{change.path: change.text for change in plan(host, texts)}}
    assert all("git-mem" in json.dumps(json.loads(done[path])) for path in paths) and plan(host, done) == []
    back = {**done, **{change.path: change.text for change in plan(host, done, remove=True)}}
    assert {path: back[path] for path in paths} == texts
    assert [change for change in plan(host, texts, remove=True) if change.path in paths] == []


@pytest.mark.parametrize(
    "theirs",
    [
        '{"mcpServers": {}}', '{"mcpServers": {}}\n', '{"hooks": {}}', '{"hooks": {}, "mcpServers": {}}\n',
        '{ "mcpServers" : {} }\r\n', '{\n  "mcpServers": {}\n}\n', '{"mcpServers": {}, "hooks": {}, "이름": {}}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("host", ["gemini", "qwen", "droid"])
def test_a_table_of_a_person_that_held_nothing_is_there_again_after_uninstall(host: str, theirs: str) -> None:
    paths = [path for path in host_named(host).paths if path.endswith(".json")]
    texts = dict.fromkeys(paths, theirs)
    done = {**texts, **{change.path: change.text for change in plan(host, texts)}}
    assert all("git-mem" in json.dumps(json.loads(done[path])) for path in paths) and plan(host, done) == []
    back = {**done, **{change.path: change.text for change in plan(host, done, remove=True)}}
    assert {path: back[path] for path in paths} == texts
    assert plan(host, texts, remove=True) == []


def test_an_empty_line_stands_nowhere_but_at_the_beginning() -> None:
    (made,) = [change.text for change in plan("gemini", {".gemini/settings.json": "{}\n"})]
    assert made.startswith("{\n\n  ") and "\n\n" not in made[2:].lstrip() and "\n\n" not in made[3:]


@pytest.mark.parametrize("theirs", ["", "model = 1", "model = 1\n", "model = 1\n\n", "[a]\nb = 1\n"])
def test_a_toml_file_gets_back_every_byte(theirs: str) -> None:
    path = ".codex/config.toml"
    made = next(change.text for change in plan("codex", {path: theirs}) if change.path == path)
    assert plan("codex", {path: made}) == [change for change in plan("codex", {path: made}) if change.path != path]
    back = next(change.text for change in plan("codex", {path: made}, remove=True) if change.path == path)
    assert back == theirs
    more = next(c.text for c in plan("codex", {path: made + "[later]\n"}, remove=True) if c.path == path)
    assert tomllib.loads(more) == {**tomllib.loads(theirs), "later": {}}


@pytest.mark.parametrize("host", HOSTS)
def test_a_program_that_is_not_on_the_path_is_named_by_its_whole_path_and_mended_later(host: str) -> None:
    known = host_named(host)
    there = registration.plan(known, {}, Setup(program="/opt/x/bin/git-mem"))
    texts = {change.path: change.text for change in there}
    started = re.findall(r'(?:"command": \[?|command = |spawn\()\s*"([^"]*)"', "".join(texts.values()))
    assert started and all(command.startswith("/opt/x/bin/git-mem") for command in started)
    again = {**texts, **{change.path: change.text for change in plan(host, texts)}}
    assert again == {change.path: change.text for change in plan(host, {})}


@pytest.mark.parametrize("host", HOSTS)
def test_a_fresh_host_gets_files_of_its_own_and_loses_them_again(host: str) -> None:
    done = {change.path: change.text for change in plan(host, {})}
    assert set(done) == set(host_named(host).paths)
    assert all(change.text == "" for change in plan(host, done, remove=True))


def test_a_file_that_is_not_plain_json_is_left_alone() -> None:
    for text in ("{ // comment\n}", "[]", '{"mcpServers": []}'):
        with pytest.raises(GitMemError):
            plan("cursor", {".cursor/mcp.json": text})
    with pytest.raises(GitMemError):
        plan("codex", {".codex/config.toml": "# >>> git-mem >>>\nx"})
    with pytest.raises(GitMemError):
        plan("cursor", {".cursor/hooks.json": '{"hooks": {"stop": {"command": "x"}}}'})
    with pytest.raises(GitMemError) as refused:
        plan("openclaw", {"~/.openclaw/openclaw.json": "{ mcp: {}, }"})  # JSON5, which OpenClaw reads and we do not
    assert "openclaw mcp set" in refused.value.hint


def hooks_of(host: str) -> dict[str, list[dict[str, Any]]]:
    (change,) = [c for c in plan(host, {}) if c.path.endswith(".json") and "hooks" in json.loads(c.text)]
    found = json.loads(change.text)["hooks"]
    assert isinstance(found, dict)
    return found


def test_hooks_name_every_event_the_host_has_by_its_own_name_with_a_time_limit() -> None:
    ours = {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}
    for host in ("claude", "codex"):
        assert set(hooks_of(host)) == ours | {"SubagentStart"}
        assert all(group[0]["hooks"][0]["timeout"] in (1, 3, 5, 10, 30) for group in hooks_of(host).values())
    gemini = hooks_of("gemini")
    assert set(gemini) == {"SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"}
    asked = gemini["BeforeAgent"][0]["hooks"][0]
    assert asked["timeout"] == 5000 and asked["command"].startswith(
        "git-mem session hook UserPromptSubmit --host gemini "
    )
    cursor = hooks_of("cursor")
    assert set(cursor) == {"sessionStart", "beforeSubmitPrompt", "stop", "preCompact", "sessionEnd"}
    assert cursor["stop"] == [{"command": "git-mem session hook Stop --host cursor" + HARMLESS, "timeout": 10}]
    assert hooks_of("vscode")["SessionStart"][0]["type"] == "command"
    assert set(hooks_of("vscode")) == ours - {"SessionEnd"} | {"SubagentStart"}
    assert set(hooks_of("qwen")) == ours


def commands_in(value: Any) -> list[str]:
    """All commands of hooks in a host's settings."""
    if isinstance(value, dict):
        own = [value["command"]] if isinstance(value.get("command"), str) else []
        return own + [command for inner in value.values() for command in commands_in(inner)]
    return [command for inner in value for command in commands_in(inner)] if isinstance(value, list) else []


def shell_hooks(host: str, setup: Setup) -> list[str]:
    """What the shell runs for a host after registration: a command for each event in JSON or TOML, or a whole script."""
    found = []
    for change in registration.plan(host_named(host), {}, setup):
        if change.text.startswith("#!/bin/sh\n"):
            found.append(change.text)
        elif change.path.endswith((".json", ".toml")):
            value = json.loads(change.text) if change.path.endswith(".json") else tomllib.loads(change.text)
            found += [command for command in commands_in(value) if " session hook " in command]
    return found


# How these hosts call us: a program in JavaScript or Python (tests/hosts/test_extensions.py and its neighbours run it).
EXTENSIONS = {
    "opencode": "plugins/git-mem.js", "kilo": "plugins/git-mem.js", "pi": "extensions/git-mem.js",
    "openclaw": "git-mem/index.mjs", "hermes": "git-mem/__init__.py",
}  # fmt: skip
WITHOUT_HOOKS = [name for name in HOSTS if host_named(name).hooks is None]
WITH_SHELL_HOOKS = [name for name in HOSTS if name not in (*EXTENSIONS, *WITHOUT_HOOKS)]
SHELLS = [shell for name in ("sh", "bash", "dash", "zsh", "fish") if (shell := shutil.which(name))]


@pytest.mark.parametrize("program", ["git-mem", "/opt/gone/bin/git-mem"])
@pytest.mark.parametrize("host", WITH_SHELL_HOOKS)
def test_a_hooks_command_is_harmless_and_silent_where_git_mem_is_not(host: str, program: str, tmp_path: Path) -> None:
    commands = shell_hooks(host, Setup(program=program))
    form = host_named(host).hooks
    assert form is not None
    events = [re.findall(rf"^{re.escape(program)} session hook (\w+)", command, re.M) for command in commands]
    assert sorted(events) == sorted([event] for event in form.events)
    assert all(command.count(HARMLESS) == 1 for command in commands)
    for shell in SHELLS:
        for command in commands:
            done = subprocess.run(
                [shell, "-c", command], input=b"{}", capture_output=True, cwd=tmp_path, env={"PATH": "/nowhere"}
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), (shell, command)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("host", [*EXTENSIONS, *WITHOUT_HOOKS])
def test_a_host_with_an_extension_or_without_hooks_is_given_no_command_for_a_shell(host: str) -> None:
    texts = {change.path: change.text for change in plan(host, {})}
    assert shell_hooks(host, Setup()) == [] and HARMLESS not in "".join(texts.values())
    calls = [path for path, text in texts.items() if '"session", "hook"' in text]
    assert [path.endswith(EXTENSIONS.get(host, "\0")) for path in calls] == [True] * (host in EXTENSIONS)


@pytest.mark.parametrize("script", ["exit 1", "exit 2", "exit 127", "kill -9 $$"])
def test_a_git_mem_that_does_not_start_stops_no_turn(script: str, tmp_path: Path) -> None:
    program = tmp_path / "git-mem"
    program.write_text(f"#!/bin/sh\necho broken >&2\n{script}\n")
    program.chmod(0o755)
    (command, *_) = commands_in(hooks_of("gemini"))
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def without_guard(text: str) -> str:
    return text.replace(HARMLESS, "")


@pytest.mark.parametrize("host", WITH_SHELL_HOOKS)
def test_what_an_older_version_wrote_is_mended_by_installing_again_and_goes_with_uninstall(host: str) -> None:
    texts = {path: THEIRS[path] for path in host_named(host).paths}
    new = {**texts, **{change.path: change.text for change in plan(host, texts)}}
    old = {path: without_guard(text) for path, text in new.items()}
    assert old != new
    assert {**old, **{change.path: change.text for change in plan(host, old)}} == new
    assert {**old, **{change.path: change.text for change in plan(host, old, remove=True)}} == texts


def test_hooks_of_copilot_that_an_older_version_wrote_keep_the_end_of_a_session_for_vscode() -> None:
    path = ".github/hooks/git-mem.json"
    (ours,) = [change.text for change in plan("copilot", {}) if change.path == path]
    (mended,) = [change.text for change in plan("vscode", {path: without_guard(ours)}) if change.path == path]
    assert mended == ours and [change.path for change in plan("vscode", {path: ours})] == [".vscode/mcp.json"]


def test_where_there_is_no_shell_of_posix_the_command_is_the_program_alone() -> None:
    changes = registration.plan(host_named("gemini"), {}, Setup(posix=False))
    assert all("/dev/null" not in change.text and "||" not in change.text for change in changes)


def test_tools_are_there_without_a_search_for_them_where_the_host_can_be_told() -> None:
    told = {"claude": (".mcp.json", "alwaysLoad"), "qwen": (".qwen/settings.json", "alwaysLoadTools")}
    for host, (path, key) in told.items():
        text = next(change.text for change in plan(host, {}) if change.path == path)
        assert json.loads(text)["mcpServers"]["git-mem"][key] is True


OPENCLAW = "~/.openclaw/openclaw.json"


def openclaw(settings: dict[str, Any], root: str = "/home/me/memory", *, remove: bool = False) -> dict[str, Any]:
    """OpenClaw's settings after the plan; as they are where it leaves them."""
    text = json.dumps(settings) if settings else ""
    changes = {change.path: change.text for change in plan("openclaw", {OPENCLAW: text}, root=root, remove=remove)}
    found = json.loads(changes.get(OPENCLAW, text) or "{}")
    assert isinstance(found, dict)
    return found


def test_openclaw_starts_the_server_in_the_memory_and_cursor_keeps_its_version() -> None:
    made = openclaw({})
    assert made["mcp"]["servers"]["git-mem"]["cwd"] == "/home/me/memory"
    assert made["plugins"]["slots"] == {"memory": "git-mem"}
    entry = made["plugins"]["entries"]["git-mem"]
    assert entry["config"] == {"root": "/home/me/memory"} and entry["hooks"] == {"allowConversationAccess": True}
    assert openclaw(made, remove=True) == {}
    cursor = next(c for c in plan("cursor", {}) if c.path == ".cursor/hooks.json")
    assert json.loads(cursor.text)["version"] == 1


def test_openclaw_has_one_memory_and_another_persons_choice_stays() -> None:
    theirs = {"plugins": {"slots": {"memory": "memory-lancedb", "contextEngine": "x"}, "allow": ["theirs"]}}
    with pytest.raises(GitMemError) as refused:
        openclaw(theirs)
    assert "plugins.slots.memory" in refused.value.hint and openclaw(theirs, remove=True) == theirs
    listed = {"plugins": {"allow": ["theirs"]}}
    assert openclaw(listed)["plugins"]["allow"] == ["theirs", "git-mem"]
    assert openclaw(openclaw(listed), remove=True) == listed
    default = {"plugins": {"slots": {"memory": "memory-core"}}}
    assert openclaw(default)["plugins"]["slots"] == {"memory": "git-mem"}
    changed = {"plugins": {"entries": {"git-mem": {"enabled": True, "config": {"root": "/x", "agents": ["main"]}}}}}
    assert openclaw(changed)["plugins"]["entries"]["git-mem"]["config"] == {"root": "/x", "agents": ["main"]}


def test_a_server_that_lacks_what_its_host_needs_is_mended() -> None:
    server = {"command": "git-mem", "args": ["mcp", "--read-only"]}
    mended = openclaw({"mcp": {"servers": {"git-mem": server}}})
    assert mended["mcp"]["servers"]["git-mem"] == {**server, "cwd": "/home/me/memory"}
    assert openclaw(mended, "/home/me/other") == mended
    settings = json.dumps({"mcpServers": {"git-mem": {"command": "git-mem", "args": ["mcp"], "alwaysLoad": False}}})
    assert [made.path for made in plan("claude", {".mcp.json": settings})] == [".claude/settings.json"]


def test_a_plugin_is_ours_as_a_whole_and_another_of_its_name_stays() -> None:
    path = ".opencode/plugins/git-mem.js"
    ours = next(change.text for change in plan("opencode", {}) if change.path == path)
    old = ours + "// of an older version\n"
    assert [change.text for change in plan("opencode", {path: old}) if change.path == path] == [ours]
    theirs = "export const Mine = async () => ({})\n"
    with pytest.raises(GitMemError):
        plan("opencode", {path: theirs})
    assert plan("opencode", {path: theirs}, remove=True) == []


def test_a_server_that_a_person_changed_stays_and_one_of_another_kind_is_not_replaced() -> None:
    changed = {"mcpServers": {"git-mem": {"command": "git-mem", "args": ["mcp", "--read-only"], "env": {"A": "1"}}}}
    text = json.dumps(changed, indent=2) + "\n"
    assert [c.path for c in plan("cursor", {".cursor/mcp.json": text})] == [".cursor/hooks.json"]
    gone = next(c for c in plan("cursor", {".cursor/mcp.json": text}, remove=True) if c.path == ".cursor/mcp.json")
    assert gone.text == ""
    other = json.dumps({"mcpServers": {"git-mem": {"url": "https://mine.example/mcp"}}})
    with pytest.raises(GitMemError):
        plan("cursor", {".cursor/mcp.json": other})
    assert plan("cursor", {".cursor/mcp.json": other}, remove=True) == []


def test_a_file_keeps_its_indentation_and_its_last_line() -> None:
    for theirs in (
        '{\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}',
        '{\n    "mcpServers": {\n        "other": {}\n    }\n}\n',
    ):
        path = ".mcp.json"
        made = next(c.text for c in plan("claude", {path: theirs}) if c.path == path)
        assert '"git-mem"' in made and made.endswith("\n") == theirs.endswith("\n")
        back = next(c.text for c in plan("claude", {path: made}, remove=True) if c.path == path)
        assert back == theirs


def test_a_hook_of_ours_that_a_person_put_beside_theirs_is_one_and_goes_again() -> None:
    path = ".claude/settings.json"
    theirs = {"type": "command", "command": "theirs"}
    text = json.dumps(
        {"hooks": {"Stop": [{"hooks": [theirs, {"type": "command", "command": "git-mem session hook Stop"}]}]}}
    )
    made = next(c.text for c in plan("claude", {path: text}) if c.path == path)
    assert made.count("session hook Stop") == 1 and json.loads(made)["hooks"]["Stop"][0] == {"hooks": [theirs]}
    gone = next(c.text for c in plan("claude", {path: text}, remove=True) if c.path == path)
    assert json.loads(gone) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


@pytest.mark.parametrize("theirs", ["", "# R", "# R\n", "# R\n\n", "# R\r\n\r\ntext", "\n", "---\na: 1\n---\n# 규칙\n"])
def test_a_block_of_agents_md_goes_again_and_leaves_every_byte(theirs: str) -> None:
    made = next(change.text for change in plan("agents-md", {"AGENTS.md": theirs}) if change.path == "AGENTS.md")
    assert made.startswith(theirs) and made.count("memory_search") == 1
    again = [change for change in plan("agents-md", {"AGENTS.md": made}) if change.path == "AGENTS.md"]
    assert again == []
    (gone,) = plan("agents-md", {"AGENTS.md": made}, remove=True)
    assert gone.text == theirs
    (later,) = plan("agents-md", {"AGENTS.md": made + "- more\n"}, remove=True)
    assert later.text.startswith(theirs) and later.text.endswith("- more\n") and "git-mem" not in later.text
    with pytest.raises(GitMemError):
        plan("agents-md", {"AGENTS.md": made.replace("<!-- <<< git-mem <<< -->", "")})


GOOSE = "~/.config/goose/config.yaml"
MAPPINGS = [
    "", "a: 1", "a: 1\n", "a: 1\n\n", "extensions:\n", "extensions: # ours\n  a:\n    b: 1\n",
    "x: 1\nextensions:\n    a: {}\ny: 2\n", "extensions:\n\n  # c\n  a: 1\n",
]  # fmt: skip


@pytest.mark.parametrize("theirs", MAPPINGS)
def test_a_yaml_file_gets_our_entry_in_the_mapping_and_back_every_byte(theirs: str) -> None:
    made = next(change.text for change in plan("goose", {GOOSE: theirs}) if change.path == GOOSE)
    lines = made.splitlines()
    assert [line for line in lines if line.startswith("extensions:")] == [lines[lines.index(_head(lines))]]
    indents = {len(line) - len(line.lstrip()) for line in lines if line.strip() in ("git-mem:", "a:", "a: {}")}
    assert len(indents) <= 1 + ("extensions" not in theirs), "our entry stands beside the others"
    assert all(change.path != GOOSE for change in plan("goose", {GOOSE: made}))
    (gone,) = [change for change in plan("goose", {GOOSE: made}, remove=True) if change.path == GOOSE]
    assert gone.text == theirs


def _head(lines: list[str]) -> str:
    return next(line for line in lines if line.startswith("extensions:"))


@pytest.mark.parametrize(
    "theirs", ["extensions: {}\n", "extensions:", '"extensions": {a: 1}\n', "extensions:\n  git-mem: {}\n"]
)
def test_a_yaml_file_that_cannot_be_extended_surely_is_left_alone(theirs: str) -> None:
    with pytest.raises(GitMemError):
        plan("goose", {GOOSE: theirs})


@pytest.mark.parametrize(
    "text",
    ['mcp_servers = { x = {command="y"} }\n', 'mcp_servers.git-mem.command = "foo"\n', '[mcp_servers."git-mem"]\na = 1\n'],
)  # fmt: skip
def test_toml_that_our_table_would_break_is_left_as_it_is(text: str) -> None:
    with pytest.raises(GitMemError, match=r"left as it is|of its own"):
        registration.plan(host_named("codex"), {".codex/config.toml": text}, Setup())
