"""The files that a sparse checkout leaves out of the work tree: Git's index has them, and they are not deleted."""

from __future__ import annotations

from gitmem.git.repository import Repository


def left_out(repo: Repository) -> list[str]:
    """The tracked files that this sparse checkout leaves out; [] if this is no sparse checkout, which is checked
    without starting git."""
    if repo.root is None or not (repo.git_dir / "info" / "sparse-checkout").exists():
        return []
    from gitmem.git.write import run_git  # what most searches need not import

    listed = run_git(repo, ["ls-files", "-t", "-z", "--full-name"]).split("\0")
    return [row[2:] for row in listed if row.startswith("S ")]
