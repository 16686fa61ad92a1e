"""Open memory branches in the review queue: what they bring, and merging one, its conflicts settled fact by fact."""

from __future__ import annotations

import html
import re

import pytest

from tests.harness import Repo
from tests.ui.conftest import Browse
from tests.ui.forms import form, forms

PORT_FACT = "- the port is {} <!-- mem type=fact from=2026-01-01 -->\n"
MEMORY = "# Memory\n\n## Facts\n\n" + PORT_FACT.format(8080) + "- deploy on Tuesdays\n"


@pytest.fixture
def forked(repo: Repo) -> Repo:
    """Two branches that both changed one fact; the other one added one too."""
    repo.commit("first", {"MEMORY.md": MEMORY})
    repo.git("switch", "-q", "-c", "memory/other")
    repo.commit("theirs", {"MEMORY.md": MEMORY.replace("8080", "9090") + "- invoices are rounded down\n"})
    repo.git("switch", "-q", "main")
    repo.commit("ours", {"MEMORY.md": MEMORY.replace("8080", "7070")})
    return repo


def parents(repo: Repo) -> int:
    return len(repo.git("log", "-1", "--format=%P").split())


def test_a_branch_with_memory_is_listed_with_what_it_brings(forked: Repo, browse: Browse) -> None:
    forked.git("branch", "merged", "HEAD~1")
    browser = browse(forked)
    page = browser.get("branches")
    assert "memory/other" in page and ">merged<" not in page
    (compared,) = re.findall(r'href="/[^/]+/(compare[^"]+)"', page)
    assert "<ins>9090</ins>" in browser.get(html.unescape(compared))
    one = html.unescape(browser.get("branches?branch=memory/other"))
    assert "invoices are rounded down" in one and "Conflict 1 in MEMORY.md" in one
    assert "the port is 7070" in one and "the port is 9090" in one and "the port is 8080" in one


@pytest.mark.parametrize(
    ("choice", "ports"), [("ours", ["7070"]), ("theirs", ["9090"]), ("both", ["7070", "9090"]), ("own", ["6060"])]
)
def test_a_conflict_is_settled_shown_and_merged_in_one_commit(
    forked: Repo, browse: Browse, choice: str, ports: list[str]
) -> None:
    browser = browse(forked)
    asked = form(browser, browser.get("branches?branch=memory/other"), "branches/merge")
    fields = {"choice-0": choice, "text-0": "the port is 6060" if choice == "own" else ""}
    shown = asked.send(browser, **fields)
    assert parents(forked) == 1 and "comes" in shown
    page = form(browser, shown, "branches/merge").send(browser)
    assert "Merged in the commit" in page and parents(forked) == 2
    assert re.findall(r"the port is (\d+)", forked.read("MEMORY.md")) == ports
    assert "invoices are rounded down" in forked.read("MEMORY.md") and not forked.git("status", "--porcelain", "-uall")
    assert "Merge branch 'memory/other'" in forked.git("log", "-1", "--format=%s")
    assert forked.git("worktree", "list").count("\n") == 1


def test_a_conflict_that_is_not_settled_or_a_secret_as_its_text_merges_nothing(forked: Repo, browse: Browse) -> None:
    browser = browse(forked)
    asked = form(browser, browser.get("branches?branch=memory/other"), "branches/merge")
    assert "conflict 1 is not settled" in asked.send(browser, 400)
    key = "AKIA" + "Z7QK3M2PXW5LR8TD"
    assert key not in asked.send(browser, 422, **{"choice-0": "own", "text-0": f"the key is {key}"})
    assert parents(forked) == 1 and not forked.git("status", "--porcelain", "-uall")


