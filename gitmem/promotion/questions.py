"""Questions about a person's own facts, for `git mem eval`: made by template or by a language model, reviewed as text.
Writes no file.

A template asks for what comes after the topic of a fact, so that the question does not hold its answer. What a model
writes is held to one line of at most MAX_QUESTION_CHARACTERS, for a fact that it was shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from gitmem.gate.quoting import without_secrets
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact
from gitmem.models.language import REPLY_LIMIT, LanguageModel, OutOfBudget, Prompt
from gitmem.paths import Kind, kind
from gitmem.plural import counted
from gitmem.promotion.prompt import packaged, rows
from gitmem.search.evaluation import LabelledQuestion

MAX_QUESTION_CHARACTERS = 200  # characters of a question
BATCH = 30  # facts a request
TOPIC = 7  # words of a topic
HEAD = """\
# A question at the margin, and below it the fact that answers it. Change a question, or delete it: a fact without one
# is not asked. Lines that begin with # say nothing.
"""
_OPENING = re.compile(
    r"^(?:we|i|they|the team|it was|it is)\s+(?:have\s+|has\s+|had\s+)?"
    r"(?:decided|agreed|chose|settled|concluded|learned|noted)\s+(?:that|to use|to|on)?\s*",
    re.I,
)
_VERB = re.compile(
    r"\s(?:is|are|was|were|be|uses?|has|have|must|should|shall|will|can|cannot|may|needs?|goes|go|runs?|lives?|stays?|comes?"
    r"|takes?|keeps?|holds?|wants?|prefers?|likes?|starts?|ends?|means?|only|never|always|not)\s",
    re.I,
)
_PARTICLE = re.compile(r"^(.{2,40}?)(?:은|는|이|가|을|를)(?:\s|$)")
_KANA_PARTICLE = re.compile(r"^(.{2,30}?)(?:は|が|を)")
ASKED = {
    "en": {"decision": "What was decided about {}?", "preference": "What is preferred for {}?",
           "deadline": "When is {} due?", "": "What is known about {}?"},
    "ko": {"decision": "{}에 대해 무엇을 정했나?", "deadline": "{} 기한은 언제인가?", "": "{}에 대해 아는 것은?"},
    "ja": {"decision": "{}について何を決めた？", "deadline": "{}の期限は？", "": "{}はどうなっている？"},
    "zh": {"decision": "关于{}决定了什么？", "deadline": "{}的期限是什么时候？", "": "{}是什么情况？"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AskedFact:
    """A fact, the file it stands in, and the question that it answers ("" for none)."""

    fact: Fact
    path: str
    question: str = ""


# -- making ----------------------------------------------------------------------------------------------------------


def asked_facts(facts: Iterable[tuple[str, Fact]], today: date, known: Mapping[str, str]) -> list[AskedFact]:
    """The facts of long-term memory that hold today, each once, with the question it has in `known` (fact id ->
    question, "" for one that is not asked about) or one from a template; facts with a secret are left out."""
    chosen: dict[str, AskedFact] = {}
    for path, fact in facts:
        secret = without_secrets([fact.text])[0] != fact.text
        if kind(path) is Kind.MEMORY and not memory_facts.expired(fact, today) and not secret:
            if fact.id in known:
                question = known[fact.id]
            else:
                question = template(fact.text, fact.get("type"))
            chosen.setdefault(fact.id, AskedFact(fact, path, question))
    return list(chosen.values())


def template(text: str, of: str = "") -> str:
    """A question for the rest of a fact, given its topic; `of` is its type. "" where it has no topic."""
    language = _language(text)
    label, colon, rest = text.partition(":")
    topic = ""
    if colon and rest[:1].isspace() and 0 < len(label.split()) <= TOPIC:
        topic = label
    topic = topic or _topic(_OPENING.sub("", text).strip() or text, language)
    topic = topic.strip(" .,;:*`_\"'")
    forms = ASKED[language]
    if not topic:
        return ""
    return forms.get(of, forms[""]).format(topic)[:MAX_QUESTION_CHARACTERS]


def _language(text: str) -> str:
    if re.search("[\uac00-\ud7a3]", text):
        return "ko"
    if re.search("[\u3040-\u30ff]", text):
        return "ja"
    if re.search("[\u4e00-\u9fff]", text):
        return "zh"
    return "en"


def _topic(text: str, language: str) -> str:
    """The topic of a sentence: the words before its verb or particle, or else its first half, with a limit."""
    if language == "zh":
        return text[: max(2, min(10, len(text) // 2))]
    particle = {"ko": _PARTICLE, "ja": _KANA_PARTICLE}.get(language)
    match = None
    if particle:
        match = particle.match(text)
    if match:
        return match[1]
    if language == "ja":
        return text[: max(2, min(12, len(text) // 2))]
    verb = None
    if language == "en":
        verb = _VERB.search(text)
    if verb and text[: verb.start()].strip():
        return " ".join(text[: verb.start()].split()[:TOPIC])
    words = text.split()
    return " ".join(words[: max(1, min(TOPIC, len(words) // 2))])


def by_model(facts: Sequence[AskedFact], model: LanguageModel) -> tuple[list[AskedFact], list[str]]:
    """The facts with the questions that a model writes, those of the template where it writes none; and what was wrong.

    Raises ModelUnavailable.
    """
    asked: list[AskedFact] = []
    problems: list[str] = []
    with model.run() as complete:
        for start in range(0, len(facts), BATCH):
            group = facts[start : start + BATCH]
            labels = {f"L{number}": item for number, item in enumerate(group, 1)}
            shown = [f"{label} {json.dumps(item.fact.text, ensure_ascii=False)}" for label, item in labels.items()]
            origins = tuple(dict.fromkeys((item.path, "") for item in group))
            try:
                reply = complete(Prompt(packaged("questions"), "\n".join(shown), _schema(list(labels)), origins))
            except OutOfBudget as error:
                problems.append(f"{error}; the other {counted(len(facts) - start, 'question')} are of the template")
                asked += facts[start:]
                break
            found, problem = rows(reply.text[:REPLY_LIMIT])
            if problem:
                problems += [problem]
            written = {str(row.get("line")): _one_line(row.get("question")) for row in found}
            asked += [replace(item, question=written.get(label) or item.question) for label, item in labels.items()]
    return asked, problems


def _one_line(text: object) -> str:
    if not isinstance(text, str):
        return ""
    return " ".join(text.split())[:MAX_QUESTION_CHARACTERS]


def _schema(labels: Sequence[str]) -> dict[str, Any]:
    row = {
        "type": "object",
        "properties": {
            "line": {"enum": list(labels)},
            "question": {"type": "string", "maxLength": MAX_QUESTION_CHARACTERS},
        },
        "required": ["line", "question"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": row, "maxItems": len(labels)}},
        "required": ["facts"],
        "additionalProperties": False,
    }


# -- reviewing and keeping -------------------------------------------------------------------------------------------


def review_text(asked: Iterable[AskedFact]) -> str:
    """The questions as a person edits them."""
    return HEAD + "".join(
        f"\n{item.question or '# (no question)'}\n    {item.fact.id} {item.fact.text}\n" for item in asked
    )


def reviewed(text: str, asked: Sequence[AskedFact]) -> list[AskedFact]:
    """The facts with the questions that a person left, "" for none; what has no fact of `asked` below it is no
    question."""
    known = {item.fact.id: replace(item, question="") for item in asked}
    question = ""
    for line in text.split("\n"):
        if line[:1].isspace() and line.strip():
            item = known.get(line.split()[0])
            if item and question:
                known[item.fact.id] = replace(item, question=question)
            question = ""
        elif line.strip() and not line.startswith("#"):
            question = _one_line(line)
    return list(known.values())


def file_text(asked: Iterable[AskedFact], before: Iterable[tuple[str, LabelledQuestion]] = ()) -> str:
    """The questions as `git mem eval` reads them, a JSON object a line; a fact without one stays said, so that it is
    not asked about again. Of the rows `before`, those that say nothing else than `asked` and those about anything else
    stay as they are."""
    said = {item.fact.id: item for item in asked}
    lines = []
    for line, old in before:
        item = said.get(old.fact)
        if item is None or item.question == old.query:
            said.pop(old.fact, None)
            lines.append(line)
    lines += [
        json.dumps(
            {"query": item.question, "category": item.fact.get("type"), "fact": item.fact.id}, ensure_ascii=False
        )
        for item in said.values()
    ]
    return "".join(f"{line}\n" for line in lines)
