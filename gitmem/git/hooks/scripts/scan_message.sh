# The gate reads a commit message if memory is staged, or if the message may hold what a detector finds.
if gitmem_staged || LC_ALL=C grep -aEqi \
  '@may_hold@' "$1"; then
  gitmem hook @hook@ "$@" || gitmem_refuse; fi
