"""Citations of code: their form, and how they are checked."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from gitmem.claims.anchoring import citation_pairs, make_citation, places_of
from gitmem.claims.citations import Citation, TreeCode, Verdict, compose, fingerprint, parse, verdict
from gitmem.claims.history import History
from gitmem.claims.tree import Tree
from gitmem.errors import UsageError
from gitmem.git.opening import Repository, open_repository
from gitmem.memory.fact import parse_comment, render_comment
from tests.harness import Repo

CODE = "import os\n\n\ndef limit(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n    return None\n"


@pytest.fixture
def code(repo: Repo) -> Repo:
    repo.commit(
        "o",
        {
            "src/limit.py": CODE,
            "src/limit.ts": "export function limit(user) {\n  const tries = 30;\n  return tries;\n}\n",
        },
    )
    return repo


@pytest.fixture
def opened(code: Repo) -> Iterator[Repository]:
    opened = open_repository(code.path, os.environ)
    yield opened
    opened.close()


def now(opened: Repository, citation: Citation) -> Verdict:
    tree = Tree(opened, opened.head() or "")
    return verdict(citation, TreeCode(tree, History(opened, tree)))


@pytest.mark.parametrize(
    "citation",
    [
        Citation("src/a b@c#d~e.py", 3, 9, "", "1a2b3c4d5e6f", "0a1b2c3d"),
        Citation("문서/집.py", 1, 1, "", "", "0a1b2c3d"),
        Citation("src/a.py", 0, 0, "House.open", "1a2b3c4d5e6f", "0a1b2c3d"),
    ],
)
def test_a_citation_survives_the_comment(citation: Citation) -> None:
    text, meta = parse_comment(f"A fact {render_comment([('type', 'rule'), ('code', compose(citation))])}")
    assert text == "A fact" and parse(dict(meta)["code"]) == citation


@pytest.mark.parametrize(
    "value", ["", "a.py", "a.py#L1", "a.py#L9-L3~0a1b2c3d", "a.py#L1@zz~0a1b2c3d", "a.py#L1~0a1b2c3", "#L1~0a1b2c3d"]
)
def test_what_is_no_citation_is_none(value: str) -> None:
    assert parse(value) is None


def test_indentation_and_blank_lines_are_not_what_is_cited() -> None:
    assert fingerprint(["a  b", "", "\tc"]) == fingerprint(["a b", "c"]) != fingerprint(["a b c"])


@pytest.mark.parametrize("place", ["src/limit.py:4-7", "src/limit.py#limit", "src/limit.ts#limit"])
def test_the_ladder(code: Repo, opened: Repository, place: str) -> None:
    citation = make_citation(opened, place)
    path, body = citation.path, code.read(citation.path)
    assert (now(opened, citation).state, now(opened, citation).words) == ("holds", "unchanged")
    code.commit("moved", {path: "# one\n# two\n" + body})
    assert now(opened, citation).state == "holds"
    code.git("mv", path, "src/other" + path[-3:])
    code.commit("renamed")
    assert now(opened, citation).state == "holds" and now(opened, citation).path == "src/other" + path[-3:]
    code.commit("changed", {"src/other" + path[-3:]: body.replace("30", "20")})
    assert now(opened, citation).state == "changed"
    code.git("rm", "-q", "src/other" + path[-3:])
    code.commit("away")
    assert now(opened, citation).state == "gone"


def test_lines_too_banal_are_cited_with_their_neighbours(opened: Repository) -> None:
    citation = make_citation(opened, "src/limit.py:5")
    assert citation.start < 5 < citation.end


@pytest.mark.parametrize(
    "place",
    [
        "src/limit.py",
        "src/limit.py:90",
        "src/limit.py#nothing",
        "../x.py:1",
        "/etc/passwd:1",
        ".env:1",
        "a/secrets.json:1",
        "new.py:1",
        "src/limit.py:7-4",
    ],
)
def test_what_is_not_there_or_not_to_be_cited_is_refused(code: Repo, opened: Repository, place: str) -> None:
    code.write("new.py", "x = 1\n")
    with pytest.raises(UsageError):
        citation_pairs(opened, [place])


def test_a_link_is_not_followed(code: Repo, opened: Repository) -> None:
    (code.path / "link.py").symlink_to("src/limit.py")
    code.commit("link")
    with pytest.raises(UsageError):
        make_citation(opened, "link.py:1-4")


def test_an_agents_place_is_lines_or_a_symbol() -> None:
    assert places_of([{"path": "a.py", "lines": "L1-L4"}, {"path": "b.py", "symbol": "f"}]) == ["a.py:1-4", "b.py#f"]
    with pytest.raises(UsageError):
        places_of([{"path": "a.py"}])
