"""The commands in pull request comments: `/mem accept`, `/mem reject FACT reason`, `/mem settle FACT later`.

Accept adds a check to the head commit and changes no file. Reject removes one fact from the branch, so that it is not
proposed again. Settle records which of two facts holds, as `git mem settle` does.

A command counts only for the head commit at which it was written; when the branch has moved, it is refused. The forge,
not the event's payload, says whether the author may push. An edited comment is ignored, since somebody else may have
edited it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange
from gitmem.git.write import run_git
from gitmem.memory.fact import Fact
from gitmem.memory.rivals import Rival
from gitmem.paths import layout_of
from gitmem.promotion import open_pairs, settlement
from gitmem.provenance import corrections
from gitmem.review import proposals
from gitmem.review.commit_diff import fact_changes
from gitmem.review.forges.forge import Comment, ForgeError, Pull, push_environment
from gitmem.review.forges.github import GitHubClient
from gitmem.review.publish import ensure_gate_passes

ACCEPTED_CHECK = "memory accepted"
MAX_REASON_CHARS = 200  # of a reason in a commit message
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
    ACCEPT = "accept"
    REJECT = "reject"
    SETTLE = "settle"


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed command. `fact`: the prefix of a fact's id, or its place at the head (`MEMORY.md:4`); "" for accept.
    `reason`: one line, "" for none. Only for settle, else "": `other`: the other fact, "" when the first has only one
    rival; `answer`: `later`, `earlier`, `both` or `same`."""

    verb: Verb
    fact: str = ""
    reason: str = ""
    other: str = ""
    answer: str = ""


class State(StrEnum):
    """What happened to the command of a comment. IGNORED: it was not carried out, and nobody is told. REFUSED: it was
    not carried out, and its author is told why. ACCEPTED, REJECTED, SETTLED: the command of that name was carried
    out."""

    IGNORED = "ignored"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a comment. `words`: the result as a sentence. `answer`: whether the author gets the sentence as a
    reply."""

    state: State
    words: str
    answer: bool = False


@dataclass(frozen=True, slots=True)
class CommandRun:
    """What `run_command` works with. `repo`: a clone of the forge's repository. `environ`: the environment variables of
    its fetches and pushes. `today`: the day by which facts count as expired."""

    repo: Repository
    config: Config
    client: GitHubClient
    environ: Mapping[str, str]
    today: date


def parse(body: str) -> Command | None:
    """The command of a comment; None when its first line with text is no command or another line begins with `/mem`
    too."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    if not lines or sum(line.startswith("/mem") for line in lines) != 1:
        return None
    if _ACCEPT.fullmatch(lines[0]):
        return Command(Verb.ACCEPT)
    if match := _SETTLE.fullmatch(lines[0]):
        fact, other = ((place or "").strip("`") for place in (match[1], match[2]))
        command = Command(Verb.SETTLE, fact, _one_line(match[4] or ""), other, match[3])
    elif match := _REJECT.fullmatch(lines[0]):
        command = Command(Verb.REJECT, match[1] or match[2], _one_line(match[3]))
    else:
        return None
    if not _FACT.fullmatch(command.fact) or (command.other and not _FACT.fullmatch(command.other)):
        return None
    return command


def _one_line(reason: str) -> str:
    return "".join(c if c.isprintable() else " " for c in reason)[:MAX_REASON_CHARS]


def run_command(run: CommandRun, number: int, comment_id: int) -> Outcome:
    """Carry out the command of a comment on the pull request `number`. A comment that was edited, that is no command or
    whose author may not push is IGNORED. A malformed command, a closed pull request and a branch that has moved since
    the comment are REFUSED, with an answer. Raises ForgeError when the forge does not answer or refuses; any other
    GitMemError is a REFUSED outcome."""
    client = run.client
    comment = client.comment(comment_id)
    command = parse(comment.body)
    if command is None and not re.match(r"\s*/mem(\s|$)", comment.body):
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
    """Add the check to the head commit. A later push has no check, so it withdraws the acceptance."""
    words = f"accepted by {comment.author} at {pull.head[:12]}"
    client.put_check(ACCEPTED_CHECK, pull.head, failed=False, title=words, summary=f"Comment {comment.id}.")
    return Outcome(State.ACCEPTED, words)


def _reject(run: CommandRun, pull: Pull, comment: Comment, command: Command) -> Outcome:
    """Remove the fact from the branch in one commit that names the author and the reason. Raises GitMemError when not
    exactly one fact of the pull request matches, when the branch must not be pushed to (`_fetch`), or when the gate or
    the forge refuses."""
    span = _fetch(run, pull)
    path, line = _named_place(_new_facts(run, span), command.fact)
    reason = _reason(pull, comment, command)
    _change_branch(run, pull, span, lambda there: corrections.forget(there, run.config, path, line, reason))
    return Outcome(State.REJECTED, f"the fact {command.fact} is taken out, as {comment.author} said", answer=True)


