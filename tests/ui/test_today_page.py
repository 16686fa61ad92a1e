"""Today: who wrote the newest facts and where they come from, the last week, what sessions were given, health as a line;
and the orders of Facts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest

from gitmem.memory.fact import fact_id
from gitmem.sessions import receipts
from tests.harness import Repo
from tests.provenance.random_history import facts_of, first_commits, grown, who_made
from tests.ui.conftest import MEMORY, Browse


def section(page: str, name: str) -> str:
    """The section of a page whose heading has this id, "" where there is none."""
    return page.partition(f'<section aria-labelledby="{name}">')[2].partition("</section>")[0]


def words(text: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", text)).split())


def by_writer(text: str) -> dict[str, list[str]]:
    """Name of a heading -> the ids of the facts below it."""
    parts = re.split(r"<h3>", text)[1:]
    return {words(part.partition("</h3>")[0]): re.findall(r"/fact/([0-9a-f]{12})", part) for part in parts}


def test_the_newest_facts_stand_by_their_writer_with_their_source(history: Repo, browse: Browse) -> None:
    history.git("config", "user.name", "Aiko")
    history.commit("more\n\nMemory-Agent: codex", {"MEMORY.md": history.read("MEMORY.md") + "- the queue has a lid\n"})
    page = browse(history).get("today")
    groups = by_writer(section(page, "learned"))
    assert any(name.startswith("codex agent") and fact_id("the queue has a lid") in ids for name, ids in groups.items())
    assert not any("Aiko" in name for name in groups)
    assert "memory/2026-02-05.md" in section(page, "newest")  # the source of what was promoted


def test_a_source_that_says_more_is_quoted_and_one_that_is_gone_is_not(repo: Repo, browse: Browse) -> None:
    log = "# 2026-02-05\n\n## 10:00\n\n- after a long talk the port became 9090 <b>\n"
    repo.commit("log", {"memory/2026-02-05.md": log})
    blob = repo.git("rev-parse", "HEAD:memory/2026-02-05.md").strip()[:12]
    cites = f"<!-- mem src=memory/2026-02-05.md#L5@{blob} -->"
    gone = f"<!-- mem src=memory/2026-02-06.md#L5@{'ab' * 6} -->"
    repo.commit("facts", {"MEMORY.md": f"# Memory\n\n- the port is 9090 {cites}\n- the host is db1 {gone}\n"})
    page = browse(repo).get("today")
    assert "<q>after a long talk the port became 9090 &lt;b&gt;</q>" in page and page.count("<q>") == 1


def test_what_came_back_or_was_copied_was_not_learned(repo: Repo, browse: Browse) -> None:
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- the port is 8080\n- staging has two pods\n"})
    repo.commit("out", {"MEMORY.md": "# Memory\n\n- staging has two pods\n"})
    browse(repo)
    repo.git("config", "user.name", "Dana")
    repo.commit("back", {"MEMORY.md": "# Memory\n\n- the port is 8080\n- staging has two pods\n- the key is blue\n"})
    page = browse(repo).get("today")
    assert by_writer(section(page, "learned")) == {"Dana": [fact_id("the key is blue")]}
    back = page.partition("Put back or copied")[2].partition("</section>")[0]
    assert "the port is 8080" in back and "the key is blue" not in back
    assert "the port is 8080" not in section(page, "learned")


def test_timeline_says_who_wrote_what_came_back_and_that_nobody_forgot_what_was_archived(
    repo: Repo, browse: Browse
) -> None:
    repo.git("config", "user.name", "Aiko")
    repo.commit("one", {"MEMORY.md": "# Memory\n\n- the port is 8080\n- two pods\n"}, "2026-03-01T10:00:00+00:00")
    repo.commit("out", {"MEMORY.md": "# Memory\n\n- two pods\n"}, "2026-03-02T10:00:00+00:00")
    repo.git("config", "user.name", "Dana")
    files = {"MEMORY.md": "# Memory\n\n- the port is 8080\n- new\n", "memory/archive/2026.md": "# A\n\n- two pods\n"}
    repo.commit("back", files, "2026-03-03T10:00:00+00:00")
    rows = [
        words(row)
        for row in re.findall(r'<li class="row .*?</li>', browse(repo).get("timeline?day=2026-03-03"), re.DOTALL)
    ]
    told = {row.partition(" 2026-03-03")[0] for row in rows}
    assert "the port is 8080 added by Dana" in told and "new added by Dana" in told
    (back,) = [row for row in rows if "8080" in row]
    assert "first written by Aiko 2026-03-01" in back
    assert not any("first written" in row for row in rows if "8080" not in row)
    (archived,) = [row for row in rows if "two pods" in row]
    assert "two pods archived" in archived and "Dana" not in archived


def test_what_another_file_still_holds_is_not_forgotten(repo: Repo, browse: Browse) -> None:
    both = {
        "MEMORY.md": "# Memory\n\n- the port is 8080\n- two pods\n",
        "memory/archive/2026.md": "# A\n\n- the port is 8080\n",
    }
    repo.commit("memory", both)
    browse(repo)
    repo.commit("out", {"MEMORY.md": "# Memory\n\n"})
    page = browse(repo).get("today")
    assert "two pods" in page.partition("Forgotten <")[2].partition("</section>")[0]
    assert "the port" not in page.partition("Forgotten <")[2].partition("</section>")[0]


@pytest.mark.parametrize("seed", [21, 22])
def test_who_learned_what_is_what_git_says(tmp_path: Path, browse: Browse, seed: int) -> None:
    repo = Repo(tmp_path / "r")
    grown(repo, seed, 30)
    head = repo.git("rev-parse", "HEAD").strip()
    first, here = first_commits(repo), facts_of(repo, "HEAD")
    archived = {ident for path, facts in here.items() if "archive/" in path for ident in facts}
    page = browse(repo, at=head).get("today")
    claims = 0
    for name in ("learned", "newest"):
        for writer, idents in by_writer(section(page, name)).items():
            for ident in idents:
                claims += 1
                assert who_made(repo, first[ident]) == re.sub(r"( agent)?( \d+)?$", "", writer), ident
                assert name == "learned" or ident not in archived
    assert claims


def test_the_last_week_is_told_in_numbers_and_days(repo: Repo, browse: Browse) -> None:
    now = datetime.now(UTC)
    days = [(now - timedelta(days=back)).replace(hour=12, microsecond=0) for back in (9, 3, 1)]
    text = "# Memory\n\n"
    for number, day in enumerate(days):
        text += f"- fact {number} has words of its own\n"
        log = {f"memory/{day:%Y-%m-%d}.md": f"# {day:%Y-%m-%d}\n\n## 10:00\n\n- x\n"}
        repo.commit(f"day {number}", {"MEMORY.md": text, **log}, day.isoformat())
    week = section(browse(repo).get("today"), "week")
    assert week.count("<li>") == 7
    told = words(week)
    assert "facts written 2 the seven days before: 1" in told and "days with a log 2" in told and "tokens" not in told
    (strip,) = re.findall(rf'timeline\?day={days[2]:%Y-%m-%d}" aria-label="([^"]+)"', week)
    assert strip == f"{days[2]:%Y-%m-%d}: 1 fact, 1 log"


def test_sessions_are_told_by_title_with_what_they_were_given(history: Repo, browse: Browse) -> None:
    at = datetime.now(UTC)
    for number, (session, kind) in enumerate((("talk-1", "prompt"), ("talk-1", "search"), ("x" * 90, "prompt"))):
        receipts.append(
            history.path / ".git",
            receipts.Receipt(
                at + timedelta(seconds=number), session, kind, 9, {"memory": 300}, [fact_id("the port is 9090")]
            ),
        )
    browser = browse(history)
    page = browser.get("today")
    told = words(section(page, "asked"))
    assert "webhooks were chosen" in told and "1 context, 1 search 600 tokens 1 fact talk-1" in told
    assert "sessions that asked 2 3 questions tokens given 900" in words(section(page, "week"))
    assert "What agents asked" not in browser.get("today?at=HEAD")


def test_health_is_a_line_that_opens_on_a_fault(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    assert 'hx-get="' in browser.get("today") and "health?line=yes" in browser.get("today")
    line = browser.get("health?line=yes", **{"hx-request": "true"})
    assert '<details class="line" id="health">' in line and "<html" not in line and "wrong" in words(line)
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n")
    line = browser.get("health?line=yes")
    assert '<details class="line" id="health" open>' in line and re.search(r"\d things? (is|are) wrong", line)
    assert line.index("findings that block: ") < line.index("All that was looked at")
    assert "문제" in browser.get("health?line=yes", **{"accept-language": "ko"})


def order(page: str) -> list[str]:
    return re.findall(r"/fact/([0-9a-f]{12})\?", page.partition('id="results"')[2])


def test_facts_are_sorted_by_age_type_importance_and_end(memory: Repo, browse: Browse) -> None:
    soon = (datetime.now(UTC) + timedelta(days=9)).date()
    more = f"- ends soon <!-- mem type=goal until={soon} -->\n- weighs most <!-- mem type=decision importance=0.9 -->\n"
    memory.commit("more", {"MEMORY.md": MEMORY + more}, (datetime.now(UTC) + timedelta(hours=1)).isoformat())
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- not committed yet\n")
    browser = browse(memory)
    names = {
        text: fact_id(text)
        for text in (
            "ends soon",
            "weighs most",
            "not committed yet",
            "Deploy before 11:00 only",
            "The trial key ends soon",
        )
    }
    newest = order(browser.get("facts?sort=newest"))
    assert newest[0] == names["not committed yet"] and set(newest[1:3]) == {names["ends soon"], names["weighs most"]}
    assert order(browser.get("facts?sort=importance"))[0] == names["weighs most"]
    ending = order(browser.get("facts?sort=ending"))
    assert ending[0] == names["ends soon"] and ending[-1] == names["The trial key ends soon"]  # over
    kinds = [
        re.search(rf"{ident}.*?<span class=\"mark\">([^<]*)<", browser.get("facts?sort=type"), re.DOTALL)
        for ident in order(browser.get("facts?sort=type"))
    ]
    assert [kind[1] for kind in kinds if kind] == sorted(kind[1] for kind in kinds if kind)
    assert order(browser.get("facts?sort=nonsense")) == order(browser.get("facts"))


def test_an_order_stays_on_every_page_of_a_list_and_with_its_filters(repo: Repo, browse: Browse) -> None:
    facts = "".join(f"- fact {n} of many <!-- mem type=rule importance=0.{n:03} -->\n" for n in range(120))
    repo.commit("many", {"MEMORY.md": f"# Memory\n\n{facts}"})
    browser = browse(repo)
    page = browser.get("facts?sort=importance&type=rule")
    assert order(page)[0] == fact_id("fact 119 of many") and 'name="sort" value="importance"' in page
    (following,) = re.findall(r'rel="next" href="/[^/]+/([^"]+)"', page)
    assert order(browser.get(unescape(following)))[0] == fact_id("fact 69 of many")
    links = re.findall(r'href="/[^/]+/(facts[^"]*)"', page.partition('class="sort"')[2].partition("</nav>")[0])
    assert links and all("type=rule" in link for link in links)


def test_learned_and_facts_written_count_what_the_page_facts_counts(repo: Repo, browse: Browse) -> None:
    repo.commit("first", {"notes.txt": "x"})
    repo.commit(
        "memory",
        {
            "MEMORY.md": "# Memory\n\n- the port is 8080\n- 배포는 화요일에 한다\n",
            "memory/notes/release.md": "# Release\n\n1. build it\n2. sign it\n3. send it\n",
            "memory/2026-02-05.md": "# 2026-02-05\n\n## 10:00\n\n- the queue is full\n",
        },
    )
    browser = browse(repo)
    page = browser.get("today")
    told = words(page)
    assert "Learned 2" in told and "facts written 2" in told and "3 lines in notes" in told
    assert "2 facts" in words(browser.get("facts"))
