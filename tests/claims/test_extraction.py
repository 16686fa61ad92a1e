"""Which claims are extracted from lines, and which words are no claims."""

from __future__ import annotations

import pytest

from gitmem.claims.claim import Kind
from gitmem.claims.extraction import claims_of


def plain(text: str) -> set[tuple[Kind, str]]:
    return {(claim.kind, claim.token) for claim in claims_of(text) if claim.plain}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The door is `src/door.py:12`.", (Kind.PATH, "src/door.py")),
        ("See [the plan](docs/plan.md#next).", (Kind.PATH, "docs/plan.md")),
        ("@docs/house.md", (Kind.PATH, "docs/house.md")),
        (r"Start `scripts\open.bat`.", (Kind.PATH, "scripts/open.bat")),
        ("- `src/rooms/` has the rooms", (Kind.DIRECTORY, "src/rooms/")),
        ("Run `npm run paint` first.", (Kind.COMMAND, "paint")),
        ("`openDoor()` opens it.", (Kind.SYMBOL, "openDoor")),
        ("`House.open_door` opens it.", (Kind.SYMBOL, "open_door")),
        ("Set `HOUSE_KEY`.", (Kind.ENVIRONMENT, "HOUSE_KEY")),
        ("Needs Python 3.11 or newer.", (Kind.VERSION, "3.11")),
        ("It listens on localhost:5599.", (Kind.PORT, "5599")),
    ],
)
def test_a_line_claims_what_it_names(text: str, expected: tuple[Kind, str]) -> None:
    assert expected in plain(text)


@pytest.mark.parametrize(
    "text",
    [
        "Make sure that it is just fine, as npm packages are.",
        "`application/json` and `text/html`",
        "`github.com/owner/name/v2`",
        "https://example.com/src/door.py",
        "`~/notes/door.md`",
        "<!-- `src/door.py` -->",
        "---\npath: src/door.py\n---\n",
        "`Next.js` is used.",
    ],
)
def test_prose_and_addresses_claim_nothing_plainly(text: str) -> None:
    assert not {token for kind, token in plain(text) if kind in (Kind.PATH, Kind.DIRECTORY, Kind.COMMAND)}


def test_cd_chooses_the_folder_of_what_follows_in_its_block() -> None:
    text = "```bash\ncd web && npm run paint\npytest tests/test_door.py\n```\n"
    rows = [(claim.kind, claim.token, claim.folder) for claim in claims_of(text) if claim.plain]
    assert (Kind.COMMAND, "paint", "web") in rows and (Kind.PATH, "tests/test_door.py", "web") in rows


def test_a_drawing_gives_each_entry_below_its_parents() -> None:
    text = "```\nhouse/\n├── rooms/\n│   ├── hall.py   # in\n│   └── attic.py\n└── door.py\n```\n"
    assert [claim.token for claim in claims_of(text)] == ["rooms", "rooms/hall.py", "rooms/attic.py", "door.py"]


def test_what_a_program_writes_is_no_path_that_it_reads() -> None:
    tokens = {claim.token for claim in claims_of("```sh\ngo build -o bin/house ./cmd/house\n```\n") if claim.plain}
    assert tokens == {"cmd/house"}


@pytest.mark.parametrize(
    "text", ["`" * 5000, "[" * 5000, "a/" * 900, "├── " * 600, "\x00\x1b[2J`src/x.py`", "｀경로｀ `문서/집.md`"]
)
def test_any_text_is_read(text: str) -> None:
    claims_of(text)
