"""`git mem ui --export`: the pages of one snapshot as files that need no server, lead nowhere else and run nothing."""

from __future__ import annotations

import re
from pathlib import Path

from tests.harness import Repo
from tests.ui.test_history_pages import given
from tests.ui.test_hostile import FACTS, LOG, SCRIPT, Reader, assert_harmless


def exported(repo: Repo, folder: Path, *options: str) -> dict[str, str]:
    """The files of an export by their names."""
    done = repo.mem("ui", "--export", str(folder), *options)
    assert done.stdout.strip() == str(folder / "index.html") and "pages of" in done.stderr
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.suffix == ".html"}


def assert_whole(pages: dict[str, str], folder: Path) -> None:
    """Every link of every page leads to a file that is there, and to a place in it."""
    for name, text in pages.items():
        for tag, attributes in Reader(text).tags:
            assert tag not in ("script", "form", "iframe", "base"), (name, tag)
            for key in ("href", "src", "action"):
                value = attributes.get(key, "")
                if not value or value.startswith("https://evil.example/"):
                    continue
                assert not value.startswith(("/", "http", "javascript", "data")), (name, value)
                file = value.partition("#")[0]
                assert not file or (folder / file).is_file(), (name, value)
                assert value != "#", (name, "leads nowhere")


def test_every_link_leads_to_a_file_that_is_there(history: Repo, tmp_path: Path) -> None:
    pages = exported(history, tmp_path / "out")
    assert_whole(pages, tmp_path / "out")
    assert {"index.html", "facts.html", "timeline.html", "timeline-2026-02-05.html", "pictures.html"} <= set(pages)
    facts = [name for name in pages if name.startswith("fact-")]
    assert len(facts) == 2 and "the port is 9090" in pages["facts.html"]
    (sourced,) = [pages[name] for name in facts if "webhooks" in pages[name]]
    quoted = re.search(r'href="(file-memory-2026-02-05\.md-\w+\.html)#L9"', sourced)
    assert quoted and 'id="L9"' in pages[quoted[1]] and "text is in the source" in sourced
    assert "script-src 'none'" in sourced and "HEAD" in sourced


def test_an_export_is_of_one_commit_and_of_nothing_else(history: Repo, tmp_path: Path) -> None:
    given(history, "talk-1", {"memory": 300}, "the port is 9090")
    history.write("MEMORY.md", history.read("MEMORY.md") + "- not committed\n")
    text = "".join(exported(history, tmp_path / "now").values())
    assert "not committed" not in text and "talk-1" not in re.sub(r"session: .*?<", "", text).replace("talk-1</h3>", "")
    text = "".join(exported(history, tmp_path / "then", "--at", "2026-02-10").values())
    assert "the port is 8080" in text and "9090" not in text and "2026-02-10" in text


def test_an_export_of_the_same_commit_is_the_same(history: Repo, tmp_path: Path) -> None:
    assert exported(history, tmp_path / "one") == exported(history, tmp_path / "two")


def test_a_folder_with_something_in_it_is_refused(history: Repo, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("mine")
    done = history.mem("ui", "--export", str(tmp_path / "mine"), check=False)
    assert done.returncode == 2 and "is not empty" in done.stderr and len(list((tmp_path / "mine").iterdir())) == 1
    assert history.mem("ui", "--export", str(tmp_path / "mine/file"), check=False).returncode == 3


def test_a_repository_without_a_commit_says_so(repo: Repo, tmp_path: Path) -> None:
    done = repo.mem("ui", "--export", str(tmp_path / "out"), check=False)
    assert done.returncode == 2 and "there is no commit yet" in done.stderr and "git commit" in done.stderr


def test_a_poisoned_memory_is_text_in_its_export(repo: Repo, tmp_path: Path) -> None:
    name = 'memory/notes <img src=x onerror=alert(1)>"&amp;.md'
    repo.git("config", "user.name", '"><script>alert(4)</script>')
    repo.commit(f"log {SCRIPT}", {"memory/2026-02-05.md": LOG, "memory/a.md": FACTS, "memory/A.md": FACTS})
    repo.commit(f"memory: {SCRIPT}", {"MEMORY.md": FACTS, name: f"---\nsrc: x\n---\n{FACTS}", f"memory/{'n' * 200}.md": FACTS})  # fmt: skip
    pages = exported(repo, tmp_path / "out")
    assert len({file.casefold() for file in pages}) == len(pages)
    for text in pages.values():
        assert_harmless(re.sub(r'(href|src)="(?!https?:|#)', r'\1="/base/', text), "/base")
    assert_whole(pages, tmp_path / "out")


def test_an_export_is_in_the_language_of_the_locale(history: Repo, tmp_path: Path) -> None:
    history.mem("ui", "--export", str(tmp_path / "ko"), env={"LC_ALL": "", "LANG": "ko_KR.UTF-8"})
    assert 'lang="ko"' in (tmp_path / "ko/facts.html").read_text(encoding="utf-8")


def test_long_lists_go_on_in_further_files(repo: Repo, tmp_path: Path) -> None:
    repo.commit("many", {"MEMORY.md": "# Memory\n\n" + "".join(f"- fact number {n} is here\n" for n in range(120))})
    pages = exported(repo, tmp_path / "out")
    assert 'href="facts-2.html"' in pages["facts.html"] and "fact number 119" in "".join(
        pages[name] for name in pages if name.startswith("facts-")
    )
    assert 'href="facts.html"' in pages["facts-2.html"]
