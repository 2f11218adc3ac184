"""The store that replicas of the gateway share, in Redis or Valkey."""

from octoc.plugin import StoreBackend, hookimpl

SCHEMES = ("redis", "rediss", "unix")


@hookimpl
def octoc_make_store(url: str) -> StoreBackend | None:
    """Return the store at an address such as `redis://host:6379/0`. Raises: PluginError."""
    if url.partition("://")[0] not in SCHEMES:
        return None
    from octoc_store_redis.store import redis_store

    return redis_store(url)
