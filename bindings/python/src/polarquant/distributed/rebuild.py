# SPDX-License-Identifier: MIT
"""The end of a build: its manifest, which may replace that of an earlier build into the same folder."""

from __future__ import annotations

import os
from collections.abc import Sequence

from polarquant.errors import PolarError
from polarquant.manifest import Manifest, Shard, relative, resolve
from polarquant.places import remove_file
from polarquant.shards import write_manifest


def finish_build(folder: str, state: Shard, shards: Sequence[Shard]) -> Manifest:
    """Writes `folder`/manifest.json, then removes the files in this folder that the manifest which lay
    there named and the new one does not. Nothing else is removed: not what lies in other folders, nor
    what no manifest names. A file that cannot be removed stays."""
    place = f"{folder}/manifest.json"
    try:
        earlier = _files_of(Manifest.read(place), place)
    except PolarError:  # there was none, or one that is damaged or newer
        earlier = set()
    made = write_manifest(place, state, shards)
    for name in earlier - _files_of(made, place) - {"manifest.json"}:
        remove_file(f"{folder}/{name}")
    return made


def _files_of(manifest: Manifest, place: str) -> set[str]:
    """The names of a manifest's files that lie in its own folder."""
    entries = (manifest.state, *manifest.shards)
    paths = {relative(place, resolve(place, entry.path)) for entry in entries}
    return {path for path in paths if not {"/", os.sep} & set(path)}
