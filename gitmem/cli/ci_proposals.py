"""The proposals that CI makes: a promotion or a consolidation on a branch of its own, with one pull request."""

from __future__ import annotations

import os
import sys
from datetime import timedelta

from gitmem.cli.ci_job import append_summary, forge_and_client, resolve_commit, set_bot_identity, write_outputs
from gitmem.cli.commands.consolidate import as_text as consolidation_text
from gitmem.cli.options import open_here
from gitmem.cli.promotion_output import as_text
from gitmem.cli.terminal import escape, say
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.gate.policy import Policy
from gitmem.gate.tree_policies import worktree_policy
from gitmem.git import merge_driver
from gitmem.git.opening import Repository
from gitmem.git.worktree import write_atomic
from gitmem.memory.snapshot import layout_at
from gitmem.paths import Layout
from gitmem.plural import counted
from gitmem.promotion import consolidation
from gitmem.promotion.model_registry import promotion_model
from gitmem.promotion.past_consolidations import last_consolidation
from gitmem.promotion.promote import Mode, Request, promote
from gitmem.promotion.proposal import Model
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.review import proposals, publish
from gitmem.review.commit_diff import fact_changes
from gitmem.review.forges.forge import Client, Forge, push_environment
from gitmem.system import make_folder, remove_folder

# The least time between two weekly consolidations; half a day under a week, since a schedule may start early.
WEEK = timedelta(days=6, hours=12)
DEFAULT_TOKEN = (  # a note in the text of a pull request
    "Pushes with the default token of Actions start no checks. This proposal was scanned before it was pushed; give "
    "the action a `token` of a GitHub App or a fine-grained one for checks of its own."
)


def propose_promotion(branch: str, limit: int, model_name: str, key: str) -> None:
    """Promote on a branch and keep one pull request of it up to date; writes the step outputs. If the last pull request
    was declined, its facts are taken off the branch first and not proposed again.

    `limit`: facts at most, 0 for the setting. `model_name`: in place of mem.model, "" for that. `key`: the key for an
    `http:` model, "" for none. Raises GitMemError without a token and for the default branch, ModelUnavailable.
    """
    set_bot_identity()
    repo, config = open_here({"model": model_name})
    forge, client = forge_and_client()
    if client is None:
        raise GitMemError("there is no token to push and open a pull request with", "give the action a token")
    base = client.default_branch()
    if branch == base:
        raise GitMemError(f"'{branch}' is the default branch, which is never pushed to", "name another branch")
    base_commit = resolve_commit(repo, f"refs/remotes/origin/{base}")
    merge_driver.set_up(repo, sys.executable, config.memory_daily)  # for the merge of the base into the branch
    declined = 0
    if proposals.fetch(repo, client, branch, os.environ):
        declined = proposals.record_rejection(repo, config, client, branch, base_commit)
    policy = worktree_policy(repo, now().date())
    model = _model(repo, config, policy, key)
    outcome = promote(repo, config, model, policy, Request(mode=Mode.BRANCH, limit=limit, branch=branch), now())
    text = without_key(key, escape(as_text(outcome, explain=True)))
    append_summary(f"### Promotion\n\n{_as_block(text)}\n")
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    facts, number = 0, ""
    layout = layout_at(repo, tip or base_commit, config)
    if tip and not repo.is_ancestor(tip, base_commit):
        meeting = repo.merge_base(base_commit, tip) or ""
        facts = len(fact_changes(repo, meeting, tip, layout, now().date(), authors=False))
    if facts:
        title = f"memory: {counted(facts, 'fact')} from the daily logs"
        proposal = publish.Proposal(branch, base, title=title, notes=(DEFAULT_TOKEN,))
        number = _publish(repo, forge, client, proposal, layout)
        say(f"git mem: {counted(facts, 'fact')} on '{branch}', pull request #{number}")
    elif declined:
        publish.push(repo, "origin", branch, base, push_environment(client, os.environ))
    write_outputs(facts=str(facts), **{"pull-request": number, "declined": str(declined)})


