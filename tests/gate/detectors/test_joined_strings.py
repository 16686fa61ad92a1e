"""Strings put together out of pieces, as a program reads them."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.joined_strings import without_seams
from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.text import Text
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import redact
from tests.detector_examples.secrets import fake

TOKEN = fake("ghp_<A>{36}")
FIRST, SECOND = TOKEN[:20], TOKEN[20:]


def found(detector: str, text: str) -> list[str]:
    return [text[match.start : match.end] for match in load(detector)(Text(text))]


@pytest.mark.parametrize("seam", ['" + "', '" +\n      "', '"\n      "', '" \\\n  "'])
def test_a_password_in_two_strings_is_one_find(seam: str) -> None:
    text = f'password = "Larch-{seam}Valley-63"'
    assert found("passwords", text) == [f"Larch-{seam}Valley-63"]


def test_a_token_in_a_list_that_is_joined_and_over_a_backslash_is_found() -> None:
    assert found("secrets", f"const t = ['{FIRST}', '{SECOND}'].join(\"\");") == [f"{FIRST}', '{SECOND}"]
    assert found("secrets", f"key {TOKEN[:10]}\\\n{TOKEN[10:]} in the log") == [f"{TOKEN[:10]}\\\n{TOKEN[10:]}"]
    assert found("secrets", "k = 'gh' . 'p_' . '" + TOKEN[4:] + "'") == ["gh' . 'p_' . '" + TOKEN[4:]]


@pytest.mark.parametrize(
    "text",
    [
        'msg = "at least " + "8 characters"',
        'x.split(".")',
        'a = ["x", "y"]',
        "one\ntwo\n",
        'path = ("a"\n       + b)',
        "",
    ],
)
def test_a_text_without_pieces_is_not_read_again(text: str) -> None:
    assert without_seams(text) is None


def test_every_offset_leads_back_to_the_character_it_came_from() -> None:
    text = 'one\nk = "ab" + "cd"\ntwo "ef"\n  "gh" three\n'
    read = without_seams(text)
    assert read is not None and read.text == 'k = "abcd"\ntwo "efgh" three\n'
    for at, sign in enumerate(read.text):
        start, end = read.offsets.to_raw(at, at + 1)
        assert text[start:end] == sign


BULLETS = "".join(f"- fact number {number} about the river\n" for number in range(12))


@pytest.mark.parametrize(
    "first", ['HEAD = "-----" + "BEGIN PRIVATE KEY-----"\n', "const pem = `-----` + `BEGIN PRIVATE KEY-----\n${body}\n"]
)
def test_lines_with_seams_that_do_not_touch_are_no_private_key(first: str) -> None:
    text = f'{first}{BULLETS}const name = "deployment" + "Configuration";\n{BULLETS}const b = "billing" + "Service";\n'
    assert found("secrets", text + BULLETS) == [] == found("secrets", text)


def test_a_token_does_not_go_on_in_a_line_far_from_it() -> None:
    token = fake("ghp_<A>{36}")
    text = f'x = "a" + "b"; key {token}\n{BULLETS}Q7d9Kx2mZp4Ls8Vt1Rw6Yb3Nc5\\\nAb12\n'
    assert found("secrets", text) == [token]


def test_a_private_key_behind_a_seam_is_masked_and_the_rest_stays() -> None:
    body = "\n".join(fake("<A>{64}") for _ in range(3))
    text = f"{BULLETS}k = `-----` + `BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----`\n"
    masked = redact(text, "memory/note.md", Policy())
    assert masked.startswith(BULLETS) and body.split("\n")[0] not in masked and "-----END" in masked
