"""The full check: it reports things that existed once and are gone, and nothing that is no claim."""

from __future__ import annotations

import os

import pytest

from gitmem.claims import documents
from gitmem.claims.check import check
from gitmem.claims.finding import Finding
from gitmem.git.opening import open_repository
from tests.harness import Repo

DOOR = "def open_door(key):\n    return key\n"


def found(repo: Repo) -> list[Finding]:
    opened = open_repository(repo.path, os.environ)
    try:
        head = opened.head()
        assert head
        return check(opened, head, documents.read(opened, head)).findings
    finally:
        opened.close()


def sure(repo: Repo) -> list[tuple[str, int, str]]:
    return [(one.path, one.line, one.claim) for one in found(repo) if one.sure]


def test_a_removed_path_is_gone_with_the_commit_that_removed_it(repo: Repo) -> None:
    repo.commit(
        "o", {"src/door.py": DOOR, "src/wall.py": "x = 1\n", "CLAUDE.md": "# House\n\n- Doors: `src/door.py`\n"}
    )
    repo.git("rm", "-q", "src/door.py")
    taken = repo.commit("away")
    (one,) = found(repo)
    assert (one.path, one.line, one.claim, one.kind, one.state, one.commit) == (
        "CLAUDE.md", 3, "src/door.py", "path", "gone", taken,
    )  # fmt: skip


def test_a_rename_is_reported_with_the_new_path(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR * 9, "AGENTS.md": "Doors: `src/door.py`.\n"})
    repo.git("mv", "src/door.py", "src/gate.py")
    repo.commit("renamed")
    assert [one.renamed_to for one in found(repo)] == ["src/gate.py"]


@pytest.mark.parametrize(
    "line",
    [
        "The old `src/door.py` was removed.",
        "Use `src/wall.py` instead of `src/door.py`.",
        "This generates `src/door.py`.",
        "`src/door.py` (removed)",
        "예전의 `src/door.py`는 삭제되었다.",
    ],
)
def test_a_line_that_denies_or_makes_is_not_accused(repo: Repo, line: str) -> None:
    repo.commit("o", {"src/door.py": DOOR, "src/wall.py": "x = 1\n", "CLAUDE.md": line + "\n"})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert found(repo) == []


def test_what_git_ignores_is_not_missed(repo: Repo) -> None:
    repo.commit(
        "o",
        {".gitignore": "history/\n*.local.json\n", "CLAUDE.md": "`history/` and `conf/a.local.json`\n", "conf/b": "x"},
    )
    assert found(repo) == []


def test_a_rule_for_folders_does_not_hide_a_removed_file_of_that_name(repo: Repo) -> None:
    files = {".gitignore": "build/\n", "CLAUDE.md": "Run `scripts/build` and look at `out/build`\n", "conf/b": "x"}
    repo.commit("o", {**files, "scripts/build": "#!/bin/sh\n"})
    assert found(repo) == []
    repo.git("rm", "-q", "scripts/build")
    repo.commit("away")
    assert [one.claim for one in found(repo)] == ["scripts/build"]


def test_a_name_that_code_defined_when_the_line_was_written_is_gone(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "CLAUDE.md": "Call `open_door()`.\n", "README.md": "open_door\n"})
    repo.commit("other", {"src/door.py": DOOR.replace("open_door", "unlock")})
    (one,) = found(repo)
    assert (one.kind, one.claim, one.sure) == ("symbol", "open_door()", True)


def test_a_script_that_no_manifest_defines_is_gone(repo: Repo) -> None:
    repo.commit(
        "o", {"package.json": '{"scripts": {"paint": "x"}}', "CLAUDE.md": "- `npm run paint`\n- `npm run sand`\n"}
    )
    assert sure(repo) == [("CLAUDE.md", 2, "npm run sand")]


def test_a_script_in_a_note_is_gone_only_if_it_was_defined_once(repo: Repo) -> None:
    package = '{"scripts": {"paint": "x", "sand": "x"}}'
    repo.commit("o", {"package.json": package, "memory/quay.md": "- `npm run sand` fails there\n- `npm run tar`\n"})
    assert sure(repo) == []
    repo.commit("away", {"package.json": '{"scripts": {"paint": "x"}}'})
    assert sure(repo) == [("memory/quay.md", 1, "npm run sand")]


