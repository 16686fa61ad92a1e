"""A branch of memory changes becomes a pull request: pushed, opened or brought up to date, here and in CI alike.

Never pushes to the branch it proposes to change, never forces. The text of the pull request is data: facts stand in
it as code, so that nothing in them is a link, a mention or markup.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from gitmem.errors import GitFailed, GitMemError, Refused, UsageError
from gitmem.gate import sources
from gitmem.gate.report import code
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange, towards
from gitmem.git.write import run_git
from gitmem.json_values import json_object, json_value
from gitmem.memory.fact import parse_span
from gitmem.messages import Message
from gitmem.paths import Layout, passes
from gitmem.plural import counted
from gitmem.review.commit_diff import fact_changes
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.forges.forge import Client, Forge, Pull, push_environment
from gitmem.review.markup import flat, place_words
from gitmem.review.masking import masked

MARKER = "<!-- git-mem:publish -->"
LISTED = 200
MARGIN = 1_000  # characters of a body for our markers and what stays
SIGNS = {
    Op.ADDED: "add",
    Op.PROMOTED: "add",
    Op.CHANGED: "change",
    Op.REMOVED: "remove",
    Op.MOVED: "move",
    Op.EXPIRED: "expire",
}


@dataclass(frozen=True, slots=True)
class Published:
    """What was done. `pull` is None without a token: then `link` opens the pull request by hand ("" for a remote at no
    known forge)."""

    branch: str
    base: str
    head: str
    link: str
    pull: Pull | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be proposed: `branch` onto `base` of `remote`. `title` is "" for the commit's own; `notes` are lines
    of Markdown that close the text of the pull request.
    """

    branch: str
    base: str
    remote: str = "origin"
    title: str = ""
    notes: tuple[str, ...] = ()


def remote_url(repo: Repository, remote: str) -> str:
    """The address pushes to `remote` go to. Raises GitMemError where there is none."""
    if remote.startswith("-"):
        raise UsageError(f"'{remote}' is no remote's name")
    try:
        return run_git(repo, ["remote", "get-url", "--push", remote]).strip()
    except GitFailed:
        raise GitMemError(f"there is no remote '{remote}'", f"git remote add {remote} URL") from None


def default_base(repo: Repository, remote: str) -> str:
    """The remote's default branch as this clone knows it, `main` where it does not."""
    for name, _ in repo.refs(f"refs/remotes/{remote}/"):
        if name.endswith("/HEAD"):
            try:
                short = run_git(repo, ["symbolic-ref", "--short", f"refs/remotes/{remote}/HEAD"]).strip()
            except GitFailed:
                continue
            return short.removeprefix(f"{remote}/")
    return "main"


def push(repo: Repository, remote: str, branch: str, base: str, env: Mapping[str, str] | None = None) -> str:
    """Push a local branch to the one of its name; its oid. Refuses the base branch; raises GitFailed."""
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
) -> Published:
    """Push a branch and open or update its pull request. With `environ` the push uses the token too.

    The gate looks at every version the branch brings first: Refused, and nothing is pushed, when it blocks.
    """
    branch, base = proposal.branch, proposal.base
    brought = _brought(repo, proposal.remote, base, repo.resolve(f"refs/heads/{branch}"))
    start = brought.base
    through_the_gate(repo, brought, today)
    env = None
    if client and environ is not None:
        env = push_environment(client, environ)
    head = push(repo, proposal.remote, branch, base, env)
    link = ""
    if forge:
        link = forge.compare(base, branch)
    if client is None or forge is None:
        return Published(branch, base, head, link, None)
    policy = sources.range_policy(repo, brought._replace(tip=head), today)  # of what is taken out nothing was scanned
    changes = masked(tuple(fact_changes(repo, start, head, layout, today, authors=False)), policy)
    body = describe(changes, forge, head, proposal.notes, sources.daily_patterns(repo, start or head))
    title = proposal.title or name_of(repo, head, changes)
    pull = client.open_or_update(head=branch, base=base, title=title, body=body)
    return Published(branch, base, head, link, pull)


def as_value(published: Published) -> dict[str, object]:
    """The JSON of docs/json.md, "publish"."""
    value = json_object(published, "branch base head")
    return value | {"compare": published.link or None, "pull_request": json_value(published.pull)}


