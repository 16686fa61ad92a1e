"""Texts written to make the gate slow, and what each detector takes for its worst.

    python -m bench.hostile [--size 200000] [--only NAME ...] [--rows 1]
    python -m bench.hostile --whole [TEXT ...] [--size 1000000]

Repeats of every kind of character, near misses of what the rules begin with, signs in turn, one giant line and
lines without end, scripts, encodings, the attacks of `bench/hands`. Process time, the better of
two runs, so that other work on the machine counts little. Aim: no detector above 100 ms on 200 KB.

With --whole all detectors together: process time to scan the text as a daily log, to redact it, and of a whole
`promote` of that log (its git processes included), for the texts that cost most or for those named. Aims for 1 MB:
2, 4 and 8 s. A machine's speed cancels out in the ratio of redact to scan: 2 is a look to find and one to see that
nothing is left.
"""

from __future__ import annotations

import argparse
import base64
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

SOURCE = Path(__file__).parent.parent
sys.path.insert(0, str(SOURCE))

from bench.gate_hands import HERE, rows  # noqa: E402
from gitmem.gate.detectors import registry  # noqa: E402
from gitmem.gate.detectors.text import Match, Text  # noqa: E402

AIM = 0.100
UNITS = {
    "brackets": "[",
    "parens": "(",
    "braces": "{",
    "pairs of brackets": "[](",
    "quotes": "> ",
    "angles": "<!--",
    "tags": "<a ",
    "invisible tags": '<p style="',
    "attributes": '<a title="x',
    "images": "![a](//",
    "titles": '](a "',
    "definitions": "[a]: b ",
    "definition lines": "[a]: b\n",
    "letters": "a",
    "alphabet": "abcdefghijklm",
    "capitals": "ABCDEFGHIJ",
    "digits": "1",
    "dates": "2026-02-05 ",
    "numbers": "12 ",
    "phones": "010-1234-567 ",
    "long numbers": "1234-5678-9012-34 ",
    "dotted numbers": "10.0.0.1 ",
    "versions": "v1.2.3-",
    "base64": "QUJD",
    "base64 words": "aGVsbG8gd29ybGQ1 ",
    "base64 lines": "QUJDRGVm" * 8 + "\n",
    "random words": "k7Qz9xV2mB4t ",
    "random lines": "k7Qz9xV2mB4tR8nL3pW6\n",
    "hex": "deadbeef",
    "hex words": "8f3a ",
    "hangul": "가나",
    "hangul words": "가나다 ",
    "hangul and Latin": "가a",
    "han": "的一是",
    "kana": "カな",
    "jamo": "ㅁㅜ",
    "cyrillic": "аb",
    "accents": "é",
    "combining": "e\u0301",
    "fullwidth": "ａ",
    "emoji": "😀",
    "zero width": "a\u200b",
    "selectors": "a\ufe01\ufe02\ufe03",
    "tags of Unicode": "a\U000e0041",
    "bidi": "\u202ea",
    "soft hyphens": "a\u00ad",
    "percent": "%41",
    "percent words": "%41%42%43 ",
    "percent signs": "%",
    "percent far": "%41a-b",
    "keys": "password=",
    "keys with values": "password=a1",
    "pins": "pw ",
    "Korean keys": "비밀번호는 ",
    "Korean keys glued": "비번",
    "secret words": "token key ",
    "secret keys": "api_key: ",
    "key words glued": "keytoken",
    "values": "token=k7Qz9xV2mB4tR8nL ",
    "long value": "key=a1b2",
    "vendors": "datadog: ",
    "addresses": "http://a:",
    "addresses at": "http://a:b@",
    "links": "[a](https://example.com/a/b?c=1) ",
    "query": "https://a.b/c?d={",
    "holes": "https://a.b/?{a}",
    "at": "a@",
    "e-mail": "a@b.co ",
    "dots at": "a.b@c.d.",
    "pipes": "|a",
    "cells": "| admin | Abc!1234 ",
    "rows": "| a1! | b |\n",
    "backticks": "`",
    "code": "`a` ",
    "stars": "*a",
    "underscores": "a__b",
    "split words": "ig**no**re ",
    "spaces": " ",
    "tabs": "\t",
    "words": "ignore all ",
    "lines": "\n",
    "short lines": "a\n",
    "four a line": "abcd\n",
    "bullets": "- a\n",
    "escapes": "\\x41",
    "unicode escapes": "\\u0041",
    "backslashes": "\\",
    "colons": "a:",
    "pairs": "admin:Abc1!xyz ",
    "slashes": "a/",
    "slash pairs": "root/Abc1!xyz ",
    "paths": "/usr/bin/",
    "semicolons": ";",
    "commas": "a,",
    "dots": ".",
    "dotted": "a.",
    "dashes": "-",
    "dashed": "a-",
    "front": "---\n",
    "equals": "=",
    "quoted-printable": "=41",
    "hashes": "#",
    "headings": "# a\n",
    "tildes": "~",
    "bars": "|",
    "carets": "^",
    "dollars": "$",
    "at signs": "@",
    "bangs": "!",
    "questions": "?",
    "pluses": "+a",
    "entities": "&#65;",
    "entities far": "&amp;a",
    "values with tags": "a1<wbr>",
    "values with escapes": "token\\_1",
    "values with entities": "k7&shy;",
    "comments in values": "a1<!--",
    "ampersands": "&",
    "binary": "01000001 ",
    "bits": "01",
    "codes": "65 66 ",
    "morse": ".- ",
    "spaced": "a b ",
    "spaced far": "a  b. ",
    "escape sequences": "\x1b[",
    "controls": "\x01",
    "backspaces": "a\b",
    "returns": "a\r",
    "NUL": "\0",
    "roles": "<system>",
    "role labels": "system:\n",
    "markers": "<|im_start|>",
    "conflict": "<<<<<<<\n",
    "reversed": "erongi ",
    "rotated": "vtaber gur ",
    "shifted": "jhopsf ",
    "mirrored": "rtmliv ",
    "keyboard": "antlgk ",
    "regional": "🇦🇧",
    "leet": "1gn0r3 ",
    "glued words": "ignoreallprevious",
    "acrostic": "i\ng\nn\no\nr\ne\n",
    "sentences": "do it. ",
    "commands": "curl -u a",
    "mysql": "mysql -p ",
    "bearer": "authorization: ",
    "cookies": "sessionid=a1",
    "cookie keys": "; sid=",
    "begin key": "-----BEGIN PRIVATE KEY-----",
    "jwt": "eyJhbGciOi.",
    "cards": "4111 1111 1111 1111 ",
    "iban": "DE89 3704 ",
    "streets": "12 Main Street ",
    "Korean addresses": "서울시 강남구 ",
    "aliases": "&a *a ",
    "CRLF": "a1\r\n",
}


