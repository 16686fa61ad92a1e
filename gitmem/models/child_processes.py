"""Ends a child process that was started with pipes."""

from __future__ import annotations

import subprocess


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill a child, wait for it and close its pipes. It may have ended already."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # unwritten data has no reader any more
                continue
