"""Words joined by signs: which are passwords, and which name a thing."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.joined_words import is_coined, is_numbered
from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.text import Text

WORDS = "Bonfire" + ".Toffee", "skYlark" + "_Bun", "Vellum" + "&Quill", "Ham-Sandwich" + "-On-Rye", "lantern" + ".Fish7"


def found(text: str) -> list[str]:
    return [text[match.start : match.end] for match in load("passwords")(Text(text))]


@pytest.mark.parametrize("value", WORDS)
@pytest.mark.parametrize(
    "form",
    [
        "password: {}",
        "DB_PASSWORD={}",
        'psk = "{}"',
        "비밀번호는 {} 이다",
        "-- pw {} for the role",
        "url?user=a&password={}",
    ],
)
def test_joined_words_in_the_place_of_a_password_are_one(form: str, value: str) -> None:
    assert found(form.format(value)) == [value]


@pytest.mark.parametrize(
    "value",
    ["Config.Password", "user.Name", "Read-Only", "Case-Sensitive", "Forgot-Password", "DataTypes.String", "some_name"],
)
def test_names_of_things_are_no_coined_words(value: str) -> None:
    assert not is_coined(value)


def test_one_word_and_a_number_is_a_password_only_where_no_word_names_a_thing() -> None:
    assert is_numbered("Bulrush" + "_77")
    assert not is_numbered("Version_77") and not is_numbered("Server-2")


@pytest.mark.parametrize(
    "form",
    [
        "staging login: ops / {}",
        "logged in to the router as admin with {}",
        "her login is carla@acme.example with {}",
        "the account admin:{} is kept",
        "Which login for Jenkins?\n→ admin / {}",
    ],
)
def test_words_beside_a_user_are_a_password_where_a_login_is_spoken_of(form: str) -> None:
    value = "Pumice" + "_Stone3"
    assert found(form.format(value)) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "Login / Sign-Up",
        "log in with admin and Multi-Factor prompts follow",
        "credentials: basic / bearer",
        "sign in as root, then Restart-Service",
        "Log in with Google and Apple-Id",
        "credentials for TanStack Start / Next.JS-style routers",
        "account: Node.js packaged by Bitnami",
        "the login allowlist (allowFrom / channels.discord.allowFrom)",
        "Not discussed: fate of password auth? Single-domain? Multi-domain?",
        "| Attack | Password |\n|---|---|\n| Flood | Ping-of-Death |",
        "Credentials   uses SSH keys / SSH-agent if present",
    ],
)
def test_a_sentence_about_logins_passes(text: str) -> None:
    assert found(text) == []
