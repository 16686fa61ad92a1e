"""The place of a new memory repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.errors import NotARepository, UntrustedRepository
from gitmem.git.place import place_of
from gitmem.memory.new_repository import Place, place_for
from tests.harness import Repo


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a folder to another user")
def test_no_repository_is_made_inside_one_that_git_does_not_trust(repo: Repo) -> None:
    os.chown(repo.path, 65534, 65534)
    os.chown(repo.path / ".git", 65534, 65534)
    for folder in (repo.path, repo.path / "new folder"):
        with pytest.raises(UntrustedRepository):
            place_for(folder, os.environ)


def test_the_type_of_the_error_says_why_there_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(UntrustedRepository):
        place_of(tmp_path, b"", b"fatal: detected dubious ownership in repository at '/x'\n")
    with pytest.raises(NotARepository):
        place_of(tmp_path, b"", b"fatal: not a git repository (or any of the parent directories): .git\n")


def test_a_folder_in_no_repository_and_a_new_one_below_another_become_repositories(repo: Repo, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    assert place_for(alone, os.environ) == Place(alone, new=True)
    assert place_for(repo.path / "below", os.environ) == Place(repo.path / "below", new=True)
    assert place_for(repo.path, os.environ) == Place(repo.path, new=False)
