"""The documentation says what the code does."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from gitmem.cli.main import main_command
from gitmem.cli.registry import COMMANDS, SECTIONS
from gitmem.config import git_name, keys
from gitmem.errors import Exit
from tests.harness import SOURCE

PAGES = [*sorted((SOURCE / "docs").rglob("*.md")), SOURCE / "README.md"]


def test_generated_pages_are_current() -> None:
    done = subprocess.run([sys.executable, "tools/docs.py", "--check"], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "| `--help` |" not in (SOURCE / "docs/cli.md").read_text(encoding="utf-8")  # every command has it


def test_every_command_has_one_section_a_file_and_a_help_text() -> None:
    import click

    names = [name for section in SECTIONS.values() for name in section]
    assert len(names) == len(set(names)) and set(names) == set(COMMANDS)
    context = click.Context(main_command, info_name="git mem")
    for name in main_command.list_commands(context):
        command = main_command.get_command(context, name)
        assert command is not None and command.help, name
        first = command.help.strip().split("\n\n")[0]
        assert first.rstrip().endswith("."), name
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.help and parameter.help[0].isupper() | parameter.help[0].islower(), (
                    name,
                    parameter.name,
                )


def test_every_setting_and_exit_code_has_its_place() -> None:
    settings = (SOURCE / "docs/config.md").read_text(encoding="utf-8")
    for name, _ in keys():
        assert f"`{git_name(name)}`" in settings
    cli = (SOURCE / "docs/cli.md").read_text(encoding="utf-8")
    for code in Exit:
        assert re.search(rf"(?m)^\| {int(code)} \|", cli)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page) -> None:  # type: ignore[no-untyped-def]
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_page_for_people_is_linked_from_the_readme() -> None:
    linked = set(re.findall(r"\]\(docs/([\w-]+\.md)\)", (SOURCE / "README.md").read_text("utf-8")))
    assert {page.name for page in (SOURCE / "docs").glob("*.md")} == linked


def test_commands_named_in_the_docs_exist() -> None:
    import click

    context = click.Context(main_command, info_name="git mem")
    known = set(main_command.list_commands(context))
    for page in PAGES:
        for name in re.findall(r"(?m)(?:^\s*\$?\s*|`)git mem ([a-z][a-z-]+)", page.read_text(encoding="utf-8")):
            assert name in known, f"{page.name}: git mem {name}"


def test_every_package_has_its_place_in_the_design() -> None:
    design = (SOURCE / "docs/design.md").read_text(encoding="utf-8")
    for path in sorted((SOURCE / "gitmem").iterdir()):
        if (path.suffix == ".py" or (path / "__init__.py").exists()) and not path.name.startswith("__"):
            assert f"`{path.stem}`" in design, path.stem


def test_the_glossary_has_only_words_that_the_code_uses() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (SOURCE / "gitmem").rglob("*.py")).casefold()
    rows = re.findall(r"(?m)^\| ([^|]+) \|", (SOURCE / "docs/glossary.md").read_text(encoding="utf-8"))
    words = [word for row in rows if row not in ("word", "---") for word in row.split(", ")]
    assert len(words) > 40
    assert not [word for word in words if not re.search(rf"\b{re.escape(word)}", source)]


def test_every_rule_of_the_gate_has_a_heading() -> None:
    from gitmem.gate.detectors import DETECTORS, examples

    text = (SOURCE / "docs/detectors.md").read_text(encoding="utf-8")
    for rule in (rule for name in DETECTORS for rule in examples(name)):
        assert f"`{rule}`" in text or f"# {rule}" in text, rule


def test_the_table_of_precision_names_rules_that_are_there() -> None:
    from gitmem.gate.detectors import DETECTORS, examples

    rules = {rule for name in DETECTORS for rule in examples(name)}
    lines = (SOURCE / "tools/rule_precision.txt").read_text(encoding="utf-8").splitlines()
    for rule, documents, blocked, right in (line.split("\t") for line in lines if line and not line.startswith("#")):
        assert rule in rules and int(documents) > 0 and 0 <= int(right) <= int(blocked)
