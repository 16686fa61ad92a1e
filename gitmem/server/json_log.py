"""The server's log: one JSON object a line, on standard error.

A message is a constant; its values are fields: numbers, names of operations and classes of errors, never a question, an
answer, an address or a token.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
QUIET = ("mcp", "psycopg.pool", "uvicorn", "httpx")  # silenced libraries: their messages quote requests or addresses


class Json(logging.Formatter):
    """Formats a log record as one line of JSON, with the class of an exception and not its message."""

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.msg if isinstance(record.msg, str) else type(record.msg).__name__,
            "process": record.process,
        }
        row.update({name: value for name, value in vars(record).items() if name not in FIELDS})
        if record.exc_info and record.exc_info[0] is not None:
            row["error"] = record.exc_info[0].__name__
        return json.dumps(row, ensure_ascii=False, default=lambda value: type(value).__name__)


def configure() -> None:
    """Log to standard error, in place of the handlers that are there: `gitmem.server` from INFO on, those of QUIET from
    CRITICAL on, other loggers from WARNING on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Json())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("gitmem.server").setLevel(logging.INFO)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
