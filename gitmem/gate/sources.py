"""Where the gate's blobs come from: what is staged, a range, all of history, a push, paths of the work tree.

Everything but work-tree paths is read from Git objects, never from files on disk. A policy is read from the tree
that is trusted for the case: the staged one in a hook, the base in CI. This module finds nothing in a text.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from pathlib import Path

from gitmem.config import TRACKED, load
from gitmem.errors import GitFailed, GitMemError, OutsideRepository, UsageError
from gitmem.gate import change_rules, exceptions
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob
from gitmem.gate.policy import MESSAGE, Policy, united
from gitmem.git.objects import GITLINK, REGULAR, SYMLINK, Change, Entry
from gitmem.git.protocol import Repository
from gitmem.git.ranges import Touched, touched
from gitmem.git.worktree import read_bytes
from gitmem.paths import Kind, kind, layout_of

WINDOW = 256  # blobs asked for at once
LINKS = (SYMLINK, GITLINK)  # whatever is neither is read as a file: an odd mode hides nothing


@dataclass(frozen=True, slots=True)
class Source:
    """Blobs to scan, and findings about the change itself: complete only once the blobs are used up."""

    blobs: Iterator[Blob]
    findings: list[Finding] = field(default_factory=list)


# -- policies ------------------------------------------------------------------------------------------------


def policy_from(repo: Repository, trees: Sequence[Sequence[Entry]], today: date, *, trusted: int = 0) -> Policy:
    """The policy of tree `trees[trusted]`, with the paths, protection and layouts of all `trees` united.

    Uniting only ever tightens; exceptions come from the trusted tree alone. Raises BadConfig.
    """
    pairs = repo.user_config()
    configs = [load(pairs, _text(repo, entries, TRACKED)) for entries in trees] or [load(pairs)]
    extra = tuple(dict.fromkeys(glob for config in configs for glob in config.memory_paths))
    allow = _text(repo, trees[trusted], exceptions.FILE) if trees else ""
    return Policy(
        layouts=united(layout_of((e.path for e in entries), extra) for entries in trees if entries)
        or (layout_of((), extra),),
        protected=tuple(dict.fromkeys(glob for config in configs for glob in config.protected)),
        allow=exceptions.parse(allow),
        today=today,
    )


def staged_policy(repo: Repository, today: date) -> Policy:
    """What hooks hold a commit to: the staged tree's exceptions, HEAD's and the staged tree's rules."""
    head = repo.head()
    return policy_from(repo, [repo.staged(), repo.entries(head) if head else []], today)


def base_policy(repo: Repository, base: str, tip: str, today: date) -> Policy:
    """What CI holds a range to: nothing in it can except itself. `base` "" when there is none: no exceptions."""
    return policy_from(repo, [repo.entries(base) if base else [], repo.entries(tip)], today)


def tree_policy(repo: Repository, commit: str, today: date) -> Policy:
    """The policy a commit's own tree gives."""
    return policy_from(repo, [repo.entries(commit)], today)


def worktree_policy(repo: Repository, today: date) -> Policy:
    """What a person's own look at the work tree uses: the files as they lie there."""
    policy = policy_from(repo, [repo.staged()], today)
    if repo.root is None:
        return policy
    texts = {}
    for name in (TRACKED, exceptions.FILE):
        try:
            texts[name] = read_bytes(repo.root, name, policy.limit).decode("utf-8", "replace")
        except (OSError, OutsideRepository):
            texts[name] = ""
    config = load(repo.user_config(), texts[TRACKED])
    known = [entry.path for entry in repo.staged()] + repo.untracked()
    return Policy(
        layouts=(layout_of(known, config.memory_paths),),
        protected=config.protected,
        allow=exceptions.parse(texts[exceptions.FILE]),
        today=today,
    )


def _text(repo: Repository, entries: Sequence[Entry], path: str) -> str:
    entry = next((e for e in entries if e.path == path and e.mode not in LINKS), None)
    if entry is None:
        return ""
    if repo.sizes([entry.oid]).get(entry.oid, 0) > 1 << 20:
        raise GitMemError(f"{path} is larger than 1 MiB", f"mend {path}")
    return repo.read(entry.oid).decode("utf-8", "replace")


# -- what is staged ------------------------------------------------------------------------------------------


def staged(repo: Repository, policy: Policy, names: Sequence[str] = ()) -> Source:
    """The staged blobs that a commit would make memory, from the index Git named (GIT_INDEX_FILE).

    `names` are paths whose staged content is wanted though the commit does not change them.
    """
    changes = repo.staged_changes()
    findings = change_findings(repo, changes, policy)
    return Source(_staged_blobs(repo, changes, names, policy), findings)