def _named_place(facts: Mapping[tuple[str, int], Fact], name: str) -> tuple[str, int]:
    """(path, line) of the fact that has the place `name` or an id that begins with `name`. `facts`: place -> fact.
    Raises GitMemError unless exactly one fact matches."""
    places = [place for place, fact in facts.items() if fact.id.startswith(name) or "{}:{}".format(*place) == name]
    if len(places) != 1:
        words = "stands at" if ":" in name else "has an id that begins with"
        count = f"{len(places)} facts" if places else "no fact"
        raise GitMemError(f"{count} of this pull request {words} {name}")
    return places[0]


def _settle(run: CommandRun, pull: Pull, comment: Comment, command: Command) -> Outcome:
    """Settle a pair of facts in one commit on the branch; the pull request must add one of the two. Raises GitMemError
    when not exactly one open pair matches, when the branch must not be pushed to (`_fetch`), or when the gate or the
    forge refuses."""
    span = _fetch(run, pull)
    new_facts = _new_facts(run, span)
    answer = settlement.Answer(command.answer)
    config = run.config._replace(agent="")  # the author of the comment is a person

    def change(worktree: Repository) -> None:
        pair = open_pairs.pair_named(_pairs_with(new_facts, worktree, run.today), command.fact, command.other)
        settlement.settle(worktree, config, pair, answer, run.today, _reason(pull, comment, command))

    _change_branch(run, pull, span, change)
    words = f"{settlement.WORDS[answer]}, as {comment.author} said of {command.fact}"
    return Outcome(State.SETTLED, words, answer=True)


def _pairs_with(new_facts: Container[tuple[str, int]], worktree: Repository, today: date) -> list[Rival]:
    """The open pairs of facts of a work tree in which one of the two is at a place of `new_facts`."""
    facts = open_pairs.dated_facts(worktree, open_pairs.work_tree_facts(worktree), today)
    return [
        pair
        for pair in open_pairs.open_fact_pairs(facts, today)
        if any((row.path, row.fact.line) in new_facts for row in (pair.new, pair.old))
    ]


def _reason(pull: Pull, comment: Comment, command: Command) -> str:
    return f"{command.reason} ({comment.author}, pull request {pull.number})".lstrip()


def _fetch(run: CommandRun, pull: Pull) -> CommitRange:
    """Fetch a pull request and return the range of its commits. Raises GitMemError when its branch must not be pushed
    to: the branch of a fork, or the default branch."""
    repo, client = run.repo, run.client
    if pull.head_repository != client.forge.repository:
        raise GitMemError("the branch of a fork is its owner's: ask there")
    if pull.branch == client.default_branch():
        raise GitMemError("its branch is the default branch, which is never pushed to")
    proposals.fetch_pull(repo, client, pull, run.environ)
    start = repo.resolve(pull.start)
    return proposals.proposed_range(repo, client.forge.repository, pull.base, start, pull.head)


def _new_facts(run: CommandRun, span: CommitRange) -> dict[tuple[str, int], Fact]:
    """The facts at the tip of a range that it added, edited, moved to another file or let expire, by (path, line)."""
    layout = layout_of([entry.path for entry in run.repo.entries(span.tip)], run.config.memory_paths)
    changes = fact_changes(run.repo, span.base, span.tip, layout, run.today, authors=False)
    return {(change.path, change.new.line): change.new for change in changes if change.new}


def _change_branch(run: CommandRun, pull: Pull, span: CommitRange, change: Callable[[Repository], object]) -> None:
    """Reset the local branch of that name to the pull request's head, call `change` with a work tree of it, pass its
    commits through the gate and push them without force. `change`: makes the commit. Raises GitMemError if the gate
    refuses or the branch has moved on the forge, and as `change`."""
    repo = run.repo
    run_git(repo, ["update-ref", f"refs/heads/{pull.branch}", pull.head])
    with branch_worktree(repo, pull.branch) as worktree:
        change(worktree)
    ensure_gate_passes(repo, span._replace(tip=repo.resolve(f"refs/heads/{pull.branch}")), run.today)
    env = push_environment(run.client, run.environ)
    spec = f"refs/heads/{pull.branch}:refs/heads/{pull.branch}"
    try:
        run_git(repo, ["push", "--quiet", "origin", spec], env=env)
    except GitFailed:
        raise GitMemError("the branch moved meanwhile: look again, then write it again") from None
