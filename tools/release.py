"""`make release`: build the wheel and the sdist, try each in an empty environment, write the release notes.

The files go to dist/, the notes to build/release-notes.md: the section of CHANGELOG.md that has the version of
gitmem/__init__.py. Each file is installed by pip into a new environment, in which `git mem` begins a memory in a fresh
folder, adds a line and finds it. Nothing is uploaded and nothing is tagged: a person does that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST, NOTES = ROOT / "dist", ROOT / "build/release-notes.md"
LINE, QUESTION = "배포는 오전 11시 이전에만 한다", "when may we deploy?"


def version_of(source: str) -> str:
    """The version in the text of gitmem/__init__.py."""
    found = re.search(r'(?m)^__version__ = "(.+)"$', source)
    if found is None:
        raise SystemExit("release: gitmem/__init__.py has no line __version__ = ...")
    return found[1]


def notes_of(changelog: str, version: str) -> str:
    """The section of `version` in the text of CHANGELOG.md, without its heading."""
    found = re.search(rf"(?ms)^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog)
    if found is None or not found[1].strip():
        raise SystemExit(f"release: CHANGELOG.md has no section '## {version}'")
    return found[1].strip() + "\n"


def build() -> list[Path]:
    """The new files of dist/; what stood there is removed."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(DIST)], cwd=ROOT, check=True)
    return sorted(DIST.iterdir())


def try_out(file: Path, version: str) -> None:
    """Install `file` into an empty environment and use it; raises SystemExit where an answer is wrong."""
    with tempfile.TemporaryDirectory(prefix="git-mem-release-") as temporary:
        home = Path(temporary)
        venv.create(home / "venv", with_pip=True)
        python = str(home / "venv/bin/python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(file)]
        subprocess.run(pip, cwd=home, check=True)
        env = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITMEM_", "PYTHON"))}
        env |= {"PATH": f"{home}/venv/bin{os.pathsep}{env['PATH']}", "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
        memory = home / "memory"

        def answer(*command: str) -> str:
            place = memory if memory.exists() else home
            done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, encoding="utf-8")
            if done.returncode:
                raise SystemExit(
                    f"release: {file.name}: {' '.join(command)} ended with {done.returncode}: {done.stderr}"
                )
            return done.stdout

        answers = {"git mem --version": (answer("git", "mem", "--version"), version)}
        answer("git", "mem", "init", str(memory))
        answer("git", "mem", "add", LINE)
        answers["git mem search"] = (answer("git", "mem", "search", QUESTION), LINE)
        for command, (said, wanted) in answers.items():
            if wanted not in said:
                raise SystemExit(f"release: {file.name}: {command} answers {said!r}, without {wanted!r}")


def main() -> None:
    version = version_of((ROOT / "gitmem/__init__.py").read_text(encoding="utf-8"))
    notes = notes_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    files = build()
    if {file.suffix for file in files} != {".whl", ".gz"} or not all(f"-{version}" in file.name for file in files):
        raise SystemExit(f"release: a wheel and an sdist of {version} are wanted, not {[file.name for file in files]}")
    for file in files:
        try_out(file, version)
        print(f"{file.relative_to(ROOT)}: installed in an empty environment; git mem adds a line and finds it")
    NOTES.parent.mkdir(exist_ok=True)
    NOTES.write_text(notes, encoding="utf-8")
    print(f"{NOTES.relative_to(ROOT)}: {len(notes.splitlines())} lines of CHANGELOG.md")
    print(f"next, if the notes are right: git tag -s v{version} -m 'git-mem {version}'; git push origin v{version}")


if __name__ == "__main__":
    main()
