"""Why a bundle is not taken: one exception for its users, and one for the shape of a value inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octoc.diagnostics.rule import Rule

if TYPE_CHECKING:
    from octoc.diagnostics.model import Diagnostic, KeyPath


class BundleError(Exception):
    """A value has not the shape that the bundle's model gives it. The error gains its key path while it climbs."""

    def __init__(self, reason: str, path: KeyPath = ()) -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def under(self, key: str | int) -> BundleError:
        """Return the error as seen from the value that holds this one at `key`."""
        return BundleError(self.reason, (key, *self.path))

    def __str__(self) -> str:
        where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path).lstrip(".")
        return f"`{where}`: {self.reason}" if where else self.reason


class BundleFileError(Exception):
    """A file is not taken as a bundle: the rule that it breaks, the reason in one line, and the next step."""

    def __init__(self, rule: Rule, reason: str, help: str, file: str = "") -> None:  # noqa: A002  # rustc's word for it
        super().__init__(rule, reason, help, file)
        self.rule = rule
        self.reason = reason
        self.help = help
        self.file = file

    def __str__(self) -> str:
        return f"{self.rule.code} {self.rule.name}: {self.reason}; {self.help}"

    def diagnostic(self) -> Diagnostic:
        """Return the refusal as a finding about the file as a whole."""
        # Not at the top: opening a bundle that is sound needs no finding.
        from octoc.diagnostics.model import Diagnostic, Span

        span = Span(file=self.file) if self.file else None
        return Diagnostic(rule=self.rule, message=self.reason, severity=self.rule.severity, span=span, help=self.help)
