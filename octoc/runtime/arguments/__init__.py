"""Validation of a call's arguments by the tool's schema before anything is sent."""
