# SPDX-License-Identifier: MIT
"""A reader of index files, written from docs/format.md ("Index files", "Blocks", "Codec state").

It reads flat indexes of the library's own untrained codecs, alone and as the rows of NSG and HNSW graphs,
and inverted files, and returns what is in them: the codec's state, the rows in the row format, their ids,
their links. It verifies every checksum.
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
    assert version in (1, 2) and file_bytes == len(data)
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
        assert fields.bytes(8) == b"PQCODEC\0"
        self.version = fields.get("I")
        assert data[-8:] == struct.pack("<Q", xxh3(data[:-8]))
        fields.bytes(4)
        assert self.version in (1, 4) and (self.version == 1 or fields.get("I") == 1)
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


def words_and_plane(state, layout):
    """Words of a row's signs, and those in the front, and bytes of its quadrant plane."""
    has_signs = bool(layout.stages) and layout.stages[0].quadrant
    words = -(-state.dim // SEGMENT) if has_signs else 0
    return words, min(FRONT_WORDS, words), -(-state.dim // 8) if has_signs else 0


def front_and_rest_bytes(state, layout):
    """Bytes of one row in its block's front, and behind it."""
    words, front_words, plane = words_and_plane(state, layout)
    return (8 * front_words + 2 * layout.factor_type.itemsize,
            8 * (words - front_words) + layout.plane_bytes - plane)


def unpack_blocks(fronts, rests, rows, state, layout):
    """Codes in the row format, (rows, row_bytes)."""
    dim = state.dim
    words, front_words, plane = words_and_plane(state, layout)
    has_signs = words > 0
    factors = 2 * layout.factor_type.itemsize
    rest = front_and_rest_bytes(state, layout)[1]
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


class IndexFile:
    """What the C library keeps in front of an index, and the index's sections."""

    def __init__(self, data):
        self.sections = read_sections(data)
        self.description = None
        if self.sections[0][0] == "CAPI":
            fields = Fields(self.sections.pop(0)[1])
            self.metric, self.row_ids = fields.get("iI")
            self.description = fields.bytes(fields.get("I")).decode("utf-8")
        self.keys = None
        if self.sections[0][0] == "KEYS":
            self.keys = np.frombuffer(self.sections.pop(0)[1], "<i8")


class FlatIndex(IndexFile):
    """What a file of a flat index holds."""

    def __init__(self, data, codebooks):
        super().__init__(data)
        self.read(self.sections, codebooks)

    def read(self, sections, codebooks):
        found = dict(sections)
        head = Fields(found["POLR"])
        self.dim, _, self.rows, self.is_trained = head.get("iiqI")
        self.has_ids, self.has_encoded, self.exactness, _, lie_one_by_one = head.get("IIfII")
        rows = ["ROWS"] if lie_one_by_one else ["FRNT", "REST"]
        if "FLTS" in found:  # rows that wait to be coded
            rows = ["FLTS"]
        kinds = [kind for kind, _ in sections]
        assert kinds == ["POLR", "CODC"] + rows + (["IDS "] if self.has_ids else [])
        self.seed, self.norm_unit = head.get("Qd")
        head.array("<f4")
        assert head.at == len(found["POLR"])
        self.state = State(found["CODC"])
        assert self.state.dim == self.dim
        self.layout = polar_trellis.Layout(self.state.spec, self.dim, codebooks,
                                           self.state.version)
        if "FLTS" in found:
            self.floats = np.frombuffer(found["FLTS"], "<f4").reshape(self.rows, self.dim)
        elif lie_one_by_one:
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
        IndexFile.__init__(self, data)
        sections = self.sections
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


class HnswLinks:
    """Links of an HNSW graph's rows: for each row, for each level it is on, an array."""

    def __init__(self, room, levels, links):
        """room: the room for links of a row on all levels below each."""
        assert room[0] == 0
        self.levels, self.of_row, at = levels, [], 0
        for count in levels.tolist():
            taken = links[at : at + room[count]]
            at += room[count]
            on_levels = [taken[room[level] : room[level + 1]] for level in range(count)]
            self.of_row.append([on_level[on_level >= 0] for on_level in on_levels])
        assert at == len(links)


class HnswIndex(FlatIndex):
    """What a file of an HNSW graph over a flat index holds: that index, and `links`."""

    def __init__(self, data, codebooks):
        IndexFile.__init__(self, data)
        sections = self.sections
        assert [kind for kind, _ in sections[:3]] == ["HNSW", "LEVL", "LINK"]
        head = Fields(sections[0][1])
        graph = head.get("iiqI")
        self.entry_point, self.entry_level, _, self.ef_search, _, _ = head.get("iiiiiI")
        shares, room = head.array("<f8"), head.array("<i4")
        assert len(room) == len(shares) + 1 and head.at == len(sections[0][1])
        levels = np.frombuffer(sections[1][1], "<i4")
        assert len(levels) == graph[2]
        self.links = HnswLinks(room, levels, np.frombuffer(sections[2][1], "<i4"))
        self.read(sections[3:], codebooks)
        assert (self.dim, self.rows, self.is_trained) == (graph[0], graph[2], graph[3])


def flat_rows(data):
    """The rows of FAISS's flat index, (n, dim), from FAISS's bytes; of one under an HNSW graph too."""
    fields = Fields(data)
    kind = fields.bytes(4)
    dim, rows, _, _, _, _ = fields.get("iqqqBi")
    if kind == b"IHNf":
        shares, room, levels = fields.array("<f8"), fields.array("<i4"), fields.array("<i4")
        offsets, links = fields.array("<u8"), fields.array("<i4")
        assert len(room) == len(shares) + 1 and len(levels) == rows and len(offsets) == rows + 1
        HnswLinks(room, levels, links)
        fields.get("iiiii")
        kind = fields.bytes(4)
        assert fields.get("iqqqBi")[:2] == (dim, rows)
    assert kind in (b"IxF2", b"IxFI")
    assert fields.get("Q") == rows * dim
    return np.frombuffer(fields.bytes(4 * rows * dim), "<f4").reshape(rows, dim)


class InvertedFile(IndexFile):
    """What a file of an inverted file with a flat quantizer, or an HNSW graph over one, holds; rows are
    in the lists' order."""

    def __init__(self, data, codebooks):
        super().__init__(data)
        kinds = [kind for kind, _ in self.sections]
        assert kinds == ["IVFP", "CODC", "FAIS", "LIST", "BLKS", "IDS "]
        found = dict(self.sections)
        head = Fields(found["IVFP"])
        self.dim, _, self.rows, self.is_trained = head.get("iiqI")
        lists, _, self.direct_map, self.nprobe, self.max_codes = head.get("QIIQQ")
        self.exactness, self.by_residual, self.seed, self.norm_unit = head.get("fIQd")
        self.centroid_scale, self.ids_are_rows = head.get("fI")
        assert head.at == len(found["IVFP"])
        self.state = State(found["CODC"])
        self.layout = polar_trellis.Layout(self.state.spec, self.dim, codebooks,
                                           self.state.version)
        self.centroids = flat_rows(found["FAIS"])
        assert self.centroids.shape == (lists, self.dim)
        self.sizes = np.frombuffer(found["LIST"], "<i8")
        assert len(self.sizes) == lists and self.sizes.sum() == self.rows
        self.list_of_row = np.repeat(np.arange(lists), self.sizes)
        self.codes = self.unpack_lists(found["BLKS"])
        self.ids = np.frombuffer(found["IDS "], "<i8")
        assert len(self.ids) == self.rows
        are_rows = np.array_equal(np.sort(self.ids), np.arange(self.rows))
        assert are_rows == bool(self.ids_are_rows)

    def unpack_lists(self, blocks):
        front, rest = front_and_rest_bytes(self.state, self.layout)
        codes, at = [], READ_AHEAD
        assert not any(blocks[:READ_AHEAD]) and not any(blocks[-READ_AHEAD:])
        for size in self.sizes.tolist():
            room = size // BLOCK_ROWS * BLOCK_ROWS + -(-(size % BLOCK_ROWS) // GROUP_ROWS) * GROUP_ROWS
            behind = at + room * front
            end = behind + size * rest
            codes.append(unpack_blocks(blocks[at:behind], blocks[behind:end], size, self.state,
                                       self.layout))
            at = -(-end // 64) * 64
            assert not any(blocks[end:at])
        assert at + READ_AHEAD == len(blocks)
        return np.concatenate(codes)
