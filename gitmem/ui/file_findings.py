"""A cache of the gate's findings in each file of the work tree, so that an unchanged file is scanned once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import replace

from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, scan_blob
from gitmem.gate.policy import Policy
from gitmem.gate.work_tree_findings import FilesToScan

MAX_FILES = 4096  # the least recently used file is dropped first


class FileFindings:
    """The findings of the gate in each blob (one version of a file), under the policy that was used last.
    Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._policy: Policy | None = None
        self._findings: dict[Blob, tuple[Finding, ...]] = {}

    def __call__(self, blob: Blob, policy: Policy) -> Sequence[Finding]:
        """The gate's findings in one blob, from the cache or by scanning it. Another policy than that of the last call
        empties the cache."""
        key = _key(blob)
        with self._lock:
            if self._policy != policy:
                self._policy = policy
                self._findings.clear()
            if (cached := self._findings.pop(key, None)) is not None:
                self._findings[key] = cached
                return cached
        findings = tuple(scan_blob(blob, policy))
        with self._lock:
            if self._policy == policy:
                self._findings[key] = findings
                while len(self._findings) > MAX_FILES:
                    del self._findings[next(iter(self._findings))]
        return findings

    def unread(self, files: FilesToScan) -> int:
        """How many bytes of `files` a scan would have to read, since their findings are not cached."""
        with self._lock:
            is_current = self._policy == files.policy
            blobs = [blob for blob in files.blobs if not (is_current and _key(blob) in self._findings)]
        return sum(len(blob.data) for blob in blobs)


def _key(blob: Blob) -> Blob:
    """The blob with a digest instead of its bytes."""
    return replace(blob, data=hashlib.sha256(blob.data).digest())
