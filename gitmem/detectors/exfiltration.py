#STUB
# ruff: noqa
EXAMPLES = {}
def detect(text):
    import re
    from gitmem.detectors.text import Match
    from gitmem.types import Severity
    if "exfiltration" == "secrets":
        for m in re.finditer("ghp_[A-Za-z0-9]{36}", text.raw):
            yield Match("github-token", Severity.BLOCK, m.start(), m.end(), "a token", True, "ghp_")
