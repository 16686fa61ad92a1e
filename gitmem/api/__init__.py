"""The Python API: memory from a program, with the same results as the commands (docs/api.md).

Like the command line, it opens the repository, reads settings and clock, and calls the flows. Every method returns the
value that its command prints with `--json` (docs/json.md). It raises `gitmem.errors.GitMemError` with a message and a
hint, prints nothing, and never ends the process. All writes pass the gate. A program may type its own functions with
the three protocols `OrganisationMemory`, `ProjectMemory` and `SessionMemory`, and replace them in its tests.

    from gitmem import api

    with api.open("~/memory") as memory:
        memory.add("We use REST webhooks: easier to debug", type="decision")
        for hit in memory.search("why webhooks")["hits"]:
            print(hit["path"], hit["start_line"], hit["text"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.api.memory import Memory, open
from gitmem.api.ports import OrganisationMemory, ProjectMemory, SessionMemory
from gitmem.api.reading import Organisation
from gitmem.api.session import Session
from gitmem.api.values import Added, Corrected, Episode, Flushed, Insight, KeptValue, SessionValue, Turn, Value
from gitmem.memory.relation import Kind, Relation, Said, relation

if TYPE_CHECKING:

    def _fit(
        memory: Memory, organisation: Organisation, session: Session
    ) -> tuple[ProjectMemory, OrganisationMemory, SessionMemory]:
        """Lets the type checker compare the implementations with the protocols."""
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
