"""A child that plays the language model's process badly: cut lines, megabytes, silence, a crash. Run as a script."""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    """Answer the load request, then misbehave as the first argument says."""
    how = sys.argv[1]
    for number, line in enumerate(sys.stdin):
        json.loads(line)
        if number == 0:
            answer = json.dumps({"context": 4096})
        elif how == "silence":
            time.sleep(600)
        elif how == "crash":
            sys.exit(139)
        elif how == "flood":
            sys.stdout.write("x" * (10 << 20))
            answer = ""
        elif how == "nonsense":
            answer = "not json"
        elif how.startswith("pieces:"):
            print(json.dumps({"piece": how.removeprefix("pieces:")}), flush=True)
            time.sleep(600)
        else:
            answer = json.dumps({"text": how, "cut": True, "tokens": 10})
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


main()
