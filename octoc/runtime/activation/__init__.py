"""Capabilities of a session: which a message is for, activating them, and what gives way to them."""
