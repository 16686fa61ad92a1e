"""What the processes of a server share: imported once, in the process that they are forked from, and never changed."""

from __future__ import annotations

import gc
from importlib import import_module

from gitmem.git.library import limit_windows
from gitmem.system import one_arena

SHARED = (
    "uvicorn",
    "gitmem.server.startup",
    "gitmem.server.web.mcp_tools",
    "gitmem.index.blob_indexer",
    "gitmem.git.library",
)

WINDOW, WINDOWS = 1 << 20, 4 << 20  # bytes of the copies' packs that a process reads at once, and keeps open

for name in SHARED:
    import_module(name)
limit_windows(WINDOW, WINDOWS)
one_arena()
gc.freeze()  # a collection would write to each object's header, and with that copy its page
