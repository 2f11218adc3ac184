"""Values and messages in a real Redis."""

from __future__ import annotations

import asyncio

import pytest

from octoc.plugin import PluginError, load_plugins, plugins_of


def test_values_have_their_time_and_messages_reach_every_listener_of_the_database(redis_url: str) -> None:
    """A value is there for its collection alone; a message to another channel or database is not heard."""

    async def scenario() -> None:
        plugins = load_plugins(["store-redis"])
        here, other = plugins.make_store(redis_url), plugins.make_store(redis_url.replace("db=0", "db=1"))
        assert here is not None
        assert other is not None
        assert here.messages is not None
        assert other.messages is not None
        await here.values.put("k", {"a": "ü"}, collection="octoc-results", ttl=60)
        assert await here.values.get("k", collection="octoc-results") == {"a": "ü"}
        assert await here.values.get("k", collection="octoc-sessions") is None
        assert await other.values.get("k", collection="octoc-results") is None
        assert await here.values.delete("k", collection="octoc-results")

        heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        begun = asyncio.Event()
        listening = asyncio.create_task(
            here.messages.listen(("changes", "mine"), lambda *message: heard.put_nowait(message), begun.set)
        )
        await begun.wait()
        assert await other.messages.send("changes", "of another database") == 0
        assert await here.messages.send("others", "of another channel") == 0
        assert await here.messages.send("mine", "hello") == 1
        assert await heard.get() == ("mine", "hello")
        listening.cancel()
        await asyncio.wait((listening,))
        await here.close()
        await other.close()

    asyncio.run(scenario())


def test_only_addresses_of_redis_are_taken_and_a_wrong_one_is_refused_without_its_password() -> None:
    """An unknown scheme is another plugin's; the message for a wrong address quotes no piece of it."""
    import octoc_store_redis

    plugins = plugins_of(octoc_store_redis)
    assert plugins.make_store("memcached://localhost") is None
    with pytest.raises(PluginError, match="percent-encoding") as refused:
        plugins.make_store("redis://user:sec#ret@localhost/0")
    assert "sec#" not in str(refused.value)
    assert "ret@" not in str(refused.value)
