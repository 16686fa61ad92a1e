"""The queue of what waits for a decision: proposals, findings of the gate, rival facts, branches, facts to archive.

Each part of the queue is computed once for each state of its input and cached. In a large memory a part is computed in
the background, while the pages show its progress. This module only reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitmem.agents.repository_pool import FileStates, file_states
from gitmem.errors import GitMemError
from gitmem.exchange.branch_merge import OpenBranch, open_branches
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob
from gitmem.gate.policy import Policy
from gitmem.gate.scan import Report
from gitmem.gate.tree_policies import worktree_policy
from gitmem.gate.work_tree_findings import FilesToScan, read_files_to_scan
from gitmem.git.worktree import state_dir
from gitmem.memory.new_statements import memory_bytes
from gitmem.memory.rivals import MEMORY, Rival, with_days
from gitmem.memory.snapshot import read_work_tree
from gitmem.promotion.archiving import ArchivableFact, archivable_facts
from gitmem.promotion.open_pairs import open_fact_pairs, open_pairs
from gitmem.promotion.promote import Outcome, Request
from gitmem.promotion.proposal_review import RecordedModel, Review, offers_of
from gitmem.ui.background_work import Progress, StillComputing
from gitmem.ui.page_snapshot import memory_key
from gitmem.ui.view import View

MAX_BYTES_AT_ONCE = 64_000  # of memory files whose parts are computed while the page waits: a fraction of a second
REQUEST = Request(tidy=False, plan_only=True)  # without archiving, which has its own page


@dataclass(frozen=True, slots=True)
class Offer:
    """The recorded answer of a model, and what promoting it would do."""

    recorded: RecordedModel
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the queue. `title`: of its tab. `phrase`: says how many items wait, with the number that `count`
    returns for the part's value. `reads`: what the computation is doing, for the page that shows its progress. `key`:
    everything that the value depends on; the value is computed again when it changes. `compute`: returns the value."""

    title: str
    phrase: str
    reads: str
    key: Callable[[View], object]
    compute: Callable[[View, Progress], Any]
    count: Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class Tab:
    """The tab of a part. `count`: how many items wait, None if that is not known. `pending`: the part is being computed
    now."""

    name: str
    title: str
    phrase: str
    count: int | None
    pending: bool = False


def part_value(view: View, name: str) -> Any:
    """The value of a part of PARTS: of "review" an Offer or None, of "findings" (FilesToScan, Report), of the others
    the list of Rivals ("alike"), OpenBranches ("branches") or ArchivableFacts ("archive").

    In a memory of more than MAX_BYTES_AT_ONCE it raises StillComputing if the computation takes longer than
    `Site.patience`, and the computation goes on. In a smaller memory the page waits for the value. Raises what the
    computation raises.
    """
    key = PARTS[name].key(view)
    if not view.site.cache.has(name, key) and _memory_bytes(view) > MAX_BYTES_AT_ONCE:
        progress = _in_background(view, name, key, time.monotonic() + view.site.patience, first=True)
        if progress is not None:
            raise StillComputing(name, progress)
    return _computed(view, name, key)


def part_value_now(view: View, name: str) -> Any:
    """The value of a part of PARTS, such as the Offer of "review", for a decision. Waits however long its computation
    takes. Raises what the computation raises."""
    return _computed(view, name, PARTS[name].key(view))


def _computed(view: View, name: str, key: object) -> Any:
    """The cached value of a part for `key`, which is computed if it is not cached."""
    return view.site.cache.get(name, key, lambda: PARTS[name].compute(view, Progress()))


def tabs(view: View) -> list[Tab]:
    """The tabs of all parts. On a page of the past they have no counts, since nothing can be decided there."""
    until = time.monotonic() + view.site.patience
    return [_tab(view, name, until) for name in PARTS]


def _tab(view: View, name: str, until: float) -> Tab:
    """The tab of one part. It has no count on a page of the past, before the first commit, while the part is being
    computed, and if the computation raises a GitMemError. `until`: how long to wait (`time.monotonic`)."""
    part = PARTS[name]
    tab = Tab(name, part.title, part.phrase, None)
    if view.snapshot.past or view.repo.head() is None:
        return tab
    try:
        key = part.key(view)
        if not view.site.cache.has(name, key) and _in_background(view, name, key, until) is not None:
            return replace(tab, pending=True)
        return replace(tab, count=part.count(_computed(view, name, key)))
    except GitMemError:  # the page of the part says why
        return tab


def _in_background(view: View, name: str, key: object, until: float, *, first: bool = False) -> Progress | None:
    """Compute a part in the background and wait for it until `until` (`time.monotonic`). Returns None if the value is
    cached by then, else the progress of the computation. `first`: compute it before all other parts. Raises what the
    computation raises."""

    def work(progress: Progress) -> None:
        with view.site.pool.lend_open() as opened:
            own_view = replace(view, opened=opened)
            view.site.cache.get(name, key, lambda: PARTS[name].compute(own_view, progress))

    return view.site.work.wait_for(name, key, work, until, first=first)


