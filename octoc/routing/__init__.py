"""From a message to a decision without an LLM: clean it, score it, pass it through the gate.

Pure functions, shared by compiler and runtime, so that what is calibrated at build is exactly what runs.
numpy is loaded by `octoc.routing.router` and what it imports, never by this module.
"""
