"""The protocol over the git binary: opens every repository format, starts in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def discover(start: Path, environ: Mapping[str, str]) -> Path:
    """The folder from which git finds its repository."""
    raise NotImplementedError


class BinaryRepository:
    """Lands with the next commit."""
