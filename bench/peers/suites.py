# SPDX-License-Identifier: MIT
"""The table of contenders: what is compared, in which series of a chart it stands, with which search
parameters."""

import dataclasses
import itertools

NPROBE = (1, 2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128)
HIGH_NPROBE = (32, 64, 96, 128, 192, 256, 384)  # for recalls of .95 and above
EF_SEARCH = (16, 32, 48, 64, 96, 128, 192, 256)


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str  # KIND:WHAT, see adapters/
    series: str
    points: tuple = ({},)  # search parameters of each point
    max_seeds: int = (
        100  # fewer for what takes minutes to train; 1 where nothing is drawn at random
    )
    max_train_rows: int | None = None  # where training on all that were asked for takes too long


def series(name, contenders, points=({},), max_seeds=100, max_train_rows=None):
    return [Contender(each, name, tuple(points), max_seeds, max_train_rows) for each in contenders]


def grid(**values):
    """All combinations, as dictionaries."""
    return tuple(dict(zip(values, each)) for each in itertools.product(*values.values()))


def _divided(dim, *parts):
    """dim / part, where it is whole."""
    return [dim // part for part in parts if dim % part == 0]


def flat(dim):
    """Every code, searched row by row: recall against bytes."""
    rates = ("0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5")
    trained = ("0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "5")
    more = ("3+2", "4+2", "4+3", "8")
    return [
        *series("polarquant", [f"polar:Polar{rate}" for rate in rates + more]),
        *series("turbovec", [f"turbovec:{b}" for b in (2, 3, 4)]),
        *series("RaBitQ-Library", [f"rabitqlib:Flat{b}" for b in (1, 2, 4, 8)]),
        *series("FAISS SQ", ["faiss:SQ4", "faiss:SQ6", "faiss:SQ8"], max_seeds=1),
        *series("FAISS TurboQuant", [f"faiss:RR,SQtqmse{b}" for b in (1, 2, 4, 8)]),
        *series("polarquant -pca", [f"polar:Polar{rate}-pca" for rate in trained]),
        *series("FAISS PQ", [f"faiss:PQ{m}x4fs" for m in _divided(dim, 4, 2, 1)], max_seeds=2),
        *series("ScaNN", ["scann:AH2", "scann:AH1", "scann:int8"], max_seeds=2),
        *series("turbovec", [f"turbovec:{b}+calibrated" for b in (2, 3, 4)]),
        *series("FAISS RaBitQ", [f"faiss:RaBitQ{b}" for b in range(1, 9)], max_seeds=1),
        *series("FAISS EDEN", [f"faiss:EDEN{b}" for b in (1, 2, 4, 8)], max_seeds=1),
        *series("SVS LVQ", [f"svs:Flat,LVQ{b}" for b in ("4", "8", "4x4", "4x8")]),
        *series("FAISS PQ", [f"faiss:PQ{m}x8np" for m in _divided(dim, 8, 4, 2)], max_seeds=1),
        *series("FAISS RaBitQ", [f"faiss:RR,RaBitQ{b}" for b in (1, 2, 4)]),
        *series("FAISS EDEN", [f"faiss:RR,EDEN{b}" for b in (1, 2, 4)]),
        *series("FAISS RaBitQfs", [f"faiss:RaBitQfs{b}" for b in (1, 2, 4)], max_seeds=1),
        *series("FAISS OPQ", [f"faiss:OPQ{m},PQ{m}x8np" for m in _divided(dim, 8, 4)], max_seeds=1),
    ]


# What matters most is measured first: some of these take long to train.
FEW_BYTES = (16, 8, 32, 24, 12)


def _product_additive(kind, size):
    """PRQ or PLSQ of so many bytes: the dimensions in 4 parts, from 24 bytes on in 8, as many codebooks for each."""
    parts = 4 if size < 24 else 8
    return f"{kind}{parts}x{size // parts}x8"


def few_bytes(dim):
    """Codes of 8 to 32 bytes, every row searched. For inner product FAISS's additive codes need no norms, which
    would be further bytes (`_Nqint8`, `_Nfloat`). Each has one draw: training takes minutes."""
    sizes = [size for size in FEW_BYTES if dim % size == 0]
    faiss = lambda name, codes, **more: series(
        f"FAISS {name}", [f"faiss:{code}" for code in codes], max_seeds=1, **more
    )
    return [
        *series("polarquant", [f"polar:PolarB{size}" for size in sizes]),
        *series("polarquant -km4096", [f"polar:PolarB{size}-km4096" for size in sizes]),
        *series("polarquant -km1024", [f"polar:PolarB{size}-km1024" for size in (16, 8, 32)]),
        *faiss("PQ", [f"PQ{size}x8np" for size in sizes]),
        *faiss("OPQ", [f"OPQ{size},PQ{size}x8np" for size in sizes]),
        *faiss("RQ", [f"RQ{size}x8" for size in sizes]),
        *faiss("PRQ", [_product_additive("PRQ", size) for size in sizes]),
        *faiss("PLSQ", [_product_additive("PLSQ", size) for size in sizes]),
        *faiss("LSQ", [f"LSQ{size}x8" for size in sizes if size <= 16]),
        # The time grows with the square of the bytes; with so many rows those of 16 take twelve minutes.
        *faiss("LSQ", [f"LSQ{size}x8" for size in sizes if size > 16], max_train_rows=20000),
    ]


def few_bytes_ivf(dim):
    """The same in inverted files whose lists are all searched, so that only codes lose recall; bytes hold an
    id, besides."""
    faiss = lambda name, codes, **more: series(
        f"FAISS {name}", [f"faiss:{code}" for code in codes], nprobe, max_seeds=1, **more
    )
    nprobe = grid(nprobe=(1024,))
    sizes = (16, 32)
    return [
        *series("polarquant", [f"polar:IVF1024,PolarB{size}" for size in sizes], nprobe),
        *faiss("PQ", [f"IVF1024,PQ{size}x8" for size in sizes]),
        *faiss("OPQ", [f"OPQ{size},IVF1024,PQ{size}x8" for size in sizes]),
        *faiss("RQ", [f"IVF1024,RQ{size}x8" for size in sizes]),
        *faiss("PRQ", [f"IVF1024,{_product_additive('PRQ', size)}" for size in sizes]),
        *faiss("PLSQ", [f"IVF1024,{_product_additive('PLSQ', size)}" for size in sizes]),
        *faiss("LSQ", ["IVF1024,LSQ16x8"]),
        *faiss("LSQ", ["IVF1024,LSQ32x8"], max_train_rows=20000),
    ]


def flat_speed(dim):
    """Exhaustive searches: speed at the recall that the code has."""
    codes = [f"faiss:RaBitQfs{b}" for b in (2, 4)]
    codes += [f"faiss:PQ{m}x4fs" for m in _divided(dim, 2, 1)] + ["faiss:Flat"]
    # Rows left out a little sooner, too.
    sooner = ({}, {"exactness": 1.5})
    return [
        *series("polarquant", [f"polar:Polar{rate}" for rate in ("2", "3", "4")], sooner),
        *series("polarquant", ["polar:Polar8"]),
        *series("turbovec", [f"turbovec:{b}" for b in (2, 3, 4)]),
        *series("RaBitQ-Library", [f"rabitqlib:Flat{b}" for b in (2, 4)]),
        *series("FAISS", codes),
        *series("ScaNN", ["scann:AH2", "scann:AH1"]),
    ]


def search(dim):
    """Inverted files and graphs: speed against recall."""
    nprobe = grid(nprobe=NPROBE)
    ef_search = grid(ef_search=EF_SEARCH)
    fast_scan = f"IVF1024,PQ{dim // 2}x4fs"
    return [
        *series(
            "polarquant IVF",
            ["polar:IVF1024,Polar2", "polar:IVF1024,Polar4"],
            nprobe + grid(nprobe=(32, 48, 64, 80), exactness=(1.75,)),
        ),
        *series("polarquant HNSW", ["polar:HNSW32,Polar4"], ef_search),
        *series(
            "polarquant HNSW in records", ["polar:HNSW8x,Polar8", "polar:HNSW16x,Polar8"], ef_search
        ),
        *series(
            "polarquant IVF, more bits",
            [f"polar:IVF1024,Polar{bits}" for bits in ("4-pca", "4+2-pca", "4+4", "8")],
            grid(nprobe=HIGH_NPROBE),
        ),
        *series(
            "polarquant IVF, refined",
            ["polar:IVF1024,Polar4,Refine(Polar8)"],
            grid(nprobe=HIGH_NPROBE, k_factor=(2,)),
        ),
        *series(
            "polarquant HNSW, more bits",
            [f"polar:HNSW32,Polar{bits}" for bits in ("4-pca", "4+2-pca", "4+4", "8")],
            ef_search,
        ),
        *series(
            "polarquant HNSW, refined",
            ["polar:HNSW32,Polar4,Refine(Polar8)"],
            grid(ef_search=EF_SEARCH, k_factor=(2,)),
        ),
        *series(
            "FAISS IVF", ["faiss:IVF1024,SQ4", "faiss:IVF1024,SQ8", "faiss:IVF1024,Flat"], nprobe
        ),
        *series(
            "FAISS IVF RaBitQ",
            [f"faiss:IVF1024,RaBitQ{kind}" for kind in ("2", "4", "fs2", "fs4")],
            nprobe,
        ),
        *series(
            "FAISS IVF EDEN",
            ["faiss:IVF1024,EDEN2", "faiss:IVF1024,EDEN4", "faiss:RR,IVF1024,EDEN4"],
            nprobe,
        ),
        *series("FAISS IVF TurboQuant", ["faiss:RR,IVF1024,SQtqmse4"], nprobe),
        *series("FAISS IVF PQfs", [f"faiss:{fast_scan}"], nprobe),
        *series(
            "FAISS IVF PQfs, refined",
            [f"faiss:{fast_scan},Refine(SQ8)"],
            grid(nprobe=NPROBE, k_factor=(4,)),
        ),
        *series("FAISS HNSW", ["faiss:HNSW32,SQ8"], ef_search),
        *series("RaBitQ-Library IVF", ["rabitqlib:IVF1024,2", "rabitqlib:IVF1024,4"], nprobe),
        *series("RaBitQ-Library SymQG", ["rabitqlib:SymQG32"], ef_search),
        *series(
            "ScaNN",
            ["scann:Tree1024,AH2,Reorder"],
            grid(leaves_to_search=NPROBE, pre_reorder_num_neighbors=(100,)),
        ),
        *series("SVS Vamana", ["svs:Vamana32,float32", "svs:Vamana32,LVQ4x8"], ef_search),
        *series("hnswlib", ["hnswlib:HNSW16"], ef_search),
        *series("usearch", ["usearch:HNSW16,i8"], ef_search),
    ]


def filter_search(dim):
    """Searches with filters (row_filters.py). Of what is in the other suites, usearch, ScaNN, RaBitQ-Library
    and SVS have no filters in Python, nor have FAISS's flat fast-scan codes."""
    nprobe = grid(nprobe=(32, 128))
    ef_search = grid(ef_search=(64, 256))
    fast_scan = f"IVF1024,PQ{dim // 2}x4fs,Refine(SQ8)"
    return [
        *series("polarquant", ["polar:Polar2", "polar:Polar4", "polar:Polar4+ids"]),
        *series("polarquant IVF", ["polar:IVF1024,Polar4"], nprobe),
        *series("polarquant HNSW", ["polar:HNSW32,Polar4"], ef_search),
        *series("polarquant HNSW in records", ["polar:HNSW8x,Polar8"], ef_search),
        *series("turbovec", ["turbovec:2", "turbovec:4", "turbovec:4+ids"]),
        *series("FAISS", ["faiss:SQ8", "faiss:Flat"]),
        *series("FAISS IVF", ["faiss:IVF1024,SQ8"], nprobe),
        *series(
            "FAISS IVF PQfs, refined", [f"faiss:{fast_scan}"], grid(nprobe=(32, 128), k_factor=(4,))
        ),
        *series("FAISS HNSW", ["faiss:HNSW32,SQ8"], ef_search),
        *series("hnswlib", ["hnswlib:HNSW16"], grid(ef_search=(64,))),
    ]


def churn(dim):
    """Searches between upserts and removals by id. Not our graphs, whose id maps take no upserts; not FAISS's,
    whose rows cannot be removed; not RaBitQ-Library, which chooses ids itself and keeps removed rows."""
    return [
        *series("polarquant", ["polar:Polar2", "polar:Polar4"]),
        *series("polarquant IVF", ["polar:IVF1024,Polar4"], grid(nprobe=(32,))),
        *series("turbovec", ["turbovec:4"]),
        *series("FAISS", ["faiss:IDMap2,SQ8", "faiss:IDMap2,Flat"]),
        *series("FAISS IVF", ["faiss:IVF1024,SQ8"], grid(nprobe=(32,))),
        *series("hnswlib", ["hnswlib:HNSW16"], grid(ef_search=(64,))),
        *series("usearch", ["usearch:HNSW16,i8"], grid(ef_search=(64,))),
    ]


SUITES = {
    "flat": flat,
    "few-bytes": few_bytes,
    "few-bytes-ivf": few_bytes_ivf,
    "flat-speed": flat_speed,
    "search": search,
    "filter": filter_search,
    "churn": churn,
}


def parse(text):
    """Contenders from "polar:Polar4; faiss:IVF1024,SQ8@nprobe=1/4/16"."""
    found = []
    for part in filter(None, (each.strip() for each in text.split(";"))):
        name, _, settings = part.partition("@")
        values = {}
        for setting in filter(None, settings.split(",")):
            key, _, numbers = setting.partition("=")
            try:
                values[key] = [float(n) if "." in n else int(n) for n in numbers.split("/")]
            except ValueError:
                raise ValueError(f"{part} (allowed: KIND:WHAT@NAME=1/2/3,…)") from None
        found.append(Contender(name, name.partition(":")[0], grid(**values)))
    return found
