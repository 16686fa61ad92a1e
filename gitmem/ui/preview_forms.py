"""Keeps the forms that ask for a preview, in memory while the server runs.

So a preview has its own URL with a random key: Back and reload work, and the URL does not contain what was typed. The
module never makes a change.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping

MAX_FORMS = 64  # of at most a quarter of a megabyte each; the oldest is dropped first


class PreviewForms:
    """The last MAX_FORMS forms that asked for a preview. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forms: dict[str, tuple[str, Mapping[str, str]]] = {}

    def add(self, address: str, form: Mapping[str, str]) -> str:
        """Keep the form of a change and return a random key for it. `address`: the path of the change below the site's,
        as `fact/edit`."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._forms[key] = (address, dict(form))
            while len(self._forms) > MAX_FORMS:
                del self._forms[next(iter(self._forms))]
        return key

    def get(self, key: str) -> tuple[str, dict[str, str]] | None:
        """(address of the change, fields of the form); None for an unknown or dropped key."""
        with self._lock:
            stored = self._forms.get(key)
        if stored is None:
            return None
        return (stored[0], dict(stored[1]))
