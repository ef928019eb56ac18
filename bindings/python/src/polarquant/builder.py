# SPDX-License-Identifier: MIT
"""Index files of more rows than memory holds: built in parts, and merged."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import address, as_ids, as_int, as_rows
from polarquant._handle import Handle, create
from polarquant._library import check, default_options, lib, work_options
from polarquant._progress import LongCall, ProgressLike
from polarquant._storage import PathLike, as_path
from polarquant._use import Use
from polarquant.errors import BadArgumentError
from polarquant.index import Index

#: For calls that take long with few rows.
_ALWAYS = 2**63
#: Of a part, unless the caller says otherwise.
MEMORY_BYTES = 1 << 30


class IndexBuilder(Handle):
    """An index file made from rows that come in any number of calls, of more than memory holds.

    >>> index = polarquant.Index("IVF8192,Polar4", 128, "l2")
    >>> index.train(sample)
    >>> with polarquant.IndexBuilder("rows.polar", index) as builder:
    ...     for rows in batches:
    ...         builder.add(rows)
    ...     builder.finish()

    Rows are coded in an index in memory; when it has taken memory_bytes, it is written as a part to
    the folder "rows.polar.parts" and emptied. `finish` merges the parts: the file has the bytes that
    one index of all rows would be saved as. A build that ended before that, by Ctrl-C, an error or a
    kill, goes on by `resume`, after the rows of whole parts:

    >>> builder = polarquant.IndexBuilder.resume("rows.polar")
    >>> builder.ntotal  # rows that need not come again

    path: of the index file; one that is there stays as it is until the new one is whole.
    index: says how rows are coded: trained, without rows; one of our codes, alone ("Polar4") or in
    an inverted file ("IVF1024,Polar4"), also after vector transforms, in id maps and in refinements
    by our codes ("Polar2,Refine(Polar8)").
    memory_bytes: for the rows of a part, 1 MiB or more. What was trained and the floats of a call come
    on top; leave as much again to the process.
    replace: removes the parts of an earlier build, which are refused else.

    Raises NotTrainedError, also where training is optional, since parts would learn from different
    rows; UnsupportedError for graphs and FAISS's kinds; InputOutputError while another builder has
    the folder. Threads may not share a builder.
    """

    _destroy = lib.polar_builder_destroy

    def __init__(
        self,
        path: PathLike,
        index: Index,
        *,
        memory_bytes: int = MEMORY_BYTES,
        replace: bool = False,
    ) -> None:
        if not isinstance(index, Index):
            raise TypeError(f"index: {index!r} is not an Index")
        options = _options(memory_bytes)
        options.replace = int(bool(replace))
        with index._use.shared as trained:
            handle = create(
                lib.polar_builder_create, trained, as_path(path), ctypes.byref(options)
            )
        super().__init__("IndexBuilder", handle)

    @classmethod
    def resume(cls, path: PathLike, *, memory_bytes: int = MEMORY_BYTES) -> IndexBuilder:
        """Goes on with the build whose parts lie beside the path. Raises NotFoundError where there is
        none, CorruptDataError for a part that is missing, damaged, or of another build."""
        options = _options(memory_bytes)
        return cls._adopt(create(lib.polar_builder_resume, as_path(path), ctypes.byref(options)))

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        with self._use.shared as handle:
            return int(lib.polar_builder_dim(handle))

    @property
    def ntotal(self) -> int:
        """Rows that were added, those of an earlier process's parts too."""
        with self._use.shared as handle:
            return int(lib.polar_builder_ntotal(handle))

    @property
    def written(self) -> int:
        """The rows of them that lie in whole parts: these stay when the process ends now."""
        with self._use.shared as handle:
            return int(lib.polar_builder_written(handle))

    def __len__(self) -> int:
        return self.ntotal

    def add(self, x: npt.ArrayLike, *, num_threads: int = 0, progress: ProgressLike = None) -> None:
        """Adds rows x, (n, dim), with ids ntotal, ntotal + 1, … After an error, or Ctrl-C, `ntotal`
        says how many of them are in."""
        rows = as_rows("x", x, self.dim)
        asked = ("add", progress, num_threads, rows.size)
        self._change_long(*asked, lib.polar_builder_add, len(rows), address(rows))

    def add_with_ids(
        self,
        x: npt.ArrayLike,
        ids: npt.ArrayLike,
        *,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> None:
        """Adds rows x, (n, dim), with ids, (n,), integers of 0 or more. An id that comes twice is
        found here within a part, and else by `finish`."""
        rows = as_rows("x", x, self.dim)
        row_ids = as_ids("ids", ids)
        if len(row_ids) != len(rows):
            raise BadArgumentError(f"ids: {len(row_ids)} of them for {len(rows)} rows; one each")
        asked = ("add", progress, num_threads, rows.size)
        arrays = (len(rows), address(rows), address(row_ids))
        self._change_long(*asked, lib.polar_builder_add_with_ids, *arrays)

    def write_part(self) -> None:
        """Writes the rows in memory as a part, as before a stop that is to lose none."""
        self._change(lib.polar_builder_write_part)

    def finish(self, *, progress: ProgressLike = None) -> None:
        """Writes the index file and removes the folder of parts; the builder can then only be closed.
        After an error, or Ctrl-C, the parts are there still, and it can be called again."""
        self._change_long("merge", progress, 0, _ALWAYS, lib.polar_builder_finish)


def merge_files(
    paths: Sequence[PathLike], out: PathLike, *, progress: ProgressLike = None
) -> None:
    """Merges index files into one: the bytes that one index of all rows, in this order, has.

    paths: of files that `Index.save` wrote, made and trained alike: train once and give all shards
    that state (`Index.clone`). StateMismatchError names the file and what differs.
    out: appears whole or not at all, and may be one of them, but on Windows (InputOutputError there, and
    nothing changes).
    Ids of yours stay and must differ: BadArgumentError names one that comes twice. Other rows are
    numbered on. Memory does not grow with the rows: files are mapped and read through. For the kinds
    that `IndexBuilder` takes; UnsupportedError for others.
    """
    names = [as_path(path) for path in paths]
    array = (ctypes.c_char_p * len(names))(*names)
    options = work_options(0)
    with LongCall("merge", progress, Use("merge", 0)) as call:
        options.progress = call.function
        call.check(
            lib.polar_merge_files(len(names), array, as_path(out), ctypes.byref(options))
        )


def _options(memory_bytes: int) -> _structs.BuilderOptions:
    options = default_options(_structs.BuilderOptions, lib.polar_builder_options_init_sized)
    options.memory_bytes = as_int("memory_bytes", memory_bytes, 1 << 20, 2**63 - 1)
    return options
