"""What words mean, in one place: sentences, words, dates, numbers, names, and one module of named lists a language.

The package stands at the bottom of the order of imports: only leaves stand below it, and every package may import it.
It reads text that it is given and never a file, a repository or the clock.
"""
