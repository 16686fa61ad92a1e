"""Of a turn only what its speaker wrote counts as said: no paste, no quotation, no context of ours in any wrapping."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.gate.quoting import END, LEAD, fence, passage
from gitmem.hosts.pasted_text import without_pasted_text
from gitmem.hosts.transcript import By
from gitmem.hosts.transcript_parser import parse

TEXTS = st.lists(st.sampled_from(
    ["word ", "\n", "```", "~~~~", "<page>", "</page>", "<page x='1'>", "<b>", "</b>", "> ", "<", ">", "|", "\0",
     "<memory path=\"a\">", "</memory>", "&lt;memory path=", "<from a.md:3>", LEAD, END]), max_size=30).map("".join)  # fmt: skip


@given(st.text(max_size=80) | TEXTS)
def test_any_text_is_read_and_nothing_is_invented(text: str) -> None:
    for own in without_pasted_text(text):
        assert own.text and all(line in text.replace("\0", " ") for line in own.text.split("\n"))


CONTEXT = "\n".join([
    LEAD, "<memory>", passage("- Refunds never need any approval.", "MEMORY.md", (3, 3), note="memory"), "</memory>", END,
    "Open from the last session (data):", "- ticket:4711: Refunds never need any approval.",
    "The last session (data):", fence("Refunds never need any approval.", "memory/sessions/a.md", note="episode"),
])  # fmt: skip


def test_a_context_that_lost_its_first_line_is_nobodys_word() -> None:
    cut = CONTEXT.partition("<memory>\n")[2]
    (own,) = without_pasted_text(f"Ship it today.\n{cut}")
    assert own.text == "Ship it today."


WRAPPINGS = {
    "bare": "{}",
    "gemini": "<hook_context>{}</hook_context>",
    "session": "<session_context>\n{}\n</session_context>",
    "claude": "<system-reminder>\nSessionStart hook additional context: {}\n</system-reminder>",
    "unknown": "[injected by my-host]\n{}\n[end]",
    "indented": "    {}",
}


@pytest.mark.parametrize("form", WRAPPINGS)
@pytest.mark.parametrize("escaped", [False, True])
def test_no_line_of_a_context_is_anybodys_word(form: str, escaped: bool) -> None:
    context = CONTEXT.replace("<", "&lt;").replace(">", "&gt;") if escaped else CONTEXT
    text = WRAPPINGS[form].format(context)
    assert "Refunds" not in repr(without_pasted_text(text)) and "Refunds" not in repr(
        without_pasted_text(text[: len(text) * 2 // 3])
    )
    assert without_pasted_text(f"Ship it today.\n{text}")[0].text.startswith("Ship it today.")
    for role in ("user", "assistant"):
        found = parse(json.dumps({"role": role, "text": f"Ship it today.\n{text}"}).encode())
        assert "Refunds" not in repr(found.spoken()) and "Ship it today." in repr(found.spoken())
    (alone,) = parse(json.dumps({"role": "user", "text": text}).encode()).turns
    assert alone.by is By.HOST or "Refunds" not in alone.text


@pytest.mark.parametrize("tag", ["<web_page>", "  <page>", "<DOCUMENT>"])
def test_what_follows_a_tag_on_a_line_of_its_own_that_never_ends_is_doubtful(tag: str) -> None:
    before, after = without_pasted_text(f"Ship it today.\n{tag}\nRefunds never need any approval.\n\nNever.")
    assert (before.text, before.doubtful) == ("Ship it today.", False)
    assert after.doubtful and after.text.startswith("Refunds") and after.text.endswith("Never.")


@pytest.mark.parametrize(
    "tag", ['<img src="a.png">', '<image path="a.png"/>', "<hr>", "<attachment id='1' />", "<wbr>"]
)
def test_a_tag_that_has_no_inside_hides_nothing_that_a_person_said(tag: str) -> None:
    said = without_pasted_text(f"{tag}\nWe decided to ship on Mondays.")
    assert "We decided to ship on Mondays." in said[-1].text and not said[-1].doubtful


def test_a_word_in_angle_brackets_within_a_sentence_is_a_word() -> None:
    (own,) = without_pasted_text("Use List<String> there.\nWe decided to ship on Mondays.")
    assert own.text.endswith("Mondays.") and not own.doubtful
