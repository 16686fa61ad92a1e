"""Every setting: its name, default, meaning and who may set it. Pure: pairs and text in, one frozen value out.

Settings come from two places. The user's own `git config mem.*` (system, global or command scope) may set anything.
`.gitmem.toml` is tracked, so a hostile clone may bring one: it may only tighten (more paths, more protection, lower
limits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gitmem.errors import BadConfig, UsageError
from gitmem.light_typing import TYPE_CHECKING, NamedTuple
from gitmem.messages import Message
from gitmem.paths import agent_name, daily_form, daily_glob

if TYPE_CHECKING:
    from typing import Any

TRACKED = ".gitmem.toml"


_KEYS: list[Mapping[str, Any]] = []  # the arguments of each call of `_key`, in the order of Config's fields
COUNT_RANGE = (0, 1_000_000_000)
MIN_TRACKED_LIFE_DAYS = 30  # the shortest life that .gitmem.toml can give: a hostile one could make facts vanish
MAX_LIFE_DAYS = 36_500
SHARE = (0.0, 1.0)


def _key(
    default: Any,
    doc: str,
    *,
    tracked: str = "",
    tighten: str = "",
    choices: tuple[str, ...] = (),
    limits: tuple[float, float] | None = None,
    form: Callable[[str], str] | None = None,
) -> Any:
    """Declare a setting; returns its default.

    `doc`: its meaning, for docs/config.md and `git mem config --list`.
    `tracked`: its place in .gitmem.toml as `table.key`, or `table.*` for a whole table; "" when only the user sets it.
    `tighten`: how .gitmem.toml combines with the user's value, a key of TIGHTEN. `union` adds list items, `last`
    chooses the last of `choices`, `shorter` gives facts a shorter life of MIN_TRACKED_LIFE_DAYS or more.
    `choices`: the allowed values; empty for any. `limits`: the least and the greatest allowed number.
    `form`: brings a text into its canonical form, or raises UsageError.
    """
    if limits is None and isinstance(default, (int, float)) and not isinstance(default, bool):
        limits = COUNT_RANGE
    meta = {
        "doc": doc, "tracked": tracked, "tighten": tighten, "choices": choices, "default": default, "limits": limits,
        "form": form,
    }  # fmt: skip
    _KEYS.append(meta)
    return default


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


def _shorter(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """The user's entries `old`, and after them each entry of .gitmem.toml that gives its type a shorter life."""
    known, found = lives(old), old
    for kind, days in lives(new).items():
        days = max(days, MIN_TRACKED_LIFE_DAYS)
        if kind not in known or days < known[kind]:
            found = (*found, f"{kind}={days}d")
    return found


