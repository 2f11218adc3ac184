"""Rules over the limits of model providers: constructs of a schema, aliases, descriptions."""

from __future__ import annotations

from collections.abc import Mapping

from octoc.aliases import MAX_ALIAS, sanitize
from octoc.compiler.lint.tools.constructs import constructs_of
from octoc.compiler.lint.tools.recorded import Prompts, RecordedTool, recorded_tools
from octoc.compiler.model.build import Build
from octoc.diagnostics.model import DiagnosticSink, KeyPath
from octoc.diagnostics.rules import lint_tools as rules
from octoc.formats.providers import DESCRIPTION_LIMITS, LABELS, PROVIDER_RULES, ProviderRule
from octoc.formats.walk import pointer
from octoc.lists import all_of, some_names
from octoc.names import ToolId
from octoc.plugin.lint import lint_check

_NAMED = 3
Found = list[tuple[RecordedTool, KeyPath]]
Refusal = tuple[ProviderRule, KeyPath]


@lint_check(rules.PROVIDER_DROPS, rules.PROVIDER_REJECTS)
def check_providers(build: Build, sink: DiagnosticSink) -> None:
    """Report what a provider of `[lint] providers` refuses, and what an adapter has to leave out for it.

    The tools of one server that it refuses for the same reasons are one finding, at the first of them.
    """
    chosen = _providers(build)
    by_construct: dict[str, list[ProviderRule]] = {}
    for rule in PROVIDER_RULES:
        if rule.provider in chosen:
            by_construct.setdefault(rule.construct, []).append(rule)
    refused: dict[tuple[str, frozenset[str]], list[tuple[RecordedTool, list[Refusal]]]] = {}
    dropped: dict[tuple[str, str, str], Found] = {}
    for tool in recorded_tools(build):
        if not isinstance(tool.schema, Mapping):
            continue
        refusals: dict[str, Refusal] = {}
        for (construct, only), paths in constructs_of(tool.schema).items():
            for rule in by_construct.get(construct, ()):
                if only not in ("", rule.provider):
                    continue
                if rule.drops:
                    dropped.setdefault((tool.id.server, rule.provider, rule.says), []).append((tool, paths[0]))
                else:
                    refusals[f"{rule.provider} {rule.says}"] = (rule, paths[0])
        if refusals:
            refused.setdefault((tool.id.server, frozenset(refusals)), []).append((tool, list(refusals.values())))
    prompts = Prompts(build)
    for tools in refused.values():
        _report_refused(tools, prompts, sink)
    _report_dropped(dropped, sink)


def _report_refused(tools: list[tuple[RecordedTool, list[Refusal]]], prompts: Prompts, sink: DiagnosticSink) -> None:
    tool, refusals = tools[0]
    who = all_of([label for name, label in LABELS.items() if name in {rule.provider for rule, _ in refusals}])
    others = [other.id.tool for other, _ in tools[1:]]
    more = f" and of {_counted(len(others), 'tool')} like it" if others else ""
    path = refusals[0][1]
    place = tool.place.child("inputSchema", *path)
    notes = [f"at `{pointer(at)}`: {LABELS[rule.provider]} {rule.says} ({rule.source})" for rule, at in refusals]
    if others:
        notes.append(f"like it: {some_names(others, _NAMED)}")
    sink.report(
        rules.PROVIDER_REJECTS,
        f"{who} would refuse the `inputSchema` of tool `{tool.id}`{more}",
        at=place.key() if path[-2:-1] == ("properties",) else place,
        notes=(*notes, prompts.note([tool.id, *(other.id for other, _ in tools[1:])])),
        help="name the providers that you use in `[lint] providers`, or leave the tool out with `exclude_tools`",
    )


def _report_dropped(dropped: Mapping[tuple[str, str, str], Found], sink: DiagnosticSink) -> None:
    for (server, provider, says), found in dropped.items():
        tool, path = found[0]
        many = _counted(len(found), "tool")
        sink.report(
            rules.PROVIDER_DROPS,
            f"{LABELS[provider]} {says}: it has to be left out of {many} of server `{server}`",
            at=tool.place.child("inputSchema", *path),
            help="an adapter does so, and arguments that the server refuses are then seen only by the server",
        )


@lint_check(rules.LONG_TOOL_DESCRIPTION, rules.NO_TOOL_DESCRIPTION)
def check_descriptions(build: Build, sink: DiagnosticSink) -> None:
    """Report a tool without a description, and one whose description a provider cuts or refuses."""
    chosen = _providers(build)
    limits = [limit for limit in DESCRIPTION_LIMITS if limit.provider in chosen]
    for tool in recorded_tools(build):
        description = tool.description
        if not description.strip():
            sink.report(
                rules.NO_TOOL_DESCRIPTION,
                f"tool `{tool.id}` has no description: a model can only guess from its name what it does",
                at=tool.place.child("description") if "description" in tool.wire else tool.place,
                help="tell the server's author",
            )
            continue
        sizes = {"characters": len(description), "bytes": len(description.encode("utf-8", "surrogatepass"))}
        over = [limit for limit in limits if sizes[limit.unit] > limit.limit]
        if over:
            sink.report(
                rules.LONG_TOOL_DESCRIPTION,
                f"the description of tool `{tool.id}` has {sizes['characters']} characters",
                at=tool.place.child("description"),
                notes=tuple(f"above {limit.limit} {limit.unit} {limit.says} ({limit.source})" for limit in over),
                help="what matters should come first; `find_tools` searches all of it and shows 200 characters",
            )


@lint_check(rules.ALIAS_SHORTENED)
def check_aliases(build: Build, sink: DiagnosticSink) -> None:
    """Report a tool whose full name is too long for model APIs, so that its alias is cut and ends in a digest."""
    places = {tool.id: tool.place for tool in recorded_tools(build)}
    for tool in build.scoped.tools:
        written = sanitize(_qualified(tool.id))
        if tool.alias not in (written, sanitize(tool.id.tool)) and len(written) > MAX_ALIAS and tool.id in places:
            sink.report(
                rules.ALIAS_SHORTENED,
                f"tool `{tool.id}` is called `{tool.alias}` for models, which take {MAX_ALIAS} characters",
                at=places[tool.id].child("name"),
                help="a shorter name of the server leaves more of the tool's",
            )


def _qualified(tool: ToolId) -> str:
    return f"{tool.server}__{tool.tool}"


def _providers(build: Build) -> frozenset[str]:
    return frozenset(build.settings.lint.providers)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
