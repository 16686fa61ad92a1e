"""Opens a promotion model by name: `rules`, or a language model of `models/language` (`gguf:<path>`,
`http:<url>#<model>`). A model that cannot be opened is an error; none takes its place.

Importing this module loads the lexicon of the rules, which takes 0.2 s. A command that may end before it needs a model
imports it inside a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitMemError, ModelUnavailable
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import redact
from gitmem.git.opening import Repository
from gitmem.git.worktree import state_dir
from gitmem.messages import Message
from gitmem.models.gguf_judge import judges_by_default
from gitmem.models.judging import open_judge
from gitmem.models.language import FORMS, LANGUAGE_MODELS, Setting, open_language_model
from gitmem.promotion.judged_rules import JudgedRules
from gitmem.promotion.prompt import LanguagePromoter
from gitmem.promotion.proposal import Model
from gitmem.promotion.rules_model import RulesModel
from gitmem.promotion.score_cache import ScoreCache


def _report_nothing(*progress: object) -> None:
    """Takes reports of progress that nobody reads."""


def promotion_model(
    repo: Repository,
    config: Config,
    policy: Policy,
    environ: Mapping[str, str],
    *,
    progress: Callable[[str], None] = _report_nothing,
    reading: Callable[[int, int], None] = _report_nothing,
) -> Model:
    """The model of the setting `mem.model`. `policy`: of the gate, by which the model's input is redacted. `progress`,
    `reading`: report the progress of a run, as in `Setting`. Raises ModelUnavailable if the model cannot be opened,
    BadConfig for an address of another form."""
    setting = replace(model_setting(repo, config, policy, environ), progress=progress, reading=reading)
    return open_model(config.model, setting)


def model_setting(repo: Repository, config: Config, policy: Policy, environ: Mapping[str, str]) -> Setting:
    """What `open_model` needs in this repository: the settings, the state folder, and the redaction of the gate. The
    parameters are those of `promotion_model`. Progress is not reported."""
    return Setting(config, environ, _state_folder(repo), redact=lambda text, path: redact(text, path, policy))


def _state_folder(repo: Repository) -> Path | None:
    """`Setting.state`. None where the folder cannot be made, as on a read-only mount: nothing is cached there, and
    models that need the egress log are not asked."""
    try:
        return state_dir(repo.common_dir)
    except GitMemError:
        return None


def open_model(name: str, setting: Setting, system_prompt: str = "") -> Model:
    """The model with this name: `rules`, `gguf:/path/to.gguf` or `http:https://HOST/v1#NAME`.

    `system_prompt`: replaces the system prompt of the package for a language model; "" for that of the package. Raises
    ModelUnavailable for another name and for a file that is missing or is no model, BadConfig for an address of another
    form.
    """
    if name == "rules":
        return _open_rules(setting)
    kind, _, address = name.partition(":")
    if kind not in LANGUAGE_MODELS or not address:
        raise ModelUnavailable(Message("there is no promotion model '{}'", name), f"rules, {FORMS}")
    if system_prompt:  # a judge follows the packaged rubric only, so a model with another prompt lists facts
        return LanguagePromoter(open_language_model(name, setting), setting, system_prompt)
    if is_judge(name, setting.config.model_use):
        return JudgedRules(_open_rules(setting), open_judge(name, setting), setting)
    return LanguagePromoter(open_language_model(name, setting), setting)


def _open_rules(setting: Setting) -> RulesModel:
    """The rules, with the scores of logs cached in `Setting.state`."""
    return RulesModel(scores=ScoreCache(setting.state), progress=setting.reading)


def is_judge(name: str, use: str) -> bool:
    """Whether the language model `name` judges statements of the rules, instead of listing facts.

    `use`: the setting `mem.modelUse`. With `auto` a GGUF model judges if it is small; this reads the number of
    parameters in its file, and raises ModelUnavailable if the file is missing or is not GGUF.
    """
    if use == "judge":
        return True
    if use == "list":
        return False
    kind, _, path = name.partition(":")
    return kind == "gguf" and judges_by_default(path)
