"""Files about one server or one skill that a workspace does not start: octoc validates them by their readers' rules."""

from octoc.plugin.file_kinds import ANY, FileKind

FASTMCP = FileKind(
    name="fastmcp",
    syntax="json",
    patterns=("fastmcp.json", "*.fastmcp.json"),
    exclude="octoc.compiler.check.published:is_proxy",
    check="octoc.compiler.check.published:check_fastmcp",
    scan="everywhere",
    is_complete=True,
    is_published=True,
)
"""FastMCP's `fastmcp.json`. Seen in the source of version 3.0: keys that it does not know are ignored."""

REGISTRY_SERVER = FileKind(
    name="registry-server",
    syntax="json",
    content_patterns=("server.json",),
    recognize=lambda values: (
        "modelcontextprotocol" in str(values.get("$schema"))
        or ("/" in str(values.get("name")) and "version" in values and not {"packages", "remotes"}.isdisjoint(values))
    ),
    marks=("modelcontextprotocol.io/schemas/",),
    exclude="octoc.compiler.check.published:is_older_entry",
    effect="the MCP registry refuses the entry",
    check="octoc.compiler.check.published:check_registry_server",
    scan="everywhere",
    is_complete=True,
    is_published=True,
    names_files=True,
)
"""The MCP registry's `server.json`. Seen in its schema of 2025-12-11 and in the source of its validators."""

SKILLS_LOCK = FileKind(
    name="skills-lock",
    syntax="json",
    units=(("skills", ANY),),
    patterns=("skills-lock.json",),
    exclude="octoc.compiler.check.published:is_own_lock",
    check="octoc.compiler.check.published:check_skills_lock",
    checked_files=("skills-lock.json",),
    scan="everywhere",
    is_complete=True,
    names_files=True,
)
"""The `skills` program's `skills-lock.json`. Seen in its source (`src/local-lock.ts` of commit 0363f53): the digest
covers the files of a skill's source, also those that it does not install, as `metadata.json`."""

SKILLS_FOLDERS = (".agents/skills", ".claude/skills")
"""Where the `skills` program installs; the folders of other clients are links to the first."""

APM_LOCK = FileKind(
    name="apm-lock",
    syntax="yaml",
    schema={"type": "object"},
    patterns=("apm.lock.yaml",),
    check="octoc.compiler.check.skill_locks:check_deployed_files",
    checked_files=("apm.lock.yaml",),
    scan="everywhere",
    is_complete=True,
    names_files=True,
)
"""The lock of `apm`, a package manager for agents. Seen in the source of version 0.28.0 (`deps/lockfile.py`,
`utils/content_hash.py`): each deployed file has a digest, of text with line ends of Unix."""
