"""The adapter over the git binary: it opens every repository format and starts in milliseconds.

One `cat-file --batch-command` process (Git 2.36 or newer) reads objects; every list takes a process of its own.
No program that the repository's configuration names is run: no fsmonitor, external diff, textconv, signature check
or filter (docs/threats.md, A22).
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from gitmem import system
from gitmem.errors import GitFailed, GitMemError, NotARepository, TooManyFiles, UnknownRevision
from gitmem.git.objects import ENCRYPTED, MAX_FILES, BlameLine, Change, Commit, Entry
from gitmem.git.parse import (
    parse_blame,
    parse_commit,
    parse_entries,
    parse_messages,
    parse_raw,
    parse_removals,
    parse_staged,
    parse_tree,
)
from gitmem.git.revision_name import is_revision_name
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.git.encryption import GitCrypt

# Variables that Git sets for its hooks, or that a person sets for place and configuration. Git gets no other GIT_*.
PASSED_VARIABLES = {
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
}
SAFE = (
    "--no-pager", "--no-replace-objects", "--literal-pathspecs",
    "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.quotePath=false",
    "-c", "blame.ignoreRevsFile=", "-c", "diff.renames=false", "-c", "submodule.recurse=false",
)  # fmt: skip
MAX_UNFILTERED_PATHS = 32  # `ignored` drops tracked paths from a longer list before it asks Git
MAX_MEMORY = 2 << 30  # bytes that git may take for a list of files
MAX_CACHED_COUNTS = 100_000  # trees whose number of files is cached
MAX_CACHED_LISTS = 2  # trees whose entries are cached: a review lists its base and its head eight times
MAX_CACHED_ENTRIES = 50_000  # entries of a tree that is cached, about 10 MB
OIDS_PER_REQUEST = 64  # sent to cat-file at once: they fit into any pipe, so neither side can block the other
NAMES_PER_REQUEST = 8  # the same for names, which are longer than oids


class Place(NamedTuple):
    """Where a repository lies. `root`: the top folder of the work tree, None if bare."""

    git_dir: Path
    common_dir: Path
    root: Path | None
    object_format: str


def read_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a git process that only reads."""
    passed = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
    env = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or name in PASSED_VARIABLES or name.startswith(passed)
    }
    env.update(LC_ALL="C", GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", GIT_NO_LAZY_FETCH="1")
    return env


def discover(start: Path, environ: Mapping[str, str]) -> Place:
    """The place of the repository that contains the folder `start`. Raises NotARepository."""
    return _place(start, *_started(start, PLACE, environ).communicate())


PLACE = (
    "rev-parse", "--path-format=absolute", "--show-object-format", "--is-bare-repository", "--git-dir",
    "--git-common-dir", "--show-toplevel",
)  # fmt: skip


def _started(start: Path, args: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a git process in the folder `start` and do not wait for it."""
    command = ["git", *SAFE, "-C", str(start), *args]
    env = read_environment(environ)
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
    except FileNotFoundError:
        raise GitMemError("git is not installed or not on PATH", "install Git 2.36 or newer") from None


def _place(start: Path, out: bytes, stderr: bytes) -> Place:
    lines = [os.fsdecode(line) for line in out.split(b"\n")[:-1]]
    if len(lines) < 4:
        problem = os.fsdecode(stderr)
        if "dubious ownership" in problem:
            raise NotARepository(
                Message("Git does not trust the repository at '{}': another user owns it", start),
                Message("if you trust it: {}", "git config --global --add safe.directory <its path>"),
            )
        if "not a git repository" in problem:
            raise NotARepository(
                "this is not a Git repository, nor is any folder above it", "make one here: git mem init"
            )
        raise GitFailed(first_line(problem) or Message("cannot open the repository at '{}'", start))
    if len(lines) > 5:
        raise GitFailed("cannot open a repository below a folder with a line break in its name", "rename the folder")
    root = None
    if len(lines) > 4 and lines[4] and lines[1] == "false":
        root = Path(lines[4])
    return Place(git_dir=Path(lines[2]), common_dir=Path(lines[3]), root=root, object_format=lines[0])


OURS = ("--show-scope", "-z", "--get-regexp", r"^mem\.")


def users_own(out: bytes) -> list[tuple[str, str, str]]:
    """(key, value, origin) from the output of `git config OURS`, without the repository's own configuration."""
    fields = out.split(b"\0")
    settings = []
    for scope, pair in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = os.fsdecode(pair).partition("\n")
        if scope in (b"system", b"global", b"command"):
            settings.append((key, value, scope.decode()))
    return settings


def bounded(command: Sequence[str]) -> list[str]:
    """A git command with small windows on pack files, so that it works within MAX_MEMORY bytes."""
    return [command[0], "-c", "core.packedGitLimit=256m", "-c", "core.packedGitWindowSize=16m", *command[1:]]


def failed_list(what: str, words: bytes, code: int) -> GitMemError:
    """The error for a git list that failed: TooManyFiles if git ran out of memory, otherwise GitFailed.

    Git holds all of a difference in memory before it prints the first file.
    """
    out_of_memory = b"emory" in words or code in (-9, -6, -11)
    if out_of_memory:
        return too_many_files()
    return GitFailed(f"git {what}: {first_line(os.fsdecode(words)) or code}")


def too_many_files() -> TooManyFiles:
    """The error for a tree, or a difference of trees, of more than MAX_FILES files."""
    return TooManyFiles(
        Message("a tree has more than {} files", f"{MAX_FILES:,}"), "nothing of it was read; leave that branch out"
    )


def first_line(words: str) -> str:
    """The first line of git's error output without `fatal:` or `error:`, at most 300 characters; "" if empty."""
    lines = [line for line in words.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[0].removeprefix("fatal: ").removeprefix("error: ")[:300]


class BinaryRepository:
    """`gitmem.git.repository.Repository` over git processes. The protocol documents the methods."""

    def __init__(self, place: Place, environ: Mapping[str, str]) -> None:
        self.place = place
        self._environ = dict(environ)
        self._env = read_environment(environ)
        self._batch: subprocess.Popen[bytes] | None = None
        self._cached_entries: dict[str, list[Entry]] = {}  # oid of a tree -> its entries
        self._cached_counts: dict[str, int] = {}  # oid of a tree -> its number of files
        self._git_crypt: GitCrypt | None = None
        self._git_crypt_sought = False
        self._encrypted_oids: dict[str, str] = {}  # oid of a text -> oid of its encrypted blob in this clone

    @property
    def root(self) -> Path | None:
        return self.place.root

    @property
    def git_dir(self) -> Path:
        return self.place.git_dir

    @property
    def common_dir(self) -> Path:
        return self.place.common_dir

    @property
    def object_format(self) -> str:
        return self.place.object_format

    @property
    def environ(self) -> Mapping[str, str]:
        return self._environ

    # -- processes -------------------------------------------------------------------------------------------

    def _command(self, args: Sequence[str]) -> list[str]:
        at = self.place.root or self.place.git_dir
        return ["git", *SAFE, "-C", str(at), *args]

    def _run(self, args: Sequence[str], ok: tuple[int, ...] = (0,), names: Iterable[str] = ()) -> bytes:
        """The output of a git command. `ok`: the exit codes that are no error. `names`: what it reads, NUL-ended.
        Raises GitFailed for another exit code."""
        stdin = b"".join(name.encode("utf-8", "surrogateescape") + b"\0" for name in names)
        command = self._command(args)
        if args[0] == "check-ignore":  # it takes patterns, and refuses the option
            command.remove("--literal-pathspecs")
        result = subprocess.run(command, input=stdin, capture_output=True, env=self._env, check=False)
        if result.returncode not in ok:
            raise GitFailed(f"git {args[0]}: {first_line(os.fsdecode(result.stderr)) or result.returncode}")
        return result.stdout

    def _listing(self, args: Sequence[str], fields: int) -> bytes:
        """The output of a git list of files, `fields` NUL-ended fields per file.

        Raises TooManyFiles, and kills git, as soon as it prints more than MAX_FILES files.
        """
        command, pipe = bounded(self._command(args)), subprocess.PIPE
        pieces, count = [], 0
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=self._env) as process:
            system.limit_memory(process.pid, MAX_MEMORY)
            assert process.stdout is not None and process.stderr is not None
            stderr = read_in_thread(process.stderr)
            while piece := process.stdout.read(PIECE_BYTES):
                pieces.append(piece)
                count += piece.count(b"\0")
                if count > fields * MAX_FILES:
                    process.kill()
                    raise too_many_files()
        if process.returncode != 0:
            raise failed_list(args[0], stderr(), process.returncode)
        return b"".join(pieces)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """The input and output of the cat-file process, which is started if none runs."""
        if self._batch is None or self._batch.poll() is not None:
            self._batch = subprocess.Popen(
                self._command(["cat-file", "--batch-command"]),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._env,
            )  # fmt: skip
        assert self._batch.stdin is not None and self._batch.stdout is not None
        return self._batch.stdin, self._batch.stdout

    def _ask(self, verb: str, name: str) -> tuple[str, str, int]:
        """(oid, type, size) of the object `name`; type "" if it is missing. After `contents` the bytes follow."""
        if "\n" in name or "\0" in name or not name:
            return "", "", 0
        return self._header(self._request(verb, (name,)))

    def _request(self, verb: str, names: Iterable[str]) -> IO[bytes]:
        """Send names to cat-file, which is started if none runs, and return the pipe with the answers in order.

        The names have no line breaks and are few enough for a pipe. The caller must read all answers. Raises GitFailed
        if cat-file ends while the names are sent.
        """
        requests, answers = self._pipes()
        try:
            requests.write("".join(f"{verb} {name}\n" for name in names).encode("utf-8", "surrogateescape"))
            requests.flush()
        except BrokenPipeError:
            raise self._ended_early() from None
        return answers

    def _header(self, answers: IO[bytes]) -> tuple[str, str, int]:
        """Read one header, `<oid> <type> <size>`, of cat-file; type "" for any other line: the object is missing."""
        line = answers.readline()
        words = line.split()
        if len(words) == 3 and words[2].isdigit() and words[1] in (b"blob", b"tree", b"commit", b"tag"):
            return words[0].decode(), words[1].decode(), int(words[2])
        if not line:
            raise self._ended_early()
        return "", "", 0

    def _ended_early(self) -> GitFailed:
        """The error if cat-file ended: in a partial clone it ends when it cannot fetch an object that is missing."""
        import shlex  # a search need not pay for it

        pattern = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        words = self._run(["config", "--get-regexp", pattern], ok=(0, 1)).decode("utf-8", "replace").split()
        if not words:
            return GitFailed("git cat-file ended early", "Git 2.36 or newer is needed")
        remote = words[0].removeprefix("remote.").removesuffix(".promisor")
        if remote.startswith("extensions"):
            remote = "".join(words[1:2])
        return GitFailed(
            Message(
                "this is a partial clone, and its promisor remote '{}' did not give an object that is not here", remote
            ),
            Message("when '{}' can be reached: {}", remote, f"git fetch --refetch --no-filter {shlex.quote(remote)}"),
        )

    def stay_open(self) -> None:
        self._pipes()

    def close(self) -> None:
        if self._batch is not None:
            for pipe in (self._batch.stdin, self._batch.stdout):
                if pipe is not None:
                    pipe.close()
            self._batch.terminate()  # closed pipes may not end it: a process forked meanwhile may hold them open
            self._batch.wait()
            self._batch = None

    # -- revisions -------------------------------------------------------------------------------------------

    def resolve(self, rev: str) -> str:
        if is_revision_name(rev):
            oid, kind, _ = self._ask("info", f"{rev}^{{commit}}")
            if kind == "commit":
                return oid
        raise self._unknown(rev)

    def _unknown(self, rev: str) -> UnknownRevision:
        if not is_revision_name(rev):
            return UnknownRevision(
                Message("'{}' is not a revision", rev[:40]), "a branch, a tag or an oid, with ~N or ^N behind it"
            )
        hint = "git log --oneline --all shows what there is"
        if (self.common_dir / "shallow").exists():
            hint = "this clone is shallow: git fetch --unshallow; in a workflow, fetch-depth: 0 of actions/checkout"
        return UnknownRevision(Message("there is no commit '{}' here", rev), hint)

    def head(self) -> str | None:
        oid, kind, _ = self._ask("info", "HEAD^{commit}")
        if kind == "commit":
            return oid
        # Before the first commit HEAD names no oid. If it names one, its commit is missing: the repository is damaged.
        named = self._run(["rev-parse", "-q", "--verify", "HEAD"], ok=(0, 1)).decode().strip()
        if named:
            raise GitFailed(
                Message("HEAD names {}, which is missing or no commit", named[:12]), "git fsck says what is damaged"
            )
        return None

    def branch(self) -> str | None:
        name = os.fsdecode(self._run(["symbolic-ref", "-q", "--short", "HEAD"], ok=(0, 1))).strip()
        return name or None

    def refs(self, prefix: str = "refs/heads/") -> list[tuple[str, str]]:
        form = "--format=%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)"
        rows = os.fsdecode(self._run(["for-each-ref", form, prefix])).splitlines()
        refs = []
        for row in rows:
            name, kind, oid, peeled_kind, peeled = row.split("\0")
            if "commit" in (kind, peeled_kind):
                refs.append((name, oid if kind == "commit" else peeled))
        return refs

    def tree(self, commit: str) -> str:
        if is_revision_name(commit):
            oid, kind, _ = self._ask("info", f"{commit}^{{tree}}")
            if kind == "tree":
                return oid
        raise UnknownRevision(Message("'{}' has no tree here", commit))

    def merge_base(self, a: str, b: str) -> str | None:
        return self._run(["merge-base", "--end-of-options", a, b], ok=(0, 1)).decode().strip() or None

    def merge_bases(self, a: str, b: str) -> list[str]:
        return self._run(["merge-base", "--all", "--end-of-options", a, b], ok=(0, 1)).decode().split()

    def is_ancestor(self, a: str, b: str) -> bool:
        for rev in (a, b):
            if not is_revision_name(rev):
                raise self._unknown(rev)
        command = self._command(["merge-base", "--is-ancestor", a, b])
        result = subprocess.run(command, env=self._env, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if result.returncode == 0:
            return True
        if result.returncode == 1 and not result.stderr:  # with an error, Git before 2.44 could not read the history
            return False
        if not (self._is_commit(a) and self._is_commit(b)):
            return False
        raise GitFailed(f"git merge-base: {first_line(os.fsdecode(result.stderr)) or result.returncode}")

    def _is_commit(self, rev: str) -> bool:
        return self._ask("info", f"{rev}^{{commit}}")[1] == "commit"

    # -- lists -----------------------------------------------------------------------------------------------

    def entries(self, treeish: str, paths: Sequence[str] = ()) -> list[Entry]:
        # Only the whole tree of an oid is cached: another name may mean another tree later.
        cacheable = not paths and len(treeish) in (40, 64) and HEX.issuperset(treeish)
        if cacheable and treeish in self._cached_entries:
            return list(self._cached_entries[treeish])
        entries = parse_entries(self._listing(["ls-tree", "-r", "-z", "--full-tree", treeish, "--", *paths], 1))
        if cacheable and len(entries) <= MAX_CACHED_ENTRIES:
            newest = list(self._cached_entries.items())[1 - MAX_CACHED_LISTS :]
            self._cached_entries = dict([*newest, (treeish, list(entries))])
        return entries

    def count_files(self, tree: str, most: int) -> int:
        return self._count_files(self.tree(tree), most)

    def _count_files(self, tree: str, most: int) -> int:
        cached = self._cached_counts.get(tree)
        if cached is not None:
            return cached
        count, subtrees = self._read_tree(tree)
        for subtree in subtrees:
            if count > most:
                return count
            count += self._count_files(subtree, most)
        if len(self._cached_counts) >= MAX_CACHED_COUNTS:
            self._cached_counts.clear()
        self._cached_counts[tree] = count
        return count

    def _read_tree(self, oid: str) -> tuple[int, list[str]]:
        """(number of files, oids of the subtrees) of one tree, its subtrees not counted."""
        _, kind, size = self._ask("contents", oid)
        data = b""
        if kind:
            data = self._contents(size)
        if kind != "tree":
            raise GitFailed(Message("tree {} is missing", oid[:12]), "git fsck says what else is damaged")
        return parse_tree(data, 32 if self.object_format == "sha256" else 20)

    def _contents(self, size: int) -> bytes:
        """The bytes that follow a header of `contents`."""
        assert self._batch is not None and self._batch.stdout is not None
        data = self._batch.stdout.read(size)
        self._batch.stdout.read(1)
        return data

    def blobs(self, treeish: str, paths: Sequence[str]) -> dict[str, str]:
        # Git takes `./` and `../` as relative to the current folder; no path of a tree begins so.
        paths = [path for path in paths if not path.startswith(("./", "../")) and "\0" not in path]
        if not paths:
            return {}
        # Without a running cat-file, one `ls-tree` is as cheap; cat-file cannot take a name with a line break.
        if self._batch is None or any("\n" in name for name in (treeish, *paths)):
            wanted = set(paths)
            return {entry.path: entry.oid for entry in self.entries(treeish, paths) if entry.path in wanted}
        found = {}
        for at in range(0, len(paths), NAMES_PER_REQUEST):
            names = paths[at : at + NAMES_PER_REQUEST]
            answers = self._request("info", (f"{treeish}:{name}" for name in names))
            headers = [(name, self._header(answers)) for name in names]
            found.update({name: oid for name, (oid, kind, _) in headers if kind == "blob"})
        return found

    def staged(self) -> list[Entry]:
        return parse_staged(self._run(["ls-files", "-s", "-z", "--full-name"]))

    def staged_changes(self) -> list[Change]:
        against = self.head() or self.empty_tree
        return parse_raw(self._run(["diff-index", "--cached", *RAW, "--no-renames", against]))

    def changes(self, old: str, new: str, renames: bool = False) -> list[Change]:
        how = "--no-renames"
        if renames:
            how = "-M"
        return parse_raw(self._listing(["diff-tree", "-r", *RAW, how, old or self.empty_tree, new], 2))

    def untracked(self, paths: Sequence[str] = ()) -> list[str]:
        out = self._run(["ls-files", "-o", "--exclude-standard", "-z", "--full-name", "--", *paths])
        return [os.fsdecode(path) for path in out.split(b"\0")[:-1]]

    def ignored(self, paths: Sequence[str]) -> set[str]:
        if len(paths) > MAX_UNFILTERED_PATHS:
            # A tracked path is never ignored. To list all tracked paths is cheaper than one lookup for each path.
            tracked = set(map(os.fsdecode, self._run(["ls-files", "-z", "--full-name"]).split(b"\0")))
            paths = [path for path in paths if path not in tracked]
        if not paths:
            return set()
        names = {_as_pattern(path): path for path in paths}
        output = self._run(["check-ignore", "-z", "--stdin"], ok=(0, 1), names=names)
        return {names[name] for path in output.split(b"\0")[:-1] if (name := os.fsdecode(path)) in names}

    def removals(self, rev: str, most: int) -> dict[str, str]:
        # No pathspec: matching each entry against some hundred pathspecs takes a hundred times as long.
        how = ["--diff-filter=D", *RAW, "--no-renames", "--diff-merges=off", f"--max-count={most}", "--format=%x00%H"]
        return parse_removals(self._run(["log", *how, "--end-of-options", rev, "--"]))

    def reachable(self) -> Iterator[str]:
        command = self._command(["rev-list", "--objects", "--no-object-names", "--all", "--indexed-objects"])
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._env) as process:
            assert process.stdout is not None and process.stderr is not None
            stderr = read_in_thread(process.stderr)
            for line in process.stdout:
                yield line.decode().strip()
            problem = stderr()
        if process.returncode != 0:
            raise GitFailed(f"git rev-list: {first_line(os.fsdecode(problem))}")

    # -- objects ---------------------------------------------------------------------------------------------

    @property
    def empty_tree(self) -> str:
        """The oid of the tree without entries; Git knows it without storing it."""
        import hashlib  # loads OpenSSL: 9 ms that most commands need not wait for

        return hashlib.new(self.object_format, b"tree 0\0").hexdigest()

    def read(self, oid: str) -> bytes:
        for _, data in self.read_many([oid]):
            if data is not None:
                return data
        raise GitFailed(Message("object {} is missing or no blob", oid[:12]), "git fsck says what else is damaged")

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        remaining = iter(oids)
        while request := list(islice(remaining, OIDS_PER_REQUEST)):
            yield from ((oid, self._decrypted(data)) for oid, data in self._read_blobs(request))

    def _decrypted(self, data: bytes | None) -> bytes | None:
        """The text of an encrypted blob if this clone can decrypt it, otherwise `data`."""
        if data is None or not data.startswith(ENCRYPTED):
            return data
        git_crypt = self.git_crypt()
        if git_crypt is None:
            return data
        text = git_crypt.text(data)
        if text is None:
            return data
        return text

    def git_crypt(self) -> GitCrypt | None:
        if not self._git_crypt_sought:
            folders = (self.common_dir, self.git_dir)
            if any((folder / "git-crypt").is_dir() for folder in folders):
                from gitmem.git import encryption  # few clones need it

                kinds = ["", *(value for key, value, _ in self.user_config() if key.lower() == "mem.encryption")]
                self._git_crypt = encryption.find(kinds[-1], folders, self.root, self._environ)
            self._git_crypt_sought = True
        return self._git_crypt

    def staged_filters(self, paths: Sequence[str]) -> dict[str, str]:
        if not paths:
            return {}
        output = self._run(["check-attr", "-z", "--stdin", "--cached", "filter"], names=paths)
        fields = [os.fsdecode(field) for field in output.split(b"\0")]  # path, attribute, value; then the next
        return dict(zip(fields[::3], fields[2::3], strict=False))

    def stored(self, oids: Iterable[str]) -> Iterator[bytes | None]:
        remaining = iter(oids)
        while request := list(islice(remaining, OIDS_PER_REQUEST)):
            yield from (data for _, data in self._read_blobs(request))

    def _read_blobs(self, oids: list[str]) -> list[tuple[str, bytes | None]]:
        """(oid, stored bytes) of at most OIDS_PER_REQUEST oids; None if the object is missing or not a blob."""
        if any(not set(oid) <= HEX for oid in oids):
            raise GitFailed("an object id must be hexadecimal")
        answers = self._request("contents", oids)
        blobs: list[tuple[str, bytes | None]] = []
        for oid in oids:
            _, kind, size = self._header(answers)
            if not kind:
                blobs.append((oid, None))
                continue
            data = answers.read(size)
            answers.read(1)
            if len(data) != size:
                raise self._ended_early()
            blobs.append((oid, data if kind == "blob" else None))
        return blobs

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        sizes = {}
        for at in range(0, len(oids), OIDS_PER_REQUEST):
            request = [oid for oid in oids[at : at + OIDS_PER_REQUEST] if set(oid) <= HEX]
            answers = self._request("info", request)
            for oid in request:
                _, kind, size = self._header(answers)
                if kind:
                    sizes[oid] = size
        return sizes

    def hash_blob(self, data: bytes) -> str:
        plain = self._hash(data)
        git_crypt = self.git_crypt()
        if git_crypt is None or not data:  # git-crypt leaves an empty file as it is
            return plain
        if plain not in self._encrypted_oids:
            candidates = map(self._hash, git_crypt.encryptions(data))
            encrypted = next((oid for oid in candidates if self.sizes([oid])), "")
            if not encrypted:
                return plain
            self._encrypted_oids[plain] = encrypted
        return self._encrypted_oids[plain]

    def _hash(self, data: bytes) -> str:
        import hashlib

        digest = hashlib.new(self.object_format, b"blob %d\0" % len(data))
        digest.update(data)
        return digest.hexdigest()

    def commit(self, oid: str) -> Commit:
        resolved, kind, size = self._ask("contents", oid)
        if not kind:
            raise UnknownRevision(Message("there is no commit '{}' here", oid))
        data = self._contents(size)
        if kind != "commit":
            raise UnknownRevision(Message("'{}' is a {}, not a commit", oid, kind))
        return parse_commit(resolved, data)

    def find_blob(self, path: str, prefix: str, rev: str = "HEAD") -> str | None:
        if not prefix or not set(prefix) <= HEX:
            return None
        oid, kind, _ = self._ask("info", prefix)
        if kind == "blob":
            return oid
        if rev.startswith("-") or not self._is_commit(rev):
            return None
        out = self._run(["log", "--format=", *RAW, "--no-renames", "-m", rev, "--", path])
        return next((c.new_oid for c in parse_raw(out) if c.new_oid.startswith(prefix)), None)

    def objects_with(self, prefix: str) -> list[str]:
        if len(prefix) < 4 or not set(prefix) <= HEX:
            return []
        oid, kind, _ = self._ask("info", prefix)
        if kind:
            return [oid]
        return self._run(["rev-parse", f"--disambiguate={prefix}"]).decode().split()

    # -- history ---------------------------------------------------------------------------------------------

    def log(
        self,
        revs: Sequence[str],
        paths: Sequence[str] = (),
        *,
        first_parent: bool = False,
        limit: int = 0,
        reverse: bool = False,
        grep: Sequence[str] = (),
        merges: bool = False,
        full_history: bool = False,
    ) -> Iterator[Commit]:
        args = ["rev-list", *(["--merges"] if merges else []), *(["--full-history"] if full_history else [])]
        if grep:
            args += ["--fixed-strings", *(f"--grep={text}" for text in grep)]
        if first_parent:
            args += ["--first-parent"]
        if limit:
            args += [f"--max-count={limit}"]
        if reverse:
            args += ["--reverse"]
        command = self._command([*args, "--end-of-options", *revs, "--", *paths])
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._env)
        return _Log(process, self.commit)

    def messages(self, revs: Sequence[str], *, walk: bool = True) -> Iterator[tuple[str, str, str, str, list[str]]]:
        how = "--left-right" if walk else "--no-walk=unsorted"
        command = ["log", how, "-z", "--encoding=UTF-8", f"--format={MESSAGE}", *NAMES, "--stdin"]
        with self._output(command, revs) as output:
            yield from parse_messages(iter(lambda: output.read(PIECE_BYTES), b""))

    def reaches(self, commit: str, *, first_parent: bool = False) -> Iterator[str]:
        command = ["rev-list", "--stdin"]
        if first_parent:
            command.append("--first-parent")
        with self._output(command, [commit]) as output:
            yield from (line.decode().strip() for line in output)

    def touched(self, commits: Sequence[str]) -> dict[str, list[str]]:
        if not commits:
            return {}
        return {oid: paths for _, oid, _, _, paths in self.messages(commits, walk=False)}

    @contextmanager
    def _output(self, args: Sequence[str], lines: Iterable[str]) -> Iterator[IO[bytes]]:
        """The output of a git command that reads `lines` first. Raises GitFailed at the end if the command fails."""
        command, pipe = bounded(self._command(args)), subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=self._env) as process:
            system.limit_memory(process.pid, MAX_MEMORY)
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            stderr = read_in_thread(process.stderr)
            with suppress(BrokenPipeError), process.stdin as stdin:
                stdin.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
            yield process.stdout
            problem = stderr()
        if process.returncode:
            raise failed_list(args[0], problem, process.returncode)

    def blame(self, path: str, start: int, end: int, rev: str = "") -> list[BlameLine]:
        if rev:
            if self.git_crypt() is not None:
                from gitmem.git.blame import blame_encrypted

                reader = BinaryRepository(self.place, self._environ)  # blame is asked from several threads
                try:
                    rows = blame_encrypted(reader, path, start, end, rev)
                finally:
                    reader.close()
                if rows is not None:
                    return rows
            where = f"-L{start},{end}"
            out = self._run(["blame", "--porcelain", "-M", "--no-textconv", where, rev, "--", path])
            return parse_blame(out)
        from gitmem.git.blame import blame_work_tree

        return blame_work_tree(self, path, start, end)

    def simplified_history(self, commit: str, path: str) -> dict[str, list[str]]:
        how = ["rev-list", "--parents", "--topo-order", "--end-of-options", commit, "--", path]
        rows = [line.split() for line in self._run(how).decode("ascii").splitlines()]
        return {row[0]: row[1:] for row in rows}

    def user_config(self) -> list[tuple[str, str, str]]:
        return users_own(self._run(["config", *OURS], ok=(0, 1)))


