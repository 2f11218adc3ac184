"""Functions that plugins share with octoc: limits of JSON, texts of failures, secrets, addresses, files, near names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octoc.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from octoc.addresses import is_loopback, origin
    from octoc.background_import import import_in_thread
    from octoc.caller import CALLER
    from octoc.diagnostics.render import escape
    from octoc.diagnostics.suggest import did_you_mean, near_names
    from octoc.installation import install_command
    from octoc.json_limits import (
        LARGE_BYTES,
        MAX_ELEMENTS,
        MAX_LISTING_ELEMENTS,
        excess,
        may_have_odd_number,
        odd_number,
        parse,
    )
    from octoc.linear_regex import RegexError, compile_regex
    from octoc.lists import name_list
    from octoc.names import SUPERVISOR
    from octoc.network_errors import causes_of, reason_of, retry_after_s
    from octoc.plain_text import because, cut_session_ids, plain, plain_error, shortened, words_of
    from octoc.plugin.folders import user_cache
    from octoc.plugin.settings import settings_of
    from octoc.program_errors import cause_in
    from octoc.references import variables_needed
    from octoc.results import bounded_wait
    from octoc.secrets import SHORTEST_SECRET, plain_redactor, redact, redactor
    from octoc.server_environment import usual_environment
    from octoc.whole_files import PRIVATE, write_whole
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "octoc.addresses": "is_loopback origin",
            "octoc.background_import": "import_in_thread",
            "octoc.caller": "CALLER",
            "octoc.diagnostics.render": "escape",
            "octoc.diagnostics.suggest": "did_you_mean near_names",
            "octoc.installation": "install_command",
            "octoc.json_limits": (
                "LARGE_BYTES MAX_ELEMENTS MAX_LISTING_ELEMENTS excess may_have_odd_number odd_number parse"
            ),
            "octoc.linear_regex": "RegexError compile_regex",
            "octoc.lists": "name_list",
            "octoc.names": "SUPERVISOR",
            "octoc.network_errors": "causes_of reason_of retry_after_s",
            "octoc.plain_text": "because cut_session_ids plain plain_error shortened words_of",
            "octoc.plugin.folders": "user_cache",
            "octoc.plugin.settings": "settings_of",
            "octoc.program_errors": "cause_in",
            "octoc.references": "variables_needed",
            "octoc.results": "bounded_wait",
            "octoc.secrets": "SHORTEST_SECRET plain_redactor redact redactor",
            "octoc.server_environment": "usual_environment",
            "octoc.whole_files": "PRIVATE write_whole",
        },
    )

__all__ = [
    "CALLER",
    "LARGE_BYTES",
    "MAX_ELEMENTS",
    "MAX_LISTING_ELEMENTS",
    "PRIVATE",
    "SHORTEST_SECRET",
    "SUPERVISOR",
    "RegexError",
    "because",
    "bounded_wait",
    "cause_in",
    "causes_of",
    "compile_regex",
    "cut_session_ids",
    "did_you_mean",
    "escape",
    "excess",
    "import_in_thread",
    "install_command",
    "is_loopback",
    "may_have_odd_number",
    "name_list",
    "near_names",
    "odd_number",
    "origin",
    "parse",
    "plain",
    "plain_error",
    "plain_redactor",
    "reason_of",
    "redact",
    "redactor",
    "retry_after_s",
    "settings_of",
    "shortened",
    "user_cache",
    "usual_environment",
    "variables_needed",
    "words_of",
    "write_whole",
]