def _staged_blobs(repo: Repository, changes: Sequence[Change], names: Sequence[str], policy: Policy) -> Iterator[Blob]:
    wanted = []
    for change in changes:
        if change.status == "U":
            yield Blob(change.path, b"", skipped="it is in conflict; resolve it first")
        elif change.status != "D" and change.new_mode not in LINKS and policy.concerns(change.path):
            wanted.append((change.path, change.new_oid, ""))
    if names:
        more = set(names) - {path for path, _, _ in wanted}
        entries = [e for e in repo.staged() if e.path in more and e.mode not in LINKS and policy.concerns(e.path)]
        wanted += [(entry.path, entry.oid, "") for entry in entries]
    yield from read(repo, wanted, policy)


def change_findings(repo: Repository, changes: Sequence[Change], policy: Policy) -> list[Finding]:
    """Findings about the staged change as a whole, its history rules apart (they need the message)."""
    findings: list[Finding] = []
    for change in changes:
        if change.status not in "DU":
            findings += change_rules.check_entry(change.path, change.new_mode, policy)
            if change.path.rpartition("/")[2] == ".gitattributes" and change.new_mode not in LINKS:
                memory = [c.path for c in changes if policy.concerns(c.path)]
                findings += _attributes(repo, change.path, change.new_oid, memory)
        if change.path == TRACKED and change.old_oid:
            olds = [*([change.old_oid] if change.old_oid.strip("0") else []), *_other_sides(repo, TRACKED)]
            findings += _settings(repo, olds, "" if change.status == "D" else change.new_oid)
    findings += change_rules.check_protection(changes, policy)
    added = [change.path for change in changes if change.status == "A"]
    if any(policy.concerns(path) for path in added):
        findings += change_rules.check_twins(added, (entry.path for entry in repo.staged()), policy)
    return findings


def _settings(repo: Repository, olds: Sequence[str], new: str, commit: str = "") -> list[Finding]:
    """What .gitmem.toml kept under the gate in every old blob and no longer does; too large a file names nothing."""
    oids = [oid for oid in (*olds, new) if oid]
    sizes = repo.sizes(oids)
    if any(sizes.get(oid, 0) > 1 << 20 for oid in olds):
        return []
    texts = [repo.read(oid).decode("utf-8", "replace") for oid in olds]
    now = repo.read(new).decode("utf-8", "replace") if new and sizes.get(new, 0) <= 1 << 20 else ""
    return list(change_rules.check_settings(texts, now, commit))


def _other_sides(repo: Repository, path: str) -> list[str]:
    """The blobs at a path in the other sides of a merge that is being made, those that have it."""
    return [entry.oid for side in _merge_heads(repo) for entry in repo.entries(side, [path]) if entry.path == path]


def _attributes(repo: Repository, path: str, oid: str, memory: Sequence[str], commit: str = "") -> Iterator[Finding]:
    if repo.sizes([oid]).get(oid, 1 << 30) <= 1 << 20:
        text = repo.read(oid).decode("utf-8", "replace")
        yield from change_rules.check_attributes(path, text, memory, commit)


def staged_history(repo: Repository, staging: Sequence[Change], message: str, policy: Policy) -> list[Finding]:
    """The history rules for the commit about to be made with this message; a merge's other sides count."""
    reason = change_rules.rewrite_reason(message)
    if reason:
        return []
    changes = [c for c in staging if kind(c.path) in (Kind.DAILY, Kind.MEMORY) and c.old_oid]
    if not changes:
        return []
    moved = {c.new_oid for c in staging if c.status == "A"}
    sides = [{e.path: e.oid for e in repo.entries(side, [c.path for c in changes])} for side in _merge_heads(repo)]
    findings: list[Finding] = []
    for change in changes:
        if change.status == "D" and change.old_oid in moved:
            continue
        if any(change.path not in side for side in sides):
            continue  # one side of the merge had deleted it
        olds = [change.old_oid, *(side[change.path] for side in sides)]
        findings += _history(repo, change.path, olds, change.new_oid, policy)
    return findings


def _merge_heads(repo: Repository) -> list[str]:
    try:
        return (repo.git_dir / "MERGE_HEAD").read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return []


def _history(
    repo: Repository, path: str, olds: Sequence[str], new: str, policy: Policy, commit: str = ""
) -> Iterator[Finding]:
    oids = [oid for oid in (*olds, new) if oid]
    if any(size > policy.limit for size in repo.sizes(oids).values()):
        return
    texts = {oid: (data or b"").decode("utf-8", "replace") for oid, data in repo.read_many(oids)}
    yield from change_rules.check_history(path, [texts[oid] for oid in olds], texts.get(new, ""), "", commit)


# -- commits -------------------------------------------------------------------------------------------------


