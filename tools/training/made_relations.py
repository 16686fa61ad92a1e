"""Pairs of plain statements made of the tables of bench/relations: what every judgement must get right.

`rows` gives pairs in four languages in which one thing alone differs: the value (replaces), the subject or the property
(other), the wording (same), an exception (adds), or the property is over (ends). The pairs of exclusive.json are about
what has one tool or one value at a time, and about what has several. They are in three parts that share no form of a
sentence, and `relation` scores each part by what the others taught. The tool learns from all made pairs,
with little weight, beside the pairs that people wrote.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

Row = dict[str, Any]
SOURCE = Path(__file__).resolve().parents[2]
SEED = 7
A_KIND = 4  # pairs of each form that are made of each property

EACH_FRAME = 4  # pairs of each form that are made of a frame of exclusive.json
HANDS = 3  # parts of exclusive.json, which share no frame: each is scored by a model that saw the others

TABLES: dict[str, dict[str, Any]] = json.loads((SOURCE / "bench/relations/tables.json").read_text(encoding="utf-8"))


EXCLUSIVE: dict[str, dict[str, Any]] = json.loads(
    (SOURCE / "bench/relations/exclusive.json").read_text(encoding="utf-8")
)


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
    for language, table in EXCLUSIVE.items():
        for hand in range(HANDS):
            for old, new, relation in [*_exclusive(table, hand, dice), *_facts(table, hand, dice)]:
                accept = ["conflicts"] if relation == "replaces" else []
                made.append(
                    {"old": old, "new": new, "relation": relation, "accept": accept, "lang": language, "made": True}
                    | {"hand": f"made {hand}", "domain": f"made {hand}"}
                )
    return made


def _exclusive(table: dict[str, Any], hand: int, dice: random.Random) -> list[tuple[str, str, str]]:
    """What serves a purpose: another tool for it takes its place, one for another purpose does not."""

    def said(frame: str, purpose: str, tool: str) -> str:
        return frame.format(p=purpose, P=purpose[0].upper() + purpose[1:], v=tool)

    made = []
    people, languages = table["values"]["p"], table["values"]["l"]
    for frame in table["frames"][hand]:
        for _ in range(EACH_FRAME):
            tools = dice.choice(table["tools"])
            v, w = dice.sample(tools, 2)
            p, q = dice.sample(table["purposes"], 2)
            second, old = dice.choice(table["frames"][hand]), said(frame, p, v)
            stranger = dice.choice(dice.choice(table["tools"]))
            made += [
                (old, said(frame, p, w), "replaces"),
                (said(frame, p, w), old, "replaces"),
                (old, said(second, p, w), "replaces"),
                (old, said(frame, q, w), "other"),
                (old, said(frame, q, stranger), "other"),
                (old, said(frame, q, v), "other"),
                (old, dice.choice(table["second"]).format(v=dice.choice([v, w])), "other"),
            ]
            if second != frame:
                made.append((old, said(second, p, v), "same"))
    for frame in table["many"][hand::HANDS]:
        for _ in range(2 * EACH_FRAME):
            v, w = dice.sample(dice.choice(table["tools"]), 2)
            n, m = dice.sample(people, 2)
            k, j = dice.sample(languages, 2)
            old = frame.format(n=n, v=v, l=k)
            made += [(old, frame.format(n=n, v=w, l=j), "other"), (old, frame.format(n=m, v=w, l=j), "other")]
    return [row for row in made if row[0] != row[1]]


def _facts(table: dict[str, Any], hand: int, dice: random.Random) -> list[tuple[str, str, str]]:
    """What an encyclopedia says of a thing, each property with one value: another value replaces it."""
    made = []
    frames = table["facts"][hand::HANDS]
    for forms in frames:
        names = list(dict.fromkeys(re.findall(r"\{(\w)\}", forms[0])))
        subject, value = names
        for _ in range(EACH_FRAME):
            chosen = {name: dice.choice(listed) for name, listed in table["values"].items()}
            other = dict(chosen)
            other[value] = dice.choice([each for each in table["values"][value] if each != chosen[value]])
            another = {**other, subject: dice.choice([e for e in table["values"][subject] if e != chosen[subject]])}
            form, second = forms[0], dice.choice(forms)
            old, property_ = form.format(**chosen), dice.choice([each for each in frames if each != forms])[0]
            made += [
                (old, form.format(**other), "replaces"),
                (old, second.format(**other), "replaces"),
                (old, form.format(**another), "other"),
                (old, form.format(**{**another, value: chosen[value]}), "other"),
                (old, property_.format(**chosen), "other"),
            ]
            if second != form:
                made.append((old, second.format(**chosen), "same"))
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
