"""A release: one version, its notes, the files that `make release` builds and tries. tests/test_wheel.py installs one."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from gitmem import __version__
from tests.harness import SOURCE
from tools import release


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"] and "version" not in project["project"]
    command = [sys.executable, "-m", "hatchling", "metadata", "version"]
    built = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=True).stdout.strip()
    source = (SOURCE / "gitmem/__init__.py").read_text(encoding="utf-8")
    assert built == __version__ == release.version_of(source)
    workflow = (SOURCE / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "gitmem/__init__.py" in workflow and __version__ not in workflow


def test_the_notes_are_the_section_of_the_version() -> None:
    changelog = (
        "# Changelog\n\n## Unreleased\n\n- later\n\n## 0.2.0 - 2026-03-01\n\n- this\n\n## 0.2.0rc1\n\n- before\n"
    )
    assert release.notes_of(changelog, "0.2.0") == "- this\n"
    assert release.notes_of(changelog, "0.2.0rc1") == "- before\n"


@pytest.mark.parametrize("changelog", ["# Changelog\n", "## 0.2.0\n\n## 0.1.0\n\n- old\n", "## 0x2.0\n\n- text\n"])
def test_without_a_section_there_is_no_release(changelog: str) -> None:
    with pytest.raises(SystemExit, match=re.escape("no section '## 0.2.0'")):
        release.notes_of(changelog, "0.2.0")


def test_the_changelog_has_notes_for_this_version() -> None:
    assert len(release.notes_of((SOURCE / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)) > 500
