"""The stage, set up and taken down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.actions.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A remote with one commit on main."""
    scene = Stage(tmp_path)
    scene.repo.commit(
        "memory: begin",
        {
            "MEMORY.md": "# Memory\n\n## Facts\n\n- The sky is blue.\n",
            "memory/2026-02-05.md": "# 2026-02-05\n\n## 09:00\n\n- began\n",
        },
    )
    scene.push()
    yield scene
    scene.close()
