"""JSON Schema for values that a model wrote, by schemas that nobody vouches for: no network, and an end in sight.

jsonschema does the judging. What differs here: every step is counted and timed, a regular expression runs on google-re2
in linear time (one that google-re2 does not read is not checked), and equal elements are found in linear time.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

T = TypeVar("T")

DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""What a tool's schema without `$schema` is written in. Source: Model Context Protocol, 2025-11-25."""
REST_DIALECT = "http://json-schema.org/draft-07/schema"
"""The same of the Octopus REST protocol."""
_DIALECTS = {
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    REST_DIALECT: "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    DEFAULT_DIALECT: "Draft202012Validator",
}
MAX_NODES = 20_000
"""Objects and arrays in one schema; the largest of some hundred recorded ones has a few hundred."""
MAX_STEPS = 20_000
MAX_SECONDS = 0.25
"""Of the processor, not of the clock: a schema is not given up because the machine is busy."""
UNTIMED_STEPS = 32
"""What nearly all calls do with, and takes less than reading that clock, which is a system call."""
_MAX_ERRORS = 20
_MAX_PATTERNS = 1000
_PATTERN_MEMORY = 1 << 20


class SchemaUnusableError(Exception):
    """Nothing can be said by a schema; the message says why, and quotes nothing of a value.

    `final` tells that it cannot for any value; `costly` that it took too long for this one, which may be the doing of
    the value, of the schema, or of something else in the process.
    """

    def __init__(self, message: str, *, final: bool = True, costly: bool = False) -> None:
        super().__init__(message)
        self.final = final
        self.costly = costly


def dialect_of(schema: Mapping[str, Any], default: str) -> str:
    """Return the dialect that a schema names, else `default`. Raises: SchemaUnusableError for an unknown one."""
    named = schema.get("$schema")
    if not isinstance(named, str):
        return default
    # Many schemas name a draft by `https` whose identifier has `http`, or the other way round.
    plain = named.removesuffix("#").replace("https://", "http://", 1)
    for known in _DIALECTS:
        if plain == known.replace("https://", "http://", 1):
            return known
    raise SchemaUnusableError(f"it is in the dialect `{named[:80]}`, which is not known")


def _survey(schema: Any) -> bool:
    """Return whether a schema has `patternProperties` anywhere. Raises: SchemaUnusableError for one too large."""
    waiting, seen, patterned = [schema], 0, False
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            patterned = patterned or "patternProperties" in value
            waiting += (inner for inner in value.values() if isinstance(inner, (dict, list)))
        elif isinstance(value, list):
            waiting += (inner for inner in value if isinstance(inner, (dict, list)))
        seen += 1
        if seen + len(waiting) > MAX_NODES:
            raise SchemaUnusableError(f"it has more than {MAX_NODES} parts")
    return patterned


@attrs.frozen(kw_only=True)
class Compiled:
    """A schema made ready; `patterned` when `patternProperties` stands in it somewhere."""

    schema: Any
    dialect: str
    patterned: bool
    validator: Any


