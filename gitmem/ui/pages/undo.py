"""The page of the last thing that git mem wrote here, and taking it back: the flow of `git mem undo`."""

from __future__ import annotations

import hashlib
import json

from starlette.responses import Response

from gitmem.errors import Changed, UsageError
from gitmem.git.undo_record import digest
from gitmem.provenance import undo as flow
from gitmem.provenance.preview import FileDiff, diff
from gitmem.ui.view import View


def page(view: View) -> Response:
    """What would be taken back, as a diff."""
    return _undo_page(view, flow.last_write(view.repo))


def change(view: View, form: dict[str, str]) -> Response:
    """Take back the write that was shown, where it is still the last one; only a committed one, in a commit."""
    last = flow.last_write(view.repo)
    if _token(last) != form.get("shown"):
        return _undo_page(view, last, 409)
    if not last.commits:
        since = "The last write is not committed"
        if last.committed_since:
            since = "The last write was committed by hand"
        raise UsageError(view.t(since), "git mem undo")
    try:
        done = flow.undo(view.repo, view.config, last)
    except Changed:
        return _undo_page(view, flow.last_write(view.repo), 409)
    return view.redirect("today", done=done.commit)


def _undo_page(view: View, last: flow.Undo, status: int = 200) -> Response:
    files = tuple(FileDiff(file.path, tuple(diff(file.now, file.then))) for file in last.files)
    return view.render(
        "undo.html", status, last=last, subject=view.mask(FileDiff(last.subject, ())).path, files=view.mask(files),
        token=_token(last),
    )  # fmt: skip


def _token(last: flow.Undo) -> str:
    files = [(file.path, digest(file.now), digest(file.then)) for file in last.files]
    return hashlib.sha256(json.dumps([last.at, last.commits, files]).encode("ascii")).hexdigest()