def span(repo: Repository, text: str) -> tuple[str, str]:
    """(base, tip) commit oids of `A..B`; a missing side is HEAD; an all-zero A (a new branch) is "".

    Of `A...B` the base is the merge base. Raises UsageError and UnknownRevision.
    """
    symmetric = "..." in text
    first, dots, last = text.partition("..." if symmetric else "..")
    if not dots or text.startswith("-"):
        raise UsageError(f"'{text}' is not a range", "write it as A..B, for example origin/main..HEAD")
    tip = repo.resolve(last or "HEAD")
    if first and not first.strip("0"):
        return "", tip
    base = repo.resolve(first or "HEAD")
    return (repo.merge_base(base, tip) or "" if symmetric else base), tip


def commits(repo: Repository, revs: Sequence[str], policy: Policy) -> Source:
    """Every version of every memory blob the commits of `revs` bring in, and their messages, oldest first."""
    findings: list[Finding] = []
    return Source(_commit_blobs(repo, revs, policy, findings), findings)


def _commit_blobs(repo: Repository, revs: Sequence[str], policy: Policy, findings: list[Finding]) -> Iterator[Blob]:
    oids: list[str] = []
    said: set[str] = set()  # commits whose message gives a reason to rewrite history
    for commit in repo.log(revs, reverse=True):
        oids.append(commit.oid)
        if change_rules.rewrite_reason(commit.message):
            said.add(commit.oid)
        yield Blob(MESSAGE, commit.message.encode("utf-8", "surrogateescape"), commit=commit.oid)
    if not oids:
        return
    rewrites: list[tuple[str, Touched]] = []
    yield from read(repo, _wanted(repo, oids, policy, findings, rewrites), policy)
    for oid, change in rewrites:
        if oid not in said:
            findings += _history(repo, change.path, change.olds, change.new_oid, policy, oid)


def _wanted(
    repo: Repository, oids: Sequence[str], policy: Policy, findings: list[Finding], rewrites: list[tuple[str, Touched]]
) -> Iterator[tuple[str, str, str]]:
    """(path, blob, commit) of what is to be read; what a change is by itself goes to `findings`, logs to `rewrites`."""
    seen: set[tuple[str, str]] = set()
    added: dict[str, str] = {}
    attributes: list[tuple[str, str, str]] = []
    for oid, changes in touched(repo, oids):
        moved = {c.new_oid for c in changes if c.added}
        added.update((c.path, oid) for c in changes if c.added and policy.concerns(c.path))
        for change in changes:
            if change.olds and kind(change.path) in (Kind.DAILY, Kind.MEMORY):
                rewrites += [(oid, change)] if change.new_oid or not moved & set(change.olds) else []
            if policy.protects(change.path):
                changed = Change("M" if change.new_oid else "D", change.path, "", "", change.new_oid, 0, change.mode)
                findings += change_rules.check_protection([changed], policy, oid)
            if not change.new_oid:
                continue
            findings += change_rules.check_entry(change.path, change.mode, policy, oid)
            key = (change.new_oid, change.path)
            if key in seen or change.mode in LINKS:
                continue
            seen.add(key)
            if policy.concerns(change.path):
                yield change.path, change.new_oid, oid
            elif change.path.rpartition("/")[2] == ".gitattributes":
                attributes.append((change.path, change.new_oid, oid))
    if added:
        twins = change_rules.check_twins(added, (entry.path for entry in repo.entries(oids[-1])), policy)
        findings += [replace(twin, commit=added[twin.path]) for twin in twins if twin.path in added]
    for path, blob, commit in attributes:
        findings += _attributes(repo, path, blob, (), commit)


def read(repo: Repository, wanted: Iterable[tuple[str, str, str]], policy: Policy) -> Iterator[Blob]:
    """The blobs of (path, oid, commit), sizes asked first: nothing above the limit is ever read."""
    source = iter(wanted)
    while window := list(islice(source, WINDOW)):
        sizes = repo.sizes([oid for _, oid, _ in window])
        small = [row for row in window if sizes.get(row[1], policy.limit + 1) <= policy.limit]
        bytes_of = iter(repo.read_many([oid for _, oid, _ in small]))
        for path, oid, commit in window:
            size = sizes.get(oid)
            if size is None:
                yield Blob(path, b"", oid, commit, "its object is missing here (a partial clone?)")
            elif size > policy.limit:
                yield Blob(path, b"", oid, commit, f"{size} bytes, more than the {policy.limit} a memory file may have")
            else:
                _, data = next(bytes_of)
                yield (
                    Blob(path, data, oid, commit)
                    if data is not None
                    else Blob(path, b"", oid, commit, "its object is missing or no blob")
                )


