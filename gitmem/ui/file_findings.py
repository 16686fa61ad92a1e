"""What the gate found in each file of the work tree in this run of the server: a file that stays is examined once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, scan_blob
from gitmem.gate.policy import Policy
from gitmem.gate.work_tree_findings import Contents

FILES = 4096  # files whose findings are kept; the one that was asked for longest ago goes first


class Examined:
    """The findings of blobs under one policy, the last one asked for. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._policy: Policy | None = None
        self._found: dict[Blob, tuple[Finding, ...]] = {}

    def __call__(self, blob: Blob, policy: Policy) -> Sequence[Finding]:
        """The findings of one blob, as `scan_blob` has them."""
        key = _key(blob)
        with self._lock:
            if self._policy != policy:
                self._policy = policy
                self._found.clear()
            if (known := self._found.pop(key, None)) is not None:
                self._found[key] = known
                return known
        found = tuple(scan_blob(blob, policy))
        with self._lock:
            if self._policy == policy:
                self._found[key] = found
                while len(self._found) > FILES:
                    del self._found[next(iter(self._found))]
        return found

    def unread(self, contents: Contents) -> int:
        """How many bytes a scan of `contents` would have to examine."""
        return sum(len(blob.data) for blob in self._without(contents.blobs, contents.policy))

    def _without(self, blobs: Iterable[Blob], policy: Policy) -> list[Blob]:
        with self._lock:
            return [blob for blob in blobs if self._policy != policy or _key(blob) not in self._found]


def _key(blob: Blob) -> Blob:
    """The blob with a digest in the place of its bytes."""
    return replace(blob, data=hashlib.sha256(blob.data).digest())
