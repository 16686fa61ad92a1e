"""The examples of every rule of the gate's detectors: texts that it must flag and texts that it must let pass.

A detector states its examples itself (`EXAMPLES`). Those of secrets and of personal data are made here, so that no
token and no number of a person stands in the source.
"""

from __future__ import annotations

from importlib import import_module

from gitmem.gate.detectors.registry import registered
from gitmem.gate.detectors.text import Examples
from tests.detector_examples.personal import personal_examples
from tests.detector_examples.secrets import plugin_examples, secret_examples, table_examples


def examples(name: str) -> dict[str, Examples]:
    """The examples of a detector, by the name of the rule. Raises KeyError for an unknown detector."""
    match name:
        case "secrets":
            return secret_examples()
        case "passwords" | "cookies":
            return table_examples(name)
        case "pii":
            return personal_examples()
        case "plugins":
            return plugin_examples()
    table: dict[str, Examples] = import_module(registered(name).module).EXAMPLES
    return table
