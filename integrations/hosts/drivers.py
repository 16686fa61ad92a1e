"""How each host is started for one prompt: its command, its environment, its settings for a scripted model."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MODEL = "scripted"


@dataclass
class Scratch:
    """The folders of one run: an empty home, the project, and where the programs are. `url` is the endpoint's;
    `replaced` are the files of the home that were written again, as they were before."""

    home: Path
    project: Path
    programs: Path
    url: str
    environ: dict[str, str] = field(default_factory=dict)
    replaced: dict[Path, bytes] = field(default_factory=dict)

    def write(self, path: str, value: object) -> None:
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            self.replaced.setdefault(target, target.read_bytes())
        target.write_text(value if isinstance(value, str) else json.dumps(value, indent=2), encoding="utf-8")

    def restore(self) -> None:
        """Put back the files that were written again: what made a host compact once must not hold for what follows."""
        for target, data in self.replaced.items():
            target.write_bytes(data)
        self.replaced.clear()


@dataclass(frozen=True)
class Driver:
    """One host. `prompt` gives the command for a prompt, one argument as a person types it, in the session before
    (`resume`) or a new one; `compact` the command that compacts the session, None where nothing can make it.

    `screen`: the command that opens the host's screen with a first prompt. `new`: the lines that are typed there
    for a new session. `leave`: what is typed there to leave. `needs_screen`: a prompt is given on the screen too,
    because without one a session of the host has no end. `messages`: the command that says several messages, one after
    the other, in place of a screen. `bare`: the command for a prompt where git-mem cannot be started; None: `prompt`.
    `none`: for a cell that the host cannot fill, the reason.
    """

    name: str
    package: str
    prepare: Callable[[Scratch], dict[str, str]]
    prompt: Callable[[str, bool], list[str]]
    compact: Callable[[Scratch], list[str]] | None = None
    screen: Callable[[str], list[str]] | None = None
    new: Sequence[str] = ("/new",)
    leave: str = "/quit"
    needs_screen: bool = False
    messages: Callable[[Sequence[str]], list[str]] | None = None
    bare: Callable[[str], list[str]] | None = None
    none: Mapping[str, str] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()  # cells that nothing can be said of: a run from a command line has no such event


def _claude(scratch: Scratch) -> dict[str, str]:
    scratch.write(".claude/settings.json", {
        "enableAllProjectMcpServers": True, "skipDangerousModePermissionPrompt": True})  # fmt: skip
    scratch.write(".claude.json", {
        "hasCompletedOnboarding": True, "bypassPermissionsModeAccepted": True, "theme": "dark",
        "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        "projects": {str(scratch.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    })  # fmt: skip
    return {
        "ANTHROPIC_BASE_URL": scratch.url, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        # On a slow machine the first answer is else without the tools: it waits five seconds for a server.
        "MCP_CONNECT_TIMEOUT_MS": "90000", "CLAUDE_CODE_MCP_STARTUP_WAIT_MS": "90000",
    }  # fmt: skip


def _claude_prompt(text: str, resume: bool) -> list[str]:
    return ["claude", "-p", text, "--dangerously-skip-permissions", *(["--continue"] if resume else [])]


def _claude_screen(text: str) -> list[str]:
    return ["claude", text, "--dangerously-skip-permissions"]


def _codex(scratch: Scratch) -> dict[str, str]:
    scratch.write(
        ".codex/config.toml",
        f"""model = "{MODEL}"
