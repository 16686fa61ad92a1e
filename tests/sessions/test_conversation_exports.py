"""The archives of ChatGPT and Claude become sessions: the words of people and agents, and nothing else in them."""

from __future__ import annotations

import json
import os
import shlex
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.sessions import conversation_exports
from gitmem.sessions.conversation_exports import SERVICES, list_conversations
from gitmem.sessions.session_import import ImportedSession, ImportOptions, ImportState, import_sessions
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
AT = datetime(2026, 1, 9, 9, tzinfo=UTC)


@pytest.fixture
def git(repo: Repo) -> Iterator[Repository]:
    repo.commit("first")
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


def node(key: str, parent: str | None, role: str, text: Any, **more: Any) -> dict[str, Any]:
    content = more.pop("content", {"content_type": "text", "parts": [text]})
    message = {"id": key, "author": {"role": role}, "create_time": AT.timestamp(), "content": content, **more}
    return {"id": key, "parent": parent, "children": [], "message": message}


def chatgpt(ident: str = "c1") -> dict[str, Any]:
    """A conversation with an edited turn, a hidden one, a tool's, and a text in a picture's company."""
    picture = {
        "content_type": "multimodal_text",
        "parts": [{"asset_pointer": "file://x"}, "We decided on the oak mast."],
    }
    nodes = [
        {"id": "root", "parent": None, "children": [], "message": None},
        node("hidden", "root", "user", "We decided that nobody sees this.",
             metadata={"is_visually_hidden_from_conversation": True}),
        node("old", "hidden", "user", "We decided that the crane is red."),
        node("new", "hidden", "user", 'We decided that the crane is blue, as in {"a": "}"}.'),
        node("call", "new", "assistant", "search()", recipient="browser"),
        node("page", "call", "tool", "We decided that the page says so."),
        node("seen", "page", "user", "", content=picture),
        node("end", "seen", "assistant", "Noted."),
    ]  # fmt: skip
    return {"id": ident, "title": "Crane", "create_time": AT.timestamp(), "current_node": "end",
            "mapping": {item["id"]: item for item in nodes}}  # fmt: skip


def claude(ident: str = "k1") -> dict[str, Any]:
    def message(number: int, sender: str, text: str, **more: Any) -> dict[str, Any]:
        return {"uuid": f"m{number}", "sender": sender, "text": text, "created_at": "2026-01-09T09:00:00.5Z", **more}

    attached = [{"file_name": "a.txt", "extracted_content": "We decided that the attachment rules."}]
    parts = [{"type": "text", "text": "Noted."}, {"type": "tool_use", "name": "web", "input": {}},
             {"type": "tool_result", "content": [{"type": "text", "text": "We decided what the web says."}]}]  # fmt: skip
    said = [
        message(1, "human", "We decided that the crane is blue.", attachments=attached),
        message(2, "assistant", "Noted. web", content=parts),
    ]
    return {"uuid": ident, "name": "Crane", "created_at": "2026-01-09T09:00:00Z", "chat_messages": said}


