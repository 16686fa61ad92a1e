"""Changes of one fact: shown before they are made, one commit each, made only on what was shown, taken back again."""

from __future__ import annotations

import html
import re
import time

import pytest

from gitmem.memory.fact import fact_id
from gitmem.provenance.preview import diff_lines
from gitmem.ui.pages.fact_changes import ACTIONS
from gitmem.ui.rendering import file_key
from tests.harness import Repo
from tests.ui.conftest import Browse, Browser
from tests.ui.forms import form, forms

REST = "PoC phase 1 uses REST webhooks, not a queue"
DEPLOY = "Deploy before 11:00 only"


def fact(browser: Browser, text: str = REST) -> str:
    return browser.get(f"fact/{fact_id(text)}")


def count(repo: Repo) -> int:
    return int(repo.git("rev-list", "--count", "HEAD"))


def change(browser: Browser, action: str, said: str = REST, **fields: str) -> str:
    """The page after a change of the fact that said `said` was looked at and committed."""
    shown = form(browser, fact(browser, said), f"fact/{action}").send(browser, **{"reason": "because", **fields})
    return form(browser, shown, f"fact/{action}").send(browser)


def test_a_change_is_shown_as_a_diff_and_commits_nothing_yet(memory: Repo, browse: Browse) -> None:
    browser, before = browse(memory), memory.read("MEMORY.md")
    shown = form(browser, fact(browser), "fact/edit").send(browser, text="PoC phase 1 uses gRPC", reason="measured")
    assert '<tr class="goes">' in shown and '<tr class="comes">' in shown and "PoC phase 1 uses gRPC" in shown
    assert "memory: correct 1 fact" in shown and "Memory-Reason: measured" in html.unescape(shown)
    assert memory.read("MEMORY.md") == before and count(memory) == 1


