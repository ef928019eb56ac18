# SPDX-License-Identifier: MIT
"""The command's arguments, and what it ends with: 0 done, 1 an error, 2 wrong arguments, 130 Ctrl-C."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Callable, NoReturn

import polarquant
from polarquant.command import bench, build, convert, info, merge, search
from polarquant.command.failure import CommandError
from polarquant.command.terminal import write_any_text

_OVERVIEW = """\
Codes for embedding vectors of 0.5 to 8 bits a dimension, searched without decoding.

  polar bench vectors.npy                      which code is right for these vectors?
  polar build vectors.npy rows.polar           vectors to an index file
  polar search rows.polar queries.npy -k 10    the nearest rows of each query
  polar info rows.polar                        what is in a file, or what a code is
  polar merge a.polar b.polar -o all.polar     index files to one
  polar convert vectors.fvecs vectors.npy      between formats of vectors, and from FAISS

Vectors are read from .npy, .fvecs and .bvecs, .fbin, .f16bin, .u8bin and .i8bin, .hdf5 (needs h5py),
.parquet and .arrow (need pyarrow).
polar COMMAND --help tells more, with examples.
"""

#: Each module adds its arguments and has a function that runs it and returns the exit code.
_COMMANDS = (bench, build, search, info, merge, convert)


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} ({self.prog} --help tells more)\n")


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    form = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog="polar", description=_OVERVIEW, formatter_class=form)
    version = f"polarquant {polarquant.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for module in _COMMANDS:
        name = module.__name__.rpartition(".")[2]
        made = commands.add_parser(
            name,
            help=module.HELP,
            description=module.DESCRIPTION,
            epilog=module.EXAMPLES,
            formatter_class=form,
        )
        module.add_arguments(made)
        made.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments, by default the process's, and returns its exit code."""
    write_any_text()
    given = make_parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = given.run
    try:
        code = run(given)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("polar: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read the output has what it wants; the interpreter's last flush would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (CommandError, polarquant.PolarError, OSError, MemoryError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"polar: error: {text}", file=sys.stderr)
        return 1
