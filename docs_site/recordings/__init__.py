"""Recordings of terminal sessions, made from the real commands: `make recordings` writes `docs/recordings/*.svg`."""
