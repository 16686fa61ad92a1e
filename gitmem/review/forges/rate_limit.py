"""Reads the rate limit that a forge's response reports: which one it is, and how long to wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from gitmem.http_request import Response
from gitmem.review.forges.response import reason

SECONDARY_LIMIT_SECONDS = 60.0  # the least that GitHub asks for after a secondary limit without a time
MAX_EPOCH_DIGITS = 12  # of a time in seconds since 1970; milliseconds have 13, and longer numbers are no time
ROUNDING_SECONDS = 1.0  # added to the time of a reset: the limit may end within that whole second


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate limit that a request met. `description`: which limit it is. `seconds`: until it ends, None when the forge
    does not say."""

    description: str
    seconds: float | None

    def pause(self, attempt: int) -> float:
        """The seconds to wait: what the forge says, else a minute that doubles with each attempt, as GitHub asks.
        `attempt`: from 1."""
        if self.seconds is not None:
            return self.seconds
        return SECONDARY_LIMIT_SECONDS * 2.0 ** (attempt - 1)

    @property
    def when(self) -> str:
        """When to try again, in words."""
        if self.seconds is None:
            return "in some minutes"
        minutes = -(-int(self.seconds) // 60)
        return f"in {minutes} minutes" if minutes > 1 else "in a minute"


def limit_of(response: Response) -> Limit | None:
    """The rate limit that a response reports; None for a response that reports none.

    A primary limit (requests per hour) has `ratelimit-remaining: 0` and the time of its end. A secondary limit (too
    many requests at once) has Retry-After, or only a message. A missing permission is a 403 too, with none of these.
    https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    if response.status not in (403, 429):
        return None
    headers = response.headers
    seconds = _retry_after(headers)
    used_up = "0" in (headers.get("x-ratelimit-remaining"), headers.get("ratelimit-remaining"))
    message = reason(response).lower()
    is_secondary = "secondary rate limit" in message or "abuse detection" in message
    if is_secondary or (seconds is not None and not used_up):
        return Limit("too many requests in a short time (a secondary limit)", seconds)
    if used_up:
        if seconds is None:
            seconds = _reset_after(headers)
        return Limit("all that this token may make for now are made", seconds)
    if response.status == 429:
        return Limit("too many requests", None)
    return None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds: a number, or a date compared with the response's own Date. None for anything else."""
    text = headers.get("retry-after", "")
    if text.isdecimal():
        return float(text)
    try:
        if not text:
            return None
        return max(0.0, (parsedate_to_datetime(text) - _date(headers)).total_seconds())
    except (ValueError, TypeError):
        return None


def _reset_after(headers: Mapping[str, str]) -> float | None:
    """The seconds until the limit is reset, by the forge's clock; None when one of the two times is missing."""
    reset = headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or ""
    if not reset.isdigit() or len(reset) > MAX_EPOCH_DIGITS:
        return None
    try:
        return max(0.0, float(reset) - _date(headers).timestamp()) + ROUNDING_SECONDS
    except (ValueError, TypeError):
        return None


def _date(headers: Mapping[str, str]) -> datetime:
    """The time of the response by the forge's clock. Raises ValueError or TypeError without a Date header."""
    return parsedate_to_datetime(headers.get("date", "")).astimezone(UTC)
