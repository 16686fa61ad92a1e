"""The page Files lists notes by their titles, and finds them by those too."""

from __future__ import annotations

from tests.harness import Repo
from tests.ui.conftest import Browse


def test_a_note_is_listed_and_found_by_its_title(repo: Repo, browse: Browse) -> None:
    repo.commit(
        "notes",
        {
            "memory/notes/runbook.md": "# How we deploy\n\n- On Tuesdays.\n",
            "memory/notes/b.md": "---\ntitle: 배포 방법\n---\n\n- 화요일에 한다.\n",
            "memory/notes/key.md": "# the key is AKIA" + "Z7QK3M2PXW5LR8TD\n",
        },
    )
    browser = browse(repo)
    listed = browser.get("notes?folder=memory/notes")
    assert "How we deploy</a>" in listed and "배포 방법</a>" in listed and "runbook.md" in listed
    found = browser.get("notes?name=we+DEPLOY")
    assert "How we deploy</a>" in found and "memory/notes/runbook.md" in found and "배포 방법" not in found
    assert "1 file<" in found and "1 files" not in found
    assert "배포 방법</a>" in browser.get("notes?name=배포")
    assert "AKIAZ7QK" not in listed + browser.get("notes?name=key")
    head = repo.git("rev-parse", "HEAD").strip()
    repo.commit("other", {"memory/notes/runbook.md": "# How we roll back\n\n- By hand.\n"})
    assert "How we deploy</a>" in browser.get(f"notes?name=deploy&at={head}")
    assert "How we deploy</a>" not in browser.get("notes?name=deploy")
