"""Incidents of the past that are like an alert: where memory tells them, what was done, and how it ended.

An incident is what stands together about one trouble: a section of a note or of a log, or an item of a list with what
stands below it. It is found by its statements (`search`), held to the evidence by which memory answers any question,
and counts where it tells of trouble and of at least one action. Nothing here is carried out: actions are told as they
were written, as data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

from gitmem.gate.quoting import one_line
from gitmem.gate.withholding import screened
from gitmem.json_values import json_object
from gitmem.memory.outline import outline
from gitmem.memory.statements import Form, Statement, note_name, statements
from gitmem.paths import Kind, kind, log_date
from gitmem.search.alerts import Alert
from gitmem.search.evidence import Asked, cosine, evidence, features, standing, table_of_words
from gitmem.search.hits import Hit
from gitmem.search.question import parse
from gitmem.search.search import Answer
from gitmem.text.incident_words import ACTIONS, COLLECTIONS, DONE, IN_VAIN, OTHERS, OUTCOMES, OVER, TROUBLE

MAX_INCIDENTS = 5  # of one delivery
MAX_ACTIONS = 20  # of one incident
LONGEST_SECTION = 200  # lines of an incident that are read
LONGEST_LINE = 300  # characters of an action that are shown
HITS = 20  # passages that a question asks for
# How like an alert an incident as a whole is, at least: its cosine, and that plus the share of the question's telling
# words that it takes up. Evidence alone is of one statement, and one word of it may be chance. Set on 58 alerts of two
# memories; tests/cli/commands/test_seen.py holds them to a third one.
NEAR, LIKE = 0.38, 0.6
IN_VAIN_WORDS, OVER_WORDS, OPEN_WORDS = "did not help then", "helped then", "was left open then"
_LABEL = re.compile(r"(?:\*\*|__)?([^:：*_]{2,24})(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(.*)", re.DOTALL)
_BOX = re.compile(r"\[([ xX])\]\s+(.*)", re.DOTALL)
_TIME = re.compile(r"[\[(]?\d{1,2}:\d{2}(?::\d{2})?[\])]?\s*(?:[-–—:|]\s*)?")
_NAMED_DAY = re.compile(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})")


class Action(NamedTuple):
    """What was done: `text` as one line of data, where it stands, and `outcome`, what came of it, "" where it is not
    said."""

    text: str
    path: str
    line: int
    outcome: str = ""


class Incident(NamedTuple):
    """One incident. `title`: what it is called. `date`: the day it was, ISO, "" where it is not said. `first`, `last`:
    its lines. `outcome` and `outcome_line`: how it ended, "" and 0 where it is not said. `evidence`: how likely it is
    of the kind of the alert, 0..1. `alert`: the title of that alert. `repository`: on a server, whose it is."""

    title: str
    date: str
    path: str
    first: int
    last: int
    actions: tuple[Action, ...]
    outcome: str
    outcome_line: int
    evidence: float
    alert: str
    repository: str = ""

    def as_value(self) -> dict[str, Any]:
        """The JSON of docs/json.md, "seen"."""
        value: dict[str, Any] = {}
        if self.repository:
            value = {"repository": self.repository}
        value |= {"title": self.title, "date": self.date or None, "path": self.path}
        value |= {"start_line": self.first, "end_line": self.last, "alert": self.alert}
        value |= {"evidence": round(self.evidence, 2), "outcome": self.outcome or None}
        value["outcome_line"] = self.outcome_line or None
        value["actions"] = [json_object(one, "text path line outcome?") for one in self.actions]
        return value


class _Unit(NamedTuple):
    """The statements of one incident, and its title. `outside`: how many steps above its statements are not of it.
    `listed`: it is an item of a list of incidents."""

    title: str
    statements: tuple[Statement, ...]
    outside: int
    listed: bool = False


def incidents(
    alerts: Iterable[Alert], ask: Callable[[str], Answer], lines_of: Callable[[Hit, str], Sequence[str]], today: date,
    enough: float,
) -> list[Incident]:  # fmt: skip
    """The incidents like these alerts, the likeliest first, MAX_INCIDENTS at most; each once.

    `ask` searches memory. `lines_of` gives the lines of a file of memory (of the hit's repository), without what was
    forgotten and without secrets. `enough` is the evidence (0..1) below which nothing is said.
    """
    found: dict[tuple[str, str, int], Incident] = {}
    table = table_of_words()
    for alert in alerts:
        files: dict[tuple[str, str], tuple[Sequence[str], tuple[Statement, ...]]] = {}
        units: dict[tuple[str, str, int], tuple[Hit, _Unit]] = {}
        answers = [(question, ask(question)) for question in alert.questions]
        for _, answer in answers:
            for hit in answer.hits:
                for path, first, last in _places(hit):
                    key = (hit.repository, path)
                    if key not in files:
                        lines = lines_of(hit, path)
                        files[key] = lines, _read(lines, path)
                    for unit in _units(*files[key], path, first, last):
                        units.setdefault((*key, unit.statements[0].first), (hit, unit))
        asked = [Asked(parse(question, today), table, answer.chunks) for question, answer in answers]
        for (repository, path, first), (hit, unit) in units.items():
            told = _told(unit, path)
            if told is None:
                continue
            likely = _likely(asked, unit)
            old = found.get((repository, path, first))
            if likely < enough or (old is not None and old.evidence >= likely):
                continue
            actions, outcome, line = told
            found[repository, path, first] = Incident(
                _shown(unit.title), _day(unit, path, hit), path, first, unit.statements[-1].last, actions, outcome,
                line, likely, shown_title(alert), repository,
            )  # fmt: skip
    ordered = sorted(found.values(), key=lambda one: (round(one.evidence, 1), one.date), reverse=True)
    return ordered[:MAX_INCIDENTS]


def shown_title(alert: Alert) -> str:
    """The title of an alert as one line of data."""
    return _shown(alert.title)


def _shown(text: str) -> str:
    """A text of memory or of an alert as one line: cut, without markup, withheld where it is a secret or an order."""
    line = " ".join(text.split())
    return one_line(screened(line[:LONGEST_LINE] + ("…" if len(line) > LONGEST_LINE else "")))


def _places(hit: Hit) -> list[tuple[str, int, int]]:
    """(path, first, last) of what a hit found: of a promoted fact the lines of the log too."""
    if hit.kind:
        return []
    here = [(hit.path, hit.start_line, hit.end_line)]
    return here + [(source.path, source.start_line, source.end_line) for source in hit.sources]


def _read(lines: Sequence[str], path: str) -> tuple[Statement, ...]:
    from gitmem.memory.document import parse as parse_document

    document = parse_document("\n".join(lines).encode("utf-8", "surrogateescape"), path)
    return statements(
        lines, document.front, outline(list(lines), document.front), note_name(path, document.front_matter)
    )


# -- which lines are one incident ----------------------------------------------------------------------------


def _units(
    lines: Sequence[str], all_of: Sequence[Statement], path: str, first: int, last: int
) -> list[_Unit]:  # fmt: skip
    """The incidents that lines `first` to `last` are part of, in order."""
    found: list[_Unit] = []
    for at, one in enumerate(all_of):
        within = one.says and one.first <= last and one.last >= first
        if within and not (found and one in found[-1].statements):
            unit = _unit(lines, all_of, path, at)
            if unit is not None:
                found += [unit]
    return found


def _unit(lines: Sequence[str], all_of: Sequence[Statement], path: str, at: int) -> _Unit | None:
    """The incident that a statement is part of: an item with what stands below it, where the heading holds many or
    the file is MEMORY.md; else the section, with the one above where its own heading only names a part."""
    here = all_of[at]
    heading = ""
    if here.above:
        heading = here.above[-1]
    listed = COLLECTIONS.fullmatch(_name(heading)) is not None
    many = listed or kind(path) in (Kind.MEMORY, Kind.ARCHIVE)
    if here.form is Form.ROW or (many and here.form is not Form.ITEM):
        return _Unit(_titled(here.text), (here,), len(here.above), listed)
    if many:
        root = at
        while all_of[root].parent >= 0:
            root = all_of[root].parent
        below = [root, *(n for n in range(root + 1, len(all_of)) if _stands_below(all_of, n, root))]
        return _Unit(_titled(all_of[root].text), tuple(all_of[n] for n in below), len(all_of[root].above), listed)
    headings = outline(list(lines)).headings
    start = next((n for n in reversed(range(len(headings))) if headings[n].line <= here.first), None)
    while start is not None and start > 0 and _is_part(headings[start].text):
        above = [n for n in range(start) if headings[n].level < headings[start].level]
        if not above:
            break
        start = above[-1]
    begin = 1
    if start is not None:
        begin = headings[start].line
    ends = [each.line for each in headings if start is not None and each.line > begin
            and each.level <= headings[start].level]  # fmt: skip
    end = min([*ends[:1], begin + LONGEST_SECTION, len(lines) + 1])
    within = tuple(one for one in all_of if one.says and begin <= one.first < end)
    if start is not None:
        title = headings[start].text
    else:
        title = note_name(path, {})
    if start == 0 and here.above and len(here.above[0]) > len(title) and headings[0].level == 1:
        title = here.above[0]
    direct = [len(one.above) for one in within if one.heading == begin]
    if direct:
        outside = min(direct)
    else:
        outside = min(len(one.above) for one in within) - 1
    return _Unit(title or _titled(here.text), within, outside)


def _stands_below(all_of: Sequence[Statement], number: int, root: int) -> bool:
    while all_of[number].parent >= 0:
        number = all_of[number].parent
        if number == root:
            return True
    return False


def _name(step: str) -> str:
    """A heading as it is compared: without a time, a colon, marks of emphasis."""
    return _TIME.sub("", step).strip().strip("*_#:： ").strip()


def _is_part(heading: str) -> bool:
    name = _name(heading)
    return any(pattern.fullmatch(name) for pattern in (ACTIONS, OUTCOMES, OTHERS))


def _titled(text: str) -> str:
    """What an item calls its incident: what stands before its colon, else its first words."""
    label, colon, _ = text.partition(": ")
    if colon and 8 <= len(label) <= 80:
        return label
    return text[:80]


# -- what was done, and how it ended -------------------------------------------------------------------------


def _result_of_action(text: str) -> str:
    """The words for the result that the text of an action states; "" when it states none."""
    if IN_VAIN.search(text):
        return IN_VAIN_WORDS
    if not OVER.search(text):
        return ""
    return OVER_WORDS


def _told(unit: _Unit, path: str) -> tuple[tuple[Action, ...], str, int] | None:
    """The actions, the outcome and the outcome's line of an incident; None for a text without trouble or action."""
    actions: list[Action] = []
    outcome, outcome_line, labelled = "", 0, False
    for one in unit.statements:
        role, text, open_box = _role(one, unit.outside)
        labelled = labelled or role == "action by label"
        if role.startswith("action"):
            if open_box:
                result = OPEN_WORDS
            else:
                result = _result_of_action(text)
            actions.append(Action(_shown(text.removeprefix(f"{unit.title}: ")), path, one.first, result))
        if role == "outcome" or (OVER.search(text) and not outcome and not IN_VAIN.search(text)):
            outcome, outcome_line = _ending(text), one.first
    first = unit.statements[0]
    rest = first.text.removeprefix(f"{unit.title}: ")
    if unit.listed and not actions and rest != first.text:  # `what was wrong: what was done about it`
        actions.append(Action(_shown(rest), path, first.first))
    words = " ".join([unit.title, path, *(one.text for one in unit.statements)])
    if not actions or not (labelled or unit.listed or TROUBLE.search(words)):
        return None
    return tuple(actions[:MAX_ACTIONS]), _shown(outcome), outcome_line


def _ending(text: str) -> str:
    """Of an outcome the sentences or clauses that tell it."""
    parts = [part.strip() for part in re.split(r"(?<=[.!?。])\s+|[;；]\s*", text)]
    telling = [part for part in parts if OVER.search(part)]
    if telling and len(parts) > 1:
        return telling[-1]
    return text


def _role(one: Statement, outside: int) -> tuple[str, str, bool]:
    """(role, text, whether it is a box that is not ticked): the role by the nearest label, parent or heading of the
    incident that names one, else by its own words; "" for none. `outside` as `_Unit` has it."""
    box = _BOX.fullmatch(one.text)
    if box:
        text = box[2]
    else:
        text = one.text
    label = _LABEL.fullmatch(_TIME.sub("", text, count=1) if _TIME.match(text) else text)
    open_box = box is not None and box[1] == " "
    steps = [*([label[1]] if label and label[2] else []), *reversed(one.parents), *reversed(one.above[outside:])]
    for number, step in enumerate(steps):
        name = _name(step)
        if label and number == 0 and label[2] and step == label[1]:
            said = label[2]
        else:
            said = text
        if ACTIONS.fullmatch(name):
            return "action by label", said, open_box
        if OUTCOMES.fullmatch(name):
            return "outcome", said, False
        if OTHERS.fullmatch(name):
            timeline = DONE.search(text) and _TIME.match(text)
            return ("action" if timeline else ""), text, False
    return ("action" if DONE.search(text) else ""), text, open_box


# -- how like the alert it is --------------------------------------------------------------------------------


def _likely(asked: Sequence[Asked], unit: _Unit) -> float:
    """The most evidence of a statement of the incident, with its title, for one of the questions; 0 where the incident
    as a whole is not LIKE one of them."""
    texts = [one.text for one in unit.statements]
    whole = "\n".join([unit.title, *texts])
    if not any(_is_like(each, whole) for each in asked):
        return 0.0
    return max((evidence(each, text, unit.title) for each in asked for text in texts), default=0.0)


def _is_like(asked: Asked, text: str) -> bool:
    if not asked.total:
        return False
    stands = standing(asked, text)
    if asked.table is None:
        return stands.tells / asked.total >= LIKE
    near = cosine(asked, text)
    return near >= NEAR and near + features(asked, text, stands, near)["share"] >= LIKE


def _day(unit: _Unit, path: str, hit: Hit) -> str:
    """The day of an incident: one that its title or its lines' heading names, its log's, else that of the hit."""
    for text in (unit.title, unit.statements[0].day, unit.statements[0].text):
        named = _NAMED_DAY.search(text)
        if named:
            try:
                return date(int(named[1]), int(named[2]), int(named[3])).isoformat()
            except ValueError:
                continue
    day = log_date(path)
    if day is not None:
        return day.isoformat()
    return hit.date
