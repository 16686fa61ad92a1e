"""A fact that a promotion replaced is no edited fact; one that anything else took to the archive still is."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from gitmem.git.opening import open_repository
from gitmem.memory.fact import fact_id, text_hash
from gitmem.provenance.grounding import Support
from gitmem.provenance.verify import CheckedFact, verify
from tests.harness import Repo

NOW = {"GITMEM_NOW": "2026-03-02T10:00:00+00:00"}
BOT = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "github-actions[bot]"), ("EMAIL", "bot@example.com"))
}
ANN = "Test <test@example.com>"
ARCHIVE = "memory/archive/2026.md"
FIRST, SECOND = "memory/2026-02-05.md", "memory/2026-02-28.md"
OLD, NEW = "The API listens on port 8080", "The API listens on port 9090 instead of 8080"
OTHER = "Deploys need two approvals"
Files = dict[str, str]


@pytest.fixture
def promoted(repo: Repo) -> Repo:
    """Two promoted facts, the branch `base`, and a log line that changes one of them."""
    repo.commit("one", {FIRST: f"# 2026-02-05\n\n- Decision: {OLD}\n- Decision: {OTHER}\n"})
    repo.mem("promote", env=NOW)
    assert OLD in repo.read("MEMORY.md") and OTHER in repo.read("MEMORY.md")
    repo.git("branch", "base")
    repo.commit("two", {SECOND: f"# 2026-02-28\n\n- Decision: {NEW}\n"})
    return repo


def promote(repo: Repo, env: dict[str, str] | None = None) -> str:
    """Promote the log line; the oid of the commit."""
    repo.mem("promote", env={**NOW, **(env or {})})
    assert NEW in repo.read("MEMORY.md") and f"superseded-by={fact_id(NEW)}" in repo.read(ARCHIVE)
    return repo.git("rev-parse", "HEAD").strip()


def archived(repo: Repo, base: str = "base") -> list[CheckedFact]:
    """The facts of the archive that the policy judges in `base`..HEAD ("": in the whole history)."""
    opened = open_repository(repo.path, os.environ)
    try:
        return [row for row in verify(opened, base, policy=True).facts if row.path == ARCHIVE]
    finally:
        opened.close()


def edits(repo: Repo) -> list[tuple[str, bool]]:
    """(who edited it, whether the policy refuses that) of each archived fact that is called edited."""
    found = [(row.attribution.edit, bool(row.flaws)) for row in archived(repo)]
    return [(edit.by.partition(" <")[0], refused) for edit, refused in found if edit]


def why_old(repo: Repo) -> str:
    line = next(n for n, text in enumerate(repo.read(ARCHIVE).split("\n"), 1) if OLD in text)
    return repo.mem("why", f"{ARCHIVE}:{line}").stdout


def rewritten(repo: Repo, change: Callable[[Files], None], message: str = "", env: dict[str, str] | None = None) -> str:
    """Commit what a promotion writes, after `change` has changed its files, in place of that promotion; the oid.
    `message`: "" for the message of the promotion."""
    promote(repo)
    files = {path: repo.read(path) for path in ("MEMORY.md", ARCHIVE)}
    message = message or repo.git("log", "-1", "--format=%B")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    change(files)
    for path, text in files.items():
        repo.write(path, text)
    repo.git("add", "-A")
    repo.git("commit", "-q", "--no-verify", "-m", message, env=env or {})
    return repo.git("rev-parse", "HEAD").strip()


# -- the promotion itself ------------------------------------------------------------------------------------


@pytest.mark.parametrize("env", [{}, BOT], ids=["person", "bot"])
def test_what_a_promotion_replaced_is_no_point_of_its_review(promoted: Repo, env: dict[str, str]) -> None:
    promote(promoted, env)
    done = promoted.mem("review", "base..HEAD", "--format", "comment", check=False)
    assert done.returncode == 0 and done.stdout.startswith("### ✅ 1 fact added from a log")
    assert "1 old one archived" in done.stdout and "edited" not in done.stdout
    assert "edited" not in promoted.mem("review", "base..HEAD", "--format", "github").stdout
    assert edits(promoted) == []
    for base in ("base", ""):
        rows = archived(promoted, base)
        assert all(row.attribution.support is Support.IN_SOURCE and not row.flaws for row in rows)
        assert len(rows) == (not base)


@pytest.mark.parametrize("command", [("merge", "-q", "--no-ff", "--no-edit"), ("cherry-pick",)], ids=["merge", "pick"])
def test_a_promotion_that_was_merged_or_picked_is_still_the_one_that_archived(
    promoted: Repo, command: tuple[str, ...]
) -> None:
    promoted.git("checkout", "-q", "-b", "topic")
    promote(promoted)
    promoted.git("checkout", "-q", "main")
    promoted.commit("other", {"notes.md": "other\n"})
    promoted.git(*command, "topic")
    assert edits(promoted) == []


def test_a_squash_that_keeps_the_trailers_is_a_promotion(promoted: Repo) -> None:
    promoted.git("checkout", "-q", "-b", "topic")
    promote(promoted)
    promoted.git("checkout", "-q", "main")
    promoted.git("merge", "-q", "--squash", "topic")
    promoted.git("commit", "-q", "--no-verify", "--no-edit")
    assert edits(promoted) == []


def test_two_promotions_in_a_row_archive_two_facts(promoted: Repo) -> None:
    promote(promoted)
    log = "# 2026-03-01\n\n- Decision: The API listens on port 9443 instead of 9090\n"
    promoted.commit("three", {"memory/2026-03-01.md": log})
    promoted.mem("promote", env={**NOW, **BOT})
    assert NEW in promoted.read(ARCHIVE) and OLD in promoted.read(ARCHIVE)
    assert edits(promoted) == []


def test_a_person_may_correct_or_forget_the_new_fact(promoted: Repo) -> None:
    promote(promoted, BOT)
    line = next(n for n, text in enumerate(promoted.read("MEMORY.md").split("\n"), 1) if NEW in text)
    promoted.mem("edit", f"MEMORY.md:{line}", "The API listens on port 9091", "--reason", "a slip", env=NOW)
    assert edits(promoted) == []
    promoted.mem("forget", f"MEMORY.md:{line}", "--reason", "not yet", env=NOW)
    assert edits(promoted) == []


# -- everything else -----------------------------------------------------------------------------------------


def in_archive(old: str, new: str) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        assert old in files[ARCHIVE]
        files[ARCHIVE] = files[ARCHIVE].replace(old, new)

    return change


def in_memory(old: str, new: str) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        assert old in files["MEMORY.md"]
        files["MEMORY.md"] = files["MEMORY.md"].replace(old, new)

    return change


def kept_in_memory(files: Files) -> None:
    line = next(line for line in files[ARCHIVE].split("\n") if OLD in line)
    files["MEMORY.md"] += line.replace(f" superseded-by={fact_id(NEW)}", "") + "\n"


def archive_other(files: Files) -> None:
    """Take the fact that has nothing to do with it out as well, as if the new fact replaced it too."""
    lines = files["MEMORY.md"].split("\n")
    line = next(line for line in lines if OTHER in line)
    files["MEMORY.md"] = "\n".join(each for each in lines if each != line)
    files[ARCHIVE] += line.replace(" -->", f" superseded-by={fact_id(NEW)} -->") + "\n"


def archive_other_as_named(files: Files) -> None:
    archive_other(files)
    in_memory(f"supersedes={fact_id(OLD)}", f"supersedes={fact_id(OLD)} supersedes={fact_id(OTHER)}")(files)


def archive_other_instead(files: Files) -> None:
    """As a forged promotion would: the record is whole, but the new fact replaces what it has nothing to do with."""
    line = next(line for line in files["MEMORY.md"].split("\n") if OTHER in line)
    old = next(line for line in files[ARCHIVE].split("\n") if OLD in line)
    files["MEMORY.md"] = files["MEMORY.md"].replace(line, old.replace(f" superseded-by={fact_id(NEW)}", ""))
    in_memory(f"supersedes={fact_id(OLD)}", f"supersedes={fact_id(OTHER)}")(files)
    files[ARCHIVE] = files[ARCHIVE].replace(old, line.replace(" -->", f" superseded-by={fact_id(NEW)} -->"))


def nothing(files: Files) -> None:
    pass


@pytest.mark.parametrize("env", [{}, BOT], ids=["person", "bot"])
@pytest.mark.parametrize(
    ("change", "count"),
    [
        (in_archive("from=2026-02-05", "from=2026-02-06"), 1),
        (in_archive("superseded-by=", "pinned=true superseded-by="), 1),
        (in_archive(" superseded-by=", " same-as="), 1),
        (in_archive(fact_id(NEW), fact_id(OTHER)), 1),
        (in_memory(f" supersedes={fact_id(OLD)}", ""), 1),
        (in_memory(f"supersedes={fact_id(OLD)}", f"supersedes={fact_id(OTHER)}"), 1),
        (kept_in_memory, 1),
        (archive_other, 1),
        (archive_other_as_named, 2),
        (archive_other_instead, 1),
    ],
    ids=["key", "pin", "same-as", "other-id", "unnamed", "other-named", "kept", "also", "also-named", "unrelated"],
)
def test_a_commit_that_does_not_do_what_a_promotion_does_edits(
    promoted: Repo, change: Callable[[Files], None], count: int, env: dict[str, str]
) -> None:
    rewritten(promoted, change, env=env)
    found = edits(promoted)
    assert len(found) == count and all(fails == bool(env) for _, fails in found)


@pytest.mark.parametrize("env", [{}, BOT], ids=["person", "bot"])
def test_archiving_by_hand_edits(promoted: Repo, env: dict[str, str]) -> None:
    rewritten(promoted, nothing, "tidy", env)
    name = env.get("GIT_AUTHOR_NAME", "Test")
    assert edits(promoted) == [(name, bool(env))]
    assert f"its comment was edited after promotion by {name} <" in why_old(promoted)


def test_archiving_with_changed_words_edits(promoted: Repo) -> None:
    rewritten(promoted, in_archive(OLD, OLD.replace("8080", "8081")))
    (row,) = archived(promoted)
    assert [flaw.rule for flaw in row.flaws] == ["text-changed"] and edits(promoted) == [("Test", True)]


@pytest.mark.parametrize("env", [{}, BOT], ids=["person", "bot"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Memory-Model: rules/1\n", ""),
        (text_hash(NEW), text_hash(OTHER)),
        ("Memory-Source: ", "Memory-Sources: "),
        ("-> MEMORY.md", f"-> {ARCHIVE}"),
    ],
    ids=["model", "hash", "source", "target"],
)
def test_a_forged_record_edits(promoted: Repo, old: str, new: str, env: dict[str, str]) -> None:
    promote(promoted)
    message = promoted.git("log", "-1", "--format=%B")
    assert old in message
    promoted.git("reset", "-q", "--hard", "HEAD~1")
    rewritten(promoted, nothing, message.replace(old, new), env)
    ((editor, refused),) = edits(promoted)
    assert editor.endswith(env.get("GIT_AUTHOR_NAME", "Test")) and refused == bool(env)


def test_a_record_whose_source_does_not_say_the_new_fact_edits(promoted: Repo) -> None:
    claimed = NEW.replace("9090", "9191")
    promote(promoted)
    message = promoted.git("log", "-1", "--format=%B").replace(NEW, claimed).replace(text_hash(NEW), text_hash(claimed))
    promoted.git("reset", "-q", "--hard", "HEAD~1")

    def change(files: Files) -> None:
        in_memory(NEW, claimed)(files)
        in_archive(fact_id(NEW), fact_id(claimed))(files)

    rewritten(promoted, change, message)
    assert [name for name, _ in edits(promoted)] == ["rules/1 in a commit of Test"]


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "by-hand"])
def test_what_a_promotion_never_replaces_is_edited_by_one_that_claims_to(promoted: Repo, pinned: bool) -> None:
    """A pinned fact, and one that a person wrote, leave by a person's decision only."""
    text = promoted.read("MEMORY.md")
    line = next(line for line in text.split("\n") if OLD in line)
    if pinned:
        now = line.replace(" -->", " pinned=true -->")
    else:
        now = f"- {OLD}"
    promoted.commit("a person", {"MEMORY.md": text.replace(line, now)})
    promoted.git("branch", "-f", "base")

    def change(files: Files) -> None:
        moved = now.replace(" -->", f" superseded-by={fact_id(NEW)} -->")
        if not pinned:
            moved = f"{now} <!-- mem superseded-by={fact_id(NEW)} -->"
        files["MEMORY.md"] = promoted.read("MEMORY.md").replace(now, f"- {NEW} {comment}")
        files[ARCHIVE] = f"# Archive 2026\n\n## Decisions\n\n{moved}\n"

    blob = promoted.git("rev-parse", f"HEAD:{SECOND}").strip()
    comment = f"<!-- mem type=decision src={SECOND}#L3@{blob[:12]} supersedes={fact_id(OLD)} -->"
    message = (
        "memory: promote 1 fact from 2026-02-28\n\n"
        f"Memory-Source: {SECOND}#L3@{blob} -> MEMORY.md sha256:{text_hash(NEW)}\nMemory-Model: rules/1\n"
    )
    files: Files = {}
    change(files)
    promoted.commit(message, files)
    assert len(edits(promoted)) == 1


