"""Pairs of plain statements made of the tables of bench/relations/tables.json: what every judgement must get right.

`rows` gives pairs in four languages in which one thing alone differs: the value (replaces), the subject or the property
(other), the wording (same), an exception (adds), or the property is over (ends). `tools/train_relation.py` learns from
them beside the pairs that people wrote; nobody is scored on them.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

Row = dict[str, Any]
SOURCE = Path(__file__).resolve().parent.parent
SEED = 7
A_KIND = 4  # pairs of each form that are made of each property

TABLES: dict[str, dict[str, Any]] = json.loads((SOURCE / "bench/relations/tables.json").read_text(encoding="utf-8"))


def rows() -> list[Row]:
    """The made pairs, the same ones each time."""
    dice = random.Random(SEED)
    made: list[Row] = []
    for language, table in TABLES.items():
        for old, new, relation in [
            *_properties(table, dice),
            *_tools(table, dice),
            *_reversals(table, dice),
            *_many(table, dice),
        ]:
            made.append(
                {"old": old, "new": new, "relation": relation, "accept": [], "hand": "", "domain": "", "lang": language}
            )
    return made


def _properties(table: dict[str, Any], dice: random.Random) -> list[tuple[str, str, str]]:
    made = []
    names = list(table["properties"])
    for name in names:
        for _ in range(A_KIND):
            v, w = dice.sample(table["properties"][name], 2)
            s, t = dice.sample(table["subjects"], 2)
            other = dice.choice([each for each in names if each != name])
            u, x = dice.sample(table["properties"][other], 2)
            frame, second = dice.sample(table["frames"], 2)
            changed = dice.choice(table["changed"])
            old = frame.format(s=s, p=name, v=v)
            made += [
                (old, frame.format(s=s, p=name, v=w), "replaces"),
                (old, changed.format(s=s, p=name, v=v, w=w), "replaces"),
                (old, dice.choice(table["changed"]).format(s=s, p=name, v=v, w=w), "replaces"),
                (old, frame.format(s=t, p=name, v=w), "other"),
                (old, frame.format(s=t, p=name, v=v), "other"),
                (old, frame.format(s=s, p=other, v=u), "other"),
                (old, changed.format(s=t, p=name, v=v, w=w), "other"),
                (old, changed.format(s=s, p=other, v=u, w=x), "other"),
                (old, second.format(s=s, p=name, v=v), "same"),
                (old, dice.choice(table["ended"]).format(s=s, p=name), "ends"),
                (old, dice.choice(table["ended"]).format(s=t, p=name), "other"),
                (old, dice.choice(table["added"]).format(s=s, p=name, v=v), "adds"),
            ]
    return made


def _tools(table: dict[str, Any], dice: random.Random) -> list[tuple[str, str, str]]:
    """What a thing uses, in sentences that name no property."""
    made = []
    for _ in range(6 * A_KIND):
        v, w = dice.sample(table["tools"], 2)
        s, t = dice.sample(table["subjects"], 2)
        frame, second = dice.sample(table["tool_frames"], 2)
        changed = dice.choice(table["tool_changes"])
        old = frame.format(s=s, v=v)
        made += [
            (old, frame.format(s=s, v=w), "replaces"),
            (old, changed.format(s=s, v=v, w=w), "replaces"),
            (old, frame.format(s=t, v=w), "other"),
            (old, frame.format(s=t, v=v), "other"),
            (old, changed.format(s=t, v=v, w=w), "other"),
            (old, second.format(s=s, v=v), "same"),
        ]
    return made


def _reversals(table: dict[str, Any], dice: random.Random) -> list[tuple[str, str, str]]:
    """A statement and its denial."""
    made = []
    for yes, no, no_longer in table["reversals"]:
        for _ in range(2 * A_KIND):
            s, t = dice.sample(table["subjects"], 2)
            old = yes.format(s=s)
            made += [
                (old, no.format(s=s), "replaces"),
                (old, no_longer.format(s=s), "ends"),
                (no.format(s=s), old, "replaces"),
                (old, no.format(s=t), "other"),
                (old, no_longer.format(s=t), "other"),
            ]
    return made


def _many(table: dict[str, Any], dice: random.Random) -> list[tuple[str, str, str]]:
    """Properties that have several values at one time: another one takes nothing away."""
    made = []
    for form in table["many"]:
        for _ in range(A_KIND):
            a, b = dice.sample(form["values"], 2)
            n, m = dice.sample(table["names"], 2)
            frame, old = form["frame"], form["frame"].format(n=n, a=a)
            made += [(old, frame.format(n=n, a=b), "other"), (old, frame.format(n=m, a=dice.choice([a, b])), "other")]
    return made
