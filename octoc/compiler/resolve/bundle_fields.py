"""Settings of octoc.toml under the names that the bundle's model has for them."""

from __future__ import annotations

from typing import Any

import attrs


def bundle_fields(cls: type[Any], settings: Any) -> dict[str, Any]:
    """Return the fields of `cls`, a class of the bundle's model, that `settings` set; None in settings is not set.

    A field has the same name in both, but in the bundle a time ends in `_s`: `timeout` is `timeout_s`, and
    `store_seconds` is `store_s`.
    """
    names = attrs.fields_dict(cls).keys()
    found = {}
    for field in attrs.fields(type(settings)):
        value, plain = getattr(settings, field.name), field.name.removesuffix("_seconds")
        for name in (field.name, f"{plain}_s"):
            if name in names and value is not None:
                found[name] = value
    return found
