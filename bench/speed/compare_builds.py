#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the speed of two builds of the library, in turns, on a fixed list of workloads.

Each build runs in a process of its own, through the Python package of its own sources, with one thread. In
each round both do the same work, by turns the one first and the other, and the round's two processor times
are compared with each other: the speed of the new build as a multiple of the old one's, above 1 where the
new one is faster. After some rounds both processes start anew: where a process has its memory is worth 1 to
3 %, for as long as it lives. Of a workload's rounds the median is told, and in parentheses the quartiles.
"answers differ" marks workloads whose codes or results are not the same bytes.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Highway's bits of the instruction sets whose kernels differ most; best first.
TARGETS = {"AVX3_DL": 1 << 7, "AVX3": 1 << 8, "AVX2": 1 << 9, "SSE4": 1 << 11}
#: What a target is called that is left to the library.
BEST = "best"


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="./dev.sh speed [BASE]",
        usage="%(prog)s [OPTIONS]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="BASE is a commit, default HEAD; new is what the working tree holds. Example: what a change has "
        "done\nto searches of one query with AVX2, before it is committed:\n\n"
        "  ./dev.sh speed --only ^one/ --targets AVX2 --rounds 15",
    )
    parser.add_argument("--rounds", type=int, default=9, help="of each workload; default 9")
    parser.add_argument(
        "--processes", type=int, help="that share a workload's rounds; default 3, or as many as rounds"
    )
    parser.add_argument("--only", metavar="REGEX", default="", help="workloads whose name matches")
    parser.add_argument(
        "--targets",
        metavar="LIST",
        help=f"instruction sets, of {','.join(TARGETS)} and {BEST}, which leaves it to the library; "
        "default: all that this machine has",
    )
    parser.add_argument(
        "--min-seconds", type=float, default=0.1, help="of each timed run; default .1"
    )
    parser.add_argument("--list", action="store_true", help="print the workloads and stop")
    builds = parser.add_argument_group("builds; ./dev.sh speed makes and names them")
    for side in ("old", "new"):
        builds.add_argument(f"--{side}", metavar="LIBRARY", help="a libpolarquant.so")
        builds.add_argument(
            f"--{side}-sources", metavar="FOLDER", default=str(ROOT), help="its sources"
        )
    builds.add_argument("--folder", default=str(ROOT / "build-speed"), help="for indexes")
    parser.add_argument("--worker", metavar="TARGET", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds} (allowed: 1 or more)")
    if options.processes is None:
        options.processes = min(3, options.rounds)
    if not 1 <= options.processes <= options.rounds:
        parser.error(f"--processes {options.processes} (allowed: 1 to --rounds, {options.rounds})")
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only {options.only}: {error}")
    unknown = set((options.targets or BEST).split(",")) - {*TARGETS, BEST}
    if unknown:
        parser.error(f"--targets {','.join(unknown)} (allowed: {','.join(TARGETS)},{BEST})")
    if not (options.list or options.new and (options.worker or options.old)):
        parser.error("--old and --new name the libraries")
    return options


# ---- the worker: one build, driven by lines of JSON


def highway(library):
    """Highway's functions behind a library, where it is linked as a shared library; else None."""
    try:
        loaded = ctypes.CDLL(library)
        choose = loaded._ZN3hwy26SetSupportedTargetsForTestEl
        supported = loaded._ZN3hwy16SupportedTargetsEv
    except AttributeError:
        return None
    choose.argtypes, choose.restype = [ctypes.c_int64], None
    supported.argtypes, supported.restype = [], ctypes.c_int64
    return choose, supported


