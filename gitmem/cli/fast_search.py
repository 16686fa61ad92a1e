"""Run `git mem search` without click, whose import takes a fifth of the time of a cold search.

Only plain spellings are read (OPTIONS, each value as a word of its own), with the same result as click's; a test
compares the two. Everything else (`--opt=value`, `-n5`, `--`, an invalid value, `-h`) is left to click.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# option -> (its name as a parameter of the command, kind); `several` are lists.
OPTIONS: dict[str, tuple[str, str]] = {
    "-n": ("limit", "number"),
    "--limit": ("limit", "number"),
    "--at": ("at", "text"),
    "--path": ("paths", "several"),
    "--type": ("types", "several"),
    "--tag": ("tags", "several"),
    "--since": ("since", "text"),
    "--until": ("until", "text"),
    "--expired": ("expired", "flag"),
    "--history": ("history", "flag"),
    "--history-only": ("history_only", "flag"),
    "--budget": ("budget", "number"),
    "--all": ("everything", "flag"),
    "--json": ("as_json", "flag"),
    "--jsonl": ("jsonl", "flag"),
}
LIMITS = {"limit": (1, 1000), "budget": (0, 1_000_000_000)}  # (least, most) of each number


def options_of(words: Sequence[str]) -> dict[str, Any] | None:
    """The options that these words set, by parameter name, as `search_output.request_of` takes them; None if click must
    read the words."""
    query: list[str] = []
    values: dict[str, Any] = {}
    remaining = iter(words)
    for word in remaining:
        if not word.startswith("-"):
            query.append(word)
            continue
        name, kind = OPTIONS.get(word, ("", ""))
        if kind == "flag":
            values[name] = True
            continue
        value = next(remaining, "-")
        if not name or value.startswith("-"):
            return None
        if kind == "several":
            values[name] = (*values.get(name, ()), value)
        elif kind == "text":
            values[name] = value
        else:
            if not (value.isascii() and value.isdigit() and len(value) < 10):
                return None
            least, most = LIMITS[name]
            if not least <= int(value) <= most:
                return None
            values[name] = int(value)
    if not query:
        return None
    return {"query": tuple(query), **values}


def search(words: Sequence[str]) -> int | None:
    """Run `git mem search WORDS` and return its exit code; None, with nothing done, if click must read the words."""
    options = options_of(words)
    if options is None:
        return None
    from gitmem.cli.exits import run_command

    def run() -> None:
        from gitmem.environment import open_environment, start_lookup

        lookup = start_lookup()  # git runs while the rest is imported
        import gitmem.search.search  # noqa: F401
        from gitmem.cli.search_output import answer, request_of
        from gitmem.cli.terminal import say_warnings

        repo, config = open_environment(lookup=lookup)
        try:
            say_warnings(config.warnings)
            answer(*request_of(options), repo, config)
        finally:
            repo.close()

    return run_command(run, "git mem search")
