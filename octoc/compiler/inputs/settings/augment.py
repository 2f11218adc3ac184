"""Augment's `.augment/settings.json`, its servers left out."""

from octoc.compiler.inputs.mcp.augment import AUGMENT as AUGMENT_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.compiler.inputs.settings.hook_form import AUGMENT_HOOK_FORM

AUGMENT = SettingsDialect(
    name="augment",
    client="Augment",
    patterns=AUGMENT_SERVERS.patterns,
    reads_comments=True,
    hooks=AUGMENT_HOOK_FORM,
)
