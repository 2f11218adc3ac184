"""What the workspace makes of findings: severities by rule and path (`[lint]`), and silences in comments of files."""

from octoc.compiler.policy.judge import LintPolicy, policy_of
from octoc.compiler.policy.report import report_policy

__all__ = ["LintPolicy", "policy_of", "report_policy"]
