"""The child process of `llama_process`: reads JSON requests, one a line, runs llama.cpp and writes JSON answers.

A crash or hang of native code ends this process only. It reads a model file and its standard input, writes its standard
output, and nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

from gitmem.models.llama_library import open_llama

DEFAULT_CONTEXT_TOKENS = 8192  # even if the model could take more
PLACEHOLDER = "\N{SYMBOL FOR UNIT SEPARATOR}"  # stands for the statement in a rendered chat
MAX_STATEMENT_TOKENS = 160  # tokens of a statement that are judged
TOKENS_PER_STEP = 512  # tokens evaluated at once


def main() -> None:
    """Answer JSON requests, one a line, until the input ends. The first, {"path", "context"}, loads a model; its answer
    is {"context"}, in tokens. {"system", "user", "schema", "max_tokens"} asks for a reply: lines of {"piece"}, then
    {"text", "cut", "tokens"} or {"too_long"}. {"system", "examples", "words"} sets a rubric: {"tokens"}, its length.
    {"statements"} asks for their log-odds by the rubric: {"log_odds"}. An error is answered with {"error"}."""
    output = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # llama.cpp may print there
    with os.fdopen(0, "r", encoding="utf-8") as requests:
        model: Any = None
        rubric: _Rubric | None = None
        for line in requests:
            request = json.loads(line)
            try:
                if model is None:
                    model = _load(request)
                    answer: dict[str, Any] = {"context": model.n_ctx()}
                elif "examples" in request:
                    rubric = _Rubric(model, request["system"], request["examples"], request["words"])
                    answer = {"tokens": len(rubric.before)}
                elif "statements" in request:
                    assert rubric is not None
                    answer = {"log_odds": [rubric.log_odds(statement) for statement in request["statements"]]}
                else:
                    answer = _complete(model, request, lambda piece: _write(output, {"piece": piece}))
            except CannotJudge as error:
                answer = {"error": str(error)}
            except Exception as error:  # noqa: BLE001 - the parent turns it into a message
                answer = {"error": type(error).__name__}
            _write(output, answer)


def _write(output: int, answer: dict[str, Any]) -> None:
    """Write an answer as one line of JSON, all of it."""
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(output, data) :]


def _load(request: dict[str, Any]) -> Any:
    """The loaded model of a request, with the context that it names (0: the default)."""
    context = int(request["context"]) or DEFAULT_CONTEXT_TOKENS
    # `swa_full`: a model with a sliding window keeps the whole rubric, so that statements after it can be removed.
    return open_llama(request["path"], n_ctx=context, n_batch=context, n_ubatch=TOKENS_PER_STEP, seed=0, swa_full=True)


def _complete(model: Any, request: dict[str, Any], piece: Callable[[str], None]) -> dict[str, Any]:
    """The reply to a request {"system", "user", "schema", "max_tokens"}.

    It is {"text", "cut", "tokens"}: JSON of the schema, whether the reply was cut at `max_tokens` or at the end of the
    context, and the number of generated parts. Or it is {"too_long": True} if the prompt leaves fewer than 256
    tokens, or fewer than `max_tokens` if that is less. `piece` is called with each part of the text as it is generated.
    """
    from llama_cpp.llama_grammar import LlamaGrammar

    grammar = LlamaGrammar.from_json_schema(json.dumps(request["schema"]), verbose=False)
    free_tokens = model.n_ctx() - len(model.tokenize((request["system"] + request["user"]).encode())) - 64
    if free_tokens < min(256, request["max_tokens"]):
        return {"too_long": True}
    text, tokens, reason = "", 0, ""
    try:
        for event in model.create_chat_completion(
            [{"role": "system", "content": request["system"]}, {"role": "user", "content": request["user"]}],
            grammar=grammar, max_tokens=min(free_tokens, request["max_tokens"]), temperature=0.0, seed=0, stream=True,
        ):  # fmt: skip
            choice = event["choices"][0]
            part = choice["delta"].get("content") or ""
            reason = choice["finish_reason"] or reason
            if part:
                text, tokens = text + part, tokens + 1
                piece(part)
    except ValueError:
        return {"too_long": True}
    return {"text": text, "cut": reason == "length", "tokens": tokens}


class CannotJudge(Exception):
    """A model cannot judge statements; the message says why."""


class _Rubric:
    """A rubric that the model has evaluated. Each statement is evaluated after it and then removed from the model's
    memory.

    The text before a statement, the statement and the text after it are tokenized separately, so that the spelling of
    a special token in a statement is not read as that token.
    """

    def __init__(self, model: Any, system: str, examples: Sequence[Sequence[Any]], words: Sequence[str]) -> None:
        from llama_cpp import llama_cpp

        self.model, self._library = model, llama_cpp
        before, after = _chat(model, system, examples, words)
        self.before = [*_beginning(model), *_tokens(model, before, special=True)]
        self._after = _tokens(model, after, special=True)
        self._yes, self._no = (_first_tokens(model, word) for word in words)
        if not self._yes - self._no or not self._no - self._yes:
            raise CannotJudge(f"its vocabulary does not tell {words[0]} from {words[1]}")
        if len(self.before) + MAX_STATEMENT_TOKENS + len(self._after) > model.n_ctx():
            raise CannotJudge("the examples do not fit into its context")
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(model.ctx), True)
        self._batch = llama_cpp.llama_batch_init(TOKENS_PER_STEP, 0, 1)
        self._evaluate(self.before, 0)

    def log_odds(self, statement: str) -> float:
        """log p(yes) - log p(no) for the first word of the model's answer."""
        self._remove_statement()
        tokens = [*_tokens(self.model, statement, special=False)[:MAX_STATEMENT_TOKENS], *self._after]
        logits = self._evaluate(tokens, len(self.before))
        return _log_sum_exp(logits, self._yes - self._no) - _log_sum_exp(logits, self._no - self._yes)

    def _remove_statement(self) -> None:
        """Cut the model's memory after the rubric. A recurrent model's memory cannot be cut: evaluate the rubric
        again."""
        memory = self._library.llama_get_memory(self.model.ctx)
        if not self._library.llama_memory_seq_rm(memory, 0, len(self.before), -1):
            self._library.llama_memory_clear(memory, True)
            self._evaluate(self.before, 0)

    def _evaluate(self, tokens: Sequence[int], first: int) -> Any:
        """Evaluate `tokens` from position `first` on; return the logits after the last one. Raises RuntimeError if
        llama.cpp fails."""
        batch = self._batch
        for start in range(0, len(tokens), TOKENS_PER_STEP):
            part = tokens[start : start + TOKENS_PER_STEP]
            batch.n_tokens = len(part)
            for index, token in enumerate(part):
                batch.token[index], batch.pos[index] = token, first + start + index
                batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
                batch.logits[index] = start + index == len(tokens) - 1
            if self._library.llama_decode(self.model.ctx, batch) != 0:
                raise RuntimeError
        return self._library.llama_get_logits_ith(self.model.ctx, -1)


