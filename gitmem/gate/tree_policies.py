"""Builds the gate's policy from the settings and exceptions of Git trees, and of the user.

The exceptions come from one trusted tree only: the staged tree in a hook, the base of the range in CI. So a change
cannot except itself in CI. These functions read settings and file names, and scan nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from gitmem.config import TRACKED, Config
from gitmem.config.loading import load
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.gate import exceptions
from gitmem.gate.changes.staging import merge_heads
from gitmem.gate.detectors import registry
from gitmem.gate.imported_files import imported_files
from gitmem.gate.policy import Policy
from gitmem.git import promised_objects
from gitmem.git.objects import LINKS, Entry
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange
from gitmem.git.worktree import read_bytes
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Layout, layout_of

UserConfig = Sequence[tuple[str, str, str]]  # as `Repository.user_config` returns it
Tree = Sequence[Entry]  # the listing of a tree; empty for a tree without files


@dataclass(frozen=True, slots=True)
class _PolicySources:
    """What a policy is made of; `_policy` combines it.

    `user`: the settings of the user alone. `configs`: the settings of each tree, with those of the user. `layouts`: as
    in `Policy`. `exceptions`: the text of the trusted `exceptions.FILE`, "" for none. `imported`: as in `Policy`.
    """

    user: Config
    configs: Sequence[Config]
    layouts: tuple[Layout, ...]
    exceptions: str
    imported: frozenset[str]


def _policy(sources: _PolicySources, today: date) -> Policy:
    """The policy in which the settings of all `configs` apply together. The only place that fills in a Policy from
    settings. Raises BadConfig for exceptions that cannot be parsed."""
    encryption = ""
    if sources.user.encryption != "none":
        encryption = sources.user.encryption
    detectors: tuple[str, ...] = ()  # as in `Policy`: all that need no setting
    if sources.user.detect_secrets:
        detectors = registry.WITH_PLUGINS
    return Policy(
        layouts=sources.layouts,
        protected=_union(config.protected for config in sources.configs),
        daily=_union(config.memory_daily for config in sources.configs),
        allow=exceptions.parse(sources.exceptions),
        today=today,
        strict=any(config.gate == "strict" for config in sources.configs),
        imported=sources.imported,
        encryption=encryption,
        detectors=detectors,
    )


def _policy_of_trees(
    repo: Repository,
    today: date,
    *,
    trusted: Tree,
    others: Sequence[Tree] = (),
    user_config: UserConfig | None = None,
) -> Policy:
    """The policy that the settings of `trusted` and of `others`, and the exceptions of `trusted`, give.

    Memory paths, protected files and layouts are those of all trees together, which can only make the policy stricter.
    Exceptions make it laxer, so they come from `trusted` alone. `trusted`: empty where no tree may give exceptions.
    `user_config`: the user's settings; None reads them. Raises BadConfig for settings or exceptions that cannot be
    parsed, GitMemError for such a file of more than 1 MiB.
    """
    if user_config is None:
        user_config = repo.user_config()
    trees = (trusted, *others)
    configs = [load(user_config, _text(repo, tree, TRACKED)) for tree in trees]
    imported: set[str] = set()
    for tree in trees:
        imported |= imported_files(repo, tree)
    sources = _PolicySources(
        user=load(user_config),
        configs=configs,
        layouts=_layouts(trees, configs),
        exceptions=_text(repo, trusted, exceptions.FILE),
        imported=frozenset(imported),
    )
    return _policy(sources, today)


def _layouts(trees: Sequence[Tree], configs: Sequence[Config]) -> tuple[Layout, ...]:
    """The different layouts of the trees that have files; one layout if none has. `configs`: the settings of each tree.

    Each layout has the globs of all trees, so that no tree can take a file out of memory that another one names.
    `notes` follows from the tree's own files and globs, since it may differ before and after a change.
    """
    globs = _union(config.memory_paths for config in configs)
    layouts: list[Layout] = []
    for tree, config in zip(trees, configs, strict=True):
        if not tree:
            continue
        layout = layout_of((entry.path for entry in tree), config.memory_paths)
        layouts.append(Layout(notes=layout.notes, extra=globs))
    if not layouts:
        layouts.append(layout_of((), globs))
    return tuple(dict.fromkeys(layouts))


def _union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The texts of all lists in order, without repeats."""
    return tuple(dict.fromkeys(text for texts in lists for text in texts))


def _fetch_trees(repo: Repository, commits: Iterable[str]) -> None:
    """Fetch the trees of these commits (oids; "" for none) that a treeless clone left out."""
    promised_objects.fetch_trees(repo, [repo.commit(oid).tree for oid in dict.fromkeys(commits) if oid])


