"""`git mem status`: show what is indexed, and how the gate, the hooks and the sessions stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.promotion_hook import last_run, last_run_in_words
from gitmem.cli.terminal import aligned, escape, page, paint, uses_colour, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.gate import last_refusal
from gitmem.gate.setup_checks import Check, hook_check
from gitmem.gate.work_tree_findings import FindingCounts, count_findings
from gitmem.git.hooks.folder import hooks_folder
from gitmem.git.opening import Repository
from gitmem.index import status as index_status
from gitmem.json_values import json_object
from gitmem.plural import counted
from gitmem.sessions import due_consolidation, receipts

LABEL_COLUMNS = len("promotion")  # so that the texts begin in the same column whichever rows are shown
RECEIPT_DAYS = 7  # today and the days before it whose receipts are counted


@dataclass(frozen=True, slots=True)
class Standing:
    """What `git mem status` shows, as text or as JSON. `gate`, `hooks`: None in a bare repository, which has no work
    tree. `refused`: the last refusal, None if a commit or push has passed since. `consolidation`: the record of the
    last one."""

    index: index_status.Status
    gate: FindingCounts | None
    hooks: Check | None
    refused: last_refusal.Refusal | None
    consolidation: due_consolidation.Record


class Row(NamedTuple):
    """A row of the output. `style`: one of `terminal.STYLES` for a row that reports a problem, else ""."""

    label: str
    text: str
    style: str = ""


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show how memory, its index and its gate stand.

    Shows files, chunks, vectors, branches, and every file that is not indexed whole. Looks only: nothing is brought up
    to date. Lines in which a secret was found are counted, never indexed.
    """
    repo, config = open_here()
    standing = _standing(repo, config)
    if as_json:
        write_json(_json_value(repo, standing))
        return
    rows = [*_index_rows(standing.index), *_gate_rows(standing), *_session_rows(repo, config, standing)]
    lines = []
    if not standing.index.exists:
        files = counted(standing.index.files, "memory file")
        lines.append(f"no index yet; {files}; the first search builds it, or 'git mem index'")
    lines += _lines(rows)
    lines += _odd_files(standing.index)
    page("\n".join(lines) + "\n", wrap=True)


def _standing(repo: Repository, config: Config) -> Standing:
    gate, hooks = None, None
    if repo.root is not None:
        gate = count_findings(repo, now().date())
        hooks = hook_check(repo, hooks_folder(repo))
    return Standing(
        index=index_status.status(repo, config),
        gate=gate,
        hooks=hooks,
        refused=last_refusal.read(repo.common_dir),
        consolidation=due_consolidation.load(repo.common_dir),
    )


def _json_value(repo: Repository, standing: Standing) -> dict[str, object]:
    """The value that `--json` prints."""
    return {
        **json_object(standing.index),
        "gate": standing.gate,
        "hooks": standing.hooks.wrong if standing.hooks else "",
        "promotion": last_run(repo.common_dir) or None,
        "consolidation": standing.consolidation,
        "refused": standing.refused,
    }


def _lines(rows: Sequence[Row]) -> list[str]:
    """The rows as lines for a terminal: texts in one column, problems in colour."""
    in_colour = uses_colour("auto")
    lines = aligned([(row.label, escape(row.text)) for row in rows], LABEL_COLUMNS)
    return [paint(line, row.style, in_colour and bool(row.style)) for line, row in zip(lines, rows, strict=True)]


def _odd_files(status: index_status.Status) -> list[str]:
    """For each file that is not indexed whole, a line that says why, and one with what to do about it."""
    in_colour = uses_colour("auto")
    lines = []
    for odd in status.odd:
        hint = f"\n    {odd.hint}" if odd.hint else ""
        lines.append(paint(escape(f"! {odd.path}: {odd.reason}{hint}"), "warn", in_colour))
    return lines


