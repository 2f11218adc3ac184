"""Stage calibrate: the gate that decides a message, learned here or Octomind's own."""

from octoc.compiler.calibrate.stage import calibrate

__all__ = ["calibrate"]
