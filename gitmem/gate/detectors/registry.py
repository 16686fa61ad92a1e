"""The detectors, by name: each is one module with `detect(text)` and `EXAMPLES`, and one row here.

A detector is imported only when it is asked for. It is pure: text in, matches out; `gate/examine.py` decides what a
match means for a commit. Whatever the gate asks of a detector or of one of its rules stands in its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from gitmem.gate.detectors.text import Evidence, Examples, Match, Scope, Text

__all__ = [
    "DETECTORS",
    "EXCEPTED_FOR_FILES",
    "GUESSABLE",
    "ON_REQUEST",
    "PERSONAL",
    "REMEDIES",
    "Detector",
    "Evidence",
    "Examples",
    "Match",
    "Scope",
    "Text",
    "evidence",
    "examples",
    "is_secret",
    "load",
    "registered",
    "run",
]


@dataclass(frozen=True, slots=True)
class Detector:
    """One detector: its module, and what the gate needs to know of it beside what `detect` finds.

    `secret`: what it matches may be secret or personal, so that it is asked where only those are masked. `in_messages`:
    the commit-msg hook asks it too, which runs right after pre-commit and must be quick (CI reads messages with all).
    `guessable`: beginnings of the names of its rules whose finds can be guessed (a number with a form, a word that a
    person chose): of these nothing is shown. `personal`: all of its rules are in `guessable`, and find what says who
    somebody is: nobody can change it, as a secret is. `excepted_for_files`: its rules that may be excepted for a whole file,
    which is for what a page that discusses attacks, merges or people may hold, never for secrets, exfiltration and what
    hides. `remedies`: what mends a find of a rule that no mask mends, as a sentence for a person. `evidence`: a module
    with `evidence(text)`, for a detector that can say what it weighed; of the others the message says it.
    """

    module: str
    secret: bool = True
    in_messages: bool = False
    guessable: tuple[str, ...] = ()
    personal: bool = False
    excepted_for_files: tuple[str, ...] = ()
    remedies: tuple[tuple[str, str], ...] = ()
    evidence: str = ""


DETECTORS: dict[str, Detector] = {
    "secrets": Detector("gitmem.gate.detectors.secrets.secrets", in_messages=True),
    "passwords": Detector(
        "gitmem.gate.detectors.secrets.passwords",
        in_messages=True,
        guessable=("password", "user-password", "credentials-in"),
    ),
    "cookies": Detector("gitmem.gate.detectors.secrets.cookies", in_messages=True),
    "pii": Detector(
        "gitmem.gate.detectors.personal.pii",
        in_messages=True,
        guessable=(
            "email", "phone", "resident-number", "card-number", "business-number", "iban", "national-id",
            "bank-account", "postal-address", "identity-document", "birth-date", "health", "security-answer",
        ),
        personal=True,
        excepted_for_files=("email", "phone-number", "postal-address"),
    ),
    "injection": Detector(
        "gitmem.gate.detectors.injection.injection",
        secret=False,
        excepted_for_files=(
            "injection-instruction", "injection-prompt-leak", "injection-poisoning", "injection-standing-rule",
            "injection-role-marker",
        ),
        evidence="gitmem.gate.detectors.injection.sentence_evidence",
    ),
    "invisible": Detector(
        "gitmem.gate.detectors.injection.invisible_characters", secret=False, in_messages=True
    ),
    "hidden": Detector("gitmem.gate.detectors.injection.hidden_text", secret=False),
    "encoded": Detector("gitmem.gate.detectors.injection.encoded_text"),
    "exfiltration": Detector("gitmem.gate.detectors.injection.exfiltration", secret=False),
    "terminal": Detector("gitmem.gate.detectors.terminal", secret=False, in_messages=True),
    "conflict": Detector(
        "gitmem.gate.detectors.conflict",
        secret=False,
        excepted_for_files=("conflict-marker",),
        remedies=(
            (
                "conflict-marker",
                "finish the merge: keep what holds of both sides, take the markers out, git add the file",
            ),
        ),
    ),
    "frontmatter": Detector(
        "gitmem.gate.detectors.frontmatter",
        secret=False,
        remedies=(
            ("front-matter-size", "shorten the front matter: what is text belongs below it"),
            ("front-matter-bomb", "write the values out, without anchors, aliases and nested brackets"),
        ),
    ),
}  # fmt: skip

ON_REQUEST: dict[str, Detector] = {  # in a hook only where the user's `mem.detectSecrets` is on, see there
    "plugins": Detector(
        "gitmem.gate.detectors.secrets.detect_secrets", guessable=("plugin-secret-keyword", "plugin-basic-auth")
    ),
}

WITH_PLUGINS = (*DETECTORS, *ON_REQUEST)  # names, for `mem.detectSecrets` and `git mem scan --plugins`
_ALL = (*DETECTORS.values(), *ON_REQUEST.values())
GUESSABLE = tuple(beginning for detector in _ALL for beginning in detector.guessable)
PERSONAL = tuple(beginning for detector in _ALL if detector.personal for beginning in detector.guessable)
EXCEPTED_FOR_FILES = tuple(rule for detector in _ALL for rule in detector.excepted_for_files)
REMEDIES = dict(remedy for detector in _ALL for remedy in detector.remedies)


def registered(name: str) -> Detector:
    """The detector of a name. KeyError for one that is not registered."""
    return DETECTORS.get(name) or ON_REQUEST[name]


def is_secret(match: Match) -> bool:
    """Whether a match is a secret that can be changed, and must be once it is known; personal data cannot."""
    return match.secret and not match.rule.startswith(PERSONAL)


def load(name: str) -> Callable[[Text], Iterator[Match]]:
    """The `detect` function of a detector. KeyError for a name that is not registered."""
    return _detect_of(registered(name).module)


@cache
def _detect_of(module: str) -> Callable[[Text], Iterator[Match]]:
    detect: Callable[[Text], Iterator[Match]] = import_module(module).detect
    return detect


def examples(name: str) -> dict[str, Examples]:
    """Rule id -> its examples."""
    table: dict[str, Examples] = import_module(registered(name).module).EXAMPLES
    return table


def evidence(text: Text) -> Iterator[Evidence]:
    """What the detectors weighed in a text, in order of place; an exception of one is not caught here."""
    modules = [detector.evidence for detector in DETECTORS.values() if detector.evidence]
    weighed = [each for module in modules for each in import_module(module).evidence(text)]
    yield from sorted(weighed, key=lambda each: (each.start, each.end, each.rule))


def run(text: Text, names: Iterable[str]) -> list[Match]:
    """All matches of the named detectors in order of place, the same find of the same rule once.

    An exception of a detector is not caught here: a gate that cannot look must not say "clean".
    """
    matches = {match for name in names for match in load(name)(text)}
    return sorted(matches, key=lambda match: (match.start, match.end, match.rule, match.message))
