"""Roo Code's `.roomodes`: the modes of a project.

Source: Roo Code, `packages/types/src/mode.ts` (2026): it refuses a file in which two modes have one `slug`, or one
lacks a key that each needs. octoc reads the form in YAML.
"""

from octoc.compiler.inputs.settings.clients import SettingsDialect

_NEEDED = ("slug", "name", "roleDefinition", "groups")
ROO_MODES = SettingsDialect(
    name="roo-modes",
    client="Roo Code",
    patterns=(".roomodes",),
    syntax="yaml",
    root_keys=("customModes",),
    effect="Roo Code refuses the file",
    unique={("customModes", "*"): ("slug", "Roo Code refuses the file")},
    known_keys={
        ("customModes", "*"): frozenset({*_NEEDED, "whenToUse", "description", "customInstructions", "source"})
    },
    needed={("customModes", "*"): dict.fromkeys(_NEEDED, "refuses the file")},
    prompts=tuple(("customModes", "*", key) for key in ("roleDefinition", "customInstructions", "whenToUse")),
)