@pytest.mark.parametrize("line", ["cd web && npm run build", "npm --prefix web run build"])
def test_a_script_of_a_folder_that_is_not_here_is_not_judged_by_another_package(repo: Repo, line: str) -> None:
    repo.commit("o", {"package.json": '{"scripts": {"paint": "x"}}', "CLAUDE.md": f"- `{line}`\n"})
    assert sure(repo) == []
    repo.commit("web", {"web/package.json": '{"scripts": {"serve": "x"}}'})
    assert [row[:2] for row in sure(repo)] == [("CLAUDE.md", 1)]


def test_a_makefile_that_computes_its_targets_says_nothing(repo: Repo) -> None:
    repo.commit("o", {"Makefile": "$(foreach x,a b,$(eval $(x):))\n", "CLAUDE.md": "Run `make sand`.\n"})
    assert found(repo) == []


def test_a_link_to_instructions_is_judged_once(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "AGENTS.md": "Doors: `src/door.py`.\n"})
    (repo.path / "CLAUDE.md").symlink_to("AGENTS.md")
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert sure(repo) == [("AGENTS.md", 1, "src/door.py")]


def test_a_daily_log_is_a_record_and_is_not_judged(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "memory/2026-02-05.md": "- wrote `src/door.py`\n"})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert found(repo) == []


def test_a_path_is_found_from_the_folder_of_the_file_or_by_its_end(repo: Repo) -> None:
    files = {"web/src/door.ts": "x", "web/CLAUDE.md": "`src/door.js`, `door.ts`\n", "CLAUDE.md": "`src/door.ts`\n"}
    repo.commit("o", files)
    assert found(repo) == []


def test_a_language_version_that_a_manifest_contradicts_changed(repo: Repo) -> None:
    repo.commit(
        "o", {"pyproject.toml": '[project]\nrequires-python = ">=3.12"\n', "CLAUDE.md": "Python 3.10 is enough.\n"}
    )
    (one,) = found(repo)
    assert (one.kind, one.state, one.claim) == ("version", "changed", "Python 3.10")


def test_a_diagram_of_which_less_than_half_exists_is_one_finding(repo: Repo) -> None:
    drawing = "```\nhouse/\n├── rooms/\n│   ├── hall.py\n│   └── attic.py\n├── door.py\n└── wall.py\n```\n"
    files = {f"house/{path}": "x = 1\n" for path in ("rooms/hall.py", "rooms/attic.py", "door.py", "wall.py")}
    repo.commit("o", {**files, "CLAUDE.md": drawing})
    assert found(repo) == []
    repo.git("rm", "-q", "-r", "house/rooms", "house/door.py")
    repo.commit("away")
    (one,) = found(repo)
    assert (one.kind, one.line, one.sure) == ("diagram", 3, True) and "of 5 entries" in one.evidence


def test_a_diagram_that_never_existed_is_a_suspicion(repo: Repo) -> None:
    drawing = "```\nboat/\n├── mast/\n│   ├── sail.py\n│   └── rope.py\n├── keel.py\n└── oar.py\n```\n"
    repo.commit("o", {"house/door.py": "x = 1\n", "CLAUDE.md": drawing})
    (one,) = found(repo)
    assert (one.kind, one.sure) == ("diagram", False)


def test_a_skill_is_judged_only_if_it_describes_this_repository(repo: Repo) -> None:
    own = "See `src/wall.py`, `src/roof.py` and `src/door.py`.\n"
    other = "Begin with `src/index.ts` and `src/door.py`, see `references/more.md`.\n"
    repo.commit(
        "o",
        {
            "src/door.py": DOOR, "src/wall.py": "x = 1\n", "src/roof.py": "y = 1\n",
            ".claude/skills/house/SKILL.md": own, ".claude/skills/boat/SKILL.md": other,
            ".claude/skills/boat/references/more.md": "`src/door.py`\n",
        },
    )  # fmt: skip
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert sure(repo) == [(".claude/skills/house/SKILL.md", 1, "src/door.py")]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (".clinerules/README.md", "Hooks go to `src/door.py`."),
        ("CLAUDE.md", "| `src/door.py` | types | auto-generated |"),
        ("CLAUDE.md", "Types are in `src/made/door.py`."),  # which a package of that shape ignores
    ],
)
def test_what_is_for_people_or_is_made_is_not_accused(repo: Repo, path: str, line: str) -> None:
    files = {"src/door.py": DOOR, "src/made/door.py": DOOR, "app/.gitignore": "/src/made/\n", "app/src/x.py": "x"}
    repo.commit("o", {**files, path: line + "\n"})
    repo.git("rm", "-q", "-r", "src")
    repo.commit("away")
    assert found(repo) == []


