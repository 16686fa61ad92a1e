"""Looking for a text in every byte below a Git directory: files as they are, and objects as Git unpacks them."""

from __future__ import annotations

import base64
import json
import unicodedata

from tests.harness import Repo


def forms(text: str) -> list[bytes]:
    """The spellings of a text that a file may hold."""
    spelled = {unicodedata.normalize(form, text) for form in ("NFC", "NFD")}
    spelled |= {json.dumps(each)[1:-1] for each in spelled}
    return [each.encode() for each in spelled]


def places_of(repo: Repo, text: str, below: str = ".git") -> list[str]:
    """Files and objects of the Git directory in which the text stands, white space and letter case aside."""
    wanted = [_flat(form) for form in forms(text)]
    encoded = [base64.b64encode(form)[4:-4] for form in forms(text)]
    folder = repo.path / below
    found = []
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            if any(form in _flat(data) for form in wanted) or any(form in data for form in encoded):
                found.append(file.relative_to(folder).as_posix())
    listed = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").split("\n")
    for oid, kind in (line.split() for line in listed if line):
        data = repo.run("git", "cat-file", kind if kind != "tree" else "-p", oid).stdout
        if any(form in _flat(data.encode("utf-8", "surrogateescape")) for form in wanted):
            found.append(f"{kind} {oid}")
    return found


def _flat(data: bytes) -> bytes:
    return b" ".join(data.replace(b">", b" ").lower().split())
