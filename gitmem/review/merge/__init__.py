"""What a merge makes of a memory file that both sides changed: Git's merge driver, `sync` and the merge of a branch."""