@pytest.mark.parametrize("code", ["“open_door”", "open_door를 연다", "# open_door\n", "x.open_door()"])
def test_a_name_is_found_if_code_has_it_as_a_word(repo: Repo, code: str) -> None:
    repo.commit("o", {"src/door.py": DOOR, "CLAUDE.md": "Call `open_door()`.\n"})
    repo.commit("other", {"src/door.py": f"text = '''{code}'''\n"})
    assert found(repo) == []


def test_a_large_file_counts_for_names_that_no_other_has(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "CLAUDE.md": "Call `open_door()`.\n"})
    repo.commit("other", {"src/door.py": "x = 1\n" * 200_000 + DOOR})
    assert found(repo) == []


@pytest.mark.parametrize(
    "line",
    [
        "**NEVER** use `src/wall.py`, `src/roof.py` and `src/door.py`.",
        "Static imports, never `open_door()`.",
        "The original `src/door.py` had a hole.",
        "References to `src/door.py` may be stale.",
        "| `never` | do not call `open_door()` |",
    ],
)
def test_what_is_forbidden_doubted_or_remembered_is_not_accused(repo: Repo, line: str) -> None:
    files = {"src/door.py": DOOR, "src/wall.py": "x = 1\n", "src/roof.py": "y = 1\n"}
    repo.commit("o", {**files, "CLAUDE.md": line + "\n"})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert found(repo) == []


def test_what_is_to_be_done_instead_is_accused(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "x": "x", "CLAUDE.md": "Never guess, but use `src/door.py`.\n"})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert sure(repo) == [("CLAUDE.md", 1, "src/door.py")]


def test_the_layout_of_what_is_to_be_made_is_no_picture_of_a_folder_of_that_shape(repo: Repo) -> None:
    layout = "```\nexample-name/\n├── src/\n│   ├── door.py\n│   └── wall.py\n└── README.md\n```\n"
    repo.commit("o", {"a/src/door.py": DOOR, "a/src/wall.py": "x = 1\n", "a/README.md": "a\n", "CLAUDE.md": layout})
    repo.git("rm", "-q", "a/src/door.py")
    repo.commit("away")
    assert found(repo) == []


def test_common_words_make_no_example_of_a_deep_path_whose_folder_exists(repo: Repo) -> None:
    files = {"docs/house/doors.md": "# Doors\n", "docs/house/walls.md": "# Walls\n"}
    lines = "Keep your format as in `docs/house/STYLE.md`.\nFor example `docs/house/OTHER.md`.\n"
    repo.commit("o", {**files, "CLAUDE.md": lines})
    assert sure(repo) == [("CLAUDE.md", 1, "docs/house/STYLE.md")]


@pytest.mark.parametrize(
    ("line", "more"),
    [
        ("Needs Node 22+.", {".nvmrc": "v24\n"}),
        ("Needs Node 22.1 or later.", {".nvmrc": "v24.1.0\n"}),
        ("Work in the `house/door` repository.", {}),
        ("Import from `houses/door`.", {"pkg/package.json": '{"name": "houses"}'}),
        ("For example `door.py`.", {}),
    ],
)
def test_at_least_a_version_a_repository_a_package_and_an_example_are_not_accused(
    repo: Repo, line: str, more: dict[str, str]
) -> None:
    files = {"house/door/x.py": "x = 1\n", "houses/door/x.py": "x = 1\n", "src/door.py": DOOR}
    repo.commit("o", {**files, **more, "CLAUDE.md": line + "\n"})
    repo.git("rm", "-q", "-r", "house", "houses", "src")
    repo.commit("away")
    assert found(repo) == []


