"""`git mem add`: write one line of memory."""

from __future__ import annotations

import os
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
from gitmem.memory.snapshot import hint_for_ignored, read_work_tree
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
def command(**parameters: Any) -> None:
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
    options = AddOptions(**parameters)
    repo, config = open_here()
    config = with_kept_data(config, options.keep)
    text = " ".join(options.text)
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")  # the gate refuses what is no UTF-8
    if options.edit:
        text = _edited(repo, text)
    elif not options.text:
        raise UsageError("say what to add", 'git mem add "what happened", or git mem add --edit')
    if options.to in OTHER_MEMORIES:
        if options.cites:
            raise UsageError("--cites goes without --to organisation and user", "that memory has no such code")
        if options.commit:
            raise UsageError("--commit goes without --to organisation and user", "there the line is a commit already")
        if options.topic:
            raise UsageError("--topic goes without --to organisation and user", "say in the words what they are about")
        _offer(config, text, options)
        return
    if options.dry_run:
        raise UsageError("--dry-run goes with --to organisation or user")
    _add(repo, config, text, options)


def _add(repo: Repository, config: Config, text: str, options: AddOptions) -> None:
    """Write the line, commit it with `--commit`, and print the result and how many files are no longer searched.
    Raises Refused by the gate, and the other errors of `writing.add` and `citation_pairs`."""
    searched_before = _notes(repo, config)
    new_line = writing.NewLine(
        text,
        options.kind or "",
        to=options.to,
        agent=options.agent,
        origin=options.origin or "",
        tags=options.tags,
        topic=options.topic,
        more=citation_pairs(repo, options.cites),
    )
    oid = ""
    if options.commit:

        def message_of(written: str) -> str:
            return message_of_line(written, new_line.agent or config.agent)

        added, oid, has_other_edits = writing.add_and_commit(repo, config, new_line, message_of, now=now())
    else:
        added, has_other_edits = writing.add(repo, config, new_line, now=now()), False
    _report(repo, added, oid, options, has_other_edits=has_other_edits)
    if searched_before and (dropped := len(searched_before - _searched(repo, config))):
        files = counted(dropped, "other Markdown file is", "other Markdown files are")
        say(f"note: memory is what is in memory/ from now on; {files} no longer searched")
        say("hint: git mem init --adopt keeps them searched and gated")


def _report(repo: Repository, added: writing.Added, oid: str, options: AddOptions, *, has_other_edits: bool) -> None:
    """Print the place of the line, its masks and its rivals. `oid`: its commit, "" without one. `has_other_edits`:
    whether that commit has other edits of the file too."""
    if options.as_json:
        answer = json_object(added)
        if options.commit:
            answer["commit"] = oid or None
        write_json(answer)
    else:
        write(f"{added.path}:{added.line}\n")
        if oid:
            say(f"committed {oid[:12]}")
        elif options.commit:
            say("it says so already; nothing was committed")
        say_if_detached(repo, oid)
    if has_other_edits:
        say(f"note: other edits of {escape(added.path, '')} that were not committed are in that commit too")
    say_masked(added.masks)
    if added.ignored:
        say(f"note: Git ignores {escape(added.path, '')}, so the line is not searched, and not in the next commit")
        say(f"hint: {hint_for_ignored([added.path])}")
    if not options.as_json:
        say_rivals(added.differs, each=False)


def _edited(repo: Repository, text: str) -> str:
    """`text` as the person edited it in Git's editor, without lines that begin with `#`. Raises UsageError if there
    is neither a terminal nor the variable GIT_EDITOR, and for an empty or unsaved text."""
    if "GIT_EDITOR" not in os.environ and not sys.stdin.isatty():
        raise UsageError("--edit needs a terminal", 'git mem add "what happened"')
    kept_lines = [
        line for line in (edit_text(repo, f"{text}\n{EDITOR_COMMENT}") or "").splitlines() if not line.startswith("#")
    ]
    if not "".join(kept_lines).strip():
        raise UsageError("there is nothing to add: the text was left empty")
    return "\n".join(kept_lines)


def _notes(repo: Repository, config: Config) -> set[str]:
    """The paths of the files that are searched, if there is neither MEMORY.md nor memory/ yet; else an empty set. The
    first line of memory changes which files are searched."""
    if repo.root is None or (repo.root / "MEMORY.md").exists() or (repo.root / "memory").exists():
        return set()
    return _searched(repo, config)


def _searched(repo: Repository, config: Config) -> set[str]:
    """The paths of the files that are searched."""
    return set(read_work_tree(repo, config.memory_paths).file_stats)


def _offer(config: Config, text: str, options: AddOptions) -> None:
    """Offer the line to another memory, and print the outcome."""
    from gitmem.cli.forge_access import forge_client  # a line for this memory needs no forge
    from gitmem.review import contribution

    offer = contribution.offer(
        config,
        options.to,
        writing.NewLine(text, options.kind or "", agent=options.agent, origin=options.origin or "", tags=options.tags),
        contribution.PushAccess(now(), os.environ, forge_client),
        cache=cache_folder(),
        dry_run=options.dry_run,
    )
    say_masked(offer.masks)
    if options.as_json:
        write_json(offer)
        return
    branch_text = f" on {offer.branch}, to {offer.base}" if offer.branch else ""
    say(escape(f"{options.to}: {offer.state}{branch_text}", ""))
    if offer.then:
        write(escape(offer.then, "") + "\n")
    elif offer.pull:
        write(escape(offer.pull.url, "") + "\n")
