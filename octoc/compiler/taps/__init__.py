"""Taps from git: their addresses and revisions, and the user's store of fetched folders.

Only `remote.py` and `fetch.py` use the network, and only commands call them: a stage reads what the store has.
"""
