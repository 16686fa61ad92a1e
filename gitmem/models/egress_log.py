"""The egress log: one JSON line for each text that is sent to another machine, written before it is sent.

A text that cannot be logged is not sent. A line has the time, provider, path and blob oid, never the text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from gitmem import system
from gitmem.errors import GitMemError

FILE = "egress.log"


def record(state: Path, now: datetime, provider: str, origins: Iterable[tuple[str, str]]) -> None:
    """Append a line for each (path, blob oid) to `egress.log` in the folder `state`. Raises GitMemError if it cannot be
    written."""
    lines = [
        json.dumps(
            {"time": now.isoformat(timespec="seconds"), "provider": provider, "path": path, "blob": blob},
            ensure_ascii=True,
        )
        for path, blob in origins
    ]
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.NOFOLLOW | system.RAW
    try:
        with os.fdopen(os.open(state / FILE, flags, 0o600), "a", encoding="ascii") as file:
            file.write("".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise GitMemError(
            f"nothing was sent to {provider}: the egress log cannot be written ({error.strerror})",
            f"check {state / FILE}",
        ) from None