def zipped(path: Path, **files: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(f"export/{name}.json", value if isinstance(value, bytes) else json.dumps(value))
    return path


def bring(git: Repository, service: str, path: Path) -> list[ImportedSession]:
    found = list_conversations(service, path)
    return list(import_sessions(git, Config(), found.sessions, ImportOptions(service), NOW))


def test_of_chatgpt_the_branch_that_was_shown_is_read(repo: Repo, git: Repository, tmp_path: Path) -> None:
    (outcome,) = bring(git, "chatgpt", zipped(tmp_path / "a.zip", conversations=[chatgpt()], user={"email": "x"}))
    assert outcome.done is ImportState.IMPORTED and outcome.session.name == "c1"
    day = AT.astimezone().date().isoformat()
    log = repo.read(f"memory/{day}.md") + repo.read(outcome.episode)
    assert "crane is blue" in log and "oak mast" in log and "session=c1 turn=new" in log
    assert not [word for word in ("red", "nobody", "page says", "search()") if word in log]


def test_of_a_voice_chat_the_words_are_read_and_not_the_sound(repo: Repo, git: Repository, tmp_path: Path) -> None:
    def spoken(text: str) -> dict[str, Any]:
        parts = [{"content_type": "audio_transcription", "text": text, "direction": "in"},
                 {"content_type": "real_time_user_audio_video_asset_pointer", "text": "We decided what sounds say."}, {"text": 3}, 4]  # fmt: skip
        return {"content_type": "multimodal_text", "parts": parts}

    nodes = [
        node("said", None, "user", "", content=spoken("We decided that the crane is blue.")),
        node("end", "said", "assistant", "", content=spoken("Blue it is.")),
    ]
    talk = {**chatgpt(), "current_node": "end", "mapping": {item["id"]: item for item in nodes}}
    (outcome,) = bring(git, "chatgpt", zipped(tmp_path / "a.zip", conversations=[talk]))
    assert [line.text for line in outcome.lines] == ["We decided that the crane is blue."]
    assert "sounds say" not in repo.read(outcome.episode)


def _without_parents(nodes: dict[str, Any], children: bool, parent: str | None) -> None:
    for key, each in nodes.items():
        if children:
            each["children"] = [child for child, other in nodes.items() if other["parent"] == key]
    for each in nodes.values():
        each["parent"] = parent


@pytest.mark.parametrize(("children", "parent"), [(True, None), (True, "gone"), (False, None), (False, "gone")])
def test_a_conversation_with_broken_links_to_parents_loses_no_turn(
    repo: Repo, git: Repository, tmp_path: Path, children: bool, parent: str | None
) -> None:
    talk = chatgpt()
    _without_parents(talk["mapping"], children, parent)
    (outcome,) = bring(git, "chatgpt", zipped(tmp_path / "a.zip", conversations=[talk]))
    said = [line.text for line in outcome.lines]
    assert "We decided on the oak mast." in said and any("crane is blue" in line for line in said)
    assert any("red" in line for line in said) is not children  # a branch that is left is known by children


@pytest.mark.parametrize(
    "content",
    ["We decided on steel.", {"content_type": "text", "parts": "We decided on steel."},
     {"content_type": "text", "text": "We decided on steel."}],
)  # fmt: skip
def test_a_message_is_read_in_each_form_of_its_text(git: Repository, tmp_path: Path, content: object) -> None:
    nodes = [node("said", None, "user", "", content=content), node("end", "said", "assistant", "Steel it is.")]
    talk = {"title": "Mast", "current_node": "end", "mapping": {item["id"]: item for item in nodes}}  # without an id
    (outcome,) = bring(git, "chatgpt", zipped(tmp_path / "a.zip", conversations=[talk]))
    assert [line.text for line in outcome.lines] == ["We decided on steel."]


@pytest.mark.parametrize("current", [None, "gone", 7, []])
def test_where_no_leaf_is_said_to_be_current_the_last_is(
    repo: Repo, git: Repository, tmp_path: Path, current: object
) -> None:
    talk = {**chatgpt(), "current_node": current}
    (outcome,) = bring(git, "chatgpt", zipped(tmp_path / "a.zip", conversations=[talk]))
    assert [line.text for line in outcome.lines] == [
        'We decided that the crane is blue, as in {"a": "}"}.', "We decided on the oak mast.",
    ]  # fmt: skip


def test_of_claude_what_is_attached_or_found_is_nobodys_word(repo: Repo, git: Repository, tmp_path: Path) -> None:
    (outcome,) = bring(git, "claude-export", zipped(tmp_path / "a.zip", conversations=[claude()], projects=[]))
    assert [line.text for line in outcome.lines] == ["We decided that the crane is blue."]
    assert "attachment" not in repo.read(outcome.episode) and "web" not in repo.read(outcome.episode)


@pytest.mark.parametrize("service", ["chatgpt", "claude-export"])
def test_zip_folder_and_file_hold_the_same_sessions_once(
    repo: Repo, git: Repository, tmp_path: Path, service: str
) -> None:
    made = chatgpt if service == "chatgpt" else claude
    values = [made("a"), made("b")]
    zipped(tmp_path / "a.zip", conversations=values)
    folder = tmp_path / "folder/inside"
    folder.mkdir(parents=True)
    (folder / "conversations-000.json").write_text(json.dumps(values[:1]))
    (folder / "conversations-001.json").write_text(json.dumps(values[1:], indent=2))
    (folder / "shared_conversations.json").write_text('[{"id": "x"}]')
    first = bring(git, service, tmp_path / "a.zip")
    assert [item.done for item in first] == [ImportState.IMPORTED] * 2
    assert [item.done for item in bring(git, service, folder / "conversations-000.json")] == [ImportState.KNOWN]
    again = bring(git, service, tmp_path / "folder")  # spelled with other white space: of the same conversation
    assert [item.episode for item in again] == [item.episode for item in first] and not any(i.lines for i in again)
    assert len(list((repo.path / "memory/sessions").iterdir())) == 2


@pytest.mark.parametrize(
    "given", [{"create_time": AT.timestamp()}, {"create_time": None, "update_time": AT.timestamp()}]
)
def test_a_conversation_whose_messages_have_no_times_has_its_own(
    repo: Repo, git: Repository, tmp_path: Path, given: dict[str, Any]
) -> None:
    talk = {**chatgpt(), **given}
    for each in talk["mapping"].values():
        if each["message"]:
            each["message"]["create_time"] = None
    (outcome,) = bring(git, "chatgpt", zipped(tmp_path / "a.zip", conversations=[talk]))
    assert outcome.done is ImportState.IMPORTED and outcome.session.start == AT.astimezone()
    assert "crane is blue" in repo.read(f"memory/{AT.astimezone().date().isoformat()}.md")


def test_of_claude_a_message_without_a_time_has_that_of_the_one_before(git: Repository, tmp_path: Path) -> None:
    talk = claude()
    talk["chat_messages"][1].pop("created_at")
    (session,) = list_conversations("claude-export", zipped(tmp_path / "a.zip", conversations=[talk])).sessions
    times = [turn.at for turn in session.read().transcript.turns]
    assert len(times) == 2 and times[0] == times[1] is not None


def test_a_conversation_without_any_time_is_named(tmp_path: Path) -> None:
    talk = {**chatgpt("c2"), "create_time": None}
    for each in talk["mapping"].values():
        (each["message"] or {}).pop("create_time", None)
    found = list_conversations("chatgpt", zipped(tmp_path / "a.zip", conversations=[talk, chatgpt()]))
    assert [session.name for session in found.sessions] == ["c1"]
    assert [reason for _, reason in found.left_out] == ["cannot be read: it has no time"]


def test_what_is_no_conversation_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    odd: list[Any] = [7, "text {", {}, {"id": "e", "mapping": 3}, {"id": "loop", "mapping": {"a": {"parent": "a"}}}]
    odd[4]["current_node"] = "a"
    found = list_conversations("chatgpt", zipped(tmp_path / "a.zip", conversations=[*odd, chatgpt()]))
    assert [session.name for session in found.sessions] == ["c1"]
    assert [reason for _, reason in found.left_out] == [
        "is no conversation",
        "nothing was said in it",
        "nothing was said in it",
    ]


@pytest.mark.parametrize("data", [b'[{"a": "' + b'\\"' * 200_000, b"[" * 200_000, b'{"a":' * 200_000, b"", b"\xff\xfe"])
def test_a_broken_file_is_read_in_one_pass_and_is_no_archive(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UsageError, match="holds no conversation of chatgpt"):
        list_conversations("chatgpt", zipped(tmp_path / "a.zip", conversations=data))


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    "data", [b"hello", b"PK\3\4 and no more", b"{}", b'{"a": 1}', b'{"a": 1}\n{"b": 2}\n', b"[1, 2]"]
)
def test_a_file_that_is_no_archive_is_refused_with_what_to_type(tmp_path: Path, service: str, data: bytes) -> None:
    (tmp_path / "file.json").write_bytes(data)
    with pytest.raises(UsageError, match=f"holds no conversation of {service}") as refused:
        list_conversations(service, tmp_path / "file.json")
    assert f"git mem import {service} ARCHIVE.zip" in refused.value.hint


