"""A project on GitLab, on loopback: merge requests, notes, members, with what GitLab documents of each."""

from __future__ import annotations

from typing import Any

from tests.review.forges.loopback import LoopbackForge, Reply, Request, Route

PAGED = frozenset({"page", "per_page"})
PROJECT, FORK = 11, 99


class GitLabServer(LoopbackForge):
    """`team/sub/memory`: `merge_requests` and `notes` are its state, `members` the access level of users by name."""

    def __init__(self, project: str = "team/sub/memory") -> None:
        self.project = project
        self.merge_requests: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []
        self.labels: list[str] = []
        self.me = {"id": 1, "username": "project_11_bot", "name": "memory"}
        self.members = {"project_11_bot": 30, "dana": 40, "guest": 10}
        at = "/api/v4/projects/" + project.replace("/", "%2F")
        mr = at + r"/merge_requests/(\d+)"
        super().__init__(
            [
                Route("GET", at, self.read_project),
                Route("GET", "/api/v4/user", lambda request: (200, self.me)),
                Route("GET", "/api/v4/users", self.users, PAGED | {"username"}),
                Route("GET", at + r"/members/all/(\d+)", self.member),
                Route(
                    "GET", at + "/merge_requests", self.listed,
                    PAGED | {"state", "source_branch", "target_branch", "order_by", "sort"},
                ),
                Route(
                    "POST", at + "/merge_requests", self.opened,
                    takes=frozenset({"source_branch", "target_branch", "title", "description", "labels"}),
                    needs=frozenset({"source_branch", "target_branch", "title"}),
                ),
                Route("GET", mr, self.one),
                Route("PUT", mr, self.changed, takes=frozenset({"title", "description", "add_labels"})),
                Route("GET", mr + "/notes", self.read_notes, PAGED | {"order_by", "sort"}),
                Route("POST", mr + "/notes", self.noted, takes=frozenset({"body"}), needs=frozenset({"body"})),
                Route(
                    "POST", mr + "/discussions", self.discussed,
                    takes=frozenset({"body", "position"}), needs=frozenset({"body"}),
                ),
                Route("PUT", mr + r"/notes/(\d+)", self.renoted, takes=frozenset({"body"}), needs=frozenset({"body"})),
            ],
            "Bearer",
        )  # fmt: skip

    def read_project(self, request: Request) -> Reply:
        return 200, {"id": PROJECT, "path_with_namespace": self.project, "default_branch": "main"}

    def users(self, request: Request) -> Reply:
        names = [*self.members, "stranger"]
        found = [name for name in names if name == request.query.get("username")]
        return 200, [{"id": names.index(name) + 1, "username": name} for name in found]

    def member(self, number: str, request: Request) -> Reply:
        names = list(self.members)
        if int(number) > len(names):
            return 404, {"message": "404 Not found"}
        name = names[int(number) - 1]
        return 200, {"id": int(number), "username": name, "state": "active", "access_level": self.members[name]}

    def listed(self, request: Request) -> Reply:
        query = request.query
        return 200, [
            row
            for row in reversed(self.merge_requests)
            if query.get("state", "all") in ("all", row["state"])
            and query.get("source_branch", row["source_branch"]) == row["source_branch"]
            and query.get("target_branch", row["target_branch"]) == row["target_branch"]
        ]

    def opened(self, request: Request) -> Reply:
        value = request.value
        for row in self.merge_requests:
            same = (row["source_branch"], row["target_branch"]) == (value["source_branch"], value["target_branch"])
            if same and row["state"] == "opened" and row["source_project_id"] == PROJECT:
                word = f"Another open merge request already exists for this source branch: !{row['iid']}"
                return 409, {"message": [word]}
        row = self.merge_request(value["source_branch"], value["target_branch"], value["title"])
        row["description"] = value.get("description")
        return 201, row

    def merge_request(self, source: str, target: str, title: str, project: int = PROJECT) -> dict[str, Any]:
        number = len(self.merge_requests) + 1
        row = {
            "id": 1000 + number, "iid": number, "project_id": PROJECT, "title": title, "description": None,
            "state": "opened", "merged_at": None, "source_branch": source, "target_branch": target,
            "source_project_id": project, "target_project_id": PROJECT, "sha": "b" * 40,
            "web_url": f"https://gitlab.com/{self.project}/-/merge_requests/{number}",
            "diff_refs": {"base_sha": "a" * 40, "head_sha": "b" * 40, "start_sha": "a" * 40},
        }  # fmt: skip
        self.merge_requests.append(row)
        return row

    def one(self, number: str, request: Request) -> Reply:
        found = [row for row in self.merge_requests if row["iid"] == int(number)]
        return (200, found[0]) if found else (404, {"message": "404 Not found"})

    def changed(self, number: str, request: Request) -> Reply:
        status, row = self.one(number, request)
        if status == 200:
            row.update({key: text for key, text in request.value.items() if key != "add_labels"})
            self.labels += request.value.get("add_labels", [])
        return status, row

    def note(self, body: str, author: str, system: bool = False) -> dict[str, Any]:
        row = {
            "id": 300 + len(self.notes), "body": body, "system": system, "author": {"id": 5, "username": author},
            "created_at": "2026-02-05T12:00:00.000Z", "updated_at": "2026-02-05T12:00:00.000Z",
        }  # fmt: skip
        self.notes.append(row)
        return row

    def read_notes(self, number: str, request: Request) -> Reply:
        return 200, self.notes

    def noted(self, number: str, request: Request) -> Reply:
        return 201, self.note(request.value["body"], self.me["username"])  # type: ignore[arg-type]

    def discussed(self, number: str, request: Request) -> Reply:
        position = request.value["position"]
        if {position[key] for key in ("base_sha", "start_sha")} != {"a" * 40} or position["new_line"] > 100:
            return 400, {"message": '400 Bad request - Note {:line_code=>["can\'t be blank"]}'}
        row = self.note(request.value["body"], self.me["username"])  # type: ignore[arg-type]
        row["position"] = position
        return 201, {"id": "6a9c1750", "individual_note": False, "notes": [row]}

    def renoted(self, number: str, note: str, request: Request) -> Reply:
        for row in self.notes:
            if row["id"] == int(note):
                row["body"] = request.value["body"]
                return 200, row
        return 404, {"message": "404 Not found"}