def _index_rows(status: index_status.Status) -> list[Row]:
    """The rows about the search index: its state, files, chunks, vectors, branches, left-out secrets and commits."""
    rows = []
    if status.exists:
        rows = [
            Row("index", f"{status.path} ({status.bytes / 1e6:.1f} MB), {_index_state(status)}"),
            Row("files", f"{status.indexed} of {status.files} indexed, {status.ignored} ignored by Git"),
            Row("chunks", str(status.chunks)),
            Row("vectors", f"{status.vectors} by {_embedder(status)}"),
            Row("branches", f"{len(status.branches)}, {_branches_state(status)}"),
        ]
        if status.secret_lines:
            rows.append(Row("secrets", f"left out: {counted(status.secret_lines, 'line')}"))
    if status.commits:
        rows.append(Row("history", counted(status.commits, "commit")))
    return rows


def _behind(status: index_status.Status) -> list[str]:
    """The branches that are not indexed."""
    return [name for name, is_indexed in status.branches if not is_indexed]


def _index_state(status: index_status.Status) -> str:
    if status.stale:
        return f"stale: {status.reason}"
    return "has the work tree" if _behind(status) else "current"


def _branches_state(status: index_status.Status) -> str:
    behind = _behind(status)
    if behind:
        return f"not indexed yet: {', '.join(behind)}; a search there does it"
    return "all indexed"


def _embedder(status: index_status.Status) -> str:
    """The embedder of the vectors, and the configured one if it is another."""
    embedder = status.embedder or "no embedder"
    if status.wanted != status.embedder:
        return f"{embedder}; {status.wanted} after 'git mem index'"
    return embedder


def _gate_rows(standing: Standing) -> list[Row]:
    """The rows about the gate: its findings, its hooks and what it refused."""
    rows = []
    if standing.gate is not None:
        rows.append(Row("gate", _gate_in_words(standing.gate)))
    hooks = standing.hooks
    if hooks and hooks.wrong:
        rows.append(Row("hooks", f"{hooks.wrong}; {hooks.hint}", "bad"))
    elif hooks and hooks.hint:
        rows.append(Row("hooks", f"{hooks.detail}; {hooks.hint}"))
    if standing.refused:
        rows.append(Row("refused", f"{standing.refused}; git mem scan", "bad"))
    return rows


def _session_rows(repo: Repository, config: Config, standing: Standing) -> list[Row]:
    """The rows about promotion, consolidation and what sessions were given; one without anything to say is left out."""
    rows = [
        Row("promotion", last_run_in_words(repo.common_dir)),
        Row("consolidation", due_consolidation.status_line(standing.consolidation, config.distill_after)),
        Row("receipts", _receipts_in_words(repo, config)),
    ]
    return [row for row in rows if row.text]


def _receipts_in_words(repo: Repository, config: Config) -> str:
    """What the sessions of the last week were given; "" if there are no receipts."""
    first_day = now().date() - timedelta(days=RECEIPT_DAYS - 1)
    records = receipts.read(repo.common_dir, since=first_day)
    if not records:
        return ""
    total = receipts.totals(records)
    recalled_facts, never = receipts.recalled(repo, config, total.counts)
    parts = [f"{total.tokens_a_day} tokens a day this week"]
    if recalled_facts:
        top_fact = recalled_facts[0]
        parts.append(f"most often MEMORY.md:{top_fact.line} ({total.counts[top_fact.id]}x)")
    parts += [f"{counted(len(never), 'fact')} never", "git mem receipts"]
    return "; ".join(parts)


def _gate_in_words(gate: FindingCounts) -> str:
    """The gate's findings in the work tree, and the command to type if there are any."""
    parts = [f"{gate.blocking} blocking, {counted(gate.warnings, 'warning')} in {counted(gate.files, 'file')}"]
    if gate.accepted:
        parts.append(f"{gate.accepted} accepted at adoption")
    if gate.outdated_rows:
        parts.append(f"{counted(gate.outdated_rows, 'row')} of the baseline gone: git mem allow --prune")
    if not gate.whole:
        parts.append("more are not looked at here")
    if gate.blocking or gate.warnings or not gate.whole:
        parts.append("git mem scan")
    return f"{gate.mode}: {'; '.join(parts)}"
