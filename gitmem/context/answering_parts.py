"""Leaves out the recalled parts of a context that do not answer its prompt, by the evidence of their words. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import cache

from gitmem.context.context_request import ContextRequest
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part, with_name
from gitmem.context.recall_queries import Question
from gitmem.search.evidence import STRONG, WeighedQuestion, evidence, find_words, word_table
from gitmem.search.question import parse

NO_ANSWER, WEAK_ANSWER = "memory does not answer the prompt", "says too little to the prompt"
RECALLED = frozenset(
    (Layer.MEMORY, Layer.PROJECT, Layer.EPISODE, Layer.DAILY, Layer.HISTORY)
)  # layers whose parts must answer the prompt


AMENDED, CODE_GONE = "a later line amends it", "the code that it cites is gone"


# The least evidence, 0..1, of a part if another part answers the prompt, and if that other part has STRONG evidence. A
# prompt of small talk resembles one part at most; for a real question the answer is seldom the part with most evidence.
MIN_BESIDE, MIN_BESIDE_STRONG = 0.2, 0.05


def answering_parts(
    pairs: Sequence[tuple[Part, Part]], request: ContextRequest, questions: Sequence[Question], today: date, chunks: int
) -> tuple[list[Part], list[tuple[Part, str]]]:
    """(the parts that answer the prompt, (part, reason) for each other part), both in order.

    `pairs`: (part as it was found, part without the statements that the session has). The evidence is measured on the
    first; the second is returned. `questions`: the first is the prompt; others of its weight are parts of it. `chunks`:
    chunks in the searched indexes, for the weights of words. A part outside the RECALLED layers is always kept. If the
    best part has less evidence than `request.min_best_evidence`, no recalled part is kept; else a part needs
    `request.min_evidence` and the smaller of `request.min_best_evidence` and MIN_BESIDE (MIN_BESIDE_STRONG if the best
    part has STRONG evidence). If the request has no limit of evidence or no prompt, or if there are no questions, all
    parts are kept. With `min_evidence`, a part with a day in `until` or with deleted code is left out too. A question
    of less weight (`recall_queries.BACKGROUND_WEIGHT`) counts for a part that shares a word with the prompt; it counts
    for every part if the prompt is made of common words, such as "and why does it fail?".

    The names of a note (`Part.names`) count as in a search; if one has words of the question that a part lacks, the
    parts of its file are given below it.
    """
    if not (request.min_best_evidence or request.min_evidence) or not request.prompt.strip() or not questions:
        return [fresh for _, fresh in pairs], []  # without a threshold, a prompt or a question every part counts
    measured = _evidence_measure(questions, today, chunks)
    answers: dict[int, float] = {}  # index of a recalled part in `pairs` -> its evidence
    for index, (found, _) in enumerate(pairs):
        if found.layer in RECALLED:
            answers[index] = measured(found, "")
            if names := _names_beside_trail(found):
                answers[index] = max(answers[index], measured(found, names))
    best = max(answers.values(), default=0.0)
    beside = MIN_BESIDE_STRONG if best >= STRONG else MIN_BESIDE
    enough = max(request.min_evidence, min(request.min_best_evidence, beside))
    silent = best < request.min_best_evidence
    kept: list[Part] = []
    named: dict[tuple[str, str], str] = {}  # (scope, path) of a file -> the name by which it answers
    weight_of = words_found(questions, today)
    withheld: list[tuple[Part, str]] = []
    for index, (_, part) in enumerate(pairs):
        if index not in answers:
            kept.append(part)
        elif silent:
            withheld.append((part, NO_ANSWER))
        elif answers[index] < enough:
            withheld.append((part, WEAK_ANSWER))
        elif request.min_evidence and part.until:
            withheld.append((part, AMENDED))  # the session may have the later line already
        elif request.min_evidence and part.code_gone:
            withheld.append((part, CODE_GONE))
        else:
            kept.append(part)
            if name := _name_that_tells(part, weight_of):
                named.setdefault((part.scope, part.path), name)
    return [with_name(part, named.get((part.scope, part.path), "")) for part in kept], withheld


def _evidence_measure(questions: Sequence[Question], today: date, chunks: int) -> Callable[[Part, str], float]:
    """A function of a part and of names of its note, with the part's largest evidence for one of the questions.
    `questions`, `chunks`: as for `answering_parts`."""
    table = word_table()
    weighed = [(WeighedQuestion(parse(question.text, today), table, chunks), question.weight) for question in questions]
    prompts = [(question, weight) for question, weight in weighed if weight == weighed[0][1]]
    telling = [question for question, _ in prompts if question.has_telling_words]
    has_background = len(weighed) > len(prompts)

    def measured(part: Part, names: str) -> float:
        words = f"{names} {part.text_with_trail}"
        counted = weighed
        if has_background and telling and not any(find_words(question, words).weight for question in telling):
            counted = prompts
        texts = [(text, f"{names} {about}".strip()) for text, about in _texts_with_trails(part)]
        return max(
            weight * evidence(question, text, about, part.day) for question, weight in counted for text, about in texts
        )

    return measured


def _names_beside_trail(part: Part) -> str:
    """The names of a part's note that are no step of its trail, as one text."""
    return " ".join(name for name in part.names if name not in part.trail)


def _name_that_tells(part: Part, weight_of: Callable[[str], float]) -> str:
    """The name of a part's note with the most words of the question that the part and its trail lack; "" if none has
    any. `weight_of`: as `words_found` returns it."""
    texts = {name: f"{name} {part.text_with_trail}" for name in part.names}
    best = max(texts, key=lambda name: weight_of(texts[name]), default="")
    return best if best and weight_of(texts[best]) > weight_of(part.text_with_trail) else ""


def words_found(questions: Sequence[Question], today: date) -> Callable[[str], float]:
    """A function from a text to the weight of the questions' telling words in it. It reads the questions when it is
    first called."""

    @cache
    def weighed() -> list[tuple[WeighedQuestion, float]]:
        table = word_table()
        return [(WeighedQuestion(parse(question.text, today), table), question.weight) for question in questions]

    return lambda text: sum(weight * find_words(question, text).weight for question, weight in weighed())


def _texts_with_trails(part: Part) -> list[tuple[str, str]]:
    """(text, trail) of a part, and of each of its statements if it has several."""
    of_statements = [(piece.own.text, piece.statement.trail) for piece in part.pieces if len(part.pieces) > 1]
    return [(text, " ".join(trail)) for text, trail in ((part.content, part.trail), *of_statements)]
