"""From a bundle to a working agent: open, route, show tools, call them."""

from octoc.runtime.load import Runtime
from octoc.runtime.session import Session
from octoc.runtime.values import Routing, SearchHit, UnknownNameError

__all__ = ["Routing", "Runtime", "SearchHit", "Session", "UnknownNameError"]
