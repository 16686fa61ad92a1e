"""Kinds of texts that no bench of this project has: rules of theirs look useless there and are not."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.text import Text

DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
PASS = [
    f"node key nodekey:{DIGEST} rotated",
    "The token limits of Qwen2.5-7B-Instruct-Q4_K_M differ",
    "the password must have 12345678 characters",
    "비밀번호는 20240131자를 넘지 않는다",
    "password: #ff8800cc",
    "password in use since 2024",
    "secret = user.password.value",
    "release key: 2.0.0-py3-none-any.whl#a8f3c9d2e1b4a7f6",
    "key object-a1b2c3d4-12ab-34cd-56ef-1234567890ab is locked",
    f"build key linux-build-{DIGEST[:40]}",
    "the token was moved to the file a8F3c9D2e1B4a7F6c3D9",
    'token = f"{prefix}-aX8bY7cQ2dZ"',
    "cache_key=a8f3c9d2e1b4a7f6c3d9e8b1a4f7c2d5",
    "INSERT INTO users (name, password) VALUES ('ann', '{bcrypt}x9Qz7LmR2t')",
    "datadog trace id a8F3c9D2e1B4a7F6c3D9e8B1",
]
FLAG = [
    "skopeo copy --src-creds ops:Bulrush_77 docker://a docker://b",
    "schtasks /create /ru ops /rp Bulrush_77!x",
    "nmcli dev wifi connect cafe password Bulrush_77",
    'chpasswd <<< "ops:Bulrush_77"',
    "wpa_passphrase cafe Bulrush_77",
    "app.use(BasicAuth('ops', 'Bulrush_77'))",
    "username admin privilege 15 secret 0 Bulrush_77",
    "EXEC sp_addlogin 'ops', 'Bulrush_77'",
    "snmp-server community Bulr7sh_Ro",
    "set-initial-password Bulrush_77",
    "grpcurl -auth ops:Bulrush_77 host:1",
    "10.0.0.5 (ops/Bulrush_77)",
    "TOKEN_a8F3c9D2e1B4a7F6c3D9e8B1x",
    'passphrase: "correct horse battery staple"',
]


def rules(text: str) -> list[str]:
    return [match.rule for name in ("secrets", "passwords") for match in load(name)(Text(text, path="memory/note.md"))]


@pytest.mark.parametrize("text", PASS)
def test_a_text_that_only_looks_like_a_secret_passes(text: str) -> None:
    assert rules(text) == []


@pytest.mark.parametrize("text", FLAG)
def test_a_password_in_a_rare_command_or_form_is_found(text: str) -> None:
    assert rules(text)
