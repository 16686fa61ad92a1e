"""`git mem` and `python -m gitmem`: where a process begins.

Git's hooks and a plainly spelled search go past the command line's library: every commit and every agent waits.
"""

import sys
from typing import NoReturn

REFRESH = ("post-commit", "post-merge", "post-checkout", "post-rewrite")  # as install.REFRESH, which takes a while


def main() -> NoReturn:
    """Run what the command line says; every way out is an exit code of `gitmem.errors.Exit`."""
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] and sys.argv[2] in REFRESH:
        from gitmem.commands._refresh import main as refresh

        refresh(sys.argv[2:])
    if sys.argv[1:2] == ["hook"]:
        from gitmem.commands._hook import main as hook

        hook(sys.argv[2:])
    if sys.argv[1:2] == ["search"]:
        import gc

        gc.set_threshold(100_000)  # what a search makes is gone when it ends; to look for garbage takes 5 ms
        from gitmem.commands._short import search

        code = search(sys.argv[2:])
        if code is not None:
            from gitmem.commands._ending import leave

            leave(code)
    from gitmem.cli import main as cli

    cli()


if __name__ == "__main__":
    main()
