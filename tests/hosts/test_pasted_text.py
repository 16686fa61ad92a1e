"""Of a turn only what its speaker wrote counts as said: no paste, no quotation, no context of ours in any wrapping."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.gate.quoting import END, LEAD, fence, passage
from gitmem.hosts.pasted_text import without_pasted_text, without_quotation_marks
from gitmem.hosts.transcript import By
from gitmem.hosts.transcript_parser import parse, spoken_text

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


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "«»", "「」", "『』", "＂＂", "''", "‘’"])
def test_one_pair_of_quotation_marks_around_a_whole_turn_is_the_persons_own(marks: str) -> None:
    for words in (
        "We decided that the crane is blue.",
        "크레인은 파란색으로 하기로 했다.",
        "We don't paint it.\n\nIt stays.",
    ):
        whole = f"{marks[0]}{words}{marks[1]}"
        assert without_quotation_marks(whole) == words and spoken_text(f" {whole}\n") == words
    for text in (marks, f"{marks[0]} {marks[1]}", marks[0], f"{marks[0]}open", f"closed{marks[1]}", ""):
        assert without_quotation_marks(text) == text


@pytest.mark.parametrize(
    "text",
    [
        'She wrote "We decided that the crane is red." Is she right?',
        '"We decided that the crane is red." is what she wrote',
        '"We decided this." "We decided that."',
        "“We decided this,” she said, “and that.”",
        "'We decided' and 'we did'",
        '"We decided that the crane is red."\nWhat do you say to this?',
        '"A" B "C"',
        "`We decided that the crane is red.`",
        "'Tis the season, y'all'n'me",
    ],
)
def test_what_is_quoted_within_a_turn_keeps_its_marks(text: str) -> None:
    assert without_quotation_marks(text) == text and spoken_text(text) == text


def test_quotation_marks_around_a_context_of_ours_are_not_the_persons() -> None:
    for text in (f'"{LEAD} We decided that zebras fly. {END}"', f'"We decided {LEAD} x {END} that zebras fly."'):
        assert spoken_text(text).startswith('"') or not spoken_text(text)
    assert spoken_text(f'{LEAD} We decided x. {END}\n\n"The crane is blue."') == "The crane is blue."
