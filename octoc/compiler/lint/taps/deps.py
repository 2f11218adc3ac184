"""Rules over dependency scripts: `deps/<org>/<tool>.sh`."""

from __future__ import annotations

from octoc.compiler.lint.taps.lookup import all_providers
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.lint_taps import MISSING_SCRIPT, UNUSED_SCRIPTS
from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import some_names
from octoc.plugin.lint import lint_check


@lint_check(MISSING_SCRIPT)
def check_scripts(build: Build, sink: DiagnosticSink) -> None:
    """Report a required script that its tap does not have."""
    discovered = build.discovered
    for tap, dep in _required(build):
        if (tap, dep.value) in discovered.dep_names:
            continue
        sink.report(
            MISSING_SCRIPT,
            f"tap `{tap}` has no script `deps/{dep.value}.sh`",
            at=dep.place,
            help=did_you_mean(dep.value, (script for owner, script in discovered.dep_names if owner == tap)),
        )


@lint_check(UNUSED_SCRIPTS)
def check_unused(build: Build, sink: DiagnosticSink) -> None:
    """Report the scripts that no file of a tap requires, once for each tap."""
    discovered = build.discovered
    used = {(tap, dep.value) for tap, dep in _required(build)}
    for tap in discovered.taps:
        unused = sorted(script for owner, script in discovered.dep_names if owner == tap.name)
        unused = [script for script in unused if (tap.name, script) not in used]
        if unused:
            count = "a script" if len(unused) == 1 else f"{len(unused)} scripts"
            sink.report(
                UNUSED_SCRIPTS,
                f"nothing in tap `{tap.name}` requires {count} of `deps/`: {some_names(unused, 8)}",
                at=Place(file=f"{tap.display}/deps"),
                help="require them in a capability, or delete them",
            )


def _required(build: Build) -> list[tuple[str, Located[str]]]:
    """Return every `deps.require` with the tap of its file, also those of providers that no capability uses."""
    required = [(source.tap, dep) for source, provider in all_providers(build) for dep in provider.deps]
    required.extend((agent.tap, dep) for agent in build.sources.agents if agent.tap is not None for dep in agent.deps)
    return required
