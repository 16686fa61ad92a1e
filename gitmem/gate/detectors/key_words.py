# ruff: noqa: SIM905 - lists of a hundred quoted words, one a line, would not be read
"""The key words of attacks, and three functions that recognise them with spaces between letters, digits for letters
or typos.

A disguised word is replaced only when the result is one of these words: `i g n o r e` and `1gn0r3` become `ignore`,
while `a b c d e`, `sha256` and `utf8` stay.
"""

from __future__ import annotations

from functools import cache, lru_cache

from gitmem.lazy_patterns import lazy

# The words of attacks ...
KEY_WORDS = frozenset(
    """
    ignore ignoring disregard forget forgetting override overrides overriding bypass bypassing
    disable disabled skip previous prior above earlier preceding instruction instructions directive
    directives guideline guidelines rule rules policy policies prompt prompts system developer
    assistant admin administrator reveal print show display output repeat leak expose dump disclose
    export send upload post forward email transmit exfiltrate delete remove erase wipe execute
    password passwords secret secrets token tokens credential credentials apikey keys confidential
    hidden memory memories conversation history user users never always everything restrictions
    restriction safety security filter filters unrestricted jailbreak pretend approve approved
    approval confirm confirmation silently secretly quietly without asking telling informing anyone
    context message messages commands command following instead respond reply answer trust trusted
    verified session sessions future permanently important urgent agent model sudo root access
    environment variables directions disobey opposite unabridged grant permission permissions
    """.split()
)
# ... and words that stand between them.
_SMALL_WORDS = frozenset(
    """
    a i you your yours me my we our us it its this that these those the an and or not no do does did
    don dont to of in on at by for from with as is are was be been being have has had will would can
    could should must may now then all any every each what which who how when where if so but just
    only about into out up down over after before again here there them they their he she his her
    him please tell give say act new old first last next current actual initial original start stop
    begin end full exact whole entire text data file files key value code name list word words
    sentence language english mode role persona free open close access person people thing things
    line lines above below under between through during until while because attacker example com
    http https www
    """.split()
)
_VOCABULARY = KEY_WORDS | _SMALL_WORDS

_MAX_WORD_CHARACTERS = max(map(len, _VOCABULARY)) + 1  # with one letter doubled

_LEET = str.maketrans("01345789@$!|+€£(", "oieastbgasiiteec")
_LEET_L = str.maketrans("01345789@$!|+€£(", "oleastbgaslitelc")


_LONG_KEY = lazy("|".join(sorted((w for w in KEY_WORDS if len(w) >= 5), key=len, reverse=True)))


@cache
def _heads() -> frozenset[str]:
    return frozenset(word[:3] for word in KEY_WORDS if len(word) >= 5)


_Node = dict[str, "_Node"]


@cache
def _tree() -> _Node:
    """The vocabulary as a tree of letters; a node with the key `""` ends a word."""
    tree: _Node = {}
    for word in _VOCABULARY:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return tree


def segment(letters: str) -> str | None:
    """The lower-case `letters` split into known words by blanks. None when they hold no key word of five letters or
    more, or known words cover less than 70 % of the first 160 letters; the rest is not split.

    Dynamic programme over these letters: the split with the most letters in known words wins, then the one with fewer
    words.
    """
    if _heads().isdisjoint([letters[i : i + 3] for i in range(len(letters) - 4)]) or not _LONG_KEY.search(letters):
        return None
    letters, unread = letters[:160], letters[160:]
    size = len(letters)
    starts: list[list[int]] = [[] for _ in range(size + 1)]  # starts of the known words that end here, longest first
    tree = _tree()
    for start in range(size):
        node = tree
        for end in range(start, size):
            following = node.get(letters[end])
            if following is None:
                break
            node = following
            if "" in node and (end > start or letters[start] in "ai"):
                starts[end + 1].append(start)
    best: list[tuple[int, int, int]] = [(0, 0, 0)]  # (covered letters, -words, start of the last word)
    for end in range(1, size + 1):
        covered, words, _ = best[end - 1]
        choice = (covered, words - 1, end - 1)
        for start in starts[end]:
            covered, words, _ = best[start]
            option = (covered + end - start, words - 1, start)
            if option[:2] > choice[:2]:
                choice = option
        best.append(choice)
    if best[size][0] < 0.7 * size:
        return None
    pieces: list[str] = []
    if unread:
        pieces = [unread]
    end = size
    while end:
        start = best[end][2]
        pieces.append(letters[start:end])
        end = start
    return " ".join(reversed(pieces))


@cache
def misspellings() -> dict[str, str]:
    """Misspelling -> key word: key words of five letters or more with one letter left out or doubled, or two
    swapped."""
    table: dict[str, str] = {}
    for word in sorted(KEY_WORDS):
        if len(word) < 5:
            continue
        for i in range(1, len(word)):
            table.setdefault(word[:i] + word[i + 1 :], word)
            table.setdefault(word[:i] + word[i] + word[i:], word)
            if i + 1 < len(word):
                table.setdefault(word[:i] + word[i + 1] + word[i] + word[i + 2 :], word)
    return {typo: word for typo, word in table.items() if typo not in _VOCABULARY and len(typo) >= 5}


@lru_cache(maxsize=1 << 12)
def repair(token: str) -> str:
    """The known word that a lower-case token stands for: any known word with digits or signs for letters (`1gn0r3`), or
    a key word with one misspelling; else the token itself."""
    if token in KEY_WORDS:
        return token
    if not token.isalpha() and any(c.isalpha() for c in token):
        for table in (_LEET, _LEET_L):
            plain = token.translate(table)
            if plain in _VOCABULARY:
                return plain
            if plain in misspellings():
                return misspellings()[plain]
    return misspellings().get(token, token)


_LEET_HINT = lazy(r"[a-z][0134570@$!|][a-z]")
_LEET_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789@$!|+"
_LEET_ANY = lazy(r"(?<![\w.:/@$-])(?=[0-9@$]{0,3}[a-z])[a-z0-9@$]{2,24}(?![\w@$/:=-]|\.\d)")


def unleet(folded: str) -> str:
    """The text with digits and signs that stand for letters replaced, where that gives key words; the length does not
    change.

    Once two key words have been found, all other words with digits for letters are replaced too, so that the sentence
    around them can be read.
    """
    parts: list[str] = []
    copied_end = 0
    for match in _LEET_HINT.finditer(folded):
        start, end = match.start(), match.end()
        if start < copied_end:
            continue
        before = folded[max(copied_end, end - _MAX_WORD_CHARACTERS - 1) : start]
        start -= len(before) - len(before.rstrip(_LEET_LETTERS))
        after = folded[end : start + _MAX_WORD_CHARACTERS + 1]
        end += len(after) - len(after.lstrip(_LEET_LETTERS))
        if end - start > _MAX_WORD_CHARACTERS:
            continue
        word = folded[start:end]
        plain = repair(word)
        if plain != word and len(plain) == len(word):
            parts += [folded[copied_end:start], plain]
            copied_end = end
    if not parts:
        return folded
    text = "".join(parts) + folded[copied_end:]
    if len(parts) < 4:
        return text
    return _LEET_ANY.sub(lambda match: match.group().translate(_LEET), text)
