"""Text -> values, and values back to lines and columns.

Nothing is imported here: to see that no input changed takes the bytes, and no parser.
"""
