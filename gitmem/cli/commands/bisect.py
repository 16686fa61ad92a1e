"""`git mem bisect`: find the commit at which search lost or gained an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import click

from gitmem.cli.changed_facts import change_lines
from gitmem.cli.options import colour_option, commit_at, json_option, open_here
from gitmem.cli.terminal import escape, page, paint, say, uses_colour, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import Exit, UsageError
from gitmem.gate.policy import MESSAGE
from gitmem.gate.withholding import WITHHELD, without_blocked
from gitmem.git.objects import Commit
from gitmem.git.opening import Repository
from gitmem.git.ranges import shallow
from gitmem.git.revision import resolve_at
from gitmem.memory.fact import Fact, parse_comment
from gitmem.memory.forgotten import Forgotten
from gitmem.memory.show import read
from gitmem.memory.snapshot import layout_at
from gitmem.memory.statements import without_list_marker
from gitmem.plural import counted
from gitmem.provenance.bisection import AnswerChange, last_answer_change, rank_of_text
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.review.commit_diff import fact_changes, without_forgotten
from gitmem.review.fact_diff import FactChange
from gitmem.search.search import Query, search

PLACE = re.compile(r"^(.+\.md):(\d{1,9})$", re.IGNORECASE)


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--expect", required=True, metavar="TEXT|PATH:LINE", help="What the answer says, or a line that says it.")
@click.option("--from", "since", default="", metavar="REV|DATE", help="Not before this commit; PATH:LINE is of it.")
@click.option("--to", "until", default="HEAD", metavar="REV|DATE", help="The newest commit to look at.")
@click.option("-n", "--limit", default=5, show_default=True, type=click.IntRange(1, 50), help="Hits that count.")
@colour_option
@json_option
def command(
    question: tuple[str, ...], expect: str, since: str, until: str, limit: int, colour: str, as_json: bool
) -> int:
    """Find the commit that lost or won the answer to QUESTION.

    It shows the facts that changed there. Memory is searched at commits of HEAD's first parents, by halves; nothing is
    checked out. The answer is there where one of the first hits has the expected text. Exit 1 when no commit lost or
    won it.

    \b
    git mem bisect "when do we deploy" --expect "on Tuesdays"
    git mem bisect "when do we deploy" --expect MEMORY.md:12 --from v1.2
    """
    repo, config = open_here()
    moment = now()
    newest = resolve_at(repo, until, moment)
    oldest = commit_at(repo, since, moment)
    commits = _first_parents(repo, newest, oldest)
    expected = _expected_text(repo, config, expect, oldest or newest)
    words = " ".join(question)

    def rank(commit: str) -> int:
        return rank_of_text(search(repo, config, Query(words, limit=limit, commit=commit), moment).hits, expected)

    turn = last_answer_change(commits, rank)
    changes: list[FactChange] = _changes(repo, config, turn, moment) if turn.at else []
    mask = forgotten_texts(repo)
    if as_json:
        write_json(mask.masked_json(_value(repo, words, expected, turn, changes)))
    else:
        _show(repo, turn, changes, newest, mask, uses_colour(colour))
        say(f"{counted(len(turn.ranks), 'commit')} tried of {len(commits)}")
    if commits[-1] in shallow(repo):
        say(f"this clone is shallow and ends at {commits[-1][:12]}: what came before it was not tried")
    if turn.at:
        return Exit.DONE
    return Exit.FINDINGS


def _first_parents(repo: Repository, newest: str, oldest: str) -> list[str]:
    """The first parents from `newest` back to `oldest`, both included; back to the first commit if `oldest` is "".
    Raises UsageError if `oldest` is not among them."""
    commits = []
    for oid in repo.reaches(newest, first_parent=True):
        commits.append(oid)
        if oid == oldest:
            return commits
    if oldest:
        raise UsageError("--from is none of the first parents of --to", "git log --first-parent shows them")
    return commits


def _expected_text(repo: Repository, config: Config, text: str, commit: str) -> str:
    """The text that a hit must contain: `text` itself, or for PATH:LINE the text of that line at `commit`, without its
    list mark and its comment. Raises UsageError for an empty text, and for a line that the gate would block."""
    place = PLACE.match(text)
    if place is None:
        if not text.strip():
            raise UsageError("--expect is empty", "what should the answer say?")
        return text

    path, number = place[1], int(place[2])
    lines = read(repo, config, path, commit).lines
    line = without_list_marker(parse_comment(lines[number - 1])[0]) if 0 < number <= len(lines) else ""
    if not line.strip():
        raise UsageError(f"{path} has nothing on line {number} at {commit[:12]}", "--from says of which commit it is")
    if without_blocked(lines, path)[number - 1] == WITHHELD:
        raise UsageError(f"the gate would block line {number} of {path}", "search shows it nowhere; expect another one")
    return line


def _changes(repo: Repository, config: Config, turn: AnswerChange, moment: datetime) -> list[FactChange]:
    """The facts that changed at the turning commit, without text that the gate would block."""
    changes = fact_changes(repo, turn.before, turn.at, layout_at(repo, turn.at, config), moment.date())
    return [
        replace(change, old=_without_blocked_text(change.old, change), new=_without_blocked_text(change.new, change))
        for change in changes
    ]


def _without_blocked_text(fact: Fact | None, change: FactChange) -> Fact | None:
    """A fact with each part that the gate would block withheld: its text, its headings, its comment; None for None."""
    if fact is None:
        return None
    text, *values = without_blocked([fact.text, *(value for _, value in fact.meta)], change.path)
    trail = tuple(without_blocked(list(fact.trail), change.path))
    return fact._replace(text=text, trail=trail, meta=() if WITHHELD in values else fact.meta)


def _author_and_subject(commit: Commit) -> tuple[str, str, str]:
    """(author's name, author as `NAME <EMAIL>`, subject), with WITHHELD in place of each that the gate would block, or
    of all three for a finding about them as a whole (`without_blocked`)."""
    author = commit.author
    name, mailbox, subject = without_blocked([author.name, f"{author.name} <{author.email}>", commit.subject], MESSAGE)
    return name, mailbox, subject


def _outcome(turn: AnswerChange) -> str:
    """Whether the answer was "won" or "lost" at the turning commit; "" without such a commit."""
    if not turn.at:
        return ""
    if turn.ranks[turn.at]:
        return "won"
    return "lost"


def _value(
    repo: Repository, question: str, expected: str, turn: AnswerChange, changes: Sequence[FactChange]
) -> dict[str, Any]:  # fmt: skip
    """The JSON of docs/json.md, "bisect"."""
    author, subject, date = None, None, None
    if turn.at:
        commit = repo.commit(turn.at)
        _, author, subject = _author_and_subject(commit)
        date = commit.commit_date.isoformat()
    return {
        "question": question,
        "expected": expected,
        "outcome": _outcome(turn) or "unchanged",
        "commit": turn.at or None,
        "subject": subject,
        "author": author,
        "date": date,
        "before": turn.before or None,
        "tried": [{"commit": oid, "rank": rank or None} for oid, rank in turn.ranks.items()],
        "facts": changes,
    }


def _show(
    repo: Repository, turn: AnswerChange, changes: Sequence[FactChange], newest: str, mask: Forgotten, in_colour: bool
) -> None:  # fmt: skip
    """Print the turning commit and the facts that it changed, or that there is none. `newest`: the newest commit that
    was searched. `in_colour`: whether to colour."""
    if not turn.at:
        if turn.ranks.get(newest):
            say("the answer is there at every commit that was tried")
        else:
            say("no commit that was tried answers so")
        return
    commit, outcome = repo.commit(turn.at), _outcome(turn)
    rank = max(turn.ranks[turn.at], turn.ranks[turn.before])
    author, _, subject = _author_and_subject(commit)
    side = "since" if outcome == "won" else "until"
    rows = [
        ("commit", f"{turn.at[:12]}  {commit.commit_date:%Y-%m-%d %H:%M}"),
        ("author", author),
        ("subject", subject),
        ("hit", f"{rank} {side} then, none of the first ones on the other side"),
    ]
    lines = [paint(f"The answer was {outcome}", "heading", in_colour), ""]
    lines += [f"  {paint(f'{name:<9}', 'dim', in_colour)}{escape(value, '')}" for name, value in rows]
    lines += ["", paint("Facts changed in it", "heading", in_colour), ""]
    no_facts = "  none: lines of logs and notes did, or the day passed that ended a fact\n"
    # Facts are masked before they are marked: `mask.masked` would not find a text with marks in it.
    fact_text = "".join(change_lines(without_forgotten(changes, mask), in_colour)) or no_facts
    page(mask.masked("".join(f"{row}\n" for row in lines)) + fact_text, wrap=True)