class Config(NamedTuple):
    """The settings in force. Field `max_facts` is `mem.maxFacts` in Git's configuration.

    A named tuple, since every search creates this class and a dataclass of so many fields takes 3 ms to create.
    """

    # which files are memory
    memory_paths: tuple[str, ...] = _key(
        (),
        "More globs of memory files; a folder's name takes the Markdown below it, `!*`: nothing else.",
        tracked="memory.paths",
        tighten="union",
    )
    memory_daily: tuple[str, ...] = _key(
        (), "More daily logs: paths with YYYY, MM and DD, as in `journals/YYYY_MM_DD.md`.", tracked="memory.daily",
        tighten="union",
    )  # fmt: skip
    agent: str = _key(
        "", "Name of the agent that writes: its own daily log, `Memory-Agent` in its commits.", form=agent_name
    )
    profile: str = _key("", "The profile in force (`git mem profile switch NAME`): its own memory, index and identity.")
    organisation: str = _key("", "The organisation's memory: a path or URL, with `#ref` pinned. Read only.")
    personal: str = _key("", "Your own memory beside any project: a path or URL, with `#ref`. Read only.")
    retention: tuple[str, ...] = _key(
        (), "Days that new facts of a type last, as in `note=180d`; repeatable.", tracked="retention.*",
        tighten="shorter", form=life_form,
    )  # fmt: skip
    # context
    context_budget: int = _key(1600, "Tokens of a context.")
    context_layer: tuple[str, ...] = _key(
        (), "`LAYER [on|off] [limit=N] [budget=N] [item=N]`: what a layer may take; repeatable, the rest stays."
    )
    context_preset: str = _key(
        "none", "`compact`: a hard limit of 6,000 characters, said from 4,000.", choices=("none", "compact")
    )
    context_similarity: float = _key(0.7, "Weight of similarity in a recalled item's relevance.", limits=SHARE)
    context_recency: float = _key(0.2, "Weight of recency, exp(-decay x days).", limits=SHARE)
    context_importance: float = _key(0.1, "Weight of importance.", limits=SHARE)
    context_decay: float = _key(0.002, "Decay of recency, a day.", limits=SHARE)
    context_evidence: float = _key(
        0.5, "Evidence from which memory answers a prompt or a search; 0: whatever is asked.", limits=SHARE
    )
    context_ceiling: int = _key(0, "Tokens of all contexts that a session is given; 0 for no ceiling.")
    tokenizer: str = _key("pieces", "What counts tokens: `pieces` (built in) or `gguf:<path>`, exactly that model's.")
    # sessions
    session_window: int = _key(0, "Tokens of the model's context; 0 when unknown.")
    session_reserve: int = _key(20_000, "Tokens of it that are kept for the answer.")
    session_soft: int = _key(4_000, "Tokens before the reserve from which a flush or a compaction is due.")
    session_share: float = _key(0.75, "Share of the context from which a flush or a compaction is due.", limits=SHARE)
    session_flush: bool = _key(True, "Whether a host's hooks write what a session decided to the daily log.")
    session_promote: bool = _key(False, "Whether a flush before a compaction or at the end proposes its promotion.")
    distill_after: int = _key(
        0, "Sessions that end before a consolidation of them is proposed on `memory/consolidate`; 0: never.",
        limits=(0, 1000),
    )  # fmt: skip
    session_model: str = _key("rules", "Model that also chooses what a flush keeps: as `mem.model`.")
    session_prompt: str = _key("", "What that model is told to select, instead of the words of the package.")
    session_reset: str = _key(
        "never", "When a session nobody ended is over.", choices=("never", "daily", "idle", "either")
    )
    session_hour: int = _key(4, "Hour of the day, local time, at which a daily reset is due.", limits=(0, 23))
    session_idle: int = _key(60, "Minutes without activity after which an idle reset is due.", limits=(1, 525_600))
    # index and search
    history_repos: tuple[str, ...] = _key(
        (), "Another clone on this machine whose commits count as history too; repeatable."
    )
    auto_index: bool = _key(True, "Whether a search brings the index up to date first.")
    embedder: str = _key(
        "static",
        "Who makes the vectors of chunks: `static`, `gguf:<path>` or `http:<url>`; lines are weighed by `static`.",
    )
    query_prefix: str = _key(
        "auto", "What stands before a question for the embedder: `auto` (as its family wants), `none`, or the text."
    )
    passage_prefix: str = _key("auto", "The same for an indexed text.")
    http_seconds: int = _key(30, "Seconds a request to an embedder's server may take.", limits=(1, 3600))
    http_key_file: str = _key("", "File with the key for `http:` endpoints, sent as a bearer token.")
    chunk_size: int = _key(200, "Tokens of an indexed chunk, about.", limits=(20, 4000))
    chunk_overlap: int = _key(0, "Tokens a chunk repeats of the one before it.", limits=(0, 2000))
    # Defaults of ranking. `search/weights` names the measurement behind each, and has the constants without a setting.
    # A test checks that the shares of the two lanes are the sums of `weights.WEIGHTS`.
    search_lexical: float = _key(0.51, "Weight of words in a line's score.", limits=SHARE)
    search_vector: float = _key(0.49, "Weight of meaning in a line's score.", limits=SHARE)
    search_floor: float = _key(
        0.0, "Score below which a hit is left out, where `--min-score` says nothing.", limits=SHARE
    )
    search_pool: int = _key(28, "Chunks of each lane whose lines are looked at.", limits=(1, 1000))
    search_similarity: float = _key(
        1.0, "Weight of a line's own score beside recency, importance and the other priors.",
        limits=(0.01, 1),
    )  # fmt: skip
    search_recency: float = _key(0.02, "Weight of recency, exp(-decay x days).", limits=SHARE)
    search_decay: float = _key(0.0077, "Decay of recency, a day.", limits=SHARE)  # half in 90 days
    search_importance: float = _key(0.04, "Weight of a fact's importance, above or below 0.5.", limits=SHARE)
    search_weight: tuple[str, ...] = _key(
        (), "Any other constant of gitmem/search/weights.py as `NAME=VALUE`, as in `label=3`; repeatable."
    )
    rerank_hits: int = _key(20, "Hits a model of `--rerank` reads.", limits=(1, 200))
    # encrypted files
    encryption: str = _key(
        "none",
        "`git-crypt`: read what git-crypt encrypted, by the program of that name and the key of an unlocked clone.",
        choices=("none", "git-crypt"),
    )  # fmt: skip
    # gate
    detect_secrets: bool = _key(
        False, "Whether hooks ask the plugins of detect-secrets too, as `git mem scan --plugins` does; slower."
    )
    on_secret: str = _key("refuse", "What our own writers do with a secret.", choices=("refuse", "mask"))
    on_personal: str = _key(
        "mask", "What our own writers do with personal data (e-mail, telephone, numbers).", choices=("mask", "keep")
    )
    check_gone: str = _key(
        "warn", "`block`: a review fails where a change makes a line of memory or of instructions false of the code.",
        tracked="check.gone", tighten="last", choices=("warn", "block"),
    )  # fmt: skip
    gate: str = _key(
        "standard", "`strict`: what is likely blocks too, not only what is nearly certain.",
        tracked="gate.strict", tighten="last", choices=("standard", "strict"),
    )  # fmt: skip
    protected: tuple[str, ...] = _key(
        (), "Globs of files an agent may not change.", tracked="gate.protected", tighten="union"
    )
    # promotion
    model: str = _key("rules", "`rules`, `gguf:<path>` or `http:<url>#<model>`.")
    model_use: str = _key(
        "auto",
        "`judge`: the model judges statements beside the rules; `list`: it lists facts; `auto`: a small one judges.",
        choices=("auto", "judge", "list"),
    )  # fmt: skip
    model_seconds: int = _key(
        300, "Seconds a run of a promotion model may take.", tracked="promote.seconds", tighten="min"
    )
    model_tokens: int = _key(20_000, "Tokens a run may let a model write.", tracked="promote.tokens", tighten="min")
    max_facts: int = _key(20, "Facts a run of `promote` may add.", tracked="promote.max-facts", tighten="min")
    memory_lines: int = _key(200, "Budget of MEMORY.md in lines.", tracked="promote.memory-lines", tighten="min")
    # (field, origin) of each value that is not the default, and one sentence for each ignored setting
    origins: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


