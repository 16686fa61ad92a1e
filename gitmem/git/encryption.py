"""Decrypts blobs that git-crypt encrypted, and encrypts texts as it does.

An encrypted blob is `\\0GITCRYPT\\0`, a nonce and the ciphertext. Git decrypts it by a filter in the clone's own
configuration. This module never runs that filter. It runs the program `git-crypt`, found on an absolute entry of the
user's PATH outside the repository, with the key file that `git-crypt unlock` left in the Git directory, and only if the
user's own settings have `mem.encryption=git-crypt`. It writes no decrypted text to any file. A blob that cannot be
decrypted stays as it is, and the gate refuses it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gitmem import system
from gitmem.git.objects import ENCRYPTED, is_encrypted

PROGRAM = "git-crypt"  # also the value of mem.encryption that asks for it
OVERHEAD_BYTES = len(ENCRYPTED) + 12  # of a blob over its text: the mark and the nonce
MAX_BYTES = 16 << 20  # of one blob; a larger one is not decrypted
MAX_SECONDS = 10.0  # of the program for one blob; after a timeout it is not started again
MAX_PROCESS_MEMORY = 1 << 30  # bytes of the program
MAX_KEYS = 16  # key files that are tried for one blob
MAX_CACHED_BYTES = 8 << 20  # of decrypted texts in this process


class GitCrypt:
    """git-crypt in one clone: its program, its key files and a cache of decrypted texts."""

    def __init__(self, program: str, keys: Sequence[Path], environ: Mapping[str, str]) -> None:
        self._program = program
        self._keys = tuple(keys)
        self._env = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._usable = True
        self._cache: OrderedDict[bytes, tuple[bytes, Path]] = OrderedDict()  # digest of a blob -> its text, its key
        self._cached_bytes = 0

    def text(self, data: bytes) -> bytes | None:
        """The text of an encrypted blob; None if no key fits, if the blob is larger than MAX_BYTES, or if the program
        fails or takes too long."""
        decrypted = self._decrypted(data)
        return decrypted[0] if decrypted else None

    def encrypted_as(self, text: bytes, like: bytes) -> bytes | None:
        """`text` encrypted with the key of `like`, an encrypted blob; None if no key decrypts `like` or the program
        fails."""
        decrypted = self._decrypted(like)
        return self._encrypt(text, decrypted[1]) if decrypted else None

    def encryptions(self, text: bytes) -> Iterator[bytes]:
        """`text` encrypted with each key in turn; a key with which that fails is left out. git-crypt encrypts the same
        text to the same bytes."""
        for key in self._keys:
            data = self._encrypt(text, key)
            if data is not None:
                yield data

    def _decrypted(self, data: bytes) -> tuple[bytes, Path] | None:
        """The text of an encrypted blob and the key that fits, cached; None if no key fits. The program checks the text
        against the nonce."""
        digest = hashlib.sha256(data).digest()
        cached = self._cache.get(digest)
        if cached is not None:
            self._cache.move_to_end(digest)
            return cached
        for key in self._keys:
            text = self._run("smudge", key, data)
            if text is not None and len(text) == len(data) - OVERHEAD_BYTES:
                self._store(digest, text, key)
                return text, key
        return None

    def _encrypt(self, text: bytes, key: Path) -> bytes | None:
        data = self._run("clean", key, text)
        if data is None or not is_encrypted(data) or len(data) != len(text) + OVERHEAD_BYTES:
            return None
        return data

    def _run(self, verb: str, key: Path, data: bytes) -> bytes | None:
        """The output of `git-crypt VERB` for `data`; None if it fails, takes too long or cannot be started, and for
        more than MAX_BYTES. After a timeout or a failed start the result is always None."""
        if not self._usable or len(data) > MAX_BYTES:
            return None
        command = [self._program, verb, f"--key-file={key}"]
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                command, cwd=key.parent, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=self._env
            )
        except OSError:
            self._usable = False
            return None
        with process:
            system.limit_memory(process.pid, MAX_PROCESS_MEMORY)
            try:
                output, _ = process.communicate(data, timeout=MAX_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                self._usable = False
                return None
            except BaseException:
                process.kill()
                raise
        return None if process.returncode != 0 else output

    def _store(self, digest: bytes, text: bytes, key: Path) -> None:
        self._cache[digest] = (text, key)
        self._cached_bytes += len(text)
        while self._cached_bytes > MAX_CACHED_BYTES and len(self._cache) > 1:
            _, (oldest, _) = self._cache.popitem(last=False)
            self._cached_bytes -= len(oldest)


def find(kind: str, git_dirs: Sequence[Path], root: Path | None, environ: Mapping[str, str]) -> GitCrypt | None:
    """The git-crypt of a clone; None if the setting is off, the program is not installed or the clone is locked.

    `kind`: the user's `mem.encryption`; any value but PROGRAM is off. `git_dirs`: the common Git directory
    and that of the work tree. `root`: the work tree, from which no program is run; None if bare.
    """
    keys = _keys(git_dirs)
    if kind != PROGRAM or not keys:
        return None
    path = _path_of_program(root, environ)
    return GitCrypt(path, keys, environ) if path else None


def _keys(git_dirs: Sequence[Path]) -> list[Path]:
    """The key files that `git-crypt unlock` or `git-crypt init` wrote, the default key first; at most MAX_KEYS."""
    keys: list[Path] = []
    for folder in dict.fromkeys(git_dirs):
        try:
            files = [file for file in (folder / "git-crypt" / "keys").iterdir() if file.is_file()]
        except OSError:
            continue
        plain = (file for file in files if not file.is_symlink())
        keys += sorted(plain, key=lambda file: (file.name != "default", file))
    return [key.absolute() for key in keys[:MAX_KEYS]]


def _path_of_program(root: Path | None, environ: Mapping[str, str]) -> str:
    """The path of PROGRAM on an absolute entry of PATH and outside the work tree; "" if there is none."""
    import shutil

    folders = [folder for folder in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    for folder in folders:
        path = shutil.which(PROGRAM, path=folder)
        if path and not (root and Path(path).resolve().is_relative_to(root.resolve())):
            return path
    return ""
