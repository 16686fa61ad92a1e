"""The settings in force, as a value: one field for each setting, with its default.

`settings` has the meaning of each, and who may set it. `loading.load` makes the values in force.
"""

from __future__ import annotations

from typing import NamedTuple

TRACKED = ".gitmem.toml"  # the settings file of a repository, which a clone brings


class Config(NamedTuple):
    """The settings in force. Field `max_facts` is `mem.maxFacts` in Git's configuration.

    A named tuple, since a search does not import `dataclasses`, which takes 5 ms.
    """

    # memory files, its writer, and memory beside it
    memory_paths: tuple[str, ...] = ()
    memory_daily: tuple[str, ...] = ()
    agent: str = ""
    profile: str = ""
    organisation: str = ""
    personal: str = ""
    retention: tuple[str, ...] = ()
    # context
    context_budget: int = 1600
    context_layer: tuple[str, ...] = ()
    context_preset: str = "none"
    context_similarity: float = 0.7
    context_recency: float = 0.2
    context_importance: float = 0.1
    context_decay: float = 0.002
    context_evidence: float = 0.5
    context_ceiling: int = 0
    tokenizer: str = "pieces"
    # sessions
    session_window: int = 0
    session_reserve: int = 20_000
    session_soft: int = 4_000
    session_share: float = 0.75
    session_flush: bool = True
    session_promote: bool = False
    distill_after: int = 0
    session_model: str = "rules"
    session_prompt: str = ""
    session_reset: str = "never"
    session_hour: int = 4
    session_idle: int = 60
    # index
    history_repos: tuple[str, ...] = ()
    auto_index: bool = True
    embedder: str = "static"
    query_prefix: str = "auto"
    passage_prefix: str = "auto"
    http_seconds: int = 30
    http_key_file: str = ""
    chunk_size: int = 200
    chunk_overlap: int = 0
    # search
    # Defaults of ranking. `search/weights` names the measurement behind each, and has the constants without a setting.
    # A test checks that the shares of the two lanes are the sums of `weights.WEIGHTS`.
    search_lexical: float = 0.51
    search_vector: float = 0.49
    search_floor: float = 0.0
    search_pool: int = 28
    search_similarity: float = 1.0
    search_recency: float = 0.02
    search_decay: float = 0.0077  # half in 90 days
    search_importance: float = 0.04
    search_weight: tuple[str, ...] = ()
    rerank_hits: int = 20
    # encrypted files
    encryption: str = "none"
    # gate
    detect_secrets: bool = False
    on_secret: str = "refuse"
    on_personal: str = "mask"
    check_gone: str = "warn"
    gate: str = "standard"
    protected: tuple[str, ...] = ()
    # promotion
    model: str = "rules"
    model_use: str = "auto"
    model_seconds: int = 300
    model_tokens: int = 20_000
    max_facts: int = 20
    memory_lines: int = 200
    # how the values came to be, no settings
    origins: tuple[tuple[str, str], ...] = ()  # (field, origin) of each value that is not the default
    warnings: tuple[str, ...] = ()  # one sentence for each ignored setting
