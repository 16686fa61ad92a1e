"""What a person with write access may say in a comment on a pull request: `/mem accept`, `/mem reject FACT reason`,
`/mem settle FACT later`.

A command is bound to the head commit at which it was written: where the branch has moved since, it is refused. Who may
give one is asked of the forge, never read from the payload; an edited comment is ignored, since somebody else may have
edited it. Accepting marks that one commit with a check of its own and changes no file; rejecting takes one fact out of
the branch, so that it is not offered again; settling records which of two facts holds, as `git mem settle` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange, towards
from gitmem.git.write import run_git
from gitmem.memory.fact import Fact
from gitmem.memory.rivals import MEMORY
from gitmem.paths import layout_of
from gitmem.promotion import settlement
from gitmem.provenance import corrections
from gitmem.review import proposals
from gitmem.review.commit_diff import fact_changes
from gitmem.review.forges.forge import Comment, ForgeError, Pull, push_environment
from gitmem.review.forges.github import GitHubClient
from gitmem.review.publish import through_the_gate

ACCEPTED_CHECK = "memory accepted"
REASON = 200  # characters of a reason that a commit message keeps
_REJECT = re.compile(r"/mem +reject +(?:`([^`]+)`|([0-9a-f]{6,64}|\S.*?:[1-9][0-9]{0,8})) +(\S.*)")
_FACT = re.compile(r"[0-9a-f]{6,64}|.+:[1-9][0-9]{0,8}")
_PLACE = r"(?:`[^`]+`|[0-9a-f]{6,64}|\S*?:[1-9][0-9]{0,8})"
_SETTLE = re.compile(rf"/mem +settle +({_PLACE})(?: +({_PLACE}))? +(later|earlier|both|same)(?: +(\S.*))?")
USAGE = (
    "write /mem accept, /mem reject MEMORY.md:4 reason, or /mem settle MEMORY.md:4 later (earlier, both, same), "
    "as the first line and the only command of a comment"
)
_ACCEPT = re.compile(r"/mem +accept")


class Verb(StrEnum):
    """What is asked."""

    ACCEPT = "accept"
    REJECT = "reject"
    SETTLE = "settle"


@dataclass(frozen=True, slots=True)
class Command:
    """A command: `fact` is the beginning of a fact's id or its place at the head (`MEMORY.md:4`, as a review names it,
    as code or not), `reason` one line; both "" for accept. Of settle `other` is the other fact, "" where there is one
    pair, and `answer` which one holds."""

    verb: Verb
    fact: str = ""
    reason: str = ""
    other: str = ""
    answer: str = ""


class State(StrEnum):
    """What became of a comment."""

    IGNORED = "ignored"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done and `words` that say so; `answer` whether its author is told."""

    state: State
    words: str
    answer: bool = False


@dataclass(frozen=True, slots=True)
class CommandRun:
    """Where commands are carried out: the repository, its settings, the forge, the environment of pushes, the day."""

    repo: Repository
    config: Config
    client: GitHubClient
    environ: Mapping[str, str]
    today: date


