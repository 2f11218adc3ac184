"""What a plugin's command may use of the command line: shared options, errors, tables, and the bundle to open."""

from octoc.cli.failures import FindingsError, UnavailableError, UserError
from octoc.cli.options import (
    agent_option,
    bundle_option,
    format_options,
    trust_option,
    verbose_option,
    workspace_option,
)
from octoc.cli.tables import print_table
from octoc.cli.workspace import BundleTarget, log_to_stderr, target_of, with_runtime, with_session

__all__ = [
    "BundleTarget",
    "FindingsError",
    "UnavailableError",
    "UserError",
    "agent_option",
    "bundle_option",
    "format_options",
    "log_to_stderr",
    "print_table",
    "target_of",
    "trust_option",
    "verbose_option",
    "with_runtime",
    "with_session",
    "workspace_option",
]
