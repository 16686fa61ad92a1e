"""Recognises values that name a thing and open none, by the label beside them: commits, transactions, addresses,
models.

`커밋 3f2a...`, `tx 0x...`, `mint: 7xKX...` stand in notes about keys and tokens as often as the keys themselves. Pure
functions of one value in its line.
"""

from __future__ import annotations

from gitmem.gate.detectors.secrets.rule_tables import patterns

_GIT_LENGTHS = frozenset([*range(7, 17), 40, 64])


def is_named_id(low: str, start: int, end: int) -> bool:
    """Whether the label before or behind `low[start:end]` (text in lower case) says that the value names a thing."""
    value, before = low[start:end], low[max(0, start - 32) : start]
    if patterns.public_label_before.search(before):
        return True
    if patterns.hex_id.fullmatch(value) is None:
        return False
    return (
        patterns.hex_label_before.search(before) is not None
        or patterns.hex_label_behind.match(low, end, end + 40) is not None
    )


def is_resource(value: str) -> bool:
    """Whether a value is the id of a cloud's resource, a public key of a node or the name of a language model."""
    return any(
        [form.fullmatch(value) is not None for form in (patterns.resource_id, patterns.node_key, patterns.model_file)]
    )


def is_of_other_words(low: str, first: int, start: int, end: int) -> bool:
    """Whether the words between a word for a secret, which ends at `first`, and an id of Git are about something
    else."""
    value, between = low[start:end], low[first:start]
    if (
        len(value) not in _GIT_LENGTHS
        or patterns.hex_id.fullmatch(value) is None
        or patterns.id_assigned.search(between)
    ):
        return False
    return patterns.more_words.search(patterns.own_words.sub("", between)) is not None
