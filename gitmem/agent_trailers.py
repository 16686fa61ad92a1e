"""The trailers of an agent's memory changes: `Memory-Agent` and `Memory-Reason`, put in and checked by hooks.

The place for them; what is asked of whom is for promotion to say.
"""

from __future__ import annotations

from pathlib import Path

from gitmem.config import Config
from gitmem.git.protocol import Repository
from gitmem.types import Finding


def prepare(repo: Repository, config: Config, message: Path, source: str) -> None:
    """Add the trailers to the message file of a commit that an agent makes."""


def check(repo: Repository, config: Config, message: str) -> list[Finding]:
    """What is missing in the message of an agent's commit."""
    return []