def test_a_later_edit_of_the_archived_line_is_an_edit(promoted: Repo) -> None:
    promote(promoted)
    line = promoted.read(ARCHIVE)
    for changed in (line.replace("from=2026-02-05", "from=2026-01-05"), line.replace("8080 <!--", "8080  <!--")):
        promoted.git("checkout", "-q", "-B", "topic", "main")
        promoted.write(ARCHIVE, changed)
        promoted.git("add", "-A")
        promoted.git("commit", "-qm", "later", env=BOT)
        assert edits(promoted) == [("github-actions[bot]", True)]


def test_an_undone_promotion_archives_nothing_for_later(promoted: Repo) -> None:
    promote(promoted)
    promoted.mem("undo", env=NOW)
    rewritten(promoted, nothing, "again")
    assert [name for name, _ in edits(promoted)] == ["Test"]


def test_a_new_fact_that_an_agent_took_out_again_no_longer_vouches_for_the_archiving(promoted: Repo) -> None:
    promote(promoted, BOT)
    lines = [line for line in promoted.read("MEMORY.md").split("\n") if NEW not in line]
    promoted.write("MEMORY.md", "\n".join(lines))
    promoted.git("add", "-A")
    promoted.git("commit", "-qm", "less", env=BOT)
    assert [fails for _, fails in edits(promoted)] == [True]


