"""`git mem completion`: a script that completes `git-mem` and, through Git's own completion, `git mem`."""

from __future__ import annotations

import click

from gitmem.cli.terminal import write

# Git's completion for bash and zsh calls `_git_mem` for `git mem`, with the words so far in `words` and `cword`.
GIT_BASH = """
_git_mem() {
  local found
  found=$(COMP_WORDS="git-mem ${words[*]:2}" COMP_CWORD=$((cword - 1)) _GIT_MEM_COMPLETE=bash_complete git-mem)
  __gitcomp "$(printf '%s\\n' "$found" | sed 's/^[a-z]*,//')"
}
"""


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash: git mem completion bash > ~/.local/share/bash-completion/completions/git-mem
    zsh:  git mem completion zsh > "${fpath[1]}/_git-mem"
    fish: git mem completion fish > ~/.config/fish/completions/git-mem.fish
    """
    from click.shell_completion import get_completion_class

    from gitmem.cli.main import COMPLETE, main_command

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    write(completion_class(main_command, {}, "git-mem", COMPLETE).source() + (GIT_BASH if shell != "fish" else ""))
