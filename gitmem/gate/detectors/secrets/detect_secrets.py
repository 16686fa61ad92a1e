"""Runs the plugins of detect-secrets as a second opinion beside our own rules.

Only on request (`git mem scan --plugins`, `plugins: true` of actions/scan, `mem.detectSecrets` for hooks), since the
import alone costs a fifth of a second. The entropy plugins and the one for public addresses are off, because they
flag a fifth of harmless text; so is the filter that lets a comment in the text allow its own line. Nothing is
verified over the network.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.secrets.features import is_placeholder
from gitmem.gate.detectors.secrets.rule_tables import patterns
from gitmem.gate.detectors.text import Match, Text, mask

if TYPE_CHECKING:
    from types import ModuleType

LEFT_OFF = frozenset({"Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"})
# Its own tests of a value that need neither a file nor the network. The allowlist filter is not among them.
FILTERS = tuple(
    f"detect_secrets.filters.heuristic.{name}"
    for name in (
        "is_sequential_string", "is_potential_uuid", "is_likely_id_string", "is_templated_secret",
        "is_prefixed_with_dollar_sign", "is_indirect_reference",
    )
)  # fmt: skip
LONGEST_LINE = 20_000  # characters; a longer line is scanned in parts


@cache
def _settings() -> dict[str, Any]:
    """The settings for detect-secrets: all plugins except LEFT_OFF, by name, and FILTERS."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    plugins: dict[str, Any] = get_mapping_from_secret_type_to_class()
    names = sorted(plugin.__name__ for plugin in plugins.values())
    return {
        "plugins_used": [{"name": name} for name in names if name not in LEFT_OFF],
        "filters_used": [{"path": path} for path in FILTERS],
    }


def detect(text: Text) -> Iterator[Match]:
    """The matches of the plugins of detect-secrets, line by line. A line over 20,000 characters is read in pieces that
    overlap."""
    from detect_secrets.core import scan
    from detect_secrets.settings import transient_settings

    matches: list[Match] = []
    with transient_settings(_settings()):
        for start, line in text.lines:
            for offset in range(0, max(1, len(line)), LONGEST_LINE - 500):
                matches += _line(scan, line[offset : offset + LONGEST_LINE], start + offset, text.raw)
    yield from dict.fromkeys(matches)


def _line(scan: ModuleType, line: str, start: int, raw: str) -> Iterator[Match]:
    for secret in scan.scan_line(line):
        value = secret.secret_value or ""
        offset = line.find(value)
        if not value or offset < 0 or is_placeholder(value):
            continue
        first, last = offset, offset + len(value)
        while first > 0 and offset - first < 200 and patterns.plugin_value_letter.match(line[first - 1]):
            first -= 1  # some plugins name the beginning of a token only
        while last < len(line) and last - offset < 400 and patterns.plugin_value_letter.match(line[last]):
            last += 1
        span = (start + first, start + last)
        rule = f"plugin-{patterns.not_rule_letter.sub('-', secret.type.lower()).strip('-')}"
        message = f"detect-secrets takes this for: {secret.type}"
        shown = mask(raw[span[0] : span[1]])
        if secret.type in ("Secret Keyword", "Basic Auth Credentials"):  # what can be guessed
            shown = "[password]"
        yield Match(rule, Severity.BLOCK, *span, message, secret=True, mask=shown)