def parse(body: str) -> Command | None:
    """The command of a comment: its first line is one, word for word, and the only one that begins with `/mem`. None
    for any other comment."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    if not lines or sum(line.startswith("/mem") for line in lines) != 1:
        return None
    if _ACCEPT.fullmatch(lines[0]):
        return Command(Verb.ACCEPT)
    if settle := _SETTLE.fullmatch(lines[0]):
        fact, other = (given.strip("`") if given else "" for given in (settle[1], settle[2]))
        named = _FACT.fullmatch(fact) and (not other or _FACT.fullmatch(other))
        if not named:
            return None
        return Command(Verb.SETTLE, fact, _one_line(settle[4] or ""), other, settle[3])
    match = _REJECT.fullmatch(lines[0])
    fact = ""
    if match:
        fact = match[1] or match[2]
    if not match or not _FACT.fullmatch(fact):
        return None
    return Command(Verb.REJECT, fact, _one_line(match[3]))


def _one_line(reason: str) -> str:
    return "".join(c if c.isprintable() else " " for c in reason)[:REASON]


def _begins(body: str) -> bool:
    """Whether the first line of a comment begins as a command does, right or not."""
    return bool(re.match(r"\s*/mem(\s|$)", body))


def carry_out(run: CommandRun, number: int, comment_id: int) -> Outcome:
    """Do what a comment on a pull request asks. Raises ForgeError where the forge cannot say whether it may."""
    client = run.client
    comment = client.comment(comment_id)
    command = parse(comment.body)
    if command is None and not _begins(comment.body):
        return Outcome(State.IGNORED, "the comment is no command")
    if comment.edited != comment.written or not comment.written:
        return Outcome(State.IGNORED, "the comment was edited: write a new one")
    if comment.automatic or not comment.author or not client.may_write(comment.author):
        return Outcome(State.IGNORED, "its author may not push to this repository")
    if command is None:
        return Outcome(State.REFUSED, f"that is no command: {USAGE}", answer=True)
    pull = client.pull(number)
    if pull.state != "open" or not pull.head:
        return Outcome(State.REFUSED, "the pull request is closed", answer=True)
    if client.head_at(pull, comment.written) != pull.head:
        words = f"the branch has moved since that comment: look at {pull.head[:12]}, then write it again"
        return Outcome(State.REFUSED, words, answer=True)
    try:
        match command.verb:
            case Verb.ACCEPT:
                return _accept(client, pull, comment)
            case Verb.REJECT:
                return _reject(run, pull, comment, command)
            case Verb.SETTLE:
                return _settle(run, pull, comment, command)
    except ForgeError:
        raise
    except GitMemError as error:
        return Outcome(State.REFUSED, error.message, answer=True)


def _accept(client: GitHubClient, pull: Pull, comment: Comment) -> Outcome:
    """A check on the commit itself: another commit has none, so that a push takes the acceptance back."""
    words = f"accepted by {comment.author} at {pull.head[:12]}"
    client.put_check(ACCEPTED_CHECK, pull.head, failed=False, title=words, summary=f"Comment {comment.id}.")
    return Outcome(State.ACCEPTED, words)


def _reject(run: CommandRun, pull: Pull, comment: Comment, command: Command) -> Outcome:
    """One fact less on the branch, in one commit that says who and why. Raises GitMemError where there is no such fact,
    or the gate or the forge says no."""
    brought = _fetched(run, pull)
    matches = {
        place for place, fact in _new_facts(run, brought).items()
        if fact.id.startswith(command.fact) or "{}:{}".format(*place) == command.fact
    }  # fmt: skip
    if len(matches) != 1:
        if not matches:
            count = "no fact"
        else:
            count = f"{len(matches)} facts"
        words = "has an id that begins with"
        if ":" in command.fact:
            words = "stands at"
        raise GitMemError(f"{count} of this pull request {words} {command.fact}")
    ((path, line),) = matches
    reason = _reason(pull, comment, command)
    _change_branch(run, pull, brought, lambda there: corrections.forget(there, run.config, path, line, reason))
    return Outcome(State.REJECTED, f"the fact {command.fact} is taken out, as {comment.author} said", answer=True)


def _settle(run: CommandRun, pull: Pull, comment: Comment, command: Command) -> Outcome:
    """Which of two facts holds, one of which the pull request brings, in one commit on the branch. Raises as
    `_reject`."""
    brought = _fetched(run, pull)
    new = _new_facts(run, brought)
    answer = settlement.Answer(command.answer)
    config = run.config._replace(agent="")  # the author of the comment is a person

    def change(there: Repository) -> None:
        known = settlement.dated(there, MEMORY, settlement.facts_here(there), run.today)
        pairs = [
            pair for pair in settlement.pairs_of(known, run.today)
            if any((row.path, row.fact.line) in new for row in (pair.new, pair.old))
        ]  # fmt: skip
        pair = settlement.chosen(pairs, command.fact, command.other)
        settlement.settle(there, config, pair, answer, run.today, _reason(pull, comment, command))

    _change_branch(run, pull, brought, change)
    words = f"{settlement.WORDS[answer]}, as {comment.author} said of {command.fact}"
    return Outcome(State.SETTLED, words, answer=True)


def _reason(pull: Pull, comment: Comment, command: Command) -> str:
    return f"{command.reason} ({comment.author}, pull request {pull.number})".lstrip()


def _fetched(run: CommandRun, pull: Pull) -> CommitRange:
    """What the pull request brings, which is here afterwards. Raises GitMemError where its branch is not to be pushed
    to."""
    repo, client = run.repo, run.client
    if pull.head_repository != client.forge.repository:
        raise GitMemError("the branch of a fork is its owner's: ask there")
    if pull.branch == client.default_branch():
        raise GitMemError("its branch is the default branch, which is never pushed to")
    proposals.fetch_pull(repo, client, pull, run.environ)
    return towards(repo, repo.resolve(pull.start), pull.head)


def _new_facts(run: CommandRun, brought: CommitRange) -> dict[tuple[str, int], Fact]:
    """The facts that came or changed, by path and line at the head."""
    layout = layout_of([entry.path for entry in run.repo.entries(brought.tip)], run.config.memory_paths)
    changes = fact_changes(run.repo, brought.base, brought.tip, layout, run.today, authors=False)
    return {(change.path, change.new.line): change.new for change in changes if change.new}


def _change_branch(run: CommandRun, pull: Pull, brought: CommitRange, change: Callable[[Repository], object]) -> None:
    """Commit a change on the pull request's branch, through the gate, and push it without force: a branch that has
    moved meanwhile stays as it is. Raises GitMemError."""
    repo = run.repo
    run_git(repo, ["update-ref", f"refs/heads/{pull.branch}", pull.head])
    with branch_worktree(repo, pull.branch) as there:
        change(there)
    through_the_gate(repo, brought._replace(tip=repo.resolve(f"refs/heads/{pull.branch}")), run.today)
    env = push_environment(run.client, run.environ)
    spec = f"refs/heads/{pull.branch}:refs/heads/{pull.branch}"
    try:
        run_git(repo, ["push", "--quiet", "origin", spec], env=env)
    except GitFailed:
        raise GitMemError("the branch moved meanwhile: look again, then write it again") from None