model_provider = "scripted"
model_auto_compact_token_limit = 1000000
[model_providers.scripted]
name = "scripted"
base_url = "{scratch.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[projects."{scratch.project}"]
trust_level = "trusted"
""",
    )
    return {"SCRIPTED_KEY": "none"}


# Codex waits for no server but a required one, and asks its first question without the tools of one that is late.
FREE = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
CODEX = [*FREE, "-c", "mcp_servers.git-mem.required=true", "-c", "mcp_servers.git-mem.startup_timeout_sec=90"]


def _codex_prompt(text: str, resume: bool) -> list[str]:
    return ["codex", "exec", *CODEX, *(["resume", "--last"] if resume else []), text]


def _codex_compact(scratch: Scratch) -> list[str]:
    limit = ["-c", "model_auto_compact_token_limit=50"]  # of 100 tokens that every answer says it took
    return ["codex", "exec", *CODEX, *limit, "resume", "--last", "Go on."]


def _codex_screen(text: str) -> list[str]:
    """Without settings of our server: the screen reads them also apart from the project's, and stops at a server
    without a command."""
    return ["codex", *FREE, "-c", "check_for_update_on_startup=false", text]


def _codex_bare(text: str) -> list[str]:
    return ["codex", "exec", *FREE, text]


def _gemini(scratch: Scratch) -> dict[str, str]:
    _gemini_settings(scratch, 0.9)
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": scratch.url, "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true"}  # fmt: skip


def _gemini_settings(scratch: Scratch, threshold: float) -> None:
    scratch.write(".gemini/settings.json", {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False},
        "model": {"compressionThreshold": threshold},
    })  # fmt: skip


def _gemini_prompt(text: str, resume: bool) -> list[str]:
    return ["gemini", "--yolo", "-m", "gemini-2.5-flash", *(["--resume", "latest"] if resume else []), "-p", text]


def _gemini_compact(scratch: Scratch) -> list[str]:
    _gemini_settings(scratch, 0.00001)  # of a million tokens; every answer says that it took 100
    return _gemini_prompt("Go on.", True)


def _gemini_screen(text: str) -> list[str]:
    return ["gemini", "--yolo", "-m", "gemini-2.5-flash", "-i", text]


def _copilot(scratch: Scratch) -> dict[str, str]:
    scratch.write(
        ".copilot/config.json", {"trusted_folders": [str(scratch.project)], "trustedFolders": [str(scratch.project)]}
    )
    return {"COPILOT_PROVIDER_BASE_URL": f"{scratch.url}/v1", "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_MODEL": "gpt-5", "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false"}  # fmt: skip


def _copilot_prompt(text: str, resume: bool) -> list[str]:
    return ["copilot", "--allow-all-tools", *(["--continue"] if resume else []), "-p", text]


def _copilot_screen(text: str) -> list[str]:
    return ["copilot", "--allow-all-tools", "-i", text]


def _qwen(scratch: Scratch) -> dict[str, str]:
    scratch.write(".qwen/settings.json", {
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False},
    })  # fmt: skip
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{scratch.url}/v1", "OPENAI_MODEL": MODEL,
            "QWEN_CODE_LEGACY_MCP_BLOCKING": "1"}  # fmt: skip  # a person sees when the servers are there, a script not


def _qwen_prompt(text: str, resume: bool) -> list[str]:
    return ["qwen", "--yolo", *(["--continue"] if resume else []), "-i", text]


def _qwen_screen(text: str) -> list[str]:
    return _qwen_prompt(text, False)


def _qwen_compact(scratch: Scratch) -> list[str]:
    return ["qwen", "--yolo", "--continue", "-p", "/compress"]


def _opencode(scratch: Scratch) -> dict[str, str]:
    _opencode_settings(scratch, 200_000)
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _opencode_settings(scratch: Scratch, window: int, path: str = ".config/opencode/opencode.json") -> None:
    scratch.write(path, {
        "autoupdate": False, "model": f"scripted/{MODEL}", "small_model": f"scripted/{MODEL}", "share": "disabled",
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible", "name": "scripted",
            "options": {"baseURL": f"{scratch.url}/v1", "apiKey": "none"},
            "models": {MODEL: {"name": MODEL, "limit": {"context": window, "output": 8000}}},
        }},
    })  # fmt: skip


def _opencode_compact(scratch: Scratch) -> list[str]:
    _opencode_settings(scratch, 20_000)  # every answer says that the conversation took that
    return _opencode_prompt("Go on.", True)


def _opencode_prompt(text: str, resume: bool) -> list[str]:
    return ["opencode", "run", "--auto", *(["--continue"] if resume else []), text]


def _opencode_screen(text: str) -> list[str]:
    return ["opencode", "--auto", "--prompt", text]


KILO_SETTINGS = ".config/kilo/kilo.json"


def _kilo(scratch: Scratch) -> dict[str, str]:
    _opencode_settings(scratch, 200_000, KILO_SETTINGS)
    return {"KILO_DISABLE_AUTOUPDATE": "1", "KILO_DISABLE_MODELS_FETCH": "1"}


def _kilo_compact(scratch: Scratch) -> list[str]:
    _opencode_settings(scratch, 20_000, KILO_SETTINGS)
    return _kilo_prompt("Go on.", True)


def _kilo_prompt(text: str, resume: bool) -> list[str]:
    return ["kilo", *_opencode_prompt(text, resume)[1:]]


PORT = 18_997  # of OpenClaw's gateway


def _openclaw(scratch: Scratch) -> dict[str, str]:
    model = {"id": MODEL, "name": MODEL, "contextWindow": 200_000, "maxTokens": 8000}
    scratch.write(".openclaw/openclaw.json", {
        "models": {"providers": {"scripted": {
            "baseUrl": f"{scratch.url}/v1", "apiKey": "none", "api": "openai-completions", "models": [model]}}},
        "agents": {"defaults": {
            "workspace": str(scratch.project), "skipBootstrap": True, "model": {"primary": f"scripted/{MODEL}"},
            "heartbeat": {"every": "0m"}}},
        "tools": {"toolSearch": False}, "gateway": {"mode": "local"},
    })  # fmt: skip
    return {"OPENCLAW_GATEWAY_TOKEN": "scripted", "OPENCLAW_GATEWAY_PORT": str(PORT)}


def _openclaw_gateway(command: str) -> list[str]:
    """A gateway from its start to its end, with one command in between."""
    script = f"""
