"""`git mem completion`: a script that completes `git-mem` and, through Git's own completion, `git mem`.

The scripts are ours and not click's, whose protocol they speak: those know no names with spaces (bash), complete every
other time once they are autoloaded (zsh) and know nothing of `git mem` (fish).
"""

from __future__ import annotations

import click

from gitmem.cli.terminal import write

# Git's completion calls `_git_mem` for `git mem`, with the words so far in `words` and `cword`.
BASH = r"""
_git_mem_complete() {
  local kind value
  COMPREPLY=()
  while IFS=, read -r kind value; do
    case $kind in
      plain) COMPREPLY+=("$value") ;;
      dir) compopt -o dirnames ;;
      file) compopt -o default ;;
    esac
  done < <(COMP_WORDS="$1" COMP_CWORD="$2" _GIT_MEM_COMPLETE=bash_complete git-mem 2>/dev/null)
  compopt -o filenames  # readline quotes what needs it
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *.. ]]; then compopt -o nospace; else compopt +o nospace; fi
}

_git_mem_completion() {
  local IFS=$'\n'
  _git_mem_complete "${COMP_WORDS[*]}" "$COMP_CWORD"
}

_git_mem() {
  local IFS=$'\n' at=${__git_cmd_idx:-1}
  _git_mem_complete $'git-mem\n'"${words[*]:at+1}" "$((cword - at))"
}

complete -o nosort -F _git_mem_completion git-mem
"""
# Zsh's completion for Git calls `_git-mem` for `git mem`, with `mem` as the first word.
ZSH = r"""#compdef git-mem

_git-mem() {
  local -a plain described
  local kind value about
  (( $+commands[git-mem] )) || return 1
  for kind value about in "${(@f)$(COMP_WORDS="git-mem ${(j: :)words[2,-1]}" COMP_CWORD=$((CURRENT - 1)) \
      _GIT_MEM_COMPLETE=zsh_complete git-mem 2>/dev/null)}"; do
    case $kind in
      plain) if [[ $about == _ ]]; then plain+=("$value"); else described+=("$value:$about"); fi ;;
      dir) _path_files -/ ;;
      file) _path_files -f ;;
    esac
  done
  (( $#described )) && _describe -V git-mem described -U
  [[ $#plain == 1 && $plain[1] == *.. ]] && { compadd -U -S '' -a plain; return }
  (( $#plain )) && compadd -U -V git-mem -a plain
}

# The first time this is the body of the function that it defines; where it is sourced, it is registered.
if [[ $funcstack[1] == _git-mem ]]; then _git-mem "$@"; else compdef _git-mem git-mem; fi
"""
# fish's own completion for Git asks that of other programs in some versions only, so both names are registered, where
# fish reads them at its start.
FISH = r"""function _git_mem_completion
    set -l words (commandline -cp | string replace -r '^git(\s.*?)?\smem(?=\s)' git-mem)
    for row in (env _GIT_MEM_COMPLETE=fish_complete COMP_WORDS="$words" COMP_CWORD=(commandline -t) git-mem 2>/dev/null)
        set -l parts (string split -m 1 , -- $row)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end

function _git_mem_is_typed
    commandline -cp | string match -qr '^git(\s.*?)?\smem\s'
end

complete --no-files --command git-mem --arguments '(_git_mem_completion)'
complete --no-files --command git --condition _git_mem_is_typed --arguments '(_git_mem_completion)'
"""
SCRIPTS = {"bash": BASH.lstrip(), "zsh": ZSH, "fish": FISH}


@click.command()
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
def command(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash: git mem completion bash > ~/.local/share/bash-completion/completions/git-mem
    zsh:  git mem completion zsh > "${fpath[1]}/_git-mem"
    fish: git mem completion fish > ~/.config/fish/conf.d/git-mem.fish
    """
    write(SCRIPTS[shell])
