"""The registry of commands: each command's module, section of the help and summary.

One module a command, imported when the command runs. Each module has a `command: click.Command`;
docs/contributing.md says what to touch to add one.
"""

from __future__ import annotations

from keyword import iskeyword

# Section of the help -> command -> its summary, "" for a hidden command. The help and a shell's completion read this
# table and import no command; a test compares each summary with the first sentence of its command's help.
SECTIONS: dict[str, dict[str, str]] = {
    "Write": {
        "init": "Lay out a memory repository in FOLDER (here, or a new folder).",
        "add": "Append TEXT to today's log, or to MEMORY.md by its type.",
        "insight": "Put '[ENTITY] TEXT' first under \"Insights\" in MEMORY.md.",
        "edit": "Replace the text of the fact at PATH:LINE, in one commit.",
        "confirm": "Say that a fact still holds, and cite its code anew.",
        "settle": "List the statements that may not both hold, or say which does.",
        "forget": "Remove the fact at PATH:LINE, in one commit.",
        "undo": "Take back the last thing that git mem wrote in this work tree.",
        "redact": "Mask what `git mem scan` finds in PATHS, in place.",
    },
    "Find": {
        "search": "Find the lines that answer QUERY, by words and by meaning.",
        "seen": "Find past incidents that are like an alert.",
        "show": "Print lines A to B of the memory file PATH, numbered.",
        "log": "Show the daily logs, newest day first.",
        "changes": "List what became of facts from A to B, by file and author.",
        "bisect": "Find the commit that lost or won the answer to QUESTION.",
        "why": "Say where the line at PATH:LINE comes from.",
        "context": "Assemble what a model should know for PROMPT.",
        "ui": "Show memory in a browser: what is believed, and where from.",
    },
    "Gate": {
        "scan": "Scan memory for what must not be there.",
        "allow": "Except the finding FINGERPRINT from the gate, with a reason.",
        "verify": "Check that each promoted fact has its source.",
        "check": "Say which lines the code has left behind.",
    },
    "Promote": {
        "promote": "Promote lasting facts from daily logs to MEMORY.md.",
        "consolidate": "Merge what MEMORY.md says twice, and digest old episodes.",
        "revert": "Remove all facts that derive from one source, in one commit.",
        "review": "Review what BASE..HEAD changes in memory.",
    },
    "Share": {
        "publish": "Push the current branch and open its pull request.",
        "sync": "Make this branch and the one of its name at REMOTE equal.",
        "export": "Write memory in a format that others read.",
        "server": "Serve one search over many repositories, from PostgreSQL.",
    },
    "Agents": {
        "mcp": "Serve memory as MCP tools over standard input and output.",
        "session": "Keep what an agent's session decided.",
        "receipts": "Show what sessions were given of memory.",
        "import": "Import notes, old sessions, bundles or skills of SOURCE.",
        "profile": "Keep several memories apart.",
        "watch": "Refresh the index whenever memory files change.",
    },
    "Index": {
        "index": "Bring the search index up to date.",
        "status": "Show how memory, its index and its gate stand.",
        "doctor": "Check the index and the set-up against what they should be.",
        "eval": "Measure search by questions whose answers are known.",
    },
    "Set up": {
        "help": "Show the help of git mem or of one of its commands.",
        "setup": "Set a memory up in FOLDER, step by step.",
        "install": "Install the Git hooks and the merge driver.",
        "uninstall": "Leave git mem: take out its hooks and registrations.",
        "config": "Show the settings in force and the origin of each value.",
        "completion": "Print the completion script of SHELL.",
        "merge-driver": "Merge THEIRS into OURS, both made from BASE, fact by fact.",
        "hook": "",
        "action": "",
    },
}
SUMMARIES = {name: summary for section in SECTIONS.values() for name, summary in section.items()}
COMMANDS = {  # command -> its module
    name: f"gitmem.cli.commands.{name.replace('-', '_')}" + ("_" if iskeyword(name) else "") for name in SUMMARIES
}

# The commands that `git mem -h` lists.
EVERYDAY = (
    "setup", "add", "edit", "forget", "undo", "search", "show", "why", "context", "promote", "review", "scan",
    "status", "uninstall",
)  # fmt: skip

# The word of another tool -> the command that does the same here, for words whose spelling is near to no command or to
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
