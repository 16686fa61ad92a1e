"""`git mem check`: find the lines of memory and of agents' instructions that the code no longer bears out."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gitmem import __version__
from gitmem.claims import baseline, documents
from gitmem.claims.check import check
from gitmem.claims.finding import Finding, State
from gitmem.claims.mending import mend
from gitmem.claims.report import as_annotations, as_sarif, key_of, words_of
from gitmem.claims.transition import became_false
from gitmem.cli import completions
from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, page, say, write, write_json
from gitmem.config import Config
from gitmem.errors import Exit, UsageError
from gitmem.git.opening import Repository
from gitmem.messages import Message
from gitmem.plural import counted


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--base", default="", shell_complete=completions.revisions, metavar="REV",
    help="Only what became false since the merge base with REV.",
)  # fmt: skip
@click.option("--suspect", is_flag=True, help="Also what never stood in history, and cited code that changed.")
@click.option("--fix", is_flag=True, help="Write the new paths of renames, in one commit.")
@click.option("--new-baseline", is_flag=True, help="Write .gitmem/check-baseline: what is found now is said no more.")
@click.option(
    "--format", "form", type=click.Choice(["text", "sarif", "github"]), default="text",
    help="SARIF 2.1.0, or annotations of a GitHub workflow.",
)  # fmt: skip
@json_option
def command(
    paths: tuple[str, ...], base: str, suspect: bool, fix: bool, new_baseline: bool, form: str, as_json: bool
) -> int:  # fmt: skip
    """Say which lines the code has left behind.

    Compares what memory and agents' instructions at HEAD say of paths, commands, names, versions and ports, and the
    code that facts cite, with the files of HEAD. Runs nothing. Exit 1 when something is gone. PATH narrows the files
    that are read.

    \b
    git mem check
    git mem check --base origin/main
    """
    if fix and (base or new_baseline):
        raise UsageError("--fix goes without --base and --new-baseline")
    repo, config = open_here()
    findings, claims, notes = _findings(repo, config, paths, base, suspect=suspect, new_baseline=new_baseline)
    for note in notes:
        say(f"note: {note}")
    if fix:
        findings = _fix(repo, findings)
    if new_baseline:
        baseline.write(repo, findings)
        say(f"{baseline.PATH}: {counted(len(findings), 'finding')}; commit it")
        return Exit.DONE
    if as_json:
        write_json({"findings": findings})
    elif form == "sarif":
        page(as_sarif(findings, __version__))
    elif form == "github":
        write(as_annotations(findings, escape))
    else:
        write("".join(_line(finding) for finding in findings))
        say(f"{counted(claims, 'claim')} looked at, {counted(len(findings), 'finding')}")
    return Exit.findings_if(any(finding.sure and finding.state is State.GONE for finding in findings))


def _findings(
    repo: Repository, config: Config, paths: Sequence[str], base: str, *, suspect: bool, new_baseline: bool
) -> tuple[list[Finding], int, list[str]]:
    """(the findings to report, the number of claims about files that were checked, notes on what could not be checked).
    Without --base these are all claims of HEAD that are wrong; with it, those that became wrong since."""
    head = repo.head()
    if head is None:
        return [], 0, ["there is no commit yet"]
    if base:
        base = repo.resolve(base)
    paths = [path.strip("/").removeprefix("./") for path in paths]
    texts = documents.read(repo, head, config.memory_daily, paths)
    for path in paths:
        if not any(f"{entry.path}/".startswith(f"{path}/") for entry in texts.entries):
            raise UsageError(Message("'{}' is no file or folder of HEAD", path), "git mem check --base REV for a range")
    if base:
        findings, notes = became_false(repo, repo.merge_base(base, head) or base, head, texts)
        return findings, len(texts.claims), [*texts.notes, *notes]
    checked = check(repo, head, texts)
    accepted = frozenset() if new_baseline else baseline.read(repo, head)
    chosen = (finding for finding in checked.findings if finding.sure or suspect)
    findings = [finding for finding in chosen if key_of(finding) not in accepted]
    return findings, checked.claims, checked.notes


def _line(finding: Finding) -> str:
    """A finding as one line of output, with its newline."""
    mark = finding.state.value if finding.sure else "suspect"
    return escape(f"{finding.path}:{finding.line}: {mark} {finding.kind} {words_of(finding)}", "") + "\n"


def _fix(repo: Repository, findings: list[Finding]) -> list[Finding]:
    """Write the new paths of renamed files into memory, in one commit, and print it. Returns the findings that
    remain."""
    fixed, commit = mend(repo, findings)
    if commit:
        say(f"committed {commit[:12]}: {counted(len(fixed), 'path')} of {counted(len(findings), 'finding')}")
    else:
        say("no finding is a rename whose path the line spells out")
    return [finding for finding in findings if finding not in fixed]
