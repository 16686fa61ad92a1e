"""`git mem verify`: does the provenance of promoted facts hold?"""

from __future__ import annotations

import click

from gitmem.cli.options import colour_option, json_option, open_here
from gitmem.cli.terminal import colour as coloured
from gitmem.cli.terminal import escape, paint, say, write, write_json
from gitmem.errors import Exit


@click.command()
@click.argument("span", metavar="[RANGE]", default="")
@click.option("--policy", is_flag=True, help="Also fail facts an agent or bot added and no promotion did.")
@colour_option
@json_option
@click.pass_context
def command(ctx: click.Context, span: str, policy: bool, colour: str, as_json: bool) -> None:
    """Check that each promoted fact has its source and the text that was promoted; exit 1 where not.

    RANGE is A..B (facts B has and A has not), a single revision (all facts there), or nothing (HEAD).

    \b
    git mem verify
    git mem verify origin/main..HEAD --policy
    """
    from gitmem.git.revision import split_range
    from gitmem.provenance import verify

    repo, _ = open_here()
    base, head = split_range(repo, span)
    verdict = verify.verify(repo, base, head, policy=policy)
    for note in verdict.notes:
        say(f"note: {note}")
    if as_json:
        write_json(
            {
                "checked": verdict.checked,
                "findings": [
                    {
                        "rule": flaw.rule,
                        "path": flaw.path,
                        "line": flaw.line,
                        "message": flaw.message,
                        "fact": flaw.fact,
                        "commit": flaw.commit or None,
                    }
                    for flaw in verdict.flaws
                ],
            }
        )
    else:
        on = coloured(colour)
        for flaw in verdict.flaws:
            where = f"{paint(escape(flaw.path, ''), 'path', on)}:{paint(str(flaw.line), 'line', on)}"
            write(f"{where}: {paint(flaw.rule, 'bad', on)}: {escape(flaw.message, '')}\n")
        facts = "1 fact" if verdict.checked == 1 else f"{verdict.checked} facts"
        bad = len(verdict.flaws)
        say(f"{facts} checked, {'all hold' if not bad else '1 finding' if bad == 1 else f'{bad} findings'}")
    if verdict.flaws:
        ctx.exit(Exit.FINDINGS)
