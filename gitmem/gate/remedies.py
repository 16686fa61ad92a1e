"""What a person must do about a finding: a remedy for each rule whose matches no mask can mend, and the advice to
rotate a secret."""

from __future__ import annotations

from gitmem.gate.detectors import registry
from gitmem.gate.detectors.finding import Finding

ROTATE = "a real secret is rotated first: see docs/leaked-secret.md of git-mem"

# Rule -> remedy: the rules of detectors, then those about a change or a whole file.
REMEDIES = registry.REMEDIES | {
    "not-text": "convert it to UTF-8, or keep it out of memory: git rm --cached FILE",
    "unscannable": "what cannot be read cannot pass: resolve, fetch or shorten it, or git rm --cached FILE",
    "scanner-failed": "a bug of the detector named: report it; --no-verify passes the hook, CI scans again",
    "symlink": "put the file itself there: git rm --cached FILE",
    "submodule": "put the files themselves there: git rm --cached FILE",
    "path-control": "give it another name: git mv",
    "path-windows": "give it another name: git mv",
    "path-long": "give it a shorter name: git mv",
    "path-twin": "give one of the two another name: git mv",
    "protected-file": "take the change out, or have it reviewed: git mem allow",
    "settings-loosened": "put them back, or have it reviewed: git mem allow",
    "layout-narrowed": "name them in [memory] paths: git mem init --adopt; or have it reviewed: git mem allow",
    "encoding-attribute": "take it out of .gitattributes, or name files that are not scanned",
    "stored-in-clear": "git-crypt unlock, then git add --renormalize the file; git-crypt status lists all such files",
    "log-rewritten": "put the lines back, or say why: git commit --trailer 'Memory-Rewrite: why'",
    "merge-lost-fact": "put the facts back, or say why: git commit --trailer 'Memory-Rewrite: why'",
    "memory-bulk-deletion": "put the facts back, or say why: git commit --trailer 'Memory-Rewrite: why'",
}


def remedy(finding: Finding) -> str:
    """The remedy for a finding, as a sentence; "" for a finding that `git mem redact` can mask."""
    if finding.in_file_name:
        return "give the file another name: git mv"
    return REMEDIES.get(finding.rule, "")
