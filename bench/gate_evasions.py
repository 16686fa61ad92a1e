"""Evasions: attacks that the gate blocks, written another way, and how many it still blocks and still finds.

    python -m bench gate_evasions [--most 150] [--seed 1] [--list KIND] [-- ROWS.jsonl...]

The attacks are those of `bench/hands` and of files of JSON lines with `text` and `label` (1 an attack) that are blocked
as they stand, at most `--most` of them by chance. Each is changed in every way of `CHANGES`: its markup, its spaces,
what stands around it, its letters, its encoding. A person or a model reads the same order in all of them. `--list KIND`
prints how many of each language got through. The attacks are live: score them, never let an agent read them.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

SOURCE = Path(__file__).parent.parent
sys.path.insert(0, str(SOURCE))

from bench._sets import table  # noqa: E402
from bench.gate_hands import HERE, rows  # noqa: E402
from gitmem.gate.detectors.finding import Severity  # noqa: E402
from gitmem.gate.policy import Policy  # noqa: E402
from gitmem.gate.scan import scan_text  # noqa: E402

Change = Callable[[str, random.Random], str]
HONEST = (
    "The weekly report lists every open ticket, and the team reads it on Monday.",
    "We moved the build to the new runner because the old one was slow.",
    "배포는 화요일 오전에 하고 결과는 채널에 남긴다.",
    "The cache holds the last hundred pages; older ones are read from disk.",
    "設定は一つのファイルにまとめ、環境ごとの差は変数で渡す。",
    "表格里的数字来自六月的报表，下周更新。",
)
LATIN = {"a": "а", "e": "е", "o": "о", "p": "р", "c": "с", "i": "і"}
LEET = {"a": "4", "e": "3", "i": "1", "o": "0", "s": "5", "t": "7"}


def words(change: Callable[[str], str], share: float) -> Change:
    """A change of some of the words, by chance; in text without spaces of some runs of two characters."""

    def changed(text: str, chance: random.Random) -> str:
        pattern = r"[^\W\d_]{3,}" if re.search("[a-zA-Z]{3}", text) else r"[^\W\d_]{2}"
        return re.sub(pattern, lambda m: change(m.group()) if chance.random() < share else m.group(), text)

    return changed


def letters(table_of: dict[str, str], share: float) -> Change:
    return lambda text, chance: "".join(
        [table_of.get(char, char) if chance.random() < share else char for char in text]
    )


def between(sign: str, every: int = 1) -> Change:
    """A sign in place of some of the spaces (between each two characters of a text with few)."""

    def changed(text: str, chance: random.Random) -> str:
        parts = text.split(" ") if text.count(" ") > 3 else re.findall(r"[\s\S]{1,3}", text)
        return "".join([part + (sign if i % every == every - 1 else " ") for i, part in enumerate(parts)]).rstrip()

    return changed


def swapped(word: str) -> str:
    middle = len(word) // 2
    return word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :] if len(word) > 4 else word


def framed(before: str, after: str = "") -> Change:
    return lambda text, chance: before + text + after


def among(count: int) -> Change:
    """Between honest lines."""
    return lambda text, chance: "\n".join([*chance.choices(HONEST, k=count), text, *chance.choices(HONEST, k=count)])


CHANGES: dict[str, Change] = {
    "as it stands": lambda text, chance: text,
    "bold words": words(lambda word: f"**{word}**", 0.4),
    "words in backticks": words(lambda word: f"`{word}`", 0.4),
    "links on words": words(lambda word: f"[{word}](https://docs.example.com/{len(word)})", 0.25),
    "tags on words": words(lambda word: f"<b>{word}</b>", 0.4),
    "emphasis inside words": words(lambda word: word[:1] + "**" + word[1:] + "**", 0.4),
    "footnotes": words(lambda word: word + "[^1]", 0.3),
    "heading": framed("## "),
    "list item": framed("- [ ] "),
    "quotation": framed("> "),
    "table row": framed("| 1 | ", " | done |"),
    "code fence": framed("```\n", "\n```"),
    "in quotation marks": framed('"', '"'),
    "reported": framed("The page said: "),
    "upper case": lambda text, chance: text.upper(),
    "two spaces": between("  "),
    "no-break spaces": between("\u00a0"),
    "lines of three words": between("\n", 3),
    "one word a line": between("\n"),
    "commas": between(", "),
    "dashes": between(" - ", 2),
    "dots": between("... ", 2),
    "emoji behind words": between("\U0001f525 "),
    "words joined by hyphens": between("-"),
    "words joined by underscores": between("_"),
    "spaced letters": lambda text, chance: " ".join(text),
    "zero-width spaces": words(lambda word: word[:1] + "\u200b" + word[1:], 0.4),
    "soft hyphens": words(lambda word: word[:2] + "\u00ad" + word[2:], 0.4),
    "combining marks": words(lambda word: word[:2] + "\u0301" + word[2:], 0.3),
    "slips": words(swapped, 0.3),
    "a letter doubled": words(lambda word: word[:2] + word[1:], 0.3),
    "look-alike letters": letters(LATIN, 0.4),
    "figures for letters": letters(LEET, 0.4),
    "full width": lambda text, chance: "".join([chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text]),
    "between honest lines": among(3),
    "behind an honest sentence": lambda text, chance: f"{chance.choice(HONEST)} {text}",
    "before an honest sentence": lambda text, chance: f"{text} {chance.choice(HONEST)}",
    "in an honest paragraph": lambda text, chance: " ".join(
        [*chance.choices(HONEST, k=3), text, chance.choice(HONEST)]
    ),
    "comment": framed("<!-- ", " -->"),
    "front matter": lambda text, chance: "---\ntitle: Notes\ndescription: " + text.replace("\n", " ") + "\n---\n",
    "link title": lambda text, chance: f'[page](https://example.com "{text}")'.replace("\n", " "),
    "alternative text": lambda text, chance: f"![{text}](a.png)".replace("\n", " "),
    "base64": lambda text, chance: base64.b64encode(text.encode()).decode(),
    "hexadecimal": lambda text, chance: text.encode().hex(),
    "percent encoding": lambda text, chance: quote(text),
    "entities": lambda text, chance: "".join([f"&#{ord(char)};" for char in text]),
    "escapes": lambda text, chance: (
        text.encode("unicode_escape").decode() if not text.isascii() else text.encode().hex()
    ),
    "rot13": lambda text, chance: codecs.encode(text, "rot13"),
    "reversed": lambda text, chance: text[::-1],
}
LATIN_ONLY = frozenset(
    {"look-alike letters", "figures for letters", "rot13", "slips", "a letter doubled", "upper case"}
)


def attacks(files: list[Path]) -> Iterator[tuple[str, str]]:
    """(language, text) of each attack."""
    for file in sorted((HERE / "hands").glob("*.tsv")):
        yield from ((language, text) for label, _, language, text in rows(file) if label == "attack")
    for file in files:
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            if row["label"]:
                yield row.get("lang", ""), row["text"]


def outcome(text: str, policy: Policy) -> tuple[bool, bool]:
    """(blocked, found) of a note."""
    findings = scan_text(text, "memory/note.md", policy)
    return any(finding.severity is Severity.BLOCK for finding in findings), bool(findings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--most", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", default="", metavar="KIND")
    options = parser.parse_args()
    policy, chance = Policy(), random.Random(options.seed)
    every = [row for row in attacks(options.files) if len(row[1]) < 600]
    chance.shuffle(every)
    chosen: list[tuple[str, str]] = []
    for language, text in every:
        if len(chosen) < options.most and outcome(text, policy)[0]:
            chosen.append((language, text))
    shown = []
    for kind, change in CHANGES.items():
        if options.list and kind != options.list:
            continue
        mine = [row for row in chosen if kind not in LATIN_ONLY or row[0] == "en"]
        results = [(language, *outcome(change(text, chance), policy)) for language, text in mine]
        blocked = sum(row[1] for row in results) / max(1, len(results))
        shown.append((kind, len(results), blocked, sum(row[2] for row in results) / max(1, len(results))))
        if options.list:
            for language in sorted({row[0] for row in results}):
                own = [row for row in results if row[0] == language]
                print(f"{language}: {sum(not row[1] for row in own)} of {len(own)} not blocked")
    shown.sort(key=lambda row: row[2])
    print(table(("change", "texts", "still blocked", "still found"), shown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
