# ruff: noqa: SIM905 - a list of forty quoted pieces, one a line, would not be read
"""Where sentences end. Each row is a text with `|` where one is expected to be cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.text.sentences import sentence_spans, sentences

CUT = [
    # English
    "The pump stays on.| It is checked at 9.",
    "we moved to the new store. | the old one stays read-only.",
    "Dr. Ames vs. the board, e.g. on fees.| Later more.",
    "Refunds above 500 kr. are paid.",
    "Cut tools, logs, etc. before a release.",
    "Cut tools, logs, etc.| Then release.",
    "Ferris et al. 2019 measured it; Moe et al. (2020) too.",
    "Room No. 5 is closed.| No.| We stay.",
    "It costs 3.5 GB.| Version v2.1.0.| Then 1.2.3 follows.",
    "Read docs/plan.v2.md and config.yaml. | Never edit them.",
    "See https://example.org/a.b?c=d. | Then log in.",
    "J. R. Hale signs.| Ask Ada K. Moe.",
    "Take plan B.| Plan A. failed.",
    "It got Grade F. |Same count.",
    "1. Open the valve.| Close it.",
    "// 2. Close the valve.| Done.",
    "Step 2. Close the valve.| Done.",
    "Stores: 1. Otter 2. Heron 3. Plover.| All are open.",
    "Wait ... then go.| Loading... |Done.",
    '"It leaks. We stop," she said.| He left.',
    'He wrote "It leaks."| We stopped.',
    "Use one key (two are slow. Three fail.) and wait.| Go on.",
    "Call `a. B` first.| `c` follows.",
    "**Never push.**| Ask first.",
    "Really?!| Yes!| Go.",
    "Open at 9 a.m. on Monday.| Closed at 5 p.m.| The gate stays.",
    "The U.S. Navy uses it in the U.S.| We do not.",
    "Demand is high. [source: survey]| Prices rise.",
    "Done. 🎉",
    "Don't.| Wait.",
    "first part|\n\nsecond part",
    # German, French, Spanish, Swedish
    "Es gilt z.B. für Nr. 5 bzw. ggf. mehr.| Danach nicht.",
    "Es gilt z. B. Montag.| D. h. sofort.",
    "Am 3. März und am 20.03. + 21.03. ist zu.| Der 2. Versuch gilt.",
    "M. Roy habite av. Foch.| Il part à 9 h.",
    "La Sra. Ruiz paga.| ¿Cuándo?| ¡Hoy!",
    "Vi kör t.ex. på natten.| Det går bra.",
    # Korean
    "포트를 바꿨다.| 이제 8443이다.",
    "반영했음.| npm은 그대로.| 완료.",
    "창고를 옮겼다.다음은 사무실이다.",
    "2026. 3. 5. 회의에서 정했어요.| 끝.",
    '"열었다. 닫았다."라고 적었다.',
    "메모.요약.md를 읽는다.| 끝.",
    # Japanese and Chinese
    "窓を閉める。|鍵は受付。",
    "彼は「閉めた。次へ。」と言った。|終わり。",
    "（鍵は受付。）|窓を閉める。",
    "**File → Open…** を選ぶ。|開く。",
    "**鍵は受付。**|窓を閉める。",
    "窓は**鍵つき**。|**受付**が持つ。",
    "开会了吗？|开了！|他说：“走吧。”然后离开。",
]


@pytest.mark.parametrize("row", CUT)
def test_a_sentence_ends_where_a_reader_ends_it(row: str) -> None:
    assert sentences(row.replace("|", "")) == [part.strip() for part in row.split("|")]


def test_a_word_wrapped_over_two_lines_stays_one_sentence() -> None:
    assert sentences("refunds above 500 crowns are paid\n  only after two approvals. No\nmore.") == [
        "refunds above 500 crowns are paid\n  only after two approvals.",
        "No\nmore.",
    ]


def test_a_text_without_words_is_one_piece_and_white_space_is_none() -> None:
    assert sentences("... !? --") == ["... !? --"]
    assert sentences(" \n\n \t") == []


PIECES = st.sampled_from(
    'a|B|다|요|。|！|.|!|?|…|...| |\n|\n\n|`|``|(|)|「|」|"|”|**|1|12|e.g|Dr|etc|[x]|2026|v1.2|-|→|✅|\u3000|\x1c|The|the|と|März'.split(
        "|"
    )
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=40).map("".join)))
def test_spans_are_in_order_and_leave_white_space_alone(text: str) -> None:
    end = 0
    for start, stop in sentence_spans(text):
        assert end <= start < stop and not text[end:start].strip()
        assert text[start:stop] == text[start:stop].strip()
        end = stop
    assert not text[end:].strip()
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
