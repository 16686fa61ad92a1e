"""What the pages show, and that nothing in a repository can make them show anything else."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date, timedelta
from types import SimpleNamespace

import pytest

from gitmem.memory.fact import fact_id
from gitmem.search.results import marked_words
from gitmem.ui.pages import TABS
from gitmem.ui.pages.facts import AROUND, SAME_WORDS, parts
from gitmem.ui.rendering import STATIC
from tests.harness import SOURCE, Repo
from tests.ui.conftest import Browse
from tests.ui.forms import forms


def test_facts_are_listed_with_what_is_known_of_them(memory: Repo, browse: Browse) -> None:
    text = browse(memory).get("facts")
    assert "4 facts" in text and "PoC phase 1 uses REST webhooks" in text and "배포는 오전" in text
    assert 'class="mark expired"' in text and "#deploy" in text and "from web" in text and "MEMORY.md:5" in text


@pytest.mark.parametrize(
    ("query", "count"),
    [("type=rule", 2), ("state=expired", 1), ("state=pinned", 1), ("tag=ops", 1), ("origin=web", 1), ("type=rule&origin=web", 1),
     ("trust=committed", 4), ("trust=uncommitted", 0), ("path=MEMORY.md", 4), ("path=nothing", 0), ("age=week", 0)],
)  # fmt: skip
def test_facts_are_filtered(memory: Repo, browse: Browse, query: str, count: int) -> None:
    text = browse(memory).get(f"facts?{query}")
    assert f"{count} facts" in text.replace("1 fact<", "1 facts<")


def test_a_search_gives_the_hits_of_the_command_in_its_order(memory: Repo, browse: Browse) -> None:
    import json

    hits = json.loads(memory.mem("search", "REST webhooks", "--json", "-n", "30").stdout)["hits"]
    text = browse(memory).get("facts?q=REST+webhooks")
    places = re.findall(r'class="place"[^>]*>([^<]+)<', text)
    assert places == [
        f"{hit['path']}:{hit['start_line']}" + (f"-{hit['end_line']}" if hit["end_line"] > hit["start_line"] else "")
        for hit in hits
    ]
    assert f"{hits[0]['score']:.2f}" in text and '<rect class="s0"' in text


@pytest.mark.parametrize(
    ("query", "said"),
    [("state=pinned", "Deploy before 11:00 only"), ("origin=web", "배포는 오전"), ("age=week", ""), ("type=rule&origin=web", "배포는 오전")],
)  # fmt: skip
def test_every_filter_counts_in_a_search_too(memory: Repo, browse: Browse, query: str, said: str) -> None:
    page = re.sub("</?mark>", "", browse(memory).get(f"facts?q=deploy&{query}"))
    assert page.count('class="hit"') == (1 if said else 0) and said in page


def test_a_search_marks_the_words_that_were_asked_for(memory: Repo, browse: Browse) -> None:
    page = browse(memory).get("facts?q=webhooks+%EB%B0%B0%ED%8F%AC")
    assert "<mark>webhooks</mark>" in page and "<mark>배포" in page
    odd = browse(memory).get("facts?q=%3Cscript%3E+REST")
    assert "<mark>REST</mark>" in odd and "<script>" not in odd.partition("<main")[2]


def test_a_line_of_a_log_leads_to_its_page_and_is_edited_and_forgotten_there(memory: Repo, browse: Browse) -> None:
    log = "# 2026-02-06\n\n## 10:00 - 점심\n\n- 점심은 국수였다\n- lunch was noodles\n"
    memory.commit("log", {"memory/2026-02-06.md": log})
    browser = browse(memory)
    page = browser.get("facts?q=lunch+noodles")
    ident, path = re.findall(r'<a class="text" href="[^"]*/fact/([0-9a-f]{12})\?path=([^"&]+)"', page)[0]
    assert path == "memory%2F2026-02-06.md"
    shown = browser.get(f"fact/{ident}?path={path}")
    assert '<h1 class="said">lunch was noodles</h1>' in shown and "fact/edit" in shown and "fact/forget" in shown
    every = re.findall(r"/fact/([0-9a-f]{12})", browser.get("file?path=memory/2026-02-06.md"))
    assert ident in every and len(every) == 2
    form = next(one for one in forms(browser, shown) if one.address == "fact/edit")
    preview = form.send(browser, text="lunch was soup", reason="a slip")
    done = next(one for one in forms(browser, preview) if one.address == "fact/edit").send(browser)
    assert "lunch was soup" in done and "- lunch was soup\n" in memory.read("memory/2026-02-06.md")
    assert browser.get("fact/0123456789ab?path=memory/2026-02-06.md", 404)
    assert browser.get(f"fact/{ident}?path=../secret.md", 404)


def test_adopted_notes_are_listed_and_browsed(repo: Repo, browse: Browse) -> None:
    notes = {f"notes/{n % 3}/회의 {n}.md": f"# Meeting {n}\n\nWe met.\n" for n in range(230)}
    repo.commit("notes", {**notes, "README.md": "# Notes\n"})
    browser = browse(repo)
    page = browser.get("facts")
    assert "Nothing is remembered here yet" not in page and "231 files" in page
    assert "231 files" in browser.get("notes") and "README.md" in browser.get("notes")
    inside = browser.get("notes?folder=notes/1")
    assert inside.count('<li class="row">') == 77
    found = browser.get("notes?name=회의+22")
    assert "회의 22.md" in found and "12 files" in found
    assert "We met." in browser.get("file?path=notes/1/회의 22.md")
    assert browser.get("notes?folder=../..").count('<li class="row">') == 0


def test_every_page_has_a_search_field(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    for address in (*(name for name, _ in TABS), "undo"):
        status = 409 if address == "undo" else 200
        assert browser.get(address, status).count('data-focus="/"') == 1, address


def test_every_tab_has_a_heading_in_the_documentation() -> None:
    page = (SOURCE / "docs/ui.md").read_text(encoding="utf-8")
    assert [title for _, title in TABS if f"\n## {title}\n" not in page] == []


def test_a_search_as_you_type_gets_the_content_alone(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    text = browser.get("facts?q=webhooks", **{"hx-request": "true"})
    assert 'id="results"' in text and "<html" not in text


def fact_address(text: str, words: str) -> str:
    """The address of the fact whose link holds `words`."""
    (found,) = re.findall(rf'href="/[^/]+/(fact/[^"]+)">[^<]*{re.escape(words)}', text)
    return str(found).replace("&amp;", "&")


def test_one_fact_says_where_it_comes_from(repo: Repo, browse: Browse) -> None:
    repo.commit(
        "log",
        {"memory/2026-02-05.md": "# 2026-02-05\n\n## 10:00 - api\n\n- we decided on REST webhooks: easier to debug\n"},
    )
    repo.commit("memory", {"MEMORY.md": "# Memory\n"})
    repo.mem("promote")
    browser = browse(repo)
    text = browser.get(fact_address(browser.get("facts"), "REST webhooks"))
    assert "text is in the source" in text and "promoted by rules/1" in text and "memory/2026-02-05.md:5" in text
    assert re.search(r'<li value="5" id="L5" class="cited"><code>- we decided on REST webhooks', text)


def test_a_fact_says_which_later_fact_amends_it_and_why(repo: Repo, browse: Browse) -> None:
    old = "- The request timeout of the proxy is 45 seconds. <!-- mem from=2026-03-02 -->"
    new = "- The request timeout of the proxy is now 30 seconds instead of 45 seconds. <!-- mem from=2026-04-20 -->"
    repo.commit("memory", {"MEMORY.md": f"# Memory\n\n{old}\n{new}\n"})
    browser = browse(repo)
    page = browser.get("facts")
    amended = browser.get(fact_address(page, "proxy is 45 seconds"))
    links = amended.partition('id="links"')[2].partition("</section>")[0]
    assert "Amended by" in links and "MEMORY.md:4" in links and "timeout" in links
    amending = browser.get(fact_address(page, "proxy is now 30 seconds")).partition('id="links"')[2]
    assert "Amends" in amending and "MEMORY.md:3" in amending


def test_the_story_of_an_edited_fact_tells_its_promotion_and_its_edit_once(history: Repo, browse: Browse) -> None:
    line = next(at for at, text in enumerate(history.read("MEMORY.md").splitlines(), 1) if "REST webhooks" in text)
    history.mem("edit", f"MEMORY.md:{line}", "we decided on REST webhooks: easier to test", "--reason", "said again")
    page = browse(history).get(f"fact/{fact_id('we decided on REST webhooks: easier to test')}")
    story = page[page.index('class="story"') : page.index("</ol>", page.index('class="story"'))]
    order = [story.index(words) for words in ("said in", "promoted by rules/1", "edited by", "said again", "current")]
    assert order == sorted(order) and story.count("<code>") == 2 and ">written<" not in story


def test_pages_of_the_past_show_what_was_there(memory: Repo, browse: Browse) -> None:
    memory.commit("memory: other", {"MEMORY.md": "# Memory\n\n- something else entirely\n"})
    browser = browse(memory)
    assert "webhooks" not in browser.get("facts") and "something else" in browser.get("facts")
    text = browser.get("facts?at=HEAD~1")
    assert "webhooks" in text and "something else" not in text and "You look at the past" in text
    assert "at=HEAD~1" in fact_address(text, "webhooks")
    assert "webhooks" in browser.get(fact_address(text, "webhooks"))
    assert "webhooks" in browser.get("file?path=MEMORY.md&at=HEAD~1")
    assert "webhooks" in browse(memory, at="HEAD~1").get("facts")


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("facts?at=no-such-thing", 404, "no-such-thing"), ("facts?at=--help", 404, "--help"), ("fact/0123456789ab", 404, "not in memory"),
        ("file?path=.git/config", 404, ".git/config"), ("file?path=../x", 404, "x"), ("file", 404, ""), ("nothing", 404, "no such page"),
        ("facts?page=99999&type=%00", 200, "0 facts"), ("facts?q=%22%20OR%20NEAR(", 200, ""), ("facts?at=%ff%fe", 404, ""),
        ("fact/%00", 404, "not in memory"), ("file?path=MEMORY.md&first=99999999999999", 200, "MEMORY.md"),
    ],
)  # fmt: skip
def test_bad_input_is_a_page_with_a_sentence_and_a_way_on(
    memory: Repo, browse: Browse, address: str, status: int, words: str
) -> None:
    text = browse(memory).get(address, status)
    assert words in text and "/facts" in text and "<h1" in text


def test_a_repository_without_a_commit_or_a_memory_has_all_pages(repo: Repo, browse: Browse) -> None:
    browser = browse(repo)
    for page in ("today", "facts", "facts?q=x", "waiting", "review", "findings", "alike", "branches", "timeline"):
        browser.get(page)
    assert "Nothing is remembered here yet" in browser.get("facts")


def section(page: str, name: str) -> str:
    """The section of a page whose heading has this id, "" where there is none."""
    return page.partition(f'<section aria-labelledby="{name}">')[2].partition("</section>")[0]


def test_today_tells_what_changed_since_the_last_visit(memory: Repo, browse: Browse) -> None:
    browse(memory)
    memory.commit("memory: more", {"MEMORY.md": memory.read("MEMORY.md") + "- a new fact since then\n"})
    text = browse(memory).get("today")
    learned = section(text, "learned")
    assert "a new fact since then" in learned and "REST webhooks" not in learned
    assert "a new fact" not in section(text, "newest") and "REST webhooks" in section(text, "newest")
    again = browse(memory).get("today")
    assert "Nothing has changed since" in again and section(again, "learned") == ""
    assert "a new fact" in section(again, "newest")


def test_a_read_only_visit_is_not_remembered(memory: Repo, browse: Browse) -> None:
    browse(memory, read_only=True)
    assert not (memory.path / ".git/gitmem/last-visit.json").exists()


def test_the_interface_speaks_the_language_of_the_browser(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    assert 'lang="ko"' in browser.get("facts", **{"accept-language": "ko-KR,ko;q=0.9,en;q=0.8"})
    assert "사실" in browser.get("facts", **{"accept-language": "ko"})
    assert 'lang="en"' in browser.get("facts", **{"accept-language": "de,fr;q=0.9"})


def test_the_vendored_script_is_the_one_that_was_reviewed() -> None:
    digest = hashlib.sha256((STATIC / "htmx.min.js").read_bytes()).hexdigest()
    assert digest == "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"  # htmx.org 2.0.11, npm
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE").read_text(encoding="utf-8")


def test_what_a_page_loads_is_small(memory: Repo, browse: Browse) -> None:
    sizes = sum(len((STATIC / name).read_bytes()) for name in ("style.css", "keyboard.js", "ui.js", "htmx.min.js"))
    assert sizes + len(browse(memory).get("facts").encode()) < 150_000


def test_health_says_how_memory_is_and_what_to_type(memory: Repo, browse: Browse) -> None:
    text = browse(memory).get("health")
    assert "none yet: the first search builds it" in text and "findings that block: 0" in text and "<h1" in text
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n")
    text = browse(memory).get("health", **{"hx-request": "true"})
    assert "git mem scan" in text and "<html" not in text


def test_health_says_what_was_looked_at(memory: Repo, browse: Browse) -> None:
    memory.mem("index")
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", browse(memory).get("health")))
    for words in (
        "holds 2 memory files as they are", "2 files of the work tree read; findings that block: 0, that warn: 0",
        "no fact was promoted here", "exceptions 0 in force",
        "hooks none of ours are installed, so no commit is scanned here git mem install",
        "nobody else can read or write what git mem keeps here", "All settings are valid",
        "unfinished runs No unfinished run", "no failure was logged in 7 days",
    ):  # fmt: skip
        assert words in text, (words, text)


def test_a_promotion_that_was_edited_is_a_note_on_health_and_one_whose_source_went_is_wrong(
    history: Repo, browse: Browse
) -> None:
    sources = re.compile(r'<dt>Sources</dt><dd><span class="([a-z]+)">([^<]*)<')
    state, words = sources.findall(browse(history).get("health"))[0]
    assert state == "good" and "1 promoted fact compared with its source; text is in the source: 1" in words
    line = next(n for n, text in enumerate(history.read("MEMORY.md").splitlines(), 1) if "src=" in text)
    history.mem("edit", f"MEMORY.md:{line}", "REST webhooks: easier to debug than a queue", "--reason", "measured")
    state, words = sources.findall(browse(history).get("health"))[0]
    assert state == "note" and "edited after promotion: 1" in words
    text = history.read("MEMORY.md").replace("src=memory/2026-02-05.md", "src=memory/2026-02-04.md")
    history.commit("no such source", {"MEMORY.md": text})
    state, words = sources.findall(browse(history).get("health"))[0]
    assert state == "bad" and re.search("[12] faults?$", words)


def test_what_takes_long_is_asked_for_after_the_page_is_shown(memory: Repo, browse: Browse) -> None:
    long = "# Notes\n\n" + "".join(f"- on day {number} nothing was out of order\n" for number in range(2000))
    memory.commit("notes", {"memory/notes.md": long})
    browser = browse(memory)
    text = browser.get("health")
    assert "findings that block" not in text and "up to date" not in text
    address = re.findall(r'hx-get="/[^/"]+/(health\?part=gate)"', text)
    part = browser.get(*address, **{"hx-request": "true"})
    assert "findings that block: 0" in part and 'id="health-gate"' in part and "<h1" not in part and "<h2" not in part
    assert "findings that block: 0" in browser.get("health")  # it is known now
    assert "findings that block: 0" in browse(memory).get("health?whole=yes")  # without a script, by a link


def test_pictures_of_the_gate_come_after_the_others(history: Repo, browse: Browse) -> None:
    browser = browse(history)
    text = browser.get("pictures")
    assert "takes a moment" in text and "blocking" not in text
    address = re.findall(r'hx-get="/[^/"]+/(pictures\?part=gate)"', text)
    part = browser.get(*address, **{"hx-request": "true"})
    assert part.count("<figure") == 1 and "blocking" in part and "Recall" not in part
    assert "blocking" in browser.get("pictures") and "blocking" in browse(history).get("pictures?whole=yes")


def test_facts_are_filtered_by_who_wrote_them(memory: Repo, browse: Browse) -> None:
    memory.git("config", "user.name", "Dana Reyes")
    memory.commit("memory: more", {"MEMORY.md": memory.read("MEMORY.md") + "- written by another\n"})
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- not committed yet\n")
    browser = browse(memory)
    assert ">Dana Reyes (1)<" in browser.get("facts")
    text = browser.get("facts?author=Dana+Reyes")
    assert "1 fact<" in text and "written by another" in text
    assert "4 facts" in browser.get("facts?author=Test") and "0 facts" in browser.get("facts?author=nobody")


def test_today_names_the_lines_that_were_refused_and_why(repo: Repo, browse: Browse) -> None:
    repo.commit(
        "first",
        {
            "MEMORY.md": "# Memory\n",
            "memory/2026-02-05.md": "# 2026-02-05\n\n## 10:00\n\n- we decided on REST webhooks\n",
        },
    )
    browse(repo)
    link = f"memory/2026-02-05.md#L5 -> MEMORY.md sha256:{'ab' * 32}"
    repo.commit(f"memory: refuse 1 fact\n\nMemory-Rejected: {link}\nMemory-Reason: it was a joke\n")
    text = browse(repo).get("today")
    assert "Refused" in text and "it was a joke" in text and "memory/2026-02-05.md:5" in text


def test_a_long_file_is_read_page_by_page_and_a_link_lands_on_its_line(repo: Repo, browse: Browse) -> None:
    repo.commit(
        "long", {"MEMORY.md": "# Memory\n" + "".join(f"- fact number {n} {'가' * 60}\n" for n in range(2, 3000))}
    )
    browser = browse(repo)
    seen: list[str] = []
    address = "file?path=MEMORY.md"
    while address:
        text = browser.get(address)
        assert len(text.encode()) < 84_000  # with what every page loads below 150,000
        seen += re.findall(r"fact number (\d+) ", text)
        (*_, address) = [
            "",
            *(found.replace("&amp;", "&") for found in re.findall(r'rel="next" href="/[^/]+/([^"]+)"', text)),
        ]
    assert seen == [str(n) for n in range(2, 3000)]
    text = browser.get("file?path=MEMORY.md&first=2500&last=2501")
    assert 'id="L2500" class="cited"' in text and 'id="L2501" class="cited"' in text and 'id="L2502"' in text


def test_the_longest_facts_make_no_page_that_is_too_large(repo: Repo, browse: Browse) -> None:
    alike = "".join(f"- 사실 {n} {'기억 ' * 300}\n" for n in range(30))  # every two of them are compared word by word
    others = "".join(f"- 사실 {n} {f'기억{n} ' * 300}\n" for n in range(30, 90))
    repo.commit("long", {"MEMORY.md": f"# Memory\n{alike}{others}"})
    browser = browse(repo)
    loaded = sum(len((STATIC / name).read_bytes()) for name in ("style.css", "keyboard.js", "ui.js", "htmx.min.js"))
    for page in ("facts", "today", "facts?q=%EA%B8%B0%EC%96%B5", "file?path=MEMORY.md", "alike"):
        assert loaded + len(browser.get(page).encode()) < 150_000, page


def test_the_longest_changes_make_no_page_that_is_too_large(repo: Repo, browse: Browse) -> None:
    def lines(numbers: range, port: int, word: str = "기억") -> str:
        return "".join(f"- {word} {n} {(word + ' ') * 300}포트 {port} {'저장 ' * 300}\n" for n in numbers)

    days = [f"memory/2026-02-0{day}.md" for day in (1, 2)]
    repo.commit(
        "old",
        {
            "MEMORY.md": "# Memory\n" + lines(range(100), 8080) + lines(range(100, 200), 5, "옛것"),
            days[0]: lines(range(100), 1),
        },
    )
    new = {
        "MEMORY.md": "# Memory\n" + lines(range(100), 9090) + lines(range(300, 400), 6, "새것"),
        days[1]: lines(range(99), 2),
    }
    repo.commit("new", dict(new))
    browser = browse(repo)
    loaded = sum(len((STATIC / name).read_bytes()) for name in ("style.css", "keyboard.js", "ui.js", "htmx.min.js"))
    text = browser.get("compare?from=HEAD~1&to=HEAD")
    assert loaded + len(text.encode()) < 150_000
    assert "<del>8080</del>" in text and "<ins>9090</ins>" in text and "… " in text
    shown = [html for html in text.split("<h2>")[1:] if "<li" in html]
    assert len(shown) == 3 and all(re.search(r"and \d+ more", html) for html in shown)
    assert loaded + len(browser.get("timeline?day=2026-02-02").encode()) < 150_000


def test_a_repository_that_vanished_is_a_sentence_and_a_way_on(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    browser.get("facts")
    away = memory.path.rename(memory.path.with_name("away"))
    for page in ("facts", "today", "facts?q=webhooks", "health", "fact/0123456789ab", "nothing"):
        answer = browser.client.get(f"{browser.site.keys.base}/{page}")
        assert answer.status_code in (404, 503), (page, answer.status_code)
        assert "<h1>" in answer.text and "/facts" in answer.text and "Traceback" not in answer.text
        assert "bug" not in answer.text
    away.rename(memory.path)
    assert "webhooks" in browser.get("facts")


def test_today_shows_the_facts_that_are_not_committed(memory: Repo, browse: Browse) -> None:
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- written since, and not committed\n")
    memory.write("memory/archive/2025.md", "# 2025\n\n- an archived line that is new\n")
    browser = browse(memory)
    text = browser.get("today").split("Not committed")[1]
    assert "written since, and not committed" in text and "an archived line that is new" in text
    assert "REST webhooks" not in text and "Not committed" not in browser.get("today?at=HEAD")


def test_today_lists_the_facts_that_end_soon(repo: Repo, browse: Browse) -> None:
    day = date.today()
    soon, later = day + timedelta(days=20), day + timedelta(days=40)
    rows = (
        f"- 포트 <b>8080</b> <!-- mem type=exception until={soon} -->\n- Later <!-- mem type=note until={later} -->\n"
    )
    repo.commit("one", {"MEMORY.md": f"# Memory\n\n{rows}", "memory/a.md": rows})
    page = browse(repo).get("today")
    section = page.partition("Ends within 30 days")[2].partition("</section>")[0]
    assert "포트 &lt;b&gt;8080" in section and f"until {soon}" in section and "MEMORY.md:3" in section
    assert "Later" not in section and section.count("<li") == 1


def test_today_counts_what_waits_for_a_decision(repo: Repo, browse: Browse) -> None:
    log = "# 2026-02-05\n\n## 10:00 - api\n\n- we decided on REST webhooks: easier to debug than a queue\n"
    repo.commit("first", {"memory/2026-02-05.md": log, "MEMORY.md": "# Memory\n\n- the port is 8080\n"})
    browser = browse(repo)
    assert 'hx-get="/' in browser.get("today") and re.search("1 proposal<", browser.get("waiting"))
    repo.git("switch", "-q", "-c", "memory/other")
    repo.commit("theirs", {"MEMORY.md": "# Memory\n\n- the port is 8080\n- deploy on Tuesdays\n"})
    repo.git("switch", "-q", "main")
    repo.write("MEMORY.md", repo.read("MEMORY.md") + "- the key is AKIA" + "Z7QK3M2PXW5LR8TD\n")
    text = browser.get("waiting")
    assert all(words in text for words in ("1 proposal<", "1 finding<", "1 branch<"))
    assert "Waits for a decision" in browser.get("waiting", **{"hx-request": "true"})
    assert "nothing" in browser.get("waiting?at=HEAD")


def test_no_page_shows_what_was_forgotten_now_or_then(memory: Repo, browse: Browse) -> None:
    rows = memory.read("MEMORY.md").split("\n")
    line = next(n for n, row in enumerate(rows, 1) if "PoC phase 1 uses REST webhooks" in row)
    words = rows[line - 1].removeprefix("- ").partition(" <!--")[0]
    memory.commit(
        "note", {"memory/poc.md": f"# PoC\n\nAgreed: {words.replace(' REST ', chr(10) + 'REST ')}, for now.\n"}
    )
    memory.mem("forget", f"MEMORY.md:{line}", "--everywhere", "--reason", "x")
    old = memory.git("rev-parse", "HEAD~1").strip()
    browser = browse(memory)
    for address in (
        "today", "facts", f"facts?at={old}", "facts?q=webhooks", f"facts?q=webhooks&at={old}", f"compare?from={old}&to=HEAD",
        f"compare?from={old}~1&to={old}", f"file?path=MEMORY.md&at={old}", f"file?path=memory/poc.md&at={old}",
        "timeline", f"timeline?at={old}", f"fact/{fact_id(words)}?at={old}",
    ):  # fmt: skip
        status = 404 if address.startswith("fact/") else 200
        shown = " ".join(browser.get(address, status).replace("<mark>", "").replace("</mark>", "").split())
        assert words not in shown, address


CODE = "def limit(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n"


def test_a_fact_shows_the_code_that_it_cites_then_and_now_and_health_what_is_gone(repo: Repo, browse: Browse) -> None:
    repo.commit("o", {"src/limit.py": CODE, "MEMORY.md": "# Memory\n"})
    repo.mem("add", "--type", "rule", "--commit", "--cites", "src/limit.py:1-4", "Entry is refused after 30 attempts")
    ident = json.loads(repo.mem("search", "entry refused", "--json").stdout)["hits"][0]["id"]
    assert "gone: 0, changed: 0" in browse(repo).get("health") and "when it was" not in browse(repo).get(
        f"fact/{ident}"
    )
    repo.commit("changed", {"src/limit.py": CODE.replace("30", "20")})
    text = browse(repo).get(f"fact/{ident}")
    assert "tries = 30" in text and "tries = 20" in text and "code changed" in text and "when it was cited" in text
    assert "gone: 0, changed: 1" in browse(repo).get("health")
    repo.git("rm", "-q", "src/limit.py")
    repo.commit("away")
    text = browse(repo).get(f"fact/{ident}")
    assert "tries = 30" in text and "tries = 20" not in text and "code gone" in text
    assert "src/limit.py:1-4, which is not in the code any more" in browse(repo).get("health")


def test_a_score_names_no_same_words_of_a_hit_that_has_none() -> None:
    evidence = {"lexical0": 0.4, "cover0": 0.2, "lexical2": 0.5, "vector0": 0.3}
    hit = SimpleNamespace(text="- Tea is served at four", score=0.7, explain={"scale": 1.0, "evidence": evidence})
    without = {part.name: part.value for part in parts(hit, marked_words("warehouse gateway"))}  # type: ignore[arg-type]
    assert SAME_WORDS not in without and without[AROUND] > 0 and sum(without.values()) == pytest.approx(0.7)
    shared = {part.name: part.value for part in parts(hit, marked_words("when is tea"))}  # type: ignore[arg-type]
    assert shared[SAME_WORDS] == pytest.approx(0.7 * 0.6 / 1.4) and shared[AROUND] < without[AROUND]