openclaw gateway run --port {PORT} --bind loopback > $HOME/gateway.log 2>&1 &
until grep -q 'gateway. ready' $HOME/gateway.log; do kill -0 $! || exit 1; sleep 1; done
{command}
kill -TERM $!; wait $!; cat $HOME/gateway.log; rm $HOME/gateway.log
"""
    return ["sh", "-c", script]


def _openclaw_messages(texts: Sequence[str]) -> list[str]:
    said = (f"openclaw agent --agent main --message {shlex.quote(text)}" for text in texts)
    return _openclaw_gateway("\n".join(said))


def _openclaw_prompt(text: str, resume: bool) -> list[str]:
    return _openclaw_messages([text] if resume else ["/new", text])


def _openclaw_compact(scratch: Scratch) -> list[str]:
    return _openclaw_gateway("openclaw sessions compact agent:main:main")


def _pi(scratch: Scratch) -> dict[str, str]:
    _pi_models(scratch, 200_000)
    return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}


def _pi_models(scratch: Scratch, window: int) -> None:
    model = {"id": MODEL, "contextWindow": window, "maxTokens": 4_000}
    scratch.write(".pi/agent/models.json", {"providers": {"scripted": {
        "baseUrl": f"{scratch.url}/v1", "api": "openai-completions", "apiKey": "none",
        "models": [model]}}})  # fmt: skip
    scratch.write(".pi/agent/settings.json", {"compaction": {"keepRecentTokens": 10}})


def _pi_prompt(text: str, resume: bool) -> list[str]:
    model = ["--provider", "scripted", "--model", MODEL]
    return ["pi", "--print", "--approve", *model, *(["--continue"] if resume else []), text]


def _pi_compact(scratch: Scratch) -> list[str]:
    _pi_models(scratch, 30_000)
    return _pi_prompt("Go on.", True)


def _droid(scratch: Scratch) -> dict[str, str]:
    model = {
        "model": MODEL, "id": f"custom:{MODEL}", "displayName": MODEL, "baseUrl": f"{scratch.url}/v1",
        "apiKey": "none", "provider": "generic-chat-completion-api", "maxOutputTokens": 4_000,
    }  # fmt: skip
    scratch.write(".factory/settings.json", {"cloudSessionSync": False, "customModels": [model]})
    return {"FACTORY_API_KEY": "none", "FACTORY_DISABLE_KEYRING": "1"}


def _droid_prompt(text: str, resume: bool) -> list[str]:
    last = '-s "$(basename "$(ls -t "$HOME"/.factory/sessions/*/*.jsonl | head -n 1)" .jsonl)"' if resume else ""
    return ["sh", "-c", f"droid exec --skip-permissions-unsafe -m custom:{MODEL} {last} {shlex.quote(text)}"]


def _kimi(scratch: Scratch) -> dict[str, str]:
    scratch.write(
        KIMI_SETTINGS,
        f"""default_model = "{MODEL}"
