"""Whether the forge keeps what a review asks for: required checks, reviews by code owners, no forced pushes.

Asked of GitHub's rulesets for the default branch, and of the CODEOWNERS that its commit has. Reads only.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from gitmem.gate.setup_checks import Check
from gitmem.git.objects import REGULAR
from gitmem.git.repository import Repository
from gitmem.review.forges.forge import ForgeError
from gitmem.review.forges.github import GitHubClient

OWNED = ("MEMORY.md", "SOUL.md", ".gitmem.toml", ".gitmem-allow.toml")  # what decides what agents read, and the gate
PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")  # the first that is there counts
RECIPE = "docs/review.md of git-mem has the ruleset and the CODEOWNERS to copy"


def examine(repo: Repository, client: GitHubClient, commit: str) -> list[Check]:
    """The checks of a repository at GitHub; `commit` is its default branch as it is here. Raises ForgeError."""
    branch = client.default_branch()
    rules = client.rules(branch)
    kinds = {str(rule.get("type")) for rule in rules}
    if "non_fast_forward" in kinds:
        forced = ""
    else:
        forced = f"'{branch}' can be pushed to by force"
    return [
        _required(rules, branch),
        _owner_review(rules, branch),
        Check("no forced pushes", forced, RECIPE if forced else ""),
        _owned(repo, client, commit),
    ]


def _required(rules: list[dict[str, object]], branch: str) -> Check:
    """Which checks a merge waits for."""
    names = []
    for rule in rules:
        parameters = rule.get("parameters")
        if rule.get("type") == "required_status_checks" and isinstance(parameters, dict):
            listed = parameters.get("required_status_checks")
            names += [str(row.get("context")) for row in listed or () if isinstance(row, dict)]
    if names:
        wrong = ""
    else:
        wrong = f"no check is required on '{branch}': what the scan refuses can be merged"
    return Check("required checks", wrong, RECIPE if wrong else "", ", ".join(sorted(names)))


def _owner_review(rules: list[dict[str, object]], branch: str) -> Check:
    """Whether a merge waits for the owners of what it changes."""
    asked = [rule.get("parameters") for rule in rules if rule.get("type") == "pull_request"]
    if any(isinstance(row, dict) and row.get("require_code_owner_review") is True for row in asked):
        return Check("review by code owners")
    return Check("review by code owners", f"'{branch}' takes changes that no code owner has reviewed", RECIPE)


def _owned(repo: Repository, client: GitHubClient, commit: str) -> Check:
    """Whether each of OWNED has an owner, in a file that GitHub finds nothing wrong with."""
    files = {entry.path: entry for entry in repo.entries(commit, list(PLACES)) if entry.mode == REGULAR}
    place = next((path for path in PLACES if path in files), "")
    if not place:
        return Check("CODEOWNERS", "there is none on the default branch", RECIPE)
    text = repo.read(files[place].oid).decode("utf-8", "replace")
    without = [path for path in OWNED if not owners_of(text, path)]
    if without:
        return Check("CODEOWNERS", f"{', '.join(without)}: nobody owns what agents read or are checked by", RECIPE)
    try:
        errors = client.owners_errors()
    except ForgeError as error:
        if error.status != 404:
            raise
        errors = []  # GitHub does not have this commit yet
    return Check("CODEOWNERS", "; ".join(errors[:3]), f"mend {place}" if errors else "", place)


def owners_of(text: str, path: str) -> list[str]:
    """The owners of a file at the root by a CODEOWNERS text: those of the last line that matches, which may be none."""
    owners: list[str] = []
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and fnmatchcase(path, words[0].removeprefix("**/").removeprefix("/")):
            owners = words[1:]
    return owners