# -- edits before the archiving ------------------------------------------------------------------------------


def test_an_edit_before_the_archiving_keeps_its_own_editor(promoted: Repo) -> None:
    text = promoted.read("MEMORY.md")
    line = next(line for line in text.split("\n") if OLD in line)
    promoted.write("MEMORY.md", text.replace(line, line.replace("from=2026-02-05", "from=2026-02-04")))
    promoted.git("add", "-A")
    promoted.git("commit", "-qm", "since when", env={"GIT_AUTHOR_NAME": "Bea"})
    edit = promoted.git("rev-parse", "HEAD").strip()
    promote(promoted, BOT)
    (row,) = archived(promoted)
    assert row.attribution.edit and row.attribution.edit.changed == ("from",)
    assert edits(promoted) == [("Bea", False)]
    assert archived(promoted, edit) == []


# -- why -----------------------------------------------------------------------------------------------------


def test_why_says_who_archived_the_fact_and_for_what(promoted: Repo) -> None:
    oid = promote(promoted)
    shown = why_old(promoted)
    assert "text is in the source" in shown and "edited" not in shown
    assert (
        f"note: archived by rules/1 in a commit of {ANN} in {oid[:12]}, which promoted {fact_id(NEW)} in its place\n"
        in shown
    )
    assert f"by rules/1 in a commit of {ANN}" in shown.partition("amended by")[2] and NEW in shown
