"""The detectors, by name. Each is one module with `detect(text)`, and one row here.

A detector is imported on first use. It is pure: it takes a text and yields matches; `gate/examine.py` decides what a
match means for a commit. The row of a detector holds everything else that the gate asks of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from gitmem.gate.detectors.text import Evidence, Match, Text


@dataclass(frozen=True, slots=True)
class Detector:
    """One detector.

    `module`: the module with `detect`. `secret`: whether it can match secrets or personal data, so
    that it runs when only these are masked. `in_messages`: whether the commit-msg hook runs it, which must be quick
    (CI runs all detectors on messages). `guessable`: prefixes of the names of its rules whose values can be guessed
    (a number of a fixed form, a word that a person chose); no character of such a value is shown. `personal`: whether
    its rules match data that identifies a person, which nobody can rotate as a secret; all of them are in
    `guessable`. `excepted_for_files`: its rules that can be excepted for a whole file, for pages that discuss
    attacks, merges or people; never rules for secrets, exfiltration or hidden text. `remedies`: (rule, what a person
    must do) for each rule whose match no mask can mend. `evidence`: whether the module has `evidence(text)` too,
    since the messages of the matches do not say all.
    """

    module: str
    secret: bool = True
    in_messages: bool = False
    guessable: tuple[str, ...] = ()
    personal: bool = False
    excepted_for_files: tuple[str, ...] = ()
    remedies: tuple[tuple[str, str], ...] = ()
    evidence: bool = False


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
        evidence=True,
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

ON_REQUEST: dict[str, Detector] = {  # runs in hooks only when the user sets `mem.detectSecrets`
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
    """The row of this detector in DETECTORS or ON_REQUEST. Raises KeyError for a name that neither has."""
    return DETECTORS.get(name) or ON_REQUEST[name]


def is_secret(match: Match) -> bool:
    """Whether a match is a secret that its owner must rotate; personal data is not."""
    return match.secret and not match.rule.startswith(PERSONAL)


def load(name: str) -> Callable[[Text], Iterator[Match]]:
    """The `detect` function of a detector, whose module is imported now. Raises KeyError for an unknown name."""
    return _detect_of(registered(name).module)


@cache
def _detect_of(module: str) -> Callable[[Text], Iterator[Match]]:
    """The function `detect` of a module, which is imported now."""
    detect: Callable[[Text], Iterator[Match]] = import_module(module).detect
    return detect


def evidence(text: Text) -> Iterator[Evidence]:
    """The evidence of all detectors for a text, in order of place. Exceptions of a detector are not caught."""
    modules = [detector.module for detector in DETECTORS.values() if detector.evidence]
    results = [result for module in modules for result in import_module(module).evidence(text)]
    yield from sorted(results, key=lambda result: (result.start, result.end, result.rule))