def through_the_gate(repo: Repository, brought: CommitRange, today: date) -> None:
    """Scan what a range brings, as CI would. Raises Refused, naming rule, place and commit."""
    from gitmem.gate.report import blocking_words
    from gitmem.gate.scan import scan_source

    base, head, _ = brought
    policy = sources.range_policy(repo, brought, today)
    report = scan_source(sources.commits_beyond(repo, base, head, policy), policy)
    if report.blocked:
        span = "--history"
        if base:
            span = f"--range {base[:12]}..{head[:12]}"
        hint = f"git mem scan {span} shows it; docs/leaked-secret.md says how to take it out of commits"
        raise Refused(Message("not let through: {}", blocking_words(report)), hint)


def need_base(repo: Repository, remote: str, base: str) -> None:
    """Raise GitMemError where `base` is no branch of the remote: nothing could be proposed to it."""
    try:
        repo.resolve(f"refs/remotes/{remote}/{base}")
    except GitMemError:
        where = run_git(repo, ["remote", "get-url", "--push", remote]).rstrip("\n")
        if not run_git(repo, ["ls-remote", "--", where, f"refs/heads/{base}"]):
            raise GitMemError(f"there is no branch '{base}' at '{remote}'", f"git ls-remote --heads {remote}") from None


def _brought(repo: Repository, remote: str, base: str, head: str) -> CommitRange:
    """What `head` brings to the branch `base` of a remote."""
    for ref in (f"refs/remotes/{remote}/{base}", f"refs/heads/{base}"):
        try:
            return towards(repo, repo.resolve(ref), head)
        except GitMemError:
            continue
    return CommitRange("", head)


def name_of(repo: Repository, head: str, changes: Sequence[FactChange]) -> str:
    """A title: the subject of the one commit there is to see, or what the changes come to."""
    subject = " ".join(repo.commit(head).subject.split())[:200]
    return re.sub(r"[@#<>`]", "", subject) or f"memory: {counted(len(changes), 'fact')}"


def describe(
    changes: Sequence[FactChange], forge: Forge, head: str, notes: Sequence[str] = (), daily: Sequence[str] = ()
) -> str:
    """The body: a checklist of facts with their source lines, what is only noted below."""
    shown = [change for change in changes if not passes(change.path, daily)]
    if not shown:
        return "\n".join([MARKER, "", "No fact of long-term memory changes.", "", *notes]).rstrip() + "\n"
    first = [MARKER, "", f"{counted(len(shown), 'fact')}: {_counts(shown)}.", ""]
    last = ["", *notes]
    budget = forge.body_limit - MARGIN - len("\n".join([*first, *last]))
    rows: list[str] = []
    for change in shown[:LISTED]:
        row = _row(change, forge, head)
        if len(row) + 1 > budget:
            break
        budget -= len(row) + 1
        rows.append(row)
    if left := shown[len(rows) :]:
        last = ["", f"Not listed: {_counts(left)}. `git mem review` and the files show them.", *last]
    return "\n".join([*first, *rows, *last]).rstrip() + "\n"


def _row(change: FactChange, forge: Forge, head: str) -> str:
    """One item of the checklist."""
    old = ""
    if change.op is Op.CHANGED and change.old:
        old = f" (was {code(flat(change.old.text))})"
    item = f"- [ ] {SIGNS[change.op]} {code(flat(change.fact.text))}{_keys(change)}{old}"
    return "\n".join([item, *(f"  - {link}" for link in source_links(change, forge, head))])


def _counts(changes: Sequence[FactChange]) -> str:
    """How many facts are to be added, changed and so on, in the words of the checklist."""
    counts = Counter(SIGNS[change.op] for change in changes)
    return ", ".join(f"{number} to {sign}" for sign, number in sorted(counts.items()))


def _keys(change: FactChange) -> str:
    """What the comment of a fact says beside its sources, so that a tick is of this and of no other comment."""
    keys = [f"{flat(key)}={flat(value)}" for key, value in change.fact.meta if key != "src"]
    if not keys:
        return ""
    return f" ({code(' '.join(keys))})"


def source_links(change: FactChange, forge: Forge | None, commit: str) -> list[str]:
    """Markdown links to the source lines of a fact at `commit`; code where no forge is known."""
    links = []
    for key, value in change.fact.meta:
        span = None
        if key == "src":
            span = parse_span(value)
        if span is None:
            continue
        words = place_words(span.path, span.start_line, span.end_line)
        url = ""
        if forge:
            url = forge.lines(commit, span.path, span.start_line, span.end_line)
        links.append(f"[{words}]({url})" if url else words)
    return links
