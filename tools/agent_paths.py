"""Write gitmem/agent_paths.py from gitmem/hosts/: what hosts read, for packages that cannot import hosts."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gitmem.hosts import other_hosts  # noqa: E402
from gitmem.hosts.registry import all_hosts  # noqa: E402

PATH = "gitmem/agent_paths.py"
HEAD = '''\
"""The files of a project that agents' hosts read, in any folder, and the names under which agents commit. Written by
`make docs` from gitmem/hosts/: edit there.

What `Host.authors`, `Host.reads` and `Host.settings` mean is said in gitmem/hosts/host.py. The packages below
`hosts` cannot import it, and need no more of it than this.
"""

from __future__ import annotations

'''


def page() -> str:
    """The text of gitmem/agent_paths.py."""
    hosts = all_hosts()
    instructions = {*other_hosts.INSTRUCTIONS, *(path for host in hosts for path in host.instructions)}
    settings = {*other_hosts.SETTINGS, *(path for host in hosts for path in host.settings)}
    folders = [path.removesuffix("/") for path in instructions if path.endswith("/")]
    files = [path for path in instructions if not path.endswith("/")]
    authors = {*other_hosts.AUTHORS, *(name for host in hosts for name in host.authors)}
    imports = {path for host in hosts for path in host.reads.imports}
    values = {"AUTHORS": authors, "IMPORTING": imports, "FILES": files, "FOLDERS": folders, "SETTINGS": settings}
    rows = [constant(*row) for row in values.items()]
    return HEAD + "\n".join(rows)


def constant(name: str, values: Iterable[str]) -> str:
    return "\n".join([f"{name} = (", *(f'    "{value}",' for value in sorted(values)), ")", ""])


if __name__ == "__main__":
    (ROOT / PATH).write_text(page(), encoding="utf-8")
