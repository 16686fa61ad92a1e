"""What the gate costs: hooks with and without memory staged, beside detect-secrets-hook; a range of 10,000 blobs.

    python -m bench.gate [--runs 9] [--blobs 10000]

Aims on two slow cores: all gate hooks together at most 0.5 s for a commit that stages one memory file, at most
0.03 s for one that stages none; pre-commit below detect-secrets-hook on the same file in the same run; a range at
2 MB/s or more; every detector under 100 ms on 200 KB of hostile text (`bench/hostile.py`). Medians; each run
alternates the peers. Hooks run from byte code, as installed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).parent.parent
sys.path.insert(0, str(SOURCE))

from bench.hostile import show  # noqa: E402

GATES = ("pre-commit", "prepare-commit-msg", "commit-msg")
LINES = [
    line
    for path in sorted((SOURCE / "examples" / "workspace" / "memory").rglob("*.md"))
    for line in path.read_text(encoding="utf-8").splitlines()
    if len(line) > 24
]


def note(size: int, seed: int) -> str:
    """A daily log of `size` bytes out of the example workspace's lines, numbers and words changed: no two alike."""
    pick = random.Random(seed)
    text = "# 2026-02-05\n"
    while len(text.encode()) < size:
        if pick.random() < 0.1:
            text += f"\n## {pick.randrange(24):02}:{pick.randrange(60):02} - part {pick.randrange(999)}\n\n"
        words = pick.choice(LINES).split(" ")
        words.insert(pick.randrange(len(words) + 1), f"n{pick.randrange(10_000)}")
        text += " ".join(words) + "\n"
    return text


def seconds(command: list[str], cwd: Path, env: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=env, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return time.perf_counter() - start


def median(values: list[float]) -> float:
    return statistics.median(values)


def repository(folder: Path, env: dict[str, str]) -> Path:
    """A memory repository with our hooks installed and one commit."""
    path = folder / "repo"
    path.mkdir()
    for command in (
        ["git", "init", "-q"],
        ["git", "config", "user.name", "T"],
        ["git", "config", "user.email", "t@example.com"],
    ):
        subprocess.run(command, cwd=path, env=env, check=True)
    (path / "MEMORY.md").write_text("# Memory\n\n- one fact\n", encoding="utf-8")
    (path / "app.py").write_text("print()\n", encoding="utf-8")
    subprocess.run(["git", "add", "-A"], cwd=path, env=env, check=True)
    subprocess.run(["git", "commit", "-qm", "start"], cwd=path, env=env, check=True)
    subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "install"], cwd=path, env=env, check=True, capture_output=True
    )
    (path / ".git" / "message").write_text("note what was decided\n", encoding="utf-8")
    return path


def hooks(path: Path, runs: int, env: dict[str, str]) -> None:
    def each(name: str) -> float:
        args = [str(path / ".git/hooks" / name)]
        return seconds(args if name == "pre-commit" else [*args, str(path / ".git/message")], path, env)

    def stage(name: str, text: str) -> None:
        (path / name).write_text(text, encoding="utf-8")
        subprocess.run(["git", "reset", "-q"], cwd=path, env=env, check=True)
        subprocess.run(["git", "add", name], cwd=path, env=env, check=True)

    peer = Path(sys.executable).with_name("detect-secrets-hook")
    stage("memory.log.py", "x = 1\n")
    none = {name: [each(name) for _ in range(runs)] for name in GATES}
    print(f"no memory staged: {sum(median(v) for v in none.values()):.3f} s all gate hooks (aim 0.030)")
    (path / "memory").mkdir()
    stage("memory/2026-02-05.md", note(4096, 1))
    for name in GATES:
        each(name)  # writes the byte code
    one: dict[str, list[float]] = {name: [] for name in (*GATES, "peer")}
    for _ in range(runs):
        for name in GATES:
            one[name].append(each(name))
        if peer.exists():
            one["peer"].append(seconds([str(peer), "memory/2026-02-05.md"], path, env))
    for name in GATES:
        print(f"one memory file staged: {median(one[name]):.3f} s {name}")
    print(f"one memory file staged: {sum(median(one[name]) for name in GATES):.3f} s all gate hooks (aim 0.5)")
    if one["peer"]:
        ratio = median(one["pre-commit"]) / median(one["peer"])
        print(f"detect-secrets-hook on that file: {median(one['peer']):.3f} s; pre-commit: {ratio:.2f} of it (aim < 1)")


def throughput(path: Path, blobs: int, env: dict[str, str]) -> None:
    base = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=path, env=env, check=True, capture_output=True, text=True
    ).stdout
    stream = [
        b"commit refs/heads/many\ncommitter T <t@example.com> 1700000000 +0000\ndata 1\nx\nfrom %s\n"
        % base.strip().encode()
    ]
    size = 0
    for number in range(blobs):
        data = note(2048, number + 10).encode()
        size += len(data)
        stream.append(b"M 100644 inline memory/%d/%d.md\ndata %d\n%s\n" % (number % 100, number, len(data), data))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=path, env=env, check=True, input=b"".join(stream))
    command = [sys.executable, "-P", "-m", "gitmem", "scan", "--range", f"{base.strip()}..many", "--severity", "block"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=path, env=env, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr)
    print(
        f"range of {blobs} blobs, {size / 1e6:.1f} MB: {wall:.1f} s, {size / 1e6 / wall:.2f} MB/s (aim 2); "
        f"{cpu:.1f} s of CPU, {after.ru_maxrss / 1024:.0f} MB at most in one process (aim 300)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--blobs", type=int, default=10_000)
    options = parser.parse_args()
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") and k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPATH": str(SOURCE), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path = repository(Path(folder), env)
        hooks(path, options.runs, env)
        throughput(path, options.blobs, env)
    show(200_000, [], 2)


if __name__ == "__main__":
    main()
