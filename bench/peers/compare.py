#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our indexes with other libraries' on the same vectors: recall, bytes, queries/s.

`recall` measures recall and bytes over several seeds, `churn` searches between upserts and removals, each
contender in a process of its own. `speed` has all contenders in one process and times them in turns. Run
through run.sh, which installs the other libraries and builds ours.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import suites

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "peers"
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
)
EXAMPLES = """examples:
  run.sh recall --data FOLDER --json recall.json
  run.sh speed --data FOLDER --suite search --series "polarquant.*|FAISS.*"
  run.sh speed --data FOLDER --suite filter --nq 200 --rounds 3 --json filter.json
  run.sh speed --filters "random/0.1;clustered/0.01" --contenders "polar:Polar4;faiss:SQ8"
  run.sh churn --data FOLDER --seconds 60 --clock cpu --json churn.json

The environment variable PYTHON names the interpreter that run.sh makes the environment from."""
DEFAULT_SUITES = {"recall": "flat", "speed": "flat-speed", "churn": "churn"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="bench/peers/run.sh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=EXAMPLES,
    )
    parser.add_argument("mode", choices=DEFAULT_SUITES)
    data = parser.add_argument_group("data; the bundled embeddings when none is given")
    data.add_argument(
        "--data", metavar="FOLDER", help="with base.npy, query.npy and perhaps gt.npy or gt_ip.npy"
    )
    data.add_argument(
        "--generate",
        metavar="N,DIM[,NQ]",
        help="clustered Gaussians (clustered_gaussians.py); NQ is 1000 by default",
    )
    data.add_argument("--name", help="of the data, in the result; default: the folder's")
    data.add_argument("--nb", type=int, help="first rows of the base only")
    data.add_argument("--nq", type=int, help="first queries only")
    run = parser.add_argument_group("what is run")
    run.add_argument("--suite", choices=suites.SUITES, help="see suites.py")
    run.add_argument(
        "--contenders",
        metavar="LIST",
        help='instead of a suite, separated by ";": polar:Polar2, faiss:IVF1024,SQ8@nprobe=4/16, '
        "turbovec:4+calibrated, …",
    )
    run.add_argument("--series", metavar="REGEX", help="of the suite, only series that match it")
    run.add_argument(
        "--filters",
        metavar="LIST",
        help='of speed, separated by ";": random/0.1 keeps 10 %% of the rows, drawn at random, clustered/0.1 '
        "as many that are near each other; default: none, and those of row_filters.py in the suite filter",
    )
    run.add_argument(
        "--train-rows",
        type=int,
        metavar="N",
        help="train on so many rows of the base, drawn at random, the same for all; libraries that cannot are "
        "not measured; default: all",
    )
    run.add_argument("-k", type=int, default=10, help="neighbours; default 10")
    run.add_argument("--threads", type=int, default=1, help="default 1")
    run.add_argument("--seeds", type=int, default=5, help="of recall; default 5")
    run.add_argument("--rounds", type=int, default=7, help="of speed; default 7")
    run.add_argument(
        "--seconds",
        type=float,
        default=600,
        help="of churn: with changes, for each contender, after a sixth of it without; default 600",
    )
    run.add_argument(
        "--min-seconds",
        type=float,
        default=0.1,
        help="a timed run repeats its calls until they took this long; default 0.1",
    )
    run.add_argument(
        "--one-limit",
        type=float,
        default=1,
        metavar="SECONDS",
        help="a run of single queries stops after this long; default 1",
    )
    run.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="time after tables and charts; cpu where others use the machine too",
    )
    run.add_argument("--json", metavar="FILE", help="every figure of every run")
    run.add_argument(
        "--resume",
        action="store_true",
        help="of recall: keep the contenders that FILE has, also those not asked for now",
    )
    options = parser.parse_args()
    names = ("k", "threads", "seeds", "rounds", "nb", "nq", "train_rows")
    counts = [getattr(options, name) for name in names]
    if min(n for n in counts if n is not None) < 1:
        parser.error(
            "-k, --threads, --seeds, --rounds, --nb, --nq and --train-rows must be 1 or more"
        )
    if not options.seconds > 0:
        parser.error("--seconds must be more than 0")
    if options.data and options.generate:
        parser.error("--data and --generate exclude each other")
    if options.filters and options.mode != "speed":
        parser.error("--filters goes with speed")
    if options.resume and not (options.json and options.mode == "recall"):
        parser.error("--resume goes with recall and --json")
    return parser, options


