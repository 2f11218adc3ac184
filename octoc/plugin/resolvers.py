"""The last of the resolver chain: the environment, files, the system's keyring and credential ids."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from octoc.plugin.hookspecs import hookimpl
from octoc.plugin.protocols import PluginError
from octoc.small_files import UnreadableFileError, small_text

logger = logging.getLogger("octoc.plugin")

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
        if scheme != "file":
            return None
        try:
            return small_text(path, MAX_FILE_BYTES).rstrip("\r\n") or None
        except FileNotFoundError:
            return None
        except UnreadableFileError as error:
            raise PluginError(f"the file `{path}` cannot be read: {error}") from None


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
            raise PluginError(f"`{reference}` needs the package `keyring`: install `octoc[keyring]`") from None
        service, _, user = entry.partition("/")
        try:
            return keyring.get_password(service, user) or None
        except KeyringError as error:
            logger.warning("the keyring refused `%s` with `%s`", reference, type(error).__name__)
            raise PluginError(f"`{reference}` cannot be read: the keyring refused it") from None
