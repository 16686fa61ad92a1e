"""Checksums of tokens, worked out by hand."""

from __future__ import annotations

from gitmem.gate.detectors.secrets import features


def test_a_github_checksum_is_the_crc_in_base_62() -> None:
    body = "0123456789abcdefghijABCDEFGHIJ"
    token = f"ghp_{body}{features.base62_crc(body)}"
    assert features.github(token) and not features.github(token[:-1] + ("0" if token[-1] != "0" else "1"))


def test_a_grafana_checksum_is_the_crc_in_hex() -> None:
    from zlib import crc32

    body = "glsa_" + "a1" * 16
    assert features.grafana(f"{body}_{crc32(body.encode()):08x}") and not features.grafana(f"{body}_00000000")
