"""The egress log: one JSON line for each text that leaves this machine, written before it is sent.

What cannot be logged is not sent. The log holds times, providers, paths and blobs, never text.
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
    """Append a line for each (path, blob) to `egress.log` in `state`. Raises GitMemError where that fails."""
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
