"""`make bench`: run the benchmarks one after another, each in a process of its own.

    python -m bench [NAME ...] [OPTION ...]

NAME is a file of this folder without `.py` (`peers` compares with other ways to search); none means all. Options go to
each NAME. Quality needs the development sets: the folder that GITMEM_BENCH_DATA names. Exits 1 when one of them says
that a measure fell.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def main() -> int:
    first = next((at for at, text in enumerate(sys.argv) if at and text.startswith("-")), len(sys.argv))
    asked, options = sys.argv[1:first] or NAMES, sys.argv[first:]
    unknown = set(asked) - set(NAMES)
    if unknown:
        print(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores\n", flush=True)
    failed = []
    for name in asked:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py"), *options], check=False).returncode:
            failed.append(name)
        print(flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