def test_the_archive_of_an_account_without_conversations_holds_none(tmp_path: Path) -> None:
    assert list_conversations("chatgpt", zipped(tmp_path / "a.zip", conversations=[])).sessions == ()


def test_an_archive_that_is_none_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        list_conversations("chatgpt", tmp_path / "nothing.zip")
    with pytest.raises(UsageError, match=r"there is no conversations\.json"):
        list_conversations("chatgpt", zipped(tmp_path / "a.zip", user={}))
    broken = tmp_path / "broken.zip"
    broken.write_bytes((tmp_path / "a.zip").read_bytes()[:-1] + b"\1")
    zipped(tmp_path / "b.zip", conversations=[chatgpt()] * 9)
    data = bytearray((tmp_path / "b.zip").read_bytes())
    data[60:90] = b"\0" * 30
    broken.write_bytes(data)
    with pytest.raises(GitMemError, match="cannot read"):
        list_conversations("chatgpt", broken)


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.exchange.service_archives.SIZE_LIMIT", 1000)
    with pytest.raises(GitMemError, match="longer than"):
        list_conversations("chatgpt", zipped(tmp_path / "a.zip", conversations=[chatgpt()] * 9))
    monkeypatch.setattr("gitmem.exchange.service_archives.SIZE_LIMIT", 1 << 30)
    monkeypatch.setattr("gitmem.sessions.conversation_exports.MAX_CONVERSATION_BYTES", 100)
    found = list_conversations("chatgpt", zipped(tmp_path / "a.zip", conversations=[chatgpt()]))
    assert found.sessions == () and "longer than" in found.left_out[0][1]


