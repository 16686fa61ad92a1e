"""`git mem promote`: facts from committed daily logs into MEMORY.md, each with its source."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, write, write_json
from gitmem.environment import now
from gitmem.errors import UsageError
from gitmem.plural import counted

if TYPE_CHECKING:
    from gitmem.promotion.plan import Refused
    from gitmem.promotion.promote import Outcome

BY_ITSELF = click.Choice(("commit", "commit-per-fact", "branch", "stage"))  # of a promotion that a commit starts


@click.command()
@click.option("--since", metavar="REV|DATE", default="", help="Read log lines added since then, not since the cursor.")
@click.option("--dry-run", is_flag=True, help="Say what would be promoted; write nothing.")
@click.option("--explain", is_flag=True, help="List every candidate with what stopped it.")
@click.option("--max", "limit", type=click.IntRange(1), metavar="N", help="Facts at most (and mem.maxFacts at most).")
@click.option("--model", metavar="ID", help="rules, gguf:<path> or http:<url> (mem.model).")
@click.option("--commit", "mode", flag_value="commit", help="One commit on the current branch (the default).")
@click.option("--commit-per-fact", "mode", flag_value="commit-per-fact", help="One commit a fact.")
@click.option("--branch", metavar="NAME", help="Commit on branch NAME, from a temporary work tree.")
@click.option("--stage", "mode", flag_value="stage", help="Leave MEMORY.md staged; commit nothing.")
@click.option("--accept", multiple=True, metavar="ID", help="Let in this fact of origin web or tool; repeatable.")
@click.option("--hook", type=BY_ITSELF, metavar="MODE", hidden=True, help="From post-commit: start detached.")
@click.option("--background", type=BY_ITSELF, metavar="MODE", hidden=True, help="What --hook started.")
@json_option
def command(
    since: str,
    dry_run: bool,
    explain: bool,
    limit: int | None,
    model: str | None,
    mode: str | None,
    branch: str | None,
    accept: tuple[str, ...],
    hook: str | None,
    background: str | None,
    as_json: bool,
) -> None:
    """Promote lasting facts from daily logs to MEMORY.md in one commit that names their sources.

    Only committed logs are read. MEMORY.md must be clean. `git mem why MEMORY.md:LINE` leads back to the lines;
    `git mem revert` takes a commit's facts out again.

    \b
    git mem promote --dry-run --explain
    git mem promote --branch memory/review
    """
    from gitmem.promotion.promote import Mode, Request, promote
    from gitmem.promotion.registry import promotion_model

    if hook or background:
        from gitmem.cli.promotion_hook import run, start

        if hook:
            start(hook)
        elif background:
            run(background)
        return
    if branch and mode:
        raise UsageError("--branch goes without --commit, --commit-per-fact and --stage")
    repo, config = open_here({"model": model} if model else {})
    chosen = Mode.NOTHING if dry_run else Mode.BRANCH if branch else Mode(mode or "commit")
    request = Request(mode=chosen, since=since, limit=limit or 0, branch=branch or "", accept=accept)
    found, policy = promotion_model(repo, config, now().date(), os.environ)
    outcome = promote(repo, config, found, policy, request, now())
    if as_json:
        write_json(as_value(outcome))
    else:
        write(as_text(outcome, explain))


def as_value(outcome: Outcome) -> dict[str, Any]:
    """The JSON of docs/json.md."""
    from gitmem.memory.fact import fact_id

    def places(spans: Any) -> list[dict[str, Any]]:
        return [{"path": s.path, "start_line": s.start_line, "end_line": s.end_line, "blob": s.blob} for s in spans]

    hidden = unshown(outcome)
    return {
        "facts": [
            {
                "op": str(item.operation.op),
                "id": fact_id(item.operation.text),
                "text": item.operation.text,
                "type": item.operation.type,
                "importance": item.operation.importance,
                "until": item.operation.until or None,
                "pinned": item.operation.pinned,
                "sources": places(item.operation.sources),
                "target": {"id": item.old.id, "text": item.old.text} if item.old else None,
                "reason": item.operation.reason,
            }
            for item in outcome.plan.approved
        ],
        "skipped": [
            {
                "id": fact_id(item.operation.text) if item.operation.text else None,
                "text": "" if item.operation.text in hidden else item.operation.text,
                "sources": places(item.operation.sources),
                "check": str(item.why),
                "reason": item.reason,
            }
            for item in outcome.plan.refused
        ],
        "archived": [{"id": m.fact.id, "text": m.fact.text, "path": m.path} for m in outcome.archived],
        "cursor": outcome.cursor or None,
        "model": outcome.model,
        "mode": str(outcome.mode),
        "branch": outcome.branch or None,
        "commits": list(outcome.commits),
        "lines_read": outcome.lines,
        "why_nothing": outcome.why_nothing or None,
        "notes": [*outcome.notes, *(f"{s.path}: {s.reason}" for s in outcome.skipped)],
    }


def as_text(outcome: Outcome, explain: bool) -> str:
    """For a person: what was promoted, then (with --explain) what was not and why."""
    from gitmem.memory.fact import render_span
    from gitmem.promotion.promote import Mode

    lines = []
    for item in outcome.plan.approved:
        operation = item.operation
        lines.append(f"{operation.op:<9} {operation.text} ({operation.type}, {operation.importance:g})")
        lines += [f"          from {render_span(span)}" for span in operation.sources]
        if item.old:
            lines.append(f"          replaces {item.old.id}: {item.old.text}")
    lines += [f"archived  {moved.fact.text} -> {moved.path}" for moved in outcome.archived]
    lines += [f"note: {note}" for note in outcome.notes]
    lines += [f"not read: {item.path} ({item.reason})" for item in outcome.skipped]
    if explain:
        hidden = unshown(outcome)
        lines += [explained(item, item.operation.text not in hidden) for item in outcome.plan.refused]
    count = len(outcome.plan.approved)
    if not count:
        lines.append(f"nothing to promote: {outcome.why_nothing}")
    elif outcome.mode is Mode.NOTHING:
        lines.append(f"would promote {count} of {counted(outcome.lines, 'new line')}")
    elif outcome.mode is Mode.STAGE:
        lines.append(f"staged {counted(count, 'fact')}; commit with: git commit")
    else:
        where = f" on {outcome.branch}" if outcome.branch else ""
        facts = counted(count, "fact")
        lines.append(f"promoted {facts}{where}: {', '.join(oid[:12] for oid in outcome.commits)}")
    held = [item for item in outcome.plan.refused if str(item.why) == "origin"]
    if held and not explain:
        lines.append(f"{len(held)} from the web or a tool wait for a person: --explain, then --accept ID")
    return escape("\n".join(lines) + "\n")


def unshown(outcome: Outcome) -> set[str]:
    """Texts of candidates that are not repeated anywhere: our rules see a secret in them."""
    from gitmem.gate.detectors.secrets.secrets import secret_lines

    texts = list(dict.fromkeys(item.operation.text for item in outcome.plan.refused))
    return {texts[n - 1] for n in secret_lines("\n".join(text.replace("\n", " ") for text in texts))}


def explained(item: Refused, shown: bool = True) -> str:
    """One candidate and the check that stopped it."""
    from gitmem.memory.fact import render_span

    span = item.operation.sources[0] if item.operation.sources else None
    where = render_span(span) if span else "-"
    text = item.operation.text if shown and item.operation.text else "[not shown]"
    return f"skipped   {text}\n          {where}\n          {item.why}: {item.reason}"
