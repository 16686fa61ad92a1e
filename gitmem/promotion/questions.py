"""Questions about a person's own facts, for `git mem eval`, from templates or from a language model. Writes no file.

A template asks only about the topic of a fact, so that the question does not contain the answer. Of a model's question
the first MAX_QUESTION_CHARS characters are taken, as one line. A person reviews the questions as text.
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
from gitmem.models.language import MAX_REPLY_CHARACTERS, LanguageModel, OutOfBudget, Prompt
from gitmem.paths import Kind, kind
from gitmem.plural import counted
from gitmem.promotion.prompt import packaged_prompt, parse_objects, schema_of_list
from gitmem.search.evaluation import LabelledQuestion

MAX_QUESTION_CHARS = 200  # characters of a question
MAX_BATCH_FACTS = 30  # facts of one request
MAX_TOPIC_WORDS = 7  # words of a topic
HEAD = """\
# A question at the margin, and below it the fact that answers it. Change a question, or delete it: a fact without one
# is not asked. Lines that begin with # say nothing.
"""
# The words before what was decided or learned: the question asks about what follows them.
_OPENING = re.compile(
    r"^(?:we|i|they|the team|it was|it is)\s+(?:have\s+|has\s+|had\s+)?"
    r"(?:decided|agreed|chose|settled|concluded|learned|noted)\s+(?:that|to use|to|on)?\s*",
    re.I,
)
# What ends the topic of a text: its first verb in English, its first particle in Korean and Japanese.
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
class FactQuestion:
    """A fact, the path of its file, and the question that it answers ("" for none)."""

    fact: Fact
    path: str
    question: str = ""


# -- making ----------------------------------------------------------------------------------------------------------


def fact_questions(facts: Iterable[tuple[str, Fact]], today: date, earlier: Mapping[str, str]) -> list[FactQuestion]:
    """The facts of MEMORY.md that are true today, each once, with a question. Facts with a secret are left out.

    `earlier`: fact id -> question of an earlier run, "" for a fact that is not asked about. Other facts get a question
    from a template.
    """
    questions: dict[str, FactQuestion] = {}
    for path, fact in facts:
        has_secret = without_secrets([fact.text])[0] != fact.text
        if fact.id in questions or kind(path) is not Kind.MEMORY or memory_facts.expired(fact, today) or has_secret:
            continue
        question = earlier.get(fact.id)
        if question is None:
            question = template(fact.text, fact.get("type"))
        questions[fact.id] = FactQuestion(fact, path, question)
    return list(questions.values())


def template(text: str, fact_type: str = "") -> str:
    """A question about the topic of a fact, from a template in its language, cut to MAX_QUESTION_CHARS; "" when the
    fact has no topic. `fact_type`: the type of the fact."""
    language = _language(text)
    label, colon, statement = text.partition(":")
    if colon and statement[:1].isspace() and 0 < len(label.split()) <= MAX_TOPIC_WORDS:
        topic = label
    else:
        topic = _topic(_OPENING.sub("", text).strip() or text, language)
    topic = topic.strip(" .,;:*`_\"'")
    forms = ASKED[language]
    if not topic:
        return ""
    return forms.get(fact_type, forms[""]).format(topic)[:MAX_QUESTION_CHARS]


def _language(text: str) -> str:
    """`ko`, `ja`, `zh` or `en`, by the letters of a text."""
    if re.search("[\uac00-\ud7a3]", text):
        return "ko"
    if re.search("[\u3040-\u30ff]", text):
        return "ja"
    if re.search("[\u4e00-\u9fff]", text):
        return "zh"
    return "en"


def _topic(text: str, language: str) -> str:
    """The topic of a sentence, by language. English: at most MAX_TOPIC_WORDS words before the first verb. Korean: 2 to
    40 characters before the first particle; Japanese: 2 to 30.

    Without a verb or particle it is the first half: in English and Korean of the words, at most MAX_TOPIC_WORDS; in
    Japanese of the characters, at most 12; in Chinese always of the characters, at most 10.
    """
    if language == "zh":
        return text[: max(2, min(10, len(text) // 2))]
    if language == "ko" and (match := _PARTICLE.match(text)):
        return match[1]
    if language == "ja":
        if match := _KANA_PARTICLE.match(text):
            return match[1]
        return text[: max(2, min(12, len(text) // 2))]
    if language == "en" and (verb := _VERB.search(text)) and text[: verb.start()].strip():
        return " ".join(text[: verb.start()].split()[:MAX_TOPIC_WORDS])
    words = text.split()
    return " ".join(words[: max(1, min(MAX_TOPIC_WORDS, len(words) // 2))])


def questions_by_model(facts: Sequence[FactQuestion], model: LanguageModel) -> tuple[list[FactQuestion], list[str]]:
    """(the facts with questions of the model, in order; sentences about problems). A fact for which the model writes
    none keeps its question, and so do the facts that are left when the budget is used up. Raises ModelUnavailable if
    the model cannot be loaded or gives no reply."""
    questions: list[FactQuestion] = []
    problems: list[str] = []
    with model.run() as complete:
        for start in range(0, len(facts), MAX_BATCH_FACTS):
            group = facts[start : start + MAX_BATCH_FACTS]
            labels = {f"L{number}": item for number, item in enumerate(group, 1)}
            shown = [f"{label} {json.dumps(item.fact.text, ensure_ascii=False)}" for label, item in labels.items()]
            origins = tuple(dict.fromkeys((item.path, "") for item in group))
            try:
                reply = complete(Prompt(packaged_prompt("questions"), "\n".join(shown), _schema(list(labels)), origins))
            except OutOfBudget as error:
                problems.append(f"{error}; the other {counted(len(facts) - start, 'question')} are of the template")
                questions += facts[start:]
                break
            rows, problem = parse_objects(reply.text[:MAX_REPLY_CHARACTERS])
            if problem:
                problems += [problem]
            texts = {str(row.get("line")): _one_line(row.get("question")) for row in rows}
            questions += [replace(item, question=texts.get(label) or item.question) for label, item in labels.items()]
    return questions, problems


def _one_line(text: object) -> str:
    """A question as one line of at most MAX_QUESTION_CHARS characters; "" for a value that is not a text."""
    if not isinstance(text, str):
        return ""
    return " ".join(text.split())[:MAX_QUESTION_CHARS]


def _schema(labels: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a reply with one question for each label."""
    row = {"line": {"enum": list(labels)}, "question": {"type": "string", "maxLength": MAX_QUESTION_CHARS}}
    return schema_of_list(row, len(labels))


