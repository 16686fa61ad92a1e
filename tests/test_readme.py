"""The README's first minute, typed as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests import warm_process
from tests.harness import SOURCE, Repo

README = (SOURCE / "README.md").read_text(encoding="utf-8")


def first_minute() -> list[tuple[str, str]]:
    """(command, what it answers) of the first console block."""
    block = re.search(r"```console\n(.*?)```", README, re.S)
    assert block is not None
    found: list[tuple[str, str]] = []
    for line in block[1].splitlines():
        if line.startswith("$ "):
            found.append((line[2:].partition("   ")[0], ""))
        elif found:
            found[-1] = (found[-1][0], line)
    return [pair for pair in found if not pair[0].startswith("pip ")]


def test_the_first_minute_of_the_readme_runs_as_written(tmp_path: Path) -> None:
    place = Repo(tmp_path / "home", init=False)
    shim = place.write("bin/git-mem", f'#!/bin/sh\nexec "{warm_process.interpreter()}" -m gitmem "$@"\n')
    shim.chmod(0o755)
    commands = first_minute()
    assert len(commands) >= 6
    script = "set -e\n" + "\n".join(f"{command}\necho '--'" for command, _ in commands)
    env = {"PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}", "GITMEM_NOW": "2026-02-05T14:30:00"}
    env |= {"GIT_AUTHOR_DATE": "2026-02-05T14:31:00", "GIT_COMMITTER_DATE": "2026-02-05T14:31:00"}
    answers = place.run("bash", "-c", script, env=env).stdout.split("--\n")
    for (command, wanted), answer in zip(commands, answers, strict=False):
        assert wanted.strip() in answer, command
    said = {command.partition(" MEMORY.md")[0]: answer for (command, _), answer in zip(commands, answers, strict=False)}
    assert "order_id" in said['git mem search "idempotency key"'] and "REST webhooks" in said["git mem why"]
    assert "MEMORY.md:5" in said["git mem edit"] and "+ - PoC phase 1 uses REST webhooks" in said["git mem undo --yes"]


def test_the_readme_names_no_version_and_no_package_index_that_does_not_exist() -> None:
    tags = subprocess.run(["git", "tag"], cwd=SOURCE, capture_output=True, text=True, check=True).stdout.split()
    assert all(version in tags for version in re.findall(r"\bv\d+\.\d+\.\d+\b", README))
    assert "pip install git-mem" not in README
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert link.startswith("https://") or (SOURCE / link).exists(), link


def test_a_newcomer_with_notes_finds_one_and_leaves_no_trace(tmp_path: Path) -> None:
    place = Repo(tmp_path / "notes", init=False)
    korean, english = "결제 모듈은 {} 번으로 바꾸기로 했다", "The landlord of flat {} prefers a bank transfer"
    for number in range(60):
        name = f"집/메모 {number}.md" if number % 2 else f"home/note {number}.md"
        place.write(name, f"# {number}\n\n{(korean if number % 2 else english).format(number)}\n")
    place.write("photo.jpg", b"\xff\xd8")

    def files() -> dict[str, bytes]:
        found = (path for path in place.path.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {path.relative_to(place.path).as_posix(): path.read_bytes() for path in found}

    before = files()
    place.mem("init", "--adopt")
    place.mem("install")
    assert "flat 8" in place.mem("search", "how is the rent of flat 8 paid to the landlord").stdout
    assert "33 번" in place.mem("search", "결제 모듈 33 번").stdout
    place.mem("add", "월세는 25일에 낸다")
    place.mem("undo", "--yes")
    place.mem("undo", "--yes")
    assert "nothing to undo" in place.mem("undo", "--yes", check=False).stderr
    place.mem("uninstall", "--purge")
    assert files() == before
    assert not (place.path / ".git/gitmem").exists() and not list((place.path / ".git/hooks").glob("*[!e]"))


def test_the_commands_of_the_table_exist_with_their_options() -> None:
    import click

    from gitmem.cli.main import main_command

    context = click.Context(main_command, info_name="git mem")
    for line in re.findall(r"`git mem ([^`]+)`", README):
        name, *rest = line.split()
        command = main_command.get_command(context, name)
        assert command is not None, name
        options = {flag for parameter in command.params for flag in parameter.opts}
        for word in rest:
            assert not word.startswith("--") or word in options, f"git mem {name} has no {word}"
