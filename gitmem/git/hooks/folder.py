"""Where the hook files of a repository are, and which other programs write or run them: husky and lefthook."""

from __future__ import annotations

from pathlib import Path

from gitmem.git.repository import Repository
from gitmem.git.write import run_git


def hooks_folder(repo: Repository) -> Path:
    """The folder for the hooks of a person: Git's hook folder, or the folder above it if that is husky's `_`.

    husky runs the files of `.husky`, or of another folder that its user chose, and writes the folder `_` in it again at
    each installation of packages.
    """
    folder = Path(run_git(repo, ["rev-parse", "--path-format=absolute", "--git-path", "hooks"]).rstrip("\n"))
    if folder.name == "_" and (folder.parent.name == ".husky" or is_husky(folder.parent)):
        return folder.parent
    return folder


def is_husky(folder: Path) -> bool:
    """Whether husky (9 and newer) runs the files of `folder`: it runs them by `sh`, whatever mode and first line."""
    return (folder / "_" / "h").is_file()


def lefthook_file(repo: Repository) -> Path | None:
    """The configuration file of lefthook, which replaces the hook files that it names; None if there is none."""
    if repo.root is None:
        return None
    names = (f"{dot}lefthook{end}" for dot in ("", ".") for end in (".yml", ".yaml", ".toml", ".json", ".jsonc"))
    return next((repo.root / name for name in names if (repo.root / name).is_file()), None)


def is_shared(repo: Repository, folder: Path) -> bool:
    """Whether a hook folder lies in the work tree (core.hooksPath), so that its files may be tracked and shared."""
    return _is_below(folder, repo.root) and not _is_below(folder, repo.common_dir)


def serves_others(repo: Repository, folder: Path) -> bool:
    """Whether a hook folder lies outside this repository (the user's core.hooksPath), so that it serves others too."""
    return not _is_below(folder, repo.root) and not _is_below(folder, repo.common_dir)


def _is_below(folder: Path, parent: Path | None) -> bool:
    return parent is not None and folder.resolve().is_relative_to(parent.resolve())
