"""The part of GitHub's REST API that our actions use, on loopback, with state.

Requests are checked against the fields GitHub publishes (https://docs.github.com/rest): an unknown field or a missing
one is 422. `faults` makes the next matching request fail, so that 403, 409, 422, rate limits and 5xx are met for real.
"""

from __future__ import annotations

import json
import re
import threading
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import LoopbackServer, QuietHandler

PULL = {"title", "head", "base", "body", "draft", "maintainer_can_modify", "head_repo", "issue"}
PATCH = {"title", "body", "state", "base", "maintainer_can_modify"}


@dataclass
class State:
    """What a repository on GitHub remembers."""

    pulls: list[dict[str, Any]] = field(default_factory=list)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    labels: dict[int, list[str]] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    reactions: list[tuple[int, str]] = field(default_factory=list)
    line_comments: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    pushes: list[dict[str, Any]] = field(default_factory=list)
    writers: set[str] = field(default_factory=lambda: {"dana"})
    rules: list[dict[str, Any]] = field(default_factory=list)
    owners_errors: list[dict[str, Any]] = field(default_factory=list)
    faults: list[tuple[str, str, int, dict[str, str], Any]] = field(default_factory=list)


class RestServer(LoopbackServer):
    """One repository `owner/name`; a request without `token` is 401, with a read-only one writing is 403."""

    def __init__(self, repository: str = "team/memory", token: str = "write", read_only: str = "read") -> None:
        self.repository, self.token, self.read_only = repository, token, read_only
        self.state = State()
        self.lock = threading.Lock()
        outer = self

        class Handler(QuietHandler):
            def answer(self) -> None:
                body = self.body()
                with outer.lock:
                    status, headers, value = outer.handle(self.command, self.path, self.headers, body)
                data = value if isinstance(value, bytes) else json.dumps(value).encode() if value is not None else b""
                self.reply(status, data, {**headers, "Content-Type": "application/json; charset=utf-8"})

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = answer

        super().__init__(Handler)

    def handle(self, method: str, target: str, headers: Any, body: bytes) -> tuple[int, dict[str, str], Any]:
        parts = urlsplit(target)
        value = json.loads(body) if body else None
        self.state.requests.append((method, target, value))
        for fault in self.state.faults:
            if fault[0] == method and re.search(fault[1], parts.path):
                self.state.faults.remove(fault)
                return fault[2], fault[3], fault[4]
        given = headers.get("Authorization", "").removeprefix("Bearer ").removeprefix("token ")
        if given not in (self.token, self.read_only):
            return 401, {}, {"message": "Bad credentials"}
        if "api.github.com" not in headers.get("Host", "") and headers.get("X-GitHub-Api-Version") is None:
            return 400, {}, {"message": "X-GitHub-Api-Version is missing"}
        if method != "GET" and given == self.read_only:
            return 403, {}, {"message": "Resource not accessible by integration"}
        prefix = f"/repos/{self.repository}"
        if parts.path.startswith("/repos/stranger/memory/activity"):
            prefix = "/repos/stranger/memory"
        if not parts.path.startswith(prefix):
            return 404, {}, {"message": "Not Found"}
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        return self.route(method, parts.path[len(prefix) :], query, value)

    def route(self, method: str, path: str, query: dict[str, str], value: Any) -> tuple[int, dict[str, str], Any]:
        if path == "" and method == "GET":
            return 200, {}, {"full_name": self.repository, "default_branch": "main"}
        if path == "/pulls" and method == "GET":
            found = [
                pull
                for pull in self.state.pulls
                if query.get("state", "open") in (pull["state"], "all")
                and query.get("head", pull["head"]["label"]) == pull["head"]["label"]
                and query.get("base", pull["base"]["ref"]) == pull["base"]["ref"]
            ]
            return self.page(found, query)
        if path == "/pulls" and method == "POST":
            return self.open_pull(value)
        if match := re.fullmatch(r"/pulls/(\d+)", path):
            pull = self.pull(int(match[1]))
            if pull is None:
                return 404, {}, {"message": "Not Found"}
            if method == "PATCH":
                if set(value) - PATCH:
                    return 422, {}, {"message": f"unknown field {set(value) - PATCH}"}
                pull.update({k: v for k, v in value.items() if k != "base"})
            return 200, {}, pull
        if match := re.fullmatch(r"/issues/(\d+)/comments", path):
            comments = self.state.comments.setdefault(int(match[1]), [])
            if method == "GET":
                return self.page(comments, query)
            if not isinstance(value, dict) or set(value) != {"body"} or len(value["body"]) > 65536:
                return 422, {}, {"message": "Validation Failed"}
            comment = {"id": sum(map(len, self.state.comments.values())) + 100, "body": value["body"], "user": BOT}
            comments.append(comment)
            return 201, {}, comment
        if match := re.fullmatch(r"/issues/comments/(\d+)", path):
            for comments in self.state.comments.values():
                for comment in comments:
                    if comment["id"] == int(match[1]):
                        if method == "PATCH":
                            comment["body"] = value["body"]
                        return 200, {}, comment
            return 404, {}, {"message": "Not Found"}
        if match := re.fullmatch(r"/issues/(\d+)/labels", path):
            labels = self.state.labels.setdefault(int(match[1]), [])
            labels += [label for label in value["labels"] if label not in labels]
            return 200, {}, [{"name": label} for label in labels]
        return self.more(method, path, query, value)

    def more(self, method: str, path: str, query: dict[str, str], value: Any) -> tuple[int, dict[str, str], Any]:
        """Reactions, check runs, pushes, permissions and rules."""
        if match := re.fullmatch(r"/issues/comments/(\d+)/reactions", path):
            self.state.reactions.append((int(match[1]), value["content"]))
            return 201, {}, {"id": 1, "content": value["content"]}
        if re.fullmatch(r"/pulls/\d+/comments", path):
            if method == "GET":
                return self.page(self.state.line_comments, query)
            if set(value) != {"body", "commit_id", "path", "line", "side"}:
                return 422, {}, {"message": "Validation Failed"}
            self.state.line_comments.append({**value, "id": 900 + len(self.state.line_comments), "user": BOT})
            return 201, {}, self.state.line_comments[-1]
        if path == "/check-runs" and method == "POST":
            if len(value["output"]["annotations"]) > 50:
                return 422, {}, {"message": "Invalid request.", "errors": ["No more than 50 annotations"]}
            self.state.checks.append({**deepcopy(value), "id": len(self.state.checks) + 1})
            return 201, {}, self.state.checks[-1]
        if match := re.fullmatch(r"/check-runs/(\d+)", path):
            check = self.state.checks[int(match[1]) - 1]
            check["output"]["annotations"] += value["output"]["annotations"]
            return 200, {}, check
        if match := re.fullmatch(r"/collaborators/([^/]+)/permission", path):
            return 200, {}, {"permission": "write" if match[1] in self.state.writers else "read"}
        if path == "/activity":
            found = [push for push in reversed(self.state.pushes) if push["ref"] == query.get("ref")]
            return 200, {}, found
        if re.fullmatch(r"/rules/branches/[^/]+", path):
            return self.page(self.state.rules, query)
        if path == "/codeowners/errors":
            return 200, {}, {"errors": self.state.owners_errors}
        return 404, {}, {"message": "Not Found"}

    def page(self, rows: list[Any], query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        size, number = min(100, int(query.get("per_page", 30))), int(query.get("page", 1))
        more = number * size < len(rows)
        link = {"Link": f'<{self.url}/next?page={number + 1}>; rel="next"'} if more else {}
        return 200, link, rows[(number - 1) * size : number * size]

    def pull(self, number: int) -> dict[str, Any] | None:
        return next((pull for pull in self.state.pulls if pull["number"] == number), None)

    def open_pull(self, value: Any) -> tuple[int, dict[str, str], Any]:
        if not isinstance(value, dict) or set(value) - PULL or not {"title", "head", "base"} <= set(value):
            return 422, {}, {"message": "Validation Failed", "errors": [{"message": "fields"}]}
        owner = self.repository.split("/")[0]
        head = value["head"].partition(":")[2] or value["head"]
        label = f"{owner}:{head}"
        ends = [(pull["head"]["label"], pull["base"]["ref"]) for pull in self.state.pulls if pull["state"] == "open"]
        if (label, value["base"]) in ends:
            message = f"A pull request already exists for {label}."
            return 422, {}, {"message": "Validation Failed", "errors": [{"message": message}]}
        number = len(self.state.pulls) + 1
        pull = {
            "number": number, "state": "open", "merged_at": None, "title": value["title"], "body": value.get("body"),
            "head": {"ref": head, "label": label, "repo": {"full_name": self.repository}},
            "base": {"ref": value["base"]}, "user": BOT, "html_url": f"https://github.com/{self.repository}/pull/{number}",
        }  # fmt: skip
        self.state.pulls.append(pull)
        return 201, {}, pull


BOT = {"login": "github-actions[bot]", "type": "Bot"}
