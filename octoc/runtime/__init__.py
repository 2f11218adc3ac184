"""From a bundle to a working agent: open, route, show tools, call them.

asyncio is imported inside the functions that need it: it brings sockets and TLS, which loading alone does without.
"""

from octoc.runtime.runtime import Runtime
from octoc.runtime.session import Session
from octoc.runtime.values import Routing, SearchHit, UnknownNameError

__all__ = ["Routing", "Runtime", "SearchHit", "Session", "UnknownNameError"]
