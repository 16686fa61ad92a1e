"""`git mem context --merge MODEL`: parts of a context condensed by a model that was named; where it fails, none is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from gitmem.config import Config
from gitmem.context.assembly import Merged
from gitmem.context.layer_limits import Count, Layer
from gitmem.context.layers import Part
from gitmem.errors import BadConfig, GitMemError
from gitmem.git.opening import Repository
from gitmem.models.language import LanguageModel


def merger(
    repo: Repository, config: Config, name: str, when: datetime, environ: Mapping[str, str]
) -> Callable[[Sequence[Part], Count], Merged]:
    """What `--merge` does with the parts of each scope. Raises BadConfig, ModelUnavailable before anything is asked.

    A part with anything the gate has something against is not shown to a model.
    """
    from gitmem.models.language import LANGUAGE_MODELS, open_language_model
    from gitmem.promotion.registry import model_setting

    if name.partition(":")[0] not in LANGUAGE_MODELS:
        raise BadConfig(f"'{name}' condenses nothing", "--merge gguf:<path> or http:<url>#<model>")
    given, _ = model_setting(repo, config, when.date(), environ)
    model = open_language_model(name, given)

    def merge(parts: Sequence[Part], count: Count) -> Merged:
        shown = [part for part in parts if given.redact(part.content, part.path) == part.content]
        made: list[Part] = []
        gone: list[Part] = []
        notes: list[str] = []
        for scope in dict.fromkeys(part.scope for part in shown):
            own = [part for part in shown if part.scope == scope]
            try:
                new, old, said = _condensed(own, model, when, count)
            except GitMemError as error:
                return Merged((), (), (f"merge: {error.message}; nothing was condensed",))
            made, gone, notes = made + new, gone + old, notes + said
        return Merged(tuple(made), tuple(gone), tuple(dict.fromkeys(notes)))

    return merge


def _condensed(
    parts: Sequence[Part], model: LanguageModel, when: datetime, count: Count
) -> tuple[list[Part], list[Part], list[str]]:
    from gitmem.context.condensing import Note, condense

    notes = [Note(at, part.content, part.path, part.start_line, when.date()) for at, part in enumerate(parts)]
    with model.run() as complete:
        done = condense(notes, complete, count)
    made: list[Part] = []
    gone: list[Part] = []
    for line in done.lines:
        cited = [parts[key] for key in line.keys]
        links = ", ".join(dict.fromkeys(f"{part.path}:{part.start_line}" for part in cited))
        places = tuple((part.path, part.start_line, part.end_line) for part in cited)
        best = max(part.relevance for part in cited)
        made.append(
            Part(Layer.MERGED, line.topic, f"{line.text} [{links}]", best, scope=cited[0].scope, sources=places)
        )
        gone += cited
    return made, gone, list(done.notes)
