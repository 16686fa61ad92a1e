"""Blobs that git-crypt encrypted, read as the text that stands in the work tree.

Git keeps such a file as `\\0GITCRYPT\\0`, a nonce and the ciphertext, and has the program `git-crypt` translate it by a
filter of the clone's own configuration. This module never runs that filter: it runs `git-crypt` alone, found on an
absolute entry of the user's PATH outside the repository, with the key file that `git-crypt unlock` left in the Git
directory, and only where the user's own settings say `mem.encryption=git-crypt`. Nothing decrypted is written anywhere.
A blob that cannot be decrypted stays as it is, and the gate refuses it.
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

PROGRAMS = {"git-crypt": "git-crypt"}  # value of mem.encryption -> name of the program
OVERHEAD = len(ENCRYPTED) + 12  # bytes that a ciphertext is longer than its text: the mark and the nonce
MAX_BYTES = 16 << 20  # of one blob; a larger one is not decrypted
SECONDS = 10.0  # that the program may take for one blob; after one that took longer it is not started again
MAX_PROCESS_MEMORY = 1 << 30  # bytes the program may take
MAX_KEYS = 16  # key files that are tried for one blob
CACHED_BYTES = 8 << 20  # of decrypted texts that a process keeps


class GitCrypt:
    """One clone's git-crypt: its program, its key files, and the texts it decrypted last."""

    def __init__(self, program: str, keys: Sequence[Path], environ: Mapping[str, str]) -> None:
        self._program = program
        self._keys = tuple(keys)
        self._env = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._usable = True
        self._known: OrderedDict[bytes, tuple[bytes, Path]] = OrderedDict()  # digest of a blob -> its text, its key
        self._known_bytes = 0

    def text(self, data: bytes) -> bytes | None:
        """The text of an encrypted blob; None where no key fits, or the program fails or takes too long."""
        found = self._decrypted(data)
        if not found:
            return None
        return found[0]

    def encrypted_as(self, text: bytes, like: bytes) -> bytes | None:
        """A text encrypted with the key that `like`, an encrypted blob, was encrypted with; None where that fails."""
        found = self._decrypted(like)
        if not found:
            return None
        return self._encrypt(text, found[1])

    def encryptions(self, text: bytes) -> Iterator[bytes]:
        """What a text is as a blob, with each key in turn: git-crypt gives the same text the same bytes."""
        for key in self._keys:
            data = self._encrypt(text, key)
            if data is not None:
                yield data

    def _decrypted(self, data: bytes) -> tuple[bytes, Path] | None:
        """The text of an encrypted blob and the key that fits: the program checks the text against the nonce."""
        digest = hashlib.sha256(data).digest()
        known = self._known.get(digest)
        if known is not None:
            self._known.move_to_end(digest)
            return known
        for key in self._keys:
            text = self._run("smudge", key, data)
            if text is not None and len(text) == len(data) - OVERHEAD:
                self._keep(digest, (text, key))
                return text, key
        return None

    def _encrypt(self, text: bytes, key: Path) -> bytes | None:
        data = self._run("clean", key, text)
        right = data is not None and is_encrypted(data) and len(data) == len(text) + OVERHEAD
        if not right:
            return None
        return data

    def _run(self, verb: str, key: Path, data: bytes) -> bytes | None:
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
            system.bound_memory(process.pid, MAX_PROCESS_MEMORY)
            try:
                out, _ = process.communicate(data, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                self._usable = False
                return None
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            return None
        return out

    def _keep(self, digest: bytes, found: tuple[bytes, Path]) -> None:
        self._known[digest] = found
        self._known_bytes += len(found[0])
        while self._known_bytes > CACHED_BYTES and len(self._known) > 1:
            _, (text, _) = self._known.popitem(last=False)
            self._known_bytes -= len(text)


def find(kind: str, git_dirs: Sequence[Path], root: Path | None, environ: Mapping[str, str]) -> GitCrypt | None:
    """What decrypts here. `kind`: the user's `mem.encryption`; `git_dirs`: the common Git directory and the work tree's
    own. None where the setting is off, the program is not installed or the clone is locked."""
    name = PROGRAMS.get(kind)
    if name:
        keys = _keys(git_dirs)
    else:
        keys = []
    program = ""
    if name and keys:
        program = _program(name, root, environ)
    if not program:
        return None
    return GitCrypt(program, keys, environ)


def _keys(git_dirs: Sequence[Path]) -> list[Path]:
    """The key files that `git-crypt unlock` or `git-crypt init` wrote, the default one first."""
    keys: list[Path] = []
    for folder in dict.fromkeys(git_dirs):
        try:
            found = [file for file in (folder / "git-crypt" / "keys").iterdir() if file.is_file()]
        except OSError:
            continue
        plain = (file for file in found if not file.is_symlink())
        keys += sorted(plain, key=lambda file: (file.name != "default", file))
    return [key.absolute() for key in keys[:MAX_KEYS]]


def _program(name: str, root: Path | None, environ: Mapping[str, str]) -> str:
    """The program on an absolute entry of PATH that does not lie in the work tree, "" for none."""
    import shutil

    folders = [folder for folder in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    for folder in folders:
        found = shutil.which(name, path=folder)
        if found and not (root and Path(found).resolve().is_relative_to(root.resolve())):
            return found
    return ""
