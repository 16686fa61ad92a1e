gitmem hook @name@ "$@" </dev/null >/dev/null 2>&1 || :
