"""Adding a fact on the page: a preview, one commit by the person, what memory says already, and what a refusal leaves."""

from __future__ import annotations

import html
import re

import pytest

from tests.harness import Repo
from tests.ui.conftest import Browse, Browser
from tests.ui.forms import Form, form, forms

SECRET = "AKIA" + "Z7QK3M2PXW5LR8TD"


def adding(browser: Browser, page: str = "add") -> Form:
    return form(browser, browser.get(page), "add")


def committed(browser: Browser, page: str, status: int = 200) -> str:
    """The page that comes when the change of a preview is committed."""
    (last,) = [each for each in forms(browser, page) if "shown" in each.fields]
    return last.send(browser, status)


def commits(repo: Repo) -> int:
    return int(repo.git("rev-list", "--count", "HEAD"))


def test_a_fact_is_shown_as_a_change_and_then_committed(memory: Repo, browse: Browse) -> None:
    browser, before = browse(memory), commits(memory)
    page = adding(browser).send(browser, text="  배포 창구는\n  운영팀이다 ", type="rule", until="2099-12-31")
    assert "배포 창구는 운영팀이다" in page and commits(memory) == before
    assert "운영팀" not in memory.read("MEMORY.md")
    shown = form(browser, page, "add").send(browser)
    assert "배포 창구는 운영팀이다" in shown and "Committed" in shown
    line = next(row for row in memory.read("MEMORY.md").splitlines() if "운영팀" in row)
    assert line == "- 배포 창구는 운영팀이다 <!-- mem type=rule until=2099-12-31 -->"
    assert commits(memory) == before + 1
    assert memory.git("show", "--format=%an %s", "--name-only", "HEAD").split("\n")[2:3] == ["MEMORY.md"]


