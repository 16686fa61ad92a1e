"""Recognises words beside a claim that take it back. A clause that denies, makes or illustrates a thing claims nothing
about the tree.

Pure; in four languages. Only the clause with the claim, the line, its parent items and its headings are read: a "not"
elsewhere in a long line does not concern the claim. A thing that existed once needs more specific words (`is_denied`,
`is_to_be_made`) to be left out of the report than a thing that history never had (also `is_illustrated`).
"""

from __future__ import annotations

import re

from gitmem.claims.claim import DIAGRAM_TOOL, Claim

BEFORE, AFTER = 70, 60  # characters of a clause that are read before and after a claim
MAX_CHARACTERS_TO_VERSION = 60  # before a version in its line, for it to be a version of the project
MAX_CHARS_TO_PROHIBITION = 200  # characters before a claim in which a word that forbids is searched for
_CUT = re.compile(r"[.;!?。；！？](?:\s|$)|\s[—–]\s|\s-\s|\||\)\s*,")
_DENIED_BEFORE = re.compile(
    r"^\W*before\W*(?:\(|:)|\b(?:no longer|dead|re-?introduc\w+|recreat\w+|"
    r"instead of|rather than|remov\w+|delet\w+|dropp\w+|deprecat\w+|obsolete|legacy|old|"
    r"former(?:ly)?|previous(?:ly)?|"
    r"was|were|used to|moved from|renam\w+|replac\w+|migrat(?:ed|ing)|superse\w+|missing\W*$|without|"
    r"there (?:is|are) no|has no|have no|absent|"
    r"original(?:ly)?|historical\w*|retired?|unlike|not|isn['’]t|no|refactor\w+ from|split from|extracted from|"
    r"(?:don['’]?t|do not|never|avoid|must not|should not|cannot|can['’]t|won['’]t)(?: \w+){0,2} "
    r"(?:us(?:e|ing)|import\w*|creat\w+|add\w*|call\w*|referenc\w+|\w*introduc\w+|writ\w+|put\w*|run\w*|rely\w*|"
    r"need\w*|exist\w*|have|include))\b"
    r"|삭제|제거|없|이전의|폐기|旧|以前の|削除|廃止|没有|不存在|已删除|移除|废弃|不再|勿|禁止",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"^[`'\"*)\]]*,?\s*(?:\([^)]*\)\s*)?"
    r"(?:(?:folder|director(?:y|ies)|files?|modules?|packages?|class|functions?|methods?|scripts?|commands?|targets?|"
    r"variables?|settings?|options?|components?|hooks?|helpers?|tables?|layer|service|app|path)\s+)?"
    r"(?:(?:is|are|was|were|has been|have been|had been|got|will be|does|do|did|"
    r"should|must)\s*(?:n['’]t|not)?\s*)*"
    r"(?:now\s+)?(?:gone|removed|deleted|dropped|deprecated|renamed|moved|merged|split|replaced|superseded|no longer|"
    r"legacy|obsolete|"
    r"not|n['’]t|never|doesn['’]t|does not|retired|archived|absent|missing|existed|used to)\b"
    r"|^[`'\"*)\]]*\s*\((?:[^)]*\b)?(?:removed|deleted|deprecated|legacy|old|obsolete|gone|renamed|moved|planned|"
    r"todo|future|optional|generated|"
    r"gitignored|ignored|not (?:committed|tracked|in git)|local|private|created|new|if (?:present|exists|any)|when "
    r"present)\b"
    r"|^(?:\([^)]*\))?[`'\"*)\]]*\s*(?:→|->|=>|➜)\s*(?:`(?![^`]*\(\))|[*(]|now|removed|deleted|forbidden|invalid|wrong|bad|[\w.-]+/[\w./-]+)"
    r"|[^.]{0,30}(?:삭제|제거|없|폐기|ない|削除|廃止|不存在|已删除|移除|废弃|不再)",
    re.IGNORECASE,
)
_FORBIDDEN = re.compile(  # forbids all that follows in the clause, unless that names what to do instead
    r"\b(?:never|do not|don['’]?t|avoid|must not|should not|shouldn['’]?t)\b"
    r"(?!.*\b(?:instead|rather|but|unless|without)\b)",
    re.IGNORECASE,
)
_DOUBTED = re.compile(r"\b(?:stale|outdated|out[- ]of[- ]date|redundant)\b", re.IGNORECASE)
_MADE_BEFORE = re.compile(
    r"\b(?:creat\w+|generat\w+|exclud\w+|add(?:s|ed|ing)?|new|mak(?:e|es|ing) an?|writ(?:e|es|ten|ing)|"
    r"output\w*|produc\w+|emit\w*|"
    r"stor(?:e|es|ed|ing)|sav(?:e|es|ed|ing)|download\w*|clon\w+|cache[ds]?|logs? to|gitignored?|ignored?|untracked|"
    r"cop(?:y|ies|ied)|artifacts?|temp(?:orary)?|if (?:it |they |one |there is |an? |you )?\w*|when present|todo|"
    r"planned|future|will|would|could|"
    r"might|may|propos\w+|upcoming|scaffold\w*|initiali[sz]e\w*|dump\w*|export\w* to|place|put|built (?:to|into)|"
    r"build(?:s|ing)? (?:to|into)|"
    r"compil\w+ (?:to|into)|bundl\w+ (?:to|into)|rename)\b|생성|만들|작성|추가|저장|출력|예정|"
    r"作成|生成|追加|保存|出力|创建|新建|添加|输出|新增",
    re.IGNORECASE,
)
_MADE_AFTER = re.compile(
    r"^[`'\"*)\]]*\s*(?:\w+\s+){0,2}(?:(?:is|are|will be|gets?|can be)\s+(?:\w+ly\s+)?(?:auto[- ]?)?(?:generated|"
    r"created|written|stored|saved|built|produced|"
    r"downloaded|cloned|ignored|gitignored|untracked|optional|planned|copied|populated)|if (?:it|they|present|needed|"
    r"missing|any)|when (?:present|it exists))\b"
    r"|[^.]{0,20}(?:생성|작성|추가|저장|作成|生成|追加|保存|创建|新建|添加)",
    re.IGNORECASE,
)
# For a thing that existed once a making verb must stand right before it: "add a row to `src/x.py`" needs the file.
_MADE_NEXT = re.compile(
    r"\b(?:creat\w+|add(?:s|ed|ing)?|mak(?:e|es|ing)|writ(?:e|es|ten|ing)|scaffold\w*|initiali[sz]e\w*|cop(?:y|ies|ied)|"
    r"new|rename|propos\w+)\b(?:[ :]+(?:an?|the|your|its|this|new|own|separate|files?|folder|directory|called|named|at|"
    r"under|as|it|to))*[ :]*[`'\"*(\[]*$",
    re.IGNORECASE,
)
_KEPT_ELSEWHERE = re.compile(
    r"\b(?:generat\w+|output\w*|produc\w+|emit\w*|stor(?:e|es|ed|ing)|sav(?:e|es|ed|ing)|download\w*|clon\w+|"
    r"cache[ds]?|logs? to|gitignored?|ignored?|untracked|artifacts?|temp(?:orary)?|when present|todo|planned|future|"
    r"(?:will|would|could|might|may) (?:be|create|add|live|have)|upcoming|"
    r"creat(?:e|es|ing)(?: [^`\s]+){0,4} (?:in|at|under)|dump\w*|export\w* to|"
    r"(?:writ(?:e|es|ten|ing)|buil(?:d|ds|t|ding)|compil\w+|bundl\w+|cop(?:y|ies|ied))(?: \S+){0,4} (?:to|into)|"
    r"if (?:it|they|one|there|present|exists|missing))\b|생성|만들|저장|출력|예정|作成|生成|保存|出力|创建|新建|输出",
    re.IGNORECASE,
)
_OTHER_REPOSITORY = re.compile(
    r"\b(?:in|of|from|to|within|into)\s+(?:that|another|its|their|your)\s+(?:\S+\s+){0,2}(?:repos?|repository|fork)\b|"
    r"\b(?:other|another|separate|sibling|upstream|external|private|different)\s+(?:\S+\s+)?"
    r"(?:repos?|repositor(?:y|ies))\b|\bgit(?:hub|lab)\b[^.]{0,12}`[\w.-]+/[\w./-]+`|`[\w-]+/[\w.-]+`[^`.]{0,12}"
    r"\brepo(?:sitory)?\b",
    re.IGNORECASE,
)
_MADE_ROW = re.compile(
    r"\bauto-?generated|\bgenerated (?:by|from|code|files?)\b|\bdo not edit|\bnot committed|\bgit-?ignored|"
    r"\bbuild (?:output|artifacts?)\b|\bat runtime\b|자동 생성|自動生成|自动生成",
    re.IGNORECASE,
)
_PLANNED_ROW = re.compile(
    r"^\s*\|.*\|\s*(?:Add|Create|Implement|Build|Write|Set up|Introduce|Define|Wire|Extract)\b", re.IGNORECASE
)
_ILLUSTRATED = re.compile(
    r"\b(?:e\.?g\b|for example|for instance|examples?|such as|like|sample|hypothetical\w*|imagine|suppose|placeholder|"
    r"template|pattern|naming|named|convention|format|either|or similar|any|typical(?:ly)?|usual(?:ly)?|another|"
    r"other|external|upstream|"
    r"user['’]s|your|their|bad|wrong|good|incorrect|anti-?pattern)\b|[❌✗✘❎🚫✅]|예시|예를|예:|例えば|例[:：]|例如|比如|示例|サンプル|テンプレート",
    re.IGNORECASE,
)
_CROSSED = re.compile("[❌✗✘❎🚫]")
_EXAMPLE = re.compile(
    r"\be\.g\b|\bfor (?:example|instance)\b|\bexamples?\b|\bsuch as\b|예시|예:|例えば|例[:：]|例如|比如|示例",
    re.IGNORECASE,
)
_NAMING = re.compile(
    r"\b(?:naming|named|names?:|conventions?|prefix(?:es)?|suffix(?:es)?|base name|kebab-case|PascalCase|camelCase|"
    r"snake_case)\b",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:since|introduced|stable|added in|before|until|upgrad\w+|migrat\w+|compat\w*|consumer['’]s)\b", re.IGNORECASE
)
_ABOUT_OTHERS = re.compile(
    r"\b(?:examples?|samples?|templates?|adding|creating|how to (?:add|create)|anti-?patterns?|generated|artifacts?|"
    r"scaffold\w*)\b|예시|例|示例",
    re.IGNORECASE,
)
_ABOUT_OTHER_TIMES = re.compile(
    r"\b(?:deprecat\w+|removed|future|roadmap|planned|todo|proposed|changelog|release notes|legacy|"
    r"migration (?:guide|history|notes))\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[<>$…]|\.\.\.|^\{|\{[^},]*\}|(?:[-_/.]|^)(?:your|my|some|foo|bar|baz|qux|example|sample|placeholder|acme|xxx+|"
    r"nnn+|yyyy|whatever|"
    r"something|thing|lorem|specific|some_?file|test_?file)(?:[-_/.]|$)|path/to/|tests?/path\.|\bMy[A-Z]|Your[A-Z]|(?:^|[/_-])(?:N|X|NAME|"
    r"NNN+|YYYY|XX+|FOO|BAR)(?:[-_./]|$)|PascalCase|camelCase|snake_case|"
    r"kebab-case|(?:feature|component|module|package|skill|page|plugin|service|tool|file|project|agent|rule|test|example|app)"
    r"[-_]?name|"
    r"(?:^|[/_-])new-|[A-Z]{2,}-\d{3,}|(?:Component|Module|Service|Feature|Class|File|Page)_?Name\b"
)


def clause(claim: Claim, reach: int = BEFORE) -> tuple[str, str]:
    """(text before, text after) a claim in its clause: a sentence, a table cell, or a part between dashes.

    `reach`: the most characters before the claim; after it they are AFTER at most. ("", "") if the line does not have
    the claim's text.
    """
    text = claim.line.text
    match = re.search(rf"(?<!\w){re.escape(claim.text)}(?!\w)", text)
    start = match.start() if match else text.find(claim.text)
    if start < 0:
        return "", ""
    before, after = text[:start].replace("*", "")[-reach:], text[start + len(claim.text) :][:AFTER]
    cuts = list(_CUT.finditer(before))
    if cuts:
        before = before[cuts[-1].end() :]
    cut = _CUT.search(after)
    if cut:
        after = after[: cut.start() + 1]
    return before, after


def is_denied(claim: Claim) -> bool:
    """Whether the clause says that the thing does not exist, is old, must not be used, or is out of date."""
    before, after = clause(claim)
    doubted = (
        _DOUBTED.search(before)
        or _DOUBTED.search(after)
        or _FORBIDDEN.search(clause(claim, MAX_CHARS_TO_PROHIBITION)[0])
    )
    return bool(doubted or _DENIED_BEFORE.search(before) or _DENIED_AFTER.search(after))


def is_to_be_made(claim: Claim, *, existed: bool = False) -> bool:
    """Whether the clause says that the thing is to be created, is generated, or is kept outside of Git.

    `existed`: whether the thing existed once. If so, a making verb ("add") counts only right before the claim, since
    "add a line to it" needs an existing file; words after the claim, a table row, and "generated" anywhere before it
    count in both cases.
    """
    before, after = clause(claim)
    text = claim.line.text
    if existed:
        is_made = _MADE_NEXT.search(before) or _KEPT_ELSEWHERE.search(before)
    else:
        is_made = _MADE_BEFORE.search(before) or _PLANNED_ROW.match(text)
    in_row = claim.tool == DIAGRAM_TOOL or text.lstrip().startswith("|")
    return bool(is_made or _MADE_AFTER.search(after) or (in_row and _MADE_ROW.search(text)))


def is_illustrated(claim: Claim) -> bool:
    """Whether the clause or the parent item speaks of examples or possibilities (`such as`, `any`, `your`), whether the
    line speaks of examples, or whether a heading is about things that do not exist."""
    line = claim.line
    before, after = clause(claim)
    words = (before, after, *line.parents[-1:])
    return any(map(_ILLUSTRATED.search, words)) or bool(_EXAMPLE.search(line.text)) or is_about_others(claim)


def is_example(claim: Claim) -> bool:
    """Whether the line, or one of the two headings nearest above it, says that the line shows an example or a wrong
    way."""
    text = claim.line.text
    return bool(_EXAMPLE.search(text) or _CROSSED.search(text)) or is_about_others(claim)


def is_about_naming(claim: Claim) -> bool:
    """Whether the line, its parent item or one of the two headings nearest above it is about naming, so that its names
    need not exist."""
    line = claim.line
    return any(map(_NAMING.search, (line.text, *line.trail[-2:], *line.parents[-1:])))


def is_about_others(claim: Claim) -> bool:
    """Whether one of the two headings nearest above is about things that do not exist here: examples, plans, removed
    things."""
    return any(map(_ABOUT_OTHERS.search, claim.line.trail[-2:])) or is_about_other_times(claim)


def is_about_other_times(claim: Claim) -> bool:
    """Whether one of the two headings nearest above is about the past or the future. Headings about examples do not
    count here."""
    return any(map(_ABOUT_OTHER_TIMES.search, claim.line.trail[-2:]))


def is_repository(claim: Claim) -> bool:
    """Whether `owner/name` names a repository, because the word "repo", "repository" or "fork" follows it."""
    _, after = clause(claim)
    if claim.token.count("/") != 1:
        return False
    return bool(re.match(r"[`'\"*)\]]*\s*(?:repo(?:sitory)?|fork)\b", after, re.IGNORECASE))


def is_other_repository(claim: Claim) -> bool:
    """Whether the line is about another repository."""
    return bool(_OTHER_REPOSITORY.search(claim.line.text))


def is_project_version(claim: Claim) -> bool:
    """Whether a version is one of the project itself: it comes early in its line, without a word such as "since" before
    it."""
    before = claim.line.text[: max(claim.line.text.find(claim.text), 0)]
    return len(before) <= MAX_CHARACTERS_TO_VERSION and not _SINCE.search(before)


def is_placeholder(token: str) -> bool:
    """Whether a token is a placeholder (`<name>`, `path/to/file`, `MyComponent`)."""
    return bool(_PLACEHOLDER.search(token))
