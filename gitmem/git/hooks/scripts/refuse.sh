# A gate that cannot run refuses. If git mem itself is gone (`pip uninstall` before `git mem uninstall`), a person is told
# how to install it again, or which lines of which files to delete and by which command.
gitmem_refuse() {
  gitmem --version >/dev/null 2>&1 || {
    gitmem_at=$(cd -- "$(dirname -- "$0")" && pwd) && cd -- "$gitmem_at" || exit 1
    echo "git mem is gone from this machine: nothing was scanned, so ${0##*/} refuses"
    echo "hint: to keep it, install git mem again, then: git mem install"
    echo "hint: to leave it, delete the lines from '@begin@' to '@end@' in:"
    gitmem_files=$(grep -ls '^@begin@' ./* | tr '\n' ' ')
    for gitmem_file in $gitmem_files; do printf '  %s\n' "$gitmem_at/${gitmem_file#./}"; done
    echo "hint: this command does that, and keeps each file as it was beside it, as NAME.old:"
    printf "  (cd '%s' && sed -i.old '/%s/,/%s/d' %s)\n" "$(printf %s "$gitmem_at" | sed "s/'/'\\\\''/g")" \
      '^@begin@' '^@end@' "${gitmem_files% }"
  } >&2
  exit 1
}
