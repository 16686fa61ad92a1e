"""`git mem` and `python -m gitmem`: where a process begins.

Hooks, of Git and of hosts, and a plainly spelled search go past the command line's library: every commit and every
agent waits.
"""

from __future__ import annotations

import sys

from gitmem.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

REFRESH = (
    "post-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
)  # as in `git/hook_files`, slower to import


def main() -> NoReturn:
    """Run what the command line says; every way out is an exit code of `gitmem.errors.Exit`."""
    try:
        run()
    except KeyboardInterrupt:  # while it is imported: what runs has ways out of its own (`gitmem.cli.exits`)
        from gitmem.errors import Exit

        sys.exit(Exit.INTERRUPTED)


def run() -> NoReturn:
    """The same, where an interrupt may come out as a KeyboardInterrupt."""
    if sys.argv[1:2] == ["hook"]:
        import gc

        gc.set_threshold(100_000)  # half of what a short hook takes, by default, is looking for garbage it never makes
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        from gitmem.cli.terminal import open_missing

        open_missing()
    told = sys.argv[3:] in (["--gone"], ["--cited"])  # what a person reads after a commit
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] and sys.argv[2] in REFRESH and not told:
        from gitmem.cli.index_hooks import main as refresh

        refresh(sys.argv[2:])
    if sys.argv[1:2] == ["hook"]:
        from gitmem.cli.git_hooks import main as hook

        hook(sys.argv[2:])
    if sys.argv[1:2] == ["search"]:
        _without_garbage_collection()
        from gitmem.cli.fast_search import search

        code = search(sys.argv[2:])
        if code is not None:
            from gitmem.cli.exits import leave

            leave(code)
    if sys.argv[1:3] == ["session", "hook"]:
        _without_garbage_collection()
        from gitmem.cli.host_hooks import main as host_hook

        host_hook(sys.argv[3:])
    if sys.argv[1:2] == ["mcp"]:
        from gitmem.cli.mcp_start import run as serve

        code = serve(sys.argv[2:])
        if code is not None:
            from gitmem.cli.exits import leave

            leave(code)
    if sys.argv[1:2] == ["why"]:
        _without_garbage_collection()
    from gitmem.cli.main import main as cli

    cli()


def _without_garbage_collection() -> None:
    """What one answer makes is gone when it ends; to look for garbage takes 5 to 15 ms."""
    import gc

    gc.disable()


if __name__ == "__main__":
    main()
