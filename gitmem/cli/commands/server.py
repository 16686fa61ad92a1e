"""`git mem server`: serve one search over an organisation's repositories, from PostgreSQL.

The commands import the server's modules inside functions, since they need the packages of the extra `server`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from gitmem.cli.options import json_option
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.plural import counted
from gitmem.server.settings import PORT, Settings

DEV_TENANT = "local"  # the one tenant of `git mem server dev`


@click.group()
@click.option("--config", "file", type=click.Path(path_type=Path, dir_okay=False), help="The server's TOML file.")
@click.pass_context
def command(context: click.Context, file: Path | None) -> None:
    """Serve one search over many repositories, from PostgreSQL.

    docs/server.md says how. The truth stays in Git: the database has no text of memory, and `rebuild` makes it again.
    Needs the extra `server`.

    \b
    git mem server dev ./try --repository .      # try it: PostgreSQL in a folder
    git mem server run --help
    """
    context.obj = file


def _settings(context: click.Context) -> Settings:
    """The server's settings, from --config and the environment. Raises GitMemError without the extra `server`."""
    from importlib.util import find_spec

    if not all(map(find_spec, ("psycopg_pool", "starlette", "uvicorn", "mcp", "numpy", "prometheus_client"))):
        raise GitMemError("the server is not installed", "pip install 'git-mem[server]'")
    from gitmem.server.settings import read

    return read(context.obj, os.environ)


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--repository", "addresses", multiple=True, metavar="PATH|URL", help="Index this one; may be repeated.")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True, help="Where to listen.")
@click.pass_context
def dev(context: click.Context, folder: Path, addresses: tuple[str, ...], port: int) -> None:
    """Try it on this machine, with a PostgreSQL in FOLDER.

    Makes one tenant and prints a token; Ctrl-C ends server and database.
    """
    _settings(context)
    from gitmem.server.administration import administration
    from gitmem.server.embedded_postgres import development
    from gitmem.server.processes import serve

    with development(folder, port, say) as settings:
        with administration(settings.secret("OWNER_DATABASE_URL")) as owner:
            tenant = owner.tenant(DEV_TENANT, make=True)
            for place in addresses:
                local = Path(place).expanduser()
                address = os.path.abspath(local) if local.exists() else place
                owner.add_repository(tenant, os.path.basename(address.rstrip("/")).removesuffix(".git"), address)
            owner.revoke(tenant, "dev")
            new_token = owner.new_token(tenant, "dev", "admin", (), 0, now())
        write(f"address  http://127.0.0.1:{port}\ntoken    {new_token}\n")
        say(f"git mem search --server http://127.0.0.1:{port} WORDS, with GITMEM_SERVER_TOKEN set; Ctrl-C ends it")
        serve(settings)


@command.command()
@click.pass_context
def run(context: click.Context) -> None:
    """Serve REST, MCP over HTTP and webhooks, and index."""
    from gitmem.server.processes import serve

    serve(_settings(context))


@command.command()
@click.pass_context
def migrate(context: click.Context) -> None:
    """Make the tables or bring them up to date, as their owner."""
    settings = _settings(context)
    from gitmem.server.postgres.database import migrate as bring_up_to_date

    steps = bring_up_to_date(settings.secret("OWNER_DATABASE_URL"))
    write(f"{counted(len(steps), 'step')} run\n")


@command.command()
@click.argument("tenant")
@click.argument("repository", required=False)
@click.argument("address", required=False)
@click.option("--remove", is_flag=True, help="Take REPOSITORY out: its rows, what only it had, and its copy.")
@json_option
@click.pass_context
def repositories(
    context: click.Context, tenant: str, repository: str | None, address: str | None, remove: bool, as_json: bool
) -> None:
    """List the repositories of TENANT, or add one.

    REPOSITORY is the name it gets, ADDRESS where it is fetched from. A tenant is made with its first repository.
    """
    with _owner(context) as owner:
        number = owner.tenant(tenant, make=bool(address))
        if repository and remove:
            owner.remove_repository(number, repository)
            say(f"'{escape(repository)}' is taken out by the next worker")
        elif repository and address:
            owner.add_repository(number, repository, address)
            say(f"'{escape(repository)}' is fetched by the next worker")
        elif repository:
            raise GitMemError("no address is given", "git mem server repositories TENANT REPOSITORY ADDRESS")
        _table(owner.repositories(number), as_json, "no repositories yet")


@command.command()
@click.argument("tenant")
@click.argument("name")
@click.option("--scope", type=click.Choice(["read", "propose", "admin"]), default="read", show_default=True,
              help="What it may do.")  # fmt: skip
@click.option("--repository", "repositories", multiple=True, help="Only this repository; may be repeated.")
@click.option("--days", type=click.IntRange(0, 3650), default=90, show_default=True, help="It ends after; 0: never.")
@click.option("--rotate", is_flag=True, help="Make one like the newest of this name; the others end later.")
@click.option("--overlap", type=click.IntRange(0, 8760), default=24, show_default=True, metavar="HOURS",
              help="With --rotate: the others hold for so long.")  # fmt: skip
