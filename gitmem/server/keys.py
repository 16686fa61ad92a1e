"""Keyed hashes of words and chunks, with a key for each tenant, so that a stolen database does not reveal words.

The hash is HMAC-SHA-256 (RFC 2104) with a key derived from the server's secret, which is never in the database. The
hashes of a word for two tenants are unrelated, and words cannot be guessed from a dump. docs/server.md says what a dump
still reveals.
"""

from __future__ import annotations

import hmac
import threading
from collections import OrderedDict
from functools import lru_cache

MIN_SECRET_BYTES = 32  # of the server's secret
MAX_CACHED_WORDS = 20_000  # words of a tenant whose hashes are cached
MAX_CACHED_TENANTS = 2  # about 4 MB each after an ingest; a hash takes 2 us to make again


class Keys:
    """The keyed hashes of one tenant. `term(word)`: of a word from `terms.terms`, a signed 64-bit number.
    `beginning(character)`: the number that stands for all words with that first character. `chunk`: of a chunk. Raises
    ValueError for a secret of fewer than MIN_SECRET_BYTES."""

    def __init__(self, secret: bytes, tenant: int) -> None:
        if len(secret) < MIN_SECRET_BYTES:
            raise ValueError(f"the secret has fewer than {MIN_SECRET_BYTES} bytes")
        self._key = hmac.digest(secret, b"tenant %d" % tenant, "sha256")
        self.term = lru_cache(maxsize=MAX_CACHED_WORDS)(self._term)
        self.beginning = lru_cache(maxsize=MAX_CACHED_WORDS)(self._beginning)

    def _term(self, word: str) -> int:
        """The keyed hash of a word from `terms.terms`, as a signed 64-bit number."""
        digest = hmac.digest(self._key, b"w" + word.encode("utf-8", "surrogatepass"), "sha256")
        return int.from_bytes(digest[:8], "big", signed=True)

    def _beginning(self, character: str) -> int:
        """The keyed hash that stands for all words with this first character, which a word's own hash does not
        reveal."""
        digest = hmac.digest(self._key, b"p" + character.encode("utf-8", "surrogatepass"), "sha256")
        return int.from_bytes(digest[:8], "big", signed=True)

    def chunk(self, content_hash: bytes) -> bytes:
        """The keyed hash (16 bytes) of a chunk's text hash (`ChunkRow.hash`)."""
        return hmac.digest(self._key, b"c" + content_hash, "sha256")[:16]


class Keyring:
    """The keyed hashes of tenants; those of the MAX_CACHED_TENANTS last used ones are cached. Safe for several
    threads."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._lock = threading.Lock()
        self._keys: OrderedDict[int, Keys] = OrderedDict()

    def of(self, tenant: int) -> Keys:
        """The keyed hashes of a tenant, cached. Raises ValueError for a secret of fewer than MIN_SECRET_BYTES."""
        with self._lock:
            keys = self._keys.pop(tenant, None) or Keys(self._secret, tenant)
            self._keys[tenant] = keys
            while len(self._keys) > MAX_CACHED_TENANTS:
                self._keys.popitem(last=False)
            return keys
