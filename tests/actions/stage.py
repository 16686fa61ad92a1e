"""The scene in which an action runs: a remote over HTTP, a checkout of it, a REST server, and git-mem on PATH."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import warm_process
from tests.actions.remote import GitServer
from tests.actions.rest import RestServer
from tests.actions.runner import Result, Runner
from tests.harness import SOURCE, Repo

ACTIONS = SOURCE / "actions"
PUSHED, AFTER = "2026-02-05T12:00:00Z", "2026-02-05T12:05:00Z"  # of a branch, and of a comment on it


class Stage:
    """`repo` is a person's clone that pushes; `run` checks a commit out anew, as a runner would, and runs an action."""

    def __init__(self, folder: Path, token: str = "write") -> None:
        self.folder = folder
        Repo(folder / "remotes/team/memory", True, "--bare").git("config", "http.receivepack", "true")
        self.server = GitServer(folder / "remotes", token)
        self.rest = RestServer("team/memory", token)
        self.token = token
        self.repo = Repo(folder / "person")
        self.repo.git("remote", "add", "origin", f"file://{folder}/remotes/team/memory")
        self.depth = 0  # commits that a checkout fetches; 0 is all of history, with every branch
        self.count = 0
        self.lock = threading.Lock()
        self.secrets: dict[str, str] = {}  # of the repository's environments
        self.caches: dict[str, dict[str, bytes]] = {}
        self.artifacts: dict[str, dict[str, bytes]] = {}

    def close(self) -> None:
        self.server.close()
        self.rest.close()

    def push(self, branch: str = "main") -> str:
        self.repo.git("push", "-q", "--force", "origin", f"HEAD:refs/heads/{branch}")
        return self.repo.git("rev-parse", "HEAD").strip()

    def pull_request(self, base: str, head: str, number: int = 1, fork: bool = False, **more: Any) -> dict[str, Any]:
        """The payload of a pull_request event."""
        theirs = "stranger/memory" if fork else "team/memory"
        return {
            "repository": {"default_branch": "main", "full_name": "team/memory"},
            "pull_request": {
                "number": number, "title": more.get("title", "change"),
                "base": {"sha": base, "ref": "main", "repo": {"full_name": "team/memory"}},
                "head": {"sha": head, "ref": more.get("ref", "change"), "repo": {"full_name": theirs}},
            },
        }  # fmt: skip

    def run(
        self,
        action: str,
        payload: Mapping[str, Any],
        *,
        event: str = "pull_request",
        ref: str = "main",
        sha: str = "",
        inputs: Mapping[str, str] = {},
        token: str | None = None,
    ) -> Result:
        """One run of one of our actions on a fresh checkout."""
        room, runner = self._scene(payload, event, ref, sha, token)
        self._clone(runner, {})
        result = runner.run_action(ACTIONS / action, inputs)
        self.checkout = Repo(room / "work", init=False)
        return result

    def comment(self, body: str, *, author: str = "dana", written: str = AFTER, edited: str = "") -> dict[str, Any]:
        """The payload of a comment on pull request 1, which is there under its number."""
        row = {
            "id": 500 + len(self.rest.state.comments.setdefault(1, [])), "body": body,
            "user": {"login": author, "type": "Bot" if author.endswith("[bot]") else "User"},
            "created_at": written, "updated_at": edited or written,
        }  # fmt: skip
        self.rest.state.comments[1].append(row)
        return {
            "action": "created", "repository": {"default_branch": "main", "full_name": "team/memory"},
            "issue": {"number": 1, "title": "$(touch x)", "pull_request": {"url": "x"}}, "comment": row,
        }  # fmt: skip

    def open_pull(self, base: str, head: str, branch: str = "change", source: str = "team/memory") -> dict[str, Any]:
        """A pull request that the API knows, whose head the remote has as GitHub does (refs/pull/1/head)."""
        number = len(self.rest.state.pulls) + 1
        owner = source.partition("/")[0]
        row = {
            "number": number, "state": "open", "merged_at": None, "title": "change", "body": "",
            "head": {"ref": branch, "label": f"{owner}:{branch}", "sha": head, "repo": {"full_name": source}},
            "base": {"ref": "main", "sha": base, "repo": {"full_name": "team/memory"}},
            "html_url": f"https://github.com/team/memory/pull/{number}", "user": {"login": owner, "type": "User"},
        }  # fmt: skip
        self.rest.state.pulls.append(row)
        self.rest.state.pushes.append({"ref": f"refs/heads/{branch}", "after": head, "timestamp": PUSHED})
        self.repo.git("push", "-q", "origin", f"+{head}:refs/pull/{number}/head")
        return row

    def run_workflow(
        self,
        path: Path,
        payload: Mapping[str, Any],
        *,
        event: str,
        ref: str = "main",
        inputs: Mapping[str, str] = {},
    ) -> dict[str, Result]:
        """Every job of a workflow file on one event, in order; ours are taken from this checkout."""
        import yaml

        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        results = {}
        for name, job in jobs.items():
            _, runner = self._scene(payload, event, ref, "", None)
            results[name] = runner.run_job(job, inputs)
        return results

    def _scene(
        self, payload: Mapping[str, Any], event: str, ref: str, sha: str, token: str | None
    ) -> tuple[Path, Runner]:
        """A room and a runner in it, before anything is checked out. setup.sh finds this git-mem and installs nothing;
        `test_setup_installs` is the run that does."""
        with self.lock:
            self.count += 1
            room = self.folder / f"run{self.count}"
        (room / "work").mkdir(parents=True)
        pull = payload.get("pull_request", {})
        head = sha or pull.get("head", {}).get("sha") or f"origin/{ref}"
        runner = Runner(
            room / "work", room / "temp", payload,
            {
                "event_name": event, "ref_name": ref, "ref": f"refs/heads/{ref}", "repository": "team/memory",
                "sha": head if len(head) == 40 else self.remote_tip(ref), "api_url": self.rest.url,
                "server_url": self.server.url, "token": self.token if token is None else token, "_head": head,
            },
            secrets=self.secrets,
            handlers={
                "actions/cache/restore": self._restore, "actions/cache/save": self._save,
                "actions/upload-artifact": self._upload, "actions/checkout": self._clone, "actions/setup-python": lambda runner, given: {},
            },
            actions={f"git-mem/git-mem/actions/{folder.name}": folder for folder in ACTIONS.iterdir()},
        )  # fmt: skip
        venv = room / "temp/git-mem-venv/bin"
        venv.mkdir(parents=True)
        (venv / "git-mem").write_text(f'#!/bin/sh\nexec "{warm_process.interpreter()}" -m gitmem "$@"\n')
        (venv / "git-mem").chmod(0o755)
        (venv.parent / "git-mem-extras").write_text("llama,mcp,remote\n")  # what a model needs is there too
        return room, runner

    def remote_tip(self, branch: str) -> str:
        """Where a branch of the remote is."""
        return self.repo.git("ls-remote", "origin", f"refs/heads/{branch}").split()[0]

    def _clone(self, runner: Runner, given: dict[str, str]) -> dict[str, str]:
        """What actions/checkout does with fetch-depth `depth` and persist-credentials false."""
        checkout = Repo(runner.workspace, init=False)
        head, ref = str(runner.github["_head"]), str(runner.github["ref_name"])
        part = [f"--depth={self.depth}", "--single-branch", f"--branch={ref}"] if self.depth else []
        checkout.git("clone", "-q", *part, f"{self.server.url}/team/memory", ".")
        detached = ["--detach"] if "pull_request" in runner.github["event"] else ["-B", ref]
        checkout.git("checkout", "-q", *detached, head)
        return {}

    def _restore(self, runner: Runner, given: dict[str, str]) -> dict[str, str]:
        names = [given["key"], *(k for k in self.caches if k.startswith(given["restore-keys"].strip()))]
        for name in names:
            if name in self.caches:
                for path, data in self.caches[name].items():
                    target = Path(given["path"]) / path
                    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    target.write_bytes(data)
                return {"cache-hit": str(name == given["key"]).lower()}
        return {"cache-hit": ""}

    def _save(self, runner: Runner, given: dict[str, str]) -> dict[str, str]:
        folder = Path(given["path"])
        files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        self.caches[given["key"]] = files
        return {}

    def _upload(self, runner: Runner, given: dict[str, str]) -> dict[str, str]:
        folder = Path(given["path"])
        self.artifacts[given["name"]] = {
            str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()
        }
        return {}
