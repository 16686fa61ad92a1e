"""Check the claims that memory and instruction files make about the repository against the files of a commit."""
