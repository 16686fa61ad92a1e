"""The inspector: memory as pages in a local browser (docs/ui.md).

An entry point like the command line: a page reads its URL, calls functions of other packages and shows the values that
they return. Every change goes through the same function as the command that makes it.
"""
