"""Makes the shell commands by which a machine runs `git mem sync` regularly: a systemd user timer or a launchd agent.

This module writes no file. A person reads the printed commands and pastes them.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from gitmem.errors import UsageError

TIMERS = ("systemd", "launchd")
MINUTES = 15


def timer(kind: str, root: Path, python: str, minutes: int = MINUTES, remote: str = "") -> str:
    """The shell commands that set up a timer for the repository at `root`, and as a comment those that remove it.

    `kind`: one of TIMERS. `python`: the interpreter to run. `minutes`: between two runs. `remote`: "" for the branch's
    own. Raises UsageError for a path that the files of the timer cannot hold.
    """
    if not str(root).isprintable() or str(root).endswith("\\"):
        raise UsageError("a timer cannot be made for a folder of such a name", "rename the folder")
    name = _timer_name(root)
    command = [python, "-P", "-m", "gitmem", "sync", *filter(None, [remote]), "--commit", "--quiet"]
    if kind == "systemd":
        return _systemd(name, root, command, minutes)
    return _launchd(name, root, command, minutes)


def timer_files(root: Path, environ: Mapping[str, str]) -> list[Path]:
    """The existing files of timers of the repository at `root`, by the names that `timer` gives them."""
    home = Path(environ.get("HOME", "~")).expanduser()
    systemd = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "systemd/user"
    name = _timer_name(root)
    places = (systemd / f"{name}.timer", home / "Library/LaunchAgents" / f"{name}.plist")
    return [place for place in places if place.is_file()]


def _timer_name(root: Path) -> str:
    """The name of the timer: with the folder's name and a hash of its path, so that folders of one name have different
    timers."""
    word = re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-")[:30]
    return "-".join(filter(None, ("git-mem-sync", word, hashlib.sha256(bytes(root)).hexdigest()[:6])))


def _systemd(name: str, root: Path, command: list[str], minutes: int) -> str:
    """The shell commands for a systemd user timer, with the commands that remove it as comments."""
    words = " ".join(_unit_word(word) for word in command)
    service = f"""[Unit]
Description=git mem sync of {_unit_text(root.name)}

[Service]
Type=oneshot
WorkingDirectory={_unit_text(str(root))}
ExecStart={words}
"""
    clock = f"""[Unit]
Description=git mem sync of {_unit_text(root.name)}

[Timer]
OnStartupSec=2min
OnUnitInactiveSec={minutes}min

[Install]
WantedBy=timers.target
"""
    folder = '"${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user"'
    return (
        f"mkdir -p {folder}\n"
        f"printf %s {shlex.quote(service)} > {folder}/{name}.service\n"
        f"printf %s {shlex.quote(clock)} > {folder}/{name}.timer\n"
        f"systemctl --user daemon-reload && systemctl --user enable --now {name}.timer\n"
        f"# what it did: journalctl --user -u {name}\n"
        f"# take it out: systemctl --user disable --now {name}.timer; rm {folder}/{name}.*\n"
    )


def _unit_text(text: str) -> str:
    """Text for a unit file, on one line; `%` is doubled, because it begins a specifier."""
    return " ".join(text.split("\n")).replace("%", "%%")


def _unit_word(word: str) -> str:
    """A word of ExecStart=, quoted by the rules of systemd.service(5)."""
    quoted = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{_unit_text(quoted)}"'


def _launchd(name: str, root: Path, command: list[str], minutes: int) -> str:
    """The shell commands for a launchd agent, with the command that removes it as a comment."""
    words = "".join(f"    <string>{escape(word)}</string>\n" for word in command)
    agent = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{name}</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>WorkingDirectory</key>
  <string>{escape(str(root))}</string>
  <key>StartInterval</key>
  <integer>{minutes * 60}</integer>
</dict>
</plist>
"""
    place = f'"$HOME/Library/LaunchAgents/{name}.plist"'
    return (
        f'mkdir -p "$HOME/Library/LaunchAgents"\nprintf %s {shlex.quote(agent)} > {place}\n'
        f'launchctl bootstrap "gui/$(id -u)" {place}\n'
        f'# take it out: launchctl bootout "gui/$(id -u)/{name}"; rm {place}\n'
    )
