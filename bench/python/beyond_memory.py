#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inverted files larger than the memory they get: builds in parts beside a build in memory, builds
and merges that are killed, a merge of shards, and searches of a mapped file.

Rows are made up: Gaussian clusters whose spectrum falls. Each step is a process of its own, as root
in a control group of the memory it may have; else memory is reported and nothing limits it. With the
defaults it takes half an hour, 2.5 GB of memory and 20 GB of disk, which should be a file system of
its own speed (no tmpfs).

examples:
  beyond_memory.py --folder /data/scratch
  beyond_memory.py --folder /data/scratch --rows 2000000 --lists 1024 --memory 512M --only build,kill
"""

import argparse
import filecmp
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import numpy as np

DIM = 128
K = 10
NPROBE = 32
SHARDS = 16
MERGE_MEMORY = 300 << 20
GROUPS = pathlib.Path("/sys/fs/cgroup")
STEPS = ("rows", "build", "kill", "merge", "mapped")


def make_rows(path, count):
    """`count` rows of 4,096 clusters, written piece by piece."""
    spectrum = (np.arange(1, DIM + 1, dtype=np.float32)) ** -0.5
    centers = np.random.default_rng(1).standard_normal((4096, DIM), dtype=np.float32) * spectrum
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (count, DIM))
    for first in range(0, count, 200_000):
        rng = np.random.default_rng((2, first))
        piece = rows[first : first + 200_000]
        noise = rng.standard_normal(piece.shape, dtype=np.float32) * spectrum
        piece[:] = centers[rng.integers(0, len(centers), len(piece))] + 0.6 * noise
    rows.flush()


class ControlGroup:
    """Limits the memory of the processes that enter, by Linux's control groups, version 1 or 2."""

    def __init__(self, limit):
        first = GROUPS / "memory" if (GROUPS / "memory").is_dir() else GROUPS
        names = ("memory.limit_in_bytes", "memory.max_usage_in_bytes")
        self.limit, self.peak = names if first != GROUPS else ("memory.max", "memory.peak")
        self.path = first / f"beyond_memory.{os.getpid()}"
        self.bytes = limit
        try:
            self.path.mkdir()
            (self.path / self.limit).write_text(str(limit))
        except OSError:
            self.path = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.path:
            self.path.rmdir()

    def enter(self):
        if self.path:
            (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def describe(self):
        if not self.path:
            return "without a limit (no right to make a control group)"
        peak = int((self.path / self.peak).read_text())
        return f"in a control group of {self.bytes / 1e6:.0f} MB, which filled to {peak / 1e6:.0f}"


def start(group, arguments):
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        preexec_fn=group.enter if group else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def finish(process):
    """What a process printed; its own memory at most, in bytes; its seconds."""
    began = time.perf_counter()
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{process.args} ended with {process.returncode}")
    return printed, usage.ru_maxrss << 10, time.perf_counter() - began


def drop_cache(path):
    """So that the next reader reads the disk."""
    with open(path, "rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def command(at, out, memory=None):
    arguments = ["-m", "polarquant", "build", at.rows, out, "--metric", "l2"]
    arguments += ["--index", f"IVF{at.lists},Polar4"]
    return arguments + (["--memory", memory] if memory else [])


def build(at):
    """In memory and within the limit: rates, memory, and whether both files are the same."""
    drop_cache(at.rows)
    _, own, seconds = finish(start(None, command(at, at.whole)))
    print(f"build in memory: {seconds:.1f} s, {own / 1e9:.2f} GB of its own", flush=True)
    drop_cache(at.rows)
    with ControlGroup(at.memory_bytes) as group:
        _, own, limited = finish(start(group, command(at, at.parts, at.memory)))
        print(
            f"build with --memory {at.memory}: {limited:.1f} s, {seconds / limited:.2f} of the rate in "
            f"memory, {own / 1e9:.2f} GB of its own, {group.describe()}; "
            f"same bytes: {filecmp.cmp(at.whole, at.parts, shallow=False)}",
            flush=True,
        )


def finished_parts(path):
    """The parts that a stopped build of a file left: their names, sizes and times of change."""
    found = {part.name: part.stat() for part in pathlib.Path(f"{path}.parts").glob("part-*")}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found.items()}


def run_until_killed(arguments, limit, seconds):
    """Whether a process ended by itself within so many seconds; else it is killed."""
    with ControlGroup(limit) as group:
        process = start(group, arguments)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        process.stdout.close()
        time.sleep(0.1)  # until the group is empty
    if process.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(f"{process.args} ended with {process.returncode}")
    return process.returncode == 0


def kill(at):
    """A build that is killed at random moments and given again, until one ends by itself."""
    at.parts.unlink(missing_ok=True)
    chance = random.Random(3)
    kills, lost, before = 0, 0, {}
    began = time.perf_counter()
    while not run_until_killed(
        command(at, at.parts, at.memory), at.memory_bytes, chance.uniform(2, at.seconds_to_kill)
    ):
        kills += 1
        now = finished_parts(at.parts)
        lost += sum(now.get(name) != part for name, part in before.items())
        before = now
    print(
        f"build killed {kills} times: {time.perf_counter() - began:.1f} s, {lost} finished parts "
        f"written again; same bytes: {filecmp.cmp(at.whole, at.parts, shallow=False)}",
        flush=True,
    )


def write_shards(at):
    """Shards of an index with ids of the caller's."""
    import polarquant
    from polarquant import shards

    rows = np.load(at.rows, mmap_mode="r")
    at.shards.mkdir(exist_ok=True)
    index = polarquant.Index("IVF1024,Polar4", DIM, "l2")
    index.train(rows[:100_000])
    state = shards.write_state(index, at.shards / "state.polar")
    bounds = np.linspace(0, len(rows), SHARDS + 1).astype(int)
    for number, (first, last) in enumerate(zip(bounds, bounds[1:])):
        blocks = (slice(i, min(i + 131_072, last)) for i in range(first, last, 131_072))
        pairs = ((rows[block], np.arange(block.start, block.stop) * 7) for block in blocks)
        shards.build_shard(pairs, state, at.shards / f"{number:02}.polar")


def write_plainly(source, path):
    """Seconds of writing a file's bytes to the disk, which are read from memory's cache."""
    block = bytearray(8 << 20)
    with open(source, "rb", buffering=0) as read:
        while read.readinto(block):
            pass
        read.seek(0)
        began = time.perf_counter()
        with open(path, "wb", buffering=0) as out:
            while size := read.readinto(block):
                out.write(memoryview(block)[:size])
            os.fsync(out.fileno())
    path.unlink()
    return time.perf_counter() - began


def merge(at):
    """Merges of shards within a limit: rate and memory; and merges that are killed."""
    finish(start(None, [__file__, *at.child("write_shards")]))
    inputs = sorted(at.shards.glob("[0-9]*.polar"))
    arguments = ["-m", "polarquant", "merge", *inputs, "-o", at.merged]
    rates, plain = [], []
    for _ in range(3):
        at.merged.unlink(missing_ok=True)
        with ControlGroup(MERGE_MEMORY) as group:
            _, own, seconds = finish(start(group, arguments))
            described = group.describe()
        size = at.merged.stat().st_size / 1e6
        rates.append(size / seconds)
        plain.append(size / write_plainly(at.merged, at.folder / "plain"))
    print(
        f"merge of {SHARDS} shards, {size:.0f} MB, 3 runs: {np.median(rates):.0f} MB/s, where the disk "
        f"writes {min(plain):.0f} to {max(plain):.0f}; {own / 1e6:.0f} MB of its own, {described}",
        flush=True,
    )
    whole = at.folder / "whole.polar"
    at.merged.rename(whole)
    chance = random.Random(4)
    kills = 0
    while not run_until_killed(arguments, MERGE_MEMORY, chance.uniform(0.05, 1.1) * seconds):
        kills += 1
    same = filecmp.cmp(whole, at.merged, shallow=False)
    left = sorted(path.name for path in at.folder.glob(f"*{at.merged.name}*"))
    print(f"merge killed {kills} times: same bytes: {same}; files there: {left}", flush=True)
    whole.unlink()


def bytes_read():
    lines = pathlib.Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])


