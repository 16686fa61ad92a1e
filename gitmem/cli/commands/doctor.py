"""`git mem doctor`: compare the index with Git and check the set-up; print what is wrong and what to type."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import click

from gitmem.agents import host_checks
from gitmem.cli.forge_access import forge_client
from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, first_names, page, paint, say, uses_colour, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, MissingFile
from gitmem.gate import setup_checks
from gitmem.gate.setup_checks import Check
from gitmem.git.hooks.folder import hooks_folder
from gitmem.git.opening import Repository
from gitmem.git.transaction import writer
from gitmem.index import doctor, index_file, indexer
from gitmem.memory.adoption import unread_folders
from gitmem.memory.facts import parse_lines
from gitmem.memory.retention import SOON_DAYS, ending_soon
from gitmem.memory.show import read
from gitmem.memory.snapshot import hint_for_ignored, words_on_ignored
from gitmem.plural import counted
from gitmem.review import publish, remote_protection
from gitmem.review.forges.github import GitHubClient
from gitmem.review.forges.location import forge_of

MEMORY = "MEMORY.md"
MAX_NAMED = 10  # facts that end soon, or folders with memory, that one check names


@click.command()
@click.option("--repair", is_flag=True, help="Put back what a killed run wrote; build an index that is wrong again.")
@click.option("--remote", is_flag=True, help="Ask GitHub too: required checks, code owners, no forced pushes.")
@json_option
def command(repair: bool, remote: bool, as_json: bool) -> int:
    """Check the index and the set-up against what they should be.

    Tree, chunks, words and vectors of the index are compared with Git. Every memory file is read and parsed again, and
    what is stored must be what comes out. Also whether the gate stands as it was put up: hooks, pinned revisions,
    modes, exceptions, settings; which facts end in the next 30 days; what hooks of hosts could not do; and what a run
    that was killed has left, Git's locks and a merge that has not ended. Exit 1 when a check finds something wrong.
    """
    repo, config = open_here()
    if repair:
        _undo_killed_run(repo)
    checks = _index_checks(repo, config, repair=repair) + _setup_checks(repo, config)
    if remote:
        checks += _remote_checks(repo)
    failed = [check for check in checks if check.wrong]
    if as_json:
        write_json({"ok": not failed, "checks": checks})
    else:
        page(render(checks, uses_colour("auto")), wrap=True)
    return Exit.findings_if(failed)


def _undo_killed_run(repo: Repository) -> None:
    """Put back what a killed run wrote into the work tree, and print the paths. Does nothing in a bare repository."""
    if repo.root is not None:
        with writer(repo) as undone:
            for path in undone:
                say(f"{path} is as it was before a run that was killed")


def _index_checks(repo: Repository, config: Config, *, repair: bool) -> list[Check]:
    """The checks of the index. With `repair` an index that is wrong is built again first, which is printed."""
    checks = doctor.examine(repo, config)
    if repair and any(check.wrong for check in checks):
        say("deleting the index and building it again")
        index_file.discard(repo)
        indexer.refresh(repo, config)
        checks = doctor.examine(repo, config)
    return checks


def _setup_checks(repo: Repository, config: Config) -> list[Check]:
    """The checks of the set-up: unfinished work, hosts, the gate, facts that end soon, folders that nothing reads."""
    return [
        *doctor.unfinished(repo),
        *host_checks.all_checks(repo, now()),
        *setup_checks.gate_checks(repo, config, hooks_folder(repo), now().date()),
        _endings(repo, config),
        *_ignored_memory(repo),
        *_unread_folders(repo, config),
    ]


def render(checks: Sequence[Check], in_colour: bool) -> str:
    """A line for each check, `ok` or `wrong`, and below it the hint, if there is one."""
    rows: list[str] = []
    for check in checks:
        detail = check.wrong or check.detail
        state = paint("ok", "good", in_colour) + "   "
        if check.wrong:
            state = paint("wrong", "bad", in_colour)
        rows.append(f"{state}  {': '.join(map(escape, filter(None, (check.name, detail))))}")
        if check.hint:
            rows.append(f"       {escape(check.hint)}")
    return "".join(f"{row}\n" for row in rows)


def _endings(repo: Repository, config: Config) -> Check:
    """A check, never wrong, that names the facts of MEMORY.md that end soon."""
    try:
        soon = ending_soon(parse_lines(read(repo, config, MEMORY, "").lines).facts, now().date())
    except MissingFile:
        soon = []
    detail, hint = f"{counted(len(soon), 'fact')} in the next {SOON_DAYS} days", ""
    if soon:
        detail += f": {first_names([f'{MEMORY}:{fact.line} on {day}' for day, fact in soon], MAX_NAMED)}"
        hint = "git mem edit PATH:LINE --until DAY --reason WHY keeps one"
    return Check("endings", hint=hint, detail=detail)


def _ignored_memory(repo: Repository) -> list[Check]:
    """A check, never wrong, that says that Git ignores MEMORY.md, if it does: some people keep it out of a project's
    history. [] if it does not."""
    if repo.root is None or not (repo.root / MEMORY).is_file() or not repo.ignored([MEMORY]):
        return []
    return [Check("ignored", detail=words_on_ignored([MEMORY]), hint=hint_for_ignored([MEMORY]))]


def _unread_folders(repo: Repository, config: Config) -> list[Check]:
    """A check, never wrong, that names folders of memory (`packages/api/memory/`) that no setting includes; [] if there
    are none."""
    if repo.root is None:
        return []
    globs = unread_folders(repo, config.memory_paths)
    if not globs:
        return []
    detail = f"nothing reads {first_names(globs, MAX_NAMED)}"
    listed = json.dumps(globs[:MAX_NAMED], ensure_ascii=False)
    return [Check("folders", detail=detail, hint=f"where that is memory: [memory] paths = {listed} in .gitmem.toml")]


def _remote_checks(repo: Repository) -> list[Check]:
    """Checks of the protection of GitHub's default branch; one that is wrong if they cannot be made, so that the checks
    of this clone are shown."""
    try:
        return _protection(repo)
    except GitMemError as error:
        return [Check("remote", error.message, error.hint)]


def _protection(repo: Repository) -> list[Check]:
    """The checks of `remote_protection`. Raises GitMemError if `origin` is not at GitHub or there is no token,
    ForgeError if GitHub does not answer."""
    forge = forge_of(publish.remote_url(repo, "origin"), os.environ)
    client = forge_client(forge) if forge else None
    if not isinstance(client, GitHubClient) or client.forge.name != "GitHub":
        raise GitMemError("--remote asks GitHub, and 'origin' is not there or there is no token", "set GITHUB_TOKEN")
    branch = client.default_branch()
    return remote_protection.examine(repo, client, repo.resolve(f"refs/remotes/origin/{branch}"))
