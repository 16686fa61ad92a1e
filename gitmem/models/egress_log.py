"""The egress log: one JSON line for each text that is sent to another machine, written before it is sent.

A text that cannot be logged is not sent. A line has the time, provider, path and blob oid, never the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from gitmem.errors import GitMemError
from gitmem.regular_file import append_private

FILE = "egress.log"


def record(state: Path, now: datetime, provider: str, origins: Iterable[tuple[str, str]]) -> None:
    """Append a line for each (path, blob oid) to `egress.log` in the folder `state`. Raises GitMemError if it cannot be
    written."""
    time = now.isoformat(timespec="seconds")
    rows = [{"time": time, "provider": provider, "path": path, "blob": blob} for path, blob in origins]
    try:
        append_private(state / FILE, "".join(f"{json.dumps(row, ensure_ascii=True)}\n" for row in rows).encode())
    except OSError as error:
        raise GitMemError(
            f"nothing was sent to {provider}: the egress log cannot be written ({error.strerror})",
            f"check {state / FILE}",
        ) from None
