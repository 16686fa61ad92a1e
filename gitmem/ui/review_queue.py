"""What waits for a decision: proposals, findings of the gate, pairs, branches, facts for the archive. Each part is
worked out once for each state of what it is made of, and kept. A large one is worked out beside the pages, which say
how far it is. Reads only."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError
from gitmem.exchange.branch_merge import OpenBranch, open_branches
from gitmem.gate.scan import Report
from gitmem.gate.work_tree_findings import Contents, contents
from gitmem.git.worktree import state_dir
from gitmem.memory.new_statements import memory_bytes
from gitmem.memory.rivals import MEMORY, Rival, placed
from gitmem.memory.snapshot import read_work_tree
from gitmem.promotion import settlement
from gitmem.promotion.archiving import Due, due
from gitmem.promotion.promote import Outcome, Request
from gitmem.promotion.proposal_review import Recorded, Review, offered
from gitmem.ui.background_work import Progress
from gitmem.ui.page_snapshot import state
from gitmem.ui.view import View

AT_ONCE = 64_000  # bytes of memory files whose parts are worked out while their page waits: a fraction of a second
REQUEST = Request(tidy=False, plan_only=True)  # archiving is a step of its own: the page Archive


@dataclass(frozen=True, slots=True)
class Offer:
    """What a model answered, and what of it would be promoted."""

    recorded: Recorded
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Part:
    """One part: the title of its tab, `phrase` and `count` say how many wait, `key` is all that its value depends on,
    `made` works it out, and `reads` says what it is busy with."""

    title: str
    phrase: str
    reads: str
    key: Callable[[View], object]
    made: Callable[[View, Progress], Any]
    count: Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab of the queue: `count` None where it is not known yet, or cannot be told."""

    name: str
    title: str
    phrase: str
    count: int | None
    pending: bool = False


def value(view: View, name: str) -> Any:
    """The value of a part; a Progress where it is being worked out and the page has waited long enough. Raises what
    working it out raises."""
    part = PARTS[name]
    key = part.key(view)
    if view.site.kept.has(name, key) or _size(view) <= AT_ONCE:
        return view.site.kept.of(name, key, lambda: part.made(view, Progress()))
    progress = _left(view, name, key, time.monotonic() + view.site.patience, first=True)
    if progress is None:
        return view.site.kept.of(name, key, lambda: part.made(view, Progress()))
    return progress


def at_once(view: View, name: str) -> Any:
    """The value of a part, whatever time it takes: what a decision is made on."""
    part = PARTS[name]
    return view.site.kept.of(name, part.key(view), lambda: part.made(view, Progress()))


def tabs(view: View) -> list[Tab]:
    """The tabs with how many wait in each; of a page of the past without numbers, since nothing is decided there."""
    until = time.monotonic() + view.site.patience
    return [_tab(view, name, until) for name in PARTS]


def _tab(view: View, name: str, until: float) -> Tab:
    part = PARTS[name]
    if view.snapshot.past or view.repo.head() is None:
        return Tab(name, part.title, part.phrase, None)
    try:
        key = part.key(view)
        if not view.site.kept.has(name, key) and _left(view, name, key, until) is not None:
            return Tab(name, part.title, part.phrase, None, pending=True)
        known = view.site.kept.of(name, key, lambda: part.made(view, Progress()))
        return Tab(name, part.title, part.phrase, part.count(known))
    except GitMemError:  # its own page says why
        return Tab(name, part.title, part.phrase, None)


def _left(view: View, name: str, key: object, until: float, *, first: bool = False) -> Progress | None:
    """None once the value of a part is kept, else how far it is."""

    def work(progress: Progress) -> None:
        with view.site.pool.opened() as opened:
            own = replace(view, opened=opened)
            view.site.kept.of(name, key, lambda: PARTS[name].made(own, progress))

    return view.site.work.left(name, key, work, until, first=first)


def _size(view: View) -> int:
    """Bytes of the memory files of the work tree."""
    if view.repo.root is None:
        return 0
    return sum(stat[0] for stat in read_work_tree(view.repo, view.config.memory_paths).file_stats.values())


# -- the parts -----------------------------------------------------------------------------------------------


def _proposals_key(view: View) -> object:
    from gitmem.gate.sources import worktree_policy

    policy = worktree_policy(view.repo, view.now.date())
    answer = view.site.answers.get(view.config.model)
    return view.repo.head(), tuple(view.repo.refs()), view.config, policy, view.today, id(answer)


