# Only the commits of an agent, and the commit of a staged promotion, get trailers.
if { [ -e "$(git rev-parse --git-path gitmem-promotion)" ] || git config mem.agent >/dev/null; } && gitmem_staged
then gitmem hook @hook@ "$@" || :; fi
