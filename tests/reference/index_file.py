# SPDX-License-Identifier: MIT
"""A reader of index files, written from docs/format.md ("Index files", "Blocks", "Codec state").

It reads flat indexes of the library's own untrained codecs, alone and as the rows of NSG graphs, and
returns what is in them: the codec's state, the rows in the row format, their ids, their links. It
verifies every checksum.
"""

import struct

import numpy as np

import polar_trellis
from xxh3 import xxh3

HEADER_BYTES, ENTRY_BYTES, PAGE, READ_AHEAD = 64, 32, 4096, 64
MEBIBYTE = 1 << 20
BLOCK_ROWS, GROUP_ROWS, FRONT_WORDS, SEGMENT = 64, 8, 4, 64


class Fields:
    """Little-endian fields, one behind the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def get(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def bytes(self, count):
        taken = self.data[self.at : self.at + count]
        assert len(taken) == count
        self.at += count
        return taken

    def array(self, dtype):
        count = self.get("Q")
        return np.frombuffer(self.bytes(count * np.dtype(dtype).itemsize), dtype)


def chunk_sums(data):
    """The checksums of a data section's chunks, one behind the other."""
    return b"".join(struct.pack("<Q", xxh3(data[at : at + MEBIBYTE]))
                    for at in range(0, len(data), MEBIBYTE))


