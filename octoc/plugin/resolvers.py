"""The last of the resolver chain: the environment, files, the system's keyring and credential ids."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from octoc.plugin.hookspecs import hookimpl
from octoc.plugin.protocols import PluginError

MAX_FILE_BYTES = 64 * 1024
"""The longest file that is taken for a secret."""
CREDENTIAL_VARIABLE = "OCTOC_CREDENTIAL_"
"""Followed by a credential's id: where one is looked up that no plugin knows."""


class EnvironmentResolver:
    """Looks variables and inputs up in the environment. An empty value counts as unset, as in Octomind's gate."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        scheme, _, id_ = reference.partition(":")
        if scheme == "cred":
            reference = CREDENTIAL_VARIABLE + id_
        return self._env.get(reference) or None


class FileResolver:
    """Reads `file:PATH`. A file that is not there, or is empty, counts as unset."""

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        """Raises: PluginError that names the path, for what is there and cannot be taken for a secret."""
        scheme, _, path = reference.partition(":")
        return _text_of(path) or None if scheme == "file" else None


class KeyringResolver:
    """Asks the package `keyring` for `keyring:SERVICE/USER`."""

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        """Raises: PluginError, when the package is not installed or the keyring cannot be read."""
        scheme, _, entry = reference.partition(":")
        if scheme != "keyring":
            return None
        try:
            import keyring
            from keyring.errors import KeyringError
        except ImportError:
            raise PluginError(f"`{reference}` needs a package: run `pip install octoc[keyring]`") from None
        service, _, user = entry.partition("/")
        try:
            return keyring.get_password(service, user) or None
        except KeyringError as error:
            raise PluginError(f"`{reference}` cannot be read: {type(error).__name__} of the keyring") from None


def _text_of(path: str) -> str | None:
    try:
        # Not blocking: a pipe that nobody writes to must not hold up the loop.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise PluginError(f"the file `{path}` cannot be read: {_why(error)}") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise PluginError(f"`{path}` is no regular file, so it holds no secret")
        data = b""
        while len(data) <= MAX_FILE_BYTES and (chunk := os.read(handle, MAX_FILE_BYTES + 1 - len(data))):
            data += chunk
    except OSError as error:
        raise PluginError(f"the file `{path}` cannot be read: {_why(error)}") from None
    finally:
        os.close(handle)
    if len(data) > MAX_FILE_BYTES:
        raise PluginError(f"the file `{path}` is larger than {MAX_FILE_BYTES // 1024} KiB: it holds more than a secret")
    try:
        return data.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise PluginError(f"the file `{path}` cannot be read: it is not UTF-8") from None


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or "the path has a NUL in it"
