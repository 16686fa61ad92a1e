# Whether a staged change may touch memory; a git error counts as yes. Variables of the environment must not change the
# patterns. If .gitmem.toml or the user's settings name other paths, only the gate knows what is memory, so the answer is
# yes. So it is in a merge: a line that a merge drops from the other side does not differ from HEAD.
gitmem_staged() {
  ! GIT_LITERAL_PATHSPECS=0 GIT_GLOB_PATHSPECS=0 GIT_NOGLOB_PATHSPECS=0 git -c core.fsmonitor=false diff --cached \
    --quiet --no-ext-diff --ignore-submodules=none -- '.gitmem*' ':(icase)*.gitatt*' @pathspecs@ ||
    GIT_LITERAL_PATHSPECS=0 git grep -q --cached -epaths -eprotected -- .gitmem.toml ||
    git config --get-regexp '^mem\.(memorypaths|protected)$' >/dev/null ||
    git rev-parse -q --verify MERGE_HEAD >/dev/null ||
    GIT_LITERAL_PATHSPECS=0 git grep -qE --cached -e '@import@' -- @importers@
}