def read_sections(data):
    """[(kind, bytes)] of a file, without the section of checksums."""
    head = Fields(data)
    assert head.bytes(8) == b"PQINDEX\0"
    version, count, file_bytes, checksum = head.get("IIQQ")
    assert version == 1 and file_bytes == len(data)
    assert head.bytes(32) == bytes(32)
    end = HEADER_BYTES + count * ENTRY_BYTES
    assert xxh3(data[:24] + bytes(8) + data[32:end]) == checksum
    sections, sums = [], b""
    for _ in range(count):
        kind = head.bytes(4).decode("ascii")
        place, offset, size, checksum = head.get("IQQQ")
        step = PAGE if place == 1 else 8
        assert offset == -(-end // step) * step
        assert not any(data[end:offset])
        end = offset + size
        section = data[offset:end]
        if place == 1:
            sums += chunk_sums(section)
            assert xxh3(chunk_sums(section)) == checksum
        else:
            assert place == 0 and xxh3(section) == checksum
        sections.append((kind, section))
    assert end == len(data)
    assert sections.pop(0) == ("SUMS", sums)
    return sections


class State:
    """The codec's state."""

    def __init__(self, data):
        fields = Fields(data)
        assert fields.bytes(8) == b"PQCODEC\0" and fields.get("I") == 1
        assert data[-8:] == struct.pack("<Q", xxh3(data[:-8]))
        fields.bytes(4)
        self.spec = fields.bytes(fields.get("I")).decode("utf-8")
        self.dim, self.metric, self.seed, self.unit_exponent = fields.get("IiQi")
        self.centre = fields.array("<f4")


def pair_order_to_coordinates(words, dim):
    """Sign words, (n, ⌈dim/64⌉), as the quadrant plane's bits, (n, dim)."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
    columns = []
    for start in range(0, dim, SEGMENT):
        size = min(SEGMENT, dim - start)
        half = (size + 1) // 2
        columns += [start + t for t in range(half)] + [start + 32 + t for t in range(size - half)]
    return bits[:, columns]


def unpack_blocks(fronts, rests, rows, state, layout):
    """Codes in the row format, (rows, row_bytes)."""
    dim = state.dim
    has_signs = bool(layout.stages) and layout.stages[0].quadrant
    words = -(-dim // SEGMENT) if has_signs else 0
    front_words = min(FRONT_WORDS, words)
    plane = -(-dim // 8) if has_signs else 0
    factors = 2 * layout.factor_type.itemsize
    rest = 8 * (words - front_words) + layout.plane_bytes - plane
    codes = np.zeros((rows, layout.row_bytes), np.uint8)
    front_at = rest_at = 0
    for first in range(0, rows, BLOCK_ROWS):
        count = min(BLOCK_ROWS, rows - first)
        room = -(-count // GROUP_ROWS) * GROUP_ROWS
        front = fronts[front_at : front_at + room * (8 * front_words + factors)]
        front_at += len(front)
        behind = np.frombuffer(rests[rest_at : rest_at + count * rest], np.uint8)
        rest_at += len(behind)
        behind = behind.reshape(count, rest)
        signs = np.frombuffer(front[: room * 8 * front_words], "<u8")
        signs = signs.reshape(room // GROUP_ROWS, front_words, GROUP_ROWS)
        signs = signs.transpose(0, 2, 1).reshape(room, front_words)[:count]
        of_row = np.frombuffer(front[room * 8 * front_words :], np.uint8).reshape(room, factors)
        kept = 8 * (words - front_words)
        if has_signs:
            others = np.ascontiguousarray(behind[:, :kept]).view("<u8")
            bits = pair_order_to_coordinates(np.hstack([signs, others]), dim)
            codes[first : first + count, :plane] = np.packbits(bits, axis=1,
                                                               bitorder="little")
        codes[first : first + count, plane : layout.plane_bytes] = behind[:, kept:]
        codes[first : first + count, layout.plane_bytes :] = of_row[:count]
    assert front_at == len(fronts) and rest_at == len(rests)
    return codes


def take_caller_head(sections):
    """The description that the C library keeps in front of an index; None where there is none."""
    if sections[0][0] != "CAPI":
        return None
    fields = Fields(sections.pop(0)[1])
    fields.get("iI")  # metric, what ids the rows have
    return fields.bytes(fields.get("I")).decode("utf-8")


class FlatIndex:
    """What a file of a flat index holds."""

    def __init__(self, data, codebooks):
        sections = read_sections(data)
        self.description = take_caller_head(sections)
        self.read(sections, codebooks)

    def read(self, sections, codebooks):
        found = dict(sections)
        head = Fields(found["POLR"])
        self.dim, _, self.rows, self.is_trained = head.get("iiqI")
        self.has_ids, self.has_encoded, self.exactness, _, lie_one_by_one = head.get("IIfII")
        rows = ["ROWS"] if lie_one_by_one else ["FRNT", "REST"]
        kinds = [kind for kind, _ in sections]
        assert kinds == ["POLR", "CODC"] + rows + (["IDS "] if self.has_ids else [])
        self.seed, self.norm_unit = head.get("Qd")
        head.array("<f4")
        assert head.at == len(found["POLR"])
        self.state = State(found["CODC"])
        assert self.state.dim == self.dim
        self.layout = polar_trellis.Layout(self.state.spec, self.dim, codebooks)
        if lie_one_by_one:
            self.codes = np.frombuffer(found["ROWS"], np.uint8)
            self.codes = self.codes.reshape(self.rows, self.layout.row_bytes)
        else:
            fronts, rests = found["FRNT"], found["REST"]
            self.codes = unpack_blocks(fronts[:-READ_AHEAD], rests[READ_AHEAD:-READ_AHEAD],
                                       self.rows, self.state, self.layout)
        self.ids = np.frombuffer(found["IDS "], "<i8") if self.has_ids else np.arange(self.rows)
        assert len(self.ids) == self.rows


class NsgIndex(FlatIndex):
    """What a file of an NSG graph over a flat index holds: that index, and the links of its rows,
    one array for each row."""

    NUMBERS = ("R", "L", "C", "search_L", "GK", "build_type", "nndescent_S", "nndescent_R",
               "nndescent_L", "nndescent_iter")

    def __init__(self, data, codebooks):
        sections = read_sections(data)
        self.description = take_caller_head(sections)
        assert [kind for kind, _ in sections[:2]] == ["NSG ", "LINK"]
        head = Fields(sections[0][1])
        graph = head.get("iiqI")
        self.entry_point, degree = head.get("ii")
        self.numbers = dict(zip(self.NUMBERS, head.get("10i")))
        assert head.at == len(sections[0][1])
        table = np.frombuffer(sections[1][1], "<i4").reshape(graph[2], degree)
        self.links = [row[row >= 0] for row in table]
        for row, links in zip(table, self.links):
            assert (row[: len(links)] >= 0).all() and (row[len(links) :] == -1).all()
        self.read(sections[2:], codebooks)
        assert (self.dim, self.rows, self.is_trained) == (graph[0], graph[2], graph[3])

    def reached(self):
        """How many rows the links lead to from the entry point."""
        seen, new = {self.entry_point}, [self.entry_point]
        while new:
            links = np.concatenate([self.links[row] for row in new])
            new = [row for row in set(links.tolist()) if row not in seen]
            seen.update(new)
        return len(seen)
