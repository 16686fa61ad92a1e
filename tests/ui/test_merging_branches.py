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
    (compared,) = re.findall(r'href="/[^/]+/(compare\?from=[^"]+)"', page)
    assert "<ins>9090</ins>" in browser.get(html.unescape(compared))
    one = html.unescape(browser.get("branches?branch=memory/other"))
    assert "invoices are rounded down" in one and "Conflict 1 in MEMORY.md" in one
    assert "the port is <ins>7070</ins>" in one and "the port is <ins>9090</ins>" in one and "the port is 8080" in one


def test_a_conflict_shows_facts_without_their_comments_and_the_words_that_differ(forked: Repo, browse: Browse) -> None:
    page = browse(forked).get("branches?branch=memory/other")
    assert "the port is <ins>7070</ins>" in page and "the port is <ins>9090</ins>" in page
    assert "<del>8080</del><ins>9090</ins>" in page  # what it brings
    forked.commit("gone", {"MEMORY.md": MEMORY.replace(PORT_FACT.format(8080), "")})
    page = browse(forked).get("branches?branch=memory/other")
    assert "removed</span>" in page and "the port is <ins>9090</ins>" in page and "from=2026-01-01" not in page


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
    assert ("differs from MEMORY.md" in shown) == (choice == "both")
    page = form(browser, shown, "branches/merge").send(browser)
    assert "Committed <code>" in page and parents(forked) == 2
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
    assert "1 line of logs, notes and sessions" in browser.get("branches")
    shown = form(browser, browser.get("branches?branch=more"), "branches/merge").send(browser)
    assert "<code>- the queue was full</code>" in shown and not (forked.path / "memory").exists()
    assert "Committed <code>" in form(browser, shown, "branches/merge").send(browser)
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
    page = form(browser, shown, "branches/merge").send(browser, 422, shown="yes")
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
    left = browser.get("branches?branch=memory/other", 409)
    assert "one side removed" in left and "<code>git merge memory/other</code>" in left
    assert not forms(browser, browse(forked, read_only=True).get("branches"))


def test_a_merge_is_undone_in_a_commit_and_says_that_git_counts_it_all_the_same(forked: Repo, browse: Browse) -> None:
    browser, before = browse(forked), forked.read("MEMORY.md")
    asked = form(browser, browser.get("branches?branch=memory/other"), "branches/merge")
    done = form(browser, asked.send(browser, **{"choice-0": "theirs"}), "branches/merge").send(browser)
    assert re.search('href="/[^"]+/undo"', done)
    page = browser.get("undo")
    assert "counts as merged all the same" in page and "the port is 7070" in page
    form(browser, page, "undo").send(browser)
    assert forked.read("MEMORY.md") == before and parents(forked) == 1
    assert "This reverts commit" in forked.git("log", "-1", "--format=%B")
    assert not forked.git("status", "--porcelain", "-uall")
    forked.git("revert", "--no-edit", "HEAD")
    assert "invoices are rounded down" in forked.read("MEMORY.md")


def test_the_command_takes_a_merge_back_too(forked: Repo, browse: Browse) -> None:
    browser, before = browse(forked), forked.read("MEMORY.md")
    asked = form(browser, browser.get("branches?branch=memory/other"), "branches/merge")
    form(browser, asked.send(browser, **{"choice-0": "both"}), "branches/merge").send(browser)
    assert (
        "+ - the port is 9090" not in (shown := forked.mem("undo", "--dry-run").stdout)
        and "- - the port is 9090" in shown
    )
    assert "counts as merged" in forked.mem("undo", "--yes").stderr
    assert forked.read("MEMORY.md") == before and not forked.git("status", "--porcelain", "-uall")


def begin(repo: Repo) -> None:
    """A merge in a terminal that stops at its conflict."""
    repo.git("merge", "memory/other", check=False)
    assert (repo.path / ".git/MERGE_HEAD").exists() and repo.git("ls-files", "-u")


