"""What a stolen database must not tell: words and chunk hashes are kept as keyed hashes, a key for each tenant.

HMAC-SHA-256 (RFC 2104) under a key derived from the server's secret, which is never in the database: two tenants'
hashes of one word have nothing in common, and a dump has no word that could be guessed. docs/server.md has what it
still tells.
"""

from __future__ import annotations

import hmac
import threading
from collections import OrderedDict
from functools import lru_cache

MIN_SECRET_BYTES = 32  # bytes of the server's secret
REMEMBERED = 20_000  # words of a tenant whose hashes are remembered
MAX_CACHED_TENANTS = 2  # tenants of which they are: some 4 MB each after an ingest, and 2 us a word to make again


class Keys:
    """The keyed hashes of one tenant."""

    def __init__(self, secret: bytes, tenant: int) -> None:
        if len(secret) < MIN_SECRET_BYTES:
            raise ValueError(f"the secret has fewer than {MIN_SECRET_BYTES} bytes")
        self._key = hmac.digest(secret, b"tenant %d" % tenant, "sha256")
        self.term = lru_cache(maxsize=REMEMBERED)(self._term)
        self.beginning = lru_cache(maxsize=REMEMBERED)(self._beginning)

    def _term(self, word: str) -> int:
        """A word of `terms.terms` as a signed 64-bit number."""
        digest = hmac.digest(self._key, b"w" + word.encode("utf-8", "surrogatepass"), "sha256")
        return int.from_bytes(digest[:8], "big", signed=True)

    def _beginning(self, character: str) -> int:
        """What stands for every word that begins with a character: a word's own hash says nothing of its beginning."""
        digest = hmac.digest(self._key, b"p" + character.encode("utf-8", "surrogatepass"), "sha256")
        return int.from_bytes(digest[:8], "big", signed=True)

    def chunk(self, content_hash: bytes) -> bytes:
        """The hash of a chunk's text (`ChunkRow.hash`), keyed."""
        return hmac.digest(self._key, b"c" + content_hash, "sha256")[:16]


class Keyring:
    """The keys of the tenants that were asked of last; another's are derived again. Safe for several threads."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._lock = threading.Lock()
        self._keys: OrderedDict[int, Keys] = OrderedDict()

    def of(self, tenant: int) -> Keys:
        """The keyed hashes of a tenant."""
        with self._lock:
            known = self._keys.pop(tenant, None) or Keys(self._secret, tenant)
            self._keys[tenant] = known
            while len(self._keys) > MAX_CACHED_TENANTS:
                self._keys.popitem(last=False)
            return known
