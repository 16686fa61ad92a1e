"""The client for a forge's API (GitHub, GitLab, Forgejo), with the token of the environment, else the token of the `gh`
program."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.review.forges.forge import Client, Forge

GH_SECONDS = 10  # time limit of `gh auth token`, which only reads a file or a key ring


def forge_client(forge: Forge) -> Client | None:
    """The client for a forge's API, None without a token. `gh` is asked for a token only at a terminal: an agent or a
    CI job gets one from the environment."""
    from gitmem.review.forges.location import client_of, token_of

    return client_of(forge, token_of(forge, os.environ, gh_token), time.sleep)


def gh_token(host: str) -> str:
    """The token that `gh auth token` prints for a host; "" without a host, without a terminal, without `gh`, or if `gh`
    has none or takes longer than GH_SECONDS."""
    if not host or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return ""
    try:
        result = subprocess.run(
            ["gh", "auth", "token", "--hostname", host],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GH_SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return result.stdout.strip()