def test_a_merge_that_was_begun_in_a_terminal_is_settled_and_ended(forked: Repo, browse: Browse) -> None:
    begin(forked)
    browser = browse(forked)
    assert "was begun in a terminal" in browser.get("facts") and 'begun=yes"' in browser.get("branches")
    page = browser.get("branches?begun=yes")
    assert "the port is <ins>7070</ins>" in page and "the port is <ins>9090</ins>" in page
    assert "takes the place of" in page
    shown = form(browser, page, "branches/end").send(browser, **{"choice-0": "theirs"})
    assert (forked.path / ".git/MERGE_HEAD").exists() and "the port is 9090" in shown
    form(browser, shown, "branches/end").send(browser)
    assert re.findall(r"the port is (\d+)", forked.read("MEMORY.md")) == ["9090"]
    assert "invoices are rounded down" in forked.read("MEMORY.md")
    assert not (forked.path / ".git/MERGE_HEAD").exists() and not forked.git("status", "--porcelain", "-uall")
    assert parents(forked) == 2 and forked.git("log", "-1", "--format=%s") == "Merge branch 'memory/other'\n"
    form(browser, browser.get("undo"), "undo").send(browser)
    assert "the port is 7070" in forked.read("MEMORY.md")


def test_what_is_staged_of_a_begun_merge_stays_as_it_was_settled(forked: Repo, browse: Browse) -> None:
    forked.git("switch", "-q", "memory/other")
    forked.commit("their note", {"memory/notes/ops.md": "- theirs\n"})
    forked.git("switch", "-q", "main")
    forked.commit("our note", {"memory/notes/ops.md": "- ours\n"})
    begin(forked)
    forked.write("memory/notes/ops.md", "- settled by hand\n")
    forked.git("add", "memory/notes/ops.md")
    browser = browse(forked)
    page = browser.get("branches?begun=yes")
    assert "Conflict 1 in MEMORY.md" in page and "Conflict 2" not in page
    shown = form(browser, page, "branches/end").send(browser, **{"choice-0": "ours"})
    assert "settled by hand" in shown
    form(browser, shown, "branches/end").send(browser)
    assert forked.read("memory/notes/ops.md") == "- settled by hand\n" and "7070" in forked.read("MEMORY.md")
    assert parents(forked) == 2 and not forked.git("status", "--porcelain", "-uall")


def test_a_begun_merge_that_changed_meanwhile_is_shown_anew(forked: Repo, browse: Browse) -> None:
    begin(forked)
    browser = browse(forked)
    asked = form(browser, browser.get("branches?begun=yes"), "branches/end")
    shown = asked.send(browser, **{"choice-0": "theirs"})
    mixed = forked.read("MEMORY.md") + "- written by hand\n"
    forked.write("MEMORY.md", mixed)
    assert "moved meanwhile" in form(browser, shown, "branches/end").send(browser, 409)
    assert forked.read("MEMORY.md") == mixed and (forked.path / ".git/MERGE_HEAD").exists() and parents(forked) == 1


def test_of_a_begun_merge_what_would_be_lost_is_left_to_the_terminal(forked: Repo, browse: Browse) -> None:
    begin(forked)
    browser = browse(forked)
    forked.write("notes.txt", "x")
    forked.git("add", "notes.txt")
    left = browser.get("branches?begun=yes", 409)
    assert "staged besides the merge" in left and "<code>git merge --abort</code>" in left and "Give it up" in left
    assert "병합 그만두기" in browser.get("branches?begun=yes", 409, **{"accept-language": "ko"})
    forked.git("rm", "-q", "--cached", "notes.txt")
    forked.write("memory/notes/ops.md", "- mine\n")
    page = browser.get("branches?begun=yes")
    form(browser, form(browser, page, "branches/end").send(browser, **{"choice-0": "both"}), "branches/end").send(
        browser
    )
    assert forked.read("memory/notes/ops.md") == "- mine\n" and forked.read("notes.txt") == "x" and parents(forked) == 2
    assert "no merge was begun here" in browser.get("branches?begun=yes", 409)


def test_the_gate_stops_a_begun_merge_and_leaves_it_begun(forked: Repo, browse: Browse) -> None:
    forked.git("switch", "-q", "memory/other")
    forked.commit("leak", {"memory/2026-02-05.md": "# 2026-02-05\n\n- the key is AKIA" + "Z7QK3M2PXW5LR8TD\n"})
    forked.git("switch", "-q", "main")
    begin(forked)
    browser, before = browse(forked), forked.read("MEMORY.md")
    shown = form(browser, browser.get("branches?begun=yes"), "branches/end").send(browser, **{"choice-0": "theirs"})
    form(browser, shown, "branches/end").send(browser, 422)
    assert parents(forked) == 1 and forked.read("MEMORY.md") == before and (forked.path / ".git/MERGE_HEAD").exists()


