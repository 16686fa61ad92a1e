"""`git mem why`: show where a line of memory comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli import completions
from gitmem.cli.options import at_option, colour_option, commit_at, json_option, open_here
from gitmem.cli.terminal import escape, page, paint, say, uses_colour, write_json
from gitmem.environment import now, start_lookup
from gitmem.plural import line_range

if TYPE_CHECKING:
    from gitmem.claims.cited_code import CitationComparison
    from gitmem.provenance.cited_sources import Source
    from gitmem.provenance.line_amendments import Amendment
    from gitmem.provenance.why import Answer


MAX_CODE_LINES = 12  # lines shown of cited code that has changed


@click.command()
@click.argument("place", metavar="PATH:LINE", shell_complete=completions.paths)
@at_option("The line as it stood there or then, not in the work tree.")
@colour_option
@json_option
def command(place: str, at: str, colour: str, as_json: bool) -> None:
    """Say where the line at PATH:LINE comes from.

    Shows commit, who, why, model, reviewers, the source lines as they were, and what amends the line or is amended by
    it. Follows moved lines, renamed files and squash merges; the text is checked against the hash its promotion
    recorded. A line with a secret is hidden.

    \b
    git mem why MEMORY.md:17
    git mem why MEMORY.md:17 --at v1.2
    git mem why MEMORY.md:17 --at 2026-03-01
    """
    lookup = start_lookup()  # git looks for the repository while the imports below run
    from gitmem.cli.hidden_secrets import without_secret_lines
    from gitmem.cli.places import parse_place
    from gitmem.provenance import why

    repo, config = open_here(lookup=lookup)
    path, line = parse_place(repo, place)
    moment = now()
    answer = without_secret_lines(why.why(repo, config, path, line, commit_at(repo, at, moment), now=moment))
    if as_json:
        for note in answer.notes:
            say(f"note: {note}")
        write_json(answer)
        return
    page(render(answer, uses_colour(colour)), wrap=True)


def render(answer: Answer, in_colour: bool) -> str:
    """The answer for a person: the line, a table with its commit and author, its support, its sources with their lines,
    the cited code, and what amends it."""
    lines = line_range(answer.line, answer.end_line)
    output = [f"{paint(escape(answer.path, ''), 'path', in_colour)}:{paint(lines, 'line', in_colour)}"]
    if answer.trail:
        output.append(f"  {paint(escape(' > '.join(answer.trail), ''), 'dim', in_colour)}")
    output += [f"  {paint(escape(answer.text, ''), 'heading', in_colour)}", ""]
    rows = [
        ("commit", _commit(answer)),
        ("author", answer.author),
        ("agent", answer.agent),
        ("model", answer.model),
        ("session", answer.session),
        ("turn", answer.turn),
        ("reason", answer.reason),
        *(("reviewer", name) for name in answer.reviewers),
    ]
    output += [f"  {paint(f'{name:<9}', 'dim', in_colour)}{escape(value, '')}" for name, value in rows if value]
    comment_edited = bool(answer.edited) and all(part != "text" for part, _, _ in answer.edited)
    output += _support(answer, in_colour, comment_edited=comment_edited)
    for source in answer.sources:
        output += _source(source, in_colour, comment_edited=comment_edited)
    if origin := _origin_without_source(answer):
        output += ["", f"  {paint(escape(origin, ''), 'dim', in_colour)}"]
    for comparison in answer.code:
        output += _cited(comparison, in_colour)
    for word, ends in (("amended by", answer.links.amended_by), ("amends", answer.links.supersedes)):
        for end in ends:
            output += _amendment(word, end, in_colour)
    if answer.notes:
        output += ["", *(f"  {paint('note', 'warn', in_colour)}: {escape(note, '')}" for note in answer.notes)]
    return "\n".join(output) + "\n"


def _support(answer: Answer, in_colour: bool, *, comment_edited: bool) -> list[str]:
    """The lines to print about the support of the sources, if there are any, and about each edited part of the fact
    before and now. `comment_edited`: as in `_source`."""
    from gitmem.provenance.grounding import Support

    output = []
    if answer.sources or answer.edit:
        words, style = answer.words, "bad"
        if answer.problem:
            words += f": {answer.problem}"
        elif answer.support is Support.IN_SOURCE:
            style = "good"
        elif comment_edited:
            style = "warn"
        output = ["", f"  {paint(escape(words, ''), style, in_colour)}"]
    for part, old, new in answer.edited:
        output.append(f"    {part} before  {escape(old, '') or 'nothing'}")
        output.append(f"    {part} now     {escape(new, '') or 'nothing'}")
    return output


def _origin_without_source(answer: Answer) -> str:
    """Who wrote a line without sources; "" for a line with sources, and if that is not known."""
    if answer.sources:
        return ""
    if answer.session:
        return "taken from that session, as its comment says; no line of memory is its source"
    if not answer.commit or answer.model:
        return ""
    if answer.agent:
        return f"written by an agent, {answer.agent}: no source recorded"
    return f"written directly by {answer.author.partition(' <')[0]}; no log line is cited as its source"


def _commit(answer: Answer) -> str:
    """The short id and the date of the commit that wrote the line."""
    if not answer.commit:
        return "none yet"
    date = answer.date.strftime("  %Y-%m-%d %H:%M") if answer.date else ""
    return answer.commit[:12] + date


def _cited(comparison: CitationComparison, in_colour: bool) -> list[str]:
    """Code that the fact cites: its state, and if it has changed the first MAX_CODE_LINES of its lines as they were,
    without secrets."""
    from gitmem.claims.finding import State
    from gitmem.gate.quoting import without_secrets

    style, lines = "good", []
    if comparison.state is not State.HOLDS:
        style, lines = "bad", without_secrets(list(comparison.then.lines))[:MAX_CODE_LINES]
    words = paint(escape(comparison.words, ""), style, in_colour)
    output = ["", f"  code {paint(escape(comparison.place, ''), 'path', in_colour)}  {words}"]
    return output + [f"    {escape(text, chr(9))}" for text in lines]


def _amendment(word: str, amendment: Amendment, in_colour: bool) -> list[str]:
    """A line about the fact that amends this one, or that this one amends: its place, day and text, and the reason of
    the link. `word`: "amends" or "amended by"."""
    place = paint(f"{escape(amendment.path, '')}:{amendment.start_line}", "path", in_colour)
    ended_note = f"no longer there since after {amendment.commit[:12]}" if amendment.commit else ""
    if amendment.proposed:
        word = f"perhaps {word}"
    about = " · ".join(filter(None, (amendment.date, ended_note, amendment.reason)))
    output = ["", f"  {word} {place}  {paint(about, 'dim', in_colour)}"]
    return output + [f"    {escape(text, chr(9))}" for text in amendment.text.split("\n")]


def _source(source: Source, in_colour: bool, *, comment_edited: bool) -> list[str]:
    """The lines to print for one source, in this order: an empty line; its place, blob and state; if it was moved, its
    recorded place; its problem, if it has one; its text with line numbers. The state says whether the source was
    verified. `in_colour`: colour the lines. `comment_edited`: the fact's comment was edited after promotion, and its
    text was not."""
    from gitmem.memory.fact import render_span

    state = paint("NOT VERIFIED", "bad", in_colour)
    if comment_edited:
        state = paint("not checked since the comment was edited", "warn", in_colour)
    if source.verified:
        state = paint("verified", "good", in_colour)
    lines = line_range(source.start_line, source.end_line)
    place = paint(f"{escape(source.path, '')}:{lines}", "path", in_colour)
    output = ["", f"  from {place} {paint(f'(blob {source.blob[:12]})', 'dim', in_colour)}  {state}"]
    if source.moved:
        recorded, mark = escape(render_span(source.recorded), ""), paint("moved", "warn", in_colour)
        output.append(f"  {mark}: recorded as {recorded}, whose blob is gone; found by its text")
    if source.problem:
        output.append(f"  {paint(escape(source.problem, ''), 'bad', in_colour)}")
    if source.text:
        for number, text in enumerate(source.text.split("\n"), source.start_line):
            output.append(f"    {paint(f'{number:>4}', 'line', in_colour)}  {escape(text, chr(9))}")
    return output
