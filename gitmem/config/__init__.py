"""Every setting: its name, default, meaning and who may set it. `load` of `loading` makes the values in force.

Settings come from two places. The user's own `git config mem.*` (system, global or command scope) may set anything.
`.gitmem.toml` is tracked, so a hostile clone may bring one: it may only tighten (more paths, more protection, lower
limits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from gitmem.errors import UsageError
from gitmem.messages import Message
from gitmem.paths import agent_name

if TYPE_CHECKING:
    Value = TypeVar("Value")

TRACKED = ".gitmem.toml"
COUNT_RANGE = (0, 1_000_000_000)  # limits of a number that states no others
SHARE = (0.0, 1.0)
MIN_TRACKED_LIFE_DAYS = 30  # the shortest life that .gitmem.toml can give: a hostile one could make facts vanish
MAX_LIFE_DAYS = 36_500


class Setting(NamedTuple):
    """The declaration of a setting.

    `default`: its value when nobody sets it; its type is the type of the setting. A tuple holds the values of a
    setting that can be given repeatedly.
    `doc`: its meaning, for docs/config.md and `git mem config --list`.
    `tracked`: its place in .gitmem.toml as `table.key`, or `table.*` for a whole table; "" when only the user sets it.
    `tighten`: how .gitmem.toml combines with the user's value, a key of `tracked_file.TIGHTEN`; "" without `tracked`.
    `choices`: the allowed values; empty for any.
    `limits`: the least and the greatest allowed number; None for a setting that is not a number.
    `form`: brings a text into its canonical form, or raises UsageError; None where any text is canonical.
    """

    default: Any
    doc: str
    tracked: str
    tighten: str
    choices: tuple[str, ...]
    limits: tuple[float, float] | None
    form: Callable[[str], str] | None


def setting(
    default: Value,
    doc: str,
    *,
    tracked: str = "",
    tighten: str = "",
    choices: tuple[str, ...] = (),
    limits: tuple[float, float] | None = None,
    form: Callable[[str], str] | None = None,
) -> Value:
    """Declare a field of Config, as `dataclasses.field` does: a Setting here, its default in the finished class."""
    if limits is None and isinstance(default, (int, float)) and not isinstance(default, bool):
        limits = COUNT_RANGE
    return cast("Value", Setting(default, doc, tracked, tighten, choices, limits, form))


def life_form(text: str) -> str:
    """The canonical form of a retention entry: `note=180d` for `Note = 180d`.

    Raises UsageError for any other text and for a life of zero days.
    """
    kind, _, life = ("".join(text.casefold().split())).partition("=")
    days = life.removesuffix("d")
    name = kind.replace("-", "")
    is_valid = name.isascii() and name.isalpha() and days.isascii() and days.isdigit() and len(days) <= 6
    if not is_valid or not 1 <= int(days) <= MAX_LIFE_DAYS:
        raise UsageError(
            Message("'{}' is no life of a type", text),
            Message("TYPE=DAYSd, 1 to {} days, as in note=180d", MAX_LIFE_DAYS),
        )
    return f"{kind}={int(days)}d"


def lives(entries: Iterable[str]) -> dict[str, int]:
    """Fact type -> days of life, from entries in the form of `life_form`. The last entry of a type counts."""
    pairs = (entry.partition("=") for entry in entries)
    return {kind: int(life.removesuffix("d")) for kind, _, life in pairs}


class Config(NamedTuple):
    """The settings in force. Field `max_facts` is `mem.maxFacts` in Git's configuration.

    A named tuple, since every search creates this class and a dataclass of so many fields takes 3 ms to create.
    """

    # memory files, its writer, and memory beside it
    memory_paths: tuple[str, ...] = setting(
        (),
        "More globs of memory files; a folder's name takes the Markdown below it, `!*`: nothing else.",
        tracked="memory.paths",
        tighten="union",
    )
    memory_daily: tuple[str, ...] = setting(
        (),
        "More daily logs: paths with YYYY, MM and DD, as in `journals/YYYY_MM_DD.md`.",
        tracked="memory.daily",
        tighten="union",
    )
    agent: str = setting(
        "", "Name of the agent that writes: its own daily log, `Memory-Agent` in its commits.", form=agent_name
    )
    profile: str = setting(
        "", "The profile in force (`git mem profile switch NAME`): its own memory, index and identity."
    )
    organisation: str = setting("", "The organisation's memory: a path or URL, with `#ref` pinned. Read only.")
    personal: str = setting("", "Your own memory beside any project: a path or URL, with `#ref`. Read only.")
    retention: tuple[str, ...] = setting(
        (),
        "Days that new facts of a type last, as in `note=180d`; repeatable.",
        tracked="retention.*",
        tighten="shorter",
        form=life_form,
    )
    # context
    context_budget: int = setting(1600, "Tokens of a context.")
    context_layer: tuple[str, ...] = setting(
        (), "`LAYER [on|off] [limit=N] [budget=N] [item=N]`: what a layer may take; repeatable, the rest stays."
    )
    context_preset: str = setting(
        "none", "`compact`: a hard limit of 6,000 characters, said from 4,000.", choices=("none", "compact")
    )
    context_similarity: float = setting(0.7, "Weight of similarity in a recalled item's relevance.", limits=SHARE)
    context_recency: float = setting(0.2, "Weight of recency, exp(-decay x days).", limits=SHARE)
    context_importance: float = setting(0.1, "Weight of importance.", limits=SHARE)
    context_decay: float = setting(0.002, "Decay of recency, a day.", limits=SHARE)
    context_evidence: float = setting(
        0.5, "Evidence from which memory answers a prompt or a search; 0: whatever is asked.", limits=SHARE
    )
    context_ceiling: int = setting(0, "Tokens of all contexts that a session is given; 0 for no ceiling.")
    tokenizer: str = setting(
        "pieces", "What counts tokens: `pieces` (built in) or `gguf:<path>`, exactly that model's."
    )
    # sessions
    session_window: int = setting(0, "Tokens of the model's context; 0 when unknown.")
    session_reserve: int = setting(20_000, "Tokens of it that are kept for the answer.")
    session_soft: int = setting(4_000, "Tokens before the reserve from which a flush or a compaction is due.")
    session_share: float = setting(
        0.75, "Share of the context from which a flush or a compaction is due.", limits=SHARE
    )
    session_flush: bool = setting(True, "Whether a host's hooks write what a session decided to the daily log.")
    session_promote: bool = setting(False, "Whether a flush before a compaction or at the end proposes its promotion.")
    distill_after: int = setting(
        0,
        "Sessions that end before a consolidation of them is proposed on `memory/consolidate`; 0: never.",
        limits=(0, 1000),
    )
    session_model: str = setting("rules", "Model that also chooses what a flush keeps: as `mem.model`.")
    session_prompt: str = setting("", "What that model is told to select, instead of the words of the package.")
    session_reset: str = setting(
        "never", "When a session nobody ended is over.", choices=("never", "daily", "idle", "either")
    )
    session_hour: int = setting(4, "Hour of the day, local time, at which a daily reset is due.", limits=(0, 23))
    session_idle: int = setting(60, "Minutes without activity after which an idle reset is due.", limits=(1, 525_600))
    # index
    history_repos: tuple[str, ...] = setting(
        (), "Another clone on this machine whose commits count as history too; repeatable."
    )
    auto_index: bool = setting(True, "Whether a search brings the index up to date first.")
    embedder: str = setting(
        "static",
        "Who makes the vectors of chunks: `static`, `gguf:<path>` or `http:<url>`; lines are weighed by `static`.",
    )
    query_prefix: str = setting(
        "auto", "What stands before a question for the embedder: `auto` (as its family wants), `none`, or the text."
    )
    passage_prefix: str = setting("auto", "The same for an indexed text.")
    http_seconds: int = setting(30, "Seconds a request to an embedder's server may take.", limits=(1, 3600))
    http_key_file: str = setting("", "File with the key for `http:` endpoints, sent as a bearer token.")
    chunk_size: int = setting(200, "Tokens of an indexed chunk, about.", limits=(20, 4000))
    chunk_overlap: int = setting(0, "Tokens a chunk repeats of the one before it.", limits=(0, 2000))
    # search
    # Defaults of ranking. `search/weights` names the measurement behind each, and has the constants without a setting.
    # A test checks that the shares of the two lanes are the sums of `weights.WEIGHTS`.
    search_lexical: float = setting(0.51, "Weight of words in a line's score.", limits=SHARE)
    search_vector: float = setting(0.49, "Weight of meaning in a line's score.", limits=SHARE)
    search_floor: float = setting(
        0.0, "Score below which a hit is left out, where `--min-score` says nothing.", limits=SHARE
    )
    search_pool: int = setting(28, "Chunks of each lane whose lines are looked at.", limits=(1, 1000))
    search_similarity: float = setting(
        1.0, "Weight of a line's own score beside recency, importance and the other priors.", limits=(0.01, 1)
    )
    search_recency: float = setting(0.02, "Weight of recency, exp(-decay x days).", limits=SHARE)
    search_decay: float = setting(0.0077, "Decay of recency, a day.", limits=SHARE)  # half in 90 days
    search_importance: float = setting(0.04, "Weight of a fact's importance, above or below 0.5.", limits=SHARE)
    search_weight: tuple[str, ...] = setting(
        (), "Any other constant of gitmem/search/weights.py as `NAME=VALUE`, as in `label=3`; repeatable."
    )
    rerank_hits: int = setting(20, "Hits a model of `--rerank` reads.", limits=(1, 200))
    # encrypted files
    encryption: str = setting(
        "none",
        "`git-crypt`: read what git-crypt encrypted, by the program of that name and the key of an unlocked clone.",
        choices=("none", "git-crypt"),
    )
    # gate
    detect_secrets: bool = setting(
        False, "Whether hooks ask the plugins of detect-secrets too, as `git mem scan --plugins` does; slower."
    )
    on_secret: str = setting("refuse", "What our own writers do with a secret.", choices=("refuse", "mask"))
    on_personal: str = setting(
        "mask", "What our own writers do with personal data (e-mail, telephone, numbers).", choices=("mask", "keep")
    )
    check_gone: str = setting(
        "warn",
        "`block`: a review fails where a change makes a line of memory or of instructions false of the code.",
        tracked="check.gone",
        tighten="last",
        choices=("warn", "block"),
    )
    gate: str = setting(
        "standard",
        "`strict`: what is likely blocks too, not only what is nearly certain.",
        tracked="gate.strict",
        tighten="last",
        choices=("standard", "strict"),
    )
    protected: tuple[str, ...] = setting(
        (), "Globs of files an agent may not change.", tracked="gate.protected", tighten="union"
    )
    # promotion
    model: str = setting("rules", "`rules`, `gguf:<path>` or `http:<url>#<model>`.")
    model_use: str = setting(
        "auto",
        "`judge`: the model judges statements beside the rules; `list`: it lists facts; `auto`: a small one judges.",
        choices=("auto", "judge", "list"),
    )
    model_seconds: int = setting(
        300, "Seconds a run of a promotion model may take.", tracked="promote.seconds", tighten="min"
    )
    model_tokens: int = setting(20_000, "Tokens a run may let a model write.", tracked="promote.tokens", tighten="min")
    max_facts: int = setting(20, "Facts a run of `promote` may add.", tracked="promote.max-facts", tighten="min")
    memory_lines: int = setting(200, "Budget of MEMORY.md in lines.", tracked="promote.memory-lines", tighten="min")
    # how the values came to be, no settings
    origins: tuple[tuple[str, str], ...] = ()  # (field, origin) of each value that is not the default
    warnings: tuple[str, ...] = ()  # one sentence for each ignored setting


# Field name -> its declaration, in the order of the fields.
SETTINGS = {name: value for name, value in Config._field_defaults.items() if isinstance(value, Setting)}
# The class was made with the declarations as its defaults; from here on it has the values that they declare.
Config._field_defaults.update((name, declared.default) for name, declared in SETTINGS.items())
Config.__new__.__defaults__ = tuple(Config._field_defaults.values())


def git_name(name: str) -> str:
    """`max_facts` -> `mem.maxFacts`: keys of Git cannot hold `_`."""
    first, *rest = name.split("_")
    return "mem." + first + "".join(word.capitalize() for word in rest)


def tunable(name: str) -> bool:
    """Whether a setting changes search results. `--explain` shows it; `git mem eval --ab` compares two values of it."""
    return name.startswith(("search_", "chunk_", "rerank_")) or name == "embedder"
