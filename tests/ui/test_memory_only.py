"""No page shows a file that is not memory, whatever the address names (docs/threats.md, A46)."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from gitmem.ui.pages import PAGES
from tests.harness import Repo
from tests.ui.conftest import Browse

WORD = "hidden-word"
BESIDE = (
    ".env", "src/app.py", "README.md", "memory/private.md", "memory/note.txt", "memory/link.md", "../outside.md",
    "memory/../.env", "./.env", ".git/config", "/etc/passwd", "memory", "\x00",
)  # fmt: skip


@pytest.fixture
def project(memory: Repo, tmp_path: Path) -> Repo:
    """A memory with files beside it that are none of its business."""
    (tmp_path / "outside.md").write_text(f"{WORD}\n")
    memory.write(".gitignore", ".env\nmemory/private.md\n")
    for path in (".env", "src/app.py", "README.md", "memory/private.md", "memory/note.txt"):
        memory.write(path, f"# x\n\n- {WORD}\n")
    (memory.path / "memory/link.md").symlink_to(tmp_path / "outside.md")
    memory.commit("beside")
    return memory


@pytest.mark.parametrize("at", ["", "HEAD"])
def test_no_page_shows_what_is_not_memory(project: Repo, browse: Browse, at: str) -> None:
    browser = browse(project, at=at)
    assert "REST webhooks" in browser.get("file?path=MEMORY.md")
    for path in BESIDE:
        for address in (page.path for page in PAGES.values()):
            place = address.replace("{", "").replace("}", "")
            query = f"path={quote(path)}&first=1&last=9&place={quote(path)}%3A1&from=HEAD~1&to=HEAD&for={quote(path)}&prompt=hidden"
            told = browser.client.get(f"{browser.site.keys.base}/{place}?{query}").text
            assert WORD not in told and "root:" not in told and "[core]" not in told, (address, path)
