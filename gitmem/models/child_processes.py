"""Ending a child process that we started and exchange text with through pipes."""

from __future__ import annotations

import subprocess


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill it, wait for it and close its pipes; one that has ended already is no error."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was still to be written has no reader any more
                continue
