"""Rules of this range; see the package."""
