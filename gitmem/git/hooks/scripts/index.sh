gitmem hook @hook@ "$@" </dev/null >/dev/null 2>&1 || :