def say(text):
    print(text, file=sys.stderr, flush=True)


def data_files(parser, options, peer_data):
    """(base, queries, true neighbours or None), and the name of the data."""
    if options.generate:
        try:
            sizes = [int(part) for part in options.generate.split(",")]
        except ValueError:
            sizes = []
        if len(sizes) not in (2, 3) or min(sizes) < 1:
            parser.error(f"--generate {options.generate} (allowed: N,DIM or N,DIM,NQ)")
        files = peer_data.generated_files(*(sizes + [1000])[:3], 1, CACHE)
        return files, options.name or f"clustered Gaussians {options.generate}"
    folder = pathlib.Path(options.data or ROOT / "bench" / "data")
    name = folder.resolve().name if options.data else "bundled"
    return peer_data.folder_files(folder), options.name or name


def load(parser, options, peer_data):
    """Base, queries, true neighbours, their files, and what the result says about them."""
    (base_path, query_path, gt_path), name = data_files(parser, options, peer_data)
    base = peer_data.load_vectors(base_path, options.nb)
    queries = peer_data.load_vectors(query_path, options.nq)
    if base.shape[1] != queries.shape[1] or options.k > len(base):
        raise peer_data.DataError(
            f"base {base.shape}, queries {queries.shape}, k {options.k} "
            "(allowed: the same dimensions, k up to the rows)"
        )
    hashes = [peer_data.array_hash(x) for x in (base, queries)]
    cached = peer_data.cached_neighbours(hashes, options.k, CACHE)
    if gt_path and not options.nb:  # a list for the whole base says nothing data_info a part of it
        truth = peer_data.load_neighbours(gt_path, len(queries), len(base), options.k)
        peer_data.save_neighbours(cached, truth)
        source = "given"
    else:
        truth = peer_data.neighbours(base, queries, options.k, cached, say)
        source = "computed: float32, scored again in float64"
    data_info = {"name": name, "metric": "inner product", "true_neighbours": source}
    data_info["true_neighbours_blake2b"] = peer_data.array_hash(truth)
    for what, x, digest in zip(("base", "query"), (base, queries), hashes):
        data_info[what] = {"rows": x.shape[0], "dim": x.shape[1], "blake2b": digest}
    paths = {"base": base_path, "query": query_path, "truth": cached}
    return base, queries, truth, paths, data_info


def command_shown():
    """What was typed, without the folders of this machine."""
    return [pathlib.PurePath(a).name if a.startswith(("/", ".")) else a for a in sys.argv[1:]]


