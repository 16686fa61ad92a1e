"""Turns a branch of memory changes into a pull request: pushes the branch, then opens or updates its pull request.

Works the same on a person's machine and in CI. It never pushes to the base branch and never forces a push. Facts stand
as code in the pull request's description, so that they cannot act as a link, a mention or markup.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from gitmem.daily_logs import records_events
from gitmem.errors import GitFailed, GitMemError, Refused, UsageError
from gitmem.gate.commit_files import files_of_new_commits
from gitmem.gate.reports.finding_words import blocking_words
from gitmem.gate.reports.markdown import code
from gitmem.gate.scan import scan
from gitmem.gate.tree_policies import daily_patterns, range_policy
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange, towards
from gitmem.git.write import run_git
from gitmem.json_values import json_keys
from gitmem.memory.fact import parse_span
from gitmem.messages import Message
from gitmem.paths import Layout
from gitmem.plural import counted
from gitmem.review.commit_diff import fact_changes
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.forges.forge import Client, Forge, Pull, push_environment
from gitmem.review.markup import place_words, printable
from gitmem.review.masking import mask_strings

MARKER = "<!-- git-mem:publish -->"
MAX_LISTED_FACTS = 200  # in one description
RESERVED_CHARS = 1_000  # of a description, for the markers and the text that people wrote
OP_WORDS = {
    Op.ADDED: "add", Op.PROMOTED: "add", Op.CHANGED: "change", Op.REMOVED: "remove", Op.MOVED: "move",
    Op.EXPIRED: "expire",
}  # fmt: skip


@json_keys("branch base head compare=link? pull_request=pull")
@dataclass(frozen=True, slots=True)
class PublishedBranch:
    """A pushed branch. `head`: the oid of its tip. `link`: the page that opens a pull request by hand, "" for a remote
    at an unknown forge. `pull`: the pull request, None without a token.

    JSON: `compare`: the link that opens a pull request by hand, null for a remote at no known forge.
    `pull_request`: null without a token.
    """

    branch: str
    base: str
    head: str
    link: str
    pull: Pull | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A branch to propose for the branch `base` of `remote`. `title`: the title of the pull request, "" for the subject
    of the newest commit. `notes`: lines of Markdown at the end of the description."""

    branch: str
    base: str
    remote: str = "origin"
    title: str = ""
    notes: tuple[str, ...] = ()


def remote_url(repo: Repository, remote: str) -> str:
    """The URL that pushes to `remote` use. Raises UsageError for an invalid name, GitMemError for an unknown remote."""
    if remote.startswith("-"):
        raise UsageError(f"'{remote}' is no remote's name")
    try:
        return run_git(repo, ["remote", "get-url", "--push", remote]).strip()
    except GitFailed:
        raise GitMemError(f"there is no remote '{remote}'", f"git remote add {remote} URL") from None


def default_base(repo: Repository, remote: str) -> str:
    """The name of the remote's default branch, `main` when this clone does not know it."""
    for name, _ in repo.refs(f"refs/remotes/{remote}/"):
        if name.endswith("/HEAD"):
            try:
                short = run_git(repo, ["symbolic-ref", "--short", f"refs/remotes/{remote}/HEAD"]).strip()
            except GitFailed:
                continue
            return short.removeprefix(f"{remote}/")
    return "main"


def push(repo: Repository, remote: str, branch: str, base: str, env: Mapping[str, str] | None = None) -> str:
    """Push a local branch to the remote branch of the same name and return the oid of its tip.

    Raises GitMemError for the base branch or a branch that does not exist, GitFailed when the push fails.
    """
    if branch == base:
        raise GitMemError(
            f"'{branch}' is the branch that changes are proposed to",
            "git switch -c memory/proposal, then publish that",
        )
    head = repo.resolve(f"refs/heads/{branch}")
    run_git(repo, ["push", "--quiet", remote, f"refs/heads/{branch}:refs/heads/{branch}"], env=env)
    return head


def publish(
    repo: Repository,
    forge: Forge | None,
    client: Client | None,
    proposal: Proposal,
    *,
    layout: Layout,
    today: date,
    environ: Mapping[str, str] | None = None,
) -> PublishedBranch:
    """Push a branch and open or update its pull request. `environ`: the environment of the push, which then uses the
    client's token; None to push without the token.

    Before that the gate scans every version that the branch adds. When it blocks, this raises Refused and pushes
    nothing. Raises also GitMemError for the base branch or a branch that does not exist, GitFailed when the push fails,
    and ForgeError when the forge does not open or update the pull request.
    """
    branch, base = proposal.branch, proposal.base
    span = _range_onto(repo, proposal.remote, base, repo.resolve(f"refs/heads/{branch}"))
    ensure_gate_passes(repo, span, today)
    env = push_environment(client, environ) if client and environ is not None else None
    head = push(repo, proposal.remote, branch, base, env)
    link = forge.compare(base, branch) if forge else ""
    if client is None or forge is None:
        return PublishedBranch(branch, base, head, link, None)
    # The description is masked, since it quotes removed facts too and the gate scans only what the branch adds.
    policy = range_policy(repo, span._replace(tip=head), today)
    changes = mask_strings(tuple(fact_changes(repo, span.base, head, layout, today, authors=False)), policy)
    body = pull_description(changes, forge, head, proposal.notes, daily_patterns(repo, span.base or head))
    title = proposal.title or _title(repo, head, changes)
    pull = client.open_or_update(head=branch, base=base, title=title, body=body)
    return PublishedBranch(branch, base, head, link, pull)


