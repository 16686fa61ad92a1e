"""Reads from Git's objects the texts that rules about a change as a whole need (`gate/changes/rules.py`), and applies
the rules.

Nothing above a size limit is read. A .gitmem.toml that is a link or a submodule counts as "no settings", as everywhere.
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

MAX_SETTINGS_BYTES = 1 << 20  # bytes of a .gitattributes or a .gitmem.toml; larger ones are not read


def link_target(repo: Repository, oid: str) -> str:
    """The target of the symbolic link that is blob `oid`; "" when it is missing or longer than any path."""
    if repo.sizes([oid]).get(oid, rules.LONG_PATH + 1) > rules.LONG_PATH:
        return ""
    return repo.read(oid).decode("utf-8", "surrogateescape")


def attribute_findings(
    repo: Repository, path: str, mode: int, oid: str, policy: Policy, commit: str = ""
) -> Iterator[Finding]:
    """The findings about the .gitattributes at `path` with this file mode and blob oid. A file that cannot be read (a
    link, too large, missing) is itself a finding. `commit`: the commit that changes it, "" for the staged change."""
    if mode in LINKS or repo.sizes([oid]).get(oid, MAX_SETTINGS_BYTES + 1) > MAX_SETTINGS_BYTES:
        words = "attributes that cannot be read: a link, or too large"
        yield rules.change_finding("encoding-attribute", path, words, commit=commit)
        return
    yield from check_attributes(path, repo.read(oid).decode("utf-8", "replace"), policy, commit)


def history_findings(repo: Repository, file: rules.FileVersions, policy: Policy, commit: str = "") -> Iterator[Finding]:
    """The findings of the history rules for one changed file, given by the oids of its versions. `commit`: the commit
    that changes the file, "" for the staged change.

    The file has no finding here when any of the versions is above `policy.limit`.
    """
    path, olds, new, base_oid = file
    if base_oid is not None and base_oid != new and len(olds) == 1:
        olds = [*olds, new]  # the merge took the version of another parent, which had changed it too
    oids = [oid for oid in (*olds, new, base_oid) if oid]
    if any(size > policy.limit for size in repo.sizes(oids).values()):
        return
    texts = {oid: (data or b"").decode("utf-8", "replace") for oid, data in repo.read_many(oids)}
    today = policy.today
    if commit and kind(path) is Kind.DAILY:
        today = repo.commit(commit).commit_date.date()
    before_text = None
    if base_oid is not None:
        before_text = texts.get(base_oid, "")
    as_texts = rules.FileVersions(path, [texts.get(oid, "") for oid in olds], texts.get(new, ""), before_text)
    yield from rules.check_history(as_texts, commit=commit, daily=policy.daily, today=today)


def settings_loss(repo: Repository, old: str, new: str, commit: str = "") -> list[Finding]:
    """The finding about strict settings (`rules.named_settings`) of commit `old` that commit `new` lacks (oids, "" for
    no commit); [] when none is lost."""
    old_settings = rules.named_settings(_text(repo, settings_of(repo, old)))
    if not old_settings:
        return []
    return list(rules.check_settings(old_settings, _text(repo, settings_of(repo, new)), commit))


def staged_settings_loss(repo: Repository, parents: Sequence[str]) -> list[Finding]:
    """The finding about settings that make the gate stricter (`rules.named_settings`), which HEAD or a merged commit
    has and the staged .gitmem.toml lacks; [] when none is lost.

    What one side of a merge removed since the merge base is no loss. `parents`: HEAD, then the merged commits.
    """
    required: list[str] = []
    for number, parent in enumerate(parents):
        names = rules.named_settings(_text(repo, settings_of(repo, parent)))
        if number == 0:
            required = names
            continue
        before: list[str] = []
        if base := repo.merge_base(parents[0], parent):
            before = rules.named_settings(_text(repo, settings_of(repo, base)))
        required = rules.merged_settings(required, names, before)
    if not required:
        return []
    return list(rules.check_settings(required, settings_text(repo, repo.staged())))


def range_settings_loss(
    repo: Repository, rows: Sequence[tuple[PathChange, str]], base: str, tip: str
) -> Iterator[Finding]:
    """The finding about settings that are lost over a range of commits, whatever the versions in between.

    `rows`: (change of .gitmem.toml, commit), oldest first. The settings before are those of the merge base of `base`
    and `tip`, or without a `base` those that all replaced versions from before the range have. The settings after are
    those of `tip`.
    """
    if base:
        last_commit = tip
        if rows:
            last_commit = rows[-1][1]
        yield from settings_loss(repo, repo.merge_base(base, tip) or base, tip, last_commit)
        return
    if not rows:
        return
    made_in_range: set[str] = set()
    replaced_oids: dict[str, None] = {}
    for row, _ in rows:
        replaced_oids.update((oid, None) for oid in row.olds if oid not in made_in_range)
        if row.mode not in LINKS:
            made_in_range.add(row.new_oid)
    texts = [_text(repo, oid) for oid in replaced_oids]
    settings = [rules.named_settings(text) for text in texts]
    required = [name for name in (settings or [[]])[0] if all(name in names for names in settings)]
    if required:
        yield from rules.check_settings(required, _text(repo, settings_of(repo, tip)), rows[-1][1])


def settings_of(repo: Repository, commit: str) -> str:
    """The oid of a commit's settings; "" for a commit without settings or with a link in their place, and for no commit
    ("")."""
    if not commit:
        return ""
    return _regular(repo.entries(commit, [TRACKED]))


def settings_text(repo: Repository, entries: Sequence[Entry]) -> str:
    """The text of the .gitmem.toml in a tree. `entries`: the listing of the tree. "" without such a file, for a link,
    and for one of more than MAX_SETTINGS_BYTES."""
    return _text(repo, _regular(entries))


def _regular(entries: Sequence[Entry]) -> str:
    return next((entry.oid for entry in entries if entry.path == TRACKED and entry.mode not in LINKS), "")


def _text(repo: Repository, oid: str) -> str:
    """The text of a blob; "" without an oid, if the object is missing, or over MAX_SETTINGS_BYTES."""
    small = oid and repo.sizes([oid]).get(oid, MAX_SETTINGS_BYTES + 1) <= MAX_SETTINGS_BYTES
    if not small:
        return ""
    return repo.read(oid).decode("utf-8", "replace")
