"""The boundary to plugins: hooks, protocols, and the manager that loads them."""

from octoc.diagnostics.rule import Need, Rule, Scope, Severity
from octoc.plugin.audit import AuditLog
from octoc.plugin.file_kinds import Dialect, FileKind
from octoc.plugin.hookspecs import PROJECT, hookimpl, hookspec
from octoc.plugin.lint import LintCheck, LintWorkspace, lint_check
from octoc.plugin.protocols import (
    AskingConnection,
    ConnectFailedError,
    Connection,
    Embedder,
    Explainer,
    FailedCall,
    Host,
    Login,
    LoginState,
    PluginError,
    PythonTool,
    ServerTarget,
    TokenCounter,
    Transport,
)
from octoc.transport_kinds import TransportKind

__all__ = [
    "PROJECT",
    "AskingConnection",
    "AuditLog",
    "ConnectFailedError",
    "Connection",
    "Dialect",
    "Embedder",
    "Explainer",
    "FailedCall",
    "FileKind",
    "Host",
    "LintCheck",
    "LintWorkspace",
    "Login",
    "LoginState",
    "Need",
    "PluginError",
    "PythonTool",
    "Rule",
    "Scope",
    "ServerTarget",
    "Severity",
    "TokenCounter",
    "Transport",
    "TransportKind",
    "hookimpl",
    "hookspec",
    "lint_check",
]
