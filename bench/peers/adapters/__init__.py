# SPDX-License-Identifier: MIT
"""One file for each library that is compared; `make` turns a contender's name into an adapter."""

import importlib

# KIND of a contender's name: the file here, and the class in it.
KINDS = {
    "polar": ("polar", "Polar"),
    "faiss": ("with_faiss", "Faiss"),
    "turbovec": ("with_turbovec", "Turbovec"),
    "rabitqlib": ("with_rabitqlib", "RaBitQLibrary"),
    "scann": ("with_scann", "Scann"),
    "svs": ("with_svs", "Svs"),
    "usearch": ("with_usearch", "Usearch"),
    "hnswlib": ("with_hnswlib", "Hnswlib"),
}


def make(name, dim, threads):
    """The adapter of KIND:WHAT; ImportError where its library is not installed, ValueError for a
    name that is not allowed."""
    kind, _, what = name.partition(":")
    if kind not in KINDS or not what:
        raise ValueError(f"{name} (allowed: KIND:WHAT with KIND one of {', '.join(KINDS)})")
    module, class_name = KINDS[kind]
    adapter = getattr(importlib.import_module(f"adapters.{module}"), class_name)
    return adapter(what, dim, threads)
