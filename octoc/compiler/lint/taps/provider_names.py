"""A rule over names of servers in a provider's file that no capability resolves, such as one file by itself."""

from __future__ import annotations

from octoc.compiler.lint.taps.lookup import all_providers, providers_of
from octoc.compiler.lint.workspace import LintRun
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_servers import UNDEFINED_IN_FILE
from octoc.diagnostics.suggest import did_you_mean
from octoc.names import ToolPattern
from octoc.plugin.lint import lint_check


@lint_check(UNDEFINED_IN_FILE)
def check_provider_names(workspace: LintRun, sink: DiagnosticSink) -> None:
    """Report server references and patterns of a provider that name none of its servers.

    OCT301 and OCT320 report those of a capability's chosen provider, except for one file by itself.
    """
    chosen = {provider.place for provider in providers_of(workspace).values()}
    elsewhere = {server.name for server in workspace.servers if not server.private}
    for _, provider in all_providers(workspace):
        if provider.place in chosen and not workspace.is_one_file:
            continue
        own = {server.name for server in provider.servers}
        references = provider.server_refs or ()
        # Without a definition the file may be about servers of the user's own settings.
        for reference in references if own else ():
            if reference.value not in own | elsewhere:
                sink.report(
                    UNDEFINED_IN_FILE,
                    f"`server_refs` names server `{reference.value}`, which this file does not define",
                    at=reference.place,
                    help=did_you_mean(reference.value, own) or "add a `[[mcp.servers]]` of this name to the file",
                )
        named = own | {reference.value for reference in references}
        for entry in provider.allowed_tools or ():
            pattern = ToolPattern.parse(entry.value)
            if named and pattern.server is not None and pattern.server not in named:
                sink.report(
                    UNDEFINED_IN_FILE,
                    f"pattern `{entry.value}` names server `{pattern.server}`, which this file does not have",
                    at=entry.place,
                    help=did_you_mean(pattern.server, own) or f"add `{pattern.server}` to `server_refs`",
                )
