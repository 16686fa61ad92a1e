"""Forges: where a repository lives, and its API. `protocol` says what is asked of one, an adapter each answers."""
