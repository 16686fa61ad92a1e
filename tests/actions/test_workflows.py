"""The workflows a person copies, run on the events they are for; two runs at once; the set-up for real."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.actions.runner import Runner
from tests.actions.stage import ACTIONS, Stage
from tests.harness import SOURCE

EXAMPLES = SOURCE / "examples/workflows"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
LOG = "# 2026-02-06\n\n## 09:00\n\n- We decided to use REST webhooks for the PoC because they are easier to debug.\n"
REPOSITORY: dict[str, Any] = {"repository": {"default_branch": "main", "full_name": "team/memory"}}


def statuses(results: dict[str, Any]) -> dict[str, str]:
    return {name: result.status for name, result in results.items()}


def push_payload(stage: Stage) -> dict[str, Any]:
    before = stage.repo.git("rev-parse", "HEAD~1").strip()
    return {**REPOSITORY, "before": before, "after": stage.repo.git("rev-parse", "HEAD").strip()}


def test_personal_memory_is_scanned_on_a_push_and_promoted_at_night(stage: Stage) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    pushed = stage.run_workflow(EXAMPLES / "personal.yml", push_payload(stage), event="push")
    assert statuses(pushed) == {"scan": "success", "promote": "skipped"}
    night = stage.run_workflow(EXAMPLES / "personal.yml", REPOSITORY, event="schedule")
    assert statuses(night) == {"scan": "skipped", "promote": "success"} and len(stage.rest.state.pulls) == 1


def test_team_memory_is_scanned_and_reviewed_in_a_pull_request_and_merged_after_a_push(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.git("checkout", "-q", "-b", "change")
    stage.repo.commit("fact", {"MEMORY.md": stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    payload = stage.pull_request(base, stage.push("change"))
    pull = stage.run_workflow(EXAMPLES / "team.yml", payload, event="pull_request", ref="change")
    assert statuses(pull) == {"scan": "success", "review": "success", "merge": "skipped"}
    assert "MIT" in stage.rest.state.comments[1][0]["body"]
    stage.repo.git("checkout", "-q", "main")
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    pushed = stage.run_workflow(EXAMPLES / "team.yml", push_payload(stage), event="push")
    assert statuses(pushed) == {"scan": "success", "review": "skipped", "merge": "success"}


def test_a_fleet_with_a_secret_fails_before_it_is_indexed(stage: Stage) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.coder.md": LOG + f"- {TOKEN}\n"})
    stage.push()
    done = stage.run_workflow(EXAMPLES / "fleet.yml", push_payload(stage), event="push")
    assert statuses(done) == {"scan": "failure", "promote": "skipped"} and stage.caches == {}
    stage.repo.commit("log", {"memory/2026-02-06.coder.md": LOG})
    stage.push()
    clean = stage.run_workflow(EXAMPLES / "fleet.yml", {**push_payload(stage), "before": "0" * 40}, event="push")
    assert clean["scan"].status == "failure", "history still holds it"


def test_two_promotions_at_once_leave_one_pull_request_and_lose_nothing(stage: Stage) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(stage.run, "promote", REPOSITORY, event="workflow_dispatch", ref="main") for _ in range(2)]
        results = [run.result() for run in runs]
    assert "success" in [result.status for result in results]
    assert len([pull for pull in stage.rest.state.pulls if pull["state"] == "open"]) == 1
    stage.repo.git("fetch", "-q", "origin")
    assert "REST webhooks" in stage.repo.git("show", "origin/memory/promote:MEMORY.md")


def test_setup_installs_this_version_from_the_actions_own_checkout(tmp_path: Path) -> None:
    checkout = tmp_path / "action"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, capture_output=True, check=True).stdout
    for name in files.decode().split("\0"):
        if name and not name.startswith(("tests/", "docs/", "bench/")) and (SOURCE / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, checkout / name)
    (tmp_path / "work").mkdir()
    runner = Runner(tmp_path / "work", tmp_path / "temp", {}, {}, handlers={"actions/cache": lambda runner, given: {}})
    done = runner.run_action(checkout / "actions/setup", {"python": sys.executable})
    from gitmem import __version__

    assert done.status == "success" and done.outputs["version"] == __version__, done.log
    assert (tmp_path / "temp/git-mem-venv/bin/git-mem").exists() and ACTIONS.exists()


def test_what_is_installed_is_locked_whole_and_by_hashes() -> None:
    text = (ACTIONS / "setup/requirements.txt").read_text(encoding="utf-8")
    rows = [row for row in text.replace("\\\n", " ").splitlines() if row and not row.startswith("#")]
    locked = {row.split("==")[0].lower(): row for row in rows}
    assert all(re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", row) for row in rows) and "http" not in text
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    assert {re.split(r"[^\w.-]", name)[0].lower() for name in wanted} <= set(locked)


@pytest.mark.parametrize(
    ("there", "former", "asked", "installs"),
    [
        ("", "", "", ""), ("0.0.9", "mcp", "", "mcp"), ("this", "", "", None), ("this", "", "mcp, llama", "mcp,llama"),
        ("this", "mcp", "mcp,llama", "mcp,llama"), ("this", "mcp,llama", "llama", None),
    ],
)  # fmt: skip
def test_setup_installs_another_version_and_more_extras_in_one_job(
    tmp_path: Path, there: str, former: str, asked: str, installs: str | None
) -> None:
    from gitmem import __version__

    said = tmp_path / "asked-of-pip"
    folder = tmp_path / "temp/git-mem-venv/bin"
    folder.mkdir(parents=True)
    program = f'#!/bin/sh\necho "git-mem {__version__ if there in ("", "this") else there}"\n'
    (folder / "git-mem.new").write_text(program.replace("0.0.9", __version__))
    (folder / "git-mem.new").chmod(0o755)
    (folder / "python").write_text(f'#!/bin/sh\necho "$@" >> {said}\ncp {folder}/git-mem.new {folder}/git-mem\n')
    (folder / "python").chmod(0o755)
    if there:
        (folder / "git-mem").write_text(program)
        (folder / "git-mem").chmod(0o755)
        (folder.parent / "git-mem-extras").write_text(former + "\n")
    (tmp_path / "work").mkdir()
    runner = Runner(tmp_path / "work", tmp_path / "temp", {}, {}, handlers={"actions/cache": lambda runner, given: {}})
    done = runner.run_action(ACTIONS / "setup", {"python": sys.executable, "extras": asked})
    assert done.status == "success" and done.outputs["version"] == __version__, done.log
    if installs is None:
        assert not said.exists(), "what is there holds all that is asked for"
    else:
        locked, ours, *extras = said.read_text().splitlines()
        assert "--require-hashes" in locked and locked.endswith(f"{ACTIONS}/setup/requirements.txt")
        assert "--no-index --no-deps" in ours and ours.endswith(str(SOURCE))
        assert [line.split()[-1] for line in extras] == ([f"git-mem[{installs}]=={__version__}"] if installs else [])
        assert (folder.parent / "git-mem-extras").read_text().strip() == installs