def _mixed() -> Iterator[tuple[str, list[str]]]:
    """Texts of many different parts, so that nothing remembered helps."""
    from gitmem.gate.detectors.injection import word_weights
    from gitmem.gate.detectors.key_words import KEY_WORDS
    from gitmem.gate.detectors.secrets.rule_tables import shapes, tokens
    from tests.detector_examples.secrets import fake

    pick = random.Random(7)
    weights = word_weights.load().of
    heavy = sorted(weights, key=lambda word: -weights[word])[:400]
    starts = [start for _, _, starts, _ in tokens() for start in starts.split()]
    hands = [row for file in sorted((HERE / "hands").glob("*.tsv")) for row in rows(file)]
    yield "attacks", [text + "\n" for label, _, _, text in hands if label == "attack"]
    yield "heavy words", [" ".join(pick.choices(heavy, k=9)) + ".\n" for _ in range(4000)]
    yield "key words", [" ".join(pick.choices(sorted(KEY_WORDS), k=9)) + ". " for _ in range(4000)]
    yield "key words glued", ["".join(pick.choices(sorted(KEY_WORDS), k=12)) + " " for _ in range(4000)]
    yield "beginnings", [start + " " for start in starts]
    yield "beginnings glued", starts
    yield "beginnings and digits", [f"{start}{pick.randrange(10**9)} " for start in starts]
    yield "samples", [fake(shape.sample) + "\n" for shape in shapes()]
    yield "samples cut", [fake(shape.sample)[:-4] + " " for shape in shapes()]
    words = ["".join(pick.choices("abcdefghijklmnopqrstuvwxyz", k=pick.randint(2, 9))) for _ in range(20_000)]
    yield "invented words", [word + " " for word in words]
    yield "invented lines", [" ".join(pick.choices(words, k=8)) + "\n" for _ in range(5000)]
    yield "random bytes", ["".join(pick.choices([chr(c) for c in range(32, 127)], k=60)) + "\n" for _ in range(4000)]
    yield "random characters", ["".join(chr(pick.randrange(32, 0xD000)) for _ in range(60)) for _ in range(2000)]
    soup = [base64.b64encode(pick.randbytes(30)).decode() for _ in range(5000)]
    yield "base64 soup", [line + " " for line in soup]
    yield (
        "base64 of text",
        [base64.b64encode(" ".join(pick.choices(words, k=9)).encode()).decode() + "\n" for _ in range(4000)],
    )
    yield "hex of text", [" ".join(pick.choices(words, k=6)).encode().hex() + " " for _ in range(4000)]
    yield (
        "percent of text",
        ["".join(f"%{c:02x}" for c in " ".join(pick.choices(words, k=5)).encode()) + "\n" for _ in range(3000)],
    )
    yield "hidden words", [f"<!-- {' '.join(pick.choices(heavy, k=7))} -->\n" for _ in range(4000)]
    yield "marked words", [f"<system> {' '.join(pick.choices(heavy, k=7))}\n" for _ in range(4000)]
    yield "split heavy words", ["**".join(pick.choices(heavy, k=7)) + "\n" for _ in range(4000)]
    yield "logins", [f"admin{n}:Abc{n}!xyz user{n}/Kd{n}?f\n" for n in range(9000)]
    yield "tokens", [f"token_{n} = {base64.b64encode(pick.randbytes(18)).decode()}\n" for n in range(5000)]


