"""Workspaces made of what other systems export. Nothing of an export is dropped without a word."""

from octoc.compiler.migrate.octopus import Migration, migrate, read_octopus
from octoc.compiler.migrate.surroundings import Surroundings, surroundings_of
from octoc.compiler.migrate.write import write_new

__all__ = ["Migration", "Surroundings", "migrate", "read_octopus", "surroundings_of", "write_new"]
