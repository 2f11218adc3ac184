"""The boundary to plugins: hooks, protocols, and the manager that loads them."""

from octoc.plugin.audit import AuditLog
from octoc.plugin.hookspecs import PROJECT, hookimpl, hookspec
from octoc.plugin.protocols import (
    AskingConnection,
    Connection,
    ConnectionFailed,
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

__all__ = [
    "PROJECT",
    "AskingConnection",
    "AuditLog",
    "Connection",
    "ConnectionFailed",
    "Embedder",
    "Explainer",
    "FailedCall",
    "Host",
    "Login",
    "LoginState",
    "PluginError",
    "PythonTool",
    "ServerTarget",
    "TokenCounter",
    "Transport",
    "hookimpl",
    "hookspec",
]
