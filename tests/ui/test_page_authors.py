"""What pages and commands say of authors, held against Git in random histories: facts are written, edited, wrapped,
moved, archived, lapse, are merged and reverted, by people and by agents."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

from tests.harness import Repo
from tests.provenance.random_history import facts_of, first_commits, grown, who_made
from tests.ui.conftest import Browse, Browser

ROW = re.compile(r'<li class="row.*?</li>', re.DOTALL)


def parents(repo: Repo, commit: str) -> list[str]:
    return repo.git("rev-list", "--parents", "-1", commit).split()[1:]


def ids_at(repo: Repo, commit: str, path: str) -> set[str]:
    return set(facts_of(repo, commit).get(path, {}))


def rows_of(html: str) -> list[str]:
    return [re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", row))) for row in ROW.findall(html)]


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_every_claim_about_an_author_is_what_git_says(tmp_path: Path, browse: Browse, seed: int) -> None:
    repo = Repo(tmp_path / "r")
    grown(repo, seed, 40)
    browser = browse(repo)
    first = first_commits(repo)
    here = facts_of(repo, "HEAD")
    lists_and_filters(repo, browser, first)
    for path, facts in list(here.items()):
        for ident, fact in list(facts.items())[:5]:
            found = json.loads(repo.mem("why", f"{path}:{fact.line}", "--json").stdout)
            assert found["commit"] == first[ident], fact.text
            assert (found["agent"] or found["author"].partition(" <")[0]) == who_made(repo, first[ident])
            page = browser.get(f"fact/{ident}?path={path}")
            assert f"<code>{first[ident][:10]}</code>" in re.sub("</?a[^>]*>", "", page)
            assert ("Written directly" in page) <= (not found["agent"])
    between_two_commits(repo, browser)


def lists_and_filters(repo: Repo, browser: Browser, first: dict[str, str]) -> None:
    """The filter of authors lists who wrote a fact, and gives each their own facts."""
    page = browser.get("facts")
    select = re.search(r'<select name="author">(.*?)</select>', page, re.DOTALL)
    listed = dict(re.findall(r'<option value="([^"]+)"[^>]*>[^<]*\((\d+)\)', select[1] if select else ""))
    own: dict[str, set[str]] = {}
    for ident in re.findall(r'href="[^"]*/fact/([0-9a-f]{12})', page):
        own.setdefault(who_made(repo, first[ident]), set()).add(ident)
    assert own and {unescape(name) for name in listed} == set(own)
    for name, idents in own.items():
        found = browser.client.get(f"{browser.site.keys.base}/facts", params={"author": name}).text
        assert set(re.findall(r'href="[^"]*/fact/([0-9a-f]{12})', found)) == idents


def between_two_commits(repo: Repo, browser: Browser) -> None:
    """Each change between two commits is of the commit that made it; what was archived or lapsed is nobody's."""
    commits = repo.git("rev-list", "--first-parent", "--reverse", "HEAD").split()
    base, head = commits[len(commits) // 3], commits[-1]
    within = set(repo.git("rev-list", f"{base}..{head}").split())
    found = json.loads(repo.mem("changes", f"{base}..{head}", "--json").stdout)["changes"]
    assert found
    for change in found:
        if change["commit"] is None:
            assert change["op"] == "expired" and change["line"] == change["old_line"]
            continue
        assert change["commit"] in within
        after = ids_at(repo, change["commit"], change["path"])
        before = [ids_at(repo, parent, change["path"]) for parent in parents(repo, change["commit"])]
        if change["op"] == "removed":
            gone = id_of(repo, base, change["path"], change["old_text"])
            assert gone not in after and any(gone in one for one in before)
        elif change["text"] != change["old_text"] or change["path"] != change["old_path"]:
            ident = id_of(repo, head, change["path"], change["text"])
            assert ident in after and not any(ident in one for one in before)
    made = {change["commit"][:10]: who_made(repo, change["commit"]) for change in found if change["commit"]}
    claims = 0
    for page in (f"compare?from={base}&to={head}", "today?at=HEAD", f"timeline?day={day_of(repo, head)}"):
        for row in rows_of(browser.get(page)):
            claim = re.search(r"(added|promoted|edited|taken out|moved) by (\S+) [0-9-]+ [0-9:]+ ([0-9a-f]{10})", row)
            if claim is not None:
                claims += 1
                assert made[claim[3]] == claim[2], row
            if "→ memory/archive" in row:
                assert " by " not in row.partition("→ memory/archive")[2], row
    assert claims


def day_of(repo: Repo, commit: str) -> str:
    return repo.git("log", "-1", "--format=%cs", commit).strip()


def id_of(repo: Repo, commit: str, path: str, text: str) -> str:
    return next(ident for ident, fact in facts_of(repo, commit)[path].items() if fact.text == text)


def test_what_the_first_branch_got_meanwhile_is_not_taken_out_by_the_second(repo: Repo, browse: Browse) -> None:
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- the port is 8080\n"})
    repo.git("checkout", "-q", "-b", "side")
    repo.git("config", "user.name", "Claude")
    repo.commit("side", {"MEMORY.md": "# Memory\n\n- the port is 8080\n- staging has two pods\n"})
    repo.git("checkout", "-q", "main")
    repo.git("config", "user.name", "Aiko")
    repo.commit("main", {"MEMORY.md": "# Memory\n\n- the port is 8080\n- Aiko likes water\n"})
    page = browse(repo).get("compare?from=main&to=side")
    assert "Aiko likes water" not in page and "Removed" not in page
    assert any("staging has two pods" in row and "added by Claude" in row for row in rows_of(page))
    assert "from where the two parted" in page


def test_what_was_archived_or_is_over_was_neither_learned_nor_forgotten(repo: Repo, browse: Browse) -> None:
    old = "- the trial key ends soon <!-- mem until=2026-01-10 -->\n"
    repo.commit("memory", {"MEMORY.md": f"# Memory\n\n- the port is 8080\n{old}"}, "2026-01-05T10:00:00+00:00")
    repo.git("config", "user.name", "Claude")
    files = {"MEMORY.md": f"# Memory\n\n{old}", "memory/archive/2026.md": "# Archive\n\n- the port is 8080\n"}
    repo.commit("archive", files, "2026-01-12T10:00:00+00:00")
    page = browse(repo, at="HEAD").get("today")
    assert "Learned" not in page and "Forgotten" not in page and "Archived or over" in page
    main = page[page.index("<main") :]
    assert "the port is 8080" in main and "the trial key ends soon" in main and "Claude" not in main


def test_a_fact_of_an_agent_is_not_called_written_by_hand(repo: Repo, browse: Browse) -> None:
    repo.commit("memory\n\nMemory-Agent: codex", {"MEMORY.md": "# Memory\n\n- the port is 8080\n"})
    browser = browse(repo)
    ident = re.findall(r"/fact/([0-9a-f]{12})", browser.get("facts"))[0]
    page = browser.get(f"fact/{ident}")
    assert "Written directly" not in page and "Written by an agent" in page
    told = repo.mem("why", "MEMORY.md:3").stdout
    assert "written directly" not in told and "written by an agent, codex" in told


def test_undo_knows_what_was_committed_by_hand(memory: Repo, browse: Browse) -> None:
    memory.mem("add", "the queue is full on Mondays", "--to", "memory")
    memory.commit("by hand")
    oid = memory.git("rev-parse", "HEAD").strip()
    page = browse(memory).get("undo")
    assert (
        "You committed this yourself" in page
        and "<code>git mem undo</code>" in page
        and oid[:10] in page
        and "The last write is not committed" not in page
    )
