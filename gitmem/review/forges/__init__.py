"""The forges: GitHub, GitLab and Forgejo. `forge` is their common interface, and each has an adapter module."""
