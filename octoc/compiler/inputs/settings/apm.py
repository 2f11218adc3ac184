"""APM's `apm.yml`, its servers left out.

Source: APM 0.28, `models/apm_package.py`: it refuses a manifest without a name or a version.
"""

from octoc.compiler.inputs.agents.clients import ANYTHING, object_schema
from octoc.compiler.inputs.mcp.apm import APM as APM_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

APM = SettingsDialect(
    name="apm",
    client="APM",
    patterns=APM_SERVERS.patterns,
    syntax="yaml",
    server_list=APM_SERVERS.server_list,
    effect="APM refuses the manifest",
    schema=object_schema({"name": ANYTHING, "version": ANYTHING}, "name", "version"),
    # Programs that measure performance have files of this name, too.
    root_keys=("dependencies", "devDependencies", "targets?", "includes"),
)
