"""Values with markup in them, as a rendered page shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.gate.detectors.escapes import APART
from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.rendered_text import as_rendered
from gitmem.gate.detectors.text import Text
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import redact
from gitmem.gate.scan import scan_text
from tests.detector_examples.secrets import fake

TOKEN = fake("ghp_<A>{36}")
HALVES = TOKEN[:20], TOKEN[20:]


def found(detector: str, text: str) -> list[str]:
    return [text[match.start : match.end] for match in load(detector)(Text(text))]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (r"a\_b1\-cdefgh", "a_b1-cdefgh"),
        ("abcd1<!-- x\ny -->efghij", "abcd1efghij"),
        ("abcd1&shy;efg&#8203;hij&zwnj;k", "abcd1efghijk"),
        ("&#97;bcd1efghi&#x6A;", "abcd1efghij"),
        ('abc<wbr>d1<span class="x">ef</span>ghij', "abcd1efghij"),
        ("ab**cd1**ef`gh`i~~j~~k", "abcd1efghijk"),
        ("abc[def1](u)ghi[^2]jk", "abcdef1ghijk"),
        ("abcde1<br/>fghij", "abcde1\nfghij"),
        ("abcde&#xFF11;fghij", "abcde1fghij"),
        ("abcd1<!-->ef<!--->ghij", "abcd1efghij"),
        ("<!-- -->".join("abcdefghij1k"), "abcdefghij1k"),
        (f"abcd1<!-- {'x y ' * 300}\n -->efghij", "abcd1efghij"),
        (f"abcdef<!-- {'x y ' * 300}\n\n\n -->1ghij", "abcdef1ghij"),
        ("abcd1<x></x>ef<my-tag a='b'/>ghij", "abcd1efghij"),
        ("abcd1<?x y?>ef<![CDATA[ > ]]>ghi<!DOCTYPE x>j", "abcd1efghij"),
        ("abcd1![x y](http://a.b/c_d 'e f')ef![][r]ghij", "abcd1efghij"),
        ("abc[def1](a(b))gh[ij][r]k[lm](http://x.y 't')n", "abcdef1ghijklmn"),
    ],
)
def test_markup_inside_a_value_is_read_as_it_is_shown(raw: str, shown: str) -> None:
    read = as_rendered(raw)
    assert read is not None and read.text == shown


@pytest.mark.parametrize(
    "text",
    [
        "**bold** text and `code1234567890`.",
        "a<b && c>d 12345678",
        "1 * 2345678901 * 3",
        "one\\\ntwo",
        "abcd1<!-- efghijklmn",
        "abcd1</p><p>efghijklmn",
        "AT&amp;T rates",
        "",
    ],
)
def test_markup_around_words_is_not_read_again(text: str) -> None:
    assert as_rendered(text) is None


SEAMS = (
    *(
        "<!-- -->",
        "<!-- a\nb -->",
        "&shy;",
        "&#8203;",
        "&ZeroWidthSpace;",
        "<wbr>",
        "<b>",
        "</span>",
        "**",
        "`",
        "*",
        "~~",
    ),
    *("[^1]", "<wbr>&shy;**", "<span\nclass='x'>", "\u200b<wbr>"),
)


@pytest.mark.parametrize("seam", SEAMS)
def test_a_token_with_markup_inside_is_one_find_and_redact_leaves_none_of_it(seam: str) -> None:
    text = f"first line\nthe key {seam.join(HALVES)}, in use\nlast line\n"
    assert found("secrets", text) == [seam.join(HALVES)]
    masked = redact(text, "memory/a.md", Policy())
    assert masked.count("[") == 1 or "ghp_" in masked
    assert not any(half[4:] in masked for half in HALVES)
    assert masked.startswith("first line\nthe key ") and masked.endswith(", in use\nlast line\n")
    assert not scan_text(masked, "memory/a.md", Policy())


@pytest.mark.parametrize(
    "written",
    [
        TOKEN.replace("_", r"\_"),
        TOKEN.replace("_", "&#95;"),
        TOKEN.replace("_", "&lowbar;"),
        f"&#{ord(TOKEN[0])};{TOKEN[1:]}",
        f"{TOKEN[:-1]}&#x{ord(TOKEN[-1]):x};",
        f"{TOKEN[:9]}&#x{ord(TOKEN[9]):x};{TOKEN[10:]}",
        f"[{HALVES[0]}](https://example.com/a){HALVES[1]}",
        rf"{HALVES[0].replace('_', chr(92) + '_')}<wbr>{HALVES[1]}",
    ],
)
def test_a_token_written_otherwise_is_found_to_its_last_character(written: str) -> None:
    (find,) = found("secrets", f"token: {written} (new)")
    assert find == written.removeprefix("[")


def test_a_password_with_markup_inside_is_found_whole() -> None:
    assert found("passwords", "the db password is Larch\\_Vall&shy;ey<!-- -->#63 now") == [
        "Larch\\_Vall&shy;ey<!-- -->#63"
    ]


def test_a_cookie_and_a_number_with_markup_inside_are_found_whole() -> None:
    value = "k7Qz9xV2mB4tR8nL3pW6"
    assert found("cookies", f"sessionid={value[:8]}<wbr>{value[8:]}; path=/") == [f"{value[:8]}<wbr>{value[8:]}"]
    card = "4556-7375-" + "8689-9855"
    assert found("pii", f"card {card.replace('-', chr(92) + '-')} on file") == [card.replace("-", "\\-")]


def test_two_tokens_with_markup_on_lines_that_do_not_touch_are_two_finds() -> None:
    other = fake("npm_<A>{36}")
    text = f"a {TOKEN[:8]}**{TOKEN[8:]}\nnothing here\nb {other[:12]}<wbr>{other[12:]}\n"
    assert sorted(found("secrets", text)) == [f"{TOKEN[:8]}**{TOKEN[8:]}", f"{other[:12]}<wbr>{other[12:]}"]


@given(
    st.lists(
        st.sampled_from(
            ["\\_", "&#95;", "&shy;", "<!-- -->", "<wbr>", "<br>", "**", "`", "\n", "abcdefgh1", "é", " ", "&ngt;"]
        )
    ).map("".join)
)
def test_each_character_leads_back_to_what_it_was_read_from(raw: str) -> None:
    read = as_rendered(raw)
    ends = 0
    for at, char in enumerate(read.text if read else ""):
        assert read is not None
        if any(gap <= at < gap + len(APART) for gap in read.gaps):
            continue
        start, end = read.offsets.to_raw(at, at + 1)
        assert ends <= start < end <= len(raw)
        assert raw[start:end] == char or raw[start] in "\\&<"
        ends = end


@pytest.mark.parametrize(
    "text",
    [
        r"Set `GITHUB\_TOKEN` and `NPM\_TOKEN` in **Settings** > *Secrets* for step 1.",
        "Use `user_id`/`session_id2` in `a1`b and x**2*y1*z.",
        "| `sk-`*20 characters* | `ghp_`*36 characters* |",
        "[v1.2.3](https://example.com/a1)...[v1.2.4](https://example.com/b2)",
        "비밀번호는 **8자** 이상, `a-z`**0-9** 포함.",
        "パスワードは**12文字**以上で`A1`や`b2`を使う。",
    ],
)
def test_honest_markup_passes(text: str) -> None:
    assert not [f for f in scan_text(text, "memory/a.md", Policy()) if f.severity.value == "block"]
