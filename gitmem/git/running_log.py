"""Iterates over the commits that a running `git rev-list` prints."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

from gitmem.git.objects import Commit
from gitmem.git.process import failure


class RunningLog:
    """Iterates over the commits that a `git rev-list` process prints; each is read when it is its turn.

    Raises GitFailed at the end if Git failed. The process ends after the last commit, or with this iterator.
    """

    def __init__(self, process: subprocess.Popen[bytes], read: Callable[[str], Commit]) -> None:
        self._process, self._read = process, read

    def __iter__(self) -> Iterator[Commit]:
        return self

    def __next__(self) -> Commit:
        stdout, stderr = self._process.stdout, self._process.stderr
        assert stdout is not None and stderr is not None
        if stdout.closed:
            raise StopIteration
        line = stdout.readline()
        if line:
            return self._read(line.decode().strip())
        problem = stderr.read()
        self._process.wait()
        self.close()
        if self._process.returncode != 0:
            raise failure("rev-list", problem, self._process.returncode)
        raise StopIteration

    def close(self) -> None:
        """Kill the process: with its pipes closed it would go on reading the history to the end."""
        if self._process.poll() is None:
            self._process.kill()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def __del__(self) -> None:
        self.close()