def pushed(repo: Repository, lines: Iterable[str], remote: str) -> list[tuple[str, list[str]]]:
    """(tip, revisions) of each ref in pre-push's standard input that brings commits the remote has not shown us."""
    known = [f"^{oid}" for _, oid in repo.refs(f"refs/remotes/{remote}/")] if remote and "/" not in remote else []
    found = []
    for line in lines:
        words = line.split()
        if len(words) != 4:
            raise GitFailed("pre-push: Git's list of refs cannot be read")
        tip, old = words[1], words[3]
        if tip.strip("0"):
            commit = _must_be_commit(repo, tip, words[2])
            have = [f"^{old}"] if old.strip("0") and _commit_of(repo, old) else []
            found.append((commit, [commit, *have, *known]))
    return found


def received(repo: Repository, lines: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    """(base, tip, revisions) of each ref in pre-receive's standard input; base is what the ref was, else HEAD."""
    have = [f"^{oid}" for _, oid in repo.refs("refs/")]
    found = []
    for line in lines:
        words = line.split(" ", 2)
        if len(words) != 3:
            raise GitFailed("pre-receive: Git's list of refs cannot be read")
        old, new = words[0], words[1]
        if new.strip("0"):
            commit = _must_be_commit(repo, new, words[2])
            base = _commit_of(repo, old) if old.strip("0") else ""
            found.append((base or repo.head() or "", commit, [commit, *have]))
    return found


def _must_be_commit(repo: Repository, oid: str, ref: str) -> str:
    """The commit a pushed ref names. Raises GitMemError for a tag of a tree or a blob: nothing would scan it."""
    commit = _commit_of(repo, oid)
    if not commit:
        raise GitMemError(f"'{ref}' names no commit, so it cannot be scanned and is not let through")
    return commit


def _commit_of(repo: Repository, oid: str) -> str:
    """The commit an oid names (a tag is peeled), "" when it is none or not here."""
    try:
        return repo.resolve(oid)
    except GitMemError:
        return ""


def everything(repo: Repository) -> list[str]:
    """Revisions that reach all of history here."""
    head = repo.head()
    return list(dict.fromkeys([*([head] if head else []), *(oid for _, oid in repo.refs("refs/"))]))


# -- the work tree -------------------------------------------------------------------------------------------


def paths(repo: Repository, names: Sequence[str], policy: Policy) -> Source:
    """Files of the work tree: those named whatever they are, the memory files below folders named, all when none.

    Ignored files are left out unless named. Links are never followed. Raises GitMemError for a name that is not there.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no files", "scan a range: git mem scan --history")
    findings: list[Finding] = []
    listed = [entry.path for entry in repo.staged()] + repo.untracked()
    listed = [path for path in dict.fromkeys(listed) if policy.concerns(path) or policy.holds(path.rstrip("/"))]
    wanted: list[str] = []
    for name in names:
        place = repo.root / name
        if name in ("", "."):
            wanted += listed
        elif place.is_dir() and not place.is_symlink():
            wanted += [path for path in listed if path.startswith(f"{name}/")]
        elif place.is_symlink() or place.exists():
            wanted.append(name)
        else:
            raise GitMemError(f"there is no file '{name}' here", "git mem scan --range A..B reads committed ones")
    chosen = list(dict.fromkeys(wanted if names else listed))
    findings += change_rules.check_twins(chosen, listed, policy)
    findings += _nested(repo.root, chosen)
    return Source(_files(repo.root, chosen, policy, findings), findings)


def _nested(root: Path, chosen: Sequence[str]) -> Iterator[Finding]:
    folders = sorted({"/".join(path.split("/")[:n]) for path in chosen for n in range(1, path.count("/") + 1)})
    for folder in folders:
        if (root / folder / ".git").exists():
            yield change_rules.finding("submodule", folder, "a repository of its own inside memory: it is not read")


def _files(root: Path, chosen: Sequence[str], policy: Policy, findings: list[Finding]) -> Iterator[Blob]:
    for path in chosen:
        try:
            found = (root / path).lstat()
        except OSError:
            continue  # tracked, and deleted in the work tree
        if stat.S_ISLNK(found.st_mode):
            mode = SYMLINK
        elif stat.S_ISDIR(found.st_mode):
            mode = GITLINK
        else:
            mode = REGULAR
        findings += change_rules.check_entry(path, mode, policy)
        if mode != REGULAR:
            if not policy.holds(path):
                yield Blob(path, b"", skipped="a symbolic link, not followed")
            continue
        if found.st_size > policy.limit:
            yield Blob(path, b"", skipped=f"{found.st_size} bytes, more than the {policy.limit} a memory file may have")
            continue
        try:
            yield Blob(path, read_bytes(root, path, policy.limit + 1))
        except (OSError, OutsideRepository) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is behind a link or no regular file"
            yield Blob(path, b"", skipped=f"cannot be read: {reason}")
