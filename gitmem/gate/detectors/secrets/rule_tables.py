"""Reading the tables of rules that stand beside this module: UTF-8, one row a line, fields separated by one tab.

Decides nothing about what a row means: `vendors.py`, `shapes.py` and `service_names.py` each read one table.
"""

from __future__ import annotations

from pathlib import Path


def lines(name: str) -> list[tuple[int, str]]:
    """The lines of a table with their numbers from 1, without comments (`#`) and empty lines.

    Raises OSError or ValueError (UnicodeDecodeError) where the file cannot be read: a detector without its table
    fails, and what fails blocks.
    """
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line and line[0] != "#"]


def rows(name: str, width: int) -> list[list[str]]:
    """The rows of a table, `width` fields each, none of them empty, in the order of the file.

    Raises ValueError with the file and the line for a row of another width, an empty field, space around a field or
    a rule (the first field) that the table has already, and for a table without rows; and as `lines` does.
    """
    read: list[list[str]] = []
    rules: set[str] = set()
    for number, line in lines(name):
        fields = line.split("\t")
        if len(fields) != width or any([not field or field != field.strip() for field in fields]):
            raise ValueError(f"{name}:{number}: not a row of {width} fields")
        if fields[0] in rules:
            raise ValueError(f"{name}:{number}: the rule '{fields[0]}' is there already")
        rules.add(fields[0])
        read.append(fields)
    if not read:
        raise ValueError(f"{name}: no rows")
    return read
