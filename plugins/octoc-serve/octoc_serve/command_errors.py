"""Refusals of the gateway as errors of the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from octoc.cli.toolkit import FindingsError, UserError
from octoc.runtime import BundleFileError, UnknownNameError
from octoc_serve.settings import GatewayError


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Raise what the gateway refuses in the block as an error that the command line shows."""
    try:
        yield
    except BundleFileError as refused:
        raise FindingsError([refused.diagnostic()]) from None
    except GatewayError as refused:
        raise UserError(str(refused), refused.help) from None
    except UnknownNameError as error:
        raise UserError(str(error)) from None
