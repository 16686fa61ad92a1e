"""Patterns with which a hook's shell lines decide, before Python starts, whether there is something to scan."""

from __future__ import annotations

from gitmem.agent_paths import FOLDERS, IMPORTING
from gitmem.paths import AGENT_ENDINGS, LEADING_KEYS, LEADING_SETTINGS, TEXT_ENDINGS

# Pathspecs of the files that the gate scans. A link may be anywhere below the folders of TOPS.
TOPS = tuple(dict.fromkeys(folder.partition("/")[0] for folder in FOLDERS))
PATHSPECS = (
    ":(icase)memory", ":(icase)*.rules", *(f":(icase)*{end}" for end in AGENT_ENDINGS),
    *(f":(icase)*{top}*" for top in TOPS),
    *(f":(icase,glob)**/skills/**/*{end}" for end in TEXT_ENDINGS if end not in AGENT_ENDINGS),
)  # fmt: skip

# Files that may import any other file, as pathspecs, and the regular expression of an import in them.
IMPORTERS = tuple(
    f":(icase)*{name}" for name in (*IMPORTING, *(f"{folder}/*" for folder in FOLDERS), *LEADING_SETTINGS)
)
IMPORT = rf"(^|[^a-zA-Z0-9.])@[a-zA-Z0-9._/~\"-]|@\{{|\{{file:|({'|'.join(LEADING_KEYS)})[^a-zA-Z0-9]*[:=]"

# What a detector may find in a commit message: only plain English words and short numbers are not read
# (tests/git/hooks/test_message_filter.py). Lines with `#` count, because `git commit -m` keeps them.
MAY_HOLD = (
    "[^ -~[:space:]]", "[[:cntrl:]]", "[a-z0-9_+=-]{16}", "[a-z][0-9]|[0-9][a-z]", "[0-9]([^a-z0-9]?[0-9]){3}",
    r"[@=<>|\\]", "://", " / ",
    "pass|pwd|pw|pin|secret|token|key|cred|auth|login|user|account|admin|root|seed|phrase|mnemonic|wallet|cookie",
    "senha|clave|contras|kenn|wort|woord|geheim|parola|haslo|mot de|answer|maiden|born|mrn|patient|diagnos",
)  # fmt: skip
