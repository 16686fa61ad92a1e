"""Forges: where a repository lives, and its API. `forge` says what is asked of one, an adapter each answers."""
