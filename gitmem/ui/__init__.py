"""The inspector: memory as pages in a browser, on this machine alone (docs/ui.md).

An entry point, as the command line is: a page reads its address, calls flows and shows their values. It knows nothing
of memory that a flow does not tell it, and every change goes through the flow of the command that makes it.
"""
