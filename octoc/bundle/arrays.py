"""Arrays as `.npy` bytes and back, without a copy: numpy is imported when the first one is asked for."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from octoc.bundle.refusal import BundleError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER_AT = len(_MAGIC) + 2


def npy_bytes(array: NDArray[np.generic]) -> bytes:
    """Return `array` as a `.npy` file of version 1.0: row-major, little-endian. Raises: ValueError for objects."""
    import io

    import numpy as np

    plain = np.ascontiguousarray(array).reshape(np.shape(array))
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    out = io.BytesIO()
    np.lib.format.write_array(out, plain, version=(1, 0), allow_pickle=False)
    return out.getvalue()


def npy_view(data: memoryview) -> NDArray[Any]:
    """Return the array of a `.npy` file as a read-only view of `data`. Raises: BundleError when it is not one."""
    import ast

    import numpy as np

    if bytes(data[: len(_MAGIC)]) != _MAGIC or len(data) < _HEADER_AT:
        raise BundleError("expected an array in the form `.npy` 1.0")
    start = _HEADER_AT + struct.unpack_from("<H", data, len(_MAGIC))[0]
    try:
        header = ast.literal_eval(bytes(data[_HEADER_AT:start]).decode("latin-1"))
        dtype = np.dtype(header["descr"])
        shape = tuple(int(size) for size in header["shape"])
        if dtype.hasobject or header["fortran_order"] or any(size < 0 for size in shape):
            raise BundleError("expected an array of plain numbers, row by row")
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError) as error:
        raise BundleError(f"expected the header of an array: {error}") from None
    count = 1
    for size in shape:
        count *= size
    if len(data) - start != count * dtype.itemsize:
        raise BundleError(f"expected {count * dtype.itemsize} bytes of numbers, found {len(data) - start}")
    view = np.frombuffer(data, dtype=dtype, count=count, offset=start) if count else np.empty(0, dtype)
    view = view.reshape(shape)
    view.flags.writeable = False
    return view
