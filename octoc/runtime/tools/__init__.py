"""Calls of tools, of servers and octoc's own."""
