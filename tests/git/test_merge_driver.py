"""The merge driver as Git runs it: there are always marks or both sides' facts, and `doctor` starts it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.git.merge_driver import DRIVER
from tests.harness import Repo

BASE = "# Memory\n\n- the team meets on Monday\n"


@pytest.fixture
def memory(repo: Repo) -> Repo:
    """A repository in which branch `side` and main each added a fact."""
    repo.commit("begin", {"MEMORY.md": BASE, ".gitattributes": "MEMORY.md merge=gitmem\n"})
    repo.mem("install")
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("theirs", {"MEMORY.md": BASE + "- the invoices go to Lisbon\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", {"MEMORY.md": BASE + "- the printer is on floor two\n"})
    return repo


def without_python(repo: Repo, other: str = "/gone/python3") -> None:
    """The driver with another Python, and no git-mem on the PATH."""
    driver = repo.git("config", DRIVER).strip()
    repo.git("config", DRIVER, driver.replace(driver.split("'")[1], other))


def merged(repo: Repo, path: str | None = None) -> tuple[int, str]:
    env = {"PATH": path} if path is not None else {}
    done = repo.run("git", "-c", "core.hooksPath=/dev/null", "merge", "-q", "side", "-m", "m", check=False, env=env)
    return done.returncode, repo.read("MEMORY.md")


def bare_path(tmp_path: Path) -> str:
    """A PATH with the programs of the system and no git-mem."""
    return os.pathsep.join(p for p in ("/usr/bin", "/bin") if not (Path(p) / "git-mem").exists())


def test_facts_of_both_sides_are_merged(memory: Repo) -> None:
    code, text = merged(memory)
    assert code == 0 and "Lisbon" in text and "floor two" in text and "<<<" not in text


@pytest.mark.parametrize("other", ["/gone/python3", "/bin/false"])
def test_a_driver_that_cannot_start_leaves_the_marks_of_a_text_merge(memory: Repo, tmp_path: Path, other: str) -> None:
    without_python(memory, other)
    code, text = merged(memory, bare_path(tmp_path))
    assert code == 1 and "Lisbon" in text and "floor two" in text and "<<<<<<< ours" in text


def test_doctor_starts_the_driver(memory: Repo) -> None:
    assert "ok     merge driver" in memory.mem("doctor", check=False).stdout
    without_python(memory)
    assert "wrong  merge driver: its Python is gone" in memory.mem("doctor", check=False).stdout
    memory.git("config", DRIVER, "touch run-by-doctor; true")
    assert "wrong  merge driver: it is of another version" in memory.mem("doctor", check=False).stdout
    assert not (memory.path / "run-by-doctor").exists()


def test_install_takes_out_what_an_earlier_version_set(memory: Repo) -> None:
    memory.git("config", "merge.gitmem.recursive", "text")
    memory.mem("install")
    assert memory.git("config", "--get", "merge.gitmem.recursive", check=False) == ""


def test_a_criss_cross_of_additions_has_no_conflict_and_one_of_changes_has_one_with_plain_text(repo: Repo) -> None:
    repo.commit("begin", {"MEMORY.md": BASE, ".gitattributes": "MEMORY.md merge=gitmem\n"})
    repo.mem("install")
    hooks = ("-c", "core.hooksPath=/dev/null")
    repo.git("checkout", "-q", "-b", "side")
    first = repo.commit("b1", {"MEMORY.md": BASE.replace("Monday", "Friday") + "- b1 of side\n"})
    repo.git("checkout", "-q", "main")
    second = repo.commit("a1", {"MEMORY.md": BASE.replace("Monday", "Tuesday") + "- a1 of main\n"})
    for branch, other, day in (("main", first, "Tuesday"), ("side", second, "Friday")):
        repo.git("checkout", "-q", branch)
        assert repo.run("git", *hooks, "merge", "-q", other, check=False).returncode == 1
        repo.commit("settled", {"MEMORY.md": f"{BASE.replace('Monday', day)}- a1 of main\n- b1 of side\n"})
    repo.git("checkout", "-q", "main")
    done = repo.run("git", *hooks, "merge", "-q", "side", check=False)
    text = repo.read("MEMORY.md")
    assert done.returncode == 1 and text.count("<<<<<<<") == 1 and "Temporary merge branch" not in text
    assert "Monday" in text and text.count("- a1 of main\n") == 1


def test_a_merge_that_leaves_out_an_added_fact_is_refused_until_it_says_why(memory: Repo) -> None:
    ours = memory.read("MEMORY.md")
    memory.run("git", "merge", "-q", "--no-commit", "side", check=False)
    memory.write("MEMORY.md", ours)
    memory.git("add", "-A")
    done = memory.run("git", "commit", "-qm", "merged", check=False)
    assert done.returncode == 1 and "merge-lost-fact" in done.stderr and "Memory-Rewrite" in done.stderr
    memory.git("commit", "-qm", "merged", "--trailer", "Memory-Rewrite: the invoices moved")


def test_a_merge_that_rewords_what_a_side_added_is_not_refused(memory: Repo) -> None:
    memory.run("git", "merge", "-q", "--no-commit", "side", check=False)
    memory.write("MEMORY.md", memory.read("MEMORY.md").replace("go to Lisbon", "go to the office in Lisbon"))
    memory.git("add", "-A")
    memory.git("commit", "-qm", "merged")


def test_of_two_confirmations_the_one_whose_lines_stand_in_the_merged_code_is_kept(repo: Repo) -> None:
    code = "def limit(attempt):\n    if attempt > 30:\n        raise Refused(attempt)\n    return attempt\n"
    repo.commit("o", {"src/limit.py": code, "MEMORY.md": "# Memory\n", ".gitattributes": "MEMORY.md merge=gitmem\n"})
    repo.mem("install")
    repo.mem("add", "--type", "rule", "--commit", "--cites", "src/limit.py:1-4", "Entry is refused after many attempts")
    line = next(n for n, text in enumerate(repo.read("MEMORY.md").split("\n"), 1) if "refused" in text)
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("changed", {"src/limit.py": code.replace("30", "20")})
    repo.mem("confirm", f"MEMORY.md:{line}", "--cites", "src/limit.py:1-4")
    theirs = repo.read("MEMORY.md")
    repo.git("checkout", "-q", "main")
    repo.mem("confirm", f"MEMORY.md:{line}", "--cites", "src/limit.py:1-3")
    assert repo.read("MEMORY.md") != theirs
    done, text = merged(repo)
    assert done == 0 and text == theirs and "20" in repo.read("src/limit.py")


OLD = "MEMORY.md -text merge=gitmem\nmemory/**/*.md -text\nmemory/*.md merge=gitmem\n"  # written by an earlier version
ARCHIVE = "memory/archive/2026.md"


def archived(*facts: str) -> str:
    return "# Archive 2026\n\n## Decisions\n\n" + "".join(f"- {fact}\n" for fact in facts)


def two_archives(repo: Repo, base: dict[str, str], theirs: str, ours: str) -> None:
    """Branch `side` and main each write the archive."""
    repo.commit("begin", {"MEMORY.md": BASE, **base})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("theirs", {ARCHIVE: theirs})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", {ARCHIVE: ours})


@pytest.mark.parametrize("before", [{}, {ARCHIVE: archived("the port was 80")}])
def test_branches_that_each_archive_a_fact_merge_after_init_and_install(repo: Repo, before: dict[str, str]) -> None:
    repo.mem("init")
    repo.mem("install")
    old = ["the port was 80"] * len(before)
    two_archives(repo, before, archived("the TTL was 60", *old), archived("the limit was 10", *old))
    code, _ = merged(repo)
    assert code == 0 and repo.read(ARCHIVE) == archived("the limit was 10", "the TTL was 60", *old)
    assert not (repo.path / ".git/info/attributes").exists()


def test_the_archive_of_a_repository_that_an_earlier_version_set_up_merges_after_install(repo: Repo) -> None:
    two_archives(repo, {".gitattributes": OLD}, archived("the TTL was 60"), archived("the limit was 10"))
    repo.mem("install")
    repo.git("checkout", "-q", "-b", "again")
    code, _ = merged(repo)
    assert code == 0 and repo.read(ARCHIVE) == archived("the limit was 10", "the TTL was 60")
    assert "merge driver" not in repo.mem("install").stdout
    repo.mem("uninstall")
    assert not (repo.path / ".git/info/attributes").exists()


def test_doctor_says_that_the_archive_merges_as_text(repo: Repo) -> None:
    repo.commit("begin", {"MEMORY.md": BASE, ".gitattributes": OLD})
    repo.mem("install")
    assert "ok     merge driver" in repo.mem("doctor", check=False).stdout
    (repo.path / ".git/info/attributes").unlink()
    assert "memory/archive is merged as text" in repo.mem("doctor", check=False).stdout
    repo.mem("init")
    assert repo.read(".gitattributes") == OLD + "memory/**/*.md -text merge=gitmem\n"
    assert "ok     merge driver" in repo.mem("doctor", check=False).stdout


def test_another_driver_that_a_person_named_below_memory_stays(repo: Repo) -> None:
    repo.commit("begin", {"MEMORY.md": BASE, ".gitattributes": OLD + "/memory/archive/*.md -text merge=union\n"})
    repo.mem("install")
    assert repo.git("check-attr", "merge", ARCHIVE).endswith("merge: union\n")
    assert "ok     merge driver" in repo.mem("doctor", check=False).stdout


def test_a_fact_that_both_sides_replaced_names_both_successors_in_the_archive(repo: Repo) -> None:
    repo.mem("init")
    repo.mem("install")
    fact = "the TTL was 60 <!-- mem type=decision superseded-by={} -->"
    two_archives(repo, {}, archived(fact.format("aaaaaaaaaaaa")), archived(fact.format("bbbbbbbbbbbb")))
    code, _ = merged(repo)
    assert code == 0
    assert repo.read(ARCHIVE) == archived(
        "the TTL was 60 <!-- mem type=decision superseded-by=bbbbbbbbbbbb superseded-by=aaaaaaaaaaaa -->"
    )
