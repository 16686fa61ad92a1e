"""Repositories that try to make the check slow, to put text into its output, or to escape it."""

from __future__ import annotations

import json

from tests.harness import Repo


def test_names_with_control_characters_open_no_line_and_no_command(repo: Repo) -> None:
    repo.commit("o", {"src/a\n::error::x.py": "x", "src/b.py": "x", "CLAUDE.md": "`src/b.py`\n"})
    repo.git("rm", "-q", "src/b.py")
    repo.commit("away", {"AGENTS.md": "`src/gone\x1b[2J.py` `src/c.py`\n", "src/d.py": "x"})
    for form in ("text", "github"):
        said = repo.mem("check", "--suspect", "--format", form, check=False).stdout
        assert "\x1b" not in said and all(not line.startswith("::error::x") for line in said.split("\n"))


def test_a_huge_file_is_left_out_and_reported(repo: Repo) -> None:
    repo.commit("o", {"CLAUDE.md": "`src/a.py`\n" * 120_000})
    done = repo.mem("check", "--json")
    assert json.loads(done.stdout) == {"findings": []} and "1 MiB" in done.stderr


def test_nothing_that_is_claimed_is_run(repo: Repo) -> None:
    repo.commit(
        "o",
        {
            "CLAUDE.md": "`make touched`, `./touch.sh`, `npm run $(touch touched)`\n",
            "Makefile": "x:\n\ttouch touched\n$(shell touch touched)\n",
        },
    )
    repo.mem("check", "--suspect", check=False)
    assert not (repo.path / "touched").exists()


def test_below_a_submodule_nothing_is_known(repo: Repo) -> None:
    repo.commit("o", {"CLAUDE.md": "`vendor/lib/door.py`\n"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.git('rev-parse', 'HEAD').strip()},vendor/lib")
    repo.git("commit", "-qm", "submodule")
    assert json.loads(repo.mem("check", "--suspect", "--json").stdout) == {"findings": []}
