"""`git mem promote`: promote facts from committed daily logs to MEMORY.md, each with its source."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import click

from gitmem.cli.options import branch_option, json_option, open_here, say_if_detached, since_option
from gitmem.cli.promotion_hook import run, start
from gitmem.cli.promotion_output import as_text
from gitmem.cli.promotion_review import promote_interactively
from gitmem.cli.terminal import ProgressLine, can_ask, page, say, say_progress, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit, UsageError
from gitmem.git.opening import Repository
from gitmem.plural import counted
from gitmem.promotion.promote import Mode, Outcome, Request, as_value, promote
from gitmem.provenance.forgotten_texts import forgotten_texts

HOOK_MODES = click.Choice(("commit", "commit-per-fact", "branch", "stage"))  # modes of a promotion that a hook starts


class PromoteOptions(NamedTuple):
    """The options of one promotion, as `git mem promote -h` has them, and the two that only hooks give. None or ""
    means that the option was not given.

    `limit`: `--max`. `mode`: "commit", "commit-per-fact" or "stage". `hook`, `background`: a mode of HOOK_MODES; only
    hooks of Git give them.
    """

    since: str
    dry_run: bool
    explain: bool
    limit: int | None
    model: str | None
    use: str | None
    mode: str | None
    branch: str
    accept: tuple[str, ...]
    interactive: bool
    hook: str | None
    background: str | None
    as_json: bool


@click.command()
@since_option("Read log lines added since then, not since the cursor.")
@click.option("--dry-run", is_flag=True, help="Say what would be promoted; write nothing.")
@click.option("--explain", is_flag=True, help="Show what stopped the other candidates, by reason.")
@click.option("--max", "limit", type=click.IntRange(1), metavar="N", help="Facts at most (and mem.maxFacts at most).")
@click.option("--model", metavar="ID", help="rules, gguf:<path> or http:<url> (mem.model).")
@click.option("--use", type=click.Choice(("auto", "judge", "list")), help="What a language model does (mem.modelUse).")
@click.option("--commit", "mode", flag_value="commit", help="One commit on the current branch (the default).")
@click.option("--commit-per-fact", "mode", flag_value="commit-per-fact", help="One commit a fact.")
@branch_option()
@click.option("--stage", "mode", flag_value="stage", help="Leave MEMORY.md staged; commit nothing.")
@click.option("--accept", multiple=True, metavar="ID", help="Let in this fact of origin web or tool; repeatable.")
@click.option(
    "-i", "--interactive", is_flag=True,
    help="Ask for each fact: y to accept, e to edit, n to skip, r to reject for good, q to quit.",
)  # fmt: skip
@click.option("--hook", type=HOOK_MODES, metavar="MODE", hidden=True, help="From post-commit: start detached.")
@click.option("--background", type=HOOK_MODES, metavar="MODE", hidden=True, help="What --hook started.")
@json_option
def command(**arguments: Any) -> int:
    """Promote lasting facts from daily logs to MEMORY.md.

    One commit names the source lines of each fact. Only committed logs are read. MEMORY.md must be clean. `git mem why
    MEMORY.md:LINE` leads back to the lines; `git mem revert` takes a commit's facts out again.

    \b
    git mem promote --dry-run --explain
    git mem promote --interactive
    git mem promote --branch memory/review
    """
    options = PromoteOptions(**arguments)
    if options.hook:
        start(options.hook)
        return Exit.DONE
    if options.background:
        run(options.background)
        return Exit.DONE
    if options.branch and options.mode:
        raise UsageError("--branch goes without --commit, --commit-per-fact and --stage")
    if options.interactive:
        if options.dry_run or options.accept or options.as_json:
            raise UsageError("--interactive goes without --dry-run, --accept and --json")
        if not can_ask():
            raise UsageError("--interactive needs a terminal", "git mem promote --dry-run, then --accept ID")
    return _promote(options)


def _promote(options: PromoteOptions) -> int:
    """Promote, interactively or at once, and print the outcome. Returns 1 if accepted facts were refused after all,
    else 0. Raises the errors of `open_here`, `promotion_model` and `promote`."""
    # Not at the top: a hook starts this command and goes on, and a commit waits for that.
    from gitmem.gate.tree_policies import worktree_policy
    from gitmem.promotion.model_registry import promotion_model

    repo, config = open_here({"model": options.model, "model_use": options.use})
    request = _request_of(options)
    line = ProgressLine()

    def reading(lines_read: int, count: int) -> None:
        if lines_read < count:
            line.say(f"reading the logs: {lines_read} of {count} lines")
        else:
            line.clear()

    policy = worktree_policy(repo, now().date())
    model = promotion_model(repo, config, policy, os.environ, progress=say_progress, reading=reading)
    if options.interactive:
        reviewed, refused = promote_interactively(repo, config, model, policy, request)
        if reviewed is not None:
            write(as_text(reviewed, options.explain or refused > 0))
        if refused:
            say(f"git mem: {counted(refused, 'accepted fact')} not promoted; git mem promote --interactive offers anew")
            return Exit.FINDINGS
        return Exit.DONE
    _show(repo, promote(repo, config, model, policy, request, now()), options)
    return Exit.DONE


def _request_of(options: PromoteOptions) -> Request:
    """The request that the options make."""
    if options.dry_run:
        mode = Mode.NOTHING
    elif options.branch:
        mode = Mode.BRANCH
    else:
        mode = Mode(options.mode or "commit")
    return Request(
        mode=mode, since=options.since, limit=options.limit or 0, branch=options.branch, accept=options.accept
    )


def _show(repo: Repository, outcome: Outcome, options: PromoteOptions) -> None:
    """Print the outcome of a promotion, without texts that were taken out of memory, which a log may still say."""
    mask = forgotten_texts(repo)
    if options.as_json:
        write_json(mask.masked_json(as_value(outcome)))
        return
    text = mask.masked(as_text(outcome, options.explain))
    if options.dry_run:
        page(text)
    else:
        write(text)
    if outcome.commits and outcome.mode is not Mode.BRANCH:
        say_if_detached(repo, outcome.commits[-1])