class Validator:
    """Makes validators that share one count of steps, so one judge serves one thread at a time."""

    def __init__(self) -> None:
        self._classes: dict[str, Any] = {}
        self._patterns: dict[str, Any] = {}
        self._steps = 0
        self._until = 0.0
        self._patterned = False

    def compile(self, schema: Mapping[str, Any], default: str) -> Compiled:
        """Return a schema made ready, in its own dialect or else in `default`. Raises: SchemaUnusableError."""
        from referencing import Registry

        dialect, patterned = dialect_of(schema, default), _survey(schema)
        cls = self._class(dialect)
        # An own registry: jsonschema's default one fetches what a `$ref` names from the network.
        validator = self._guarded(lambda: cls(schema, registry=Registry()))
        return Compiled(schema=schema, dialect=dialect, patterned=patterned, validator=validator)

    def errors(self, compiled: Compiled, instance: Any) -> list[ValidationError]:
        """Return the first errors of a value, at most 20. Raises: SchemaUnusableError."""
        self._patterned = compiled.patterned
        return self._guarded(lambda: list(itertools.islice(compiled.validator.iter_errors(instance), _MAX_ERRORS)))

    def check_schema(self, compiled: Compiled) -> None:
        """Raises: SchemaUnusableError when a schema is not what its own dialect says that a schema is."""
        self._patterned = False
        cls = self._class(compiled.dialect)
        # The default registry has the dialects themselves, which is all that they refer to.
        error = self._guarded(lambda: next(cls(cls.META_SCHEMA).iter_errors(compiled.schema), None))
        if error is not None:
            where = "/".join(map(str, error.absolute_path))[:80]
            raise SchemaUnusableError(f"it is no sound schema at `{where}`" if where else "it is no sound schema")

    def _guarded(self, work: Callable[[], T]) -> T:
        from referencing.exceptions import Unresolvable

        self._steps = 0
        try:
            return work()
        except SchemaUnusableError:
            raise
        except RecursionError:
            raise SchemaUnusableError("it is nested too deeply, or refers to itself", final=False) from None
        except Unresolvable as error:
            # Another call may not come to that part of the schema.
            raise SchemaUnusableError(
                f"its `$ref` to `{str(error.ref)[:80]}` leads nowhere within it", final=False
            ) from None
        except Exception as error:  # noqa: BLE001  # a schema that is none makes jsonschema raise whatever it meets
            raise SchemaUnusableError(f"judging by it failed with `{type(error).__name__}`", final=False) from None

    def _step(self) -> None:
        self._steps += 1
        if self._steps < UNTIMED_STEPS:
            return
        if self._steps == UNTIMED_STEPS:
            self._until = time.thread_time() + MAX_SECONDS
        elif self._steps > MAX_STEPS or time.thread_time() > self._until:
            raise SchemaUnusableError("judging by it takes too long", final=False, costly=True)

    def _class(self, dialect: str) -> Any:
        made = self._classes.get(dialect)
        if made is None:
            made = self._classes[dialect] = self._make_class(dialect)
        return made

    def _make_class(self, dialect: str) -> Any:
        import jsonschema
        from jsonschema import validators

        base: Any = getattr(jsonschema, _DIALECTS[dialect])
        keywords: dict[str, Any] = {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "uniqueItems": _unique_items,
        }
        for name in ("unevaluatedProperties", "unevaluatedItems"):
            if name in base.VALIDATORS:
                keywords[name] = self._unless_patterned(base.VALIDATORS[name])
        # Arguments may come from a host's own Mapping or tuple as well as from JSON.
        types = base.TYPE_CHECKER.redefine_many({
            "object": lambda _, value: isinstance(value, Mapping),
            "array": lambda _, value: isinstance(value, (list, tuple)),
        })  # fmt: skip
        extend: Any = validators.extend  # its stub has no types
        made = extend(base, keywords, type_checker=types)
        fields = [(field.name, field.alias) for field in attrs.fields(made) if field.init]

        def evolve(validator: Any, **changes: Any) -> Any:
            # The class's own would give a subschema with a `$schema` to the class of that dialect, unbounded again.
            self._step()
            for name, alias in fields:
                if alias not in changes:
                    changes[alias] = getattr(validator, name)
            return made(**changes)

        made.evolve = evolve
        return made

    def _unless_patterned(self, keyword: Any) -> Any:
        """Return the keyword with no say in a schema that has `patternProperties`, which it would read with `re`."""

        def judged(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
            if not self._patterned:
                yield from keyword(validator, value, instance, schema) or ()

        return judged

    def _pattern(self, validator: Any, pattern: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
        from jsonschema.exceptions import ValidationError

        if validator.is_type(instance, "string") and self._finds(pattern, instance) is False:
            yield ValidationError("pattern")

    def _pattern_properties(self, validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
        if not validator.is_type(instance, "object"):
            return
        for pattern, subschema in patterns.items():
            for key, value in instance.items():
                if self._finds(pattern, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=pattern)

    def _additional_properties(
        self, validator: Any, rule: Any, instance: Any, schema: Any
    ) -> Iterator[ValidationError]:
        from jsonschema.exceptions import ValidationError

        if not validator.is_type(instance, "object"):
            return
        declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for key, value in instance.items():
            # What a pattern that cannot be read might have declared is not refused.
            if key in declared or any(self._finds(pattern, key) is not False for pattern in patterns):
                continue
            if rule is False:
                yield ValidationError(key)  # one for each, with its name: `words` reads it there
            else:
                yield from validator.descend(value, rule, path=key)

    def _finds(self, pattern: Any, text: Any) -> bool | None:
        """Return whether `pattern` is found in `text`; None when google-re2 cannot say."""
        import re2

        if pattern not in self._patterns:
            if len(self._patterns) >= _MAX_PATTERNS:
                self._patterns.clear()
            options = re2.Options()
            options.log_errors = False
            options.max_mem = _PATTERN_MEMORY
            try:
                self._patterns[pattern] = re2.compile(pattern, options)
            except (re2.error, UnicodeEncodeError):
                self._patterns[pattern] = None
        compiled = self._patterns[pattern]
        try:
            return None if compiled is None else compiled.search(text) is not None
        except UnicodeEncodeError:  # a lone surrogate, which is no text for google-re2
            return None


def _unique_items(validator: Any, wanted: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if wanted and validator.is_type(instance, "array"):
        frozen = [_frozen(element) for element in instance]
        if len(set(frozen)) < len(frozen):
            yield ValidationError("uniqueItems")


def _frozen(value: Any) -> Any:
    """Return something hashable that is equal for equal JSON values and no others: `1` is `1.0`, and not `true`."""
    if isinstance(value, Mapping):
        return ("object", frozenset((key, _frozen(inner)) for key, inner in value.items()))
    if isinstance(value, (list, tuple)):
        return ("array", tuple(_frozen(inner) for inner in value))
    return (isinstance(value, bool), value)