def test_a_fact_is_added_from_today_and_from_facts(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    for number, page in enumerate(("today", "facts")):
        shown = adding(browser, page).send(browser, text=f"the invoice run {number} is at noon", type="fact")
        committed(browser, shown)
    assert memory.read("MEMORY.md").count("is at noon") == 2


def test_lines_of_memory_and_of_code_are_sources(memory: Repo, browse: Browse) -> None:
    code = "def limit(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n"
    memory.commit("code", {"src/limit.py": code})
    browser = browse(memory)
    for text, source in (("REST webhooks it is", "memory/2026-02-05.md:5"), ("30 tries a user", "src/limit.py:1-4")):
        shown = adding(browser).send(browser, text=text, type="fact", source=source)
        committed(browser, shown)
    blob = memory.git("rev-parse", "HEAD:memory/2026-02-05.md").strip()[:12]
    written = memory.read("MEMORY.md")
    assert f"src=memory/2026-02-05.md#L5@{blob} -->" in written and "code=src/limit.py#L1-L4" in written
    assert memory.mem("verify").returncode == 0


def test_a_source_that_does_not_say_the_fact_is_named_before_the_commit(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    shown = adding(browser).send(browser, text="The canteen closes at 15:00", source="memory/2026-02-05.md:5")
    assert "The source lines do not say this" in shown and "Commit this" in shown
    said = adding(browser).send(browser, text="REST webhooks it is", source="memory/2026-02-05.md:5")
    assert "The source lines do not say this" not in said
    none = adding(browser).send(browser, text="The canteen closes at 15:00")
    assert "The source lines do not say this" not in none


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"text": "a", "until": "2020-01-01"}, "has passed"), ({"text": "a", "until": "soon"}, "is not a date"),
        ({"text": "a", "source": "memory/2026-02-05.md:99"}, "has 5 lines, not 99 to 99"),
        ({"text": "a", "source": "../../etc/passwd:1"}, "within the repository"), ({"text": "a", "source": "Alice"}, "names no lines"),
        ({"text": "a", "type": "nonsense"}, "is no type of fact"), ({"text": "a <!-- mem pinned=true -->b"}, "comment marks"),
        ({"text": "  "}, "one line of text"), ({"text": "Deploy before 11:00 only"}, "nothing would change"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_and_what_was_typed_stays(
    memory: Repo, browse: Browse, typed: dict[str, str], words: str
) -> None:
    browser, before = browse(memory), memory.read("MEMORY.md")
    page = adding(browser).send(browser, 400, **{"type": "rule", "until": "2099-01-01"} | typed)
    assert words in html.unescape(page) and memory.read("MEMORY.md") == before
    again = form(browser, page, "add")
    assert again.fields["text"] == " ".join(typed["text"].split())
    assert again.fields["until"] == typed.get("until", "2099-01-01")
    assert again.fields["source"] == typed.get("source", "")
    assert '<option value="rule" selected>' in page or "type" in typed


def test_what_the_gate_refuses_is_not_written_and_not_shown_again(memory: Repo, browse: Browse) -> None:
    browser, before = browse(memory), memory.read("MEMORY.md")
    page = adding(browser).send(browser, 422, text=f"the key is {SECRET}", type="fact", source="memory/2026-02-05.md:5")
    assert "The gate stops this text" in page and SECRET not in page and memory.read("MEMORY.md") == before
    assert form(browser, page, "add").fields["source"] == "memory/2026-02-05.md:5"


def test_personal_data_is_masked_before_it_is_shown(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    page = adding(browser).send(browser, text="call dana.reyes@hanbit-logistics.co.kr first", type="fact")
    assert "dana.reyes@hanbit" not in page and "Masked in your text" in page
    form(browser, page, "add").send(browser)
    assert "dana.reyes" not in memory.read("MEMORY.md") and "call [email] first" in memory.read("MEMORY.md")


def test_a_hook_that_refuses_leaves_what_was_typed(memory: Repo, browse: Browse) -> None:
    memory.write(".git/hooks/pre-commit", "#!/bin/sh\nprintf 'not today\\n' >&2\nexit 1\n").chmod(0o755)
    browser, before = browse(memory), commits(memory)
    shown = adding(browser).send(browser, text="the queue is drained at night", type="goal")
    page = committed(browser, shown, 422)
    assert "A hook of this repository refused" in page and commits(memory) == before
    assert form(browser, page, "add").fields["text"] == "the queue is drained at night"
    assert "drained" not in memory.read("MEMORY.md")


def test_a_fact_that_disagrees_is_asked_about_and_both_may_hold(memory: Repo, browse: Browse) -> None:
    memory.commit("port", {"MEMORY.md": memory.read("MEMORY.md") + "- The gateway listens on port 8080\n"})
    browser = browse(memory)
    page = adding(browser).send(browser, text="The gateway listens on port 9090", type="fact")
    asked = page.partition('id="asked"')[2].partition("</section>")[0]
    assert "port 8080" in asked and "They may not both hold" in asked
    assert page.index("Both hold") < page.index("Commit this")
    answered = form(browser, page, "add").send(browser)
    assert 'id="asked"' not in answered and "beside=" in answered
    committed(browser, answered)
    assert re.search(
        r"- The gateway listens on port 9090 <!-- mem type=fact beside=[0-9a-f]{12} -->", memory.read("MEMORY.md")
    )
    assert "port 9090" not in browser.get("alike")


def test_without_an_answer_the_pair_waits(memory: Repo, browse: Browse) -> None:
    memory.commit("port", {"MEMORY.md": memory.read("MEMORY.md") + "- The gateway listens on port 8080\n"})
    browser = browse(memory)
    page = adding(browser).send(browser, text="The gateway listens on port 9090", type="fact")
    committed(browser, page)
    assert "beside=" not in memory.read("MEMORY.md") and "port 9090" in browser.get("alike")


def test_other_edits_of_the_file_are_said_before_they_are_committed(memory: Repo, browse: Browse) -> None:
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- a line of my own\n")
    browser = browse(memory)
    page = adding(browser).send(browser, text="the queue is drained at night", type="fact")
    assert "other edits that are not committed" in page


def test_a_file_that_changes_meanwhile_is_shown_anew(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    page = adding(browser).send(browser, text="the queue is drained at night", type="fact")
    memory.commit("meanwhile", {"MEMORY.md": memory.read("MEMORY.md") + "- somebody else was faster\n"})
    before = commits(memory)
    again = form(browser, page, "add").send(browser, 409)
    assert commits(memory) == before and "drained at night" in again
    committed(browser, again)
    assert commits(memory) == before + 1


def test_nothing_is_added_where_nothing_may_be_changed(memory: Repo, browse: Browse) -> None:
    browser = browse(memory, read_only=True)
    browser.get("add", 403)
    browser.post("add", 403, text="no", type="fact")
    assert 'action="' not in browser.get("today").partition("<main")[2]


def test_an_empty_memory_is_led_on_in_both_languages(repo: Repo, browse: Browse) -> None:
    repo.commit("start", {"README.md": "# x\n"})
    browser = browse(repo)
    for page in ("today", "facts"):
        text = browser.get(page)
        for words in ("git mem setup", "git mem import claude", "git mem add --type decision", "Connect an agent"):
            assert words in text, (page, words)
        assert "에이전트 연결" in browser.get(page, **{"accept-language": "ko"})
        shown = form(browser, text, "add").send(browser, text="the first fact", type="decision")
    committed(browser, shown)
    assert "- the first fact <!-- mem type=decision -->" in repo.read("MEMORY.md")
    assert "Add a fact</strong> <span" in browser.get("today")  # this step is done
    assert "Connect an agent" not in browse(repo, read_only=True).get("today")


def test_the_command_that_the_first_steps_name_works(repo: Repo, browse: Browse) -> None:
    repo.commit("start", {"README.md": "# x\n"})
    (command,) = re.findall(r"<code>git mem (add [^<]*)</code>", browse(repo).get("today"))
    assert html.unescape(command) == 'add --type decision "we deploy before 11:00" --commit'
    repo.mem("add", "--type", "decision", "we deploy before 11:00", "--commit")
    assert "we deploy before 11:00" in repo.read("MEMORY.md")


def test_undo_is_a_link_wherever_something_was_written(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    assert "/undo" not in browser.get("today")
    shown = adding(browser).send(browser, text="the queue is drained at night", type="fact")
    committed(browser, shown)
    for page in ("today", "facts", "timeline", "review", "sessions", "pictures", "compare", "notes"):
        assert "/undo" in browser.get(page), page
    form(browser, browser.get("undo"), "undo").send(browser)
    assert "drained" not in memory.read("MEMORY.md")
