"""The rules about a change as a whole (`gate/changes/rules.py`) that need a file's text: reads it from Git's objects.

Reads nothing above a limit. A .gitmem.toml that is a link or a submodule is not read as settings anywhere, and so keeps
nothing under the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitmem.config import TRACKED
from gitmem.gate.changes import rules
from gitmem.gate.changes.attributes import check_attributes
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.policy import Policy
from gitmem.git.objects import LINKS, Entry
from gitmem.git.ranges import PathChange
from gitmem.git.repository import Repository
from gitmem.paths import Kind, kind

MAX_SETTINGS_BYTES = 1 << 20  # bytes of a .gitattributes or of settings


def link_target(repo: Repository, oid: str) -> str:
    """What the link that is blob `oid` leads to; "" where it is not here or longer than any path."""
    if repo.sizes([oid]).get(oid, rules.LONG_PATH + 1) > rules.LONG_PATH:
        return ""
    return repo.read(oid).decode("utf-8", "surrogateescape")


def attribute_findings(
    repo: Repository, path: str, mode: int, oid: str, policy: Policy, commit: str = ""
) -> Iterator[Finding]:
    """What a .gitattributes does to memory; one that is a link, too large or not here is refused unread."""
    if mode in LINKS or repo.sizes([oid]).get(oid, MAX_SETTINGS_BYTES + 1) > MAX_SETTINGS_BYTES:
        words = "attributes that cannot be read: a link, or too large"
        yield rules.finding("encoding-attribute", path, words, commit=commit)
        return
    yield from check_attributes(path, repo.read(oid).decode("utf-8", "replace"), policy, commit)


def history_findings(
    repo: Repository,
    path: str,
    olds: Sequence[str],
    new: str,
    policy: Policy,
    commit: str = "",
    before: str | None = None,
) -> Iterator[Finding]:
    """The history rules for one changed file, given its blobs ("" for none) in the parents and where those went apart
    (None where it is not known)."""
    if before is not None and before != new and len(olds) == 1:
        olds = [*olds, new]  # a merge that is another parent as a whole, which changed it too
    oids = [oid for oid in (*olds, new, before) if oid]
    if any(size > policy.limit for size in repo.sizes(oids).values()):
        return
    texts = {oid: (data or b"").decode("utf-8", "replace") for oid, data in repo.read_many(oids)}
    if commit and kind(path) is Kind.DAILY:
        today = repo.commit(commit).commit_date.date()
    else:
        today = policy.today
    yield from rules.check_history(
        path, [texts.get(oid, "") for oid in olds], texts.get(new, ""), "", commit,
        daily=policy.daily, before=None if before is None else texts.get(before, ""), today=today,
    )  # fmt: skip


def loss_between(repo: Repository, old: str, new: str, commit: str = "") -> list[Finding]:
    """What the settings of tree `new` (or commit) no longer keep of those of `old`; "" is none."""
    kept = rules.named_settings(_text(repo, settings_of(repo, old)))
    if not kept:
        return []
    return list(rules.check_settings(kept, _text(repo, settings_of(repo, new)), commit))


def staged_loss(repo: Repository, parents: Sequence[str]) -> list[Finding]:
    """What the staged settings no longer keep of those of HEAD, or of the commits that are being merged."""
    kept: list[str] = []
    for number, parent in enumerate(parents):
        names = rules.named_settings(_text(repo, settings_of(repo, parent)))
        fork = None
        if number:
            fork = repo.merge_base(parents[0], parent)
        if fork:
            before = rules.named_settings(_text(repo, settings_of(repo, fork)))
        else:
            before = []
        if number:
            kept = rules.merged_settings(kept, names, before)
        else:
            kept = names
    if not kept:
        return []
    return list(rules.check_settings(kept, settings_text(repo, repo.staged())))


def range_loss(repo: Repository, rows: Sequence[tuple[PathChange, str]], base: str, tip: str) -> Iterator[Finding]:
    """What the settings kept before some commits and do not after them: a version in between decides nothing.

    `rows` is what happens to .gitmem.toml, and in which commit, oldest first. Before is where `tip` left `base`; where
    there is no base, the versions that the commits found; after is what `tip` has.
    """
    if base:
        yield from loss_between(repo, repo.merge_base(base, tip) or base, tip, rows[-1][1] if rows else tip)
        return
    if not rows:
        return
    made: set[str] = set()
    found: dict[str, None] = {}
    for row, _ in rows:
        found.update((oid, None) for oid in row.olds if oid not in made)
        if row.mode not in LINKS:
            made.add(row.new_oid)
    texts = [_text(repo, oid) for oid in found]
    named = [rules.named_settings(text) for text in texts]
    kept = [name for name in (named or [[]])[0] if all(name in names for names in named)]
    if kept:
        yield from rules.check_settings(kept, _text(repo, settings_of(repo, tip)), rows[-1][1])


def settings_of(repo: Repository, commit: str) -> str:
    """The blob of a commit's settings, "" where it ("" for none) has none."""
    if not commit:
        return ""
    return _regular(repo.entries(commit, [TRACKED]))


def settings_text(repo: Repository, entries: Sequence[Entry]) -> str:
    """The text of the settings in a tree, "" where it has none, or one above the limit."""
    return _text(repo, _regular(entries))


def _regular(entries: Sequence[Entry]) -> str:
    return next((entry.oid for entry in entries if entry.path == TRACKED and entry.mode not in LINKS), "")


def _text(repo: Repository, oid: str) -> str:
    small = oid and repo.sizes([oid]).get(oid, MAX_SETTINGS_BYTES + 1) <= MAX_SETTINGS_BYTES
    if not small:
        return ""
    return repo.read(oid).decode("utf-8", "replace")
