"""What the processes of a server share: imported once, in the process that they are forked from, and never changed."""

from __future__ import annotations

import gc
from importlib import import_module

SHARED = (
    "uvicorn",
    "gitmem.server.startup",
    "gitmem.server.web.mcp_tools",
    "gitmem.index.blob_indexer",
    "gitmem.git.library",
)

for name in SHARED:
    import_module(name)
gc.freeze()  # a collection would write to each object's header, and with that copy its page