def git_name(name: str) -> str:
    """`max_facts` -> `mem.maxFacts`: keys of Git cannot hold `_`."""
    first, *rest = name.split("_")
    return "mem." + first + "".join(word.capitalize() for word in rest)


def keys() -> Iterable[tuple[str, Mapping[str, Any]]]:
    """(field name, arguments of `_key`) of every setting, in order."""
    return list(zip(Config._fields, _KEYS, strict=False))


def tunable(name: str) -> bool:
    """Whether a setting changes search results. `--explain` shows it; `git mem eval --ab` compares two values of it."""
    return name.startswith(("search_", "chunk_", "rerank_")) or name == "embedder"


def changed(config: Config, key: str, text: str) -> Config:
    """`config` with one setting changed as by the user. Raises BadConfig for an unknown key or an invalid value."""
    if key.lower().startswith("mem."):
        wanted = key.lower()
    else:
        wanted = f"mem.{key.lower()}"
    for name, meta in keys():
        if git_name(name).lower() == wanted:
            value = _read(git_name(name), text, meta)
            if isinstance(value, tuple):  # a setting with several values: one more
                value = getattr(config, name) + value
            return _checked_together(config._replace(**{name: value}))
    raise BadConfig(Message("there is no setting '{}'", key), "'git mem config --list' shows them all")


def _checked_together(config: Config) -> Config:
    """The same settings. Raises BadConfig when two of them contradict each other."""
    if config.chunk_overlap >= config.chunk_size:
        raise BadConfig(
            Message(
                "mem.chunkOverlap ({}) must be less than mem.chunkSize ({})", config.chunk_overlap, config.chunk_size
            ),
            "git config --global mem.chunkOverlap 0",
        )
    return config


PROFILE_SWITCH_TIME = "mem.profilesince"  # written by `profiles`; no setting


def load(
    pairs: Iterable[tuple[str, str, str]], tracked: str = "", overrides: Mapping[str, str] | None = None
) -> Config:
    """The settings in force.

    `pairs`: (key, value, origin) of the user's Git configuration. `tracked`: the text of .gitmem.toml.
    `overrides`: field -> value from command-line options, which win over `pairs`.
    Raises BadConfig for an invalid value of the user. An invalid value in .gitmem.toml and an unknown key of either are
    ignored with a warning. A value that .gitmem.toml tightens stays tight, whatever the user sets.
    """
    known = {git_name(name).lower(): (name, meta) for name, meta in keys()}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    warnings: list[str] = []
    given = [*pairs, *((git_name(name), value, "option") for name, value in (overrides or {}).items())]
    for key, text, origin in given:
        setting = known.get(key.lower())
        if setting is None:
            if key.count(".") == 1 and key.lower() != PROFILE_SWITCH_TIME:  # mem.profile.NAME.* belongs to `profiles`
                warnings.append(f"'{key}' ({origin}) is no setting; ignored")
            continue
        name, meta = setting
        value = _read(git_name(name), text, meta)
        if isinstance(value, tuple):
            values[name] = values.get(name, ()) + value
        else:
            values[name] = value
        origins[name] = origin
    config = _checked_together(Config(**values))
    for name, value in _tracked(tracked, warnings):
        tightened = TIGHTEN[dict(keys())[name]["tighten"]](getattr(config, name), value)
        if tightened != getattr(config, name):
            config = config._replace(**{name: tightened})
            origins[name] = TRACKED
    config = _with_folders(_with_daily_logs(config, warnings))
    return config._replace(origins=tuple(origins.items()), warnings=tuple(warnings))


