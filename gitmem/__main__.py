"""The entry point of `git mem` and `python -m gitmem`.

Git hooks, host hooks, `git mem mcp` and most searches start without click, since every commit and every agent waits for
them.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # `typing` takes as long to import as the rest, and an interrupt of that prints a traceback
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process with a code of `gitmem.errors.Exit`."""
    try:
        run()
    except KeyboardInterrupt:  # during imports; later interrupts are handled by `gitmem.cli.exits`
        from gitmem.errors import Exit

        sys.exit(Exit.INTERRUPTED)


def run() -> NoReturn:
    """Run the command line. Raises KeyboardInterrupt when the user interrupts an import."""
    if sys.argv[1:2] == ["hook"]:
        import gc

        gc.set_threshold(100_000)  # garbage collection took half of the time of a short hook
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        from gitmem.cli.terminal import open_closed_streams

        open_closed_streams()
    prints_report = sys.argv[3:] in (["--gone"], ["--cited"])  # for a person, after a commit
    if sys.argv[1:2] == ["hook"]:
        from gitmem.git.hooks import REFRESH

        if sys.argv[2:3] and sys.argv[2] in REFRESH and not prints_report:
            from gitmem.cli.index_hooks import main as refresh

            refresh(sys.argv[2:])
        from gitmem.cli.git_hooks import main as hook

        hook(sys.argv[2:])
    if sys.argv[1:2] == ["search"]:
        _without_garbage_collection()
        from gitmem.cli.fast_search import search

        code = search(sys.argv[2:])
        if code is not None:
            from gitmem.cli.exits import exit_now

            exit_now(code)
    if sys.argv[1:3] == ["session", "hook"]:
        _without_garbage_collection()
        from gitmem.cli.host_hooks import main as host_hook

        host_hook(sys.argv[3:])
    if sys.argv[1:2] == ["mcp"]:
        from gitmem.cli.mcp_start import run as serve

        code = serve(sys.argv[2:])
        if code is not None:
            from gitmem.cli.exits import exit_now

            exit_now(code)
    if sys.argv[1:2] == ["why"]:
        _without_garbage_collection()
    from gitmem.cli.main import main as cli

    cli()


def _without_garbage_collection() -> None:
    """Garbage collection takes 5 to 15 ms, and a process that ends after one answer does not need it."""
    import gc

    gc.disable()


if __name__ == "__main__":
    main()
