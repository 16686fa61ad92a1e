"""`git mem session set`, `get` and `list`: working values of sessions, kept in the Git directory.

The commands import inside functions what only some of them need: agents call `get` and `set` often.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gitmem.cli.options import agent_option, json_option, keep_option, open_here, with_kept_data
from gitmem.cli.terminal import escape, page, say, say_masked, write, write_json
from gitmem.environment import now
from gitmem.git.opening import Repository
from gitmem.json_values import json_object

if TYPE_CHECKING:
    from gitmem.sessions.working_memory import Value

owner_session_option = click.option(
    "--session", "session", default="", metavar="S", help="The session that the value is of (default: the project)."
)


@click.command("set")
@click.argument("key")
@click.argument("value")
@click.option("--ttl", type=float, default=24.0, show_default=True, help="Hours until it is dropped.")
@owner_session_option
@agent_option("Whose value it is (mem.agent); no agent: every agent's.")
@keep_option("pii: keep personal data as it is (mem.onPersonal).")
@json_option
def set_command(key: str, value: str, ttl: float, session: str, agent: str, keep: str | None, as_json: bool) -> None:
    """Keep VALUE under KEY; nothing is committed.

    KEY is entity:name[:phase[:sub]], and it is kept in the Git directory. With --session the value is that session's,
    and no other one sees it; else it is the project's. An empty VALUE forgets KEY. Secrets and personal data are masked
    in it, and that is said.
    """
    from gitmem.gate.redaction import mask_counts
    from gitmem.sessions.automation import store_value
    from gitmem.sessions.working_memory import Store, owner_of

    repo, config = open_here()
    store = Store(repo.common_dir, config.profile)
    owner = owner_of(session, agent or config.agent)
    stored, masks = store_value(store, with_kept_data(config, keep), key, value, now(), ttl, owner)
    if as_json:
        write_json({**json_object(stored), "masked": mask_counts(masks)})
    else:
        write(escape(stored.key + "\n"))
    say_masked(masks)


@click.command("get")
@click.argument("key")
@owner_session_option
@agent_option("Who reads (mem.agent).")
@json_option
def get_command(key: str, session: str, agent: str, as_json: bool) -> int:
    """Print the value of KEY; exit 1 when there is none.

    A session's value comes before the project's, an agent's own before that of every agent.
    """
    from gitmem.sessions.working_memory import Store, key_to_read, owner_of

    repo, config = open_here()
    store = Store(repo.common_dir, config.profile)
    value = store.get(key, now(), owner_of(session, agent or config.agent))
    if value:
        (value,) = _without_forgotten(repo, [value])
        if as_json:
            write_json(value)
        else:
            write(escape(value.text) + "\n")
        return 0
    if as_json:
        write_json(None)
        return 1
    say(escape(f"git mem: there is no value of '{key}'", ""))
    if any(other.key == key_to_read(key) for other in store.list_all(key, now())):
        say("hint: it is another session's or agent's: git mem session list")
    return 1


@click.command("list")
@click.argument("prefix", default="")
@owner_session_option
@agent_option("Only what this agent sees.")
@json_option
def list_command(prefix: str, session: str, agent: str, as_json: bool) -> None:
    """List the working values below PREFIX.

    Lists the values of all sessions and agents, each with its owner; with --session or --agent the values that this
    session and agent see.
    """
    from gitmem.sessions.working_memory import Store, owner_of

    repo, config = open_here()
    store = Store(repo.common_dir, config.profile)
    visible: Sequence[Value] = store.list_all(prefix, now())
    if session or agent:
        visible = store.list(prefix, now(), owner_of(session, agent or config.agent))
    values = _without_forgotten(repo, visible)
    if as_json:
        write_json({"values": values})
        return
    if not values:
        below = f" below '{prefix}'" if prefix else ""
        say(escape(f"there are no working values{below}", ""))
    lines = [escape(f"{value.key}  {value.text}{_owner_in_words(value)}", keep="") + "\n" for value in values]
    page("".join(lines), wrap=True)


def _owner_in_words(value: Value) -> str:
    """The session and agent of a value, in parentheses; "" for a value of the project."""
    names = (("session", value.owner.session), ("agent", value.owner.agent))
    words = ", ".join(f"{what} {name}" for what, name in names if name)
    return f"  ({words})" if words else ""


def _without_forgotten(repo: Repository, values: Iterable[Value]) -> list[Value]:
    """The values, without texts that a person removed from memory."""
    from gitmem.provenance.forgotten_texts import forgotten_texts

    mask = forgotten_texts(repo)
    return [replace(value, text=mask.masked(value.text)) for value in values]
