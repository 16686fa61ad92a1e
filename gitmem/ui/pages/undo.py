"""The page that undoes the last write of git-mem, as `git mem undo` does."""

from __future__ import annotations

import hashlib
import json

from starlette.responses import Response

from gitmem.errors import Changed, UsageError
from gitmem.git.undo_record import digest
from gitmem.provenance import undo as flow
from gitmem.provenance.preview import FileDiff, diff_lines
from gitmem.ui.view import View


def page(view: View) -> Response:
    """The page with the diff that an undo of the last write would make. Raises GitMemError when there is no write to
    undo."""
    return _undo_page(view, flow.last_write(view.repo))


def change(view: View, form: dict[str, str]) -> Response:
    """Make a commit that undoes the write that the form was shown. Shows the page anew (409) if something else was
    written or changed since. Raises UsageError for an uncommitted write, GitMemError when there is no write to undo."""
    last_write = flow.last_write(view.repo)
    if _token(last_write) != form.get("shown"):
        return _undo_page(view, last_write, 409)
    if not last_write.commits:
        words = "The last write is not committed"
        if last_write.committed_since:
            words = "The last write was committed by hand"
        raise UsageError(view.t(words), "git mem undo")
    try:
        undone = flow.undo(view.repo, view.config, last_write)
    except Changed:
        return _undo_page(view, flow.last_write(view.repo), 409)
    return view.redirect("today", done=undone.commit)


def _undo_page(view: View, last_write: flow.Undo, status: int = 200) -> Response:
    shown = flow.without_forgotten(last_write, view.forgotten)
    files = tuple(FileDiff(file.path, tuple(diff_lines(file.now, file.then))) for file in shown.files)
    return view.render(
        "undo.html", status, last=shown, subject=view.mask(FileDiff(shown.subject, ())).path, files=view.mask(files),
        token=_token(last_write),
    )  # fmt: skip


def _token(last_write: flow.Undo) -> str:
    """A digest of a write and of the files that its undo would change. It is another one after any of them has
    changed."""
    files = [(file.path, digest(file.now), digest(file.then)) for file in last_write.files]
    return hashlib.sha256(json.dumps([last_write.at, last_write.commits, files]).encode("ascii")).hexdigest()