def write_json(path, result):
    """Whole or not at all: a long run that is stopped keeps what it had."""
    unfinished = f"{path}.unfinished"
    with open(unfinished, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(unfinished, path)


def kept_rows(options, result):
    """Rows of an earlier run on the same data with the same settings."""
    if not (options.resume and os.path.exists(options.json)):
        return []
    with open(options.json, encoding="utf-8") as file:
        before = json.load(file)
    for part in ("data", "settings"):
        if before[part] != result[part]:
            sys.exit(f"compare.py: --resume: {options.json} has other {part}")
    return before["contenders"]


def run_recall(contenders, paths, options, result, save):
    import measure

    kept = kept_rows(options, result)
    done = {row["contender"]: row for row in kept if "error" not in row}
    rows = {"base": options.nb, "query": options.nq}
    # Those that are not reached yet are in the file too, whenever the run is stopped.
    missing = {contender.name for contender in contenders} - done.keys()
    result["contenders"] = [row for row in kept if row["contender"] not in missing]
    contenders = [contender for contender in contenders if contender.name not in done]
    arguments = (paths, rows, options.seeds, options.k, options.threads, options.train_rows)
    run_alone(contenders, measure.recall_of, arguments, result, save)


def run_churn(contenders, paths, options, result, save):
    import churn

    arguments = (paths, {"base": options.nb, "query": options.nq}, options)
    run_alone(contenders, churn.churn_of, arguments, result, save)


def run_alone(contenders, function, arguments, result, save):
    """The row of each from a process of its own: memory is then this contender's alone, and one that crashes
    ends itself."""
    import measure

    context = multiprocessing.get_context("spawn")
    for number, contender in enumerate(contenders, 1):
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            try:
                row = pool.submit(function, contender, *arguments).result()
            except BrokenProcessPool:
                row = {**measure.empty_row(contender), "error": "its process died without a word"}
        result["contenders"].append(row)
        from peer_report import summary

        say(f"{number} of {len(contenders)}: {summary(row)}")
        save(result)


def cases_of(options, base, queries, truth):
    """What searches are timed with: without a filter, and with each that was asked for."""
    import row_filters

    filters = row_filters.FILTERS if options.suite == "filter" else ()
    if options.filters:
        filters = row_filters.parse(options.filters)
    cases = [row_filters.Case(truth)]
    return cases + list(row_filters.cases(filters, base, queries, options.k, CACHE, say))


def run_speed(contenders, base, queries, cases, options, result):
    import measure
    from peer_report import summary

    points = []
    for number, contender in enumerate(contenders, 1):
        found, row = measure.build_for_speed(contender, base, queries, cases, options)
        say(f"{number} of {len(contenders)}: {summary(row)}")
        result["contenders"].append(row)
        points += found
    result["load_average_of_rounds"] = measure.time_in_turns(points, queries, options, say)


def main():
    parser, options = parse_arguments()
    # Before the libraries are loaded, which read these then; the processes of `recall` inherit them.
    for name in THREAD_VARIABLES:
        os.environ[name] = str(options.threads)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import peer_data
    import peer_report

    try:
        base, queries, truth, paths, data_info = load(parser, options, peer_data)
        suite = suites.SUITES[options.suite or DEFAULT_SUITES[options.mode]]
        contenders = (
            suites.parse(options.contenders) if options.contenders else suite(base.shape[1])
        )
        if options.series:
            contenders = [c for c in contenders if re.fullmatch(options.series, c.series)]
        cases = cases_of(options, base, queries, truth)
    except (peer_data.DataError, OSError, ValueError) as error:
        sys.exit(f"compare.py: {error}")
    names = {
        "recall": ("k", "threads", "seeds"),
        "speed": ("k", "threads", "rounds", "min_seconds", "one_limit", "clock"),
        "churn": ("k", "threads", "seconds", "clock"),
    }
    result = {
        "mode": options.mode,
        "suite": "named" if options.contenders else options.suite or DEFAULT_SUITES[options.mode],
        "command": command_shown(),
        "machine": peer_report.machine(),
        "commit": peer_report.commit(ROOT),
        "data": data_info,
        "settings": {name: getattr(options, name) for name in names[options.mode]},
        "contenders": [],
    }
    if options.train_rows:
        result["settings"]["train_rows"] = options.train_rows
    save = lambda content: options.json and write_json(options.json, content)
    if options.mode != "speed":
        del base
        run = {"recall": run_recall, "churn": run_churn}[options.mode]
        run(contenders, paths, options, result, save)
    else:
        run_speed(contenders, base, queries, cases, options, result)
    result["load_average_at_end"] = os.getloadavg()[0]
    save(result)
    peer_report.print_tables(result)
    if any("error" in r for r in result["contenders"] if r["contender"].startswith("polar:")):
        sys.exit(1)


if __name__ == "__main__":
    main()
