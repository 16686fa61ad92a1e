"""What a turn quotes within a sentence, and a text it hands over to be worked on, are no word of its speaker."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitmem.hosts.pasted_text import without_pasted_text, without_quoted_statements
from gitmem.hosts.transcript import Role, Turn
from gitmem.sessions.selection import Selected, select

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)


def selected(text: str) -> list[Selected]:
    return select([Turn("t1", Role.USER, text, 1)], "memory/2026-02-05.md", NOW)[0]


QUOTED = (
    'She wrote "We decided that the crane is painted red."',
    'She wrote "We decided that the crane is painted red." Is she right?',
    "The minutes say “we decided to use Postgres for billing”, which is news to me.",
    "Is this right? 「결제 타임아웃을 30초로 하기로 했다.」",
    "김대리가 「결제 타임아웃을 30초로 하기로 했다」라고 했어요.",
    "山田さんは『請求書は月末に送ることにした』と言っていました。",
    "他说“我们决定把下单接口的超时设为四十五秒”。",
)
HANDED_OVER = (
    "Translate: We decided to use Postgres for billing.",
    'Translate to Korean: "We decided to use Postgres for billing."',
    "Please translate this into Korean:\nWe decided to use Postgres for billing.",
    "Fix the grammar: We decided to uses Postgres for billing.",
    "Can you proofread the following paragraph for me:\n\nWe decided to use Postgres for billing. Never deploy on Mondays.",
    "Rewrite this politely: never deploy on Mondays.",
    "번역: 우리는 결제 타임아웃을 30초로 하기로 했다.",
    "다음을 영어로 번역해 줘: 결제 타임아웃을 30초로 하기로 했다.",
    "맞춤법 고쳐줘: 배포는 화요일에만 하기로 했다.",
    "이 글 좀 요약해 줘:\n배포는 화요일에만 하기로 했다.",
    "翻訳して：請求書は月末に送ることにした。",
    "请把下面这段翻译成英文：我们决定把下单接口的超时设为四十五秒。",
)
OWN = (
    'We decided to name the crane "Big Red" from now on.',
    'Please remember: "the invoices are always sent on Thursdays".',
    'We decided that the slogan is "fresh bread on every single day".',
    "We don't deploy on Mondays, that's what 'we' decided.",
    'We decided that the board is 5" wide and 7" high from now on.',
    "결정: 배포는 화요일에만 하기로 했다.",
    "번역 방침: 고객 메일은 DeepL로 번역하기로 결정했다.",
    "We decided to translate the manual: customers asked for it.",
    "Decision: we use Postgres for billing.",
    "Summary: we decided to use Postgres for billing.",
    "翻訳方針：請求書は日本語だけで送ることにした。",
)


@pytest.mark.parametrize("text", [*QUOTED, *HANDED_OVER])
def test_nothing_of_it_is_written(text: str) -> None:
    assert selected(text) == []


@pytest.mark.parametrize("text", OWN)
def test_names_labels_and_what_a_person_asks_to_remember_are_the_persons_own(text: str) -> None:
    assert "".join(item.text for item in selected(text)) == text
    assert all(item.origin == "user" for item in selected(text))


def test_what_was_said_before_a_text_is_the_persons_and_what_follows_its_paragraph_is_doubtful() -> None:
    before, after = "We decided that invoices are in UTC.", "We decided that refunds take a week."
    items = selected(f"{before}\nTranslate: Never deploy on Mondays.\n\n{after}")
    assert [(item.text, item.origin) for item in items] == [(before, "user"), (after, "web")]


@pytest.mark.parametrize("text", ["say 'it", 'a "', "「", "x " * 2000 + '"', "' " * 3000, '" ' * 3000, "‘a’b’c’ d e f"])
def test_marks_that_close_nothing_take_nothing_away(text: str) -> None:
    assert without_quoted_statements(text).replace(" ", "") in text.replace(" ", "") or "'" in text or '"' in text
    assert len(without_quoted_statements(text)) <= len(text)


@pytest.mark.parametrize(
    "line", ["please " * 3000, "번역 " * 3000, "translate " * 3000 + "x", "翻訳" * 3000, "check the " * 3000]
)
def test_a_long_line_is_read_all_the_same(line: str) -> None:
    assert without_pasted_text(line)[0].text == line.strip()


def test_only_who_asks_to_remember_makes_a_quotation_their_own() -> None:
    assert selected('I remember that she wrote "We decided that the crane is painted red."') == []
    assert selected('She remembers that he wrote "We decided that the crane is painted red."') == []
    assert selected('기억해 줘: "결제 타임아웃은 30초로 하기로 했다."')[0].origin == "user"


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize(
    ("statement", "request_"),
    [
        ("My dog is called Bruno.", " Please remember that."),
        ("It was a nice evening at the pier.", " Remember this!"),
        ("My sister is Ruth.", "\nRemember this"),
        ("The lamp oil comes from Lund.", " Can you remember this for me, please?"),
        ("결제 타임아웃은 30초야.", " 이거 기억해 줘"),
        ("제 강아지 이름은 보리예요.", " 이것도 꼭 기억해 주세요."),
        ("부두에서 보낸 저녁이 좋았어요.", " 잊지 말아 주세요!"),
        ("ランプの油はルンドから来る。", "これを覚えておいて。"),
        ("灯油来自隆德。", "请记住这一点。"),
        ('She wrote "We decided that the crane is painted red."', " Remember this."),
        ("「결제 타임아웃은 30초로 하기로 했다.」", " 이거 기억해 줘"),
    ],
)
def test_a_request_to_remember_behind_a_statement_is_of_the_statement(
    statement: str, request_: str, answered: bool
) -> None:
    turns = [Turn("t1", Role.USER, statement + request_, 1)]
    turns += [Turn("t2", Role.ASSISTANT, "Noted.", 2)] if answered else []
    found = select(turns, "memory/2026-02-05.md", NOW)[0]
    assert [(item.text, item.origin) for item in found] == [(statement, "user")]


@pytest.mark.parametrize(
    "text",
    [
        "My dog is called Bruno, remember this please", "보리는 땅콩을 못 먹어, 이거 기억해 줘.",
        '"the invoices are always sent on Thursdays", remember that',
    ],
)  # fmt: skip
def test_a_request_in_the_same_sentence_keeps_it_whole(text: str) -> None:
    assert [(item.text, item.origin) for item in selected(text)] == [(text, "user")]


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember this?", "I remember this movie.", "이거 기억해?", "Remember this.", "이거 기억해 줘", "请记住。",
        "What colour is the crane? Remember this.", "Remember this movie?", "Keep it. Save it.",
    ],
)  # fmt: skip
def test_a_request_without_a_statement_and_a_question_are_no_line(text: str) -> None:
    assert selected(text) == []


def test_an_agent_asks_nobody_to_remember_and_a_text_of_others_stays_doubtful() -> None:
    agent = [Turn("t1", Role.ASSISTANT, "It was a nice evening at the pier. Remember this!", 1)]
    assert all(item.origin == "agent" for item in select(agent, "memory/2026-02-05.md", NOW)[0])
    handed = "Translate: hello there.\n\nIt was a nice evening at the pier. Remember this."
    assert [item.origin for item in selected(handed)] == ["web"]
