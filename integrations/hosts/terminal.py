"""A program in a terminal of its own (a pseudo-terminal): what it shows is kept, what is typed reaches it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PAUSE = 0.2  # seconds between two looks
BETWEEN_SIGNS = 0.03  # seconds between two signs of a line: a screen takes several at once for pasted text
ANSWERS = {  # what a screen asks of its terminal before it shows anything, and what a terminal answers
    b"\x1b[6n": b"\x1b[1;1R",  # where the cursor is
    b"\x1b[c": b"\x1b[?62;22c",  # which terminal it is
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",  # its background
}


class Terminal:
    """The program from its start until `close`; `shown` is all it wrote."""

    def __init__(self, command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
        self.shown = b""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._process = subprocess.Popen(
            command, cwd=folder, env={**environ, "TERM": "xterm-256color"}, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def read_until(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Keep what is shown until the condition holds or the program ends; False where neither came in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read()
            if holds() or self.has_ended:
                return True
        return False

    def read_for(self, seconds: float) -> None:
        """Keep what is shown for so many seconds."""
        self.read_until(lambda: False, seconds)

    def _read(self) -> None:
        if not select.select([self._ours], [], [], PAUSE)[0]:
            return
        try:
            new = os.read(self._ours, 1 << 16)
        except OSError:  # the program closed its side
            time.sleep(PAUSE)
            return
        self.shown += new
        for asked, answer in ANSWERS.items():
            for _ in range(new.count(asked)):
                os.write(self._ours, answer)

    def type(self, line: str) -> None:
        """Type a line, sign by sign as a person does, then Enter once the screen had time to show it."""
        for sign in line:
            os.write(self._ours, sign.encode())
            self.read_for(BETWEEN_SIGNS)
        self.read_for(1)
        os.write(self._ours, b"\r")

    def close(self) -> None:
        if not self.has_ended:
            self._process.terminate()
            self.read_until(lambda: self.has_ended, 10)
        if not self.has_ended:
            self._process.kill()
        self._process.wait()
        os.close(self._ours)
