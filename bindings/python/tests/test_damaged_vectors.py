# SPDX-License-Identifier: MIT
"""Files of vectors with bytes changed, cut off and put in: they are read or refused in a line."""

import io
import pathlib
import random
import struct
import unittest
import warnings

import numpy as np
from command_support import CommandTest

from polarquant.command.failure import CommandError
from polarquant.command.vector_files import open_vectors

CHANGES_OF_A_FILE = 400


def npy_of(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def good_files() -> dict[str, bytes]:
    x = np.arange(12, dtype="<f4").reshape(3, 4)
    dims = np.full((3, 1), 4, "<i4").view("<f4")
    head = struct.pack("<II", 3, 4)
    return {
        "x.npy": npy_of(x),
        "fortran.npy": npy_of(np.asfortranarray(x)),
        "big_endian.npy": npy_of(x.astype(">f8")),
        "x.fvecs": np.hstack([dims, x]).tobytes(),
        "x.fbin": head + x.tobytes(),
        "x.f16bin": head + x.astype("<f2").tobytes(),
    }


def damage(data: bytes, chance: random.Random) -> bytes:
    """A few changes, most of them near the front, where sizes are."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(min(len(changed), chance.choice([8, 80, 4096])) or 1)
        kind = chance.randrange(4)
        if kind == 0:
            del changed[at : at + chance.randint(1, 16)]
        elif kind == 1:
            changed[at:at] = chance.choice([b"0", b"9999999999", b"'", b"(", b"-1", b"\0" * 4])
        elif kind == 2:
            changed[at : at + 4] = struct.pack("<I", chance.choice([0, 1, 2**31, 2**32 - 1]))
        else:
            changed[at : at + 1] = bytes([chance.randrange(256)])
    return bytes(changed)


class DamagedVectorsTest(CommandTest):
    def read_all(self, path: str) -> None:
        vectors = open_vectors(path)
        self.assertLessEqual(1, vectors.dim)
        vectors.rows(0, min(vectors.count, 100))
        if vectors.count > 0:
            vectors.take(np.array([vectors.count - 1]))

    def test_damaged_files_are_read_or_refused(self):
        for name, data in good_files().items():
            path = self.path(name)
            pathlib.Path(path).write_bytes(data)
            self.read_all(path)
            chance = random.Random(name)
            for _ in range(CHANGES_OF_A_FILE):
                damaged = damage(data, chance)
                pathlib.Path(path).write_bytes(damaged)
                with self.subTest(name, damaged=damaged), warnings.catch_warnings():
                    warnings.simplefilter("error")
                    try:
                        self.read_all(path)
                    except CommandError as error:
                        self.assertIn(name, str(error))


if __name__ == "__main__":
    unittest.main()
