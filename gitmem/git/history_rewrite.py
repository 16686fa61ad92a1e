"""Taking a text out of a whole clone: what its objects say, the rewrite of every ref, and the removal of what is left.

`history_filter` does the rewrite, with git-filter-repo, in a process of its own. Afterwards no ref, reflog, pack or
loose object has the old history. Nothing here prints or logs the text.
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
from gitmem.git.history_filter import CITED, PROBED, Masking
from gitmem.git.objects import is_encrypted
from gitmem.git.repository import Repository
from gitmem.git.write import HOOK_VIEW, IN_PROGRESS, run_git

OWN_FOLDER = "filter-repo"  # what git-filter-repo leaves in the Git directory
NOT_INSTALLED = ("--purge needs git-filter-repo", "pip install 'git-mem[purge]'")
DROPPED = (
    "FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG",
    "EDIT_DESCRIPTION", "BRANCH_DESCRIPTION", "MERGE_RR", "AUTO_MERGE", "addp-hunk-edit.diff", "fast_import_crash_*",
    "rr-cache/*/*",
)  # fmt: skip
"""Files of the Git directory that may quote the old history, and that Git writes anew where it needs them."""
LONGEST_CHAIN = 6  # blobs that cite blobs that cite blobs ..., whose new oids are looked for
OTHER_REFS = (
    "refs/remotes/",
    "refs/original/",
    "refs/replace/",
)  # of the old history, not ours to rewrite


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What is to change: the text and the names of files (`masking`), blobs that change (old oid -> new), and a pattern
    of the lines that go from messages, "" for none."""

    masking: Masking
    blobs: Mapping[str, str]
    records: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What of all objects of a clone says a text, reachable or not: oids by kind. `changed`: what blobs become, those
    too that cite lines of others (old oid -> new); `signed`: how many commits and tags have a signature; `binary`:
    blobs that say it and are no text."""

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
    """Raise Refused where a rewrite would miss something or lose work: nothing was changed then."""
    if importlib.util.find_spec("git_filter_repo") is None:
        raise Refused(*NOT_INSTALLED)
    if repo.root is None:
        raise Refused("a bare repository is not purged", "run it in a clone, and push from there")
    if repo.object_format != "sha1":
        raise Refused("git-filter-repo cannot rewrite a repository with SHA-256 objects")
    for name, why, then in _hindrances(repo):
        raise Refused(f"{name}: {why}", f"{then}; nothing was changed")


def _hindrances(repo: Repository) -> Iterator[tuple[str, str, str]]:
    """(what, why, what to do) of everything that stands in the way."""
    common = repo.common_dir
    if repo.branch() is None:
        yield "no branch is checked out", "no ref would hold this commit", "git switch BRANCH"
    for name, (what, then) in IN_PROGRESS.items():
        if (repo.git_dir / name).exists():
            yield f"{what} is not finished", "its files may say the text", f"{then}, or abort it"
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
    except GitFailed:  # there is none
        return ""


def said_in(repo: Repository, masking: Masking) -> Found:
    """Which objects of the clone say the text, those that no ref reaches too, and what blobs become without it."""
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
            text = None
            if git_crypt:
                text = git_crypt.text(data)
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
    repo: Repository, masking: Masking, saying: Mapping[str, bytes], cited: Mapping[str, bytes]
) -> dict[str, str]:
    """What blobs become: those that say the text, and those that cite lines of blobs that change."""
    changed: dict[str, str] = {}
    for _ in range(LONGEST_CHAIN):
        more = masking.with_blobs(changed)
        rows = {**cited, **saying}.items()
        now = {oid: repo.hash_blob(new) for oid, data in rows if (new := more.masked(data)) != data}
        if now == changed:
            break
        changed = now
    return changed


def _objects(repo: Repository) -> Iterator[tuple[str, str, bytes]]:
    """(oid, kind, contents) of every object that is here."""
    command = ["git", "-C", str(repo.git_dir), "cat-file", "--batch-all-objects", "--unordered", "--batch"]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environ(repo)
    )
    with process:
        out = process.stdout
        assert out is not None
        while header := out.readline():
            oid, kind, size = header.decode("ascii").split()
            yield oid, kind, out.read(int(size))
            out.read(1)
    if process.returncode != 0:
        raise GitFailed("git cat-file failed: the objects of this clone cannot all be read", "git fsck")


def named_objects(repo: Repository) -> Iterator[tuple[str, str]]:
    """(oid, path) of the objects that commits of any ref reach; one that has several paths has one of them here."""
    for line in run_git(repo, ["rev-list", "--objects", "--all"]).splitlines():
        oid, _, path = line.partition(" ")
        yield oid, path


def _environ(repo: Repository) -> dict[str, str]:
    hidden = {*HOOK_VIEW, "GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES"}
    return {name: value for name, value in repo.environ.items() if name not in hidden} | {"GIT_NO_REPLACE_OBJECTS": "1"}


def rewrite(repo: Repository, change: Rewrite) -> None:
    """Rewrite every branch, tag and note. Raises GitFailed, after which the clone is as git-filter-repo left it."""
    given = {
        "pattern": change.masking.pattern, "mask": change.masking.mask, "blobs": dict(change.blobs),
        "records": change.records, "paths": [list(pair) for pair in change.masking.paths],
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem.git.history_filter"], input=json.dumps(given).encode(), cwd=repo.root,
        capture_output=True, env=_environ(repo), check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise GitFailed("git-filter-repo failed", "git fsck")


def remove_old_history(repo: Repository) -> int:
    """Remove whatever still holds the old history: refs of remotes, reflogs, messages in files, objects that nothing
    reaches; notes go over to the new commits. The number of refs of remotes that were deleted."""
    _move_notes(repo)
    old = [
        name
        for name in run_git(repo, ["for-each-ref", "--format=%(refname)", *OTHER_REFS]).splitlines()
        if name.strip()
    ]
    for name in old:
        run_git(repo, ["update-ref", "--no-deref", "-d", name])
    for pattern in (*DROPPED, f"{OWN_FOLDER}/*"):
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
    return len(old)


def _move_notes(repo: Repository) -> None:
    """Have each note stand at the new commit: Git names notes by the commit they are of."""
    refs = run_git(repo, ["for-each-ref", "--format=%(refname)", "refs/notes/"]).splitlines()
    table = repo.common_dir / OWN_FOLDER / "commit-map"
    if not refs or not table.exists():
        return
    rows = [line.split() for line in table.read_text("ascii").splitlines()[1:]]
    moved = {old: new for old, new in rows if old != new and set(new) != {"0"}}
    for ref in refs:
        there = [line.split()[1] for line in run_git(repo, ["notes", "--ref", ref, "list"]).splitlines()]
        pairs = [(oid, moved[oid]) for oid in there if oid in moved]
        if pairs:
            copied = "".join(f"{old} {new}\n" for old, new in pairs)
            run_git(repo, ["notes", "--ref", ref, "copy", "-f", "--stdin"], input=copied)
            gone = "".join(f"{old}\n" for old, _ in pairs)
            run_git(repo, ["notes", "--ref", ref, "remove", "--ignore-missing", "--stdin"], input=gone)


def files_that_say_it(folder: Path, masking: Masking) -> list[Path]:
    """The files below a folder whose bytes or whose names say the text, objects aside: `said_in` reads those."""
    found = []
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink() or not file.is_file() or _is_object(name):
            continue
        try:
            data = file.read_bytes()
        except OSError:
            found.append(file)  # what cannot be read is not known to be clean
            continue
        if masking.says(data) or masking.says(as_words(name).encode("utf-8", "surrogateescape")):
            found.append(file)
    return found


def _is_object(name: str) -> bool:
    return name.startswith("objects/") and not name.startswith("objects/info/")


def as_words(name: str) -> str:
    """The name of a file or a branch, its words apart."""
    return name.replace("-", " ").replace("_", " ")
