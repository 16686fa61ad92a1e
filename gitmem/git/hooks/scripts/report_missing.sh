# If another program has replaced a gate, a hook that still runs reports it.
gitmem_at=$(dirname -- "$0")
{ grep -qs '^# >>> git mem' "$gitmem_at/pre-commit" "$gitmem_at/pre-commit.legacy" &&
  grep -qs '^# >>> git mem' "$gitmem_at/commit-msg" "$gitmem_at/commit-msg.legacy"; } ||
  [ ! -e "$(git rev-parse --git-common-dir)/gitmem/hooks" ] || gitmem hook @hook@ --gone </dev/null || :
