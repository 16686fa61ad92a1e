"""Declares the request for a context and the memories (scopes) that it is made of. Values only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.config import Config
from gitmem.context.code_marks import CodeLookup
from gitmem.context.layer_limits import DEFAULTS, Count, Layer, LayerLimits, Weights
from gitmem.context.layers import Part, Recalled
from gitmem.context.open_pairs import PairSource
from gitmem.context.session_contents import SessionContents
from gitmem.hosts.transcript import Transcript
from gitmem.json_values import json_keys
from gitmem.memory.document import Document
from gitmem.memory.folder_scope import FoldersInUse


@json_keys("name loaded error? note? commit? keys")
@dataclass(frozen=True, slots=True)
class Scope:
    """One memory that a context is made of: the organisation's, the person's, the project's or the session's.

    `name`: such as "project". `paths`: its memory files. `read`: returns a file of `paths`, None if it cannot be read.
    `recall`: returns the search hits for a question. `error`: why the scope could not be loaded, "" if it could.
    `note`: a message about the scope for a person, "" for none. `commit`: the commit whose files are read, or with
    which the work tree is compared; "" for none. `values`: (key, text) of the working values of a session.
    `committed_lines`: returns path -> lines in `commit` for those of the given paths that differ from `commit`. `keys`:
    the front matter of MEMORY.md, set by `assemble`. `forgotten_ids`: returns the ids of texts that a person had
    forgotten. `cited_code`: returns which cited code changed. `log_patterns`: path patterns of daily logs
    (`daily_logs.log_day`). `own_folders`: folders whose memory belongs to the whole repository
    (`folder_scope.folder_of_path`). `pairs`: for the open pairs of its statements; None for a memory without files.

    JSON: `loaded`: false if it could not be loaded; the others are there all the same. `error`: why. `keys`: the
    whole front matter of its MEMORY.md, with nested values.
    """

    name: str
    paths: tuple[str, ...] = ()
    read: Callable[[str], Document | None] = lambda _: None
    recall: Callable[[str], Recalled] = lambda _: Recalled()
    error: str = ""
    note: str = ""
    commit: str = ""
    values: tuple[tuple[str, str], ...] = ()
    committed_lines: Callable[[Sequence[str]], Mapping[str, frozenset[str]]] = lambda _: {}
    keys: Mapping[str, object] = field(default_factory=dict)
    forgotten_ids: Callable[[], frozenset[str]] = frozenset
    cited_code: CodeLookup = lambda _: {}
    log_patterns: tuple[str, ...] = ()
    own_folders: tuple[str, ...] = ()
    pairs: PairSource | None = None

    @property
    def loaded(self) -> bool:
        """Whether the scope could be loaded."""
        return not self.error


def estimated_tokens(text: str) -> int:
    """An estimate of the tokens of a text without a tokenizer: 1.5 for each wide character (from U+1100, such as Hangul
    and Han), a third for each other character; each of the two sums is rounded up."""
    wide = sum(1 for character in text if character >= "\u1100")
    return -(-(len(text) - wide) // 3) + -(-3 * wide // 2)


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The outcome of condensing parts with a model. `parts`: new parts. `replaced`: the parts that they replace.
    `notes`: messages for a person."""

    parts: tuple[Part, ...]
    replaced: tuple[Part, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The request for a context.

    `prompt`: the question or task of the person. `budget`: tokens of the text. `subjects`: paths or names that rules
    may match and that memory is searched for. `staged`: staged paths, which rules may match. `folders`: further folders
    whose memory counts. `transcript`: the conversation so far. `summary`: of the conversation before its recent turns.
    `min_best_evidence`: the least evidence, 0..1, of the best part: if it has less, no recalled part is shown; 0 for no
    limit. `min_evidence`: the least evidence of each recalled part (`evidence.ENOUGH`); 0 for no limit. `contents`: the
    statements that the session has already; they are not repeated. `whole_memory_tokens`: a MEMORY.md up to this size
    goes in whole, whatever the prompt asks; None for `budget`, 0 for never. `include`: (path, first line, last line) of
    passages that must be in the context; last line 0 for the end of the file. `loaded`: paths that the host has loaded.
    `session`: the session whose working values are taken, "" for the transcript's. `entities`: prefixes of the keys of
    working values, empty for all. `without_layers`, `without_paths` (globs, whose `*` matches `/` too),
    `without_agents`: what is left out. `max_characters`: characters of the text at most. `warn_characters`: size above
    which a message tells the size. Both are 0 for no limit. `layer_limits`, `weights`: see `layer_limits.py`.
    `count_tokens`: returns the tokens of a text. `tokenizer`: its name. `merge`: condenses parts by a model; None for
    no condensing.
    """

    prompt: str = ""
    budget: int = Config().context_budget
    subjects: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    transcript: Transcript | None = None
    summary: str = ""
    min_best_evidence: float = 0.0
    min_evidence: float = 0.0
    contents: SessionContents = field(default_factory=SessionContents)
    whole_memory_tokens: int | None = None
    include: tuple[tuple[str, int, int], ...] = ()
    loaded: tuple[str, ...] = ()
    session: str = ""
    entities: tuple[str, ...] = ()
    without_layers: frozenset[str] = frozenset()
    without_paths: tuple[str, ...] = ()
    without_agents: tuple[str, ...] = ()
    max_characters: int = 0
    warn_characters: int = 0
    layer_limits: Mapping[Layer, LayerLimits] = field(default_factory=lambda: DEFAULTS)
    weights: Weights = field(default_factory=Weights)
    count_tokens: Count = estimated_tokens
    tokenizer: str = "characters"
    merge: Callable[[Sequence[Part], Count], MergeResult] | None = None

    @property
    def subject_folders(self) -> FoldersInUse:
        """The folders of the subjects, staged paths and prompt; all folders if `*` is a subject."""
        return FoldersInUse(
            (*self.subjects, *self.staged, *self.folders), " ".join((self.prompt, *self.subjects)), "*" in self.subjects
        )
