"""Checked values -> source models. Cannot fail after check.

Nothing is imported here: a check whose answer is known needs the settings, and no stage.
"""
