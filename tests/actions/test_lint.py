"""Workflow files and actions are clean under the linters that know how they are attacked (docs/threats.md, A27, A28)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.harness import SOURCE

SCANLESS = {"fork-review", "comments"}  # they follow a workflow that scans
BIN = Path(sys.executable).parent
ACTIONS = sorted(SOURCE.glob("actions/*/action.yml"))
WORKFLOWS = [*sorted(SOURCE.glob(".github/workflows/*.yml")), *sorted(SOURCE.glob("examples/workflows/*.yml"))]


def run(*command: str) -> None:
    done = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_finds_nothing() -> None:
    places = ["actions", ".github/workflows", "examples/workflows"]
    run("zizmor", "--offline", "--strict-collection", "--config", ".github/zizmor.yml", *places)


def test_schemas_hold() -> None:
    run("check-jsonschema", "--builtin-schema", "vendor.github-actions", *map(str, ACTIONS))
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS))


def test_actionlint_finds_nothing() -> None:
    program = shutil.which("actionlint")
    if program is None:
        pytest.skip("there is no actionlint on PATH")
    done = subprocess.run([program, *map(str, WORKFLOWS)], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_shell_is_clean() -> None:
    scripts = [*SOURCE.glob("actions/*/*.sh"), *(p for p in SOURCE.glob("hooks/*") if p.suffix != ".md")]
    run("shellcheck", *map(str, scripts), str(SOURCE / ".ci/run"))


@pytest.mark.parametrize("path", [*ACTIONS, *WORKFLOWS], ids=lambda path: "/".join(path.parts[-2:]))
def test_no_expression_stands_in_a_run_and_foreign_actions_are_pinned(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    value = yaml.safe_load(text)
    steps = value["runs"]["steps"] if "runs" in value else [s for job in value["jobs"].values() for s in job["steps"]]
    for step in steps:
        assert "${{" not in step.get("run", "")
        uses = step.get("uses", "")
        if uses and not uses.startswith(("./", "git-mem/git-mem/")):
            assert re.search(r"@[0-9a-f]{40}$", uses), uses
            assert re.search(re.escape(uses) + r" # v\d", text), f"{uses} does not say its version"
    assert "pull_request_target" not in text
    if "secrets." in text:  # `on` is read as true by YAML
        assert set(value[True]) <= {"push", "schedule", "workflow_dispatch"}, "a fork's event would meet a secret"
        assert all("environment" in job for job in value["jobs"].values() if "secrets." in str(job))


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_each_action_has_a_page_with_a_workflow_and_its_permissions(path: Path) -> None:
    page = (path.parent / "README.md").read_text(encoding="utf-8")
    assert f"actions/{path.parent.name}@" in page and "permissions:" in page
    for name in yaml.safe_load(path.read_text(encoding="utf-8")).get("inputs", {}):
        assert f"`{name}`" in page, name


@pytest.mark.parametrize("path", sorted(SOURCE.glob("examples/workflows/*.yml")), ids=lambda path: path.stem)
def test_a43_no_scan_waits_in_a_group_in_which_a_later_push_cancels_it(path: Path) -> None:
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    scans = [job for job in value["jobs"].values() if any("actions/scan@" in s.get("uses", "") for s in job["steps"])]
    if path.stem not in SCANLESS:
        assert scans and "concurrency" not in value
    assert not any("concurrency" in job for job in scans)
