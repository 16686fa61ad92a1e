"""Opens a promotion model by name: `rules`, or a language model of `models/language` (`gguf:<path>`,
`http:<url>#<model>`). A model that cannot be opened is an error; none takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from gitmem.errors import GitMemError
from gitmem.messages import Message

if TYPE_CHECKING:
    from pathlib import Path

    from gitmem.config import Config
    from gitmem.gate.policy import Policy
    from gitmem.git.opening import Repository
    from gitmem.models.language import Setting
    from gitmem.promotion.proposal import Model


def open_model(name: str, setting: Setting, words: str = "") -> Model:
    """The model with this name: `rules`, `gguf:/path/to.gguf` or `http:https://HOST/v1#NAME`.

    `words`: replaces the system prompt of the package for a language model. Raises ModelUnavailable for another name
    and for a file that is missing or is no model, BadConfig for an address of another form.
    """
    if name == "rules":
        from gitmem.promotion.rules_model import RulesModel
        from gitmem.promotion.score_cache import ScoreCache

        return RulesModel(scores=ScoreCache(setting.state), progress=setting.reading)
    from gitmem.models.language import FORMS, LANGUAGE_MODELS, open_language_model

    if name.partition(":")[0] not in LANGUAGE_MODELS or name.endswith(":"):
        from gitmem.errors import ModelUnavailable

        raise ModelUnavailable(Message("there is no promotion model '{}'", name), f"rules, {FORMS}")
    if not words and is_judge(name, setting.config.model_use):
        from gitmem.models.judging import open_judge
        from gitmem.promotion.judged_rules import JudgedRules
        from gitmem.promotion.rules_model import RulesModel

        return JudgedRules(RulesModel(progress=setting.reading), open_judge(name, setting), setting)
    from gitmem.promotion.prompt import LanguagePromoter

    return LanguagePromoter(open_language_model(name, setting), setting, words)


def is_judge(name: str, use: str) -> bool:
    """Whether the language model `name` judges statements of the rules, instead of listing facts. `use`: the setting
    `mem.modelUse`; with `auto` small GGUF models judge. Raises ModelUnavailable, with `auto` only, as
    `judges_by_default`."""
    kind, _, rest = name.partition(":")
    if use != "auto" or kind != "gguf":
        return use == "judge"
    from gitmem.models.gguf_judge import judges_by_default

    return judges_by_default(rest)


def promotion_model(
    repo: Repository,
    config: Config,
    today: date,
    environ: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
    reading: Callable[[int, int], None] | None = None,
) -> tuple[Model, Policy]:
    """(model of the setting `mem.model`, policy of the gate for the work tree). `progress`, `reading`: report the
    progress of a run, as in `Setting`. Raises as `open_model`."""
    setting, policy = model_setting(repo, config, today, environ)
    if progress:
        setting = replace(setting, progress=progress)
    if reading:
        setting = replace(setting, reading=reading)
    return open_model(config.model, setting), policy


def model_setting(repo: Repository, config: Config, today: date, environ: Mapping[str, str]) -> tuple[Setting, Policy]:
    """(setting for `open_model`, policy of the gate for the work tree, by which the model's input is redacted). Where
    no folder for our state can be made, `Setting.state` is None and nothing is cached."""
    from gitmem.gate.redaction import redact
    from gitmem.gate.tree_policies import worktree_policy
    from gitmem.git.worktree import state_dir
    from gitmem.models.language import Setting

    policy = worktree_policy(repo, today)
    folder: Path | None
    try:
        folder = state_dir(repo.common_dir)
    except GitMemError:  # a read-only mount: nothing is cached, and models that need the egress log are not asked
        folder = None
    return Setting(config, environ, folder, lambda text, path: redact(text, path, policy)), policy