KEY = "AKIA" + "Z7QK3M2PXW5LR8TD"


@pytest.mark.parametrize(("choice", "left"), [("drop", ""), ("mask", "- 배포: the key is [")])
def test_what_a_branch_brings_is_taken_over_without_the_line_that_the_gate_stops(
    forked: Repo, browse: Browse, choice: str, left: str
) -> None:
    forked.git("switch", "-q", "-c", "leaky", "main")
    day = f"# 2026-02-05\n\n- the queue is full\n- 배포: the key is {KEY}\n- the port is open\n"
    forked.commit("leak", {"memory/2026-02-05.md": day})
    forked.git("switch", "-q", "main")
    browser = browse(forked)
    first = browser.get("branches?branch=leaky")
    assert "What the gate finds in it" in first and "memory/2026-02-05.md:4" in first
    shown = form(browser, first, "branches/merge").send(browser)
    assert "Merge in a commit" not in shown and "A line is left that the gate stops" in shown
    refused = form(browser, first, "branches/merge").send(browser, 422, shown="yes")
    assert "nothing was merged" in refused and KEY not in first + shown + refused and parents(forked) == 1
    assert "--no-verify" not in refused and "git mem scan" not in refused
    (field,) = set(re.findall(r'name="(gate-[0-9a-f]+)"', first))
    preview = form(browser, first, "branches/merge").send(browser, **{field: choice})
    assert "the queue is full" in preview and KEY not in preview
    before = forked.git("rev-parse", "HEAD")
    page = forms(browser, preview)[-1].send(browser)
    text = forked.read("memory/2026-02-05.md")
    assert "Committed <code>" in page and parents(forked) == 1 and forked.git("rev-parse", "HEAD^") == before
    assert KEY not in text and "the queue is full" in text and "the port is open" in text and left in text
    assert KEY not in forked.git("log", "-p", "main") and not forked.git("status", "--porcelain", "-uall")


def test_a_line_that_another_commit_changed_meanwhile_is_not_taken_over(forked: Repo, browse: Browse) -> None:
    forked.git("switch", "-q", "-c", "leaky", "main")
    forked.commit("leak", {"memory/2026-02-05.md": f"# 2026-02-05\n\n- the key is {KEY}\n- more\n"})
    forked.git("switch", "-q", "main")
    browser = browse(forked)
    shown = form(browser, browser.get("branches?branch=leaky"), "branches/merge").send(browser)
    preview = form(browser, shown, "branches/merge").send(
        browser, **{re.findall(r'name="(gate-[0-9a-f]+)"', shown)[0]: "drop"}
    )
    forked.write("memory/2026-02-05.md", "# 2026-02-05\n\n- mine\n")
    forms(browser, preview)[-1].send(browser, 409)
    assert forked.read("memory/2026-02-05.md").endswith("- mine\n") and parents(forked) == 1


def test_each_of_two_findings_has_its_choices_until_none_is_left(forked: Repo, browse: Browse) -> None:
    forked.git("switch", "-q", "memory/other")
    other = "AKIA" + "Q2WN8RTJ5XVB4KMD"
    text = MEMORY.replace("8080", "9090") + f"- the key is {KEY}\n"
    forked.commit("leak", {"memory/2026-02-05.md": f"# 2026-02-05\n\n- 배포 키는 {other}\n", "MEMORY.md": text})
    forked.git("switch", "-q", "main")
    browser = browse(forked)
    first = browser.get("branches?branch=memory/other")
    fields = list(dict.fromkeys(re.findall(r'name="(gate-[0-9a-f]+)"', first)))
    assert len(fields) == 2
    settle = {"choice-0": "both"}  # it moves the line of MEMORY.md
    half = form(browser, first, "branches/merge").send(browser, **settle, **{fields[0]: "drop"})
    assert "Take over in a commit" not in half and "Merge in a commit" not in half
    assert set(re.findall(r'name="(gate-[0-9a-f]+)" value="drop"', half)) == set(fields)
    assert re.search(rf'name="{fields[0]}" value="drop" checked', half)
    whole = form(browser, half, "branches/merge").send(browser, **{fields[1]: "mask"})
    page = forms(browser, whole)[-1].send(browser)
    assert "Committed <code>" in page and KEY not in whole + page and other not in whole + page
    brought = forked.read("MEMORY.md") + forked.read("memory/2026-02-05.md")
    assert KEY not in brought and other not in brought and "the port is 9090" in brought


