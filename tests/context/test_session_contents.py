"""What a session holds is not given again, and what says the same stands in a context once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.context.assembly import assemble
from gitmem.context.context_request import ContextRequest
from gitmem.context.layers import RecalledHit
from gitmem.context.loaded_files import loaded_files
from gitmem.context.session_contents import KnownStatements, SessionContents, compaction_mark, present_texts
from gitmem.hosts.registry import host_named
from gitmem.hosts.transcript import By, Role, Transcript, Turn
from gitmem.sessions.recalled_parts import RecalledParts
from tests.context.test_assembly import NOW, scope

LOG, EPISODE = "memory/2026-02-03.md", "memory/sessions/2026-02-03-webhooks.md"
SAID = "We decided to retry failed webhooks at most 5 times, because the gateway drops the sixth."
LINE = f"# 2026-02-03\n\n## 09:00 - session\n\n- {SAID} <!-- mem type=decision session=s1 turn=t1 -->\n"
NOTE = f'---\ntype: episode\nsession: "s1"\n---\n# Session of 2026-02-03\n\n## Summary\n\n- {SAID}\n\n## Decisions\n\n- {SAID}\n'
FACT = f"# Memory\n\n## Decisions\n\n- {SAID} <!-- mem type=decision src={LOG}#L5 -->\n"
HITS = [RecalledHit(EPISODE, 8, 12, "Decisions", "", 0.9), RecalledHit(LOG, 5, 5, "09:00 - session", "", 0.8)]


@pytest.mark.parametrize("fact", [True, False])
def test_a_fact_its_log_line_and_its_episode_are_one(fact: bool) -> None:
    files = {LOG: LINE, EPISODE: NOTE, **({"MEMORY.md": FACT} if fact else {})}
    done = assemble([scope(files, hits=HITS)], ContextRequest("how often are failed webhooks retried?"), NOW)
    assert done.text.count("at most 5 times") == 1
    assert f'from="{"MEMORY.md" if fact else LOG}' in done.text or ("MEMORY.md" if fact else LOG) in done.text


def test_of_two_log_lines_the_newer_one_stays_and_another_value_is_no_copy() -> None:
    other = "memory/2026-02-04.md"
    hits = [*HITS[1:], RecalledHit(other, 5, 5, "09:00 - session", "", 0.5)]
    again = LINE.replace("02-03", "02-04")
    done = assemble([scope({LOG: LINE, other: again}, hits=hits)], ContextRequest("webhooks"), NOW)
    assert done.text.count("at most 5 times") == 1 and other in done.text
    changed = again.replace("5 times", "3 times").replace("the sixth", "the fourth")
    done = assemble([scope({LOG: LINE, other: changed}, hits=hits)], ContextRequest("webhooks"), NOW)
    assert "5 times" in done.text and "3 times" in done.text


def test_alike_statements_about_different_things_both_stay() -> None:
    note = "memory/retention.md"
    text = (
        "# Retention\n\n## Logs\n\n- kept for 30 days, then deleted\n\n## Backups\n\n- kept for 30 days, then deleted\n"
    )
    hits = [RecalledHit(note, 5, 5, "Logs", "", 0.9), RecalledHit(note, 9, 9, "Backups", "", 0.8)]
    done = assemble([scope({note: text}, hits=hits)], ContextRequest("how long is it kept?"), NOW)
    assert done.text.count("kept for 30 days") == 2


@pytest.mark.parametrize(
    ("said", "held"),
    [
        (f"Sure. {SAID}", True),
        ("우리는 실패한 웹훅을 다시 보냅니다.", False),
        ("Do we retry failed webhooks at most 5 times, because the gateway drops the sixth?", False),
        ("We decided to retry failed webhooks at most 3 times, because the gateway drops the sixth.", False),
        ("We decided not to retry failed webhooks at most 5 times, because the gateway drops the sixth.", False),
    ],
)
def test_what_the_transcript_says_is_not_given_again(said: str, held: bool) -> None:
    turns = (Turn("t1", Role.USER, "Hello", 1), Turn("t2", Role.ASSISTANT, said, 2))
    contents = SessionContents(texts=present_texts(Transcript(turns, "s2")))
    done = assemble([scope({LOG: LINE}, hits=HITS[1:])], ContextRequest("webhooks", contents=contents), NOW)
    assert ("5 times" not in done.text) is held


def test_what_was_said_before_a_compaction_may_be_given_again() -> None:
    turns = (
        Turn("t1", Role.ASSISTANT, SAID, 1),
        Turn("t2", Role.USER, "They spoke of webhooks.", 2, by=By.SUMMARY),
        Turn("t3", Role.USER, "Go on.", 3),
    )
    assert present_texts(Transcript(turns[:1])) == (SAID,) and present_texts(Transcript(turns)) == (
        turns[1].text,
        turns[2].text,
    )
    before, after = compaction_mark(Transcript(turns[:1])), compaction_mark(Transcript(turns))
    given = RecalledParts(("k",), True, True, (), before)
    assert given.after(before).keys == ("k",) and given.after("").keys == ("k",) and given.after(after).keys == ()
    announced = RecalledParts(("k",), True, True, (), before, compacting=True)
    assert (
        announced.after(before).keys == ("k",) and announced.after("").keys == ()
    )  # no host says that it was carried out
    assert announced.after(after).compacted


def test_a_statement_is_known_by_its_sentences() -> None:
    known = KnownStatements(
        ["The client wants analytics, says their marketing. He does not care, any numbers are fine."]
    )
    assert known.says("The client wants analytics, says their marketing.")
    assert known.says("He does not care, any numbers are fine. The client wants analytics, says their marketing.")
    assert not known.says("He does care, any numbers are fine.")


def test_what_the_host_loads_and_what_that_imports_is_not_given(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "CLAUDE.md").write_text(
        f"# Project\n\nSee @MEMORY.md and `@docs/code.md`.\n\n- {SAID}\n@../outside.md\n"
    )
    (tmp_path / "MEMORY.md").write_text("# Memory\n\n@docs/한글.md\n")
    (tmp_path / "docs/한글.md").write_text("배포는 오전 11시 전에 한다.\n")
    (tmp_path / "docs/code.md").write_text("x\n")
    (tmp_path.parent / "outside.md").write_text("x\n")
    paths, texts = loaded_files(host_named("claude"), tmp_path)
    assert "MEMORY.md" in paths and "docs/한글.md" in paths and ".claude/rules/" in paths
    assert not {"docs/code.md", "../outside.md"} & set(paths) and any("11시" in text for text in texts)
    contents = SessionContents(texts=texts, loaded=paths)
    files = {"MEMORY.md": "# Memory\n\n- The pier is closed on Mondays.\n", LOG: LINE}
    assert assemble([scope(files, hits=HITS[1:])], ContextRequest("webhooks", contents=contents), NOW).text == ""
    assert "MEMORY.md" not in loaded_files(host_named("gemini"), tmp_path)[0]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("It is wrong that invoices are sent on Thursdays.", "Invoices are sent on Thursdays."),
        ("'Invoices are sent on Thursdays' is wrong.", "Invoices are sent on Thursdays."),
        ("You said the API port is 8080, which is wrong.", "The API port is 8080."),
        ("I doubt that the API port is 8080.", "The API port is 8080."),
        ("Who told you that invoices are sent on Thursdays", "Invoices are sent on Thursdays."),
        ("Forget that invoices are sent on Thursdays.", "Invoices are sent on Thursdays."),
        ("The port is not 8080.", "The API port is 8080."),
        ("송장은 목요일 오후에 보낸다 그거 틀렸어.", "송장은 목요일 오후에 보낸다."),
        ("The API port is not 8080.", "The staging port is 8081."),
    ],
)
def test_a_sentence_that_names_a_fact_as_wrong_does_not_say_it(said: str, fact: str) -> None:
    assert not KnownStatements([said]).says(fact) and KnownStatements([said]).says(said)
    assert KnownStatements([fact]).says(fact)
