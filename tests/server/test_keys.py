"""Keyed hashes: the same for ever, and remembered for a few tenants."""

from __future__ import annotations

from gitmem.server.keys import MAX_CACHED_TENANTS, Keyring, Keys

SECRET = b"s" * 40


def test_a_keyring_remembers_few_tenants_and_hashes_all_alike() -> None:
    keyring = Keyring(SECRET)
    hashed = [keyring.of(tenant).term("okapi") for tenant in range(3 * MAX_CACHED_TENANTS)]
    assert len(keyring._keys) == MAX_CACHED_TENANTS and len(set(hashed)) == 3 * MAX_CACHED_TENANTS
    assert hashed == [keyring.of(tenant).term("okapi") for tenant in range(3 * MAX_CACHED_TENANTS)]
    assert hashed[0] == Keys(SECRET, 0).term("okapi")
    assert keyring.of(5) is keyring.of(5)
