"""Builds the gate's policy from the settings and exceptions of Git trees, and of the user.

The exceptions come from one trusted tree only: the staged tree in a hook, the base of the range in CI. So a change
cannot except itself in CI. These functions read settings and file names, and scan nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from gitmem.config import TRACKED, Config
from gitmem.config.loading import load
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.gate import exceptions
from gitmem.gate.changes.staging import merge_heads
from gitmem.gate.detectors import registry
from gitmem.gate.imported_files import imported_files
from gitmem.gate.policy import Policy, distinct
from gitmem.git import promised_objects
from gitmem.git.objects import (
    LINKS,
    Entry,
)
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange
from gitmem.git.worktree import read_bytes
from gitmem.messages import Message
from gitmem.paths import layout_of

UserConfig = Sequence[tuple[str, str, str]]  # as `Repository.user_config` returns it


def policy_of_trees(
    repo: Repository,
    trees: Sequence[Sequence[Entry]],
    today: date,
    *,
    trusted: int = 0,
    user_config: UserConfig | None = None,
) -> Policy:
    """The policy that the settings of these trees, and of the user, give. `trees`: the listing of each tree.

    Memory paths, protected files and layouts are those of all trees together, which can only make the policy stricter.
    The exceptions come from `trees[trusted]` alone. `user_config`: the user's settings; None reads them. Raises
    BadConfig for settings or exceptions that cannot be parsed, GitMemError for such a file of more than 1 MiB.
    """
    if user_config is None:
        user_config = repo.user_config()
    configs = [load(user_config, _text(repo, entries, TRACKED)) for entries in trees] or [load(user_config)]
    extra = tuple(dict.fromkeys(glob for config in configs for glob in config.memory_paths))
    allow = ""
    if trees:
        allow = _text(repo, trees[trusted], exceptions.FILE)
    return Policy(
        layouts=distinct(
            layout_of((e.path for e in entries), config.memory_paths)._replace(extra=extra)
            for entries, config in zip(trees, configs, strict=False)
            if entries
        )
        or (layout_of((), extra),),
        protected=tuple(dict.fromkeys(glob for config in configs for glob in config.protected)),
        daily=tuple(dict.fromkeys(pattern for config in configs for pattern in config.memory_daily)),
        allow=exceptions.parse(allow),
        today=today,
        strict=any(config.gate == "strict" for config in configs),
        imported=frozenset().union(*(imported_files(repo, entries) for entries in trees)),
        encryption=_encryption(configs[0]),
        detectors=_detectors(configs[0]),
    )


def _fetch_trees(repo: Repository, commits: Iterable[str]) -> None:
    """Fetch the trees of these commits (oids; "" for none) that a treeless clone left out."""
    promised_objects.fetch_trees(repo, [repo.commit(oid).tree for oid in dict.fromkeys(commits) if oid])


def _encryption(config: Config) -> str:
    """`Policy.encryption` as the user's settings give it."""
    if config.encryption == "none":
        return ""
    return config.encryption


def _detectors(config: Config) -> tuple[str, ...]:
    """`Policy.detectors` as the user's settings give them."""
    if not config.detect_secrets:
        return ()
    return registry.WITH_PLUGINS


def staged_policy(
    repo: Repository, today: date, *, merging: bool = False, user_config: UserConfig | None = None
) -> Policy:
    """The policy of a hook: the exceptions of the staged tree, and the settings of the staged tree, of HEAD and of
    commits that are being merged. `merging`: as in `staged_files`. `user_config`: as in `policy_of_trees`. Raises as
    `policy_of_trees`."""
    trees: list[Sequence[Entry]] = [repo.staged()]
    if head := repo.head():
        trees += [repo.entries(commit) for commit in (head, *merge_heads(repo, merging=merging))]
    else:
        trees.append([])
    return policy_of_trees(repo, trees, today, user_config=user_config)


