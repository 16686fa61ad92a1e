"""Isolation: no test sees the person's Git configuration, home, time zone, colours or network settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.harness import SOURCE, Repo


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private HOME; Git and libgit2 read one empty configuration with an identity, and nothing else."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "GITMEM_", "GITHUB_", "XDG_", "LESS")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("GITMEM_FOREGROUND", "1")  # a hook that refreshes the index ends when it has
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")
    return home


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository on branch main."""
    return Repo(tmp_path / "repo")
