"""Rules over taps: capabilities, agents, skills and dependency scripts, as octoc and Octomind read them."""

from __future__ import annotations

from octoc.compiler.lint.taps.agents import check_domains, check_wiring
from octoc.compiler.lint.taps.capabilities import check_substance, check_triggers, check_trust
from octoc.compiler.lint.taps.confusable_capabilities import check_confusable_capabilities
from octoc.compiler.lint.taps.deps import check_scripts, check_unused
from octoc.compiler.lint.taps.domains import check_unknown_domains
from octoc.compiler.lint.taps.headers import check_headers, check_tool_notes
from octoc.compiler.lint.taps.placeholders import check_gate, check_prose, check_varying
from octoc.compiler.lint.taps.portability import check_bare_names, check_merge, check_own_servers
from octoc.compiler.lint.taps.provider_names import check_provider_names
from octoc.compiler.lint.taps.skills import check_activation, check_folders, check_needs, check_rules
from octoc.compiler.lint.taps.tools import check_repeated_definitions, check_shared_tools
from octoc.compiler.lint.taps.triggers import check_near_triggers
from octoc.compiler.lint.taps.unreachable import check_unreachable

__all__ = ["CHECKS"]

CHECKS = (
    check_triggers,
    check_substance,
    check_trust,
    check_near_triggers,
    check_merge,
    check_own_servers,
    check_bare_names,
    check_provider_names,
    check_shared_tools,
    check_repeated_definitions,
    check_prose,
    check_gate,
    check_varying,
    check_domains,
    check_unknown_domains,
    check_wiring,
    check_rules,
    check_activation,
    check_needs,
    check_folders,
    check_scripts,
    check_unused,
    check_headers,
    check_tool_notes,
    check_unreachable,
    check_confusable_capabilities,
)
