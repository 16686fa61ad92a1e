"""Runs the steps of a composite action or of a job as a GitHub runner does, without Docker or a network.

There is no packaged runner for composite actions that works offline. This one does what the documentation says:
expressions, `if`, `env`, outputs, GITHUB_ENV, GITHUB_OUTPUT, GITHUB_PATH, GITHUB_STEP_SUMMARY, annotations, and a
handler for each `uses:`. Like the real one it sets no INPUT_* variables for `run` steps.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.actions.expressions import condition, expand

ANNOTATION = re.compile(r"^::(error|warning|notice)(?: ([^:]*(?:%3A[^:]*)*))?::(.*)$")
Handler = Callable[["Runner", dict[str, str]], dict[str, str]]


@dataclass
class Result:
    """What a job left behind."""

    status: str = "success"
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    summary: str = ""
    annotations: list[tuple[str, dict[str, str], str]] = field(default_factory=list)


class Runner:
    """One job on one event. `handlers` answer `uses:` by the part before `@`; `actions` maps ours to folders."""

    def __init__(
        self,
        workspace: Path,
        temp: Path,
        event: Mapping[str, Any],
        github: Mapping[str, Any],
        *,
        env: Mapping[str, str] = {},
        secrets: Mapping[str, str] = {},
        handlers: Mapping[str, Handler] = {},
        actions: Mapping[str, Path] = {},
    ) -> None:
        temp.mkdir(parents=True, exist_ok=True)
        self.workspace, self.temp = workspace, temp
        self.handlers, self.actions = handlers, actions
        self.secrets = dict(secrets)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GIT_"))}
        for kept in ("GIT_CONFIG_NOSYSTEM",):
            if kept in os.environ:
                self.env[kept] = os.environ[kept]
        self.env.update(env)
        event_path = temp / "event.json"
        event_path.write_text(json.dumps(event), encoding="utf-8")
        self.github = {
            "event": event, "event_path": str(event_path), "workspace": str(workspace), "server_url": "https://github.com",
            "run_id": "1", "run_attempt": "1", "job": "job", "workflow": "memory", "token": "", **github,
        }  # fmt: skip
        self.result = Result()
        self.summary = temp / "summary.md"
        self.summary.write_text("", encoding="utf-8")

    def run_action(self, folder: Path, inputs: Mapping[str, str] = {}) -> Result:
        """Run one composite action as a step of the job; the job's result so far."""
        outputs, status = self._composite(folder, dict(inputs))
        self.result.outputs, self.result.status = outputs, status
        self.result.summary = self.summary.read_text(encoding="utf-8")
        return self.result

    def run_job(self, job: Mapping[str, Any], inputs: Mapping[str, str] = {}) -> Result:
        """Run the steps of a workflow's job."""
        contexts = self._contexts(inputs)
        if "if" in job and not condition(str(job["if"]), contexts, "success"):
            self.result.status = "skipped"
            return self.result
        self.env.update({key: expand(str(value), contexts) for key, value in job.get("env", {}).items()})
        self.result.status = self._steps(job["steps"], contexts, None)
        self.result.summary = self.summary.read_text(encoding="utf-8")
        return self.result

    def _contexts(self, inputs: Mapping[str, str]) -> dict[str, Any]:
        return {
            "github": self.github, "inputs": dict(inputs), "env": self.env, "steps": {}, "secrets": self.secrets,
            "runner": {"temp": str(self.temp), "os": "Linux"}, "matrix": {}, "vars": {},
        }  # fmt: skip

    def _composite(self, folder: Path, given: dict[str, str]) -> tuple[dict[str, str], str]:
        action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
        declared = action.get("inputs") or {}
        unknown = set(given) - set(declared)
        assert not unknown, f"{folder.name} has no input {unknown}"
        contexts = self._contexts({})
        inputs = {}
        for name, declaration in declared.items():
            default = expand(str(declaration.get("default", "")), contexts)
            inputs[name] = given.get(name, default)
            assert not declaration.get("required") or name in given, f"{folder.name} needs {name}"
        contexts["inputs"] = inputs
        del contexts["secrets"]  # a composite action cannot see them
        assert action["runs"]["using"] == "composite"
        status = self._steps(action["runs"]["steps"], contexts, folder)
        outputs = {
            name: expand(str(output["value"]), contexts) for name, output in (action.get("outputs") or {}).items()
        }
        return outputs, status

    def _steps(self, steps: list[dict[str, Any]], contexts: dict[str, Any], folder: Path | None) -> str:
        status = "success"
        for number, step in enumerate(steps):
            if not condition(str(step.get("if", "success()")), contexts, status):
                continue
            outputs, ended = self._step(step, contexts, folder)
            contexts["steps"][step.get("id", f"step{number}")] = {"outputs": outputs, "outcome": ended}
            if ended == "failure" and not step.get("continue-on-error"):
                status = "failure"
        return status

    def _step(self, step: dict[str, Any], contexts: dict[str, Any], folder: Path | None) -> tuple[dict[str, str], str]:
        env = {key: expand(str(value), contexts) for key, value in (step.get("env") or {}).items()}
        if "uses" in step:
            given = {key: expand(str(value), contexts) for key, value in (step.get("with") or {}).items()}
            name = step["uses"].split("@")[0]
            if name in self.actions:
                saved = dict(self.env)
                self.env.update(env)
                answer = self._composite(self.actions[name], given)
                self.env = {**saved, "PATH": self.env["PATH"]}
                return answer
            assert name in self.handlers, f"no handler for {step['uses']}"
            try:
                return self.handlers[name](self, given), "success"
            except subprocess.CalledProcessError as error:
                self.result.log += f"{name}: {error}\n"
                return {}, "failure"
        if folder is not None:
            assert "shell" in step, "every run of a composite action names its shell"
            assert "${{" not in step["run"], "a run holds no expression"
        where = self.workspace / expand(str(step.get("working-directory", ".")), contexts)
        return self._script(expand(step["run"], contexts), env, folder, where)

    def _script(self, script: str, env: dict[str, str], folder: Path | None, where: Path) -> tuple[dict[str, str], str]:
        files = {name: self.temp / f"{name.lower()}" for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH")}
        for file in files.values():
            file.write_text("", encoding="utf-8")
        known = {
            f"GITHUB_{key.upper()}": str(value)
            for key, value in self.github.items()
            if key not in ("event", "token") and isinstance(value, (str, int))
        }
        process = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=where, capture_output=True, text=True, errors="surrogateescape", timeout=300,
            env={
                **self.env, **known, "GITHUB_ACTIONS": "true", "CI": "true", "RUNNER_TEMP": str(self.temp),
                "RUNNER_OS": "Linux", "GITHUB_STEP_SUMMARY": str(self.summary),
                **{name: str(file) for name, file in files.items()},
                **({"GITHUB_ACTION_PATH": str(folder)} if folder else {}), **env,
            },
        )  # fmt: skip
        self.result.log += process.stdout + process.stderr
        for line in process.stdout.splitlines():
            match = ANNOTATION.match(line)
            if match:
                pairs = [pair.partition("=") for pair in (match.group(2) or "").split(",") if pair]
                self.result.annotations.append((match.group(1), {k: v for k, _, v in pairs}, match.group(3)))
            assert not line.startswith(("::set-output", "::set-env", "::add-path", "::save-state")), line
        self.env.update(read_pairs(files["GITHUB_ENV"]))
        for folder_name in files["GITHUB_PATH"].read_text(encoding="utf-8").splitlines():
            self.env["PATH"] = f"{folder_name}{os.pathsep}{self.env['PATH']}"
        return read_pairs(files["GITHUB_OUTPUT"]), "success" if process.returncode == 0 else "failure"


def read_pairs(file: Path) -> dict[str, str]:
    """`name=value` lines and `name<<END` blocks."""
    pairs = {}
    lines = iter(file.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if re.match(r"^[\w-]+<<", line):
            name, _, end = line.partition("<<")
            block = []
            for inner in lines:
                if inner == end:
                    break
                block.append(inner)
            pairs[name] = "\n".join(block)
        elif line:
            name, _, value = line.partition("=")
            pairs[name] = value
    return pairs