def propose_consolidation(promotion: str, model_name: str, key: str) -> str:
    """Consolidate on the branch `memory/consolidate`, unless the last consolidation is younger than WEEK, and keep one
    pull request of it up to date. Returns its number, "" if there is none. `promotion`: the branch of the promotion.
    Call it after `propose_promotion`, which checks the token. Raises GitMemError if `promotion` or the default branch
    is `memory/consolidate`, ModelUnavailable."""
    branch = consolidation.BRANCH
    repo, config = open_here({"model": model_name})
    forge, client = forge_and_client()
    assert client is not None  # the promotion needed it too, and set the merge driver up
    base = client.default_branch()
    if branch in (promotion, base):
        raise GitMemError(f"'{branch}' is the branch of consolidations", "branch: memory/promote")
    base_commit = resolve_commit(repo, f"refs/remotes/origin/{base}")
    tip = proposals.fetch(repo, client, branch, os.environ)
    last_run = last_consolidation(repo, list(filter(None, (base_commit, tip))))
    if last_run is not None and now() - last_run < WEEK:
        notice = f"The last one was on {last_run.date()}: the next one is due a week after it."
        append_summary(f"### Consolidation\n\n{notice}\n")
        return ""
    declined = proposals.take_back_declined_consolidations(repo, client, branch, base_commit) if tip else 0
    policy = worktree_policy(repo, now().date())
    model = _model(repo, config, policy, key)
    outcome = consolidation.consolidate(repo, config, model, policy, consolidation.Request(branch=branch), now())
    text = forgotten_texts(repo).masked(without_key(key, consolidation_text(outcome, dry_run=False)))
    append_summary(f"### Consolidation\n\n{_as_block(text)}\n")
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    meeting = ""
    if tip:
        meeting = repo.merge_base(base_commit, tip) or ""
    if not tip or not any(repo.changes(meeting, tip)):
        if declined:
            publish.push(repo, "origin", branch, base, push_environment(client, os.environ))
        return ""
    layout = layout_at(repo, tip, config)
    facts = len(fact_changes(repo, meeting, tip, layout, now().date(), authors=False))
    title = f"memory: consolidate {counted(facts, 'fact') if facts else 'episodes'}"
    proposal = publish.Proposal(branch, base, title=title, notes=(DEFAULT_TOKEN,))
    number = _publish(repo, forge, client, proposal, layout)
    say(f"git mem: a consolidation on '{branch}', pull request #{number}")
    return number


def _as_block(text: str) -> str:
    """Text, which ends with a newline, as a code block of Markdown; backquotes in it cannot end the block."""
    return "```text\n" + text.replace("```", chr(39) * 3) + "```"


def _publish(repo: Repository, forge: Forge, client: Client, proposal: publish.Proposal, layout: Layout) -> str:
    """Push the branch of `proposal`, and open or update its pull request. Returns the pull request's number, "" if
    there is none."""
    published = publish.publish(repo, forge, client, proposal, layout=layout, today=now().date(), environ=os.environ)
    if published.pull:
        return str(published.pull.number)
    return ""


def _model(repo: Repository, config: Config, policy: Policy, key: str) -> Model:
    """The model of a promotion. It reads its key, "" for none, from a file that only this user can
    read, and that is removed once the model is open."""
    if not key:
        return promotion_model(repo, config, policy, os.environ)
    folder = make_folder()
    try:
        write_atomic(folder, "key", key.encode(), private=True)
        return promotion_model(repo, config._replace(http_key_file=str(folder / "key")), policy, os.environ)
    finally:
        remove_folder(folder)


def without_key(key: str, text: str) -> str:
    """`text` with the key masked, since a server may repeat it in its answer."""
    if key:
        return text.replace(key, "***")
    return text