def _chat(model: Any, system: str, examples: Sequence[Sequence[Any]], words: Sequence[str]) -> tuple[str, str]:
    """(text before a statement, text after it) of a chat in the model's template; plain lines for a model without one.

    `examples`: (text, whether the answer is yes), as turns. `words`: the answers for yes and for no. If the template
    refuses a system turn, its text opens the first example. Raises CannotJudge if the template leaves the statement
    out.
    """
    template = model.metadata.get("tokenizer.chat_template")
    answers = {True: words[0], False: words[1]}
    if not template:
        rows = [f"Statement: {text}\nAnswer: {answers[is_yes]}\n" for text, is_yes in examples]
        return "\n".join([f"{system}\n", *rows, "Statement: "]), "\nAnswer:"
    turns = [{"role": "system", "content": system}]
    for text, is_yes in examples:
        turns.append({"role": "user", "content": text})
        turns.append({"role": "assistant", "content": answers[is_yes]})
    turns.append({"role": "user", "content": PLACEHOLDER})
    try:
        chat = _rendered(model, template, turns)
    except Exception:  # noqa: BLE001 - templates raise errors of any type; some refuse the role `system`
        turns[1]["content"] = f"{system}\n\n{turns[1]['content']}"
        chat = _rendered(model, template, turns[1:])
    before, placeholder, after = chat.rpartition(PLACEHOLDER)
    if not placeholder:
        raise CannotJudge("its chat template does not repeat what is said")
    return before, after


def _rendered(model: Any, template: str, turns: Sequence[dict[str, str]]) -> str:
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    def text_of(token: int) -> str:
        if token >= 0:
            return str(model.detokenize([token], special=True).decode("utf-8", "replace"))
        return ""

    chat = Jinja2ChatFormatter(template, eos_token=text_of(model.token_eos()), bos_token="")
    return str(chat(messages=list[Any](turns)).prompt)


def _tokens(model: Any, text: str, *, special: bool) -> list[int]:
    return list(model.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=special))


def _beginning(model: Any) -> list[int]:
    """The BOS token as a list, if the model's vocabulary or its template begins a text with it; else []."""
    from llama_cpp import llama_cpp

    begins_with_bos = bool(llama_cpp.llama_vocab_get_add_bos(llama_cpp.llama_model_get_vocab(model.model)))
    begins_with_bos = begins_with_bos or "bos_token" in model.metadata.get("tokenizer.chat_template", "")
    if begins_with_bos and model.token_bos() >= 0:
        return [model.token_bos()]
    return []


def _first_tokens(model: Any, word: str) -> frozenset[int]:
    """The tokens with which a word can begin: in lower case or capitalised, with or without a space before it. A token
    of only a space does not count."""
    first_tokens = set()
    for spelled in (word, f" {word}", word.title(), f" {word.title()}"):
        tokens = _tokens(model, spelled, special=False)
        first_tokens.add(next(token for token in tokens if model.detokenize([token], special=True).strip()))
    return frozenset(first_tokens)


def _log_sum_exp(logits: Any, tokens: frozenset[int]) -> float:
    """The logarithm of the sum of the exponentials of the tokens' logits."""
    values = [float(logits[token]) for token in tokens]
    largest = max(values)
    return largest + log(sum(exp(value - largest) for value in values))


if __name__ == "__main__":
    main()