def test_a_name_is_looked_up_in_the_commit_that_first_had_the_words(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "CLAUDE.md": "Call `open_door()`.\n"})
    repo.commit("unlocked", {"src/door.py": DOOR.replace("open_door", "unlock")})
    repo.git("mv", "CLAUDE.md", "AGENTS.md")
    repo.commit("split", {"AGENTS.md": "House.\n", "src/AGENTS.md": "To get in, call `open_door()` at once.\n"})
    assert sure(repo) == [("src/AGENTS.md", 1, "open_door()")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("When you add a room, update `src/door.py` too.", True),
        ("Add the key to `src/door.py`.", True),
        ("Before you publish, read `src/door.py`.", True),
        ("The migrations are in `src/door.py`.", True),
        ("Create `src/door.py` first.", False),
        ("It writes the keys to `src/door.py`.", False),
    ],
)
def test_a_thing_that_existed_is_made_only_if_the_word_right_before_it_says_so(
    repo: Repo, line: str, said: bool
) -> None:
    repo.commit("o", {"src/door.py": DOOR, "src/wall.py": "x = 1\n", "CLAUDE.md": line + "\n"})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert bool(sure(repo)) is said


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("See [the guide](HOUSE.md).", "HOUSE.md"),
        ("See [wall](mdc:src/walls.py).", "src/walls.py"),
        ("Doors are in `src/rooms/hall/wall.py`.", "src/rooms/hall/wall.py"),  # one of that name stands elsewhere
        ("Use `paint_wall()` in `src/wall.py`.", "paint_wall()"),
        ("- `src/wall.py`: `paint_wall()` and more", "paint_wall()"),
    ],
)
def test_a_thing_that_never_existed_is_reported_if_its_form_makes_it_false(repo: Repo, line: str, claim: str) -> None:
    repo.commit("o", {"src/wall.py": "x = 1\n", "CLAUDE.md": line + "\n"})
    assert [one[2] for one in sure(repo)] == [claim]


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"Makefile": "build:\n"}, '`make build MSG="open the door"`'),
        ({"build.gradle": "sourceCompatibility = 21\n"}, "SDK Java 2.25 is used."),
        ({"package.json": '{"dependencies": {"react": "^18.2.0"}}'}, "- React 18.3.1"),
        ({}, "In the other repository, `src/rooms/hall/wall.py` has it."),
        ({}, "The keys are copied from `src/rooms/YourDoor.py`."),
        ({}, "| 1 | Add a wall | `src/rooms/hall/wall.py` |"),
    ],
)
def test_what_is_quoted_in_range_elsewhere_or_planned_is_not_accused(
    repo: Repo, files: dict[str, str], line: str
) -> None:
    repo.commit("o", {"src/wall.py": "x = 1\n", **files, "CLAUDE.md": line + "\n"})
    assert found(repo) == []


def test_a_moved_path_that_is_found_by_its_end_is_reported_with_its_new_place(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR * 9, "CLAUDE.md": "Doors: `src/door.py`.\n", "x": "x"})
    (repo.path / "house").mkdir()
    repo.git("mv", "src", "house/src")
    repo.commit("moved")
    assert [(one.claim, one.renamed_to, one.sure) for one in found(repo)] == [
        ("src/door.py", "house/src/door.py", True)
    ]


def test_a_page_about_agents_and_a_collection_of_others_files_are_not_judged(repo: Repo) -> None:
    files = {"docs/agents.md": "`src/door.py`\n", "shown/others/CLAUDE.md": "`make paint`, `lib/a.py`, `lib/b.py`\n"}
    repo.commit("o", {"src/door.py": DOOR, "lib/x.py": "x = 1\n", "Makefile": "build:\n", **files})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert found(repo) == []


