"""Checks whether GitHub enforces reviews of memory: required checks, reviews by code owners, no forced pushes.

The checks read the rulesets of the default branch and the CODEOWNERS file in its commit. They change nothing.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from gitmem.gate.setup_checks import Check
from gitmem.git.objects import REGULAR
from gitmem.git.repository import Repository
from gitmem.review.forges.forge import ForgeError
from gitmem.review.forges.github import GitHubClient

OWNED = ("MEMORY.md", "SOUL.md", ".gitmem.toml", ".gitmem-allow.toml")  # files that need a code owner
CODEOWNERS_PATHS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")  # GitHub reads the first that exists
RECIPE = "docs/review.md of git-mem has the ruleset and the CODEOWNERS to copy"


def examine(repo: Repository, client: GitHubClient, commit: str) -> list[Check]:
    """Four checks of the default branch at GitHub: required checks, reviews by code owners, no forced pushes, and the
    CODEOWNERS file. `commit`: the tip of that branch in the local repository. Raises ForgeError if GitHub refuses or
    does not answer."""
    branch = client.default_branch()
    rules = client.rules(branch)
    return [
        _required_checks(rules, branch),
        _owner_review(rules, branch),
        _forced_pushes(rules, branch),
        _owners(repo, client, commit),
    ]


def _required_checks(rules: list[dict[str, object]], branch: str) -> Check:
    """Whether a merge waits for a check; its detail names the required checks."""
    names = []
    for rule in rules:
        parameters = rule.get("parameters")
        if rule.get("type") == "required_status_checks" and isinstance(parameters, dict):
            listed = parameters.get("required_status_checks")
            names += [str(row.get("context")) for row in listed or () if isinstance(row, dict)]
    if not names:
        return Check(
            "required checks", f"no check is required on '{branch}': what the scan refuses can be merged", RECIPE
        )
    return Check("required checks", detail=", ".join(sorted(names)))


def _owner_review(rules: list[dict[str, object]], branch: str) -> Check:
    """Whether a merge waits for a review by the code owners of the changed files."""
    parameters = [rule.get("parameters") for rule in rules if rule.get("type") == "pull_request"]
    if any(isinstance(row, dict) and row.get("require_code_owner_review") is True for row in parameters):
        return Check("review by code owners")
    return Check("review by code owners", f"'{branch}' takes changes that no code owner has reviewed", RECIPE)


def _forced_pushes(rules: list[dict[str, object]], branch: str) -> Check:
    """Whether a rule forbids forced pushes to the branch."""
    if any(rule.get("type") == "non_fast_forward" for rule in rules):
        return Check("no forced pushes")
    return Check("no forced pushes", f"'{branch}' can be pushed to by force", RECIPE)


def _owners(repo: Repository, client: GitHubClient, commit: str) -> Check:
    """Whether each file of OWNED has a code owner, in a CODEOWNERS file without errors."""
    files = {entry.path: entry for entry in repo.entries(commit, list(CODEOWNERS_PATHS)) if entry.mode == REGULAR}
    path = next((path for path in CODEOWNERS_PATHS if path in files), "")
    if not path:
        return Check("CODEOWNERS", "there is none on the default branch", RECIPE)
    text = repo.read(files[path].oid).decode("utf-8", "replace")
    without = [owned for owned in OWNED if not owners_of(text, owned)]
    if without:
        return Check("CODEOWNERS", f"{', '.join(without)}: nobody owns what agents read or are checked by", RECIPE)
    errors: list[str] = []
    try:
        errors = client.owners_errors()
    except ForgeError as error:
        if error.status != 404:  # 404: GitHub does not have this commit yet
            raise
    if errors:
        return Check("CODEOWNERS", "; ".join(errors[:3]), f"mend {path}", path)
    return Check("CODEOWNERS", detail=path)


def owners_of(text: str, path: str) -> list[str]:
    """The owners of a file at the root of the repository by a CODEOWNERS text, [] for none. The last matching line
    counts, even when it names nobody."""
    owners: list[str] = []
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and fnmatchcase(path, words[0].removeprefix("**/").removeprefix("/")):
            owners = words[1:]
    return owners