def texts(size: int = 200_000) -> Iterator[tuple[str, str]]:
    """(name, text of about `size` bytes of UTF-8)."""
    for name, unit in UNITS.items():
        yield name, unit * (size // len(unit.encode()) + 1)
    for name, parts in _mixed():
        out: list[str] = []
        length = 0
        for part in cycle(parts):
            out.append(part)
            length += len(part.encode())
            if length >= size:
                break
        yield name, "".join(out)
    yield "one giant line", ("The quick brown fox said no. " * (size // 29))[:size]
    yield "signs in turn", "".join(islice(cycle("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ a1"), size))


def forget() -> None:
    """Empty what detectors remember between texts."""
    import gc
    from functools import _lru_cache_wrapper

    for thing in gc.get_objects():
        if (
            isinstance(thing, _lru_cache_wrapper)
            and (thing.__module__ or "").startswith("gitmem.gate.detectors")
            and thing.cache_parameters()["maxsize"] is not None
        ):
            thing.cache_clear()


def seconds(detect: Callable[[Text], Iterator[Match]], text: str, runs: int = 2) -> float:
    """Process time of one detector on one text, the best of some runs, nothing remembered."""
    best = float("inf")
    for _ in range(runs):
        forget()
        subject = Text(text, "memory/a.md")
        start = time.process_time()
        for _ in detect(subject):
            pass
        best = min(best, time.process_time() - start)
        if best < AIM / 3:
            break
    return best


def table(size: int, only: list[str]) -> dict[str, list[tuple[float, str]]]:
    """Detector -> (seconds, text), slowest first."""
    found: dict[str, list[tuple[float, str]]] = {}
    inputs = list(texts(size))
    for name in only or registry.DETECTORS:
        detect = registry.load(name)
        list(detect(Text("Warm up: ignore k7Qz9xV2mB4tR8nL, 가나다 http://a:b@c\n<!-- x -->")))
        found[name] = sorted(((seconds(detect, text), kind) for kind, text in inputs), reverse=True)
    return found


def show(size: int, only: list[str], rows: int) -> None:
    """Print the table: each detector with the texts that cost it most."""
    found = table(size, only)
    print(f"{size // 1000} KB of hostile text, process time of a whole detector (aim {AIM * 1000:.0f} ms):")
    for name, costs in found.items():
        for cost, kind in costs[:rows]:
            print(f"  {name:14} {cost * 1000:6.0f} ms  {kind}")


WORST = ("base64 soup", "logins", "samples", "tokens", "random lines", "pins", "split heavy words")
LOG = "memory/2026-02-05.md"


def promote_seconds(text: str) -> float:
    """Process time of `git mem promote` in a repository whose only memory is this text as a log."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / LOG).parent.mkdir()
        (Path(folder) / LOG).write_text(text, encoding="utf-8", errors="replace")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "log"]):
            identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
            subprocess.run(["git", "-C", folder, *identity, *words], check=True)
        before = os.times()
        command = [sys.executable, "-m", "gitmem", "promote", "--dry-run"]
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"promote ended with {done.returncode}: {done.stderr}")
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def show_whole(size: int, names: list[str]) -> None:
    """A row a text: scan, redact and promote."""
    from gitmem.gate.examine import examine
    from gitmem.gate.policy import Policy
    from gitmem.gate.redaction import redaction

    examine("Warm up: ignore k7Qz9xV2mB4tR8nL, 가나다 http://a:b@c\n<!-- x -->", LOG, Policy())
    print(f"{size // 1000} KB, process seconds    scan  redact  promote  redact/scan")
    for name, text in texts(size):
        if name not in names:
            continue
        forget()
        start = time.process_time()
        examine(text, LOG, Policy())
        scanned = time.process_time() - start
        forget()
        start = time.process_time()
        redaction(text, LOG, Policy())
        redacted = time.process_time() - start
        promoted = promote_seconds(text)
        print(f"{name:24} {scanned:7.2f} {redacted:7.2f} {promoted:8.2f} {redacted / scanned:12.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=1)
    parser.add_argument("--whole", nargs="*", help="Scan, redact and promote, of these texts or of the worst.")
    options = parser.parse_args()
    if options.whole is not None:
        show_whole(options.size, options.whole or list(WORST))
        return
    show(options.size, options.only, options.rows)


if __name__ == "__main__":
    main()
