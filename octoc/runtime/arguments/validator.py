"""Validate values that a model wrote by untrusted JSON Schemas: without the network, in bounded time.

jsonschema validates. The differences: every step is counted and timed, regular expressions run on google-re2 in linear
time (those that it refuses are not checked), and equal elements are found in linear time.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from octoc.linear_regex import RegexError, compile_regex

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

T = TypeVar("T")

DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of a tool's schema without `$schema`. Source: Model Context Protocol, 2025-11-25."""
REST_DIALECT = "http://json-schema.org/draft-07/schema"
"""The dialect of a schema without `$schema` in the Octopus REST protocol."""
_DIALECTS = {
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    REST_DIALECT: "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    DEFAULT_DIALECT: "Draft202012Validator",
}
MAX_NODES = 20_000
"""Objects and arrays in one schema; the largest of about a hundred recorded schemas has a few hundred."""
MAX_STEPS = 20_000
MAX_SECONDS = 0.25
"""Processor time, not wall clock, so that a busy machine does not make a schema unusable."""
UNTIMED_STEPS = 32
"""Nearly all calls need fewer steps, which take less time than the system call that reads the clock."""
_MAX_ERRORS = 20
_MAX_PATTERNS = 1000
_PATTERN_MEMORY = 1 << 20


class SchemaUnusableError(Exception):
    """A schema cannot decide about a value; the message has the reason, and nothing of the value.

    `final` means that it cannot decide about any value; `costly` that it took too long for this one, because of the
    value, the schema, or other work of the process.
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
    # Many schemas name a draft with `https` whose identifier has `http`, or the reverse.
    plain = named.removesuffix("#").replace("https://", "http://", 1)
    for dialect in _DIALECTS:
        if plain == dialect.replace("https://", "http://", 1):
            return dialect
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
    """A schema ready to validate; `patterned` if it has `patternProperties` anywhere."""

    schema: Any
    dialect: str
    patterned: bool
    validator: Any


class Validator:
    """Compiles schemas and validates by them. All share one count of steps, so it serves one thread at a time."""

    def __init__(self) -> None:
        self._classes: dict[str, Any] = {}
        self._patterns: dict[str, Any] = {}
        self._steps = 0
        self._until = 0.0
        self._patterned = False

    def compile(self, schema: Mapping[str, Any], default: str) -> Compiled:
        """Return a compiled schema, in its own dialect or else in `default`. Raises: SchemaUnusableError."""
        from referencing import Registry

        dialect, patterned = dialect_of(schema, default), _survey(schema)
        cls = self._class(dialect)
        # jsonschema's default registry would fetch what a `$ref` names from the network.
        validator = self._guarded(lambda: cls(schema, registry=Registry()))
        return Compiled(schema=schema, dialect=dialect, patterned=patterned, validator=validator)

    def errors(self, compiled: Compiled, instance: Any) -> list[ValidationError]:
        """Return the first errors of a value, at most 20. Raises: SchemaUnusableError."""
        self._patterned = compiled.patterned
        return self._guarded(lambda: list(itertools.islice(compiled.validator.iter_errors(instance), _MAX_ERRORS)))

    def check_schema(self, compiled: Compiled) -> None:
        """Raises: SchemaUnusableError if a schema is not valid in its own dialect."""
        self._patterned = False
        cls = self._class(compiled.dialect)
        # The default registry has the dialects themselves, and they refer to nothing else.
        error = self._guarded(lambda: next(cls(cls.META_SCHEMA).iter_errors(compiled.schema), None))
        if error is not None:
            where = "/".join(map(str, error.absolute_path))[:80]
            raise SchemaUnusableError(f"it is invalid at `{where}`" if where else "it is invalid")

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
            # Another value may not reach that part of the schema.
            raise SchemaUnusableError(
                f"its `$ref` to `{str(error.ref)[:80]}` leads nowhere within it", final=False
            ) from None
        except Exception as error:  # noqa: BLE001  # an invalid schema makes jsonschema raise any exception
            raise SchemaUnusableError(f"validation by it failed with `{type(error).__name__}`", final=False) from None

    def _step(self) -> None:
        self._steps += 1
        if self._steps < UNTIMED_STEPS:
            return
        if self._steps == UNTIMED_STEPS:
            self._until = time.thread_time() + MAX_SECONDS
        elif self._steps > MAX_STEPS or time.thread_time() > self._until:
            raise SchemaUnusableError("validation by it takes too long", final=False, costly=True)

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
            # The inherited method would give a subschema with a `$schema` to that dialect's class, which has no limits.
            self._step()
            for name, alias in fields:
                if alias not in changes:
                    changes[alias] = getattr(validator, name)
            return made(**changes)

        made.evolve = evolve
        return made

    def _unless_patterned(self, keyword: Any) -> Any:
        """Return the keyword without effect in a schema with `patternProperties`, which it would read with `re`."""

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
            # A property is not refused if a pattern that cannot be read might declare it.
            if key in declared or any(self._finds(pattern, key) is not False for pattern in patterns):
                continue
            if rule is False:
                yield ValidationError(key)  # one for each name: `messages` reads it from the error's message
            else:
                yield from validator.descend(value, rule, path=key)

    def _finds(self, pattern: Any, text: Any) -> bool | None:
        """Return whether `pattern` matches in `text`; None if google-re2 cannot decide it."""
        if pattern not in self._patterns:
            if len(self._patterns) >= _MAX_PATTERNS:
                self._patterns.clear()
            try:
                self._patterns[pattern] = compile_regex(pattern, _PATTERN_MEMORY)
            except RegexError:
                self._patterns[pattern] = None
        compiled = self._patterns[pattern]
        try:
            return None if compiled is None else compiled.search(text) is not None
        except UnicodeEncodeError:  # google-re2 does not accept a lone surrogate
            return None


def _unique_items(validator: Any, wanted: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if wanted and validator.is_type(instance, "array"):
        frozen = [_frozen(element) for element in instance]
        if len(set(frozen)) < len(frozen):
            yield ValidationError("uniqueItems")


def _frozen(value: Any) -> Any:
    """Return something hashable that is equal only for equal JSON values: `1` equals `1.0`, and not `true`."""
    if isinstance(value, Mapping):
        return ("object", frozenset((key, _frozen(inner)) for key, inner in value.items()))
    if isinstance(value, (list, tuple)):
        return ("array", tuple(_frozen(inner) for inner in value))
    return (isinstance(value, bool), value)
