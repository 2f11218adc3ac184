"""Calls of tools: a server's, and octoc's own."""