def test_what_a_branch_brings_besides_memory_is_named(forked: Repo, browse: Browse) -> None:
    forked.git("switch", "-q", "memory/other")
    forked.commit("code", {"src/main.py": "print()", ".gitmem.toml": "# settings"})
    forked.git("switch", "-q", "main")
    browser = browse(forked)
    page = browser.get("branches?branch=memory/other")
    assert "<code>src/main.py</code>" in page and "<code>.gitmem.toml</code>" in page
    assert not forms(browser, page) and "git merge memory/other" in page
    head, tip = (forked.git("rev-parse", name).strip() for name in ("HEAD", "memory/other"))
    fields = {"branch": "memory/other", "head": head, "tip": tip, "choice-0": "theirs", "shown": "yes"}
    assert "changes more than memory" in browser.post("branches/merge", 409, **fields)
    assert parents(forked) == 1 and not (forked.path / "src").exists()


def test_a_branch_without_a_conflict_is_shown_before_it_is_merged(forked: Repo, browse: Browse) -> None:
    forked.git("switch", "-q", "-c", "more", "main")
    forked.commit("log", {"memory/2026-02-05.md": "# 2026-02-05\n\n- the queue was full\n"})
    forked.git("switch", "-q", "main")
    browser = browse(forked)
    shown = form(browser, browser.get("branches?branch=more"), "branches/merge").send(browser)
    assert "<code>- the queue was full</code>" in shown and not (forked.path / "memory").exists()
    assert "Merged in the commit" in form(browser, shown, "branches/merge").send(browser)
    assert "the queue was full" in forked.read("memory/2026-02-05.md") and parents(forked) == 2


def test_a_branch_that_moved_meanwhile_is_shown_anew(forked: Repo, browse: Browse) -> None:
    browser = browse(forked)
    asked = form(browser, browser.get("branches?branch=memory/other"), "branches/merge")
    shown = asked.send(browser, **{"choice-0": "theirs"})
    forked.commit("meanwhile", {"notes.txt": "x"})
    page = form(browser, shown, "branches/merge").send(browser, 409)
    assert "moved meanwhile" in page and re.search(r'value="theirs" checked', page) and parents(forked) == 1
    again = form(browser, page, "branches/merge").send(browser, **{"choice-0": "theirs"})
    form(browser, again, "branches/merge").send(browser)
    assert parents(forked) == 2 and "9090" in forked.read("MEMORY.md")


def test_the_gate_and_local_edits_stop_a_merge_and_leave_everything(forked: Repo, browse: Browse) -> None:
    forked.git("switch", "-q", "-c", "leaky", "main")
    forked.commit("leak", {"memory/2026-02-05.md": "# 2026-02-05\n\n- the key is AKIA" + "Z7QK3M2PXW5LR8TD\n"})
    forked.git("switch", "-q", "main")
    browser = browse(forked)
    shown = form(browser, browser.get("branches?branch=leaky"), "branches/merge").send(browser)
    page = form(browser, shown, "branches/merge").send(browser, 422)
    assert "AKIAZ7QK" not in shown + page and parents(forked) == 1
    assert not forked.git("status", "--porcelain", "-uall")
    forked.write("MEMORY.md", forked.read("MEMORY.md") + "- open\n")
    asked = form(browser, browser.get("branches?branch=memory/other"), "branches/merge")
    shown = asked.send(browser, **{"choice-0": "theirs"})
    form(browser, shown, "branches/merge").send(browser, 422)
    assert parents(forked) == 1 and forked.read("MEMORY.md").endswith("- open\n")


def test_what_cannot_be_merged_here_is_a_sentence(forked: Repo, browse: Browse) -> None:
    browser = browse(forked)
    assert "there is no branch" in browser.get("branches?branch=nothing", 400)
    assert "there is no branch" in browser.get("branches?branch=--help", 400)
    forked.git("switch", "-q", "memory/other")
    forked.git("rm", "-q", "MEMORY.md")
    forked.git("commit", "-q", "--no-verify", "-m", "gone")
    forked.git("switch", "-q", "main")
    assert "one side removed" in browser.get("branches?branch=memory/other", 409)
    assert not forms(browser, browse(forked, read_only=True).get("branches"))
