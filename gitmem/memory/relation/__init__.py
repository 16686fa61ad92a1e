"""What a later statement does to an earlier one: says the same, adds, is of another thing, replaces, ends, conflicts.

`relation` compares subject, property and value of two statements and nothing else. It is pure, knows four languages,
calls no model, and changes nothing: who may act on its answer is decided by the callers (docs/relations.md).
"""

from gitmem.memory.relation.judgement import Kind, Relation, Said, about_health, relation

__all__ = ["Kind", "Relation", "Said", "about_health", "relation"]
