"""What the words of a line take away from it: a line that forbids, remembers, makes or illustrates claims nothing.

Pure; four languages. Each reason is a pattern; a line with one is never an error by itself, and is compared only where
something that was true became false.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitmem.claims.lines import MarkedLine

_PAST = re.compile(
    r"\b(?:no longer|not (?:yet )?(?:exist|present|available|used|implemented|committed|tracked|in (?:the|this) repo)|"
    r"(?:does|do|did|is|are|was|were)(?:n['’]t| not)|without|don['’]?t|never|avoid|must not|mustn['’]t|cannot|"
    r"removed?|delet(?:e|ed|es|ing)|dropped|deprecat\w+|obsolete|legacy|former(?:ly)?|previous(?:ly)?|was|were|"
    r"used to|old|retired?|moved|renamed|replac\w+|migrat\w+|superseded|instead of|rather than|missing|absent|"
    r"there is no|has no|have no|gone|historical\w*|originally|no|not|archived?|refactored)\b|"
    r"없|삭제|제거|이전|금지|마세요|않|하지 ?말|폐기|ない|なし|しない|禁止|削除|廃止|旧|以前|不要|禁止|没有|不存在|已删除|删除|移除|废弃|不再|勿|旧",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"\b(?:creat\w+|generat\w+|add(?:s|ed|ing)?(?= (?:a|an|new|the|your|it|to|one|them)\b)|new|mak(?:e|es|ing) (?:a|an)|"
    r"writ(?:e|es|ten|ing)|"
    r"output\w*|produc\w+|emit\w*|build(?:s|ing)? (?:to|into)|built|compil\w+ (?:to|into)|stor(?:e|es|ed)|sav(?:e|es|ed)|"
    r"download\w*|clon(?:e|es|ed|ing)|install\w*|cache[ds]?|log(?:s|ged)? to|gitignored?|ignored?|untracked|local(?:ly)?|"
    r"cop(?:y|ies|ied)|artifacts?|temp(?:orary)?|optional(?:ly)?|if (?:it |they |one )?(?:exists?|present|any|there|needed|applicable)|"
    r"when present|todo|planned|plan|future|will|would|could|might|propos\w+|upcoming|roadmap|"
    r"runtime|at startup|auto-?\w*|scaffold\w*|initiali[sz]e\w*|bootstrap\w*|dump\w*|export\w*|place|put)\b|"
    r"생성|만들|작성|추가|저장|출력|예정|계획|作成|生成|追加|保存|出力|予定|创建|新建|生成|添加|保存|输出|计划|新增",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\b(?:e\.?g\.?|for example|for instance|examples?|such as|like|sample|hypothetical\w*|imagine|suppose|placeholder|"
    r"template|pattern|naming|named|convention|format|style|either|or similar|something|some|any|"
    r"typical(?:ly)?|usual(?:ly)?|another|other (?:repo\w*|project\w*)|external|upstream|third[- ]party|"
    r"user['’]s|your|their|bad|wrong|good|correct|incorrect|anti-?pattern)\b|[❌✗✘❎🚫]|"
    r"예시|예를|예:|例えば|例[:：]|例如|比如|示例|样例|サンプル|テンプレート",
    re.IGNORECASE,
)
_EXAMPLE_HEADING = re.compile(
    r"\b(?:examples?|samples?|templates?|adding|creating|create|add|new|how to (?:add|create)|migrat\w+|deprecat\w+|"
    r"removed|future|roadmap|plan(?:ned|s)?|todo|proposed|naming|conventions?|common (?:mistakes|pitfalls)|anti-?patterns?|"
    r"output|generated|artifacts?|changelog|history|release notes|legacy|troubleshooting|scaffold\w*)\b|예시|추가|생성|例|追加|作成|新增|添加|示例",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[<>{}$…]|\.\.\.|\b(?:foo|bar|baz|qux|x{2,}|your|my|some|example|sample|placeholder|lorem|acme|path/to|YYYY|NNN+|"
    r"old|new|feature-?name|component-?name|module-?name|thing|something|whatever)\b|^(?:your|my|some|new|old)[-_]|"
    r"(?:[-_/.]|^)(?:your|my|example|foo|bar|baz|xxx+|nnn+|name)(?:[-_/.]|$)|\bMy[A-Z]|(?:^|/)N(?:AME)?[-_.]|\bNAME\b|"
    r"PascalCase|camelCase|snake_case|kebab-case|\bXYZ\b|[A-Z]{2,}-\d{3,}",
    re.IGNORECASE,
)


def past(line: MarkedLine) -> bool:
    """Whether the line denies, forbids or remembers."""
    return bool(_PAST.search(line.text))


def made(line: MarkedLine) -> bool:
    """Whether the line speaks of what is made, kept outside of Git, or not there yet."""
    return bool(_MADE.search(line.text))


def example(line: MarkedLine) -> bool:
    """Whether the line, or the heading above it, illustrates."""
    return bool(_EXAMPLE.search(line.text)) or example_heading(line.trail) or any(map(_EXAMPLE.search, line.parents))


def example_heading(trail: Sequence[str]) -> bool:
    """Whether a section is about what could be there."""
    return any(map(_EXAMPLE_HEADING.search, trail[-2:]))


def hedged(line: MarkedLine) -> bool:
    """Whether any of these reasons holds: then nothing is said of the line by itself."""
    return past(line) or made(line) or example(line)


def placeholder(token: str) -> bool:
    """Whether a token stands for names, and is none."""
    return bool(_PLACEHOLDER.search(token))