def range_policy(repo: Repository, commits: CommitRange, today: date) -> Policy:
    """The policy of CI for a range: the exceptions of its judge (`CommitRange.judge`), and the settings of the judge,
    the base and the tip. Raises as `policy_of_trees`.

    Nothing in a range can except itself. A range without judge and base has no exceptions.
    """
    _fetch_trees(repo, commits)
    trusted = commits.judge or commits.base
    trees: list[Sequence[Entry]] = [[]]
    if trusted:
        trees = [repo.entries(trusted)]
    trees += [repo.entries(oid) for oid in dict.fromkeys((commits.base, commits.tip)) if oid and oid != trusted]
    return policy_of_trees(repo, trees, today)


def range_memory_paths(repo: Repository, commits: CommitRange) -> tuple[str, ...]:
    """The globs of `[memory] paths` in the settings of a range's judge, base and tip, and of the user. Raises as
    `policy_of_trees`."""
    pairs = repo.user_config()
    oids = dict.fromkeys(oid for oid in (commits.judge, commits.base, commits.tip) if oid)
    configs = [load(pairs, _text(repo, repo.entries(oid, [TRACKED]), TRACKED)) for oid in oids]
    return tuple(dict.fromkeys(glob for config in configs for glob in config.memory_paths))


def pushed_policy(repo: Repository, base: str, tip: str, today: date) -> Policy:
    """The policy of a push: the exceptions of its tip, and the settings of the tip and of `base` (oids; "" for no
    base). Raises as `policy_of_trees`."""
    _fetch_trees(repo, (tip, base))
    trees = [repo.entries(commit) for commit in (tip, base) if commit]
    return policy_of_trees(repo, trees, today)


def tree_policy(repo: Repository, commit: str, today: date) -> Policy:
    """The policy of one commit: exceptions and settings of its own tree. Raises as `policy_of_trees`."""
    _fetch_trees(repo, [commit])
    return policy_of_trees(repo, [repo.entries(commit)], today)


def worktree_policy(repo: Repository, today: date) -> Policy:
    """The policy of a scan of the work tree: settings and exceptions as the files on disk have them; a file that cannot
    be read counts as empty. In a bare repository those of the index. Raises as `policy_of_trees`."""
    policy = policy_of_trees(repo, [repo.staged()], today)
    if repo.root is None:
        return policy
    texts = {}
    for name in (TRACKED, exceptions.FILE):
        try:
            texts[name] = read_bytes(repo.root, name, policy.limit).decode("utf-8", "replace")
        except (OSError, OutsideRepository):
            texts[name] = ""
    config = load(repo.user_config(), texts[TRACKED])
    paths_here = [entry.path for entry in repo.staged()] + repo.untracked()
    return Policy(
        layouts=(layout_of(paths_here, config.memory_paths),),
        protected=config.protected,
        daily=config.memory_daily,
        allow=exceptions.parse(texts[exceptions.FILE]),
        today=today,
        strict=config.gate == "strict",
        imported=policy.imported,
        encryption=_encryption(config),
        detectors=_detectors(config),
    )


def daily_patterns(repo: Repository, commit: str) -> tuple[str, ...]:
    """The patterns of daily logs in the settings of a commit; () when `commit` is "". Raises BadConfig for settings
    that cannot be parsed, GitMemError for settings of more than 1 MiB."""
    if not commit:
        return ()
    return load((), _text(repo, repo.entries(commit, [TRACKED]), TRACKED)).memory_daily


def _text(repo: Repository, entries: Sequence[Entry], path: str) -> str:
    """The text of a file of a tree; "" if the tree lacks it or has a link there. Raises GitMemError for a file over 1
    MiB."""
    entry = next((e for e in entries if e.path == path and e.mode not in LINKS), None)
    if entry is None:
        return ""
    if repo.sizes([entry.oid]).get(entry.oid, 0) > 1 << 20:
        raise GitMemError(Message("{} is larger than 1 MiB", path), Message("mend {}", path))
    return repo.read(entry.oid).decode("utf-8", "replace")
