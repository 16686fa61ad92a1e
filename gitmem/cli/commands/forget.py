"""`git mem forget`: remove one fact, with `--everywhere` all lines that say it, with `--purge` from history too."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import click

from gitmem.cli import completions
from gitmem.cli.hidden_secrets import without_secret_lines
from gitmem.cli.options import at_option, commit_at, json_option, open_here, say_if_detached
from gitmem.cli.places import parse_place
from gitmem.cli.terminal import can_ask, escape, first_names, say, write, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import Exit, Refused, UsageError
from gitmem.git.opening import Repository
from gitmem.index import indexer
from gitmem.json_values import json_object
from gitmem.plural import counted
from gitmem.provenance import corrections, erasure
from gitmem.provenance import purge as history_purge
from gitmem.provenance.corrections import Correction
from gitmem.provenance.purge import Purge, Target
from gitmem.provenance.remaining_copies import remaining_lines, shown_lines
from gitmem.sessions.working_memory import delete_containing
from gitmem.shell_word import shell_word

MAX_NAMED_LINES = 10  # lines that one sentence names; the others are counted
HISTORY = "history, other branches and other clones still hold it"


@click.command()
@click.argument("place", metavar="PATH:LINE", shell_complete=completions.paths)
@click.option("--reason", required=True, metavar="WHY", help="Why it goes; goes into the commit.")
@click.option("--everywhere", is_flag=True, help="Also from logs, episodes, archives and notes that say it.")
@click.option("--purge", is_flag=True, help="Everywhere, and out of history: every commit of this clone is rewritten.")
@at_option("With --purge: the fact that stood there then, forgotten since.")
@click.option("--yes", is_flag=True, help="With --purge: do not ask.")
@click.option("--dry-run", is_flag=True, help="Say what would go, change nothing.")
@json_option
def command(
    place: str, reason: str, everywhere: bool, purge: bool, at: str, yes: bool, dry_run: bool, as_json: bool
) -> int:
    """Remove the fact at PATH:LINE, in one commit.

    It is not promoted again. With --everywhere the same commit removes each line of memory that says it word for word,
    and the log lines it was taken from; in a line that says more, only the text becomes [forgotten]. An episode also
    loses the sentences that surely say it in other words, and the lines of episodes that may say it are named.

    History still holds the text, as Git does. --purge rewrites it, with git-filter-repo: no byte of the text is left in
    this clone, all commits since the text came have new names, and nothing brings it back. For a leaked secret see
    docs/leaked-secret.md.

    \b
    git mem forget MEMORY.md:17 --reason "she asked us to"
    git mem forget MEMORY.md:17 --everywhere --dry-run --reason "she asked us to"
    git mem forget MEMORY.md:17 --purge --dry-run --reason "she asked us to"
    """
    if not purge and (at or yes):
        raise UsageError("--at and --yes go with --purge", "git mem forget -h")
    repo, config = open_here()
    path, line = parse_place(repo, place)
    if purge:
        target = Target(path, line, reason, commit_at(repo, at, now()))
        return _purge(repo, config, target, ask=not yes, dry_run=dry_run, as_json=as_json)
    if everywhere:
        erased = erasure.forget_everywhere(repo, config, path, line, reason, dry_run=dry_run)
        values: list[str] = [] if dry_run else delete_containing(repo.common_dir, erased.texts)
        erased = without_secret_lines(erased)
        if as_json:
            write_json({**erasure.erasure_value(erased), "session_values": values})
        else:
            _show_erasure(erased, dry_run)
            for key in values:
                say(f"the session value {escape(key, '')} said it, and is dropped")
        return Exit.DONE
    correction = corrections.forget(repo, config, path, line, reason, dry_run=dry_run)
    if as_json:
        write_json(without_secret_lines(correction))
    elif dry_run:
        removals = without_secret_lines(correction).removals
        write("".join(f"{escape(item.path, '')}:{line}: - {escape(item.fact.text, '')}\n" for item in removals))
        say(f"1 fact would go{_below(correction)}; nothing was changed")
    else:
        say_if_detached(repo, correction.commit)
        remaining = [place for item in correction.removals for place in remaining_lines(repo, config, item)]
        _show_forgotten(correction, path, line, remaining, shown_lines(repo, config, remaining))
    return Exit.DONE


def _purge(repo: Repository, config: Config, target: Target, *, ask: bool, dry_run: bool, as_json: bool) -> int:
    """Purge after a question, or with `dry_run` print what would be purged. Returns 1 if the text is still somewhere,
    else 0. Raises UsageError if nobody can be asked, Refused if the answer is no."""
    if dry_run or ask:
        planned = history_purge.plan_purge(repo, config, target)
        if not (dry_run and as_json):
            _show_plan(planned)
        if dry_run:
            if as_json:
                write_json(_purge_value(planned, ()))
            else:
                say("nothing was changed")
            return Exit.DONE
        if not can_ask():
            raise UsageError("a purge cannot be undone, and nobody is here to confirm it", "--dry-run, then --yes")
        if not click.confirm("rewrite the history of this clone?", err=True):
            raise Refused("nothing was changed")
    purged = history_purge.purge(repo, config, target, lambda fresh: indexer.refresh(fresh, config))
    values = delete_containing(repo.common_dir, purged.texts)
    if as_json:
        write_json(_purge_value(purged, values))
    else:
        _show_purge(purged)
    return Exit.findings_if(purged.left)


def _purge_value(purged: Purge, values: Sequence[str]) -> dict[str, object]:
    """The JSON of docs/json.md, "forget --purge". `values`: the keys of working values that had the text."""
    return {**json_object(purged), "session_values": list(values)}


def _show_plan(planned: Purge) -> None:
    """Print what a purge would rewrite, without the text."""
    for path in planned.paths:
        write(f"{escape(path, '')}\n")
    objects = f"{counted(planned.blobs, 'version')} of files, {counted(planned.commits, 'commit message')}"
    say(f"{objects} and {counted(planned.tags, 'tag message')} say it and would be rewritten, with every later commit")
    if planned.signed:
        say(f"{counted(planned.signed, 'signature')} of commits and tags would be lost")
    if planned.remotes:
        say(f"{counted(planned.remotes, 'ref')} of remotes would be deleted: what is at the remote stays as it is")
    say("reflogs, unreachable objects and what git mem undo knows would go: nothing brings them back")
    say("a copy made before (git clone --mirror) holds the text as well: delete it when all is well")


def _show_purge(purged: Purge) -> None:
    """Print what was rewritten and removed, then where the text still is (the first MAX_NAMED_LINES places and the
    number of the others), or what has to be done at remotes and clones."""
    if purged.erasure:
        for row in purged.erasure.lines:
            write(f"{escape(row.path, '')}:{row.line} {row.change}\n")
    for path in purged.paths:
        write(f"{escape(path, '')} in history\n")
    messages = counted(purged.commits + purged.tags, "message")
    say(f"purged from {counted(purged.blobs, 'version')} of files and {messages}")
    if purged.signed:
        say(f"{counted(purged.signed, 'signature')} of commits and tags are gone: sign again what must be signed")
    for name in purged.dropped:
        say(f"{escape(name, '')} said it, and is removed")
    if purged.left:
        others = f" and {len(purged.left) - MAX_NAMED_LINES} more" if len(purged.left) > MAX_NAMED_LINES else ""
        say(f"error: it is still in {escape(', '.join(purged.left[:MAX_NAMED_LINES]), '')}{others}")
        return
    say("checked: no object and no file below the Git directory says it")
    say("next: git push --force --all && git push --force --tags, before anything is fetched")
    say("next: whoever has a clone makes a new one; ask the forge to remove cached commits and pull requests")


def _show_forgotten(
    correction: Correction,
    path: str,
    line: int,
    remaining: Sequence[tuple[str, int]],
    shown: Collection[tuple[str, int]],
) -> None:
    """Print the commit, and the lines (`remaining`) that still have the text or that it was taken from. `shown`: those
    that searches still give, as they say it in other words."""
    write(f"{correction.commit[:12]} {escape(path, '')}:{line}\n")
    say(f"forgotten{_below(correction)}; it will not be promoted again, and history and other clones still hold it")
    hidden = [place for place in remaining if place not in shown]
    if hidden:
        say(f"still written in {_places(hidden)}: no search or context gives it, whoever opens the file reads it")
    if shown:
        say(f"taken from {_places(sorted(shown))}, in other words: searches and contexts still give these lines")
    if remaining:
        say("hint: take these lines out by hand (next time: --everywhere); the commit of a daily log needs the trailer")
        say("Memory-Rewrite: <why>")


def _below(correction: Correction) -> str:
    """A clause with the nested facts that were removed with their fact; "" without any."""
    lines = [str(fact.line) for item in correction.removals for fact in item.below]
    if not lines:
        return ""
    facts = counted(len(lines), "fact")
    if len(lines) > MAX_NAMED_LINES:
        lines[MAX_NAMED_LINES:] = ["..."]
    return f", with the {facts} below it (line {', '.join(lines)})"


def _show_erasure(erased: erasure.Erasure, dry_run: bool) -> None:
    """Print the changed lines, renamed files and lines that still have the text."""
    oid = erased.correction.commit[:12]
    for row in erased.lines:
        place = f"{escape(row.path, '')}:{row.line}"
        if dry_run:
            write(f"{place}: {row.change} {escape(row.text, '')}\n")
        else:
            write(f"{oid} {place} {row.change}\n")
    count = counted(len(erased.lines), "line")
    if dry_run:
        say(f"{count} would go or be masked; nothing was changed")
    else:
        say(f"forgotten in {count}; it will not be promoted again, and {HISTORY}")
    for old, new in erased.renamed:
        if dry_run:
            say(f"{escape(new, '')} has a new name: it was {escape(old, '')}")
        else:
            say(f"{escape(new, '')} has a new name")
    if erased.left:
        say(f"left as they are: {_places([(row.path, row.line) for row in erased.left])}")
        say("hint: these are other facts that say more, sources of other facts, or instruction files")
    if erased.unsure:
        say(f"may say the same in other words, and stay: {_places([(row.path, row.line) for row in erased.unsure])}")
        place = shell_word(f"{erased.unsure[0].path}:{erased.unsure[0].line}")
        say(f"hint: read them; to take one out: git mem forget {place} --everywhere --reason WHY")


def _places(places: Sequence[tuple[str, int]]) -> str:
    """The first MAX_NAMED_LINES places as PATH:LINE, for a sentence."""
    return escape(first_names([f"{path}:{number}" for path, number in places], MAX_NAMED_LINES), "")
