"""`git mem consolidate`: merge repeated facts, archive replaced ones, lower unused ones, and digest old episodes."""

from __future__ import annotations

import os

import click

from gitmem.cli.options import branch_option, json_option, open_here, say_if_detached, since_option
from gitmem.cli.places import place_text
from gitmem.cli.terminal import escape, page, say_progress, write, write_json
from gitmem.environment import now
from gitmem.gate.tree_policies import worktree_policy
from gitmem.memory.fact import Fact
from gitmem.memory.rivals import without_secrets
from gitmem.promotion.consolidation import Outcome, Request, as_value, consolidate, summary
from gitmem.promotion.lowered_importance import LOWERED_IMPORTANCE
from gitmem.promotion.model_registry import promotion_model
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.sessions.due_consolidation import note_consolidated, receipt_summary


@click.command()
@since_option("Look only at what was written since then.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
@click.option(
    "--model", metavar="ID", help="Who chooses lines for digests: rules, gguf:<path>, http:<url> (mem.model)."
)
@branch_option()
@json_option
def command(since: str, dry_run: bool, model: str | None, branch: str, as_json: bool) -> None:
    """Merge what MEMORY.md says twice, and digest old episodes.

    One commit: facts in the same words become one, a fact that a later one surely replaced goes to the archive, a fact
    that no session was given in 90 days loses importance, and the episodes of a month get a digest, word for word, each
    line with its source. Pinned facts, facts about health and facts that a person wrote are never replaced; what is not
    sure is listed for `git mem settle`. `git mem undo` takes it back.

    \b
    git mem consolidate --dry-run
    git mem consolidate --since 2026-01-01
    git mem consolidate --branch memory/consolidate
    """
    repo, config = open_here({"model": model})
    request = Request(since=since, dry_run=dry_run, branch=branch, receipts=receipt_summary(repo))
    policy = worktree_policy(repo, now().date())
    chosen = promotion_model(repo, config, policy, os.environ, progress=say_progress)
    outcome = consolidate(repo, config, chosen, policy, request, now())
    if not dry_run and config.distill_after:
        note_consolidated(repo)
    mask = forgotten_texts(repo)  # an episode may still say what was taken out of memory
    if as_json:
        write_json(mask.masked_json(as_value(outcome, dry_run=dry_run)))
        return
    text = mask.masked(as_text(outcome, dry_run))
    if dry_run:
        page(text)
        return
    write(text)
    if not outcome.branch:
        say_if_detached(repo, outcome.commit)


def as_text(outcome: Outcome, dry_run: bool) -> str:
    """The outcome of a consolidation for a person: the changes, the pairs of facts to settle, the notes, then the
    commit."""
    lines = [f"merge    {_place(merge.gone)} into {_place(merge.kept)}: {merge.gone.text}" for merge in outcome.merges]
    for replacement in outcome.replaced:
        lines.append(f"replace  {_place(replacement.gone)} {replacement.gone.text}")
        lines.append(f"         by {_place(replacement.kept)} {replacement.kept.text}")
    for lowering in outcome.lowered:
        change = f"{lowering.before:g} -> {LOWERED_IMPORTANCE:g}"
        lines.append(f"lower    {_place(lowering.fact)} {change}: {lowering.fact.text}")
    for digest in outcome.digests:
        lines.append(f"digest   {digest.path}: {len(digest.lines)} lines of {len(digest.episodes)} episodes")
        for line in digest.lines:
            lines.append(f"         {line.subject}: {line.text}")
            lines += [f"           from {place_text(span)}" for span in line.sources]
    for pair in map(without_secrets, outcome.asked):
        earlier, later = pair.earlier_first
        lines.append(f"ask      {_place(earlier.fact)} {earlier.fact.text}")
        lines.append(f"         {_place(later.fact)} {later.fact.text}")
        lines.append(f"         {pair.kind}: git mem settle")
    lines += [f"note: {note}" for note in outcome.notes]
    if outcome.empty:
        lines.append("nothing to consolidate")
    elif dry_run:
        lines.append(f"would commit {summary(outcome)}")
    else:
        branch_note = f" on {outcome.branch}" if outcome.branch else ""
        lines.append(f"committed {summary(outcome)}{branch_note}: {outcome.commit[:12]}")
    return escape("\n".join(lines) + "\n")


def _place(fact: Fact) -> str:
    return f"MEMORY.md:{fact.line}"
