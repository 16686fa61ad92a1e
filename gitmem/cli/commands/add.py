"""`git mem add`: write one line of memory."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any, NamedTuple

import click

from gitmem.claims.anchoring import citation_pairs
from gitmem.cli import completions
from gitmem.cli.options import (
    agent_option,
    cites_option,
    json_option,
    keep_option,
    open_here,
    say_if_detached,
    with_kept_data,
)
from gitmem.cli.terminal import edit_text, escape, say, say_masked, say_rivals, write, write_json
from gitmem.config import Config
from gitmem.environment import cache_folder, now
from gitmem.errors import UsageError
from gitmem.git.opening import Repository
from gitmem.json_values import json_object
from gitmem.memory import writing
from gitmem.memory.fact import ORIGINS, TYPES
from gitmem.memory.snapshot import read_work_tree
from gitmem.memory.writing import NewLine
from gitmem.plural import counted
from gitmem.provenance.trailers import message_of_line

OTHER_MEMORIES = ("organisation", "user")  # values of --to that offer the line to another memory
EDITOR_COMMENT = "# One line of memory. Lines that begin with # are left out; an empty text adds nothing.\n"


class AddOptions(NamedTuple):
    """The text and options of one line, as `git mem add -h` has them.

    `kind`: `--type`; `kind`, `origin`: None for none. `to`: "auto", "daily", "memory", a path, or the name of another
    memory. `agent`: "" for `mem.agent`. `keep`: "pii", or None: personal data is masked.
    """

    text: tuple[str, ...]
    kind: str | None
    to: str
    agent: str
    origin: str | None
    tags: tuple[str, ...]
    topic: str
    cites: tuple[str, ...]
    keep: str | None
    commit: bool
    edit: bool
    dry_run: bool
    as_json: bool


@click.command()
@click.argument("text", nargs=-1)
@click.option("--type", "kind", type=click.Choice(TYPES), metavar="TYPE", help=f"One of {', '.join(TYPES)}.")
@click.option(
    "--to",
    default="auto",
    metavar="PLACE",
    help="auto (by type), daily, memory, a path; organisation, user: offered as a branch.",
)
@agent_option("Who writes: its own daily log (mem.agent).")
@click.option("--origin", type=click.Choice(ORIGINS), help="Whose words; tool and web are never promoted unseen.")
@click.option("--tag", "tags", multiple=True, shell_complete=completions.tags, help="A tag; repeatable.")
@click.option(
    "--topic",
    default="",
    help="What the line is about: in a log its heading `## HH:MM - TOPIC`, elsewhere `about=TOPIC` in its comment.",
)
@cites_option()
@keep_option()
@click.option("--edit", is_flag=True, help="Write or change the text in Git's editor first.")
@click.option("--commit", is_flag=True, help="Commit the file, and nothing else.")
@click.option("--dry-run", is_flag=True, help="With --to organisation or user: say what would be offered.")
@json_option
def command(**given: Any) -> None:
    """Append TEXT to today's log, or to MEMORY.md by its type.

    Prints where it stands. Types that last (decisions, rules and so on) go to MEMORY.md.

    A secret or an instruction aimed at the model is refused (exit 1); with `mem.onSecret=mask` secrets are masked
    instead, as personal data is unless --keep pii; what was masked is said. Without --commit nothing is committed. TEXT
    `-` reads standard input, in UTF-8.

    With --to organisation (or user) the line is offered to that memory (mem.organisation, mem.personal): a commit on a
    branch of its own, pushed, with a pull request where GITHUB_TOKEN or GH_TOKEN is set; never on its main branch.

    \b
    git mem add "deployed v2.3.0 to staging"
    git mem add --type decision "We use REST webhooks: easier to debug" --commit
    git mem add --edit --type rule
    git mem add --to organisation "Invoices are in UTC"
    """
    options = AddOptions(**given)
    repo, config = open_here()
    config = with_kept_data(config, options.keep)
    words = " ".join(options.text)
    if words == "-":
        words = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")  # the gate refuses what is no UTF-8
    if options.edit:
        words = _edited(repo, words)
    elif not options.text:
        raise UsageError("say what to add", 'git mem add "what happened", or git mem add --edit')
    if options.to in OTHER_MEMORIES:
        if options.cites:
            raise UsageError("--cites goes without --to organisation and user", "that memory has no such code")
        if options.commit:
            raise UsageError("--commit goes without --to organisation and user", "there the line is a commit already")
        if options.topic:
            raise UsageError("--topic goes without --to organisation and user", "say in the words what they are about")
        _offer(config, words, options)
        return
    if options.dry_run:
        raise UsageError("--dry-run goes with --to organisation or user")
    _add(repo, config, words, options)


def _add(repo: Repository, config: Config, words: str, options: AddOptions) -> None:
    """Write the line, commit it with `--commit`, and print its place, its masks and how many files are no longer
    searched. Raises Refused by the gate, and the other errors of `writing.add` and `citation_pairs`."""
    before = _notes(repo, config)
    line = writing.NewLine(
        words,
        options.kind or "",
        to=options.to,
        agent=options.agent,
        origin=options.origin or "",
        tags=options.tags,
        topic=options.topic,
        more=citation_pairs(repo, options.cites),
    )
    commit = ""
    if options.commit:

        def message_of(text: str) -> str:
            return message_of_line(text, line.agent or config.agent)

        added, commit, others = writing.add_and_commit(repo, config, line, message_of, now=now())
    else:
        added, others = writing.add(repo, config, line, now=now()), False
    if options.as_json:
        value = json_object(added)
        if options.commit:
            value["commit"] = commit or None
        write_json(value)
    else:
        write(f"{added.path}:{added.line}\n")
        if commit:
            say(f"committed {commit[:12]}")
        elif options.commit:
            say("it says so already; nothing was committed")
        say_if_detached(repo, commit)
    if others:
        say(f"note: other edits of {escape(added.path, '')} that were not committed are in that commit too")
    say_masked(added.masks)
    if added.ignored:
        say(f"note: Git ignores {escape(added.path, '')}, so the line is not searched, and not in the next commit")
        say(f"hint: git add --force -- {shlex.quote(added.path)}, or take the rule out of .gitignore")
    if not options.as_json:
        say_rivals(added.differs, each=False)
    dropped = before and len(before - _searched(repo, config))
    if dropped:
        files = counted(dropped, "other Markdown file is", "other Markdown files are")
        say(f"note: memory is what is in memory/ from now on; {files} no longer searched")
        say("hint: git mem init --adopt keeps them searched and gated")


def _edited(repo: Repository, words: str) -> str:
    """`words` as the person edited them in Git's editor, without lines that begin with `#`. Raises UsageError if there
    is neither a terminal nor the variable GIT_EDITOR, and for an empty or unsaved text."""
    if "GIT_EDITOR" not in os.environ and not sys.stdin.isatty():
        raise UsageError("--edit needs a terminal", 'git mem add "what happened"')
    kept = [
        line for line in (edit_text(repo, f"{words}\n{EDITOR_COMMENT}") or "").splitlines() if not line.startswith("#")
    ]
    if not "".join(kept).strip():
        raise UsageError("there is nothing to add: the text was left empty")
    return "\n".join(kept)


def _notes(repo: Repository, config: Config) -> set[str]:
    """The paths of the files that are searched, if there is neither MEMORY.md nor memory/ yet; else an empty set. The
    first line of memory changes which files are searched."""
    if repo.root is None or (repo.root / "MEMORY.md").exists() or (repo.root / "memory").exists():
        return set()
    return _searched(repo, config)


def _searched(repo: Repository, config: Config) -> set[str]:
    """The paths of the files that are searched."""
    return set(read_work_tree(repo, config.memory_paths).file_stats)


def _offer(config: Config, words: str, options: AddOptions) -> None:
    """Offer the line to another memory, and print the outcome."""
    from gitmem.cli.forge_access import forge_client  # a line for this memory needs no forge
    from gitmem.review import contribution

    offered = contribution.offer(
        config,
        options.to,
        NewLine(words, options.kind or "", agent=options.agent, origin=options.origin or "", tags=options.tags),
        contribution.PushAccess(now(), os.environ, forge_client),
        cache=cache_folder(),
        dry_run=options.dry_run,
    )
    say_masked(offered.masks)
    if options.as_json:
        write_json(offered)
        return
    branches = f" on {offered.branch}, to {offered.base}" if offered.branch else ""
    say(escape(f"{options.to}: {offered.state}{branches}", ""))
    if offered.then:
        write(escape(offered.then, "") + "\n")
    elif offered.pull:
        write(escape(offered.pull.url, "") + "\n")