def search_mapped(at):
    """Searches a mapped file, one query a call, and prints its figures."""
    import polarquant

    rows = np.load(at.rows, mmap_mode="r")
    chosen = np.sort(np.random.default_rng(5).choice(len(rows), at.queries, replace=False))
    queries = np.array(rows[chosen])
    index = polarquant.Index.load(at.whole, memory_map=True)
    for _ in range(2):  # first reads of a file check its sums; the second round counts
        read, began = bytes_read(), time.perf_counter()
        found = [index.search(query, K, nprobe=NPROBE, num_threads=1)[1] for query in queries]
        seconds, read = time.perf_counter() - began, bytes_read() - read
    first = sum(int(ids.ravel()[0] == row) for ids, row in zip(found, chosen))
    print(json.dumps({"seconds": seconds, "bytes": read, "first": first}))


def read_pieces(at):
    """Reads random pieces of the mapped file, NPROBE asked for at a time, and prints the figures."""
    import mmap

    with open(at.whole, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    file_bytes = np.frombuffer(mapped, np.uint8)
    size = at.piece - at.piece % mmap.PAGESIZE
    random_pages = np.random.default_rng(6)
    read, began = bytes_read(), time.perf_counter()
    total = 0
    for _ in range(at.queries):
        pages = random_pages.integers(0, (len(mapped) - size) // mmap.PAGESIZE, NPROBE)
        places = [int(page) * mmap.PAGESIZE for page in pages]
        for place in places:
            mapped.madvise(mmap.MADV_WILLNEED, place, size)
        total += sum(
            int(file_bytes[place : place + size : mmap.PAGESIZE].sum()) for place in places
        )
    seconds, read = time.perf_counter() - began, bytes_read() - read
    print(json.dumps({"seconds": seconds, "bytes": read, "total": total}))


def mapped(at):
    """Searches of a mapped file in a quarter of its size, beside a program that only reads."""
    limit = at.whole.stat().st_size // 4
    searched, plain = [], []
    for _ in range(3):
        for name, figures in (("search_mapped", searched), ("read_pieces", plain)):
            drop_cache(at.whole)
            with ControlGroup(limit) as group:
                printed, _, _ = finish(start(group, [__file__, *at.child(name)]))
            figures.append(json.loads(printed))
        at.piece = searched[-1]["bytes"] // at.queries // NPROBE
    rate = [run["bytes"] / run["seconds"] / 1e6 for run in searched]
    limits = [run["bytes"] / run["seconds"] / 1e6 for run in plain[1:]]
    print(
        f"mapped file of {4 * limit / 1e9:.2f} GB in {limit / 1e6:.0f} MB, {NPROBE} lists: "
        f"{at.queries / np.median([run['seconds'] for run in searched]):.0f} queries/s, "
        f"{searched[-1]['bytes'] / at.queries / 1e6:.1f} MB each; {np.median(rate):.0f} MB/s, where reads "
        f"alone get {np.median(limits):.0f}; {searched[-1]['first']} of {at.queries} queries are their "
        "own nearest neighbour",
        flush=True,
    )


def read_bytes_of(text):
    return int(float(text[:-1]) * {"M": 1 << 20, "G": 1 << 30}[text[-1]])


class Settings:
    """What is run, and where files lie."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.memory, self.lists, self.queries = arguments.memory, arguments.lists, arguments.queries
        self.memory_bytes = read_bytes_of(arguments.memory)
        self.seconds_to_kill = arguments.seconds_to_kill
        self.piece = arguments.piece
        self.folder = arguments.folder
        self.rows = self.folder / f"rows{arguments.rows}.npy"
        self.whole = self.folder / "in_memory.polar"
        self.parts = self.folder / "in_parts.polar"
        self.shards = self.folder / "shards"
        self.merged = self.folder / "merged.polar"

    def child(self, name):
        given = vars(self.arguments) | {"only": "", "child": name, "piece": self.piece}
        return [f"--{option.replace('_', '-')}={value}" for option, value in given.items()]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder", type=pathlib.Path, required=True, help="where files are written"
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--lists", type=int, default=8192)
    parser.add_argument("--memory", default="2G", help="of builds in parts, as 512M (default 2G)")
    parser.add_argument("--queries", type=int, default=300, help="of the mapped file (default 300)")
    parser.add_argument(
        "--seconds-to-kill",
        type=float,
        default=100,
        help="a killed build ran at most so long (100)",
    )
    parser.add_argument("--only", default=",".join(STEPS), help=f"steps of {','.join(STEPS)}")
    parser.add_argument("--piece", type=int, default=250_000, help=argparse.SUPPRESS)
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    at = Settings(parser.parse_args())
    at.folder.mkdir(parents=True, exist_ok=True)
    if at.arguments.child:
        {"write_shards": write_shards, "search_mapped": search_mapped, "read_pieces": read_pieces}[
            at.arguments.child
        ](at)
        return
    for step in at.arguments.only.split(","):
        if step == "rows":
            make_rows(at.rows, at.arguments.rows)
        else:
            {"build": build, "kill": kill, "merge": merge, "mapped": mapped}[step](at)


if __name__ == "__main__":
    main()
