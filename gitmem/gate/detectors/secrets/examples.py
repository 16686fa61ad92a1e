"""Invented secrets of the right shape, for the examples of the rules: no token stands in this source.

`fake` writes a text for a pattern in the notation of `gate/detectors/secrets/tokens.txt`, the same one every time;
`elided` writes the same with `…` for what would be secret. The characters come from a digest of the pattern, so they
are random to look at and belong to nobody.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256

from gitmem.gate.detectors.secrets.candidates import candidates
from gitmem.gate.detectors.secrets.rule_tables import rows, shapes, tokens
from gitmem.gate.detectors.text import Examples

_ALPHABET = {
    "<a>": "0123456789abcdefghijklmnopqrstuvwxyz",
    "<A>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "<w>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-",
    "<h>": "0123456789abcdef",
    "<H>": "0123456789abcdef",
    "<U>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "<b>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "<s>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "\\d": "0123456789",
}
_UUID = "<h>{8}-<h>{4}-<h>{4}-<h>{4}-<h>{12}"


def _stream(seed: str) -> Iterator[int]:
    """Endless numbers from 0 to 255, the same for the same seed."""
    counter = 0
    while True:
        yield from sha256(f"{seed}/{counter}".encode()).digest()
        counter += 1


def _closing(pattern: str, at: int) -> int:
    """The offset of the parenthesis that closes the one at `at`. Raises ValueError without one."""
    depth = 0
    for place in range(at, len(pattern)):
        if pattern[place] == "\\":
            continue
        depth += {"(": 1, ")": -1}.get(pattern[place], 0)
        if depth == 0:
            return place
    raise ValueError(pattern)


def _write(pattern: str, take: Callable[[str, int], str]) -> str:
    """Walk a pattern: literal characters are copied, `take(alphabet, count)` writes each class."""
    out, at = [], 0
    while at < len(pattern):
        if pattern.startswith(("(?=", "(?!", "(?<"), at):
            at = _closing(pattern, at) + 1
            continue
        atom, alphabet = pattern[at], ""
        if atom == "(":
            end = _closing(pattern, at)
            inside = pattern[at + 1 : end].removeprefix("?:")
            depth, cut = 0, len(inside)
            for place, char in enumerate(inside):
                depth += {"(": 1, ")": -1}.get(char, 0)
                if char == "|" and depth == 0 and inside[place - 1] != "\\":
                    cut = place
                    break
            written, at = _write(inside[:cut], take), end + 1
        elif atom == "[":
            end = pattern.index("]", at)
            alphabet, at = _range(pattern[at + 1 : end]), end + 1
            written = ""
        elif pattern.startswith("<uuid>", at):
            written, at = _write(_UUID, take), at + 6
        elif pattern[at : at + 3] in _ALPHABET:
            alphabet, written, at = _ALPHABET[pattern[at : at + 3]], "", at + 3
        elif atom == "\\":
            alphabet = _ALPHABET.get(pattern[at : at + 2], "")
            written, at = ("" if alphabet else pattern[at + 1]), at + 2
        else:
            written, at = atom, at + 1
        count = 1
        if at < len(pattern) and pattern[at] == "{":
            end = pattern.index("}", at)
            low, _, high = pattern[at + 1 : end].partition(",")
            if high:
                count = min(int(high), max(int(low), min(40, int(high))))
            else:
                count = int(low)
            if not alphabet:
                count = int(low)
            at = end + 1
        elif at < len(pattern) and pattern[at] == "?":
            count, at = 0, at + 1
        out.append(take(alphabet, count) if alphabet else written * count)
    return "".join(out)


def _range(inside: str) -> str:
    """The letters and digits of a character class such as `1-9A-HJ-N+/`, or its first character."""
    out, at = "", 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            out += "".join(map(chr, range(ord(inside[at]), ord(inside[at + 2]) + 1)))
            at += 3
        else:
            out, at = out + inside[at], at + 1
    return "".join(c for c in out if c.isalnum()) or inside[0]


def fake(pattern: str, seed: str = "") -> str:
    """A text that fits `pattern` (in the notation of `tokens.txt`), random to look at, but the same for the same
    arguments; another `seed` gives another text."""
    numbers = _stream(pattern + seed)
    return _write(
        pattern, lambda alphabet, count: "".join(alphabet[next(numbers) % len(alphabet)] for _ in range(count))
    )


def elided(pattern: str) -> str:
    """The text that `fake` writes for `pattern`, with `…` in place of each class that is repeated more than three
    times; the same characters stand for each shorter one."""
    return _write(pattern, lambda alphabet, count: "…" if count > 3 else alphabet[:count])


def _fitting(rule: str, pattern: str) -> str:
    """A fake that the rule itself finds (a random one may lack a digit, or be another vendor's too). Raises ValueError
    if 64 fakes do not fit."""
    from gitmem.gate.detectors.secrets.tokens import find

    for seed in range(64):
        text = fake(pattern, str(seed))
        if any(token.rule == rule for token in find(text, candidates(text))):
            return text
    raise ValueError(f"no sample for {rule}")


def _wallet_key() -> str:
    """A Bitcoin key in the wallet import format, its check sum computed."""
    body = b"\x80" + sha256(b"nobody").digest() + b"\x01"
    number, text = int.from_bytes(body + sha256(sha256(body).digest()).digest()[:4]), ""
    while number:
        number, rest = divmod(number, 58)
        text = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[rest] + text
    return text


@cache
def _made() -> dict[str, str]:
    """Name -> value, for the values of `examples.txt` that have a name."""
    key = _wallet_key()
    password = f"Gro{fake('[A-Z]{3}')}#{fake('[1-9]{2}')}"
    return {"password": password, "wallet key": key, "cut wallet key": key[:-1]}


def _value(blank: re.Match[str]) -> str:
    """The value for a blank of `examples.txt`: a text in base64, a value with a name, or a fake of the pattern."""
    kind, _, text = blank[1].partition("base64:")
    if not kind:
        return b64encode(text.encode()).decode()
    return _made().get(kind) or fake(kind)


@cache
def table_examples(detector: str) -> dict[str, Examples]:
    """The examples of `examples.txt` for the rules of a detector."""
    texts: dict[str, dict[str, list[str]]] = {}
    for owner, rule, how, text in rows("examples.txt", 4, keys=4):
        if owner == detector:
            full = re.sub("⟨(.+?)⟩", _value, text.replace("\\n", "\n"))
            texts.setdefault(rule, {"flag": [], "allow": []})[how].append(full)
    return {rule: Examples(tuple(some["flag"]), tuple(some["allow"])) for rule, some in texts.items()}


@cache
def secret_examples() -> dict[str, Examples]:
    """Examples of every rule of the secrets detector."""
    return {**vendor_examples(), **table_examples("secrets")}


def vendor_examples() -> dict[str, Examples]:
    """Examples of every rule of `tokens.txt` and `shapes.txt`, by rule name."""
    beginnings = {
        rule: (starts.split()[0].replace("$", "\\$").replace("|", "\\|"), rest) for rule, _, starts, rest in tokens()
    }
    table = {}
    for rule, (start, rest) in beginnings.items():
        token = _fitting(rule, start + rest)
        plain = start.replace("\\", "")[:24]
        table[rule] = Examples(
            flag=(f"Use `{token}` for the nightly job.", f"운영 토큰은{token}이고 6월에 만료된다."),
            allow=(f"The revoked one began with {plain}… and is gone.", f"삭제된 것은 {plain}x7… 로 시작했다.",
                   f"Set it to {plain}{'x' * 36}, as in the manual."),
        )  # fmt: skip
    for shape in shapes():
        text, form = _fitting(shape.rule, shape.sample), elided(shape.sample)
        table[shape.rule] = Examples(
            flag=(f"From the log:\n{text}\n", f"로그에 남은 것:\n{text}\n 지울 것"),
            allow=(f"It looks like this: {form} (shortened).", f"형식은 {form} 이다."),
        )
    return table
