"""The settings in force, as a value: one field for each setting, with its default, unit and range.

`settings` has the whole meaning of each, and who may set it. `loading.load` makes the values in force.
"""

from __future__ import annotations

from typing import NamedTuple

TRACKED = ".gitmem.toml"  # the settings file of a repository, which a clone brings


class Config(NamedTuple):
    """The settings in force. Field `max_facts` is `mem.maxFacts` in Git's configuration.

    A share, a weight and a decay are from 0 to 1; another number without a range is 0 or more. "PATH", "URL" and other
    words in capitals stand for a value. A named tuple, since a search does not import `dataclasses`, which takes 5 ms.
    """

    # Memory files, who writes them, and the memory of others.
    memory_paths: tuple[str, ...] = ()  # globs of memory files beside the usual ones
    memory_daily: tuple[str, ...] = ()  # paths of more daily logs, with YYYY, MM and DD
    agent: str = ""  # name of the agent that writes; "": none is named
    profile: str = ""  # name of the profile in force; "": none
    organisation: str = ""  # path or URL of the organisation's memory; "": there is none
    personal: str = ""  # path or URL of the person's own memory beside any project; "": there is none
    retention: tuple[str, ...] = ()  # "TYPE=DAYSd": days that new facts of a type last; the others have no end
    # Context: the text of memory that an agent gets.
    context_budget: int = 1600  # tokens of one context, counted by `tokenizer`
    context_layer: tuple[str, ...] = ()  # limits of a layer: "LAYER [on|off] [limit=N] [budget=N] [item=N]"
    context_preset: str = "none"  # or "compact": a hard limit in characters (`context.layer_limits.PRESETS`)
    context_similarity: float = 0.7  # weights of an item's relevance: its similarity to the prompt,
    context_recency: float = 0.2  # its recency, exp(-context_decay * days),
    context_importance: float = 0.1  # and its importance
    context_decay: float = 0.002  # decay of recency for each day
    context_evidence: float = 0.5  # least evidence, 0 to 1, for an answer to a prompt or a search; 0: any is enough
    context_ceiling: int = 0  # tokens of all contexts of a session; 0: no ceiling
    tokenizer: str = "pieces"  # what counts the tokens of a context: "pieces" or "gguf:PATH"
    # Sessions: when a flush (to the daily log) or a compaction of the conversation is due, and when a session is over.
    session_window: int = 0  # tokens of the model's context window; 0: unknown, so it never counts as full
    session_reserve: int = 20_000  # tokens of the window kept for the answer
    session_soft: int = 4_000  # tokens before the reserve from which the window counts as nearly full
    session_share: float = 0.75  # share of the window from which it counts as nearly full, too
    session_flush: bool = True  # whether a host's hooks write what was decided to the daily log
    session_promote: bool = False  # whether such a flush also proposes its promotion
    distill_after: int = 0  # ended sessions after which their consolidation is proposed, 0 to 1000; 0: never
    session_model: str = "rules"  # model that also chooses what a flush keeps; as `model`
    session_prompt: str = ""  # what that model is told to select; "": the words of the package
    session_reset: str = "never"  # when a session nobody ended is over: "never", "daily", "idle" or "either"
    session_hour: int = 4  # hour of a daily reset, local time, 0 to 23
    session_idle: int = 60  # minutes without activity until an idle reset, 1 to 525,600
    # Index.
    history_repos: tuple[str, ...] = ()  # folders of other clones whose commits count as history too
    auto_index: bool = True  # whether a search brings the index up to date first
    embedder: str = "static"  # who makes the vectors of chunks: "static", "gguf:PATH" or "http:URL"
    query_prefix: str = "auto"  # before a question for the embedder: "auto", "none" or the text
    passage_prefix: str = "auto"  # before an indexed text, in the same way
    http_seconds: int = 30  # seconds for a request to an embedder's server, 1 to 3600
    http_key_file: str = ""  # path of the file with the key for "http:" servers; "": no key is sent
    chunk_size: int = 200  # tokens of a chunk, about; a token is one CJK character or four others; 20 to 4000
    chunk_overlap: int = 0  # tokens that a chunk repeats of the one before it, fewer than `chunk_size`; 0: none
    # Ranking of a search. `search/weights` names the measurement behind each default, and has the constants without a
    # setting. A test checks that the first two defaults are the sums of `weights.WEIGHTS` for words and for meaning.
    search_lexical: float = 0.51  # weight of words in a line's score
    search_vector: float = 0.49  # weight of meaning in a line's score
    search_floor: float = 0.0  # score, 0 to 1, below which a hit is left out; 0: none is
    search_pool: int = 28  # best chunks by words, and as many by meaning, whose lines are scored; 1 to 1000
    search_similarity: float = 1.0  # weight of that score beside recency and importance, 0.01 to 1
    search_recency: float = 0.02  # weight of recency, exp(-search_decay * days)
    search_decay: float = 0.0077  # decay of recency for each day; recency halves in 90 days
    search_importance: float = 0.04  # weight of a fact's importance
    search_weight: tuple[str, ...] = ()  # "NAME=VALUE": constants of `search/weights` to change
    rerank_hits: int = 20  # hits that a model of `--rerank` reads, 1 to 200
    # Encrypted files.
    encryption: str = "none"  # or "git-crypt": read what git-crypt encrypted
    # Gate: what may be written and committed.
    detect_secrets: bool = False  # whether hooks also ask the plugins of the library detect-secrets
    on_secret: str = "refuse"  # what our own writers do with a secret: "refuse" or "mask"
    on_personal: str = "mask"  # what they do with personal data: "mask" or "keep"
    check_gone: str = "warn"  # or "block": a review fails on a line that names code which is gone
    gate: str = "standard"  # or "strict": what is likely blocks too, not only what is nearly certain
    protected: tuple[str, ...] = ()  # globs of files that an agent may not change
    # Promotion: the step from daily logs to MEMORY.md.
    model: str = "rules"  # what finds facts: "rules", "gguf:PATH" or "http:URL#MODEL"
    model_use: str = "auto"  # "judge": it judges statements; "list": it lists facts; "auto": a small one judges
    model_seconds: int = 300  # seconds that a run of the model may take
    model_tokens: int = 20_000  # tokens that the model may write in a run
    max_facts: int = 20  # facts that a run may add
    memory_lines: int = 200  # lines of MEMORY.md above which a promotion archives facts that cite a log
    # How the values came to be; these two are no settings.
    origins: tuple[tuple[str, str], ...] = ()  # (field, where it was set): a scope of Git, "option" or .gitmem.toml
    warnings: tuple[str, ...] = ()  # one sentence for each ignored setting
