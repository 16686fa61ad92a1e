"""Git's own three-way text merge, `git merge-file`, of three byte strings.

It needs no repository, reads no configuration that runs a program, and writes only a private temporary folder.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from gitmem.git.process import failure, read_environment
from gitmem.system import temporary_folder


def merge_text(
    environ: Mapping[str, str],
    ours: bytes,
    base: bytes,
    theirs: bytes,
    marker: int = 7,
) -> tuple[bytes, bool]:
    """The merged text, and whether the merge is without conflicts. Raises GitFailed if Git cannot merge the texts, such
    as binary ones.

    Conflicts are in the diff3 style, with the labels `ours`, `base` and `theirs`; conflict markers have `marker`
    characters.
    """
    files = {"ours": ours, "base": base, "theirs": theirs}
    with temporary_folder() as folder:
        for name, data in files.items():
            (folder / name).write_bytes(data)
        label_options = [word for label in files for word in ("-L", label)]
        command = ["git", "merge-file", "-p", "-q", "--diff3", f"--marker-size={marker}", *label_options, *files]
        env = {
            **read_environment(environ),
            "GIT_DIR": os.path.join(folder, "none"),
            "GIT_CEILING_DIRECTORIES": str(folder),
        }
        result = subprocess.run(command, cwd=folder, capture_output=True, env=env, check=False)
    if result.returncode < 0 or result.returncode > 127:
        raise failure("merge-file", result.stderr, result.returncode)
    return result.stdout, result.returncode == 0
