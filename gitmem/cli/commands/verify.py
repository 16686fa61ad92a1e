"""`git mem verify`: check the provenance of promoted facts."""

from __future__ import annotations

from collections import Counter

import click

from gitmem.cli import completions
from gitmem.cli.hidden_secrets import without_secret_lines
from gitmem.cli.options import colour_option, json_option, open_here
from gitmem.cli.terminal import escape, page, paint, say, uses_colour, write_json
from gitmem.errors import Exit
from gitmem.gate.tree_policies import range_memory_paths
from gitmem.git.revision import split_range
from gitmem.plural import counted
from gitmem.provenance import verify
from gitmem.provenance.grounding import WORDS


@click.command()
@click.argument("span", metavar="[RANGE]", shell_complete=completions.ranges, default="")
@click.option("--policy", is_flag=True, help="Also fail facts an agent or bot added and no promotion did.")
@colour_option
@json_option
def command(span: str, policy: bool, colour: str, as_json: bool) -> int:
    """Check that each promoted fact has its source.

    Its text must be the one that was promoted. Exit 1 for a finding: another text, a source that is gone or changed;
    with --policy also a fact that an agent added by no promotion, and in a range a trailer of an agent that does not
    hold. RANGE is A..B (facts B has and A has not), a single revision (all facts there), or nothing (HEAD).

    \b
    git mem verify
    git mem verify origin/main..HEAD --policy
    """
    repo, config = open_here()
    chosen = split_range(repo, span)
    globs = range_memory_paths(repo, chosen) if chosen.base else config.memory_paths
    verdict = without_secret_lines(verify.verify(repo, chosen.base, chosen.tip, policy=policy, globs=globs))
    for note in verdict.notes:
        say(f"note: {note}")
    if as_json:
        write_json(verdict)
    else:
        page(render(verdict, uses_colour(colour)), wrap=True)
        say(summary(verdict))
    return Exit.findings_if(verdict.flaws)


def summary(verdict: verify.Verdict) -> str:
    """The numbers of checked facts, of findings, and of facts for each kind of support (in the words of `git mem
    why`)."""
    counts = Counter(row.attribution.support for row in verdict.facts)
    kinds = ", ".join(f"{counts[support]} {words}" for support, words in WORDS.items() if counts[support])
    findings = counted(len(verdict.flaws), "finding") if verdict.flaws else "no finding"
    text = f"{counted(verdict.checked, 'fact')} checked, {findings}"
    return f"{text} ({kinds})" if kinds else text


def render(verdict: verify.Verdict, colour: bool) -> str:
    """A line for each finding, and for each fact with an allowed edit; without text of memory."""
    rows = [(flaw.path, flaw.line, paint(flaw.rule, "bad", colour), flaw.message) for flaw in verdict.flaws]
    for row in verdict.facts:
        edit = row.attribution.edit
        if edit and not row.flaws:
            changed = f"{row.attribution.words}: {', '.join(edit.changed)}; git mem why shows old and new"
            rows.append((row.path, row.fact.line, paint("note", "warn", colour), changed))
    return "".join(
        f"{paint(escape(path, ''), 'path', colour)}:{paint(str(line), 'line', colour)}: {rule}: {escape(message, '')}\n"
        for path, line, rule, message in rows
    )
