"""Passwords of several words, and the sentences that only look like them."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.text import Text

WORDS = "amber lattice " + "winds homeward"


def found(text: str) -> list[str]:
    return [text[match.start : match.end] for match in load("passwords")(Text(text))]


@pytest.mark.parametrize(
    "form",
    [
        'Passphrase for the laptop\'s disk: "{}".',
        "the borg repo's passphrase is {}, do not lose it",
        "backup key passphrase: {} (since May)",
        "repo:\n  passphrase: >-\n    {}\n",
        "restic: {}",
        "gpg passphrase {}",
        "What is the passphrase of the backup? {}",
    ],
)
def test_words_in_the_place_of_a_passphrase_are_one_find(form: str) -> None:
    assert found(form.format(WORDS)) == [WORDS]


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("The archive unlocks with ", "pelican-garden" + "-velvet-eleven", "."),
        ('vault master password: "', "granite-teapot" + "-willow-orbit", '"'),
        ("wlan:\n  psk: ", "three-otters" + "-lagoon", "\n"),
        ('auth:\n  password: "', "Gravel&" + "Silk 27", '"\n'),
        ("KeePass passphrase is ", "Seven Swans Swim " + "Past 3 Bridges!", ""),
        ("加密密码：“", "红色灯笼 " + "五盏 晨雾", "”"),
        ("磁盘加密口令：", "红色灯笼 " + "五盏 晨雾", ""),
        ("백업 암호문구: ", "붉은 등불 " + "다섯 개와 안개", "\n"),
        ("ssh key passphrase is ", "granite otter " + "41 windmill", " (same on both laptops)"),
        ("Kennwort: ", "Kiebitz" + "-77!", ""),
        ("heslo k databázi: ", "Jezevec" + "_Les9", ""),
        ("şifre: ", "Serce_" + "Orman4", ""),
        ("Using generated security password: ", "0f3c1d5e-8b1a-4a86" + "-9f25-aa3d1c7be001", ""),
        ("+ mc alias set backup https://s3.int minio ", "Brook#" + "Lamp7", ""),
    ],
)
def test_the_words_alone_are_the_find(before: str, value: str, after: str) -> None:
    assert found(before + value + after) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "passphrase for the backup key: see the vault",
        "passphrase: >-\n    see the wiki page\n",
        "The disk unlocks with state-of-the-art-hardware keys.",
        "restic: repository opened successfully, password is correct",
        "Set username and password on the connection proxy object correctly",
        "* tty.c (read_password): Fix buffer resizing bug.",
        "# relative path from pwd to where make puts build files.",
        "gpg passphrase prompt appears twice",
        "加密密码：“请向管理员 索取 密码”",
        "口令：每日 更新 一次 请 问 运维",
        "암호문구: 매년 한 번 교체함",
        "passphrase is stored 2 times (see docs)",
        "heslo musí mít 12 znaků",
        "clave primaria: id",
        'password: "Enter a password of 12 characters"',
        "psk: from-the-vault",
    ],
)
def test_sentences_about_passphrases_pass(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Guest wifi: network Fjord, password maple onion tractor violin",
        "Login for the printer: user ops with password maple onion tractor violin.",
        "와이파이: 네트워크 Fjord, 비밀번호 maple onion tractor violin",
    ],
)
def test_words_behind_a_password_in_a_line_that_tells_an_access_are_one(text: str) -> None:
    assert "maple onion tractor violin" in [text[match.start : match.end] for match in load("passwords")(Text(text))]


@pytest.mark.parametrize(
    "text",
    [
        "The login page has a user field, password strength meter bar",
        "Account page, password manager browser extension",
        "User settings, password reset email template flow",
    ],
)
def test_things_named_with_the_word_password_are_none(text: str) -> None:
    assert not list(load("passwords")(Text(text)))


@pytest.mark.parametrize(
    "text",
    [
        "wifi: Alba / pass: correct horse battery staple",
        "wifi pass: correct horse battery staple",
        "와이파이 Alba pw: correct horse battery staple",
        "The guest network password is velvet-otter-mango-drum",
        "Wi-Fi 'Alba', key 'staple battery horse correct'",
    ],
)
def test_a_passphrase_of_a_network_is_found_behind_a_short_word(text: str) -> None:
    assert list(load("passwords")(Text(text)))


@pytest.mark.parametrize(
    "text",
    [
        "network tests pass: retry timeout latency jitter",
        "wifi pass: ask the front desk for it",
        "router checks: all pass: latency was fine today",
        "the password is read-from-secret-store",
        "the password is not-known-to-anyone",
        "Wi-Fi 'Alba', key 'see the front desk'",
    ],
)
def test_words_about_a_network_are_no_passphrase(text: str) -> None:
    assert not list(load("passwords")(Text(text)))
