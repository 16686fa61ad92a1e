"""A change is reported for claims that are true at the base and false at the head, and for no others."""

from __future__ import annotations

import os

import pytest

from gitmem.claims import documents
from gitmem.claims.finding import Finding
from gitmem.claims.transition import became_false, by_cause
from gitmem.git.opening import open_repository
from tests.harness import Repo

TEXT = """# House

- Doors are in `src/door.py`, see `open_door()`
- `npm run paint`, `make walls`, `just roof`
- `HOUSE_KEY` unlocks; placeholders `src/<name>.py` and `your-file.py`; `build/out.js` is made
- Rooms: `src/rooms/`
"""
FILES = {
    "CLAUDE.md": TEXT,
    "src/door.py": "import os\ndef open_door():\n    return os.environ['HOUSE_KEY']\n",
    "src/rooms/hall.py": "x = 1\n",
    "package.json": '{"scripts": {"paint": "p", "sand": "s"}}',
    "Makefile": "walls:\n\techo\n",
    "justfile": "roof:\n  echo\n",
}


def broken(repo: Repo) -> list[Finding]:
    opened = open_repository(repo.path, os.environ)
    try:
        base, head = opened.resolve("HEAD~1"), opened.resolve("HEAD")
        return became_false(opened, base, head, documents.read(opened, head))[0]
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("path", "text", "claim"),
    [
        ("package.json", '{"scripts": {"sand": "s"}}', "npm run paint"),
        ("Makefile", "wall:\n\techo\n", "make walls"),
        ("justfile", "tiles:\n  echo\n", "just roof"),
        ("src/door.py", FILES["src/door.py"].replace("open_door", "unlock"), "open_door()"),
        ("src/door.py", FILES["src/door.py"].replace("HOUSE_KEY", "HOME_KEY"), "HOUSE_KEY"),
    ],
)
def test_a_removed_name_is_reported_at_its_line(repo: Repo, path: str, text: str, claim: str) -> None:
    repo.commit("o", FILES)
    repo.commit("change", {path: text})
    assert [one.claim for one in broken(repo)] == [claim]


def test_a_moved_folder_is_one_cause_with_its_new_place(repo: Repo) -> None:
    repo.commit("o", {**FILES, "AGENTS.md": "Rooms are in `src/rooms/hall.py`.\n"})
    repo.git("mv", "src/rooms", "src/halls")
    repo.commit("moved")
    ones = broken(repo)
    assert {(one.path, one.claim, one.renamed_to) for one in ones} == {
        ("AGENTS.md", "src/rooms/hall.py", "src/halls/hall.py"),
        ("CLAUDE.md", "src/rooms/", "src/halls"),
    }
    assert len(by_cause(ones, 1)[0]) == 1 and by_cause(ones, 1)[1] == 1


def test_a_change_that_corrects_its_lines_too_has_no_findings(repo: Repo) -> None:
    repo.commit("o", FILES)
    repo.git("mv", "src/door.py", "src/gate.py")
    repo.commit("both", {"CLAUDE.md": TEXT.replace("src/door.py", "src/gate.py")})
    assert broken(repo) == []


def test_a_change_that_breaks_nothing_has_no_findings(repo: Repo) -> None:
    repo.commit("o", FILES)
    repo.commit("more", {"src/door.py": FILES["src/door.py"] + "y = 2\n", "src/new.py": "z = 3\n"})
    assert broken(repo) == []


def test_a_target_that_goes_from_a_makefile_which_computes_others_is_said(repo: Repo) -> None:
    computed = "$(foreach x,a b,$(eval $(x):))\n"
    repo.commit("o", {"CLAUDE.md": "Run `make walls`.\n", "Makefile": computed + "walls:\n\techo\n"})
    repo.commit("away", {"Makefile": computed})
    assert [one.claim for one in broken(repo)] == ["make walls"]


def test_a_drawing_is_judged_where_it_began_before_the_change(repo: Repo) -> None:
    drawing = "```\nhouse/\n├── rooms/\n├── door.py\n└── wall.py\n```\n"
    repo.commit("o", {"CLAUDE.md": drawing, **{f"house/{x}": "x" for x in ("rooms/a.py", "door.py", "wall.py")}})
    repo.git("mv", "house", "yard")
    repo.commit("moved")
    assert len(broken(repo)) == 3


def test_a_folder_before_a_part_to_fill_in_is_said_where_it_goes(repo: Repo) -> None:
    repo.commit(
        "o", {**FILES, "AGENTS.md": "Pages are `src/house/pages/<name>.py`.\n", "src/house/pages/a.py": "x = 1\n"}
    )
    repo.git("mv", "src/house/pages", "src/house/sheets")
    repo.commit("moved")
    assert [(one.claim, one.renamed_to) for one in broken(repo)] == [("src/house/pages", "src/house/sheets")]


@pytest.mark.parametrize(
    "line",
    [
        "```python\nopen_gate(1)\n```",  # an example's own name
        "Never call `open_gate()`.",
        "The gate was `open_gate()`, which is removed.",
        "- Naming: `gate.py`, `wall.py`",
    ],
)
def test_what_an_example_a_ban_or_a_naming_rule_names_is_not_said(repo: Repo, line: str) -> None:
    gate = "def open_gate(key):\n    return key\n"
    repo.commit("o", {"src/gate.py": gate, "src/wall.py": "x = 1\n", "CLAUDE.md": f"# House\n\n{line}\n"})
    repo.git("rm", "-q", "src/gate.py")
    repo.commit("away")
    assert broken(repo) == []


@pytest.mark.parametrize("line", ["The bank calls `/pay/callback`.", "`src/pay/` answers `/pay/callback`."])
def test_an_address_of_the_web_is_no_file_with_an_ending(repo: Repo, line: str) -> None:
    repo.commit("o", {"src/pay/callback.py": "x = 1\n", "CLAUDE.md": f"# Shop\n\n{line}\nSee `pay/callback`.\n"})
    repo.git("mv", "src/pay/callback.py", "src/pay/answers.py")
    repo.commit("moved")
    assert [(one.claim, one.line) for one in broken(repo)] == [("pay/callback", 4)]