def test_an_edit_is_the_commit_of_the_command_by_the_person(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    page = change(browser, "edit", text="PoC phase 1 uses gRPC, not a queue", reason="measured in March")
    assert "PoC phase 1 uses gRPC" in page and "Committed" in page and 'href="/' in page
    assert memory.git("log", "-1", "--format=%s|%an|%ae").strip() == "memory: correct 1 fact|Test|test@example.com"
    assert "Memory-Rejected:" in memory.git("log", "-1", "--format=%B")
    assert not memory.git("status", "--porcelain") and count(memory) == 2
    assert "<!-- mem type=decision from=2026-02-05 -->" in memory.read("MEMORY.md")


def test_an_edited_fact_says_what_it_was_and_its_old_address_leads_to_it(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    change(browser, "edit", text="PoC phase 1 uses gRPC, not a queue", reason="measured")
    page = change(browser, "edit", said="PoC phase 1 uses gRPC, not a queue", text="1단계는 gRPC를 쓴다", reason="번역")
    story = page.partition('id="story"')[2].partition("</section>")[0]
    assert "<del>PoC phase 1 uses gRPC, not a queue</del>" in story and "<ins>1단계는 gRPC를 쓴다</ins>" in story
    assert "1단계는 gRPC를 쓴다</h1>" in fact(browser, REST)
    assert "1단계는 gRPC를 쓴다</h1>" in fact(browser, "PoC phase 1 uses gRPC, not a queue")
    change(browser, "forget", said="1단계는 gRPC를 쓴다")
    browser.get(f"fact/{fact_id(REST)}", 404)


def test_a_replaced_fact_is_linked_once(memory: Repo, browse: Browse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_NOW", "2026-03-02T10:00:00+00:00")
    browser = browse(memory)
    page = change(browser, "supersede", text="PoC phase 2 uses gRPC", reason="phase 2")
    assert page.count("It replaces</h3>") == 1 and "Amends</h3>" not in page
    old = fact(browser, REST)
    assert ("Replaced by</h3>" in old and "Amended by</h3>" not in old) or "PoC phase 2 uses gRPC</h1>" in old


def test_a_replacement_names_what_it_replaces_and_is_from_today(
    memory: Repo, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_NOW", "2026-03-02T10:00:00+00:00")
    browser = browse(memory)
    change(browser, "supersede", text="PoC phase 2 uses gRPC", reason="phase 2")
    line = f"- PoC phase 2 uses gRPC <!-- mem type=decision from=2026-03-02 supersedes={fact_id(REST)} -->\n"
    assert line in memory.read("MEMORY.md") and REST not in memory.read("MEMORY.md")
    assert memory.git("log", "-1", "--format=%s").strip() == "memory: supersede 1 fact"


def test_a_fact_is_superseded_by_one_that_names_the_beginning_of_its_id(memory: Repo, browse: Browse) -> None:
    new = f"- PoC phase 2 uses gRPC <!-- mem supersedes={fact_id(REST)[:8]} -->\n"
    memory.commit("by hand", {"MEMORY.md": memory.read("MEMORY.md") + new})
    browser = browse(memory)
    assert fact_id("PoC phase 2 uses gRPC") in fact(browser) and REST in fact(browser, "PoC phase 2 uses gRPC")
    assert "superseded" in fact(browser)


def test_forgetting_everywhere_takes_it_out_of_the_log_too(memory: Repo, browse: Browse) -> None:
    memory.commit("log", {"memory/2026-02-06.md": f"# 2026-02-06\n\n## 10:00 - api\n\n- {REST}\n"})
    browser = browse(memory)
    (asked,) = [each for each in forms(browser, fact(browser)) if each.buttons == ["fact/everywhere"]]
    shown = asked.send(browser, address="fact/everywhere", reason="she asked us to")
    assert "memory/2026-02-06.md" in shown and "MEMORY.md" in shown
    form(browser, shown, "fact/everywhere").send(browser)
    assert REST not in memory.read("MEMORY.md") + memory.read("memory/2026-02-06.md")
    assert count(memory) == 3 and not memory.git("status", "--porcelain")
    browser.get(f"fact/{fact_id(REST)}", 404)


def test_a_fact_is_pinned_ends_and_is_over(memory: Repo, browse: Browse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_NOW", "2026-03-02T10:00:00+00:00")
    browser = browse(memory)
    assert 'class="mark pinned"' in change(browser, "pin", reason="")
    assert "pinned=true" in memory.read("MEMORY.md").split(REST)[1].splitlines()[0]
    change(browser, "unpin", reason="")
    assert "pinned" not in memory.read("MEMORY.md").split(REST)[1].splitlines()[0]
    change(browser, "until", until="2026-04-01")
    assert "until=2026-04-01" in memory.read("MEMORY.md")
    assert 'class="mark expired"' in change(browser, "over", reason="phase 1 ended")
    assert "until=2026-03-01" in memory.read("MEMORY.md")
    subjects = memory.git("log", "--format=%s").splitlines()
    assert subjects[:4] == [
        "memory: 1 fact is not true any more", "memory: 1 fact holds until 2026-04-01", "memory: unpin 1 fact",
        "memory: pin 1 fact",
    ]  # fmt: skip


def test_a_change_of_what_changed_meanwhile_shows_both_and_writes_nothing(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    asked = form(browser, fact(browser), "fact/edit")
    memory.mem("edit", "MEMORY.md:5", "PoC phase 1 uses REST webhooks and a queue", "--reason", "an agent was first")
    both = asked.send(browser, 409, text="PoC phase 1 uses gRPC", reason="mine")
    words = html.unescape(both)
    assert "As it was shown" in words and REST in words and "REST webhooks and a queue" in words
    assert "PoC phase 1 uses gRPC" in words and count(memory) == 2
    form(browser, both, "fact/edit").send(browser)  # on what is there now
    assert "- PoC phase 1 uses gRPC <!--" in memory.read("MEMORY.md") and count(memory) == 3


def test_what_became_of_a_fact_is_found_among_many_that_are_like_it(repo: Repo, browse: Browse) -> None:
    """Another text at its place, with its comment: not the one of its neighbours that says nearly the same."""
    lines = [f"- {name} 배포는 {hour}시 이전에만 한다 (#{hour}) <!-- mem from=2026-01-{hour} -->"
             for name, hour in (("정산", 11), ("알림", 12), ("알림", 13))]  # fmt: skip
    repo.commit("first", {"MEMORY.md": "# Memory\n\n" + "\n".join(lines) + "\n"})
    browser = browse(repo)
    said = "알림 배포는 12시 이전에만 한다 (#12)"
    asked = form(browser, fact(browser, said), "fact/edit")
    repo.commit("theirs", {"MEMORY.md": repo.read("MEMORY.md").replace(said, "nobody owns that any more")})
    both = asked.send(browser, 409, text="알림 배포는 정오 이전에만 한다", reason="mine")
    now = both[both.index('id="now"') :]
    assert "nobody owns that any more" in now and "13시" not in now[: now.index("</section>")]
    form(browser, both, "fact/edit").send(browser)


def test_a_change_between_preview_and_commit_shows_both(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    shown = form(browser, fact(browser), "fact/forget").send(browser, reason="no longer needed")
    memory.mem("forget", "MEMORY.md:6", "--reason", "the other tab")  # another fact of the same file
    both = form(browser, shown, "fact/forget").send(browser, 409)
    assert REST in memory.read("MEMORY.md") and "As it is now" in both and count(memory) == 2


def test_a_fact_that_is_gone_meanwhile_is_said_to_be_gone(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    asked = form(browser, fact(browser), "fact/pin")
    memory.mem("forget", "MEMORY.md:5", "--reason", "the other tab")
    both = asked.send(browser, 409)
    assert "It is not in its file any more" in both and REST in html.unescape(both) and not forms(browser, both)


def test_a_file_with_edits_is_left_alone_with_a_sentence(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- open\n")
    page = form(browser, fact(browser), "fact/pin").send(browser, 409)
    assert "has edits that are not committed" in html.unescape(page) and count(memory) == 1


def test_a_hook_that_refuses_leaves_memory_as_it_was(memory: Repo, browse: Browse) -> None:
    hook = memory.write(
        ".git/hooks/pre-commit", "#!/bin/sh\nprintf '%s\\n' 'not <today>' '- one' '- two' >&2\nexit 1\n"
    )
    hook.chmod(0o755)
    browser = browse(memory)
    shown = form(browser, fact(browser), "fact/pin").send(browser)
    page = form(browser, shown, "fact/pin").send(browser, 422)
    assert (
        "not &lt;today&gt;" in page
        and "A hook of this repository refused the commit" in page
        and "Gate findings" in page
    )
    assert page.index("What the hook wrote") < page.index("not &lt;today&gt;")  # folded, not the page
    assert count(memory) == 1 and not memory.git("status", "--porcelain")


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [({"text": "   "}, 400, "a fact is one line of text"), ({"text": "x <!-- y"}, 400, "comment marks"),
     ({"reason": " "}, 400, "A reason is missing"), ({"text": REST}, 400, "that is what the line says already"),
     ({"text": DEPLOY}, 422, "says that already, on another line"),
     ({"text": "the key is AKIA" + "Z7QK3M2PXW5LR8TD"}, 422, "The gate stops this text")],
)  # fmt: skip
def test_bad_input_is_a_page_with_a_sentence(
    memory: Repo, browse: Browse, fields: dict[str, str], status: int, words: str
) -> None:
    browser = browse(memory)
    asked = form(browser, fact(browser), "fact/edit")
    page = asked.send(browser, status, **{"text": "something else", "reason": "why", **fields})
    assert words in html.unescape(page) and "AKIAZ7QK" not in page and count(memory) == 1


@pytest.mark.parametrize("language", ["en", "ko"])
def test_what_was_typed_survives_a_refusal_and_can_be_sent_again(memory: Repo, browse: Browse, language: str) -> None:
    browser = browse(memory)
    browser.client.headers["accept-language"] = language
    asked = form(browser, fact(browser), "fact/edit")
    key = "AKIA" + "Z7QK3M2PXW5LR8TD"
    page = asked.send(browser, 422, text=f"REST, 배포: the key is {key}, since May", reason="the new key")
    again = form(browser, page, "fact/edit")
    assert key not in page and "--no-verify" not in page and "git config" not in page
    assert again.fields["text"].startswith("REST, 배포: the key is ") and again.fields["text"].endswith(", since May")
    assert again.fields["reason"] == "the new key"
    assert ("The gate stops this text" in page) == (language == "en")
    shown = again.send(browser, text="REST, since May")
    form(browser, shown, "fact/edit").send(browser)
    assert "- REST, since May <!--" in memory.read("MEMORY.md")


def test_characters_that_are_not_seen_are_committed_as_they_were_shown(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    change(browser, "edit", text="Deploy \u202eonly\u202c on Monday", reason="r\u200bx")
    assert "\u202e" not in memory.read("MEMORY.md") and "\\u202eonly" in memory.read("MEMORY.md")


def test_the_last_change_is_taken_back(memory: Repo, browse: Browse) -> None:
    browser, before = browse(memory), memory.read("MEMORY.md")
    change(browser, "forget")
    shown = browser.get("undo")
    assert "memory: forget 1 fact" in shown and '<tr class="comes">' in shown
    form(browser, shown, "undo").send(browser)
    assert memory.read("MEMORY.md") == before and not memory.git("status", "--porcelain")
    assert memory.git("log", "-1", "--format=%s").strip() == 'Undo "memory: forget 1 fact"'
    assert "there is nothing to undo here" in browser.get("undo", 409)


def test_undo_of_what_was_not_shown_shows_it_first(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    change(browser, "pin", reason="")
    old = form(browser, browser.get("undo"), "undo")
    change(browser, "forget", DEPLOY)
    page = old.send(browser, 409)
    assert "memory: forget 1 fact" in page and count(memory) == 3


def test_every_change_is_of_the_present_and_not_of_a_read_only_server(memory: Repo, browse: Browse) -> None:
    memory.commit("second")
    for browser, words in ((browse(memory, read_only=True), "read-only"), (browse(memory, at="HEAD~1"), "of the past")):
        page = fact(browser)
        assert not forms(browser, page) and "fact/edit" not in page
        for name in ACTIONS:
            assert words in browser.post(f"fact/{name}", 403, id=fact_id(REST), reason="x", text="y")
        assert words in browser.post("undo", 403)
    assert count(memory) == 2


def test_a_fact_is_edited_by_every_field_it_was_shown_with(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    asked = form(browser, fact(browser), "fact/edit")
    assert re.fullmatch("[0-9a-f]{40}", asked.fields["blob"]) and asked.fields["text"] == REST
    assert (asked.fields["line"], asked.fields["file"]) == ("5", file_key("MEMORY.md"))


def test_every_action_of_a_fact_has_its_address() -> None:
    from gitmem.ui.pages import FACT_ACTIONS
    from gitmem.ui.pages.fact_changes import ACTIONS

    assert list(FACT_ACTIONS) == list(ACTIONS)


@pytest.mark.parametrize("text", ["x <!-- y", "the key is AKIA" + "Z7QK3M2PXW5LR8TD"])
def test_a_text_that_may_not_stand_is_refused_on_what_changed_meanwhile_too(
    memory: Repo, browse: Browse, text: str
) -> None:
    browser = browse(memory)
    asked = form(browser, fact(browser), "fact/edit")
    memory.mem("edit", "MEMORY.md:5", "PoC phase 1 uses REST webhooks and a queue", "--reason", "an agent was first")
    both = asked.send(browser, 409, text=text, reason="mine")
    assert "As it was shown" in both and not forms(browser, both)


MAIL = "Ask jane.porter@initech.io before a deploy"


def personal(repo: Repo) -> str:
    """A fact with personal data, as a person may have committed it; its page."""
    repo.commit("people", {"MEMORY.md": repo.read("MEMORY.md") + f"- {MAIL}\n"})
    return f"fact/{fact_id(MAIL)}"


def test_an_edit_never_writes_a_mask_over_what_it_covers(memory: Repo, browse: Browse) -> None:
    address, browser = personal(memory), browse(memory)
    page = browser.get(address)
    asked = form(browser, page, "fact/edit")
    assert asked.fields["text"] == "" and "What is masked in the text is not put in this box" in page
    assert "[email]" in page and "jane.porter" not in page
    for action in ("fact/edit", "fact/supersede"):
        words = asked.send(browser, 422, action, text="Ask [email] before any deploy", reason="all of them")
        assert "The text holds the mark of what is masked" in words
    assert MAIL in memory.read("MEMORY.md") and count(memory) == 2
    shown = asked.send(browser, text="Ask Jane before any deploy", reason="all of them")
    form(browser, shown, "fact/edit").send(browser)
    assert "- Ask Jane before any deploy\n" in memory.read("MEMORY.md")


@pytest.mark.parametrize(("keep", "written"), [(False, "[email]"), (True, "joe.miller@initech.io")])
def test_what_the_gate_masks_of_a_new_text_is_said(
    memory: Repo, browse: Browse, keep: bool, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if keep:
        settings = memory.write(
            ".git/own-settings", "[mem]\n\tonPersonal = keep\n[user]\n\tname = Test\n\temail = test@example.com\n"
        )
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    browser = browse(memory)
    asked = form(browser, fact(browser), "fact/edit")
    shown = asked.send(browser, text="Ask joe.miller@initech.io", reason="new owner")
    assert ("Masked in your text" in shown) is not keep
    form(browser, shown, "fact/edit").send(browser)
    assert f"- Ask {written} <!--" in memory.read("MEMORY.md")


def test_a_reason_with_an_address_is_the_same_at_the_commit(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    change(browser, "pin", reason="asked by joe.miller@initech.io")
    assert count(memory) == 2 and "pinned=true" in memory.read("MEMORY.md").split(REST)[1].splitlines()[0]


def test_a_fact_is_changed_in_the_file_that_was_shown_and_no_other(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    asked = form(browser, fact(browser), "fact/pin")
    page = asked.send(browser, 409, file=file_key("memory/other.md"))
    assert "nothing was written" in page and not forms(browser, page)
    assert "pinned" not in memory.read("MEMORY.md").split(REST)[1].splitlines()[0]


def test_a_file_of_alike_lines_is_compared_at_once() -> None:
    before = b"- first\n" + b"\n" * 12_000 + b"- middle\n" + b"\n" * 12_000 + b"- last\n"
    started = time.process_time()
    rows = list(diff_lines(before, before.replace(b"- first", b"- one").replace(b"- last", b"- two")))
    assert time.process_time() - started < 2
    assert {"- first", "- last"} <= {row.text for row in rows if row.sign == "-"}
    rows = list(diff_lines(before, before.replace(b"- middle\n", b"")))
    assert [(row.sign, row.number, row.text) for row in rows] == [
        ("=", 12_001, ""), ("-", 12_002, "- middle"), ("=", 12_002, ""),
    ]  # fmt: skip


@pytest.mark.parametrize("old", ["", "a", "aab", "abcab", "xaby"])
@pytest.mark.parametrize("new", ["", "a", "aba", "abc", "abxab"])
def test_a_diff_is_one_of_the_two_files_whatever_they_hold(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (1_000_000, 0):
        monkeypatch.setattr("gitmem.provenance.preview.MAX_PAIRS", most)
        monkeypatch.setattr("gitmem.provenance.preview.CONTEXT_LINES", 9)
        rows = list(diff_lines("\n".join(old).encode(), "\n".join(new).encode()))
        if old != new:
            assert [row.text for row in rows if row.sign in "-="] == list(old)
            assert [(row.number, row.text) for row in rows if row.sign in "+="] == list(enumerate(new, 1))


def test_a_form_holds_no_path_that_is_masked_and_changes_its_file_all_the_same(memory: Repo, browse: Browse) -> None:
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
    path = f"memory/notes/{key}.md"
    line = "- REST webhooks are easier to debug <!-- mem src=memory/2026-02-05.md#L5 -->\n"
    memory.commit("a note", {path: line, "memory/notes/other.md": line})
    browser = browse(memory)
    said = "REST webhooks are easier to debug"
    for mark in ("[redacted", "other"):
        row = next(row for row in browser.get("facts").split("<li") if said in row and mark in row)
        address = html.unescape(re.findall(r'href="/[^/]+/(fact/[^"]+)"', row)[0])
        page = browser.get(address)
        assert key not in page
        shown = form(browser, page, "fact/forget").send(browser, reason="doubled")
        assert key not in shown
        form(browser, shown, "fact/forget").send(browser)
    assert not memory.read(path).strip() and not memory.read("memory/notes/other.md").strip()
