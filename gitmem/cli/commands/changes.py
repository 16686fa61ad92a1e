"""`git mem changes`: list the facts that changed between two commits."""

from __future__ import annotations

from collections import Counter

import click

from gitmem.cli import completions
from gitmem.cli.changed_facts import SIGNS, change_lines
from gitmem.cli.hidden_secrets import without_secret_lines
from gitmem.cli.options import colour_option, default_span, json_option, open_here
from gitmem.cli.terminal import page, say, uses_colour, write_json
from gitmem.environment import now
from gitmem.git.revision import split_range
from gitmem.memory.snapshot import layout_at
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.review.commit_diff import fact_changes, without_forgotten


@click.command()
@click.argument("span", metavar="[A..B]", default="", shell_complete=completions.ranges)
@colour_option
@json_option
def command(span: str, colour: str, as_json: bool) -> None:
    """List what became of facts from A to B, by file and author.

    Facts are added, promoted, changed, removed, moved, or they expire. Without a range, what the current branch has
    and its upstream (else the default branch) has not. A line with a secret is hidden.

    \b
    git mem changes main..HEAD
    git mem changes v1.2..v1.3 --json
    """
    repo, config = open_here()
    base, head, _ = split_range(repo, span or default_span(repo), needs_base=True)
    changes = fact_changes(repo, base, head, layout_at(repo, head, config), now().date())
    changes = without_secret_lines(without_forgotten(changes, forgotten_texts(repo)))
    if as_json:
        counts = Counter(str(change.op) for change in changes)
        write_json(
            {
                "base": base,
                "head": head,
                "counts": {op: counts.get(op, 0) for op in SIGNS},
                "changes": changes,
            }
        )
        return
    in_colour = uses_colour(colour)
    page("".join(change_lines(changes, in_colour)), wrap=True)
    if not changes:
        say("no fact changed")
