"""The model a command asks, with what it may know: no text reaches it before the gate's rules have masked it.

Chooses none: the name comes from the command's options or the settings.
"""

from __future__ import annotations

import os
from datetime import date
from typing import TYPE_CHECKING

from gitmem.commands._here import now

if TYPE_CHECKING:
    from gitmem.config import Config
    from gitmem.git import Repository
    from gitmem.models import Setting
    from gitmem.models.protocol import Model
    from gitmem.policy import Policy


def promoter(repo: Repository, config: Config) -> tuple[Model, Policy]:
    """The model in force for promotion, and the gate's policy for what is written here."""
    from gitmem.models import open_model

    made, policy = setting(repo, config, now().date())
    return open_model(config.model, made), policy


def setting(repo: Repository, config: Config, today: date, words: str = "") -> tuple[Setting, Policy]:
    """What a model is opened with, and the policy that masks what it is shown. `words` take the place
    of the package's own prompt."""
    from gitmem.models import Setting
    from gitmem.redaction import redact
    from gitmem.sources import worktree_policy
    from gitmem.worktree import state_dir

    policy = worktree_policy(repo, today)
    folder = state_dir(repo.common_dir)
    return Setting(config, os.environ, folder, lambda text, path: redact(text, path, policy), words), policy
