"""Finds past incidents in memory that resemble an alert, with the actions that people took and the outcome.

An incident is a section of a note or log, or an item of a list with its sub-items. A search finds its statements. It is
returned if it tells of trouble and of at least one action, and if its evidence (`evidence`) for the alert is high
enough. Actions are shown as they were written, as data; none is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from gitmem.gate.quoting import one_line
from gitmem.gate.withholding import name_for_model
from gitmem.json_values import json_keys
from gitmem.memory.outline import outline
from gitmem.memory.statements import Form, Statement, note_name, statements
from gitmem.paths import Kind, kind, log_date
from gitmem.search.alerts import Alert
from gitmem.search.evidence import WeighedQuestion, cosine, evidence, features, find_words, word_table
from gitmem.search.hits import Hit
from gitmem.search.question import parse
from gitmem.search.search import Answer
from gitmem.text.incident_words import (
    ACTION_HEADING,
    ACTION_TAKEN,
    COLLECTION_HEADING,
    NO_EFFECT,
    OTHER_INCIDENT_HEADING,
    OUTCOME_HEADING,
    RESOLVED,
    TROUBLE,
)

MAX_INCIDENTS = 5  # incidents for one delivery of alerts
MAX_ACTIONS = 20  # actions of one incident
MAX_SECTION_LINES = 200  # lines of an incident that are read
MAX_LINE_CHARACTERS = 300  # characters of an action that are shown
HITS = 20  # hits of the search for one question
# Thresholds for an incident as a whole: its cosine with the question; the cosine plus the share of the question's words
# that it has. Evidence judges one statement only, where one shared word may be chance. Set on 58 alerts of two
# memories; tests/cli/commands/test_seen.py checks them on a third one.
MIN_COSINE, MIN_LIKENESS = 0.38, 0.6
IN_VAIN_WORDS, OVER_WORDS, OPEN_WORDS = "did not help then", "helped then", "was left open then"
# A line with a label: `**Cause**: the disk was full`.
_LABEL = re.compile(r"(?:\*\*|__)?([^:：*_]{2,24})(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(.*)", re.DOTALL)
_BOX = re.compile(r"\[([ xX])\]\s+(.*)", re.DOTALL)
_TIME = re.compile(r"[\[(]?\d{1,2}:\d{2}(?::\d{2})?[\])]?\s*(?:[-–—:|]\s*)?")
_NAMED_DAY = re.compile(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})")


@json_keys("text path line outcome?")
class Action(NamedTuple):
    """One action of an incident. `text`: one line of data. `path`, `line`: its place. `outcome`: one of IN_VAIN_WORDS,
    OVER_WORDS and OPEN_WORDS, "" if the text states no result.

    JSON: `text`: one line of data. `outcome`: `did not help then`, `helped then` or `was left open then`, null if
    memory does not say.
    """

    text: str
    path: str
    line: int
    outcome: str = ""


@json_keys("[repository] title date? path start_line end_line alert evidence outcome? outcome_line? actions")
class Incident(NamedTuple):
    """One past incident. `date`: its ISO day, "" if unknown. `start_line`, `end_line`: its lines in `path`. `outcome`,
    `outcome_line`: how it ended and the line that says so, "" and 0 if no line does. `evidence`: how well it fits the
    alert, 0..1. `alert`: the title of that alert. `repository`: its name on a server, else "".

    JSON: `outcome`: the sentence by which it ended, null if memory does not say. `outcome_line`: its line. `alert`:
    the title of the alert that it is like. `evidence`: 0 to 1, how likely the incident is of the kind of `alert`.
    `actions`: what was done then.
    """

    title: str
    date: str
    path: str
    start_line: int
    end_line: int
    actions: tuple[Action, ...]
    outcome: str
    outcome_line: int
    evidence: float
    alert: str
    repository: str = ""


class _Unit(NamedTuple):
    """The title and the statements of one incident. `outside`: number of the outer headings of its statements that do
    not belong to the incident. `listed`: whether it is an item below a heading of many incidents."""

    title: str
    statements: tuple[Statement, ...]
    outside: int
    listed: bool = False


def find_incidents(
    alerts: Iterable[Alert], ask: Callable[[str], Answer], lines_of: Callable[[Hit, str], Sequence[str]], today: date,
    min_evidence: float,
) -> list[Incident]:  # fmt: skip
    """At most MAX_INCIDENTS incidents that resemble the alerts, each once, by evidence and then the newest first.

    `ask`: searches memory for a question. `lines_of`: returns the lines of a path in the repository of a hit, without
    forgotten texts and secrets. `min_evidence`: the least evidence of an incident, 0..1.
    """
    incidents: dict[tuple[str, str, int], Incident] = {}
    table = word_table()
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
                        files[key] = lines, _parse_statements(lines, path)
                    for unit in _units(*files[key], path, first, last):
                        units.setdefault((*key, unit.statements[0].first), (hit, unit))
        weighed = [WeighedQuestion(parse(question, today), table, answer.chunks) for question, answer in answers]
        for (repository, path, first), (hit, unit) in units.items():
            account = _actions_and_outcome(unit, path)
            if account is None:
                continue
            likelihood = _incident_evidence(weighed, unit)
            known = incidents.get((repository, path, first))
            if likelihood < min_evidence or (known is not None and known.evidence >= likelihood):
                continue
            actions, outcome, line = account
            incidents[repository, path, first] = Incident(
                _data_line(unit.title), _day(unit, path, hit), path, first, unit.statements[-1].last, actions, outcome,
                line, likelihood, shown_title(alert), repository,
            )  # fmt: skip
    ordered = sorted(incidents.values(), key=lambda past: (round(past.evidence, 1), past.date), reverse=True)
    return [past._replace(evidence=round(past.evidence, 2)) for past in ordered[:MAX_INCIDENTS]]


def shown_title(alert: Alert) -> str:
    """The title of an alert on one line, without markup and cut to MAX_LINE_CHARACTERS; a note in its place if it has a
    secret or an order to a model."""
    return _data_line(alert.title)


def _data_line(text: str) -> str:
    """A text as one line of data, cut to MAX_LINE_CHARACTERS, without markup; replaced by a note if it has a secret or
    an order to a model."""
    line = " ".join(text.split())
    if len(line) > MAX_LINE_CHARACTERS:
        line = line[:MAX_LINE_CHARACTERS] + "…"
    return one_line(name_for_model(line))


def _places(hit: Hit) -> list[tuple[str, int, int]]:
    """(path, first line, last line) of a hit and of the sources of its fact; none for a commit."""
    if hit.kind:
        return []
    here = [(hit.path, hit.start_line, hit.end_line)]
    return here + [(source.path, source.start_line, source.end_line) for source in hit.sources]


def _parse_statements(lines: Sequence[str], path: str) -> tuple[Statement, ...]:
    """The statements of a file."""
    from gitmem.memory.document import parse as parse_document

    document = parse_document("\n".join(lines).encode("utf-8", "surrogateescape"), path)
    return statements(
        lines, document.front, outline(list(lines), document.front), note_name(path, document.front_matter)
    )


# -- which lines are one incident ----------------------------------------------------------------------------


def _units(
    lines: Sequence[str], statements: Sequence[Statement], path: str, first: int, last: int
) -> list[_Unit]:  # fmt: skip
    """The incidents that lines `first` to `last` belong to, in order. `statements`: all of the file."""
    units: list[_Unit] = []
    for index, statement in enumerate(statements):
        is_asked = statement.has_content and statement.first <= last and statement.last >= first
        if is_asked and not (units and statement in units[-1].statements):
            unit = _unit(lines, statements, path, index)
            if unit is not None:
                units += [unit]
    return units


def _unit(lines: Sequence[str], statements: Sequence[Statement], path: str, index: int) -> _Unit | None:
    """The incident that the statement at `index` belongs to.

    Below a heading of many incidents and in MEMORY.md, an incident is an item with its sub-items. Elsewhere it is the
    section; if the heading only names a part of an incident ("Actions"), it is the enclosing section.
    """
    statement = statements[index]
    heading = statement.above[-1] if statement.above else ""
    listed = COLLECTION_HEADING.fullmatch(_plain_heading(heading)) is not None
    one_per_item = listed or kind(path) in (Kind.MEMORY, Kind.ARCHIVE)
    if statement.form is Form.ROW or (one_per_item and statement.form is not Form.ITEM):
        return _Unit(_item_title(statement.text), (statement,), len(statement.above), listed)
    if one_per_item:
        root = _root(statements, index)
        item = statements[root]
        below = (statements[n] for n in range(root + 1, len(statements)) if _root(statements, n) == root)
        return _Unit(_item_title(item.text), (item, *below), len(item.above), listed)
    headings = outline(list(lines)).headings
    start = next((n for n in reversed(range(len(headings))) if headings[n].line <= statement.first), None)
    while start is not None and start > 0 and _is_part(headings[start].text):
        above = [n for n in range(start) if headings[n].level < headings[start].level]
        if not above:
            break
        start = above[-1]
    begin = headings[start].line if start is not None else 1
    ends = [later.line for later in headings if start is not None and later.line > begin
            and later.level <= headings[start].level]  # fmt: skip
    end = min([*ends[:1], begin + MAX_SECTION_LINES, len(lines) + 1])
    members = tuple(member for member in statements if member.has_content and begin <= member.first < end)
    title = headings[start].text if start is not None else note_name(path, {})
    if start == 0 and statement.above and len(statement.above[0]) > len(title) and headings[0].level == 1:
        title = statement.above[0]
    direct = [len(member.above) for member in members if member.heading == begin]
    if direct:
        outside = min(direct)
    else:
        outside = min(len(member.above) for member in members) - 1
    return _Unit(title or _item_title(statement.text), members, outside)


def _root(statements: Sequence[Statement], index: int) -> int:
    """The index of the outermost item that the statement at `index` is a sub-item of; `index` for one below no item."""
    while (parent := statements[index].parent) is not None:
        index = parent
    return index


def _plain_heading(step: str) -> str:
    """A heading without its time, colon and marks of emphasis, for comparison."""
    return _TIME.sub("", step).strip().strip("*_#:： ").strip()


def _is_part(heading: str) -> bool:
    """Whether a heading names a part of an incident, such as its actions or its outcome."""
    name = _plain_heading(heading)
    return any(pattern.fullmatch(name) for pattern in (ACTION_HEADING, OUTCOME_HEADING, OTHER_INCIDENT_HEADING))


def _item_title(text: str) -> str:
    """The title of an incident that is an item: the text before its first ": " if that has 8 to 80 characters, else
    the first 80 characters of the text."""
    label, colon, _ = text.partition(": ")
    return label if colon and 8 <= len(label) <= 80 else text[:80]


# -- what was done, and how it ended -------------------------------------------------------------------------


def _result_of_action(text: str) -> str:
    """IN_VAIN_WORDS or OVER_WORDS if the text of an action states such a result, else ""."""
    if NO_EFFECT.search(text):
        return IN_VAIN_WORDS
    if not RESOLVED.search(text):
        return ""
    return OVER_WORDS


def _actions_and_outcome(unit: _Unit, path: str) -> tuple[tuple[Action, ...], str, int] | None:
    """(the first MAX_ACTIONS actions, outcome, line of the outcome) of an incident; the outcome is "" and its line 0
    for none. None if it has no action or does not tell of trouble."""
    actions: list[Action] = []
    outcome, outcome_line, labelled = "", 0, False
    for statement in unit.statements:
        role, text, open_box = _role(statement, unit.outside)
        labelled = labelled or role == "action by label"
        if role.startswith("action"):
            result = OPEN_WORDS if open_box else _result_of_action(text)
            actions.append(Action(_data_line(text.removeprefix(f"{unit.title}: ")), path, statement.first, result))
        if role == "outcome" or (RESOLVED.search(text) and not outcome and not NO_EFFECT.search(text)):
            outcome, outcome_line = _outcome_sentence(text), statement.first
    first_statement = unit.statements[0]
    remedy = first_statement.text.removeprefix(f"{unit.title}: ")
    if unit.listed and not actions and remedy != first_statement.text:  # `what was wrong: what was done about it`
        actions.append(Action(_data_line(remedy), path, first_statement.first))
    words = " ".join([unit.title, path, *(statement.text for statement in unit.statements)])
    if not actions or not (labelled or unit.listed or TROUBLE.search(words)):
        return None
    return tuple(actions[:MAX_ACTIONS]), _data_line(outcome), outcome_line


def _outcome_sentence(text: str) -> str:
    """The last sentence or clause of a text that tells an outcome; the whole text if none does."""
    parts = [part.strip() for part in re.split(r"(?<=[.!?。])\s+|[;；]\s*", text)]
    telling = [part for part in parts if RESOLVED.search(part)]
    return telling[-1] if telling and len(parts) > 1 else text


def _role(statement: Statement, outside: int) -> tuple[str, str, bool]:
    """(role, text, whether it is an unticked box) of a statement. `outside`: as in `_Unit`.

    The role is "action", "action by label", "outcome" or "". The nearest label, parent item or heading that names a
    role decides; without one the statement's own words do.
    """
    box = _BOX.fullmatch(statement.text)
    text = box[2] if box else statement.text
    untimed = _TIME.sub("", text, count=1) if _TIME.match(text) else text
    label = _LABEL.fullmatch(untimed)
    open_box = box is not None and box[1] == " "
    steps = [*reversed(statement.parents), *reversed(statement.above[outside:])]
    if label and label[2]:
        steps.insert(0, label[1])
    for number, step in enumerate(steps):
        name = _plain_heading(step)
        if label and number == 0 and label[2] and step == label[1]:
            role_text = label[2]
        else:
            role_text = text
        if ACTION_HEADING.fullmatch(name):
            return "action by label", role_text, open_box
        if OUTCOME_HEADING.fullmatch(name):
            return "outcome", role_text, False
        if OTHER_INCIDENT_HEADING.fullmatch(name):
            if ACTION_TAKEN.search(text) and _TIME.match(text):
                return "action", text, False
            return "", text, False
    if ACTION_TAKEN.search(text):
        return "action", text, open_box
    return "", text, open_box


# -- how like the alert it is --------------------------------------------------------------------------------


def _incident_evidence(questions: Sequence[WeighedQuestion], unit: _Unit) -> float:
    """The greatest evidence, 0..1, of a statement with the title for one of the questions; 0 if the whole incident
    resembles none of the questions (`_is_like`)."""
    texts = [statement.text for statement in unit.statements]
    whole = "\n".join([unit.title, *texts])
    if not any(_is_like(question, whole) for question in questions):
        return 0.0
    return max((evidence(question, text, unit.title) for question in questions for text in texts), default=0.0)


def _is_like(question: WeighedQuestion, text: str) -> bool:
    """Whether a text has MIN_COSINE with the question, and MIN_LIKENESS for the cosine plus the share of its words."""
    if not question.total:
        return False
    words = find_words(question, text)
    if question.table is None:
        return words.weight / question.total >= MIN_LIKENESS
    likeness = cosine(question, text)
    return likeness >= MIN_COSINE and likeness + features(question, text, words, likeness)["share"] >= MIN_LIKENESS


def _day(unit: _Unit, path: str, hit: Hit) -> str:
    """The ISO day of an incident: from its title or first statement, else from the name of its log, else of the hit; ""
    if unknown."""
    for text in (unit.title, unit.statements[0].day, unit.statements[0].text):
        named = _NAMED_DAY.search(text)
        if named:
            try:
                return date(int(named[1]), int(named[2]), int(named[3])).isoformat()
            except ValueError:
                continue
    day = log_date(path)
    return day.isoformat() if day is not None else hit.date
