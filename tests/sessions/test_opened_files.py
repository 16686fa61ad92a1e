"""What a session read just before something was said is proposed as its code, where the words stand there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from gitmem.config import Config
from gitmem.git.opening import Repository, open_repository
from gitmem.hosts.transcript_parser import parse
from gitmem.sessions.lifecycle import Source, flush
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
CODE = "import os\n\n\ndef limit_entry(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n"


@pytest.fixture
def opened(repo: Repo) -> Iterator[Repository]:
    repo.commit("o", {"src/limit.py": CODE, "src/wall.py": "x = 1\n", ".env": "limit_entry=1\n", "MEMORY.md": "# M\n"})
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


def logged(repo: Repo, opened: Repository, said: str, *given: dict[str, object]) -> str:
    """The log after a session that called a tool with each of these inputs and was then told something."""
    calls = [{"type": "tool_use", "id": f"c{n}", "name": "Read", "input": one} for n, one in enumerate(given)]
    entries = [
        {"type": "assistant", "uuid": "a", "sessionId": "s", "message": {"role": "assistant", "content": calls}},
        {"type": "user", "uuid": "b", "sessionId": "s", "message": {"role": "user", "content": said}},
    ]
    text = "".join(json.dumps({**one, "timestamp": NOW.isoformat()}) + "\n" for one in entries)
    flush(opened, Config(), parse(text.encode()), Source(agent="coder"), now=NOW)
    path = "memory/2026-02-05.coder.md"
    return repo.read(path) if (repo.path / path).exists() else ""


SAID = "We decided that limit_entry gives up after 30 tries, since more only costs time."


@pytest.mark.parametrize(
    "given", [{"file_path": "src/limit.py"}, {"file_path": "src/limit.py", "offset": 4, "limit": 3}]
)
def test_the_code_that_was_open_and_has_the_words_is_proposed(
    repo: Repo, opened: Repository, given: dict[str, object]
) -> None:
    text = logged(repo, opened, SAID, given, {"file_path": str(repo.path / "src/wall.py")})
    assert "read=src/limit.py#L" in text and "wall" not in text and "code=" not in text


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "src/wall.py"},  # says nothing of it
        {"file_path": ".env"},
        {"file_path": "/etc/passwd"},
        {"file_path": "../limit.py"},
        {"file_path": "src/limit.py", "offset": 1, "limit": 2},  # other lines
        {"file_path": ["src/limit.py"]},
        {"command": "cat src/limit.py"},
    ],
)
def test_nothing_is_proposed_where_the_words_do_not_stand(
    repo: Repo, opened: Repository, given: dict[str, object]
) -> None:
    text = logged(repo, opened, SAID, given)
    assert "limit_entry gives up" in text and "read=" not in text


def test_a_number_alone_tells_nothing(repo: Repo, opened: Repository) -> None:
    text = logged(
        repo, opened, "We decided that entry gives up after 30 tries of a day.", {"file_path": "src/limit.py"}
    )
    assert "gives up" in text and "read=" not in text


def test_a_proposal_marks_nothing_until_it_is_confirmed(repo: Repo, opened: Repository) -> None:
    text = logged(repo, opened, SAID, {"file_path": "src/limit.py"})
    read = text.split("read=")[1].split(" ")[0]
    repo.commit(
        "fact", {"MEMORY.md": f"# M\n\n- limit_entry gives up after 30 tries <!-- mem type=rule read={read} -->\n"}
    )
    repo.commit("changed", {"src/limit.py": CODE + "\n"})
    assert json.loads(repo.mem("check", "--suspect", "--json").stdout) == {"findings": []}
    repo.mem("confirm", "MEMORY.md:3")
    assert "code=src/limit.py#L" in repo.read("MEMORY.md") and "read=" not in repo.read("MEMORY.md")