def test_a_rule_that_takes_a_path_back_into_git_is_heeded(repo: Repo) -> None:
    rules = {".gitignore": ".agents/*\n!.agents/skills\n*.json\n!keep.json\n"}
    line = "Read `keep.json` and `src/door.py`, `src/wall.py`.\n"
    files = {"src/door.py": DOOR, "src/wall.py": "x = 1\n", "src/roof.py": "x = 1\n", "keep.json": "x"}
    repo.commit("o", {**rules, **files, "CLAUDE.md": line})
    repo.git("rm", "-q", "keep.json", "src/door.py")
    repo.commit("away")
    assert sure(repo) == [("CLAUDE.md", 1, "keep.json"), ("CLAUDE.md", 1, "src/door.py")]


def test_names_that_only_a_cmake_file_has_stand(repo: Repo) -> None:
    repo.commit(
        "o", {"CMakeLists.txt": "set(HOUSE_DOOR on)\n", "src/x.c": "HOUSE_DOOR\n", "CLAUDE.md": "`HOUSE_DOOR`\n"}
    )
    repo.commit("other", {"src/x.c": "int x;\n"})
    assert found(repo) == []


def test_a_missing_folder_that_a_list_item_is_about_is_reported_if_its_parent_exists(repo: Repo) -> None:
    lines = "- `house/attic`: where the trunks are\n- Put it into `house/cellar` or so.\n"
    repo.commit("o", {"house/door.py": DOOR, "CLAUDE.md": lines})
    assert sure(repo) == [("CLAUDE.md", 1, "house/attic")]


def test_a_path_that_was_renamed_here_is_gone_though_another_package_ignores_one_of_its_shape(repo: Repo) -> None:
    files = {"docs/doors.md": "# Doors\n", "pkg/docs/x.py": "x = 1\n", "pkg/.gitignore": "docs/*.md\n"}
    repo.commit("o", {**files, "CLAUDE.md": "All of it is in `docs/doors.md`.\n"})
    repo.git("mv", "docs/doors.md", "docs/gates.md")
    repo.commit("renamed")
    assert sure(repo) == [("CLAUDE.md", 1, "docs/doors.md")]


@pytest.mark.parametrize(
    "line",
    [
        "Look for `*-doors.md` too.",
        "`src/door.py` → FORBIDDEN (door in name)",
        "**Before** (from `src/door.py`):",
        "- Naming: `door.py`, `wall.py`",
        "See [`src/door.py`](https://example.com/house/src/door.py).",
        "It is stable since Python 3.9, says the manual.",
    ],
)
def test_shapes_names_pages_elsewhere_and_versions_of_others_are_not_accused(repo: Repo, line: str) -> None:
    files = {"src/door.py": DOOR, "a-doors.md": "a", "pyproject.toml": '[project]\nrequires-python = ">=3.12"\n'}
    repo.commit("o", {"src/wall.py": "x = 1\n", **files, "CLAUDE.md": line + "\n"})
    repo.git("rm", "-q", "src/door.py", "a-doors.md")
    repo.commit("away")
    assert sure(repo) == []


def test_plans_reports_and_dated_files_in_a_hosts_folder_are_records(repo: Repo) -> None:
    paths = (
        ".claude/plans/house.md",
        ".claude/reports/all.md",
        ".claude/docs/2026-02-05-doors.md",
        ".claude/docs/x.md",
    )
    repo.commit("o", {"src/door.py": DOOR, "src/wall.py": "x", **dict.fromkeys(paths, "`src/door.py`\n")})
    repo.git("rm", "-q", "src/door.py")
    repo.commit("away")
    assert [one[0] for one in sure(repo)] == [".claude/docs/x.md"]


def test_a_module_that_is_called_history_is_code(repo: Repo) -> None:
    repo.commit("o", {"src/door.py": DOOR, "CLAUDE.md": "Call `open_door()`.\n"})
    repo.commit("other", {"src/door.py": "x = 1\n", "src/history.py": DOOR})
    assert found(repo) == []


def test_a_library_that_was_vendored_once_is_no_path_of_this_repository(repo: Repo) -> None:
    repo.commit(
        "o", {"vendor/house/door/x.go": "x", "src/wall.py": "x = 1\n", "CLAUDE.md": "Tests use `house/door`.\n"}
    )
    repo.git("rm", "-q", "-r", "vendor")
    repo.commit("away", {"CLAUDE.md": "Tests use `house/door` and more.\n"})
    assert sure(repo) == []
