"""Imports the modules that the server's processes share. Imported once, by the supervisor, before it forks."""

from __future__ import annotations

import gc
from importlib import import_module

from gitmem.git.library import limit_windows
from gitmem.system import use_one_heap_arena

SHARED = (
    "uvicorn",
    "gitmem.server.startup",
    "gitmem.server.web.mcp_tools",
    "gitmem.index.blob_indexer",
    "gitmem.git.library",
)

WINDOW_BYTES, MAX_MAPPED_BYTES = 1 << 20, 4 << 20  # of the mirrors' packs that a process maps at once, and in all

for name in SHARED:
    import_module(name)
limit_windows(WINDOW_BYTES, MAX_MAPPED_BYTES)
use_one_heap_arena()
gc.freeze()  # a collection would write to the header of each object, so that its shared page would be copied
