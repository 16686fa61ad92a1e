"""The one thing that an agent proposed is a decision where its person says yes to it, in four languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitmem.hosts.transcript import Role, Turn
from gitmem.sessions.selection import Selected, select

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
POSTGRES = "I suggest Postgres for the billing service."


def kept(*talk: str) -> list[Selected]:
    roles = {"u": Role.USER, "a": Role.ASSISTANT}
    turns = [Turn(f"t{n}", roles[text[0]], text[3:], n) for n, text in enumerate(("u: What do we do?", *talk), 1)]
    return select(turns, "memory/2026-02-05.md", NOW)[0]


SURE = (
    (POSTGRES, "yes, do that"),
    (POSTGRES, "Yes please"),
    (POSTGRES, "ok, go ahead!"),
    ("I'd recommend that invoices are kept in UTC.", "Sounds good, let's do that."),
    ("We should run the invoice export only at night.", "do it"),
    ("배포를 새벽 2시에 하는 것을 제안합니다.", "응 그렇게 해"),
    ("결제 서비스에는 Postgres를 쓰는 게 좋겠습니다.", "네, 그렇게 해 주세요."),
    ("請求書は毎月末に送るのがいいと思います。", "はい、それでお願いします。"),
    ("我建议把下单接口的超时设为四十五秒。", "好的，就这么办吧。"),
)


@pytest.mark.parametrize(("proposal", "answer"), SURE)
def test_it_is_the_agents_words_and_settled_in_the_persons_turn(proposal: str, answer: str) -> None:
    (item,) = kept(f"a: {proposal}", f"u: {answer}")
    assert (item.text, item.origin) == (proposal, "agent") and item.type in ("decision", "rule")
    (more,) = kept(f"a: {proposal}", f"u: {answer}", "a: Done.", "u: thanks")
    assert more.text == proposal


def test_a_question_whether_to_begin_leaves_it_one_proposal() -> None:
    (item,) = kept(f"a: {POSTGRES} Shall I go ahead?", "u: yes, do that")
    assert item.text == POSTGRES
    (item,) = kept("a: 결제 서비스에는 Postgres를 쓰는 것을 추천합니다. 그렇게 할까요?", "u: 네 그렇게 해주세요")
    assert item.text == "결제 서비스에는 Postgres를 쓰는 것을 추천합니다."


@pytest.mark.parametrize(
    "talk",
    [
        (f"a: {POSTGRES} I also suggest Redis for the cache.", "u: yes, do that"),
        (f"a: {POSTGRES} We could keep MySQL.", "u: yes, do that"),
        ("a: I suggest Postgres or MySQL for the billing service.", "u: yes, do that"),
        ("a: I suggest running the tests again.", "u: yes, do that"),
        ("a: I suggest checking the logs of the billing service.", "u: go ahead"),
        ("a: 테스트를 다시 돌려 보는 것을 제안합니다.", "u: 응 그렇게 해"),
        ("a: 我建议先检查一下日志。", "u: 好的，就这么办吧。"),
        (f"a: {POSTGRES}", "u: hmm, maybe later"),
        (f"a: {POSTGRES}", "u: no"),
        (f"a: {POSTGRES}", "u: yes, but not for invoices"),
        (f"a: {POSTGRES}", "u: what would that cost?"),
        (f"a: {POSTGRES}", "u: ok"),
        (f"a: {POSTGRES}", "u: thanks"),
        (f"a: {POSTGRES}", "u: wait", "a: Of course.", "u: yes, do that"),
        (f"a: {POSTGRES}",),
    ],
)
def test_where_it_is_not_sure_nothing_is_written(talk: tuple[str, ...]) -> None:
    assert kept(*talk) == []


@pytest.mark.parametrize("answer", ["yes, do that", "do it", "go ahead"])
def test_it_is_kept_where_the_proposal_was_read_before(answer: str) -> None:
    asked = Turn("t1", Role.USER, "What do we do?", 1)
    proposed, answered = Turn("t2", Role.ASSISTANT, POSTGRES, 2), Turn("t3", Role.USER, answer, 3)
    (item,) = select([answered], "memory/2026-02-05.md", NOW, None, [asked, proposed])[0]
    assert item.text == POSTGRES


def test_what_the_person_adds_stays_the_persons() -> None:
    own = "Never use Redis in this project, we decided that last year."
    items = kept(f"a: {POSTGRES}", f"u: yes, do that. {own}")
    assert [(item.text, item.origin) for item in items] == [(POSTGRES, "agent"), (own, "user")]


@pytest.mark.parametrize(
    "text", ["yes " * 4000 + "x", "please " * 4000, "네 " * 4000 + "가", "so then " * 3000, "i would " * 3000]
)
def test_a_long_turn_is_read_all_the_same(text: str) -> None:
    assert all(item.origin != "agent" for item in kept(f"a: {POSTGRES}", f"u: {text}"))
