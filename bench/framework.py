"""What our hooks cost under the real pre-commit, beside detect-secrets' own hook: processor time of one commit.

python bench/framework.py [--runs 10]

Each run commits one more line of one daily log in seven repositories by turns: without hooks, with detect-secrets-hook,
with the scan alone, with scan and message (as the README has it), with these and the native hook of the index (as
docs/gate.md recommends), with scan, message and index, and with our native hooks alone. The process that
brings the index up to date works on after the commit and is not counted.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent
LOCAL = "repos:\n- repo: local\n  hooks:\n"
OURS = LOCAL + (
    "  - {id: scan, name: scan, entry: git-mem hook pre-commit --, language: system, always_run: true, types: [],"
    " stages: [pre-commit], require_serial: true}\n"
    "  - {id: message, name: message, entry: git-mem hook commit-msg --, language: system, stages: [commit-msg]}\n"
    "  - {id: index, name: index, entry: git-mem hook post-commit, language: system, always_run: true,"
    " pass_filenames: false, stages: [post-commit]}\n"
)
PEER = LOCAL + "  - {id: peer, name: peer, entry: detect-secrets-hook, language: system}\n"
# Name -> configuration of pre-commit ("" for none) and its stages.
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "none": ("", ()),
    "detect-secrets": (PEER, ("pre-commit",)),
    "scan": (OURS, ("pre-commit",)),
    "readme": (OURS, ("pre-commit", "commit-msg")),
    "recommended": (OURS, ("pre-commit", "commit-msg")),
    "all": (OURS, ("pre-commit", "commit-msg", "post-commit")),
    "native": ("", ()),
}
NATIVE = {"native": (), "recommended": ("--refresh-only",)}  # what `git mem install` is told
LOG = "memory/2026-11-23.md"


def repository(folder: Path, name: str, env: dict[str, str]) -> None:
    def run(*words: str) -> None:
        subprocess.run(words, cwd=folder, env=env, check=True, capture_output=True)

    config, stages = CASES[name]
    (folder / "memory").mkdir(parents=True)
    run("git", "init", "-q", "-b", "main")
    (folder / "MEMORY.md").write_text("# Memory\n\n- The API listens on port 8080.\n")
    lines = "".join(f"- We decided {n}: the queue keeps {n * 13} messages.\n" for n in range(30))
    (folder / LOG).write_text(f"# 2026-11-23\n\n{lines}")
    if config:
        (folder / ".pre-commit-config.yaml").write_text(config)
    run("git", "add", "-A")
    run("git", "commit", "-qm", "start")
    for stage in stages:
        run(str(BIN / "pre-commit"), "install", "-t", stage)
    if name in NATIVE:
        run(str(BIN / "git-mem"), "install", *NATIVE[name])


def commit(folder: Path, number: int, env: dict[str, str]) -> float:
    """Seconds of processor time of one commit, user and system, its hooks included."""
    with (folder / LOG).open("a") as file:
        file.write(f"- On turn {number} we chose cache {number * 7} for the mirror.\n")
    subprocess.run(["git", "add", "-A"], cwd=folder, env=env, check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ["git", "commit", "-qm", "memory: notes of the day"]
    subprocess.run(words, cwd=folder, env=env, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    runs: int = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.com\n")
        env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        env |= {
            "PATH": f"{BIN}{os.pathsep}{env['PATH']}", "HOME": name, "PRE_COMMIT_HOME": str(root / "cache"),
            "GIT_CONFIG_GLOBAL": str(root / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip
        for case in CASES:
            repository(root / case, case, env)
        took: dict[str, list[float]] = {case: [] for case in CASES}
        for number in range(runs + 1):
            for case in CASES:
                took[case].append(commit(root / case, number, env))
        median = {case: statistics.median(values[1:]) for case, values in took.items()}
        peer = median["detect-secrets"] - median["none"]
        for case, value in median.items():
            print(f"{case}: {value:.3f} s, over no hooks {(value - median['none']) / peer:.2f} of detect-secrets-hook")


if __name__ == "__main__":
    main()
