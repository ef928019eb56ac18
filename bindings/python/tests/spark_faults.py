# SPDX-License-Identifier: MIT
"""What goes wrong in Spark's Python workers, which import this: each once for an output folder."""

import os
import pathlib
import signal
import time

import pyarrow
from polarquant.distributed import spark_tasks
from pyspark import TaskContext

code = spark_tasks.code


def is_first(job):
    try:
        os.close(os.open(marker(job.names.folder), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def marker(folder):
    """What lies beside the folder once something went wrong."""
    return f"{folder}.fault"


def fail_after_writing(job, batches):
    """The shard is written, and the task fails."""
    entries = list(code(job, batches))
    if entries and is_first(job):
        raise OSError("the network is gone")
    yield from entries


def kill_worker(job, batches):
    """The Python worker dies while it reads rows."""
    yield from code(job, _die_at_end(job, batches, os.getpid()))


def kill_executor(job, batches):
    """The executor dies while its Python worker reads rows: it is the daemon's parent."""
    stat = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text()
    yield from code(job, _die_at_end(job, batches, int(stat.rpartition(")")[2].split()[1])))


def _die_at_end(job, batches, process):
    yield from batches
    if is_first(job):
        os.kill(process, signal.SIGKILL)
        time.sleep(60)


def be_slow(job, batches):
    """The first run of a partition writes its shard and does not end, so that Spark runs another."""
    entries = list(code(job, batches))
    if TaskContext.get().partitionId() == 0 and is_first(job):
        time.sleep(60)
    yield from entries


def lose_rows(job, batches):
    """The rows are others than those that were counted."""
    yield from code(job, (batch.slice(1) for batch in batches))


def opened(batches):
    """How many tasks of this worker found the shards open."""
    list(batches)
    found = spark_tasks._open.cache_info()[0]
    yield pyarrow.RecordBatch.from_pydict({"worker": [os.getpid()], "found": [found]})
