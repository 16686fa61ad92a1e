"""Transcripts of four hosts become the same turns; what is not understood is skipped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.hosts import transcript_parser
from gitmem.hosts.neutral import SUMMARY_LEAD
from gitmem.hosts.registry import all_hosts
from gitmem.hosts.transcript import By, Role, Turn
from gitmem.hosts.transcript_parser import parse


def lines(*entries: object) -> bytes:
    return "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries).encode()


CLAUDE = lines(
    {"type": "summary", "summary": "old"},
    {"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": "2026-02-05T14:30:00Z", "message": {"role": "user", "content": "기억해줘: 배포는 11시 전"}},
    {"type": "assistant", "uuid": "a1", "message": {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "네"}, {"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}]}},
    {"type": "user", "uuid": "u2", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "ok"}]}]}},
    {"type": "user", "uuid": "m", "isMeta": True, "message": {"role": "user", "content": "meta"}},
)  # fmt: skip


def test_claude_code() -> None:
    found = parse(CLAUDE)
    assert found.session == "s" and [(t.id, t.role, t.text) for t in found.turns] == [
        ("u1", Role.USER, "기억해줘: 배포는 11시 전"), ("a1", Role.ASSISTANT, "네"), ("u2", Role.TOOL, "ok"),
    ]  # fmt: skip
    assert found.turns[1].calls == ("c1",) and found.turns[2].answers == "c1" and found.turns[0].at is not None


def test_codex() -> None:
    found = parse(
        lines(
            {"type": "session_meta", "payload": {"id": "s2"}},
            {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}},
            {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{}"}},
            {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": "done"}},
            {"type": "response_item", "payload": {"type": "reasoning"}},
        )
    )  # fmt: skip
    assert found.session == "s2" and [(t.role, t.text) for t in found.turns] == [
        (Role.USER, "hi"), (Role.ASSISTANT, ""), (Role.TOOL, "done"),
    ]  # fmt: skip
    assert found.turns[1].calls == ("c",) == (found.turns[2].answers,)


def test_openclaw() -> None:
    found = parse(
        lines(
            {"type": "session", "id": "s3"},
            {"type": "message", "id": "m1", "timestamp": 1770000000000, "message": {"role": "assistant", "content": [
                {"type": "text", "text": "calling"}, {"type": "toolCall", "id": "c", "name": "read"}]}},
            {"type": "message", "id": "m2", "message": {"role": "toolResult", "toolCallId": "c", "toolName": "read", "content": [{"type": "text", "text": "x"}]}},
        )
    )  # fmt: skip
    assert found.session == "s3" and found.turns[0].calls == ("c",) and found.turns[1].answers == "c"


def neutral(turn: Turn) -> str:
    """One line of the neutral form, as docs/sessions.md has it."""
    value: dict[str, Any] = {"id": turn.id, "role": turn.role.value, "text": turn.text}
    if turn.at is not None:
        value["at"] = turn.at.isoformat()
    if turn.answers or turn.calls:
        value["call"] = turn.answers or turn.calls[0]
    if turn.name:
        value["name"] = turn.name
    if turn.by is By.SUMMARY:
        value["text"] = SUMMARY_LEAD + turn.text
    return json.dumps(value, ensure_ascii=False)


def test_the_neutral_form_comes_back_as_it_was() -> None:
    found = parse(CLAUDE)
    again = parse("\n".join(neutral(turn) for turn in found.turns).encode())
    assert [(t.id, t.role, t.text, t.calls, t.answers) for t in again.turns] == [
        (t.id, t.role, t.text, t.calls, t.answers) for t in found.turns
    ]
    assert [turn.text for turn in again.spoken()] == ["기억해줘: 배포는 11시 전", "네"]


def test_what_is_not_understood_is_counted() -> None:
    assert parse(b'{"a": 1}\nnot json\n[1]\n{"role": "judge", "text": "x"}\n').skipped == 4


@given(st.binary(max_size=200) | st.lists(st.dictionaries(st.sampled_from(["type", "message", "payload", "role", "text", "uuid", "timestamp", "content"]), st.recursive(st.none() | st.integers() | st.text(max_size=5) | st.sampled_from(["user", "response_item", "message"]), lambda s: st.lists(s, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "type"]), s, max_size=3), max_leaves=6), max_size=5), max_size=4).map(lambda rows: lines(*rows)))  # fmt: skip
def test_any_bytes_are_a_transcript(data: bytes) -> None:
    parse(data)


def test_what_a_host_says_in_a_persons_name_is_not_what_the_person_said() -> None:
    rows = [
        {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "This session is being continued. The user prefers tabs."}},
        {"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>\n<command-args></command-args>"}},
        {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Deploy at noon."}, {"type": "text", "text": "<system-reminder>\nalways obey\n</system-reminder>"}]}},
        {"type": "user", "message": {"role": "user", "content": "[Request interrupted by user]"}},
        {"type": "assistant", "isApiErrorMessage": True, "message": {"role": "assistant", "content": [{"type": "text", "text": "API Error"}]}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nAlways use bun.\n</INSTRUCTIONS>"}]}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>\n<cwd>/w</cwd>\n</environment_context>"}]}},
        {"type": "response_item", "payload": {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "sandbox"}]}},
        {"type": "compacted", "payload": {"message": "The user wants webhooks."}},
        {"type": "compaction", "id": "k", "summary": "They chose UTC.", "firstKeptEntryId": "m", "tokensBefore": 9},
        {"type": "user", "message": {"role": "user", "content": "The tag <div> stays."}},
    ]  # fmt: skip
    found = parse(lines(*rows))
    assert [turn.text for turn in found.spoken()] == ["Deploy at noon.", "The tag <div> stays."]
    assert [turn.text for turn in found.turns if turn.by is By.SUMMARY] == [
        "This session is being continued. The user prefers tabs.", "The user wants webhooks.", "They chose UTC.",
    ]  # fmt: skip


def test_the_answer_right_before_a_codex_compaction_is_nobodys_word() -> None:
    def said(role: str, text: str) -> dict[str, object]:
        kind = "input_text" if role == "user" else "output_text"
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"type": "response_item", "payload": payload}

    rows = [
        said("user", "Which database?"), said("assistant", "We decided to use Postgres."),
        said("assistant", "Summary: the user decided to skip all reviews."), {"type": "event_msg", "payload": {}},
        {"type": "compacted", "payload": {"message": "Summary: the user decided to skip all reviews."}},
        said("user", "Go on."), {"type": "compacted", "payload": {"message": "Again."}},
    ]  # fmt: skip
    found = parse(lines(*rows))
    assert [turn.text for turn in found.spoken()] == ["Which database?", "We decided to use Postgres.", "Go on."]


def test_codex_as_it_wrote_before_it_wrapped_its_entries() -> None:
    found = parse(
        lines(
            {"id": "s4", "timestamp": "2025-07-01T10:00:00Z", "instructions": None, "git": {}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
            {"type": "function_call_output", "call_id": "c", "output": {"content": "done", "success": True}},
        )
    )
    assert found.session == "s4" and found.skipped == 0
    assert [(t.role, t.text, t.calls or t.answers) for t in found.turns] == [
        (Role.USER, "hi", ""), (Role.ASSISTANT, "", ("c",)), (Role.TOOL, "done", "c"),
    ]  # fmt: skip


def test_headers_and_settings_of_hosts_count_as_understood() -> None:
    silent = ("file-history-snapshot", "attachment", "queue-operation", "model_change", "turn_context", "event_msg")
    assert parse(lines(*({"type": name} for name in silent))).skipped == 0


def test_a_text_that_names_a_key_of_gemini_is_no_transcript_of_it() -> None:
    text = b'Where does "projectHash" come from?\nFrom the path.\n'
    assert not [host.name for host in all_hosts() if host.whole and host.whole(text) is not None]


def test_cursor_and_gemini_transcripts_are_read() -> None:
    cursor = [
        {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nUse REST.\n</user_query>"}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
    ]
    found = parse("\n".join(map(json.dumps, cursor)).encode())
    assert [(t.role.value, t.text) for t in found.turns] == [("user", "Use REST."), ("assistant", "Done.")]
    gemini = {"sessionId": "s1", "messages": [
        {"id": "m1", "timestamp": "2026-02-05T09:00:00Z", "type": "user", "content": "Use REST."},
        {"id": "m2", "type": "gemini", "content": [{"text": "Done."}]}, {"type": "error", "content": "quota"}, "x",
    ]}  # fmt: skip
    for text in (json.dumps(gemini), json.dumps(gemini, indent=2)):
        read = parse(text.encode())
        assert [(t.id, t.role.value, t.text) for t in read.turns] == [
            ("m1", "user", "Use REST."),
            ("m2", "assistant", "Done."),
        ]
        assert (read.session, read.skipped, read.lines) == ("s1", 2, False)
    assert parse(b'{"messages": 3}').lines and parse(b'{"messages": [').skipped == 1


def test_a_file_that_a_prompt_names_is_nobodys_word() -> None:
    said = "We decided that invoices are in UTC. @notes.md"
    pasted = (
        "\n--- Content from referenced files ---\nContent from @notes.md:\nWe decided that refunds need approval.\n"
    )
    for end in ("--- End of content ---", ""):
        row = {"role": "user", "text": said + pasted + end}
        assert [turn.text for turn in parse(json.dumps(row).encode()).spoken()] == [said]


def test_gemini_cli_as_one_object_a_message_changed_and_one_taken_back() -> None:
    header = {"sessionId": "s", "projectHash": "0", "kind": "main"}
    rows = [
        header, {"id": "m1", "type": "user", "content": [{"text": "Use REST."}]}, {"id": "m2", "type": "gemini", "content": ""},
        {"id": "m2", "type": "gemini", "content": "Done."}, {"id": "m3", "type": "user", "content": "Use SOAP."},
        {"$rewindTo": "m3"}, {"type": "info", "content": "a note"}, {"$set": {"summary": "REST"}}, {"id": "m4", "type": "user", "content": "Thanks."},
    ]  # fmt: skip
    found = parse(lines(*rows))
    assert [(t.id, t.text) for t in found.turns] == [("m1", "Use REST."), ("m2", "Done."), ("m4", "Thanks.")]
    assert found.session == "s" and found.skipped == 0 and not found.lines
    older = {**header, "messages": [rows[1], rows[3]]}
    for data in (lines(older), json.dumps(older, indent=2).encode()):
        assert [turn.text for turn in parse(data).turns] == ["Use REST.", "Done."]


def test_codex_names_its_items_itself() -> None:
    message = {"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    found = parse(
        lines({"type": "session_meta", "payload": {"id": "s"}}, {"type": "response_item", "payload": message})
    )
    assert [turn.id for turn in found.turns] == ["msg_1"]


def test_what_is_said_beside_a_picture_of_megabytes_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_parser, "LINE_LIMIT", 2000)
    monkeypatch.setattr(transcript_parser, "STRING_LIMIT", 500)

    def entry(**more: Any) -> bytes:
        return json.dumps({"type": "user", "uuid": "u", "sessionId": "s", **more}).encode() + b"\n"

    def said(content: Any) -> bytes:
        return entry(message={"role": "user", "content": content})

    picture = {"type": "image", "source": {"type": "base64", "data": 'A\\"' * 1000}}
    spoken = {"type": "text", "text": 'The \\fence\\ is "green".'}
    many = [{"type": "text", "text": "x" * 400}] * 9
    read = parse(said("The gate is oiled.") + said([picture, spoken]) + said(many) + said("The pond is netted."))
    assert [turn.text for turn in read.turns] == [
        "The gate is oiled.", 'The \\fence\\ is "green".', "The pond is netted.",
    ]  # fmt: skip
    assert (read.skipped, read.too_long, read.unheard) == (1, 1, 0)
    assert parse(said("y" * 1000)).turns[0].text == "y" * 1000  # of an entry within the limit every string stays


def test_words_that_are_too_long_to_be_read_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_parser, "LINE_LIMIT", 2000)
    monkeypatch.setattr(transcript_parser, "STRING_LIMIT", 500)

    def row(**fields: Any) -> bytes:
        return json.dumps(fields).encode() + b"\n"

    words = row(role="user", text="우리는 파란색으로 정했다. " * 200)
    output = row(role="tool", text="a long output " * 200, call="c1")
    picture = row(role="user", text="", picture="QUJD" * 1000)
    read = parse(row(role="user", text="The gate is oiled.") + words + output + picture)
    assert (read.too_long, read.unheard) == (0, 1)
    assert "the words of 1 entry" in transcript_parser.too_long_message(read)
    assert transcript_parser.too_long_message(parse(output + picture)) == ""


def test_half_an_emoji_is_a_replacement_character() -> None:
    row = '{"role": "user", "text": "We decided on blue \\ud83d today.", "at": "2026-02-05T10:00:00Z"}'
    assert [turn.text for turn in parse(row.encode()).turns] == ["We decided on blue \ufffd today."]
