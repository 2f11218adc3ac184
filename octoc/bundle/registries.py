"""Agents' registries in a file: what several of them have in common is there once, and each names it.

Two elements that are in the same lists of the same agents are in one *set*, so that sets do not overlap, and a list is
some of them. Sets of tools, and the sets that a list names, are written as runs: how many numbers to skip, how many to
take, and so on. A file so grows with its tools and with what is granted, not with agents times tools.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, TypeVar

import attrs

from octoc.bundle.codec import decode, encode
from octoc.bundle.model import Bundle, Grant, Registry
from octoc.bundle.refusal import BundleError

T = TypeVar("T", bound=Hashable)
Runs = tuple[int, ...]
_Order = Callable[[Any], Any]

TABLES: Mapping[str, tuple[str, ...]] = {
    "tool_sets": ("tools", "direct"),
    "capability_sets": ("capabilities",),
    "skill_sets": ("skills",),
    "grant_sets": ("unlisted", "unlisted_direct"),
}
"""Fields of `Bundle` that hold sets -> the lists of a registry that are made of them."""
_TABLE_OF = {name: table for table, names in TABLES.items() for name in names}


@attrs.frozen(kw_only=True)
class StoredSets:
    """The runs of a registry's lists that are made of sets, over the numbers of the sets; empty where there are none.

    A list that has no order of its own to be made anew is written in full, as a `Registry` has it.
    """

    tools: Runs = ()
    direct: Runs = ()
    capabilities: Runs = ()
    skills: Runs = ()
    unlisted: Runs = ()
    unlisted_direct: Runs = ()


class StoredRegistry(Registry):
    """A registry of an open bundle, equal to the one that was written. A list is put together when it is asked for."""

    __slots__ = ("_bundle", "_sets")
    _bundle: Bundle
    _sets: StoredSets

    def __getattr__(self, name: str) -> Any:
        # Asked only while the field has no value: `stored` leaves those out that are made of sets.
        if name not in _TABLE_OF:
            raise AttributeError(name)
        made = _list_of(self._bundle, name, getattr(self._sets, name))
        object.__setattr__(self, name, made)
        return made

    def is_made(self, name: str) -> bool:
        """Tell whether a list is made of sets."""
        return bool(getattr(self._sets, name, ()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Registry) and _values(self) == _values(other)

    __hash__ = Registry.__hash__


def _values(registry: Registry) -> list[Any]:
    return [getattr(registry, field.name) for field in attrs.fields(Registry)]


def packed(bundle: Bundle) -> tuple[Bundle, list[dict[str, Any]]]:
    """Return the bundle with its sets and without registries, and each agent's registry as plain JSON values.

    Raises: BundleError when a value is not what the model says.
    """
    registries = [agent.registry for agent in bundle.agents]
    tables: dict[str, Any] = {}
    named: list[dict[str, Runs]] = [{} for _ in registries]
    for table, names in TABLES.items():
        found = dict.fromkeys(getattr(registry, name) for registry in registries for name in names)
        made, runs = _partition(filter(None, found), _order(bundle, table))
        tables[table] = tuple(map(runs_of, made)) if table == "tool_sets" else tuple(made)
        for registry, own in zip(registries, named, strict=True):
            own.update({name: runs[one] for name in names if (one := getattr(registry, name)) in runs})
    plain = [_written(registry, own) for registry, own in zip(registries, named, strict=True)]
    bare = tuple(attrs.evolve(agent, registry=Registry()) for agent in bundle.agents)
    return attrs.evolve(bundle, agents=bare, **tables), plain


def _written(registry: Registry, sets: Mapping[str, Runs]) -> dict[str, Any]:
    rest = {field.name: getattr(registry, field.name) for field in attrs.fields(Registry) if field.name not in sets}
    fields: dict[str, Any] = encode(Registry(**rest))
    return {**fields, **({"sets": encode(StoredSets(**sets))} if sets else {})}


def stored(bundle: Bundle, fields: Any) -> Registry:
    """Return a registry that `packed` wrote, or one of the first format. Raises: BundleError."""
    whole = decode(Registry, fields)
    if "sets" not in fields:
        return whole
    try:
        sets = decode(StoredSets, fields["sets"])
        for name, table in _TABLE_OF.items():
            _check_runs(getattr(sets, name), len(getattr(bundle, table)), name)
    except BundleError as error:
        raise error.under("sets") from None
    made = StoredRegistry.__new__(StoredRegistry)
    object.__setattr__(made, "_bundle", bundle)
    object.__setattr__(made, "_sets", sets)
    for field in attrs.fields(Registry):
        if not getattr(sets, field.name, ()):
            object.__setattr__(made, field.name, getattr(whole, field.name))
    return made


def in_full(registry: Registry, name: str) -> tuple[Any, ...]:
    """Return a list of a registry as far as it was written in full: nothing of one that is made of sets."""
    is_made = isinstance(registry, StoredRegistry) and registry.is_made(name)
    return () if is_made else getattr(registry, name)


def check_sets(bundle: Bundle) -> None:
    """Refuse sets of tools that are not there, or that overlap so far that they would be more than all tools.

    Raises: BundleError.
    """
    tools, taken = len(bundle.tools), 0
    for number, runs in enumerate(bundle.tool_sets):
        try:
            taken += _check_runs(runs, tools, "tools")
        except BundleError as error:
            raise error.under(number).under("tool_sets") from None
    if taken > tools:
        raise BundleError(f"the sets have {taken} tools, of a bundle's {tools}", ("tool_sets",))


def runs_of(numbers: Sequence[int]) -> Runs:
    """Return ascending numbers as (skip, take, skip, take, …)."""
    runs: list[int] = []
    last = -1
    for number in numbers:
        if runs and number == last + 1:
            runs[-1] += 1
        else:
            runs += (number - last - 1, 1)
        last = number
    return tuple(runs)


def numbers_of(runs: Runs) -> Iterator[int]:
    """Yield the numbers that `runs_of` made runs of."""
    ends = tuple(accumulate(runs))
    return chain.from_iterable(map(range, ends[::2], ends[1::2]))


def _check_runs(runs: Runs, count: int, what: str) -> int:
    """Return how many numbers the runs take. Raises: BundleError when one of them is not below `count`."""
    if len(runs) % 2 or min(runs[::2], default=0) < 0 or min(runs[1::2], default=1) < 1:
        raise BundleError(f"expected how many {what} to skip and to take, in turn, found {list(runs[:8])}")
    if sum(runs) > count:
        raise BundleError(f"it has a number of {what} that is outside the bundle's {count}")
    return sum(runs[1::2])


def _partition(lists: Iterable[tuple[T, ...]], order: _Order) -> tuple[list[tuple[T, ...]], dict[tuple[T, ...], Runs]]:
    """Return the sets that the lists have in common, and each list as runs over them.

    A list that is not in order, or has an element twice, is left out: it has to be written in full.
    """
    fit = [one for one in lists if _is_in_order([order(element) for element in one])]
    members: dict[T, list[int]] = {}
    for number, one in enumerate(fit):
        for element in one:
            members.setdefault(element, []).append(number)
    sets: dict[tuple[int, ...], list[T]] = {}
    for element in sorted(members, key=order):
        sets.setdefault(tuple(members[element]), []).append(element)
    named: list[list[int]] = [[] for _ in fit]
    for place, among in enumerate(sets):
        for number in among:
            named[number].append(place)
    return list(map(tuple, sets.values())), {one: runs_of(numbers) for one, numbers in zip(fit, named, strict=True)}


def _is_in_order(places: Sequence[Any]) -> bool:
    return all(a < b for a, b in pairwise(places))


def _order(bundle: Bundle, table: str) -> _Order:
    """Return the order in which the lists of a table are written, and made anew."""
    if table != "grant_sets":
        return lambda element: element
    servers = {server.name: place for place, server in enumerate(bundle.servers)}

    def place(grant: Grant) -> Any:
        return (servers.get(grant.server, len(servers)), grant.server, grant.globs, grant.tools)

    return place


def _list_of(bundle: Bundle, name: str, runs: Runs) -> tuple[Any, ...]:
    table = _TABLE_OF[name]
    sets = getattr(bundle, table)
    chosen = [sets[number] for number in numbers_of(runs)]
    if table == "tool_sets":
        chosen = list(map(numbers_of, chosen))
    return tuple(sorted(chain.from_iterable(chosen), key=_order(bundle, table)))
