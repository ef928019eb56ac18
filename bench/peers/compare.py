#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our flat search with turbovec and FAISS: recall, bytes and queries/s on one thread.

Run through run.sh, which installs the other libraries and builds ours.
"""
import argparse
import gc
import importlib
import json
import math
import os
import pathlib
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "peers"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
SINGLE_QUERIES = 1000
WARM_UP_QUERIES = 16
AGREEMENT_QUERIES = 50  # searched in both modes, to see whether both find the same


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="bench/peers/run.sh", description=__doc__.splitlines()[0],
        epilog="The environment variable PYTHON names the interpreter that run.sh makes the "
               "environment from.")
    data = parser.add_argument_group("data; the bundled embeddings when none is given")
    data.add_argument("--data", metavar="NAME|PATH",
                      help='"bundled", or a folder with base.npy, query.npy and perhaps gt.npy')
    data.add_argument("--base", metavar="FILE", help="vectors to search, .npy, float32 or float16")
    data.add_argument("--query", metavar="FILE", help="queries, .npy")
    data.add_argument("--gt", metavar="FILE",
                      help="true neighbours by inner product, .npy; computed and kept when absent, or "
                           "with --nb")
    data.add_argument("--generate", metavar="N,DIM[,NQ]",
                      help="clustered Gaussians (clustered_gaussians.py); NQ is 1000 by default")
    data.add_argument("--seed", type=int, default=1, help="of --generate; default 1")
    data.add_argument("--nb", type=int, help="first rows of the base only")
    data.add_argument("--nq", type=int, help="first queries only")
    run = parser.add_argument_group("what is run")
    run.add_argument("--contenders", metavar="LIST",
                     help='separated by ";": polar:Polar2, turbovec:4, turbovec:4+calibrated, '
                          "faiss:FACTORY; by default ours and all rivals at 2 and 4 bits")
    run.add_argument("--library", metavar="PATH", default=str(ROOT / "build/lib/libpolarquant.so"),
                     help="our library; given, nothing is built")
    run.add_argument("-k", type=int, default=10, help="neighbours; default 10")
    run.add_argument("--repeats", type=int, default=5, help="timed rounds; default 5")
    run.add_argument("--min-seconds", type=float, default=0.1,
                     help="a timed run repeats its calls until they took this long; default 0.1")
    run.add_argument("--one-limit", type=float, default=10, metavar="SECONDS",
                     help="a run of single queries stops after this long; default 10")
    run.add_argument("--cpu", type=int, help="core to run on; by default the last one allowed")
    run.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                     help="time behind the table; cpu where others use the machine too")
    run.add_argument("--json", metavar="FILE", help="every figure of every run")
    options = parser.parse_args()
    if min(options.k, options.repeats, *(n for n in (options.nb, options.nq) if n is not None)) < 1:
        parser.error("-k, --repeats, --nb and --nq must be 1 or more")
    sources = [options.data, options.base or options.query, options.generate]
    if sum(source is not None for source in sources) > 1:
        parser.error("--data, --base with --query, and --generate exclude each other")
    if bool(options.base) != bool(options.query):
        parser.error("--base and --query belong together")
    return parser, options


def use_one_core(cpu):
    """Before NumPy and the libraries are loaded: they count cores and read the environment then."""
    for name in ONE_THREAD:
        os.environ[name] = "1"
    if not hasattr(os, "sched_setaffinity"):
        return None
    cpu = max(os.sched_getaffinity(0)) if cpu is None else cpu
    os.sched_setaffinity(0, {cpu})
    return cpu


def say(text):
    print(text, file=sys.stderr, flush=True)


def shown(path):
    """Files of this repository by their place in it."""
    path = pathlib.Path(path)
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def data_files(parser, options, peer_data):
    if options.base:
        files = options.base, options.query, None
    elif options.generate:
        try:
            sizes = [int(part) for part in options.generate.split(",")]
        except ValueError:
            sizes = []
        if len(sizes) not in (2, 3) or min(sizes) < 1:
            parser.error(f"--generate {options.generate} (allowed: N,DIM or N,DIM,NQ)")
        files = peer_data.generated_files(*(sizes + [1000])[:3], options.seed, CACHE)
    elif options.data in (None, "bundled"):
        files = peer_data.folder_files(ROOT / "bench" / "data")
    else:
        files = peer_data.folder_files(options.data)
    return files[0], files[1], options.gt or files[2]


def import_rivals(library_path, polar_index):
    """{kind: module}; a library that cannot be loaded is its exception."""
    modules = {"polar": polar_index.PolarLibrary(library_path)}
    for name in ("turbovec", "faiss"):
        try:
            modules[name] = importlib.import_module(name)
        except Exception as error:  # a broken wheel raises what it likes
            modules[name] = error
    return modules


def versions(modules):
    import numpy
    found = {"polarquant": modules["polar"].version(), "python": sys.version.split()[0],
             "numpy": numpy.__version__}
    for name in ("turbovec", "faiss"):
        if not isinstance(modules[name], Exception):
            found[name] = modules[name].__version__
            if name == "faiss":
                found["faiss_options"] = modules[name].get_compile_options().strip()
    return found


def build(name, number, count, base, modules, contenders):
    """The contender, and its row of the result; no contender where it could not be built."""
    row = {"name": name, "contender": name}
    say(f"building {name} ({number} of {count})")
    try:
        contender = contenders.make_contender(name, base.shape[1], modules)
        row.update(name=contender.name, bits=contender.bits, is_ours=contender.is_ours,
                   settings=contender.settings())
        start = time.perf_counter()
        contender.build(base)
        row["build_seconds"] = time.perf_counter() - start
        row["bytes_per_vector"] = contender.bytes_per_vector()
    except Exception as error:
        text = str(error).strip().splitlines()[-1:] or ["no message"]
        # FAISS puts the signature and place of its function in front.
        row["error"] = f"{type(error).__name__}: " + re.sub(r"^Error in .* at \S+:\d+: ", "", text[0])
        say(f"  {row['error']}")
        return None, row
    return contender, row


def timed(function, calls, call_queries, min_seconds, max_seconds):
    """Makes all `calls` in turn, again until `min_seconds` are full; none after `max_seconds`."""
    done = 0
    wall, cpu = time.perf_counter(), time.process_time()
    end = wall
    while end - wall < min_seconds:
        for arguments in calls:
            function(*arguments)
            done += 1
            end = time.perf_counter()
            if end - wall > max_seconds:
                break
    return {"queries": done * call_queries, "wall_seconds": end - wall,
            "cpu_seconds": time.process_time() - cpu}


def single_queries(queries, count):
    return [queries[i:i + 1] for i in range(min(len(queries), count))]


def measure_recall(contender, row, queries, truth, k, recall):
    found = contender.search([queries], k)
    row["recall"] = recall(found, truth)
    singles = single_queries(queries, AGREEMENT_QUERIES)
    same = slice(len(singles))
    row["recall_one_difference"] = (recall(contender.search(singles, k), truth[same]) -
                                    recall(found[same], truth[same]))
    row["runs"] = {"one": [], "batch": []}


def measure_time(contender, row, queries, options):
    """One run of each mode."""
    singles = single_queries(queries, SINGLE_QUERIES)
    min_seconds = min(options.min_seconds, options.one_limit)
    for mode, blocks, limit in (("one", singles, options.one_limit), ("batch", [queries], math.inf)):
        contender.search(singles[:WARM_UP_QUERIES], options.k)
        function, calls = contender.calls(blocks, options.k)
        row["runs"][mode].append(timed(function, calls, len(blocks[0]), min_seconds, limit))


def load(parser, options, peer_data):
    """Base, queries, true neighbours, and what the result says about them."""
    base_path, query_path, gt_path = data_files(parser, options, peer_data)
    base = peer_data.load_vectors(base_path, options.nb)
    queries = peer_data.load_vectors(query_path, options.nq)
    if base.shape[1] != queries.shape[1] or options.k > len(base):
        raise peer_data.DataError(f"base {base.shape}, queries {queries.shape}, k {options.k} "
                                  "(allowed: the same dimensions, k up to the rows)")
    hashes = [peer_data.array_hash(x) for x in (base, queries)]
    if gt_path and not options.nb:  # a list for the whole base says nothing about a part of it
        truth = peer_data.load_neighbours(gt_path, len(queries), len(base), options.k)
    else:
        truth = peer_data.neighbours(base, queries, options.k, hashes, CACHE, say)
    about = [{"file": shown(path), "rows": x.shape[0], "dim": x.shape[1], "blake2b": digest}
             for path, x, digest in zip((base_path, query_path), (base, queries), hashes)]
    return base, queries, truth, dict(zip(("base", "query"), about))


def measure_all(running, queries, truth, options, peer_data, peer_report):
    for contender, row in running:
        say(f"recall of {row['name']}")
        measure_recall(contender, row, queries, truth, options.k, peer_data.recall)
    gc.disable()
    # In turn, not one after the other: a slow minute of the machine then meets all of them.
    for repeat in range(options.repeats):
        say(f"timing, round {repeat + 1} of {options.repeats}")
        for contender, row in running:
            measure_time(contender, row, queries, options)
            rates = [peer_report.qps(row["runs"][mode][-1], options.clock)
                     for mode in peer_report.MODES]
            say(f"  {row['name']}: one {rates[0]:.0f}, batch {rates[1]:.0f} queries/s")


def write_json(path, result):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def main():
    parser, options = parse_arguments()
    cpu = use_one_core(options.cpu)
    import contenders
    import peer_data
    import peer_report
    import polar_index

    try:
        base, queries, truth, data = load(parser, options, peer_data)
        modules = import_rivals(options.library, polar_index)
    except (peer_data.DataError, OSError, ValueError) as error:
        sys.exit(f"compare.py: {error}")

    names = contenders.default_contenders(base.shape[1])
    if options.contenders:
        names = [name.strip() for name in options.contenders.split(";") if name.strip()]
    built = [build(name, i + 1, len(names), base, modules, contenders)
             for i, name in enumerate(names)]
    del base  # a large one is worth its memory; each index has its own copy of what it needs
    rows = [row for _, row in built]
    running = [(contender, row) for contender, row in built if contender]
    measure_all(running, queries, truth, options, peer_data, peer_report)

    peer_report.add_medians(rows, options.clock)
    comparisons = peer_report.ratios(rows)
    print(f"{data['base']['rows']} rows, {data['base']['dim']} dimensions, {len(queries)} queries, "
          f"one thread of {peer_report.cpu_model()}, median of {options.repeats} ({options.clock} time)")
    peer_report.print_table(rows, options.k)
    peer_report.print_ratios(comparisons, options.k)
    if options.json:
        settings = {name: getattr(options, name)
                    for name in ("k", "repeats", "clock", "min_seconds", "one_limit")}
        write_json(options.json, {
            "command": sys.argv[1:], "machine": peer_report.machine(cpu),
            "versions": {**versions(modules), "commit": peer_report.commit(ROOT)},
            "settings": {"metric": "inner product", "threads": 1, **settings}, "data": data,
            "contenders": rows, "ratios": comparisons})
    if any("error" in row for row in rows if row["contender"].startswith("polar:")):
        sys.exit(1)


if __name__ == "__main__":
    main()
