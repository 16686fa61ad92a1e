"""`git mem publish`: propose a branch of memory changes as a pull request."""

from __future__ import annotations

import os

import click

from gitmem.cli.forge_access import forge_client
from gitmem.cli.options import branch_option, json_option, open_here
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.git.commit import ensure_can_commit
from gitmem.memory.snapshot import layout_at
from gitmem.review import publish
from gitmem.review.forges.location import forge_of


@click.command()
@click.option("--pr", is_flag=True, hidden=True)  # of 0.1.0, for one release
@click.option("--remote", default="origin", metavar="NAME", help="Where to push.")
@branch_option("Branch to propose to (default: the remote's own).", "--base", "BRANCH")
@branch_option("Branch to propose (default: the current one).", "--branch", "BRANCH")
@click.option("--title", default="", help="Title (default: the last commit's subject).")
@json_option
def command(pr: bool, remote: str, base: str, branch: str, title: str, as_json: bool) -> None:
    """Push the current branch and open its pull request.

    A pull request that is open is brought up to date. Its text is a checklist of facts and sources.

    At GitHub it uses GITHUB_TOKEN (or GH_TOKEN, or at a terminal what gh auth token says) and GITHUB_API_URL, at GitLab
    GITLAB_TOKEN, at Forgejo FORGEJO_TOKEN; without a token it pushes and prints a link that opens the pull request by
    hand. Never pushes to the branch it proposes to.

    \b
    git mem publish
    git mem publish --base main --title "What we decided in March"
    """
    if pr:
        say("hint: 'git mem publish' does that without --pr, which a later version will not know")
    repo, config = open_here()
    branch = branch or repo.branch() or ""
    if not branch:
        ensure_can_commit(repo)
        raise GitMemError("no branch is checked out here", "git switch -c memory/proposal")
    forge = forge_of(publish.remote_url(repo, remote), os.environ)
    if base:
        publish.ensure_base_exists(repo, remote, base)
    client = forge_client(forge) if forge else None
    base = base or (client.default_branch() if client else publish.default_base(repo, remote))
    in_actions = os.environ.get("GITHUB_ACTIONS") == "true" and bool(os.environ.get("GITHUB_SERVER_URL"))
    published = publish.publish(
        repo, forge, client, publish.Proposal(branch, base, remote, title),
        layout=layout_at(repo, repo.resolve(f"refs/heads/{branch}"), config), today=now().date(),
        environ=os.environ if in_actions else None,
    )  # fmt: skip
    if as_json:
        write_json(published)
    elif published.pull and forge:
        verb = "opened" if published.pull.created else "updated"
        say(f"{verb} {forge.proposal} {forge.number_of(published.pull.number)}")
        write(escape(published.pull.url, "") + "\n")
    elif forge is None:
        say(f"pushed; '{remote}' is at no forge that is known here, so who reviews it types")
        write(escape(f"git mem review {base}..{branch}", "") + "\n")
    else:
        say("pushed; there is no token here, so open the pull request at")
        write(escape(published.link, "") + "\n")
