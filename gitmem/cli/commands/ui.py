"""`git mem ui`: show memory in a browser, where it can be corrected.

The pages' modules are imported inside functions, since they need the packages of the extra `ui`.
"""

from __future__ import annotations

import os
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path

import click

from gitmem.cli.options import at_option, open_here
from gitmem.cli.terminal import escape, say, write, write_crash_log
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.plural import counted

PACKAGES = ("starlette", "uvicorn", "jinja2")  # of the extra `ui`


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Listen there (0: any free port).")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--read-only", is_flag=True, help="Show, and change nothing.")
@at_option("Memory as it was there or then.")
@click.option(
    "--export",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write the pages there as files instead.",
)
def command(port: int, no_browser: bool, read_only: bool, at: str, folder: Path | None) -> None:
    """Show memory in a browser: what is believed, and where from.

    The page is for this machine alone and ends with the terminal. Whoever has the address can read and change memory
    as you can. Needs the extra: pip install 'git-mem[ui]'.

    \b
    git mem ui
    git mem ui --read-only --at 2026-03-01
    git mem ui --export audit --at v1.2
    """
    if any(find_spec(name) is None for name in PACKAGES):
        raise GitMemError("the inspector needs the packages of the extra 'ui'", "pip install 'git-mem[ui]'")
    repo, _ = open_here()
    from gitmem.ui.local_server import bind_socket, open_site, serve

    place = Path(repo.root or repo.git_dir)
    if folder is not None:
        from gitmem.ui.page_export import export

        site = open_site(place, 0, read_only=True, at=at)
        count = export(site, folder, now(), _language())
        write(escape(f"{folder / 'index.html'}\n"))
        say(f"{counted(count, 'page')} of {at or 'HEAD'}")
        return
    with bind_socket(port) as listening:
        site = open_site(
            place,
            listening.getsockname()[1],
            read_only=read_only,
            at=at,
            crash_log=write_crash_log,
        )
        serve(site, listening, lambda address: _show_address(address, browse=not no_browser))


def _language() -> str:
    """The language of the person's locale, if the pages have it, else their default."""
    from gitmem.ui.translation import language_of

    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return language_of(locale.partition(".")[0].replace("_", "-"))


def _show_address(address: str, *, browse: bool) -> None:
    """Print the address, and open it in a browser if `browse`."""
    write(escape(f"{address}\n"))
    say("for this machine alone; Ctrl+C ends it")
    if browse:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
