"""Recorded tools, offers and servers: the digests of their parts, and rules for how one record differs from another."""
