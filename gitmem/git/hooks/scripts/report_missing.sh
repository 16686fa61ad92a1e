# If another program has replaced a gate, or Git cannot run it, a hook that still runs reports it. husky (folder `_`)
# runs files whatever their mode.
gitmem_at=$(dirname -- "$0")
{ grep -qs '^# >>> git mem' "$gitmem_at/pre-commit" "$gitmem_at/pre-commit.legacy" &&
  grep -qs '^# >>> git mem' "$gitmem_at/commit-msg" "$gitmem_at/commit-msg.legacy" &&
  { [ -d "$gitmem_at/_" ] || { [ -x "$gitmem_at/pre-commit" ] && [ -x "$gitmem_at/commit-msg" ]; }; }; } ||
  [ ! -e "$(git rev-parse --git-common-dir)/gitmem/hooks" ] || gitmem hook @hook@ --gone </dev/null || :
