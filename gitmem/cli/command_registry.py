"""The registry of commands: name -> (module, section of the help). One file a command,
imported only when run.

Each module has a `command: click.Command`; docs/contributing.md says what to touch to add one.
"""

from __future__ import annotations

from keyword import iskeyword

COMMANDS: dict[str, str] = {}
SECTIONS: dict[str, tuple[str, ...]] = {
    "Write": ("init", "add", "insight", "edit", "confirm", "settle", "forget", "undo", "redact"),
    "Find": ("search", "seen", "show", "log", "changes", "bisect", "why", "context", "ui"),
    "Gate": ("scan", "allow", "verify", "check"),
    "Promote": ("promote", "consolidate", "revert", "review"),
    "Share": ("publish", "sync", "export", "server"),
    "Agents": ("mcp", "session", "receipts", "import", "profile", "watch"),
    "Index": ("index", "status", "doctor", "eval"),
    "Set up": ("help", "setup", "install", "uninstall", "config", "completion", "merge-driver", "hook", "action"),
}
for _section in SECTIONS.values():
    for _name in _section:
        COMMANDS[_name] = f"gitmem.cli.commands.{_name.replace('-', '_')}" + ("_" if iskeyword(_name) else "")

# The commands that `git mem -h` lists, with their summaries: the list is shown without importing any command, and a
# test compares each summary with the first sentence of its command.
EVERYDAY: dict[str, str] = {
    "setup": "Set a memory up in FOLDER, step by step.",
    "add": "Append TEXT to today's log, or to MEMORY.md by its type.",
    "search": "Find the lines that answer QUERY, by words and by meaning.",
    "show": "Print lines A to B of the memory file PATH, numbered.",
    "why": "Say where the line at PATH:LINE comes from.",
    "context": "Assemble what a model should know for PROMPT.",
    "promote": "Promote lasting facts from daily logs to MEMORY.md.",
    "review": "Review what BASE..HEAD changes in memory.",
    "scan": "Scan memory for what must not be there.",
    "status": "Show how memory, its index and its gate stand.",
    "undo": "Take back the last thing that git mem wrote in this work tree.",
    "uninstall": "Leave git mem: take out its hooks and registrations.",
}

# What a person types who knows another tool -> the command that does it here: its spelling may be near to none or to
# a wrong one.
MEANT: dict[str, str] = {
    word: command
    for command, words in {
        "add": "remember write save store note new create append put insert memorize memorise learn record",
        "search": "find grep query ask recall lookup retrieve",
        "forget": "delete remove rm drop",
        "edit": "update replace modify change correct",
        "show": "read get cat view open list ls",
        "log": "history journal",
        "changes": "diff",
        "why": "blame source explain",
        "undo": "restore rollback reset",
        "redact": "mask clean",
        "scan": "lint audit",
        "index": "reindex rebuild build",
        "publish": "push",
        "sync": "pull fetch",
        "server": "serve",
        "ui": "web browse page",
        "doctor": "fix repair",
    }.items()
    for word in words.split()
}