@pytest.fixture
def taken_over(forked: Repo, browse: Browse) -> Repo:
    """A branch with a Korean name, whose files were taken over without the line that the gate stops."""
    forked.git("switch", "-q", "-c", "기억/유출", "main")
    forked.commit("leak", {"memory/2026-02-05.md": f"# 2026-02-05\n\n- the queue is full\n- the key is {KEY}\n"})
    forked.git("switch", "-q", "main")
    browser = browse(forked)
    first = browser.get("branches?branch=기억/유출")
    shown = form(browser, first, "branches/merge").send(
        browser, **{re.findall(r'name="(gate-[0-9a-f]+)"', first)[0]: "drop"}
    )
    forms(browser, shown)[-1].send(browser)
    return forked


def test_a_branch_that_was_taken_over_waits_no_longer_until_it_moves_or_that_is_undone(
    taken_over: Repo, browse: Browse
) -> None:
    browser = browse(taken_over)
    page = browser.get("branches")
    waiting, _, over = page.partition("<main")[2].partition('id="over"')
    assert "기억/유출" not in waiting and "기억/유출" in over and "memory/other" in waiting
    assert 'Branches <span class="number">1</span>' in page
    one = browser.get("branches?branch=기억/유출")
    assert "Taken over" in one and "What the gate finds" not in one
    assert [each.address for each in forms(browser, one)] == ["branches/close"]
    head, tip = (taken_over.git("rev-parse", name).strip() for name in ("HEAD", "기억/유출"))
    fields = {"branch": "기억/유출", "head": head, "tip": tip, "shown": "yes"}
    assert "Taken over" in browser.post("branches/merge", 409, **fields)
    assert taken_over.git("rev-parse", "HEAD").strip() == head
    form(browser, browser.get("undo"), "undo").send(browser)
    assert "What the gate finds" in browser.get("branches?branch=기억/유출")
    taken_over.git("revert", "--no-edit", "HEAD")
    assert "What the gate finds" not in browser.get("branches?branch=기억/유출")
    taken_over.git("switch", "-q", "기억/유출")
    taken_over.commit("more", {"memory/2026-02-06.md": "# 2026-02-06\n\n- the disk is full\n"})
    taken_over.git("switch", "-q", "main")
    assert "the disk is full" in browser.get("branches?branch=기억/유출")


def test_a_branch_that_was_taken_over_is_closed_after_a_question_and_comes_back_by_the_command(
    taken_over: Repo, browse: Browse
) -> None:
    browser, tip = browse(taken_over), taken_over.git("rev-parse", "기억/유출").strip()
    asked = form(browser, browser.get("branches?branch=기억/유출"), "branches/close")
    shown = asked.send(browser)
    command = html.unescape(re.findall(r'<pre class="message">(.*?)</pre>', shown)[0])
    assert command == f"git branch '기억/유출' {tip}" or command == f"git branch 기억/유출 {tip}"
    assert tip in taken_over.git("for-each-ref")
    page = form(browser, shown, "branches/close").send(browser)
    assert "is deleted" in page and tip in page and "기억/유출" not in taken_over.git("branch")
    taken_over.git("branch", "기억/유출", tip)
    taken_over.git("worktree", "add", "-q", "../elsewhere", "기억/유출")
    assert "is checked out" in form(browser, asked.send(browser), "branches/close").send(browser, 409)
    assert "moved meanwhile" in browser.post("branches/close", 409, branch="memory/other", tip=tip, shown="yes")
    assert tip in taken_over.git("for-each-ref", "refs/heads") and "memory/other" in taken_over.git("branch")


@pytest.fixture
def leaky(forked: Repo) -> Repo:
    """A third branch, with a line that the gate stops and no conflict."""
    forked.git("switch", "-q", "-c", "leaky", "main")
    forked.commit("leak", {"memory/2026-02-05.md": f"# 2026-02-05\n\n- the queue is full\n- 배포: the key is {KEY}\n"})
    forked.git("switch", "-q", "main")
    return forked


