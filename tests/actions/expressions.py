"""The expression language of workflow files, as far as our actions and examples use it.

https://docs.github.com/actions/reference/workflows-and-actions/expressions: literals, contexts, operators and the
functions below. Anything else is an error, so that a workflow cannot pass here by being misread.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d+)?)|(?P<string>'(?:[^']|'')*')|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<operator>&&|\|\||==|!=|<=|>=|[!<>().,\[\]]))"
)
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.S)


class Expression:
    """One parse of one expression over `contexts` (lower-case names)."""

    def __init__(self, text: str, contexts: Mapping[str, Any], status: str = "success") -> None:
        self.tokens: list[tuple[str, str]] = []
        at = 0
        text = text.strip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if match is None:
                raise SyntaxError(f"cannot read {text[at:]!r} in {text!r}")
            assert match.lastgroup is not None
            self.tokens.append((match.lastgroup, match.group(match.lastgroup)))
            at = match.end()
        self.at, self.contexts, self.status = 0, contexts, status

    def value(self) -> Any:
        found = self.either()
        if self.at != len(self.tokens):
            raise SyntaxError(f"more than one expression: {self.tokens[self.at :]}")
        return found

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, wanted: str) -> bool:
        if self.peek() == wanted and self.tokens[self.at][0] == "operator":
            self.at += 1
            return True
        return False

    def either(self) -> Any:
        left = self.both()
        while self.take("||"):
            right = self.both()
            left = left if truthy(left) else right
        return left

    def both(self) -> Any:
        left = self.compare()
        while self.take("&&"):
            right = self.compare()
            left = right if truthy(left) else left
        return left

    def compare(self) -> Any:
        left = self.unary()
        for operator in ("==", "!="):
            if self.take(operator):
                return same(left, self.unary()) == (operator == "==")
        return left

    def unary(self) -> Any:
        return not truthy(self.unary()) if self.take("!") else self.postfix()

    def postfix(self) -> Any:
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "string":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return float(text) if "." in text else int(text)
        if text == "(":
            found = self.either()
            assert self.take(")")
            return found
        if kind != "name":
            raise SyntaxError(f"unexpected {text!r}")
        if text in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[text]
        if self.take("("):
            return self.call(text.lower())
        if text.lower() not in self.contexts:
            raise SyntaxError(f"unknown context {text!r}")
        found = self.contexts[text.lower()]
        while self.peek() in (".", "["):
            if self.take("."):
                key = self.tokens[self.at][1]
                self.at += 1
            else:
                self.take("[")
                key = self.either()
                assert self.take("]")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def call(self, name: str) -> Any:
        arguments: list[Any] = []
        while not self.take(")"):
            arguments.append(self.either())
            self.take(",")
        match name:
            case "always":
                return True
            case "success" | "failure":
                return self.status == name
            case "contains":
                where, what = arguments
                return what in where if isinstance(where, list) else str(what or "").lower() in str(where or "").lower()
            case "startswith":
                return str(arguments[0] or "").lower().startswith(str(arguments[1]).lower())
            case "format":
                return re.sub(r"\{(\d+)\}", lambda m: string(arguments[int(m.group(1)) + 1]), arguments[0])
            case "tojson":
                return json.dumps(arguments[0], indent=2)
        raise SyntaxError(f"unknown function {name}()")


def truthy(value: Any) -> bool:
    return value not in (None, False, 0, "") or isinstance(value, (dict, list))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return a.lower() == b.lower()
    return string(a) == string(b) if isinstance(a, str) or isinstance(b, str) else a == b


def string(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def expand(text: str, contexts: Mapping[str, Any], status: str = "success") -> str:
    """A string with its `${{ }}` replaced."""
    return EXPRESSION.sub(lambda match: string(Expression(match.group(1), contexts, status).value()), text)


def condition(text: str, contexts: Mapping[str, Any], status: str) -> bool:
    """An `if:`; without a status function it holds only while nothing has failed."""
    inner = text.strip()
    inner = inner[3:-2] if inner.startswith("${{") and inner.endswith("}}") else inner
    asks = re.search(r"\b(always|failure|success|cancelled)\s*\(", inner)
    return truthy(Expression(inner, contexts, status).value()) and (bool(asks) or status == "success")
