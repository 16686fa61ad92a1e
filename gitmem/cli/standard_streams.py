"""Standard input, output and error for a process that was started without one of them.

A file that is opened next would take the place of a closed one, and what a library prints would be written into it.
"""

from __future__ import annotations

import os
import sys


def open_missing() -> None:
    """Open those that are closed on nothing."""
    for handle, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            try:
                os.fstat(handle)
            except OSError:
                nothing = os.open(os.devnull, os.O_RDWR)
                if nothing != handle:
                    os.dup2(nothing, handle)
                    os.close(nothing)
                os.set_inheritable(handle, True)  # as the real ones are: git's are not to be taken either
            setattr(sys, name, open(handle, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - as long as we run
