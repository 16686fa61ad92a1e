"""Judges the effect of a later statement on an earlier one: it repeats it, adds to it, replaces it, ends it, conflicts
with it, or is about another thing.

`relation` compares the subject, the property and the value of two statements. It is pure, works in four languages and
calls no language model. It changes nothing: its callers decide whether to act on the result (docs/relations.md).
"""

from gitmem.memory.relation.judgement import DISAGREE, Kind, Relation, Said, about_health, relation

__all__ = ["DISAGREE", "Kind", "Relation", "Said", "about_health", "relation"]