def staged_policy(
    repo: Repository, today: date, *, merging: bool = False, user_config: UserConfig | None = None
) -> Policy:
    """The policy of a hook: the exceptions of the staged tree, and the settings of the staged tree, of HEAD and of
    commits that are being merged. `merging`: whether the caller is the hook pre-merge-commit. `user_config`: the user's
    settings; None reads them.

    Raises BadConfig for settings or exceptions that cannot be parsed, GitMemError for such a file of more than 1 MiB.
    """
    staged = repo.staged()
    commits: list[str] = []  # none before the first commit
    if head := repo.head():
        commits = [head, *merge_heads(repo, merging=merging)]
    others = [repo.entries(commit) for commit in commits]
    return _policy_of_trees(repo, today, trusted=staged, others=others, user_config=user_config)


def range_policy(repo: Repository, commits: CommitRange, today: date) -> Policy:
    """The policy of CI for a range: the exceptions of its judge (`CommitRange.judge`), or without one of its base, and
    the settings of the judge, the base and the tip. Raises BadConfig and GitMemError as `staged_policy`.

    Nothing in a range can except itself. A range without judge and base has no exceptions.
    """
    _fetch_trees(repo, commits)
    judge = commits.judge or commits.base
    trusted: Tree = ()
    if judge:
        trusted = repo.entries(judge)
    others = [repo.entries(oid) for oid in dict.fromkeys((commits.base, commits.tip)) if oid and oid != judge]
    return _policy_of_trees(repo, today, trusted=trusted, others=others)


def range_memory_paths(repo: Repository, commits: CommitRange) -> tuple[str, ...]:
    """The globs of `[memory] paths` in the settings of a range's judge, base and tip, and of the user. Raises BadConfig
    and GitMemError as `staged_policy`."""
    pairs = repo.user_config()
    oids = dict.fromkeys(oid for oid in (commits.judge, commits.base, commits.tip) if oid)
    configs = [load(pairs, _text(repo, repo.entries(oid, [TRACKED]), TRACKED)) for oid in oids]
    return _union(config.memory_paths for config in configs)


def pushed_policy(repo: Repository, base: str, tip: str, today: date) -> Policy:
    """The policy of a push: the exceptions of its tip, and the settings of the tip and of `base` (oids; "" for no
    base). Raises BadConfig and GitMemError as `staged_policy`."""
    _fetch_trees(repo, (tip, base))
    others: list[Tree] = []
    if base:
        others = [repo.entries(base)]
    return _policy_of_trees(repo, today, trusted=repo.entries(tip), others=others)


def tree_policy(repo: Repository, commit: str, today: date) -> Policy:
    """The policy of one commit: exceptions and settings of its own tree. Raises BadConfig and GitMemError as
    `staged_policy`."""
    _fetch_trees(repo, [commit])
    return _policy_of_trees(repo, today, trusted=repo.entries(commit))


def worktree_policy(repo: Repository, today: date) -> Policy:
    """The policy of a scan of the work tree: settings and exceptions as the files on disk have them; a file that cannot
    be read counts as empty. In a bare repository those of the index. Raises BadConfig if they cannot be parsed, and in
    a bare repository GitMemError for such a file of more than 1 MiB."""
    staged = repo.staged()
    if repo.root is None:
        return _policy_of_trees(repo, today, trusted=staged)
    user_config = repo.user_config()
    config = load(user_config, _text_on_disk(repo.root, TRACKED))
    paths = [entry.path for entry in staged] + repo.untracked()
    sources = _PolicySources(
        user=load(user_config),
        configs=[config],
        layouts=(layout_of(paths, config.memory_paths),),
        exceptions=_text_on_disk(repo.root, exceptions.FILE),
        imported=imported_files(repo, staged),  # by the index, since it reads blobs only
    )
    return _policy(sources, today)


def _text_on_disk(root: Path, path: str) -> str:
    """The text of a file of the work tree at `root`, at most MAX_MEMORY_FILE_BYTES of it; "" if it cannot be read."""
    try:
        return read_bytes(root, path, MAX_MEMORY_FILE_BYTES).decode("utf-8", "replace")
    except (OSError, OutsideRepository):
        return ""


def daily_patterns(repo: Repository, commit: str) -> tuple[str, ...]:
    """The patterns of daily logs in the settings of a commit; () when `commit` is "". Raises BadConfig for settings
    that cannot be parsed, GitMemError for settings of more than 1 MiB."""
    if not commit:
        return ()
    return load((), _text(repo, repo.entries(commit, [TRACKED]), TRACKED)).memory_daily


def _text(repo: Repository, entries: Sequence[Entry], path: str) -> str:
    """The text of a file of a tree; "" if the tree lacks it or has a link there. Raises GitMemError for a file over 1
    MiB."""
    entry = next((entry for entry in entries if entry.path == path and entry.mode not in LINKS), None)
    if entry is None:
        return ""
    if repo.sizes([entry.oid]).get(entry.oid, 0) > MAX_MEMORY_FILE_BYTES:
        raise GitMemError(Message("{} is larger than 1 MiB", path), Message("mend {}", path))
    return repo.read(entry.oid).decode("utf-8", "replace")
