"""The page of the gate's findings in the work tree. A person masks each, or allows it with a reason until a day."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from gitmem.errors import Changed, MissingFile, UsageError
from gitmem.gate import exceptions
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.examine import decode
from gitmem.gate.quoting import visible
from gitmem.gate.redaction import redaction
from gitmem.gate.work_tree_findings import read_files_to_scan
from gitmem.provenance.erasure import drop_kept_texts
from gitmem.provenance.finding_decisions import Decision, allow_plan, mask_plan
from gitmem.provenance.preview import Plan, Preview, commit_previewed, preview
from gitmem.ui import review_queue
from gitmem.ui.rendering import file_key
from gitmem.ui.view import View, typed_line

MAX_FINDINGS = 40  # on one page
FINGERPRINT = re.compile(r"[0-9a-f]{8,64}")
DIGEST_LINE = re.compile(r"(?:fingerprints?|salt) = ")  # a line of the exceptions file that means nothing to a person
SALT = re.compile(r"[0-9a-f]{32}")


def page(view: View, status: int = 200, problem: str = "") -> Response:
    """The findings, blocking ones first, in the files that `git mem status` scans too. `problem`: why the last decision
    was refused."""
    if view.snapshot.past:
        return view.render(
            "findings.html", status, rows=(), count=0, whole=True, problem=problem, until="", masks=(),
            tabs=review_queue.tabs(view),
        )  # fmt: skip
    if status == 200:
        review_queue.part_value(view, "findings")  # may take long; the report of the gate is cached then
    files = read_files_to_scan(view.repo, view.now.date())
    report = review_queue.report_of(view, files)
    rows = sorted(
        report.findings, key=lambda finding: (finding.severity is not Severity.BLOCK, finding.path, finding.line)
    )
    shown = rows[view.start : view.start + MAX_FINDINGS]
    paths = {row.path for row in shown}
    masks: set[tuple[str, str]] = set()  # (path, rule) of the findings that masking mends
    for blob in files.blobs:
        if blob.path in paths:
            masked = redaction(decode(blob.data)[0], blob.path, files.policy, only_secrets=True)
            masks.update((blob.path, rule) for rule in masked.rules)
    until = (view.now.date() + exceptions.EXCEPTION_LIFETIME).isoformat()
    return view.render(
        "findings.html",
        status,
        rows=shown,
        count=len(rows),
        whole=files.whole,
        problem=problem,
        tabs=review_queue.tabs(view),
        until=until,
        masks=masks,
        facts={(row.path, row.fact.line): row for row in view.facts.rows},
    )


def mask(view: View, form: dict[str, str]) -> Response:
    """Mask the findings in one file: show the preview, or commit the preview whose token the form has. Raises
    MissingFile for a file that is not in Git's index, and the errors of `mask_plan` and of the commit, such as
    Refused."""
    plan = mask_plan(view.repo, _path(view, form), view.now.date())
    return _preview_or_commit(view, form, "findings/mask", "Mask what the gate finds", plan)


def allow(view: View, form: dict[str, str]) -> Response:
    """Allow one finding until a day: show the preview, or commit the preview whose token the form has. Raises
    MissingFile for a file that is not in Git's index, UsageError for a missing reason, an invalid day or fingerprint,
    and the errors of `allow_plan` and of the commit, such as Refused."""
    path = _path(view, form)
    decision = read_decision(view, form)
    fingerprint = form.get("fingerprint", "")
    if not FINGERPRINT.fullmatch(fingerprint):
        raise UsageError(view.t("This is no fingerprint"))
    plan = allow_plan(view.repo, view.config, fingerprint, path, decision)
    form = {**form, "reason": decision.reason, "salt": decision.salt}
    return _preview_or_commit(view, form, "findings/allow", "Allow this finding", plan)


def read_decision(view: View, form: Mapping[str, str]) -> Decision:
    """The decision in a form that allows a finding; a salt that the form lacks is made. Raises UsageError for a missing
    reason and for an invalid day."""
    reason = typed_line(form, "reason")
    if not reason:
        raise UsageError(view.t("A reason is missing"), view.t("go back and say why: it goes into the commit"))
    salt = form.get("salt", "")
    if not SALT.fullmatch(salt):
        salt = secrets.token_hex(16)
    return Decision(reason, exceptions.parse_date(form.get("until", "")), view.now.date(), salt)


def without_fingerprints(shown: Preview) -> Preview:
    """The preview without the fingerprints and the salt in the exceptions file, which mean nothing to a person."""
    files = list(shown.files)
    for number, file in enumerate(files):
        if file.path == exceptions.FILE:
            lines = tuple(line for line in file.lines if not DIGEST_LINE.match(line.text))
            files[number] = replace(file, lines=lines)
    return replace(shown, files=tuple(files))


def _path(view: View, form: dict[str, str]) -> str:
    """The path in Git's index that the form names. Raises MissingFile if the index has no such file."""
    path = next((entry.path for entry in view.repo.staged() if file_key(entry.path) == form.get("file")), None)
    if path is None:
        raise MissingFile(view.t("There is no such file in Git"), view.t("look at it as it is now"))
    return path


def _preview_or_commit(view: View, form: dict[str, str], address: str, title: str, plan: Plan[Any]) -> Response:
    """Show the preview of a plan, or commit the preview whose token the form has; if memory has changed since the
    preview, show the findings with the reason (409). `address`: of the change, such as "findings/mask"."""
    if not form.get("shown"):
        shown = without_fingerprints(preview(view.repo, plan))
        fields = {name: visible(value) for name, value in form.items()} | {"shown": shown.token}
        return view.render(
            "decision.html",
            title=title,
            address=address,
            shown=view.mask(shown),
            fields=fields,
            back=view.url("findings"),
        )
    try:
        _, oid = commit_previewed(view.repo, plan, form["shown"], undoable=address != "findings/mask")
    except Changed as error:
        return page(view, 409, error.message)
    if address == "findings/mask":
        drop_kept_texts(view.repo)
    return view.redirect("findings", done=oid)