def work(options):
    """Answers requests, one a line, on the standard output, which nothing else writes to."""
    library, sources = options.new, pathlib.Path(options.new_sources)
    found = highway(library)
    if options.worker != BEST:
        found[0](TARGETS[options.worker])  # before the library first asks
    os.environ["POLARQUANT_LIBRARY"] = library
    sys.path.insert(0, str(sources / "bindings" / "python" / "src"))
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import polarquant

    import workloads

    data = workloads.Data(polarquant, ROOT / "bench" / "data", pathlib.Path(options.folder))
    listed = {workload.name: workload for workload in workloads.workloads()}
    run = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "prepare" in request:
                run = listed[request["prepare"]].prepare(data)
                answer = {"digest": run.digest}
            else:
                answer = {"seconds": seconds_of(run, request["min_seconds"])}
        except Exception as error:  # told, and the next workload goes on
            answer = {"problem": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")


def seconds_of(run, min_seconds):
    """Processor seconds an item."""
    begin = time.process_time()
    calls = 0
    while True:
        run.call()
        calls += 1
        taken = time.process_time() - begin
        if taken >= min_seconds:
            return taken / (calls * run.items)


# ---- the other end


class Worker:
    def __init__(self, side, options, target):
        library, sources = getattr(options, side), getattr(options, f"{side}_sources")
        folder = pathlib.Path(options.folder) / f"indexes-{side}"
        folder.mkdir(parents=True, exist_ok=True)
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--worker", target, "--new", library]
            + ["--new-sources", sources, "--folder", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, **request):
        """The answer, or {"problem": …}."""
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"problem": "its process ended"}

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def default_targets(options):
    """All of TARGETS that the machine has and both builds can be made to take; else the best."""
    both = [highway(library) for library in (options.old, options.new)]
    if not all(both):
        return [BEST]
    return [name for name, bit in TARGETS.items() if both[0][1]() & bit] or [BEST]


def time_text(seconds):
    return f"{seconds * 1e6:10.2f}"


class Failed(Exception):
    """What a worker could not do."""


def answer_of(side, worker, **request):
    answer = worker.ask(**request)
    if "problem" in answer:
        raise Failed(f"{side}: {answer['problem']}")
    return answer


def time_rounds(name, workers, rounds, options, times):
    """Appends the times of so many rounds; returns each side's digest."""
    digests = {
        side: answer_of(side, worker, prepare=name)["digest"] for side, worker in workers.items()
    }
    for turn in range(-1, rounds):  # the first warms up
        for side in ("old", "new") if turn % 2 else ("new", "old"):
            seconds = answer_of(side, workers[side], min_seconds=options.min_seconds)["seconds"]
            if turn >= 0:
                times[side].append(seconds)
    return digests


def compare(name, target, options):
    """The line of a workload."""
    times = {"old": [], "new": []}
    for process in range(options.processes):
        workers = {side: Worker(side, options, target) for side in ("old", "new")}
        rounds = (options.rounds + process) // options.processes
        try:
            digests = time_rounds(name, workers, rounds, options, times)
        except Failed as failed:
            return f"{name:28} {failed}"
        finally:
            for worker in workers.values():
                worker.close()
    ratios = [old / new for old, new in zip(times["old"], times["new"])]
    low, middle, high = (
        statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    )
    shown = " ".join(time_text(statistics.median(times[side])) for side in ("old", "new"))
    differ = "" if digests["old"] == digests["new"] else "  answers differ"
    return f"{name:28} {shown}   {middle:6.3f}  ({low:.3f}..{high:.3f}){differ}"


def main():
    options = parse_arguments()
    if options.worker:
        work(options)
        return
    import workloads

    names = [workload.name for workload in workloads.workloads()]
    chosen = [name for name in names if re.search(options.only, name)]
    if options.list or not chosen:
        print("\n".join(names))
        if not chosen:
            sys.exit(f"--only {options.only}: none of these workloads")
        return
    targets = options.targets.split(",") if options.targets else default_targets(options)
    print(
        f"{len(chosen)} workloads, {options.rounds} rounds by {options.processes} processes of each build, one "
        "thread; µs a row or query",
        flush=True,
    )
    for target in targets:
        for side in ("old", "new"):  # indexes are made once, by the first target
            if target == targets[0]:
                shutil.rmtree(pathlib.Path(options.folder) / f"indexes-{side}", ignore_errors=True)
        print(f"\n{target:28} {'old':>10} {'new':>10}   speed new/old", flush=True)
        for name in chosen:
            print(compare(name, target, options), flush=True)


if __name__ == "__main__":
    main()
