"""Writes a scan's report, one module per output format. Pure: from a report to text.

All text that comes from a repository is escaped for its target; excerpts are masked already.
"""
