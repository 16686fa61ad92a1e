gitmem_promote=@promote@
if ! git diff --quiet --no-ext-diff --no-textconv HEAD^ HEAD -- '*.md' memory '.gitmem*' 2>/dev/null; then
  gitmem hook @hook@ --promote="$gitmem_promote" "$@" </dev/null >/dev/null 2>&1 || :
fi
