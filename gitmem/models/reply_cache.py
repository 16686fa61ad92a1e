"""Replies of language models, kept by what was asked: the same lines are never paid for twice.

In `gitmem/replies/` of the Git directory, private, bounded in number; deleting it costs a question, never an answer.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitmem.models.language import OutOfBudget, Prompt, Reply

FOLDER = "replies"
MAX_REPLIES = 400


def answers(text: str, schema: Mapping[str, Any]) -> bool:
    """Whether a reply is a JSON object with every key that the schema requires."""
    start = text.find("{")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text[start:] if start >= 0 else text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and all(key in value for key in schema.get("required", ()))


class Cache:
    """Replies of one model. Without a state folder nothing is kept."""

    def __init__(self, state: Path | None, model: str) -> None:
        self._folder = state / FOLDER if state else None
        self._model = model

    def known(self, prompt: Prompt, tokens_left: int) -> Reply | None:
        """The reply to exactly this prompt, which costs nothing; None where the model must be asked.

        Raises OutOfBudget where it must be and the run has no tokens left.
        """
        reply = self.get(prompt)
        if reply is None and tokens_left <= 0:
            raise OutOfBudget("the run's tokens (mem.modelTokens) are used up")
        return reply

    def get(self, prompt: Prompt) -> Reply | None:
        """The reply to exactly this prompt, None where there is none that can be read."""
        if self._folder is None:
            return None
        try:
            value = json.loads((self._folder / self._name(prompt)).read_text(encoding="utf-8"))
            reply = Reply(str(value["text"]), too_long=bool(value["too_long"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if reply.too_long or answers(reply.text, prompt.schema):
            return reply
        return None

    def put(self, prompt: Prompt, reply: Reply) -> None:
        """Keep a whole reply that answers the prompt: one that does not is asked for again.

        A folder that cannot be written is no error: it is only a cache.
        """
        if self._folder is None or reply.cut or not (reply.too_long or answers(reply.text, prompt.schema)):
            return
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"text": reply.text, "too_long": reply.too_long}, file)
            os.replace(name, self._folder / self._name(prompt))
            kept = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime)
            for old in kept[:-MAX_REPLIES]:
                old.unlink(missing_ok=True)
        except OSError:
            return

    def _name(self, prompt: Prompt) -> str:
        question = json.dumps([self._model, prompt.system, prompt.user, prompt.schema], sort_keys=True)
        return hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
