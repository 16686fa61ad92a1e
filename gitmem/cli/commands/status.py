"""`git mem status`: show what is indexed, and how the gate, the hooks and the sessions stand."""

from __future__ import annotations

from datetime import timedelta

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.promotion_hook import last_run, last_run_in_words
from gitmem.cli.terminal import colour, escape, page, paint, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.gate import last_refusal
from gitmem.gate.setup_checks import hook_check
from gitmem.gate.work_tree_findings import Counts, counts
from gitmem.git.hooks.folder import hooks_folder
from gitmem.git.opening import Repository
from gitmem.index import status as index_status
from gitmem.index.status import Status
from gitmem.json_values import json_object
from gitmem.plural import counted
from gitmem.sessions import due_consolidation, receipts
from gitmem.sessions.recalled_facts import recalled


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show how memory, its index and its gate stand.

    Shows files, chunks, vectors, branches, and every file that is not indexed whole. Looks only: nothing is brought up
    to date. Lines in which a secret was found are counted, never indexed.
    """
    repo, config = open_here()
    status = index_status.status(repo, config)
    gate, hooks = None, None
    if repo.root is not None:
        gate = counts(repo, now().date())
        hooks = hook_check(repo, hooks_folder(repo))
    refused = last_refusal.read(repo.common_dir)
    consolidated = due_consolidation.load(repo.common_dir)
    if as_json:
        write_json({
            **json_object(status),
            "gate": gate,
            "hooks": hooks.wrong if hooks else "",
            "promotion": last_run(repo.common_dir) or None,
            "consolidation": consolidated,
            "refused": refused,
        })  # fmt: skip
        return
    lines = _index_lines(status)
    if status.commits:
        lines.append(f"history   {counted(status.commits, 'commit')}")
    if gate is not None:
        lines.append(f"gate      {_gate_in_words(gate)}")
    if hooks and hooks.wrong:
        lines.append(f"hooks     {hooks.wrong}; {hooks.hint}")
    if refused:
        lines.append(f"refused   {refused}; git mem scan")
    promoted = last_run_in_words(repo.common_dir)
    if promoted:
        lines.append(f"promotion {promoted}")
    if words := due_consolidation.status_line(consolidated, config.distill_after):
        lines.append(f"consolidation {words}")
    if recalled := _receipts_in_words(repo, config):
        lines.append(f"receipts  {recalled}")
    for odd in status.odd:
        hint = f"\n    {odd.hint}" if odd.hint else ""
        lines.append(f"! {odd.path}: {odd.reason}{hint}")
    on = colour("auto")
    page("\n".join(_painted(escape(line), on) for line in lines) + "\n", wrap=True)


def _painted(line: str, on: bool) -> str:
    """A line of the output; in colour if it reports a problem and `on` is True."""
    if line.startswith(("hooks ", "refused ")):
        return paint(line, "bad", on)
    if line.startswith("! "):
        return paint(line, "warn", on)
    return line


def _index_lines(status: Status) -> list[str]:
    """The lines about the search index: its state, files, chunks, vectors, branches and left-out secrets."""
    if not status.exists:
        return [f"no index yet; {counted(status.files, 'memory file')}; the first search builds it, or 'git mem index'"]
    behind = [name for name, current in status.branches if not current]
    state, branches = "current", "all indexed"
    if behind:
        state, branches = "has the work tree", f"not indexed yet: {', '.join(behind)}; a search there does it"
    if status.stale:
        state = f"stale: {status.reason}"
    embedder = status.embedder or "no embedder"
    if status.wanted != status.embedder:
        embedder += f"; {status.wanted} after 'git mem index'"
    lines = [
        f"index     {status.path} ({status.bytes / 1e6:.1f} MB), {state}",
        f"files     {status.indexed} of {status.files} indexed, {status.ignored} ignored by Git",
        f"chunks    {status.chunks}",
        f"vectors   {status.vectors} by {embedder}",
        f"branches  {len(status.branches)}, {branches}",
    ]
    if status.secret_lines:
        lines.append(f"secrets   left out: {counted(status.secret_lines, 'line')}")
    return lines


def _receipts_in_words(repo: Repository, config: Config) -> str:
    """What the sessions of the last week were given; "" if there are no receipts."""
    found = receipts.read(repo.common_dir, since=now().date() - timedelta(days=6))
    if not found:
        return ""
    total = receipts.totals(found)
    most, never = recalled(repo, config, total.counts)
    often = f"; most often MEMORY.md:{most[0].line} ({total.counts[most[0].id]}x)" if most else ""
    return f"{total.tokens_a_day} tokens a day this week{often}; {counted(len(never), 'fact')} never; git mem receipts"


def _gate_in_words(gate: Counts) -> str:
    """The gate's findings in the work tree, and the command to type if there are any."""
    parts = [f"{gate.blocking} blocking, {counted(gate.warnings, 'warning')} in {counted(gate.files, 'file')}"]
    if gate.accepted:
        parts.append(f"{gate.accepted} accepted at adoption")
    if gate.gone:
        parts.append(f"{counted(gate.gone, 'row')} of the baseline gone: git mem allow --prune")
    if not gate.whole:
        parts.append("more are not looked at here")
    if gate.blocking or gate.warnings or not gate.whole:
        parts.append("git mem scan")
    return f"{gate.mode}: {'; '.join(parts)}"
