"""The warning that the change edits files which decide how memory is checked: settings, exceptions, hooks, workflows
and the like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gitmem.plural import counted
from gitmem.review.markup import Links, escaped_message
from gitmem.review.page import Row
from gitmem.review.settings_changes import SettingsChange, settings_changes
from gitmem.review.warnings.warning import CheckRow, Place, Range, Remark, ReviewWarning


@dataclass(frozen=True, slots=True)
class ChangedChecks(ReviewWarning):
    """The changed files that decide how memory is checked, those that loosen a check first."""

    key: ClassVar[str] = "settings"
    title: ClassVar[str] = "Changes what memory is checked by"
    noun: ClassVar[str] = "file"
    place: ClassVar[Place] = Place.FIRST
    found: tuple[SettingsChange, ...] = ()

    def checked(self) -> Iterator[CheckRow]:
        words = "unchanged"
        if self.found:
            words = f"{counted(len(self.found), 'file')} changed"
        if any(change.loosened for change in self.found):
            words += ", **loosened**"
        yield CheckRow(not self.found, "Settings, exceptions, hooks, workflows, owners, hosts", words)

    def rows(self, links: Links) -> Iterator[Row]:
        for change in self.found:
            file = links.file(change.path)
            if change.loosened:
                yield Row(f"**loosened** {file}: {escaped_message(change.loosened)}")
            else:
                yield Row(f"{change.what} {file}")

    def remarks(self) -> Iterator[Remark]:
        for change in self.found:
            words = f"{change.what}: it decides how memory is checked"
            if change.loosened:
                words += f"; {change.loosened}"
            yield Remark(change.path, 1, "settings-changed", words)


def check(commits: Range) -> ChangedChecks:
    """Look for changed files that decide how memory is checked."""
    return ChangedChecks(found=tuple(settings_changes(commits.repo, commits.base, commits.head)))
