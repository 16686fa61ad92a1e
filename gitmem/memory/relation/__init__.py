"""Judge what a later statement does to an earlier one: repeats, adds to, replaces, ends, conflicts, or is about another
thing.

`relation` compares the subject, the property and the value of two statements. It is pure, works in four languages and
calls no language model. It changes nothing: its callers decide who may act on the result (docs/relations.md).
"""

from gitmem.memory.relation.judgement import Kind, Relation, Said, about_health, relation

__all__ = ["Kind", "Relation", "Said", "about_health", "relation"]