# -- reviewing and keeping -------------------------------------------------------------------------------------------


def review_text(questions: Iterable[FactQuestion]) -> str:
    """The text in which a person edits the questions: HEAD, then each question at the margin with its fact indented
    below it."""
    return HEAD + "".join(
        f"\n{item.question or '# (no question)'}\n    {item.fact.id} {item.fact.text}\n" for item in questions
    )


def parse_reviewed(text: str, questions: Sequence[FactQuestion]) -> list[FactQuestion]:
    """The facts of `questions` with the questions in `text`, a `review_text` that a person edited; "" for a deleted
    question. A question counts only when the fact is on the next indented line."""
    items = {item.fact.id: replace(item, question="") for item in questions}
    question = ""
    for line in text.split("\n"):
        if line[:1].isspace() and line.strip():
            item = items.get(line.split()[0])
            if item and question:
                items[item.fact.id] = replace(item, question=question)
            question = ""
        elif line.strip() and not line.startswith("#"):
            question = _one_line(line)
    return list(items.values())


def file_text(questions: Iterable[FactQuestion], old_rows: Iterable[tuple[str, LabelledQuestion]] = ()) -> str:
    """The file of questions that `git mem eval` reads, a JSON object on each line. A fact without a question is in it
    too, so that it is not asked about again.

    `old_rows`: (line, its question) of the old file. Lines of other facts, and unchanged ones, stay as they are.
    """
    items = {item.fact.id: item for item in questions}
    lines = []
    for line, old_question in old_rows:
        item = items.get(old_question.fact)
        if item is None or item.question == old_question.query:
            items.pop(old_question.fact, None)
            lines.append(line)
    for item in items.values():
        value = {"query": item.question, "category": item.fact.get("type"), "fact": item.fact.id}
        lines.append(json.dumps(value, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)
