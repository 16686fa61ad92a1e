"""Reads text in four languages: sentences, words, dates, numbers, names, and a module of word lists for each language.

Every package may import it; it imports leaf modules only. It never reads a file, a repository or the clock.
"""
