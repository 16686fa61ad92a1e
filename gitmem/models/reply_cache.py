"""A cache of language model replies by model and prompt, so that the same prompt is not paid for twice.

The cache is the private folder `gitmem/replies/` of the Git directory, with at most MAX_REPLIES files. It can be
deleted at any time: the model is then asked again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitmem.json_values import parse_json
from gitmem.models.language import OutOfBudget, Prompt, Reply

FOLDER = "replies"
MAX_REPLIES = 400


def has_required_keys(text: str, schema: Mapping[str, Any]) -> bool:
    """Whether a reply has, from its first `{` on, a JSON object with every key that the schema requires. Text before
    and after the object does not count."""
    start = max(0, text.find("{"))
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text[start:])
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and all(key in value for key in schema.get("required", ()))


class ReplyCache:
    """The cached replies of one model. Without a state folder nothing is cached."""

    def __init__(self, state: Path | None, model: str) -> None:
        self._folder = state and state / FOLDER
        self._model = model

    def known(self, prompt: Prompt, tokens_left: int) -> Reply | None:
        """The cached reply to exactly this prompt; None if there is none and the model must be asked. Raises
        OutOfBudget if there is none and the run has no tokens left."""
        reply = self.get(prompt)
        if reply is None and tokens_left <= 0:
            raise OutOfBudget("the run's tokens (mem.modelTokens) are used up")
        return reply

    def get(self, prompt: Prompt) -> Reply | None:
        """The cached reply to exactly this prompt; None if there is none, it cannot be read, or it lacks a required
        key."""
        if self._folder is None:
            return None
        try:
            value = parse_json((self._folder / self._name(prompt)).read_text(encoding="utf-8"))
            reply = Reply(str(value["text"]), too_long=bool(value["too_long"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if reply.too_long or has_required_keys(reply.text, prompt.schema):
            return reply
        return None

    def put(self, prompt: Prompt, reply: Reply) -> None:
        """Cache a reply if it is complete and has the keys that the prompt's schema requires, or if the prompt was too
        long. Does nothing if the folder cannot be written."""
        if self._folder is None or reply.cut or not (reply.too_long or has_required_keys(reply.text, prompt.schema)):
            return
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"text": reply.text, "too_long": reply.too_long}, file)
            os.replace(name, self._folder / self._name(prompt))
            files = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime)
            for oldest in files[:-MAX_REPLIES]:
                oldest.unlink(missing_ok=True)
        except OSError:
            return

    def _name(self, prompt: Prompt) -> str:
        """The key of a prompt: a hash of the model, both texts and the schema."""
        question = json.dumps([self._model, prompt.system, prompt.user, prompt.schema], sort_keys=True)
        return hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