[providers.scripted]
type = "openai"
base_url = "{scratch.url}/v1"
api_key = "none"
[models.{MODEL}]
provider = "scripted"
model = "{MODEL}"
max_context_size = 200000
""",
    )
    return {}


KIMI_SETTINGS = ".kimi-code/config.toml"


def _kimi_prompt(text: str, resume: bool) -> list[str]:
    return ["kimi", *(["--continue"] if resume else []), "--prompt", text]


def _kimi_compact(scratch: Scratch) -> list[str]:
    settings = (scratch.home / KIMI_SETTINGS).read_text(encoding="utf-8")  # with our hooks in it by now
    scratch.write(KIMI_SETTINGS, settings.replace("200000", "22000"))
    return _kimi_prompt("Go on.", True)


# What the settings of a host's project are read from.
STARTED_IN = {"subfolder": "it reads the hooks of the folder it was started in alone"}

DRIVERS = (
    Driver("claude", "@anthropic-ai/claude-code", _claude, _claude_prompt,
           lambda _: _claude_prompt("/compact", True), _claude_screen, ("/clear",), "/exit", none=STARTED_IN),
    Driver("codex", "@openai/codex", _codex, _codex_prompt, _codex_compact, _codex_screen,
           ("/new", ""), bare=_codex_bare),
    Driver("gemini", "@google/gemini-cli", _gemini, _gemini_prompt, _gemini_compact, _gemini_screen, ("/clear",),
           none=STARTED_IN),
    Driver("copilot", "@github/copilot", _copilot, _copilot_prompt,
           lambda _: _copilot_prompt("/compact", True), _copilot_screen, ("/clear",), "/exit"),
    Driver("qwen", "@qwen-code/qwen-code", _qwen, _qwen_prompt, _qwen_compact, _qwen_screen, ("/clear",),
           needs_screen=True, none=STARTED_IN),
    Driver("opencode", "opencode-ai", _opencode, _opencode_prompt, _opencode_compact, _opencode_screen,
           leave="/exit"),
    Driver("openclaw", "openclaw", _openclaw, _openclaw_prompt, _openclaw_compact, messages=_openclaw_messages),
    Driver("pi", "@earendil-works/pi-coding-agent", _pi, _pi_prompt, _pi_compact),
    Driver("droid", "droid", _droid, _droid_prompt, unseen=("MCP", "prompt context", "compaction", "resume")),
    Driver("kimi", "@moonshot-ai/kimi-code", _kimi, _kimi_prompt, _kimi_compact, unseen=("MCP", "episode")),
    Driver("kilo", "@kilocode/cli", _kilo, _kilo_prompt, _kilo_compact),
)  # fmt: skip


def program(folder: Path, name: str) -> Path | None:
    """The host's program in the folder of npm's programs, None where it is not installed."""
    found = shutil.which(name, path=str(folder))
    return Path(found) if found else None
