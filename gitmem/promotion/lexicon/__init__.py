"""The cues of the `rules` model, a module for each language: data only; `promotion/cues.py` says how they are read."""