def read_in_thread(pipe: IO[bytes]) -> Callable[[], bytes]:
    """Read the error output of a process to its end in a thread, so that a full pipe never stops the process.

    Returns a function that waits for the end and returns the first MAX_STDERR_BYTES. (Git warns once for each folder
    whose path is too long.)
    """
    start = bytearray()

    def read() -> None:
        with suppress(ValueError):  # the caller wants no more of the output and has closed the pipes
            while piece := pipe.read(PIECE_BYTES):
                start.extend(piece[: MAX_STDERR_BYTES - len(start)])

    reader = threading.Thread(target=read, daemon=True)
    reader.start()

    def result() -> bytes:
        reader.join()
        return bytes(start)

    return result


class _Log:
    """Iterates over the commits that a `git rev-list` process prints; each is read when it is its turn.

    Raises GitFailed at the end if Git failed. The process ends after the last commit, or with this iterator.
    """

    def __init__(self, process: subprocess.Popen[bytes], read: Callable[[str], Commit]) -> None:
        self._process, self._read = process, read

    def __iter__(self) -> Iterator[Commit]:
        return self

    def __next__(self) -> Commit:
        stdout, stderr = self._process.stdout, self._process.stderr
        assert stdout is not None and stderr is not None
        if stdout.closed:
            raise StopIteration
        line = stdout.readline()
        if line:
            return self._read(line.decode().strip())
        problem = stderr.read()
        self._process.wait()
        self.close()
        if self._process.returncode != 0:
            raise GitFailed(f"git rev-list: {first_line(os.fsdecode(problem))}")
        raise StopIteration

    def close(self) -> None:
        """Kill the process: with its pipes closed it would go on reading the history to the end."""
        if self._process.poll() is None:
            self._process.kill()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def __del__(self) -> None:
        self.close()


