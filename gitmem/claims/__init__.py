"""What lines of memory and of agents' instructions say about the repository, and whether its tree still agrees."""
