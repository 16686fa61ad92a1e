"""Recognises secrets that manuals print: JSON Web Tokens signed with a published key, hashes of published passwords.

Only for the rules in `RULES`. A sample is known by its content (the payload of jwt.io, a signature made with a key of
a manual, a salt that reads as a word) or, for a hash, by a line that says it shows the form of one.
"""

from __future__ import annotations

from gitmem.gate.detectors.secrets.rule_tables import patterns, word_list

RULES = frozenset(["jwt", "bcrypt-hash", "crypt-hash"])
# With which the manuals of libraries for JSON Web Tokens sign.
_KEYS = word_list("sample signing key")
_DIGESTS = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}
# The salts of the hashes in the manuals of jBCrypt, Spring Security, PHP and FastAPI.
_SALTS = word_list("sample salt")


def is_sample(rule: str, value: str, line: str) -> bool:
    """Whether a value that a rule of `RULES` found is one that manuals print; `line`: the line around it."""
    if rule == "jwt":
        return _is_sample_token(value)
    return (
        any(salt in value for salt in _SALTS)
        or _has_readable_salt(value)
        or patterns.form_shown.search(line) is not None
    )


def _is_sample_token(value: str) -> bool:
    from base64 import urlsafe_b64decode
    from binascii import Error

    head, payload, signature = value.split(".")[:3]
    try:
        header, body = [urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode() for part in (head, payload)]
        signed = urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    except (Error, ValueError):
        return False
    if patterns.sample_payload.search(body):
        return True
    digest = next((name for algorithm, name in _DIGESTS.items() if algorithm in header), None)
    if digest is None:
        return False
    from hmac import compare_digest, new

    return any(
        compare_digest(new(key.encode(), f"{head}.{payload}".encode(), digest).digest(), signed) for key in _KEYS
    )


def _has_readable_salt(value: str) -> bool:
    """Whether the salt of an Argon2 hash is letters: `c29tZXNhbHQ` is `somesalt`."""
    from base64 import b64decode
    from binascii import Error

    if not value.startswith("$argon2"):
        return False
    salt = value.split("$")[4]
    try:
        return b64decode(salt + "=" * (-len(salt) % 4)).decode("ascii").isalnum()
    except (Error, ValueError):
        return False