def _offer(view: View, progress: Progress) -> Offer | None:
    """What the model in force offers; None where it is a language model that nobody asked yet, and before the first
    commit."""
    from gitmem.gate.sources import worktree_policy
    from gitmem.promotion.rules_model import RulesModel
    from gitmem.promotion.score_cache import ScoreCache

    answer = view.site.answers.get(view.config.model)
    if (answer is None and view.config.model != "rules") or view.repo.head() is None:
        return None
    scores = ScoreCache(_state_folder(view))
    recorded = answer or Recorded(RulesModel(known=view.site.read_logs, scores=scores, progress=progress))
    policy = worktree_policy(view.repo, view.now.date())
    return Offer(recorded, Review(view.repo, view.config, policy, REQUEST, recorded, view.now).outcome())


def _state_folder(view: View) -> Path | None:
    """Where this server may keep what it worked out; None for a read-only one, and where there is no such folder."""
    try:
        if view.site.read_only:
            return None
        return state_dir(view.repo.common_dir, make=False)
    except GitMemError:
        return None


def _count_of_offer(offer: Offer | None) -> int:
    if not offer:
        return 0
    return len(offered(offer.outcome.plan))


def _findings_key(view: View) -> object:
    names = (".gitmem-allow.toml", ".gitmem.toml")
    if view.repo.root:
        files = [view.repo.root / name for name in names]
    else:
        files = []
    return state(view.repo, view.config), view.config, view.now.date(), tuple(map(_seen, files))


def _seen(path: Any) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _findings(view: View, progress: Progress) -> tuple[Contents, Report]:
    """What the gate looked at, and what it found there."""
    read = contents(view.repo, view.now.date())
    return read, report_of(view, read, progress)


def report_of(view: View, read: Contents, progress: Progress | None = None) -> Report:
    """The report of the gate; a file that stays since an earlier one is not examined again."""
    told = progress or Progress()

    def examined(blob: Any, policy: Any) -> Any:
        told(told.done + 1, len(read.blobs))
        return view.site.examined(blob, policy)

    return view.site.kept.of("gate", read.key, lambda: read.scanned(examined))


def _pairs_key(view: View) -> object:
    return state(view.repo, view.config), view.snapshot.commit, view.config, view.today


def _pairs(view: View, progress: Progress) -> Sequence[Rival]:
    """The open pairs; of the past those of its MEMORY.md."""
    if not view.snapshot.past:
        return settlement.open_pairs(view.repo, view.config, view.today, progress)
    rows = [row for row in view.facts.rows if row.path == MEMORY]
    rows.sort(key=lambda row: (row.date, -row.fact.line), reverse=True)
    return settlement.pairs_of(placed(MEMORY, [row.fact for row in rows]), view.today, progress)


def _branches_key(view: View) -> object:
    return view.repo.head(), tuple(view.repo.refs()), view.config, view.today


def _branches(view: View, _: Progress) -> Sequence[OpenBranch]:
    return open_branches(view.repo, view.config, view.today)


def _count_of_branches(found: Sequence[OpenBranch]) -> int:
    return sum(branch.taken_over is None for branch in found)


def _archive_key(view: View) -> object:
    return state(view.repo, view.config), view.now.date(), view.config.memory_lines


def _archive(view: View, _: Progress) -> Sequence[Due]:
    return due(memory_bytes(view.repo), view.now.date(), view.config.memory_lines)


PARTS: Mapping[str, Part] = {  # by the name of its page, in the order of the tabs
    "review": Part(
        "Proposals", "{count} proposals", "Reading the logs", _proposals_key, _offer, _count_of_offer
    ),
    "findings": Part(
        "Gate findings", "{count} findings", "The gate reads the files", _findings_key, _findings,
        lambda found: len(found[1].findings),
    ),
    "alike": Part("Conflicts and repeats", "{count} pairs", "Comparing the facts", _pairs_key, _pairs, len),
    "branches": Part(
        "Branches", "{count} branches", "Comparing the branches", _branches_key, _branches, _count_of_branches
    ),
    "archive": Part("Archive", "{count} facts to archive", "Reading the facts", _archive_key, _archive, len),
}  # fmt: skip
