if gitmem_staged; then gitmem hook @hook@ "$@" || gitmem_refuse; fi
