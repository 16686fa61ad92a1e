"""Every setting: its meaning, its allowed values and who may set it. Its type and default are in `Config`.

Settings come from two places. The user's own `git config mem.*` (system, global or command scope) may set anything.
`.gitmem.toml` is tracked, so a hostile clone may bring one: it may only tighten (more paths, more protection, lower
limits).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gitmem.config.retention import life_form
from gitmem.paths import agent_name

COUNT_RANGE = (0, 1_000_000_000)  # limits of a number that states no others
SHARE = (0.0, 1.0)


class Setting(NamedTuple):
    """What is known of a setting beside its type and default.

    `doc`: its meaning, for docs/config.md and `git mem config --list`.
    `tracked`: its place in .gitmem.toml as `table.key`, or `table.*` for a whole table; "" when only the user sets it.
    `tighten`: how .gitmem.toml combines with the user's value, a key of `tracked_file.TIGHTEN`; "" without `tracked`.
    `choices`: the allowed values; empty for any.
    `limits`: the least and the greatest allowed value of a number.
    `form`: brings a text into its canonical form, or raises UsageError; None where any text is canonical.
    """

    doc: str
    tracked: str = ""
    tighten: str = ""
    choices: tuple[str, ...] = ()
    limits: tuple[float, float] = COUNT_RANGE
    form: Callable[[str], str] | None = None


# Field of Config -> its setting, in the order of the fields. A tuple there holds the values of a setting that can be
# given repeatedly.
SETTINGS: dict[str, Setting] = {
    # memory files, its writer, and memory beside it
    "memory_paths": Setting(
        "More globs of memory files; a folder's name takes the Markdown below it, `!*`: nothing else.",
        tracked="memory.paths",
        tighten="union",
    ),
    "memory_daily": Setting(
        "More daily logs: paths with YYYY, MM and DD, as in `journals/YYYY_MM_DD.md`.",
        tracked="memory.daily",
        tighten="union",
    ),
    "agent": Setting(
        "Name of the agent that writes: its own daily log, `Memory-Agent` in its commits.", form=agent_name
    ),
    "profile": Setting("The profile in force (`git mem profile switch NAME`): its own memory, index and identity."),
    "organisation": Setting("The organisation's memory: a path or URL, with `#ref` pinned. Read only."),
    "personal": Setting("Your own memory beside any project: a path or URL, with `#ref`. Read only."),
    "retention": Setting(
        "Days that new facts of a type last, as in `note=180d`; repeatable.",
        tracked="retention.*",
        tighten="shorter",
        form=life_form,
    ),
    # context
    "context_budget": Setting("Tokens of a context."),
    "context_layer": Setting(
        "`LAYER [on|off] [limit=N] [budget=N] [item=N]`: what a layer may take; repeatable, the rest stays."
    ),
    "context_preset": Setting(
        "`compact`: a hard limit in characters, for hosts that cut long contexts; a message tells when it is near.",
        choices=("none", "compact"),
    ),
    "context_similarity": Setting("Weight of similarity in a recalled item's relevance.", limits=SHARE),
    "context_recency": Setting("Weight of recency, exp(-decay x days).", limits=SHARE),
    "context_importance": Setting("Weight of importance.", limits=SHARE),
    "context_decay": Setting("Decay of recency, a day.", limits=SHARE),
    "context_evidence": Setting(
        "Evidence from which memory answers a prompt or a search; 0: whatever is asked.", limits=SHARE
    ),
    "context_ceiling": Setting("Tokens of all contexts that a session is given; 0 for no ceiling."),
    "tokenizer": Setting("What counts tokens: `pieces` (built in) or `gguf:<path>`, exactly that model's."),
    # sessions
    "session_window": Setting("Tokens of the model's context; 0 when unknown."),
    "session_reserve": Setting("Tokens of it that are kept for the answer."),
    "session_soft": Setting("Tokens before the reserve from which a flush or a compaction is due."),
    "session_share": Setting("Share of the context from which a flush or a compaction is due.", limits=SHARE),
    "session_flush": Setting("Whether a host's hooks write what a session decided to the daily log."),
    "session_promote": Setting("Whether a flush before a compaction or at the end proposes its promotion."),
    "distill_after": Setting(
        "Sessions that end before a consolidation of them is proposed on `memory/consolidate`; 0: never.",
        limits=(0, 1000),
    ),
    "session_model": Setting("Model that also chooses what a flush keeps: as `mem.model`."),
    "session_prompt": Setting("What that model is told to select, instead of the words of the package."),
    "session_reset": Setting("When a session nobody ended is over.", choices=("never", "daily", "idle", "either")),
    "session_hour": Setting("Hour of the day, local time, at which a daily reset is due.", limits=(0, 23)),
    "session_idle": Setting("Minutes without activity after which an idle reset is due.", limits=(1, 525_600)),
    # index
    "history_repos": Setting("Another clone on this machine whose commits count as history too; repeatable."),
    "auto_index": Setting("Whether a search brings the index up to date first."),
    "embedder": Setting(
        "Who makes the vectors of chunks: `static`, `gguf:<path>` or `http:<url>`; lines are weighed by `static`."
    ),
    "query_prefix": Setting(
        "What stands before a question for the embedder: `auto` (as its family wants), `none`, or the text."
    ),
    "passage_prefix": Setting("The same for an indexed text."),
    "http_seconds": Setting("Seconds a request to an embedder's server may take.", limits=(1, 3600)),
    "http_key_file": Setting("File with the key for `http:` endpoints, sent as a bearer token."),
    "chunk_size": Setting("Tokens of an indexed chunk, about.", limits=(20, 4000)),
    "chunk_overlap": Setting("Tokens a chunk repeats of the one before it.", limits=(0, 2000)),
    # search
    "search_lexical": Setting("Weight of words in a line's score.", limits=SHARE),
    "search_vector": Setting("Weight of meaning in a line's score.", limits=SHARE),
    "search_floor": Setting("Score below which a hit is left out, where `--min-score` says nothing.", limits=SHARE),
    "search_pool": Setting("Chunks of each lane whose lines are looked at.", limits=(1, 1000)),
    "search_similarity": Setting(
        "Weight of a line's own score beside recency, importance and the other priors.", limits=(0.01, 1)
    ),
    "search_recency": Setting("Weight of recency, exp(-decay x days).", limits=SHARE),
    "search_decay": Setting("Decay of recency, a day.", limits=SHARE),
    "search_importance": Setting("Weight of a fact's importance, above or below 0.5.", limits=SHARE),
    "search_weight": Setting(
        "Any other constant of gitmem/search/weights.py as `NAME=VALUE`, as in `label=3`; repeatable."
    ),
    "rerank_hits": Setting("Hits a model of `--rerank` reads.", limits=(1, 200)),
    # encrypted files
    "encryption": Setting(
        "`git-crypt`: read what git-crypt encrypted, by the program of that name and the key of an unlocked clone.",
        choices=("none", "git-crypt"),
    ),
    # gate
    "detect_secrets": Setting(
        "Whether hooks ask the plugins of detect-secrets too, as `git mem scan --plugins` does; slower."
    ),
    "on_secret": Setting("What our own writers do with a secret.", choices=("refuse", "mask")),
    "on_personal": Setting(
        "What our own writers do with personal data (e-mail, telephone, numbers).", choices=("mask", "keep")
    ),
    "check_gone": Setting(
        "`block`: a review fails where a change makes a line of memory or of instructions false of the code.",
        tracked="check.gone",
        tighten="last",
        choices=("warn", "block"),
    ),
    "gate": Setting(
        "`strict`: what is likely blocks too, not only what is nearly certain.",
        tracked="gate.strict",
        tighten="last",
        choices=("standard", "strict"),
    ),
    "protected": Setting("Globs of files an agent may not change.", tracked="gate.protected", tighten="union"),
    # promotion
    "model": Setting("`rules`, `gguf:<path>` or `http:<url>#<model>`."),
    "model_use": Setting(
        "`judge`: the model judges statements beside the rules; `list`: it lists facts; `auto`: a small one judges.",
        choices=("auto", "judge", "list"),
    ),
    "model_seconds": Setting("Seconds a run of a promotion model may take.", tracked="promote.seconds", tighten="min"),
    "model_tokens": Setting("Tokens a run may let a model write.", tracked="promote.tokens", tighten="min"),
    "max_facts": Setting("Facts a run of `promote` may add or replace.", tracked="promote.max-facts", tighten="min"),
    "memory_lines": Setting("Budget of MEMORY.md in lines.", tracked="promote.memory-lines", tighten="min"),
}


def git_name(name: str) -> str:
    """`max_facts` -> `mem.maxFacts`: keys of Git cannot hold `_`."""
    first, *others = name.split("_")
    return "mem." + first + "".join(word.capitalize() for word in others)


FIELDS = {git_name(name).lower(): name for name in SETTINGS}  # key as Git prints it, in lower case -> field of Config


EMBEDDER_SETTINGS = ("embedder", "query_prefix", "passage_prefix")  # settings on which the vectors of an index depend


def tunable(name: str) -> bool:
    """Whether the setting of a field of Config changes search results. `--explain` shows it; `git mem eval --ab`
    compares two values of it."""
    return name.startswith(("search_", "chunk_", "rerank_")) or name in EMBEDDER_SETTINGS
