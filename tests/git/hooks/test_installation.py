"""Hook files on disk: what install adds, uninstall takes away, byte for byte."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gitmem.errors import GitMemError
from gitmem.git.hooks import HOOKS, SERVER
from gitmem.git.hooks.block import FIRST_LINE, block, shim
from gitmem.git.hooks.installation import SAVED, install, installed, uninstall
from tests.harness import SOURCE


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Name -> link target, or mode and bytes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            found[path.name] = ("link", os.readlink(path))
        else:
            found[path.name] = (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
    return found


@pytest.mark.parametrize("name", [*HOOKS, *SERVER])
def test_the_folder_hooks_holds_exactly_what_install_writes(name: str) -> None:
    path = SOURCE / "hooks" / name
    assert path.read_text(encoding="utf-8") == shim(name)
    assert path.stat().st_mode & 0o111


def test_a_shim_is_about_thirty_lines() -> None:
    assert max(len(shim(name).splitlines()) for name in HOOKS) <= 32


FOREIGN = {
    "a shell script": (b"#!/bin/sh\necho before\n", 0o755),
    "a script with options": (b"#!/usr/bin/env bash -e\necho before", 0o755),
    "an empty shell script": (b"#!/bin/sh\n", 0o700),
    "a Python script": (b"#!/usr/bin/env python3\nprint('before')\n", 0o755),
    "no shebang": (b"echo before\n", 0o755),
    "a binary": (b"\x7fELF\x00\xff\n", 0o755),
    "CRLF": (b"#!/bin/sh\r\necho before\r\n", 0o755),
    "not executable": (b"#!/bin/sh\nexit 1\n", 0o644),
    "empty": (b"", 0o755),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_hook_is_restored_byte_for_byte(tmp_path: Path, name: str) -> None:
    data, mode = FOREIGN[name]
    path = tmp_path / "pre-commit"
    path.write_bytes(data)
    path.chmod(mode)
    before = snapshot(tmp_path)
    install(tmp_path, "/usr/bin/python3")
    assert FIRST_LINE.encode() in path.read_bytes()
    assert path.stat().st_mode & 0o100
    uninstall(tmp_path)
    assert snapshot(tmp_path) == before


def test_a_link_is_moved_aside_and_what_it_points_to_is_never_written(tmp_path: Path) -> None:
    target = tmp_path / "tracked-script"
    target.write_bytes(b"#!/bin/sh\necho tracked\n")
    folder = tmp_path / "hooks"
    folder.mkdir()
    (folder / "pre-commit").symlink_to("../tracked-script")
    before = snapshot(folder)
    install(folder, "")
    assert target.read_bytes() == b"#!/bin/sh\necho tracked\n"
    uninstall(folder)
    assert snapshot(folder) == before


def test_installing_twice_changes_nothing_and_another_interpreter_updates_in_place(tmp_path: Path) -> None:
    (tmp_path / "pre-commit").write_bytes(b"#!/bin/sh\necho before\n")
    (tmp_path / "pre-commit").chmod(0o755)
    install(tmp_path, "/usr/bin/python3")
    before = snapshot(tmp_path)
    assert install(tmp_path, "/usr/bin/python3") == []
    assert snapshot(tmp_path) == before
    assert len(install(tmp_path, "/it's here/python")) == len(HOOKS)
    assert rb"gitmem_python='/it'\''s here/python'" in (tmp_path / "pre-commit").read_bytes()
    assert (tmp_path / "pre-commit").read_bytes().count(FIRST_LINE.encode()) == 1


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    assert len(install(folder, "", dry=True)) == len(HOOKS)
    assert not folder.exists()
    install(folder, "")
    before = snapshot(folder)
    assert len(uninstall(folder, dry=True)) == len(HOOKS)
    assert snapshot(folder) == before


def test_edits_made_around_our_lines_after_install_survive_uninstall(tmp_path: Path) -> None:
    path = tmp_path / "commit-msg"
    path.write_bytes(b"#!/bin/sh\none\n")
    path.chmod(0o755)
    install(tmp_path, "")
    path.write_bytes(path.read_bytes() + b"two\n")
    uninstall(tmp_path)
    assert path.read_bytes() == b"#!/bin/sh\none\ntwo\n"


def test_an_earlier_save_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "pre-commit").write_bytes(b"\x7fELF")
    (tmp_path / f"pre-commit{SAVED}").write_bytes(b"older")
    with pytest.raises(Exception, match="in the way"):
        install(tmp_path, "")
    assert (tmp_path / f"pre-commit{SAVED}").read_bytes() == b"older"


def test_what_is_installed_is_told_apart_from_old_lines(tmp_path: Path) -> None:
    install(tmp_path, "/usr/bin/python3", promote="stage")
    path = tmp_path / "pre-push"
    path.write_text(path.read_text().replace("gitmem hook pre-push", "gitmem scan"))
    (tmp_path / "pre-commit").unlink()
    state = installed(tmp_path)
    assert (state["pre-commit"], state["pre-push"], state["post-commit"]) == ("missing", "old", "current")


def test_blocks_hold_no_command_of_the_repository() -> None:
    for name in HOOKS:
        assert "-E -P -m gitmem" in block(name, "/usr/bin/python3")


@pytest.mark.parametrize("step", ["open", "chmod", "replace"])
def test_a_hook_that_cannot_be_written_leaves_the_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    theirs = tmp_path / "pre-commit"
    theirs.write_bytes(b"#!/usr/bin/env python3\nprint('theirs')\n")
    theirs.chmod(0o755)
    before, real = snapshot(tmp_path), getattr(os, step)

    def fails(*words: object, **options: object) -> object:
        if str(words[0]).endswith(f".pre-commit.{os.getpid()}"):
            raise OSError(28, "No space left on device")
        return real(*words, **options)

    monkeypatch.setattr(os, step, fails)
    with pytest.raises(GitMemError, match="No space left"):
        install(tmp_path, "", ["pre-commit"])
    monkeypatch.undo()
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("first", ["/srv/a:b/.git", "/srv/it's here/.git", "/srv/\udcff/.git", "/srv/한글/.git"])
def test_a_block_for_several_repositories_names_each_whatever_its_path(tmp_path: Path, first: str) -> None:
    for only in (first, "/srv/other/.git", first):
        install(tmp_path, "", ["pre-commit"], git_dir=only)
    assert installed(tmp_path)["pre-commit"] == "current"
    hook = tmp_path / "pre-commit"
    named = [os.fsencode(path).replace(b"'", b"'\\''") for path in (first, "/srv/other/.git")]
    assert b"gitmem_only='" + b"\n".join(named) + b"'\n" in hook.read_bytes()
    uninstall(tmp_path, git_dir=first)
    assert b"gitmem_only='/srv/other/.git'\n" in hook.read_bytes()
    uninstall(tmp_path, git_dir="/srv/other/.git")
    assert not hook.exists()


def test_installing_again_makes_a_hook_executable_and_uninstalling_for_another_repository_changes_nothing(
    tmp_path: Path,
) -> None:
    install(tmp_path, "", ["pre-commit"], git_dir="/srv/one/.git")
    hook = tmp_path / "pre-commit"
    hook.chmod(0o644)
    assert installed(tmp_path)["pre-commit"] == "not executable"
    assert [step.what for step in install(tmp_path, "", ["pre-commit"], git_dir="/srv/one/.git")] == ["updated"]
    assert installed(tmp_path)["pre-commit"] == "current"
    before = snapshot(tmp_path)
    assert uninstall(tmp_path, git_dir="/srv/two/.git") == [] and snapshot(tmp_path) == before


def test_lines_before_ours_are_told_and_installing_again_puts_ours_first(tmp_path: Path) -> None:
    install(tmp_path, "")
    path = tmp_path / "pre-commit"
    path.write_text(path.read_text().replace("#!/bin/sh\n", "#!/bin/sh\n\n# a comment\n", 1))
    assert installed(tmp_path)["pre-commit"] == "current"
    path.write_text(path.read_text().replace("#!/bin/sh\n", "#!/bin/sh\nexit 0\n", 1))
    assert installed(tmp_path)["pre-commit"] == "not reached"
    install(tmp_path, "")
    assert installed(tmp_path)["pre-commit"] == "current"
    uninstall(tmp_path)
    assert path.read_text().startswith("#!/bin/sh\nexit 0\n") and "git mem >>>" not in path.read_text()
