"""The API of a forge as the person at this terminal may use it: the environment's token, else that of `gh`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.review.forges.forge import Client, Forge

GH_SECONDS = 10  # for a program that only reads a file or a key ring


def client_here(forge: Forge) -> Client | None:
    """The client of a forge, None without a token.

    `gh auth token` is asked at a terminal only: an agent or a job uses a token that it was given.
    """
    from gitmem.review.forges.location import client_of, token_of

    return client_of(forge, token_of(forge, os.environ, gh_token), time.sleep)


def gh_token(host: str) -> str:
    """What `gh auth token` says for a host, "" where nobody is at a terminal, there is no `gh` or it knows none."""
    if not host or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return ""
    try:
        done = subprocess.run(
            ["gh", "auth", "token", "--hostname", host],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GH_SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return done.stdout.strip()
