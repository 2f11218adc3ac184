"""Connections to servers: opened on first use, lent to calls, replaced when they die, closed when unused."""
