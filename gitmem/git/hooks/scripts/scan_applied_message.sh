# `git am` stages after this hook.
if LC_ALL=C grep -aEqi \
  '@may_hold@' "$1"; then
  gitmem hook @hook@ "$@" || gitmem_refuse; fi
