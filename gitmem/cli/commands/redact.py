"""`git mem redact`: mask in place what `scan` finds."""

from __future__ import annotations

import click

from gitmem.cli.commands.scan import inside
from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.gate import sources
from gitmem.gate.examine import decode
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from gitmem.git.opening import Repository


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--staged", is_flag=True, help="Mask what is staged as well, so that the next commit has it masked.")
@click.option("--dry-run", is_flag=True, help="Say what would be masked, and do nothing.")
@json_option
def command(paths: tuple[str, ...], staged: bool, dry_run: bool, as_json: bool) -> None:
    """Mask secrets, personal data and whatever else `git mem scan` finds in PATHS, in place.

    Lines keep their numbers. A secret that was committed stays in history: rotate it first (docs/leaked-secret.md).
    A daily log that is masked needs a Memory-Rewrite trailer; the commit-msg hook adds it by itself.
    """
    repo, _ = open_here()
    if repo.root is None:
        raise GitMemError("a bare repository has no files", "run it in a clone")
    today = now().date()
    names = [inside(repo, path) for path in paths]
    policy = sources.staged_policy(repo, today) if staged else sources.worktree_policy(repo, today)
    done = _staged(repo, names, policy, dry_run) if staged else []
    done += _files(repo, names, policy, dry_run, must=not staged)
    if as_json:
        rows = [{"path": path, "where": where, "rules": rules} for path, where, rules, _ in done]
        write_json({"redacted": rows, "dry_run": dry_run})
    else:
        for path, where, rules, _ in done:
            write(escape(f"{path} ({where}): {', '.join(rules)}", keep="") + "\n")
        if not done:
            write("nothing to mask\n")
    if done and not dry_run:
        from gitmem.gate import redaction_record

        redaction_record.note(repo, [(path, oid) for path, _, _, oid in done])
        say("a real secret is rotated first: masking does not take it back (docs/leaked-secret.md)")


Done = list[tuple[str, str, list[str], str]]  # path, where, rules, oid of the masked blob


def _files(repo: Repository, names: list[str], policy: Policy, dry: bool, must: bool) -> Done:
    from gitmem.git.worktree import write_atomic

    assert repo.root is not None
    done: Done = []
    present = [name for name in names if must or (repo.root / name).exists()]
    source = sources.paths(repo, present, policy) if present else sources.Source(iter(()))
    for blob in source.blobs:
        if blob.skipped:
            say(f"{blob.path}: {blob.skipped}")
            continue
        data, rules = _masked(blob.data, blob.path, policy)
        if rules:
            if not dry:
                write_atomic(repo.root, blob.path, data)
            done.append((blob.path, "work tree", rules, repo.hash_blob(data)))
    return done


def _staged(repo: Repository, names: list[str], policy: Policy, dry: bool) -> Done:
    from gitmem.git.write import stage_bytes

    done: Done = []
    entries = [e for e in repo.staged() if any(n in ("", e.path) or e.path.startswith(f"{n}/") for n in names)]
    for entry in entries:
        if entry.mode in sources.LINKS or not (entry.path in names or policy.concerns(entry.path)):
            continue
        for blob in sources.read(repo, [(entry.path, entry.oid, "")], policy):
            if blob.skipped:
                say(f"{blob.path}: {blob.skipped}")
                continue
            data, rules = _masked(blob.data, entry.path, policy)
            if rules:
                if not dry:
                    stage_bytes(repo, entry.path, data, entry.mode)
                done.append((entry.path, "staged", rules, repo.hash_blob(data)))
    return done


def _masked(data: bytes, path: str, policy: Policy) -> tuple[bytes, list[str]]:
    from gitmem.gate.redaction import redact

    text, problem = decode(data)
    found = scan_text(text, path, policy)
    if not found and not problem:
        return data, []
    rules = list(dict.fromkeys([f.rule for f in found] + (["not-text"] if problem else [])))
    return redact(text, path, policy).encode("utf-8", "replace"), rules