def test_what_the_gate_finds_in_a_branch_is_allowed_with_a_reason_and_then_merged(leaky: Repo, browse: Browse) -> None:
    browser = browse(leaky)
    first = browser.get("branches?branch=leaky")
    asked = form(browser, first, "branches/allow")
    assert "A reason is missing" in asked.send(browser, 400, reason="  ")
    assert "has passed" in asked.send(browser, 400, reason="x", until="2020-01-01")
    shown = asked.send(browser, reason="문서에 실린 예시 키")
    assert ".gitmem-allow.toml" in shown and "문서에 실린 예시 키" in shown and KEY not in shown
    assert not re.search(r"fingerprint|salt = ", shown) and not (leaky.path / ".gitmem-allow.toml").exists()
    page = form(browser, shown, "branches/allow").send(browser)
    assert "Committed <code>" in page and "What the gate finds in it" not in page
    written = leaky.read(".gitmem-allow.toml")
    assert (
        'path = "memory/2026-02-05.md"' in written
        and 'reason = "문서에 실린 예시 키"' in written
        and KEY not in written
    )
    assert leaky.git("show", "--format=", "--name-only").split() == [".gitmem-allow.toml"]
    (said,) = re.findall(r'fingerprint = "([0-9a-f]+)"', written)
    settled = form(browser, page, "branches/merge").send(browser)
    assert said not in first + shown + page + settled
    form(browser, settled, "branches/merge").send(browser)
    assert KEY in leaky.read("memory/2026-02-05.md") and parents(leaky) == 2
    assert "The gate finds nothing" in browser.get("findings") and not leaky.git("status", "--porcelain", "-uall")


def test_an_exception_from_the_settled_page_keeps_what_was_chosen_of_conflicts(forked: Repo, browse: Browse) -> None:
    forked.git("switch", "-q", "memory/other")
    forked.commit("leak", {"memory/2026-02-05.md": f"# 2026-02-05\n\n- the key is {KEY}\n"})
    forked.git("switch", "-q", "main")
    browser = browse(forked)
    asked = form(browser, browser.get("branches?branch=memory/other"), "branches/merge")
    settled = asked.send(browser, **{"choice-0": "own", "text-0": "the port is 6060"})
    shown = form(browser, settled, "branches/allow").send(browser, reason="an example")
    page = form(browser, shown, "branches/allow").send(browser)
    assert re.search(r'value="own" checked', page) and 'value="the port is 6060"' in page
    settled = form(browser, page, "branches/merge").send(browser, **{"choice-0": "own", "text-0": "the port is 6060"})
    form(browser, settled, "branches/merge").send(browser)
    assert "the port is 6060" in forked.read("MEMORY.md") and parents(forked) == 2


def test_an_exception_is_of_the_line_that_was_shown_and_of_no_other(leaky: Repo, browse: Browse) -> None:
    browser = browse(leaky)
    asked = form(browser, browser.get("branches?branch=leaky"), "branches/allow")
    assert "not as it was shown" in asked.send(browser, 409, reason="x", line="0" * 24)
    shown = asked.send(browser, reason="an example")
    leaky.commit("meanwhile", {"notes.txt": "x"})
    assert "moved meanwhile" in form(browser, shown, "branches/allow").send(browser, 409)
    assert not (leaky.path / ".gitmem-allow.toml").exists()
    assert not [one for one in forms(browser, browse(leaky, read_only=True).get("branches?branch=leaky"))]


def test_a_branch_cannot_except_its_own_lines(leaky: Repo, browse: Browse) -> None:
    browser = browse(leaky)
    asked = form(browser, browser.get("branches?branch=leaky"), "branches/allow")
    form(browser, asked.send(browser, reason="an example"), "branches/allow").send(browser)
    text = leaky.read(".gitmem-allow.toml")
    leaky.git("reset", "-q", "--hard", "HEAD^")
    leaky.git("switch", "-q", "leaky")
    leaky.commit("own", {".gitmem-allow.toml": text})
    leaky.git("switch", "-q", "main")
    page = browser.get("branches?branch=leaky")
    assert "What the gate finds in it" in page and "not merged here" in page
