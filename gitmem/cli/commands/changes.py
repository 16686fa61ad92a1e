"""`git mem changes`: what happened to facts between two commits."""

from __future__ import annotations

from collections import Counter

import click

from gitmem.cli.options import colour_option, json_option, open_here
from gitmem.cli.terminal import colour as coloured
from gitmem.cli.terminal import escape, pager, paint, say, write, write_json
from gitmem.environment import now
from gitmem.review.commit_diff import as_value

SIGNS = {"added": "+", "promoted": "+", "changed": "~", "removed": "-", "moved": ">", "expired": "x"}
STYLE = {
    "added": "good",
    "promoted": "good",
    "changed": "warn",
    "removed": "bad",
    "moved": "line",
    "expired": "dim",
}


@click.command()
@click.argument("span", metavar="A..B")
@colour_option
@json_option
def command(span: str, colour: str, as_json: bool) -> None:
    """List the facts that were added, promoted, changed, removed, moved or expired from A to B, by file and author.

    \b
    git mem changes main..HEAD
    git mem changes v1.2..v1.3 --json
    """
    from gitmem.git.revision import split_range
    from gitmem.memory.snapshot import layout_at
    from gitmem.review.commit_diff import fact_changes

    repo, config = open_here()
    base, head = split_range(repo, span, both=True)
    changes = fact_changes(repo, base, head, layout_at(repo, head, config), now().date())
    if as_json:
        counts = Counter(str(change.op) for change in changes)
        write_json(
            {
                "base": base,
                "head": head,
                "counts": {op: counts.get(op, 0) for op in SIGNS},
                "changes": [as_value(change) for change in changes],
            }
        )
        return
    on = coloured(colour)
    with pager():
        path = ""
        for change in changes:
            if change.path != path:
                path = change.path
                write(f"{paint(escape(path, ''), 'path', on)}\n")
            sign = paint(SIGNS[change.op], STYLE[change.op], on)
            who = change.author.partition(" <")[0]
            tail = f"{change.op}" + (f" by {who}" if who else "") + (f", {change.commit[:12]}" if change.commit else "")
            if change.old and change.new and change.old.text != change.new.text:
                write(f"  {paint('-', 'dim', on)} {paint(escape(change.old.text, ''), 'dim', on)}\n")
            moved = f" (from {escape(change.old_path, '')})" if change.old_path not in ("", change.path) else ""
            write(f"  {sign} {escape(change.fact.text, '')}{moved}  {paint(escape(tail, ''), 'dim', on)}\n")
    if not changes:
        say("no fact changed")
