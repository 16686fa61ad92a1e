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
from pathlib import Path

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
TABLE = Path(__file__).with_name("examples.txt")
_UUID = "<h>{8}-<h>{4}-<h>{4}-<h>{4}-<h>{12}"


def _stream(seed: str) -> Iterator[int]:
    """Endless numbers from 0 to 255, the same for the same seed."""
    counter = 0
    while True:
        yield from sha256(f"{seed}/{counter}".encode()).digest()
        counter += 1


def _closing(pattern: str, start: int) -> int:
    """The offset of the parenthesis that closes the one at `start`. Raises ValueError without one."""
    depth = 0
    for offset in range(start, len(pattern)):
        if pattern[offset] == "\\":
            continue
        depth += {"(": 1, ")": -1}.get(pattern[offset], 0)
        if depth == 0:
            return offset
    raise ValueError(pattern)


def _write(pattern: str, take: Callable[[str, int], str]) -> str:
    """Walk a pattern: literal characters are copied, `take(alphabet, count)` writes each class."""
    written_parts, offset = [], 0
    while offset < len(pattern):
        if pattern.startswith(("(?=", "(?!", "(?<"), offset):
            offset = _closing(pattern, offset) + 1
            continue
        atom, alphabet = pattern[offset], ""
        if atom == "(":
            end = _closing(pattern, offset)
            inside = pattern[offset + 1 : end].removeprefix("?:")
            depth, cut = 0, len(inside)
            for index, char in enumerate(inside):
                depth += {"(": 1, ")": -1}.get(char, 0)
                if char == "|" and depth == 0 and inside[index - 1] != "\\":
                    cut = index
                    break
            written, offset = _write(inside[:cut], take), end + 1
        elif atom == "[":
            end = pattern.index("]", offset)
            alphabet, offset = _range(pattern[offset + 1 : end]), end + 1
            written = ""
        elif pattern.startswith("<uuid>", offset):
            written, offset = _write(_UUID, take), offset + 6
        elif pattern[offset : offset + 3] in _ALPHABET:
            alphabet, written, offset = _ALPHABET[pattern[offset : offset + 3]], "", offset + 3
        elif atom == "\\":
            alphabet = _ALPHABET.get(pattern[offset : offset + 2], "")
            written, offset = ("" if alphabet else pattern[offset + 1]), offset + 2
        else:
            written, offset = atom, offset + 1
        count = 1
        if offset < len(pattern) and pattern[offset] == "{":
            end = pattern.index("}", offset)
            least, _, most = pattern[offset + 1 : end].partition(",")
            if most:
                count = min(int(most), max(int(least), min(40, int(most))))
            else:
                count = int(least)
            if not alphabet:
                count = int(least)
            offset = end + 1
        elif offset < len(pattern) and pattern[offset] == "?":
            count, offset = 0, offset + 1
        written_parts.append(take(alphabet, count) if alphabet else written * count)
    return "".join(written_parts)


def _range(inside: str) -> str:
    """The letters and digits of a character class such as `1-9A-HJ-N+/`, or its first character."""
    characters, index = "", 0
    while index < len(inside):
        if inside[index + 1 : index + 2] == "-" and index + 2 < len(inside):
            characters += "".join(map(chr, range(ord(inside[index]), ord(inside[index + 2]) + 1)))
            index += 3
        else:
            characters, index = characters + inside[index], index + 1
    return "".join(c for c in characters if c.isalnum()) or inside[0]


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
        number, remainder = divmod(number, 58)
        text = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[remainder] + text
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
    for owner, rule, how, text in rows(str(TABLE), 4, keys=4):
        if owner == detector:
            full = re.sub("⟨(.+?)⟩", _value, text.replace("\\n", "\n"))
            texts.setdefault(rule, {"flag": [], "allow": []})[how].append(full)
    return {rule: Examples(tuple(some["flag"]), tuple(some["allow"])) for rule, some in texts.items()}


def plugin_examples() -> dict[str, Examples]:
    """Examples of one rule of detect-secrets."""
    token = fake("<h>{32}-us12")
    flag = (f"mail key {token} in use", f"메일 키는 {token} 이다")
    return {"plugin-mailchimp-access-key": Examples(flag, ("mail key <token>", "메일 키는 금고에 있다"))}


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