def test_a_file_that_was_cut_short_says_which_conversation_is_left_out(tmp_path: Path) -> None:
    whole = json.dumps([{"uuid": "a", "chat_messages": []}, {"uuid": "b", "chat_messages": [{"text": "x" * 50}]}])
    (tmp_path / "conversations.json").write_text(whole[:-30])
    assert [reason for _, reason in list_conversations("claude-export", tmp_path).left_out][
        -1
    ] == "cannot be read: it is no JSON"


def test_the_archive_of_another_service_is_refused_with_the_command_that_reads_it(repo: Repo, tmp_path: Path) -> None:
    ours = {"chatgpt": zipped(tmp_path / "a b.zip", conversations=[chatgpt()]),
            "claude-export": zipped(tmp_path / "c.zip", conversations=[claude()])}  # fmt: skip
    for service, other in (("chatgpt", "claude-export"), ("claude-export", "chatgpt")):
        done = repo.mem("import", service, str(ours[other]), check=False)
        assert done.returncode == 2 and f"holds no conversation of {service}" in done.stderr and done.stdout == ""
        (hint,) = [line for line in done.stderr.splitlines() if line.startswith("hint: ")]
        typed = shlex.split(hint.partition(": git mem ")[2])
        assert repo.mem(*typed).stdout.count("would write ") == 1


def test_a_dry_run_that_says_why_a_line_is_refused_does_not_name_the_option_for_it(repo: Repo, tmp_path: Path) -> None:
    given = claude()
    given["chat_messages"][0]["text"] = (
        "We decided that the token is " + "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw."
    )
    archive = str(zipped(tmp_path / "a.zip", conversations=[given]))
    dry = repo.mem("import", "claude-export", archive, "--dry-run")
    assert "refused by the gate\n" in dry.stdout and "github-token" in dry.stderr
    assert "refused by the gate: -v says why\n" in repo.mem("import", "claude-export", archive).stdout


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 1 << 20])
def test_conversations_are_found_wherever_a_piece_of_the_file_ends(
    cut: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation_exports, "PIECE_BYTES", cut)
    rows = [{"a": 'x"{}\\'}, {"b": {"c": "\\\\"}, "d": '"'}, {}]
    data = b"  [" + b" , ".join(json.dumps(row).encode() for row in rows) + b"]"
    (tmp_path / "x").write_bytes(data)
    with (tmp_path / "x").open("rb") as file:
        places = list(conversation_exports._conversations(file))
    assert [json.loads(data[start:end]) for start, end in places] == rows


def test_a54_a_zip_of_very_many_conversations_ends_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation_exports, "MAX_CONVERSATIONS", 3)
    archive = zipped(tmp_path / "a.zip", conversations=[{}, {}, {}])
    with pytest.raises(UsageError, match="holds no conversation"):
        list_conversations("chatgpt", archive)
    with pytest.raises(GitMemError, match="more than 3 conversations"):
        list_conversations("chatgpt", zipped(tmp_path / "b.zip", conversations=[{}, {}, {}, {}]))
