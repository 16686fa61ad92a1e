#!/usr/bin/env python3
"""Learn the weights of one of the models that ship with git-mem.

    pip install --group train
    python tools/train.py NAME [-h] [ARGUMENTS]

Each NAME is a module of tools/training, whose first lines say what it learns from. Every run gives the same weights;
`scorer` goes on from the present ones.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

NAMES = {
    "lasting": "which lines of a log are worth keeping",
    "decision_turns": "which sentences of a talk belong to a decision",
    "evidence": "how likely a text answers a prompt",
    "relation": "what a later statement does to an earlier one",
    "word_classes": "the classes of words that the gate's scorer reads",
    "scorer": "the gate's scorer of instructions and its prefilter",
}


def main(arguments: list[str] | None = None) -> None:
    """Run the module that a command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    given = sys.argv[1:] if arguments is None else arguments
    for name, learns in NAMES.items():
        command = commands.add_parser(name, help=learns, formatter_class=argparse.RawDescriptionHelpFormatter)
        if given[:1] == [name]:  # the others may need libraries that are not there
            module = import_module(f"tools.training.{name}")
            command.description = module.__doc__
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    options = parser.parse_args(given)
    options.run(options)


if __name__ == "__main__":
    main()
