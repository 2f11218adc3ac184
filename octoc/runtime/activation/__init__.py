"""Capabilities of a session: routing a message to one, activation, and eviction of others."""
