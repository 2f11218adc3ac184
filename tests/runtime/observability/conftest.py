"""OpenTelemetry's providers are set once for a process, and would change what every test after them sees."""

from __future__ import annotations

import os

OWN_PROCESS = "OCTOC_TESTS_OWN_PROCESS"

collect_ignore = [] if OWN_PROCESS in os.environ else ["test_telemetry.py"]
