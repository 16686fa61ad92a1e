"""The agents' hosts themselves, run against a scripted model: what of docs/agents.md is true of which version.

`make hosts` installs them from npm into `.hosts/` (versions: package.json beside this file) and runs each through four
sessions over two days.
"""
