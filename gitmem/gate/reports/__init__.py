"""Writes a scan's report, one module per output format. Pure: a report in, text out.

All text that comes from a repository is escaped for its target; excerpts are masked already.
"""
