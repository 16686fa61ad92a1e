"""The form of a calendar day in file names and comments: `2026-02-05` (ISO 8601, extended format)."""

ISO_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"  # a regular expression; it also matches days that no calendar has
