"""The forms whose change a person wants to see before it is made, kept while the server runs.

A preview so has an address of its own: Back and a reload lead to it, and what was typed stands in no address. The key
of a form is random. The module keeps forms in memory alone; it never makes a change.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping

FORMS = 64  # that are kept, a quarter of a megabyte each at most; the oldest goes first


class AskedForms:
    """The last forms that asked for a preview. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forms: dict[str, tuple[str, Mapping[str, str]]] = {}

    def keep(self, address: str, form: Mapping[str, str]) -> str:
        """The key under which the form of the change `address` is kept from now on."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._forms[key] = (address, dict(form))
            while len(self._forms) > FORMS:
                del self._forms[next(iter(self._forms))]
        return key

    def of(self, key: str) -> tuple[str, dict[str, str]] | None:
        """(address of the change, fields), None for a key whose form is kept no longer."""
        with self._lock:
            found = self._forms.get(key)
        if found is None:
            return None
        return (found[0], dict(found[1]))
