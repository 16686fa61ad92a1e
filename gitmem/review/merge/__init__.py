"""Three-way merges of memory files, for Git's merge driver, `git mem sync` and the merge of a branch."""
