# ruff: noqa: SIM905 - lists of a hundred quoted words, one a line, would not be read
"""Tells passwords made of joined words from names: `WALNUT-TANGO-77` and `Bonfire.Toffee` are passwords,
`PASSWORD_FILE` and `Config.Password` are names.

Pure functions of one value. A password of this kind holds no word of programs, of grammar or of rules for passwords.
"""

from __future__ import annotations

import re

from gitmem.gate.detectors.secrets.features import is_placeholder
from gitmem.lazy_patterns import lazy

SMALL = frozenset(
    """
    the a an is are was were be been being it its this that these those there here not no never none only must shall
    should will would can could may might has have had do does did to of in on at by for from with without as if or and
    but than then when where which who what how why all any each every same your you we our my their his her they i
    """.split()
)
# Words in sentences about passwords that tell none.
POLICY = frozenset(
    """
    password passwords passphrase passphrases secret secrets token tokens key keys login user users username account
    accounts characters character chars letters digits digit numbers symbol symbols words length minimum maximum
    least strong weak required optional invalid wrong incorrect expired missing empty default hashed encrypted stored
    saved kept rotated changed reset forgotten leaked prompt enter type input field vault env environment variable
    config settings file managed shared read written generated random hidden masked bcrypt argon unset unchanged set
    """.split()
)
_PLACES = frozenset("vault env environment variable config settings file".split())
# `WALNUT-TANGO-77`, `Kestrel-Harbour-19`, `copper-ladder-42`.
_JOINED = lazy(r"[A-Za-z]{3,12}(?:[-_.][A-Za-z]{3,12}){1,5}[-_.]\d{1,4}[!?*#]?")
_NUMBERED_NAME = lazy(
    r"pass|secret|token|key|user|admin|root|test|prod|stag|dev|demo|name|file|reset|policy|hash|sha|aes|rsa|utf|auth|login"
    r"|mail|queue|server|service|host|issue|ticket|version|release|rfc|example|sample|your|change|field|vault|store"
    r"|manager|config|cluster|region|east|west|north|south|central"
)

# `Bonfire.Toffee`, `cabBage_White`, `lantern.Fish7`, `Teasel&Burr`: two to five words, one of them with a capital.
_COINED = lazy(r"[A-Za-z]{3,12}\d{0,3}(?:[-_.&+;!*#@][A-Za-z]{2,12}\d{0,3}){1,4}[!?*#]?")
_NUMBERED = lazy(r"([A-Z][a-z]{4,11})[-_.!#]\d{1,4}")
_DICEWARE = lazy(r"[a-z]{3,10}(?:-[a-z]{3,10}){1,9}")
_WORD = lazy(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ODD_SIGN = lazy(r"[&;!*#@+]")
# Words in names of programs and settings.
_NAMING = frozenset(
    """
    auth oauth basic bearer digest grant flow credential credentials admin root test tests mock fake dummy my new old first
    last current string str text number bool boolean int bytes byte array list map dict object any null undefined schema
    types data model models form request response req res self props options opts args params param body payload state
    store context ctx app api url uri http https json yaml html xml css sql db database server service host client
    session cookie header headers check valid validate validation validator policy strength rule rules pattern regex min max
    size hash salt verify confirm confirmation update create delete get fetch load save read-only manager provider handler
    helper controller button label title page screen view dialog modal icon color hint placeholder message error info
    warning status mode format plain base encoded protected only case sensitive free based less auto manual generation
    generator expiry expiration expires date time length version release example sample docs guide section table column row
    property properties attribute attr class method function const private public internal external system local global
    name names email mail phone address code pin access refresh id ids index item items see ask via use using one time per
    enum union record char varchar nvarchar blob sha md argon scrypt bcrypt pbkdf prod production staging dev development
    your some this that foo bar baz lorem ipsum end start begin done todo not applicable available supported allowed
    disabled enabled hard soft fail pass ok yes true false change required reader writer source target
    """.split()
)


def is_coined(value: str) -> bool:
    """Whether a value is words joined by signs, with a capital letter and without any word of a name.

    Call it only where a password is expected: a name of two proper nouns looks the same.
    """
    if not _COINED.fullmatch(value) or value.islower() or value.isupper() or is_placeholder(value):
        return False
    chunks = [chunk for chunk in re.split(r"[^A-Za-z]+", value) if chunk]
    words = {part.lower() for chunk in chunks for part in (chunk, *_WORD.findall(chunk))}
    return words.isdisjoint(_NAMING | POLICY) and (len(chunks) > 2 or words.isdisjoint(SMALL))


def is_numbered(value: str) -> bool:
    """Whether a value is one capitalised word of 5 to 12 letters, a sign of `-_.!#` and a number of 1 to 4 digits
    (`Bulrush_77`), and no name (`Release-2024`). Call it only where a password is expected: beside a user or as an
    option."""
    match = _NUMBERED.fullmatch(value)
    return match is not None and not _NUMBERED_NAME.search(value.lower()) and match[1].lower() not in _NAMING | POLICY


def is_diceware(value: str, least: int) -> bool:
    """Whether a value is at least `least` different words in lower case joined by hyphens, none of grammar or of a
    name."""
    words = value.split("-")
    return len(set(words)) >= least and _DICEWARE.fullmatch(value) is not None and names_nothing(words)


def names_nothing(words: list[str]) -> bool:
    """Whether none of these lower-case words belongs to grammar, to rules for passwords or to names of programs."""
    return (SMALL | POLICY | _NAMING).isdisjoint(words)


def is_odd(value: str) -> bool:
    """Whether a value holds a sign that no identifier has: `Vellum&Quill`."""
    return _ODD_SIGN.search(value) is not None


def is_joined(value: str, strength: int) -> bool:
    """Whether a value is words and a number joined by signs (`WALNUT-TANGO-77`), and no name.

    `strength`: 2 if `=`, `:` or a CJK particle joins a word for a password to the value, 1 for words, 0 for a blank;
    below 2 all words must begin with a capital or have four letters or more.
    """
    bare = value.rstrip(".,")
    if not _JOINED.fullmatch(bare) or _NUMBERED_NAME.search(bare.lower()) or is_placeholder(bare):
        return False
    words = [part for part in re.split(r"[-_.]", bare) if part[0].isalpha()]
    return strength == 2 or all([word[0].isupper() for word in words]) or all([len(word) >= 4 for word in words])


def is_told(value: str) -> bool:
    """Whether words are a sentence and not a passphrase, because one of them belongs to grammar or to rules for
    passwords."""
    words = value.lower().rstrip(".!").split()
    return not SMALL.isdisjoint(words) or not POLICY.isdisjoint(words)


def is_place(value: str) -> bool:
    """Whether joined words only name the place of a password: `PASSWORD_FILE`, `passphrase-from-vault`."""
    words = set(re.split(r"[-_]", value.lower()))
    return len(words) > 1 and words <= POLICY | SMALL and not words.isdisjoint(_PLACES)
