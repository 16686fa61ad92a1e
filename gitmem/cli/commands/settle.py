"""`git mem settle`: list pairs of statements that may not both hold, and record what a person answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click

from gitmem.cli.options import json_option, open_here, say_if_detached
from gitmem.cli.promotion_review import ask_key
from gitmem.cli.terminal import escape, say, say_lines, write, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import Exit, UsageError
from gitmem.gate import quoting
from gitmem.git import undo_record
from gitmem.git.opening import Repository
from gitmem.json_values import json_object
from gitmem.memory.rivals import Rival, without_secrets
from gitmem.memory.sections import subject_steps
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.promotion.open_pairs import open_pairs, pair_id, pair_named, pair_with_id, shown_pair
from gitmem.promotion.settlement import WORDS, Answer, RecordedAnswer, ensure_person, settle

KEYS = {"l": "later", "e": "earlier", "b": "both", "s": "same"}
HELP = """l - the later one holds; the other goes to the archive
e - the earlier one holds; the other goes to the archive
b - both hold
s - they say the same; one of them is kept
n - not now: it is listed again next time
q - quit; what was answered before stays
? - this help"""


class SettleOptions(NamedTuple):
    """The pairs and options, as `git mem settle -h` has them. `answer`: "later", "earlier", "both" or "same"; None
    without an answer, and then `pairs` is empty."""

    pairs: tuple[str, ...]
    answer: str | None
    interactive: bool
    reason: str
    dry_run: bool
    as_json: bool


@click.command()
@click.argument("pairs", nargs=-1, metavar="[PAIR]...")
@click.option("--later", is_flag=True, help="The later one holds; the other goes to the archive.")
@click.option("--earlier", is_flag=True, help="The earlier one holds; the other goes to the archive.")
@click.option("--both", is_flag=True, help="Both hold.")
@click.option("--same", is_flag=True, help="They say the same: one of them is kept.")
@click.option("-i", "--interactive", is_flag=True, help="On a terminal: one pair at a time.")
@click.option("--reason", default="", metavar="WHY", help="Why; goes into the commit.")
@click.option("--dry-run", is_flag=True, help="Say what would be answered; write nothing.")
@json_option
def command(
    pairs: tuple[str, ...], later: bool, earlier: bool, both: bool, same: bool, interactive: bool, reason: str,
    dry_run: bool, as_json: bool,
) -> int:  # fmt: skip
    """List the statements that may not both hold, or say which does.

    Facts of MEMORY.md are held against each other and against the daily logs of the last two weeks. PAIR is an id of
    the list, which stays the same when other pairs are answered, or the id of a fact that is in one pair only. An
    answer is one commit; where MEMORY.md has edits that are not committed it is written beside them. A pair that was
    answered is not asked about again; `git mem undo` takes an answer back.

    \b
    git mem settle
    git mem settle PAIR --later
    git mem settle PAIR --both --reason "two clusters"
    git mem settle --interactive
    """
    answer_flags = {"later": later, "earlier": earlier, "both": both, "same": same}
    answers = [name for name, chosen in answer_flags.items() if chosen]
    if len(answers) > 1:
        raise UsageError(f"--{answers[0]} and --{answers[1]} are two answers", "git mem settle PAIR --later")
    options = SettleOptions(pairs, next(iter(answers), None), interactive, reason, dry_run, as_json)
    if bool(options.pairs) != bool(options.answer):
        raise UsageError("which pair, and what of it?", "git mem settle PAIR --later, --earlier, --both or --same")
    if options.interactive and (options.pairs or options.as_json or options.dry_run):
        raise UsageError("--interactive goes alone")
    repo, config = open_here()

    listed = open_pairs(repo, config, now().date())
    if options.interactive:
        _interactively(repo, config, listed, options.reason)
    elif options.pairs:
        return _answer(repo, config, listed, options)
    else:
        _list(listed, options.as_json)
    return Exit.DONE


def _list(pairs: Sequence[Rival], as_json: bool) -> None:
    """Print the open pairs, each with its id."""
    if as_json:
        write_json({"pairs": [shown_pair(pair) for pair in pairs]})
        return
    for pair in pairs:
        write(_text(pair, pair_id(pair)))
    if pairs:
        example = f"git mem settle {pair_id(pairs[0])} --later, --earlier, --both or --same"
        say(f"{counted(len(pairs), 'open pair')}: {example}")
    else:
        say("no statements of memory wait for an answer")


def _text(pair: Rival, label: str) -> str:
    """A pair in three lines: its label, kind and reason, the earlier statement, the later one; each statement after its
    heading. A text that holds a secret is hidden."""
    pair = without_secrets(pair)
    lines = [f"{label}  {': '.join(filter(None, (pair.kind, pair.reason)))}"]
    for name, row in zip(("earlier", "later"), pair.earlier_first, strict=True):
        place = f"{row.path}:{row.fact.line}"
        above = "".join(f"{step}: " for step in quoting.without_secrets(subject_steps(row.fact.trail)[-1:]))
        lines.append(f"    {name:<7}  {place}  {row.day or '-':<10}  {above}{row.fact.text}")
    return escape("\n".join(lines) + "\n")


def _answer(repo: Repository, config: Config, listed: Sequence[Rival], options: SettleOptions) -> int:
    """Record the answer for each of the named pairs, and print it; with --dry-run only print it. A pair that is no
    longer open when its turn comes is left out.

    Returns the exit code: CANNOT_RUN if somebody else closed a pair meanwhile, DONE if only answers of this command
    did. Raises UsageError if an agent answers, or for a pair that is not open."""
    ensure_person(config)
    answer = Answer(options.answer or "")
    pairs = [_open_pair(listed, ident) for ident in dict.fromkeys(options.pairs)]
    results: list[RecordedAnswer] = []
    closed_pairs: list[Rival] = []
    if options.dry_run:
        results = [RecordedAnswer(pair, answer) for pair in pairs]
    else:
        with undo_record.together():
            for pair in pairs:
                if recorded := _record(repo, config, pair, answer, options.reason):
                    results.append(recorded)
                else:
                    closed_pairs.append(pair)
    _show_answers(repo, results, options)
    answered_statements = {key for result in results for key in _statements(result.pair)}
    by_others = [pair for pair in closed_pairs if answered_statements.isdisjoint(_statements(pair))]
    left_out = f"{counted(len(closed_pairs), 'pair')} no longer open as listed: git mem settle"
    if by_others:
        say(f"error: {left_out}")
        return Exit.CANNOT_RUN
    if closed_pairs:
        say(f"note: {left_out}")
    return Exit.DONE


def _statements(pair: Rival) -> set[tuple[str, str]]:
    """(path, id) of both statements of a pair."""
    return {(row.path, row.fact.id) for row in pair.earlier_first}


def _show_answers(repo: Repository, results: Sequence[RecordedAnswer], options: SettleOptions) -> None:
    """Print the recorded answers, and whether they are committed."""
    if options.as_json:
        rows = [
            {**json_object(shown_pair(result.pair)), "answer": result.answer, "commit": result.commit or None}
            for result in results
        ]
        write_json({"settled": rows, "dry_run": options.dry_run})
        return
    for result in results:
        write(_outcome(result, options.dry_run))
    if results and not options.dry_run:
        say_if_detached(repo, results[-1].commit)
        if not all(result.commit for result in results):
            say("not committed, since memory has other edits that are not: git commit")


def _open_pair(pairs: Sequence[Rival], ident: str) -> Rival:
    """The open pair with the id `ident`, or the only one of the fact with that id, of which six digits are enough.
    Raises UsageError when there is none, or more than one."""
    pair = pair_with_id(pairs, ident)
    of_fact = [rival for rival in pairs if any(row.fact.id.startswith(ident) for row in (rival.new, rival.old))]
    if pair is None and of_fact and len(ident) >= 6:
        pair = pair_named(pairs, ident)
    if pair is None:
        raise UsageError(Message("there is no open pair {}", ident), "git mem settle lists them")
    return pair


def _record(repo: Repository, config: Config, pair: Rival, answer: Answer, reason: str) -> RecordedAnswer | None:
    """Record the answer for a pair that was listed before; None if the pair is no longer open as it was listed. The
    pairs are read again, because an answer moves lines and may settle another pair as well. Raises as `settle`."""
    current = pair_with_id(open_pairs(repo, config, now().date()), pair_id(pair))
    if current is None:
        return None
    return settle(repo, config, current, answer, now().date(), reason)


def _outcome(result: RecordedAnswer, dry_run: bool) -> str:
    """A settled pair in one line: the commit, the places, the answer."""
    places = ", ".join(f"{row.path}:{row.fact.line}" for row in result.pair.earlier_first)
    head = "would settle"
    if not dry_run:
        head = result.commit[:12] or "settled"
    return escape(f"{head} {places}: {WORDS[result.answer]}\n")


def _interactively(repo: Repository, config: Config, listed: Sequence[Rival], reason: str) -> None:
    """Ask about one pair after the other, and record each answer at once. Raises UsageError if an agent runs the
    command."""
    ensure_person(config)
    if not listed:
        say("no statements of memory wait for an answer")
    for number, pair in enumerate(listed, 1):
        label = f"({number}/{len(listed)})"
        say_lines(_text(pair, label).rstrip("\n"))
        while (key := ask_key(f"{label} which one holds [l,e,b,s,n,q,?]?")) not in (*KEYS, "n", "q"):
            say_lines(HELP)
        if key == "q":
            break
        if key in KEYS:
            result = _record(repo, config, pair, Answer(KEYS[key]), reason)
            if result is None:
                say("it is no longer open as it was shown")
                continue
            write(_outcome(result, dry_run=False))
