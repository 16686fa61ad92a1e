"""actions/promote with a language model: the key reaches the endpoint and nothing else; forks have none."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.actions.runner import Runner
from tests.actions.stage import ACTIONS, Stage
from tests.harness import SOURCE
from tests.loopback import LoopbackServer, QuietHandler

KEY = "model-key-" + "0123456789abcdef"
LOG = "# 2026-02-06\n\n## 09:00\n\n- The ferry leaves at 07:40 on weekdays, we always take it.\n- lunch was fine\n"
REPOSITORY: dict[str, Any] = {"repository": {"default_branch": "main", "full_name": "team/memory"}}


class ModelServer(LoopbackServer):
    """An OpenAI-compatible endpoint that proposes the log's line about the ferry, for a request with the key."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.bodies: list[str] = []
        outer = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = self.body().decode()
                outer.bodies.append(body)
                key = self.headers.get("Authorization", "").removeprefix("Bearer ")
                outer.keys.append(key)
                if key != KEY:
                    self.reply(401, f'{{"error": {{"message": "wrong key {key}"}}}}'.encode())
                    return
                content = json.loads(body)["messages"][-1]["content"]
                label = next(line.split()[0] for line in content.splitlines() if "The ferry" in line)
                fact = {
                    "op": "add", "text": "The ferry leaves at 07:40 on weekdays.", "type": "fact", "importance": 7,
                    "lines": [re.sub(r"[^\w.-]", "", label)],
                }  # fmt: skip
                content = json.dumps({"facts": [fact]})
                reply = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
                self.reply(200, json.dumps(reply).encode())

        super().__init__(Handler)
        self.model = f"http:{self.url}/v1#stub"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def promote(stage: Stage, payload: Any = REPOSITORY, event: str = "workflow_dispatch", **inputs: str) -> Any:
    return stage.run(
        "promote", payload, event=event, ref="main", inputs={k.replace("_", "-"): v for k, v in inputs.items()}
    )


def left_behind(stage: Stage) -> str:
    """Everything a run wrote: the checkout with its Git directory, what the remote got, the API's requests."""
    files = [path for path in stage.folder.rglob("*") if path.is_file() and path.stat().st_size < 1 << 20]
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files) + str(stage.rest.state.requests)


def test_a_model_proposes_and_the_key_is_nowhere_but_in_its_requests(stage: Stage, model: ModelServer) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    done = promote(stage, model=model.model, api_key=KEY)
    assert done.status == "success" and done.outputs["facts"] == "1", done.log
    (pull,) = stage.rest.state.pulls
    assert "The ferry leaves at 07:40 on weekdays" in pull["body"] and set(model.keys) == {KEY}
    stage.repo.git("fetch", "-q", "origin")
    message = stage.repo.git("log", "-1", "--format=%B", "origin/memory/promote")
    assert "Memory-Model: http:127.0.0.1" in message
    assert KEY not in done.log + done.summary + "".join(model.bodies) + left_behind(stage)


def test_a_wrong_key_is_an_error_that_does_not_repeat_it(stage: Stage, model: ModelServer) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    done = promote(stage, model=model.model, api_key="not-the-key-9876543210")
    assert done.status == "failure" and "HTTP 401" in done.log and stage.rest.state.pulls == []
    assert "not-the-key" not in done.log + done.summary + left_behind(stage)


def test_without_a_key_the_error_names_the_input_and_who_gets_no_secrets(stage: Stage, model: ModelServer) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    done = promote(stage, model=model.model)
    assert done.status == "failure" and model.keys == [""]
    assert "api-key: ${{ secrets.NAME }}" in done.log and "forks and Dependabot get no secrets" in done.log


def test_for_a_forks_pull_request_nothing_is_asked_and_that_is_said(stage: Stage, model: ModelServer) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    payload = stage.pull_request(base, stage.push("change"), fork=True)
    done = promote(stage, payload, "pull_request", model=model.model)
    assert done.status == "success" and done.outputs == {"facts": "0", "pull-request": "", "consolidation": ""}
    assert "gets no secrets" in done.log and "gets no secrets" in done.summary
    assert model.keys == [] and stage.rest.state.pulls == []


def test_no_process_that_the_command_starts_sees_the_key(stage: Stage, model: ModelServer, tmp_path: Path) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    seen = tmp_path / "seen"
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    real = stage.repo.run("sh", "-c", "command -v git").stdout.strip()
    git.write_text(f'#!/bin/sh\nenv >> {seen}\nexec {real} "$@"\n')
    git.chmod(0o755)
    _room, runner = stage._scene(REPOSITORY, "workflow_dispatch", "main", "", None)
    stage._clone(runner, {})
    runner.env["PATH"] = f"{git.parent}:{runner.env['PATH']}"
    done = runner.run_action(ACTIONS / "promote", {"model": model.model, "api-key": KEY})
    assert done.status == "success" and KEY in model.keys, done.log
    assert "PATH=" in seen.read_text() and KEY not in seen.read_text()


def test_the_example_promotes_at_night_with_the_secret_of_its_environment(stage: Stage, model: ModelServer) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    text = (SOURCE / "examples/workflows/model.yml").read_text(encoding="utf-8")
    copy = stage.folder / "model.yml"
    copy.write_text(text.replace("http:https://api.example.org/v1#MODEL", model.model))
    stage.secrets = {"MEMORY_MODEL_KEY": KEY}
    night = stage.run_workflow(copy, REPOSITORY, event="schedule")
    assert night["promote"].status == "success" and night["scan"].status == "skipped", night["promote"].log
    assert len(stage.rest.state.pulls) == 1 and set(model.keys) == {KEY}


@pytest.mark.parametrize(
    ("model", "extras", "installs"),
    [
        ("", "", ""),
        ("rules", "mcp", "mcp"),
        ("http:https://x/v1#m", "", "remote"),
        ("gguf:/m.gguf", "mcp", "mcp,llama"),
    ],
)
def test_what_a_model_needs_is_installed_with_it(tmp_path: Path, model: str, extras: str, installs: str) -> None:
    from gitmem import __version__

    said, folder = tmp_path / "asked-of-pip", tmp_path / "temp/git-mem-venv/bin"
    folder.mkdir(parents=True)
    (folder / "new").write_text(f'#!/bin/sh\necho "git-mem {__version__}"\n')
    (folder / "new").chmod(0o755)
    (folder / "python").write_text(f'#!/bin/sh\necho "$@" >> {said}\ncp {folder}/new {folder}/git-mem\n')
    (folder / "python").chmod(0o755)
    (tmp_path / "work").mkdir()
    runner = Runner(tmp_path / "work", tmp_path / "temp", {}, {})
    runner.run_action(
        ACTIONS / "promote", {"model": model, "extras": extras, "python": sys.executable, "api-key": KEY}
    )  # the promotion itself has no repository here
    _, _, *more = said.read_text().splitlines()
    assert [line.split()[-1] for line in more] == ([f"git-mem[{installs}]=={__version__}"] if installs else [])