def _memory_bytes(view: View) -> int:
    """The size of all memory files in the work tree."""
    if view.repo.root is None:
        return 0
    return sum(stat[0] for stat in read_work_tree(view.repo, view.config.memory_paths).file_stats.values())


# -- the parts -----------------------------------------------------------------------------------------------


def _proposals_key(view: View) -> object:
    policy = worktree_policy(view.repo, view.now.date())
    answer = view.site.answers.get(view.config.model)
    return view.repo.head(), tuple(view.repo.refs()), view.config, policy, view.today, id(answer)


def _offer(view: View, progress: Progress) -> Offer | None:
    """What the configured model proposes; None before the first commit, and for a language model that nobody asked."""
    from gitmem.promotion.rules_model import RulesModel
    from gitmem.promotion.score_cache import ScoreCache

    answer = view.site.answers.get(view.config.model)
    if (answer is None and view.config.model != "rules") or view.repo.head() is None:
        return None
    scores = ScoreCache(_state_folder(view))
    recorded = answer or RecordedModel(RulesModel(known=view.site.read_logs, scores=scores, progress=progress))
    policy = worktree_policy(view.repo, view.now.date())
    return Offer(recorded, Review(view.repo, view.config, policy, REQUEST, recorded, view.now).outcome())


def _state_folder(view: View) -> Path | None:
    """The folder in which this server may cache results; None for a read-only server and if the folder does not
    exist."""
    if view.site.read_only:
        return None
    try:
        return state_dir(view.repo.common_dir, make=False)
    except GitMemError:
        return None


def _offer_count(offer: Offer | None) -> int:
    if not offer:
        return 0
    return len(offers_of(offer.outcome.plan))


def _findings_key(view: View) -> object:
    files: FileStates = ()
    if view.repo.root:
        files = file_states((view.repo.root / ".gitmem-allow.toml", view.repo.root / ".gitmem.toml"))
    return memory_key(view.repo, view.config), view.config, view.now.date(), files


def _findings(view: View, progress: Progress) -> tuple[FilesToScan, Report]:
    """(the files that the gate scanned, its report)."""
    files = read_files_to_scan(view.repo, view.now.date())
    return files, report_of(view, files, progress)


def report_of(view: View, files: FilesToScan, progress: Progress | None = None) -> Report:
    """The gate's report on some files of the work tree, cached. Files that did not change are not scanned again.
    `progress`: told of each file; None if nobody looks."""
    counter = progress or Progress()

    def scan(blob: Blob, policy: Policy) -> Sequence[Finding]:
        counter(counter.done + 1, len(files.blobs))
        return view.site.file_findings(blob, policy)

    return view.site.cache.get("gate", files.key, lambda: files.scan(scan))


def _pairs_key(view: View) -> object:
    return memory_key(view.repo, view.config), view.snapshot.commit, view.config, view.today


def _pairs(view: View, progress: Progress) -> Sequence[Rival]:
    """The open pairs of rival facts; in a past snapshot only those of MEMORY.md."""
    if not view.snapshot.past:
        return open_pairs(view.repo, view.config, view.today, progress)
    rows = [row for row in view.facts.rows if row.path == MEMORY]
    rows.sort(key=lambda row: (row.date, -row.fact.line), reverse=True)
    return open_fact_pairs(with_days(MEMORY, [row.fact for row in rows]), view.today, progress)


def _branches_key(view: View) -> object:
    return view.repo.head(), tuple(view.repo.refs()), view.config, view.today


def _branches(view: View, _: Progress) -> Sequence[OpenBranch]:
    return open_branches(view.repo, view.config, view.today)


def _branch_count(branches: Sequence[OpenBranch]) -> int:
    return sum(branch.taken_over is None for branch in branches)


def _archive_key(view: View) -> object:
    return memory_key(view.repo, view.config), view.now.date(), view.config.memory_lines


def _archive(view: View, _: Progress) -> Sequence[ArchivableFact]:
    return archivable_facts(memory_bytes(view.repo), view.now.date(), view.config.memory_lines)


PARTS: Mapping[str, Part] = {  # by the name of the part's page, in the order of the tabs
    "review": Part("Proposals", "{count} proposals", "Reading the logs", _proposals_key, _offer, _offer_count),
    "findings": Part(
        "Gate findings", "{count} findings", "The gate reads the files", _findings_key, _findings,
        lambda found: len(found[1].findings),
    ),
    "alike": Part("Conflicts and repeats", "{count} pairs", "Comparing the facts", _pairs_key, _pairs, len),
    "branches": Part(
        "Branches", "{count} branches", "Comparing the branches", _branches_key, _branches, _branch_count
    ),
    "archive": Part("Archive", "{count} facts to archive", "Reading the facts", _archive_key, _archive, len),
}  # fmt: skip