class RepositoryLookup:
    """Looks up the repository that contains `start` and the user's settings, in two processes at once.

    The caller may do something else until it calls `result`, once.
    """

    def __init__(self, start: Path, environ: Mapping[str, str]) -> None:
        self._start, self._environ = start, environ
        self._place = _started(start, PLACE, environ)
        self._settings = _started(start, ("config", *OURS), environ)

    def result(self) -> tuple[BinaryRepository, list[tuple[str, str, str]]]:
        """Wait for both processes; the repository and its `user_config`. Raises NotARepository."""
        place, settings = self._place.communicate(), self._settings.communicate()
        repo = BinaryRepository(_place(self._start, *place), self._environ)
        if self._settings.returncode not in (0, 1):
            raise GitFailed(f"git config: {first_line(os.fsdecode(settings[1])) or self._settings.returncode}")
        return repo, users_own(settings[0])


NAMES = (
    "--name-only", "--no-renames", "--diff-merges=off", "--root", "--no-ext-diff", "--no-textconv",
)  # fmt: skip
MESSAGE = "%x00%x00%m%H%x00%an%x00%B"  # as `parse_messages` reads it
PIECE_BYTES = 1 << 18  # read at once of a long output
MAX_STDERR_BYTES = 4096  # kept of a process's error output
RAW = ("--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-textconv")
HEX = frozenset("0123456789abcdef")


def _as_pattern(path: str) -> str:
    """A pathspec that matches this path alone: wildcards are escaped, and a leading `:` is no pathspec magic."""
    escaped = "".join("\\" + c if c in "*?[\\" else c for c in path)
    if escaped.startswith(":"):
        return "./" + escaped
    return escaped
