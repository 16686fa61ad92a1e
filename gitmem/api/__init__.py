"""The Python API: memory from a program, with the same results as the commands (docs/api.md).

An entry point, as the command line is: it opens the repository, reads the settings and the clock, and calls the
flows. Every method returns the value that its command prints with `--json` (docs/json.md), raises
`gitmem.errors.GitMemError` with a message and a hint, prints nothing, and never ends the process. Whatever it writes
passes the gate. The three ports (`OrganisationMemory`, `ProjectMemory`, `SessionMemory`) are what a program may type
its own functions with, and replace in its tests.

    from gitmem import api

    with api.open("~/memory") as memory:
        memory.add("We use REST webhooks: easier to debug", type="decision")
        for hit in memory.search("why webhooks")["hits"]:
            print(hit["path"], hit["start_line"], hit["text"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.api.memory import Memory, open
from gitmem.api.organisation import Organisation
from gitmem.api.ports import OrganisationMemory, ProjectMemory, SessionMemory
from gitmem.api.session import Session
from gitmem.api.values import Added, Corrected, Episode, Flushed, Insight, KeptValue, SessionValue, Turn, Value
from gitmem.memory.relation import Kind, Relation, Said, relation

if TYPE_CHECKING:

    def _fit(
        memory: Memory, organisation: Organisation, session: Session
    ) -> tuple[ProjectMemory, OrganisationMemory, SessionMemory]:
        """The type checker says here whether the implementations still fit the ports."""
        return memory, organisation, session


__all__ = [
    "Added",
    "Corrected",
    "Episode",
    "Flushed",
    "Insight",
    "KeptValue",
    "Kind",
    "Memory",
    "Organisation",
    "OrganisationMemory",
    "ProjectMemory",
    "Relation",
    "Said",
    "Session",
    "SessionMemory",
    "SessionValue",
    "Turn",
    "Value",
    "open",
    "relation",
]