def _with_folders(config: Config) -> Config:
    """The same, where a path `notes` or `notes/` of memory also matches the Markdown below that folder."""
    named = [glob.rstrip("/") for glob in config.memory_paths if not any(sign in glob for sign in "*?[")]
    folders = [f"{glob}/*.md" for glob in named if glob and not glob.endswith(".md")]
    if not folders:
        return config
    return config._replace(memory_paths=tuple(dict.fromkeys([*config.memory_paths, *folders])))


def _with_daily_logs(config: Config, warnings: list[str]) -> Config:
    """The same, with daily logs counted as memory. An invalid daily pattern is ignored with a warning."""
    if not config.memory_daily:
        return config
    patterns: list[str] = []
    for pattern in config.memory_daily:
        try:
            daily_form(pattern)
            patterns.append(pattern)
        except UsageError as error:
            warnings.append(f"{error.message} ({error.hint}); ignored")
    paths = (*config.memory_paths, *(daily_glob(pattern) for pattern in patterns))
    return config._replace(memory_daily=tuple(patterns), memory_paths=tuple(dict.fromkeys(paths)))


TIGHTEN: dict[str, Callable[[Any, Any], Any]] = {
    "union": lambda old, new: old + tuple(v for v in new if v not in old),
    "min": min,
    "max": max,
    "or": lambda old, new: old or new,
    "last": lambda old, new: new,
    "shorter": _shorter,
}


def _tracked(text: str, warnings: list[str]) -> Iterable[tuple[str, Any]]:
    if not text.strip():
        return
    import tomllib

    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise BadConfig(Message("{} is not valid TOML", TRACKED), Message("mend {}, or remove it", TRACKED)) from None
    places = {meta["tracked"]: (name, meta) for name, meta in keys() if meta["tracked"]}
    for table, content in tables.items():
        for key, value in content.items() if isinstance(content, dict) else [("", content)]:
            setting = places.get(f"{table}.{key}") or (places.get(f"{table}.*") if key else None)
            if setting is None:
                warnings.append(f"{TRACKED}: '{table}.{key}' is unknown or only the user's own to set; ignored")
                continue
            name, meta = setting
            default = meta["default"]
            if meta["tighten"] == "shorter":
                entry = f"{key}={value}" if isinstance(value, str) else ""
                try:
                    yield name, (life_form(entry),)
                except UsageError as error:
                    warnings.append(f"{TRACKED}: '{table}.{key}' is no life of a type ({error.hint}); ignored")
            elif isinstance(default, tuple) and isinstance(value, list) and all(isinstance(v, str) for v in value):
                yield name, tuple(value)
            elif meta["tighten"] == "last" and isinstance(value, bool):
                if value:
                    yield name, meta["choices"][-1]
            elif meta["tighten"] == "last" and value in meta["choices"] and value != meta["tracked"].rpartition(".")[2]:
                if value == meta["choices"][-1]:
                    yield name, value
            elif not isinstance(default, tuple) and type(value) is type(default) and meta["tighten"] != "last":
                yield name, value
            else:
                warnings.append(f"{TRACKED}: '{table}.{key}' has the wrong type; ignored")


def _read(key: str, text: str, meta: Mapping[str, Any]) -> Any:
    default = meta["default"]
    if isinstance(default, bool):
        if text.lower() in ("true", "yes", "on", "1", ""):
            return True
        if text.lower() in ("false", "no", "off", "0"):
            return False
        raise BadConfig(Message("{} must be true or false, not '{}'", key, text), f"git config --global {key} true")
    if isinstance(default, (int, float)):
        low, high = meta["limits"]
        number_of, kind = (int, "a whole number") if isinstance(default, int) else (float, "a number")
        try:
            number = number_of(text)
        except ValueError:
            raise BadConfig(
                Message("{} must be {}, not '{}'", key, kind, text), f"git config --global {key} {default}"
            ) from None
        if not low <= number <= high:
            hint = f"git config --global {key} {default}"
            raise BadConfig(Message("{} must be {} to {}, not {}", key, f"{low:g}", f"{high:g}", text), hint)
        return number
    if meta["choices"] and text not in meta["choices"]:
        raise BadConfig(Message("{} must be one of {}, not '{}'", key, ", ".join(meta["choices"]), text))
    if meta["form"]:
        text = _formed(key, text, meta["form"])
    if isinstance(default, tuple):
        return (text,)
    return text


def _formed(key: str, text: str, form: Callable[[str], str]) -> str:
    try:
        return form(text)
    except UsageError as error:
        raise BadConfig(f"{key}: {error.message}", error.hint) from None
