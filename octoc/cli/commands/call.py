"""`octoc call server tool '{…}'`: one call, of any tool of the bundle, or as an agent's model would make it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from octoc.cli.options import bundle_option, completes, format_options, trust_option, verbose_option, workspace_option
from octoc.lists import name_list

if TYPE_CHECKING:
    from octoc.results import ContentPart, ToolFailure, ToolResult
    from octoc.runtime import Runtime


@click.command
@click.argument("words", nargs=-1, required=True, metavar="SERVER TOOL [ARGUMENTS]", shell_complete=completes("call"))
@workspace_option
@bundle_option
@trust_option
@click.option(
    "--agent",
    metavar="NAME",
    shell_complete=completes("agents"),
    help="Call as this agent: within its scope, and with its limits for results.",
)
@format_options("text", "json")
@verbose_option
def command(
    words: tuple[str, ...],
    workspace: Path | None,
    bundle: Path | None,
    trust: Path | None,
    agent: str | None,
    output_format: str,
    verbose: bool,
) -> int:
    """Call one tool and print its result.

    ARGUMENTS is a JSON object. If it does not fit the tool's schema, octoc warns and still makes the call. SERVER/TOOL,
    or a TOOL that only one server has, also work. The exit status is 1 when the tool fails. With --agent the call is
    made as that agent's model would make it: tools out of its scope do not exist, and arguments that do not fit are not
    sent.
    """
    from octoc.cli.failures import plugin_missing
    from octoc.cli.progress import ProgressLine
    from octoc.cli.tool_names import named_tool
    from octoc.cli.workspace import log_to_stderr, target_of, with_runtime
    from octoc.plugin.transports import transport_kind

    names, arguments = _split(words)
    log_to_stderr(verbose=verbose, failures=verbose)

    async def work(runtime: Runtime) -> ToolResult | ToolFailure:
        if agent is not None:
            # The agent's registry alone decides what a name means, whatever else the bundle has.
            outcome = await runtime.owners_session(agent).call("/".join(names), arguments)
            await runtime.compare_listed()
            return outcome
        server, tool = named_tool(names, runtime.bundle)
        outcome = await runtime.call_direct(server, tool, arguments)
        await runtime.compare_listed()  # the log has a warning if the server changed since it was recorded
        needed = transport_kind(runtime.plugins, runtime.servers[server].transport).plugin
        if not outcome.ok and needed is not None and needed in runtime.plugins.missing:
            raise plugin_missing(needed)
        return outcome

    target = target_of(bundle, workspace, trust)
    with ProgressLine(is_quiet=output_format == "json") as progress:
        progress(f"waiting for {name_list(['/'.join(names)])}", 0, 1)
        outcome = with_runtime(target, work)
    if output_format == "json":
        click.echo(json.dumps(_as_object(outcome), indent=2))
    else:
        _print(outcome, "/".join(names))
    return 0 if outcome.ok else 1


def _split(words: Sequence[str]) -> tuple[Sequence[str], dict[str, Any]]:
    """Return the words that name the tool, one or two, and the arguments."""
    *names, last = words
    if len(words) > 3:
        raise click.UsageError("expected a server, a tool and one JSON object: quote the object for the shell")
    # One word that is `server/tool` needs no other, so what follows it can only be the arguments.
    if last.lstrip().startswith(("{", "[")) or len(words) == 3 or (len(words) == 2 and "/" in names[0]):
        if not names:
            raise click.UsageError("expected a server and a tool before the JSON object")
        return names, _arguments(last)
    return words, {}


def _no_number(name: str) -> Any:
    from octoc.cli.failures import UserError

    raise UserError(f"the arguments are not JSON: `{name}` is not a number that JSON has", "write `null` or a number")


def _arguments(text: str) -> dict[str, Any]:
    from octoc.cli.failures import UserError
    from octoc.json_limits import finite

    example = """an object in JSON, quoted for the shell: '{"timezone": "UTC"}'"""
    try:
        value = json.loads(text, parse_float=finite, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        reason = error.msg[:1].lower() + error.msg[1:]
        raise UserError(f"the arguments are not JSON: {reason} at {place}", f"expected {example}") from None
    except ValueError:
        raise UserError("the arguments have a number that is too large", "write a smaller number, or text") from None
    except RecursionError:
        raise UserError("the arguments are nested too deeply to be read", f"expected {example}") from None
    if not isinstance(value, dict):
        raise UserError(f"the arguments are a JSON {_json_type(value)}, not an object", f"expected {example}")
    return value


def _json_type(value: object) -> str:
    names = {list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), "null")


def _as_object(outcome: ToolResult | ToolFailure) -> dict[str, Any]:
    import attrs

    from octoc.results import ToolFailure

    if isinstance(outcome, ToolFailure):
        return {
            "ok": False,
            "failure": {
                "kind": outcome.kind,
                "message": outcome.message,
                "text": outcome.text,
                "similar": list(outcome.similar),
                "retry_after_s": outcome.retry_after_s,
            },
        }
    parts = [
        {"type": part.type, "text": part.text} if part.data is None else dict(part.data) for part in outcome.content
    ]
    fields = {"is_error": outcome.is_error, "content": parts, "structured": outcome.structured}
    cuts = [attrs.asdict(cut) for cut in outcome.truncations]
    return {"ok": outcome.ok, **fields, "truncations": cuts}


def _print(outcome: ToolResult | ToolFailure, tool: str) -> None:
    from octoc.cli.failures import UserError
    from octoc.results import ToolFailure

    if isinstance(outcome, ToolFailure):
        from octoc.diagnostics.suggest import did_you_mean

        advice = did_you_mean(outcome.similar[0], outcome.similar) if outcome.similar else None
        if outcome.retry_after_s is not None:
            advice = advice or f"try again in {outcome.retry_after_s:.0f} s"
        if outcome.kind == "changed":
            advice = "`octoc pin --check` shows the change; `octoc pin --approve SERVER/TOOL` and a build accept it"
        if outcome.message not in outcome.text:  # an explainer has given the model other words
            advice = f"the model reads: {outcome.text}"
        UserError(f"{outcome.kind}: {outcome.message}", advice).show()
        return
    for part in outcome.content:
        click.echo(_for_stdout(_shown(part)))
    if not outcome.content and outcome.structured is not None:
        click.echo(_for_stdout(json.dumps(outcome.structured, ensure_ascii=False, indent=2)))
    for cut in outcome.truncations:
        what = f"the first {cut.kept:,} {cut.unit} of at least {cut.original:,}"
        click.echo(f"the result is cut: {what}; `max_body_bytes` of the server is the limit", err=True)
    if outcome.is_error:
        from octoc.diagnostics.render import escape

        hint = f"`octoc show tool {escape(tool)}` shows its arguments"
        click.echo(f"the tool reports that the call failed; {hint}", err=True)


def _shown(part: ContentPart) -> str:
    if part.text is None:
        data = part.data or {}
        return f"[{part.type}{', ' + str(data['mimeType']) if 'mimeType' in data else ''}: --json prints it]"
    return part.text


def _for_stdout(text: str) -> str:
    """Return `text` without control sequences where stdout is a terminal; a pipe gets it unchanged."""
    if not sys.stdout.isatty():
        return text
    from octoc.diagnostics.render import escape

    return "\n".join("\t".join(map(escape, line.split("\t"))) for line in text.split("\n"))
