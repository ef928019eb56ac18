# SPDX-License-Identifier: MIT
"""Which devices an object is made on, as the C library's options."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Literal

from polarquant import _structs
from polarquant._arrays import as_int
from polarquant._library import default_options, lib
from polarquant.errors import BadArgumentError

#: What each of several devices has of an index: a part of the rows, or all of them.
Layout = Literal["sharded", "replicated"]

#: By their numbers in the header.
_LAYOUTS = ("sharded", "replicated")


def make_options(device: int) -> _structs.CudaOptions:
    options = default_options(_structs.CudaOptions, lib.polar_cuda_options_init_sized)
    options.device = as_int("device", device, 0, 2**31 - 1)
    return options


def make_places(device: int, devices: Sequence[int] | None, layout: str) -> _structs.CudaOptions:
    options = make_options(device)
    if layout not in _LAYOUTS:
        raise BadArgumentError(f"layout: {layout!r} is not allowed; {' or '.join(_LAYOUTS)}")
    options.layout = _LAYOUTS.index(layout)
    if devices is None:
        return options
    if device != 0:
        raise BadArgumentError(f"device: {device} is not allowed beside devices")
    if len(devices) == 0:
        raise BadArgumentError("devices: none is there; 1 or more are allowed")
    listed = [as_int(f"devices[{i}]", given, 0, 2**31 - 1) for i, given in enumerate(devices)]
    # The struct keeps the array alive.
    options.devices = (ctypes.c_int32 * len(listed))(*listed)
    options.num_devices = len(listed)
    return options