def ensure_gate_passes(repo: Repository, span: CommitRange, today: date) -> None:
    """Scan every version in a range, as CI would. Raises Refused when the gate blocks; the message names the rule, the
    place and the commit."""
    base, head, _ = span
    policy = range_policy(repo, span, today)
    report = scan(files_of_new_commits(repo, base, head, policy), policy)
    if report.blocked:
        option = f"--range {base[:12]}..{head[:12]}" if base else "--history"
        hint = f"git mem scan {option} shows it; docs/leaked-secret.md says how to take it out of commits"
        raise Refused(Message("not let through: {}", blocking_words(report)), hint)


def ensure_base_exists(repo: Repository, remote: str, base: str) -> None:
    """Raise GitMemError when `base` is not a branch of the remote, so that nothing can be proposed for it."""
    try:
        repo.resolve(f"refs/remotes/{remote}/{base}")
    except GitMemError:
        url = run_git(repo, ["remote", "get-url", "--push", remote]).rstrip("\n")
        if not run_git(repo, ["ls-remote", "--", url, f"refs/heads/{base}"]):
            raise GitMemError(f"there is no branch '{base}' at '{remote}'", f"git ls-remote --heads {remote}") from None


def _range_onto(repo: Repository, remote: str, base: str, head: str) -> CommitRange:
    """The commits that `head` adds to the branch `base` of a remote, or to the local branch of that name; all commits
    of `head` when neither exists."""
    for ref in (f"refs/remotes/{remote}/{base}", f"refs/heads/{base}"):
        try:
            return towards(repo, repo.resolve(ref), head)
        except GitMemError:
            continue
    return CommitRange("", head)


def _title(repo: Repository, head: str, changes: Sequence[FactChange]) -> str:
    """A title for the pull request: the first 200 characters of the newest commit's subject, without markup, else the
    number of facts."""
    subject = " ".join(repo.commit(head).subject.split())[:200]
    return re.sub(r"[@#<>`]", "", subject) or f"memory: {counted(len(changes), 'fact')}"


def pull_description(
    changes: Sequence[FactChange], forge: Forge, head: str, notes: Sequence[str] = (), daily: Sequence[str] = ()
) -> str:
    """The description of the pull request: a checklist of the changed facts outside logs with links to their sources,
    then `notes`. It keeps within the forge's limit and MAX_LISTED_FACTS; the other facts are counted."""
    facts = [change for change in changes if not records_events(change.path, daily)]
    if not facts:
        return "\n".join([MARKER, "", "No fact of long-term memory changes.", "", *notes]).rstrip() + "\n"
    intro = [MARKER, "", f"{counted(len(facts), 'fact')}: {_counts(facts)}.", ""]
    ending = ["", *notes]
    budget = forge.body_limit - RESERVED_CHARS - len("\n".join([*intro, *ending]))
    rows: list[str] = []
    for change in facts[:MAX_LISTED_FACTS]:
        row = _row(change, forge, head)
        if len(row) + 1 > budget:
            break
        budget -= len(row) + 1
        rows.append(row)
    if unlisted := facts[len(rows) :]:
        ending = ["", f"Not listed: {_counts(unlisted)}. `git mem review` and the files show them.", *ending]
    return "\n".join([*intro, *rows, *ending]).rstrip() + "\n"


def _row(change: FactChange, forge: Forge, head: str) -> str:
    """One item of the checklist, without a line end: a line for the fact, then one for each source with a link to the
    commit `head`. The first line shows the keys of the fact's comment except `src`, so that a tick does not survive an
    edit of the comment."""
    item = f"- [ ] {OP_WORDS[change.op]} {code(printable(change.fact.text))}"
    keys = [f"{printable(key)}={printable(value)}" for key, value in change.fact.meta if key != "src"]
    if keys:
        item += f" ({code(' '.join(keys))})"
    if change.op is Op.CHANGED and change.old:
        item += f" (was {code(printable(change.old.text))})"
    return "\n".join([item, *(f"  - {link}" for link in _source_links(change, forge, head))])


def _counts(changes: Sequence[FactChange]) -> str:
    """The number of facts to add, change and so on, in the words of the checklist."""
    counts = Counter(OP_WORDS[change.op] for change in changes)
    return ", ".join(f"{number} to {word}" for word, number in sorted(counts.items()))


def _source_links(change: FactChange, forge: Forge, commit: str) -> Iterator[str]:
    """Markdown links to the source lines of a fact at `commit`."""
    for key, value in change.fact.meta:
        span = parse_span(value)
        if key == "src" and span:
            words = place_words(span.path, span.start_line, span.end_line)
            yield f"[{words}]({forge.lines(commit, span.path, span.start_line, span.end_line)})"
