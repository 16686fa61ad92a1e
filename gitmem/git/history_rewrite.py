"""Removes a text from a whole clone: finds the objects with the text, rewrites every ref, removes the old history.

`history_filter` does the rewrite by git-filter-repo in a process of its own. Afterwards no ref, reflog, pack or loose
object holds the old history. Nothing here prints or logs the text.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import GitFailed, GitMemError, Refused
from gitmem.git.commit import BISECT_IN_PROGRESS, IN_PROGRESS
from gitmem.git.history_filter import CITED, PROBED, Masking
from gitmem.git.objects import is_encrypted
from gitmem.git.repository import Repository
from gitmem.git.write import HOOK_VIEW, run_git

OWN_FOLDER = "filter-repo"  # of git-filter-repo, in the Git directory
NOT_INSTALLED = ("--purge needs git-filter-repo", "pip install 'git-mem[purge]'")
# Files of the Git directory that may quote the old history, and that Git writes again if it needs them.
QUOTING_FILES = (
    "FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG",
    "EDIT_DESCRIPTION", "BRANCH_DESCRIPTION", "MERGE_RR", "AUTO_MERGE", "addp-hunk-edit.diff", "fast_import_crash_*",
    "rr-cache/*/*",
)  # fmt: skip
MAX_CITATION_DEPTH = 6  # of blobs that cite blobs that cite blobs ..., for the new oids
OTHER_REFS = ("refs/remotes/", "refs/original/", "refs/replace/")  # of the old history; deleted, not rewritten


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewrite of the history.

    `masking`: masks the text and renames files. `blobs`: old oid -> new oid of the blobs that change. `records`: a
    pattern for lines to remove from commit messages, "" for none.
    """

    masking: Masking
    blobs: Mapping[str, str]
    records: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The objects of a clone that contain a text, reachable or not.

    `blobs`, `commits`, `tags`: their oids. `trees`: oids of the trees that have an entry with the name of a renamed
    file. `changed`: old oid -> new oid of all blobs that change, also those that only cite lines of another one.
    `signed`: the number of signed commits and tags of the clone. `binary`: those of `blobs` that are not text.
    """

    changed: Mapping[str, str]
    blobs: frozenset[str]
    commits: Sequence[str]
    tags: Sequence[str]
    trees: Sequence[str]
    signed: int
    binary: Sequence[str]

    @property
    def count(self) -> int:
        return len(self.blobs) + len(self.commits) + len(self.tags) + len(self.trees)


def ensure_can_purge(repo: Repository) -> None:
    """Raise Refused if a rewrite would miss an object or lose work, and if git-filter-repo is missing or cannot rewrite
    this repository (bare, SHA-256). Changes nothing."""
    if importlib.util.find_spec("git_filter_repo") is None:
        raise Refused(*NOT_INSTALLED)
    if repo.root is None:
        raise Refused("a bare repository is not purged", "run it in a clone, and push from there")
    if repo.object_format != "sha1":
        raise Refused("git-filter-repo cannot rewrite a repository with SHA-256 objects")
    for hindrance, reason, remedy in _hindrances(repo):
        raise Refused(f"{hindrance}: {reason}", f"{remedy}; nothing was changed")


def _hindrances(repo: Repository) -> Iterator[tuple[str, str, str]]:
    """(what, why, what to do) of each reason against a rewrite."""
    common = repo.common_dir
    if repo.branch() is None:
        yield "no branch is checked out", "no ref would hold this commit", "git switch BRANCH"
    for name, (operation, remedy) in (IN_PROGRESS | BISECT_IN_PROGRESS).items():
        if (repo.git_dir / name).exists():
            yield f"{operation} is not finished", "its files may say the text", f"{remedy}, or abort it"
    if run_git(repo, ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none"]):
        yield "the work tree has changes that are not committed", "a rewrite resets it", "commit them, or take them out"
    if len(run_git(repo, ["worktree", "list", "--porcelain"]).split("\nworktree ")) > 1 or repo.git_dir != common:
        yield "there are linked work trees", "they hold the old history", "git worktree remove each of them"
    if run_git(repo, ["for-each-ref", "refs/stash"]):
        yield "there is a stash", "only its newest entry could be rewritten", "git stash pop, or drop what is stashed"
    if (common / "shallow").exists():
        yield "the clone is shallow", "its history is cut", "git fetch --unshallow"
    if _setting(repo, r"^remote\..*\.(promisor|partialclonefilter)$|^extensions\.partialclone$"):
        yield "the clone is partial", "it has not all objects", "run it in a full clone"
    for name in ("alternates", "http-alternates"):
        if (common / "objects" / "info" / name).exists():
            yield (
                "the clone borrows objects of another",
                "they cannot be removed here",
                "git repack -ad, then unlink it",
            )
    if any((common / "objects" / "pack").glob("*.keep")):
        yield "a pack is marked to be kept", "what it has stays", "remove the .keep file"
    if (common / "modules").is_dir():
        yield "there are submodules", "their repositories are not rewritten", "run it in a clone without them"
    for line in run_git(repo, ["for-each-ref", "--format=%(objecttype) %(*objecttype) %(refname)"]).splitlines():
        kind, inner, name = line.split(" ", 2)
        if (inner or kind) != "commit":
            yield f"{name} names no commit", "git-filter-repo leaves it as it is", "delete it"


def _setting(repo: Repository, names: str) -> str:
    try:
        return run_git(repo, ["config", "--get-regexp", names])
    except GitFailed:  # no such setting
        return ""


def said_in(repo: Repository, masking: Masking) -> Found:
    """Find all objects of the clone that contain the text, also those that no ref reaches.

    Raises GitMemError for an encrypted blob that contains the text or cannot be decrypted, GitFailed if an object
    cannot be read.
    """
    blobs: dict[str, bytes] = {}
    cited: dict[str, bytes] = {}
    commits: list[str] = []
    tags: list[str] = []
    trees: list[str] = []
    binary: list[str] = []
    signed = 0
    parts = [name.rpartition("/")[2].encode("utf-8", "surrogateescape") + b"\0" for name, _ in masking.paths]
    for oid, kind, data in _objects(repo):
        if kind == "blob" and is_encrypted(data):
            git_crypt = repo.git_crypt()
            text = git_crypt.text(data) if git_crypt else None
            if text is not None and not masking.says(text):
                continue
            raise GitMemError(
                "this history holds files that git-crypt encrypted: what they say cannot be masked there",
                "to be rid of one file: git filter-repo --invert-paths --path FILE (docs/at-rest.md)",
            )
        if kind in ("commit", "tag"):
            head, _, _ = data.partition(b"\n\n")
            signed += b"\ngpgsig" in head or (kind == "tag" and b"-----BEGIN " in data)
        if kind == "tree":
            if any(b" " + part in data for part in parts):
                trees.append(oid)
        elif masking.says(data):
            if kind == "blob":
                blobs[oid] = data
                if b"\0" in data[:PROBED]:
                    binary.append(oid)
            else:
                (commits if kind == "commit" else tags).append(oid)
        elif kind == "blob" and CITED.search(data):
            cited[oid] = data
    return Found(_new_oids(repo, masking, blobs, cited), frozenset(blobs), commits, tags, trees, signed, binary)


def _new_oids(
    repo: Repository, masking: Masking, containing: Mapping[str, bytes], citing: Mapping[str, bytes]
) -> dict[str, str]:
    """Old oid -> new oid of all blobs that change.

    `containing`: blobs that contain the text. `citing`: blobs that cite lines of blobs; they change if a cited blob
    does. Both are oid -> bytes.
    """
    changed: dict[str, str] = {}
    for _ in range(MAX_CITATION_DEPTH):
        with_new_oids = masking.with_blobs(changed)
        next_changed: dict[str, str] = {}
        for oid, data in {**citing, **containing}.items():
            masked = with_new_oids.masked(data)
            if masked != data:
                next_changed[oid] = repo.hash_blob(masked)
        if next_changed == changed:
            break
        changed = next_changed
    return changed


def _objects(repo: Repository) -> Iterator[tuple[str, str, bytes]]:
    """(oid, kind, bytes) of every object of the clone, in no order. Raises GitFailed at the end if one cannot be
    read."""
    command = ["git", "-C", str(repo.git_dir), "cat-file", "--batch-all-objects", "--unordered", "--batch"]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environ(repo)
    )
    with process:
        stream = process.stdout
        assert stream is not None
        while header := stream.readline():
            oid, kind, size = header.decode("ascii").split()
            yield oid, kind, stream.read(int(size))
            stream.read(1)
    if process.returncode != 0:
        raise GitFailed("git cat-file failed: the objects of this clone cannot all be read", "git fsck")


def named_objects(repo: Repository) -> Iterator[tuple[str, str]]:
    """(oid, path) of the objects that commits of any ref reach; one path if an object has several, "" for a commit and
    for the tree of a commit."""
    for line in run_git(repo, ["rev-list", "--objects", "--all"]).splitlines():
        oid, _, path = line.partition(" ")
        yield oid, path


def _environ(repo: Repository) -> dict[str, str]:
    hidden = {*HOOK_VIEW, "GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES"}
    return {name: value for name, value in repo.environ.items() if name not in hidden} | {"GIT_NO_REPLACE_OBJECTS": "1"}


def rewrite(repo: Repository, change: Rewrite) -> None:
    """Rewrite every branch, tag and note as `change` says, by git-filter-repo in a process of its own. Notes keep
    naming the old commits until `remove_old_history` moves them. Raises GitFailed if git-filter-repo fails; the clone
    may then be partly rewritten."""
    parameters = {
        "pattern": change.masking.pattern, "mask": change.masking.mask, "blobs": dict(change.blobs),
        "records": change.records, "paths": [list(pair) for pair in change.masking.paths],
    }  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem.git.history_filter"], input=json.dumps(parameters).encode(), cwd=repo.root,
        capture_output=True, env=_environ(repo), check=False,
    )  # fmt: skip
    if result.returncode != 0:
        raise GitFailed("git-filter-repo failed", "git fsck")


def remove_old_history(repo: Repository) -> int:
    """Remove all that holds the old history: OTHER_REFS, reflogs, QUOTING_FILES, unreachable objects.

    Notes are moved to the new commits. Returns the number of deleted refs. Raises GitMemError if a file cannot be
    removed, GitFailed if a command of Git fails; part of the old history is still there then.
    """
    _move_notes(repo)
    listed = run_git(repo, ["for-each-ref", "--format=%(refname)", *OTHER_REFS]).splitlines()
    old_refs = [name for name in listed if name.strip()]
    for name in old_refs:
        run_git(repo, ["update-ref", "--no-deref", "-d", name])
    for pattern in (*QUOTING_FILES, f"{OWN_FOLDER}/*"):
        for file in repo.common_dir.glob(pattern):
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise GitMemError(f"cannot remove '{file}': {error.strerror}", "remove it yourself") from None
    with suppress(OSError):
        (repo.common_dir / OWN_FOLDER).rmdir()
    run_git(repo, ["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"])
    run_git(repo, ["-c", "gc.cruftPacks=false", "gc", "--quiet", "--prune=now"])
    run_git(repo, ["prune", "--expire=now"])
    return len(old_refs)


def _move_notes(repo: Repository) -> None:
    """Move each note from its old commit to the new one; git-filter-repo leaves notes at the old oids."""
    refs = run_git(repo, ["for-each-ref", "--format=%(refname)", "refs/notes/"]).splitlines()
    table = repo.common_dir / OWN_FOLDER / "commit-map"
    if not refs or not table.exists():
        return
    rows = [line.split() for line in table.read_text("ascii").splitlines()[1:]]
    moved = {old: new for old, new in rows if old != new and set(new) != {"0"}}
    for ref in refs:
        annotated = [line.split()[1] for line in run_git(repo, ["notes", "--ref", ref, "list"]).splitlines()]
        pairs = [(oid, moved[oid]) for oid in annotated if oid in moved]
        if pairs:
            copied = "".join(f"{old} {new}\n" for old, new in pairs)
            run_git(repo, ["notes", "--ref", ref, "copy", "-f", "--stdin"], stdin=copied)
            removed = "".join(f"{old}\n" for old, _ in pairs)
            run_git(repo, ["notes", "--ref", ref, "remove", "--ignore-missing", "--stdin"], stdin=removed)


def files_that_say_it(folder: Path, masking: Masking) -> list[Path]:
    """The files below `folder`, a Git directory or a folder in one, whose bytes or paths contain the text, or that
    cannot be read, by path. In a path `-` and `_` count as spaces. Links are not followed.

    Objects of Git are left out: `said_in` reads them.
    """
    files = []
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink() or not file.is_file() or _is_object(name):
            continue
        try:
            data = file.read_bytes()
        except OSError:
            files.append(file)  # it may contain the text
            continue
        if masking.says(data) or masking.says(as_words(name).encode("utf-8", "surrogateescape")):
            files.append(file)
    return files


def _is_object(name: str) -> bool:
    return name.startswith("objects/") and not name.startswith("objects/info/")


def as_words(name: str) -> str:
    """The name of a file or branch with spaces in place of `-` and `_`."""
    return name.replace("-", " ").replace("_", " ")