@click.option("--revoke", is_flag=True, help="Revoke the tokens of this name instead, at once.")
@click.pass_context
def token(
    context: click.Context, /, tenant: str, name: str, revoke: bool, rotate: bool, overlap: int, **new: Any
) -> None:
    """Make a token for TENANT, and print it this once.

    Tokens of the same NAME hold until they end or are revoked. With --rotate the new one has the scope and the
    repositories of the newest; change the client while both hold.
    """
    from click.core import ParameterSource

    typed = [key for key in ("scope", "repositories") if context.get_parameter_source(key) != ParameterSource.DEFAULT]
    if rotate and (revoke or typed):
        raise UsageError("--rotate goes with --days and --overlap alone", "it keeps scope and repositories")
    with _owner(context) as owner:
        number = owner.tenant(tenant)
        if revoke:
            write(f"{counted(owner.revoke(number, name), 'token')} revoked\n")
        elif rotate:
            write(owner.rotate(number, name, new["days"], overlap, now()) + "\n")
            say(f"the other tokens '{escape(name)}' end in {counted(overlap, 'hour')}")
        else:
            write(owner.new_token(number, name, new["scope"], new["repositories"], new["days"], now()) + "\n")


@command.command()
@click.option("--retry", is_flag=True, help="Run again what failed for good.")
@json_option
@click.pass_context
def jobs(context: click.Context, retry: bool, as_json: bool) -> None:
    """Show the queue: what waits, runs, and failed for good."""
    with _owner(context) as owner:
        if retry:
            say(f"{counted(owner.retry(), 'job')} ready again")
        _table(owner.jobs(), as_json, "the queue is empty")


@command.command()
@click.argument("tenant")
@click.argument("repository")
@click.option("--blob", "oid", default="", metavar="OID", help="And what is left of this blob in it.")
@json_option
@click.pass_context
def audit(context: click.Context, tenant: str, repository: str, oid: str, as_json: bool) -> int:
    """Show what is there of REPOSITORY, and who asked.

    For a repository that was removed it counts what is left in the tables and, run with the server's --config where its
    copies are, on disk; with --blob the same for a blob that a rewritten history dropped. Exits 1 where something is
    left.
    """
    from gitmem.server.mirrors import Mirrors

    mirrors = Mirrors(_settings(context).state / "mirrors", os.environ)
    with _owner(context) as owner:
        value = owner.audit(owner.tenant(tenant), repository, mirrors=mirrors, oid=oid)
    copy = value["copy"]
    remaining = [value["blob"] or 0, *value["unreachable"].values()]
    if copy:
        remaining += [copy["blob"], copy["unreachable"]]
    if not value["there"]:
        remaining += value["rows"].values()
        if copy:
            remaining.append(copy["copies"])
    if as_json:
        write_json(value)
    else:
        _show_audit(repository, value)
    return Exit.findings_if(any(remaining))


def _show_audit(repository: str, value: dict[str, Any]) -> None:
    """Print whether the server has anything of a repository: the number of rows, of unreachable objects and of copies,
    and who asked for it."""
    write(f"{escape(repository)}: {'there' if value['there'] else 'not there'}\n")
    counts = {**value["rows"], **{f"unreachable {key}": count for key, count in value["unreachable"].items()}}
    if value["blob"] is not None:
        counts["entry of the blob"] = value["blob"]
    if value["copy"] is not None:
        counts |= {"copy": value["copy"]["copies"], "unreachable objects of a copy": value["copy"]["unreachable"]}
        if value["blob"] is not None:
            counts |= {"blob in a copy": value["copy"]["blob"]}
    for label, count in counts.items():
        write(f"{count:>10}  {label}\n")
    if value["copy"] is None:
        say("no copies lie on this machine as it is set up: --config FILE names the server's")
    requests = [{**row, "token": f"token {row['token'] or ''}".rstrip()} for row in value["asked"]]
    _table(requests, as_json=False, empty="nobody asked of it")


@command.command()
@click.argument("tenant")
@click.option("--drop", is_flag=True, help="Drop it instead.")
@json_option
@click.pass_context
def approximate(context: click.Context, tenant: str, drop: bool, as_json: bool) -> None:
    """Make an approximate index (HNSW) of TENANT's vectors.

    For a tenant of some 200,000 chunks or more. Built while the server goes on; it makes an ingest slower.
    """
    with _owner(context) as owner:
        count = owner.approximate(owner.tenant(tenant), drop=drop)
    state = "dropped" if drop else "there"
    if as_json:
        write_json({state: count})
    else:
        write(f"{counted(count, 'index', 'indexes')} {state}\n")


@command.command()
@click.argument("tenant")
@click.pass_context
def rebuild(context: click.Context, tenant: str) -> None:
    """Delete the index of TENANT; workers make it anew from Git."""
    with _owner(context) as owner:
        count = owner.forget_index(owner.tenant(tenant))
    write(f"{counted(count, 'repository', 'repositories')} to be indexed again\n")


def _owner(context: click.Context) -> Any:
    """A context manager for the database's administration, as the owner of its tables."""
    settings = _settings(context)
    from gitmem.server.administration import administration

    return administration(settings.secret("OWNER_DATABASE_URL"))


def _table(rows: list[dict[str, Any]], as_json: bool, empty: str) -> None:
    """Print the rows, as JSON or with the values of each row on one line; `empty` without rows."""
    if as_json:
        write_json(rows)
        return
    if not rows:
        say(empty)
    for row in rows:
        write("  ".join(escape(str(value), "") for value in row.values() if value not in (None, "", [])) + "\n")
