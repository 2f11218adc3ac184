"""How a build reports an encoder that is missing or fails."""

from __future__ import annotations

from octoc.compiler.context import Context
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.plugin import ENCODER_FAILED, ENCODER_MISSING
from octoc.installation import install_command

ROUTING = "messages are routed"
SEARCH = "tools are searched"
_PLUGIN = "embed-onnx"
_PACKAGES = {
    "minilm-l6": "octoc-embed-onnx[quantize]",
    "octoc-l6": "octoc-embed-tuned",
    "folder": "octoc-embed-onnx[folder]",
}
_DEGRADED = "`octoc build --allow-degraded` builds without it"


def report_missing(settings: WorkspaceSettings, context: Context, *, use: str) -> None:
    """Report that no plugin has the workspace's encoder.

    Args:
        use: `ROUTING` or `SEARCH`, which then uses only words.
    """
    name = settings.routing.encoder
    context.sink.report(
        ENCODER_MISSING,
        f"no plugin has the encoder `{name}`{_effect(use, context)}",
        at=settings.place.child("routing", "encoder"),
        help=_help(_install_help(name, settings), context),
        severity=_severity(context),
    )


def report_failed(problem: str, settings: WorkspaceSettings, context: Context, *, use: str) -> None:
    """Report what went wrong in the workspace's encoder.

    Args:
        problem: the reason, and what to do if the plugin knows it.
        use: as for `report_missing`.
    """
    context.sink.report(
        ENCODER_FAILED,
        f"encoder `{settings.routing.encoder}` failed{_effect(use, context)}: {problem}",
        at=settings.place.child("routing", "encoder"),
        help=_help("", context),
        severity=_severity(context),
    )


def is_chosen(settings: WorkspaceSettings) -> bool:
    """Tell whether the workspace wants its encoder for search too: `[plugins] use` can leave out its plugin."""
    return settings.routing.encoder not in _PACKAGES or _PLUGIN in settings.plugins


def has_failed(context: Context) -> bool:
    """Tell whether the build needs an encoder, cannot use it, and may not build without it."""
    return any(
        found.rule in (ENCODER_MISSING, ENCODER_FAILED) and found.severity is Severity.ERROR
        for found in context.sink.diagnostics
    )


def _severity(context: Context) -> Severity:
    return Severity.WARNING if context.allow_degraded else Severity.ERROR


def _effect(use: str, context: Context) -> str:
    return f", so {use} by words alone" if context.allow_degraded else ""


def _help(advice: str, context: Context) -> str | None:
    parts = [advice] if advice else []
    if not context.allow_degraded:
        parts.append(_DEGRADED)
    return "; ".join(parts) or None


def _install_help(name: str, settings: WorkspaceSettings) -> str:
    if name not in _PACKAGES:
        return "name the plugin that has it in `[plugins] use`, or set `[routing] encoder` to `minilm-l6` or `folder`"
    if _PLUGIN not in settings.plugins:
        return f"add `{_PLUGIN}` to `[plugins] use`"
    return f"run `{install_command(_PACKAGES[name])}`"
