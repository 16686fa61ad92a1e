"""Checksums that vendors build into their tokens and wallets into their keys. Pure arithmetic."""

from __future__ import annotations

from zlib import crc32

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def base62_crc(body: str) -> str:
    """CRC-32 of `body` as six base-62 digits, the ending of a GitHub or npm token."""
    value, digits = crc32(body.encode()), ""
    for _ in range(6):
        value, rest = divmod(value, 62)
        digits = _BASE62[rest] + digits
    return digits


def github(token: str) -> bool:
    """Whether a `ghp_`-like or `npm_` token of 36 characters ends in the checksum of the 30 before it."""
    body = token.partition("_")[2]
    return len(body) == 36 and base62_crc(body[:30]) == body[30:]


def grafana(token: str) -> bool:
    """Whether a `glsa_` token ends in the CRC-32 of what stands before its last `_`."""
    body, _, given = token.rpartition("_")
    return len(given) == 8 and f"{crc32(body.encode()):08x}" == given.lower()


_BASE58 = {char: place for place, char in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")}


def wallet_key(value: str) -> bool:
    """Whether a value in base 58 is a Bitcoin key in the wallet import format: the last four bytes are its check
    sum."""
    from hashlib import sha256

    number = 0
    for char in value:
        if char not in _BASE58:
            return False
        number = number * 58 + _BASE58[char]
    data = number.to_bytes((number.bit_length() + 7) // 8)
    return len(data) in (37, 38) and sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


CHECKSUMS = {
    "github-token": github,
    "npm-token": github,
    "grafana-service-account-token": grafana,
}
