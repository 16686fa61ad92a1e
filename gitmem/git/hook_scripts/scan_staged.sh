if gitmem_staged; then gitmem hook @name@ "$@" || gitmem_refuse; fi
