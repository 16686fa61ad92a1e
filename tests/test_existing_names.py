"""The README, docs/, hooks/, actions/ and the workflows name only files, commands, options, settings, make targets,
extras and versions that there are. docs/cli.md and the man pages are made from the code and need no such test."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import click

from gitmem import __version__
from gitmem.cli.command_registry import COMMANDS
from gitmem.cli.main import main_command
from gitmem.config.settings import SETTINGS, git_name
from tests.harness import SOURCE

FOLDERS = ("README.md", ".pre-commit-hooks.yaml", ".github", "docs", "hooks", "actions", "examples/github",
           "examples/gitlab", "examples/workflows", "integrations", "packaging")  # fmt: skip
TEXTS = {".md", ".yml", ".yaml", ".sh", ".json", ".service", ".toml", ""}
PATH = re.compile(
    r"`((?:gitmem|tests|bench|tools|docs|hooks|actions|examples|integrations|packaging|\.github)/[\w./-]+)`"
)
COMMAND = re.compile(r"(?:`|^\s*\$?\s*|run: )git[ -]mem ([a-z][^`\n|;&#]*)", re.M)
SETTING = re.compile(r"(?<![\w./-])mem\.[a-z][A-Za-z]+\b(?![(/])")
TARGET = re.compile(r"(?:`|run: |^)make ([a-z][a-z-]*)", re.M)
# Files that a repository of a user has, and an action of GitHub.
ELSEWHERE = {".github/hooks/git-mem.json", ".github/copilot-instructions.md", ".github/CODEOWNERS", "actions/checkout"}
STATE = re.compile(r"gitmem/[\w-]+(\.(json|jsonl|sqlite|log))?")  # below the Git directory of a user's repository


def _files() -> list[Path]:
    found = []
    for name in FOLDERS:
        place = SOURCE / name
        found += [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return sorted(path for path in found if path.suffix in TEXTS and "__pycache__" not in path.parts)


FILES = _files()


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def commands_by_name() -> dict[str, click.Command]:
    """Each command and subcommand by its words: `search`, `session end`."""
    context = click.Context(main_command, info_name="git mem")
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = main_command.get_command(context, name)
        assert command is not None
        found[name] = command
        if isinstance(command, click.Group):
            found |= {f"{name} {each}": sub for each, sub in command.commands.items()}
    return found


CODE = "\n".join(text_of(path) for path in sorted((SOURCE / "gitmem").rglob("*.py")))
KNOWN = commands_by_name()
OPTIONS = {
    name: {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    | {"-h", "--help"}
    for name, command in KNOWN.items()
}


def test_every_path_that_is_named_is_there() -> None:
    for path in FILES:
        named = {name.rstrip("/.") for name in PATH.findall(text_of(path))} - ELSEWHERE
        absent = {name for name in named if not (SOURCE / name).exists() and not list(SOURCE.glob(f"{name}.*"))}
        state = {name for name in absent if STATE.fullmatch(name) and name.removeprefix("gitmem/") in CODE}
        assert not absent - state, path


def test_every_command_that_is_named_has_its_options() -> None:
    for path in FILES:
        for whole in COMMAND.findall(text_of(path)):
            words = whole.split()
            name = " ".join(words[:2]) if " ".join(words[:2]) in KNOWN else words[0]
            assert name in KNOWN, (path, whole)
            flags = {re.split(r"[=\[]", word)[0].rstrip(".,:)") for word in words if re.match(r"--[a-z]", word)}
            assert flags <= OPTIONS[name] | OPTIONS[words[0]], (path, whole)


def test_every_setting_that_is_named_is_there() -> None:
    known = {git_name(name).casefold() for name in SETTINGS}
    for path in FILES:
        named = set(SETTING.findall(text_of(path)))
        absent = {name for name in named if name.casefold() not in known and not name.startswith("mem.profile")}
        assert not absent, path


def test_every_make_target_and_extra_that_is_named_is_there() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", text_of(SOURCE / "Makefile"), re.M))
    project = tomllib.loads(text_of(SOURCE / "pyproject.toml"))["project"]
    for path in FILES:
        text = text_of(path)
        assert set(TARGET.findall(text)) <= targets, path
        extras = {name for each in re.findall(r"git-mem\[([a-z,-]+)\]", text) for name in each.split(",")}
        assert extras <= project["optional-dependencies"].keys(), path


def test_every_action_and_version_that_is_named_is_there() -> None:
    for path in FILES:
        for place, version in re.findall(r"git-mem/git-mem/([\w./-]+)@v(\d+\.\d+\.\d+)", text_of(path)):
            assert (SOURCE / place).exists() and version == __version__, (path, place)


def test_the_names_are_looked_for() -> None:
    """The patterns above find what they are made for."""
    texts = "\n".join(text_of(path) for path in FILES)
    assert len(FILES) > 60 and len(PATH.findall(texts)) > 100
    assert len(re.findall(r"git-mem/git-mem/[\w./-]+@v", texts)) > 5
    assert len(SETTING.findall(texts)) > 100 and len(COMMAND.findall(texts)) > 300 and len(TARGET.findall(texts)) > 5
