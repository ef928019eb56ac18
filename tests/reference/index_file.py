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
BLOCK_ROWS, GROUP_ROWS, SKETCH_WORDS, SEGMENT = 64, 8, 4, 64


class Fields:
    """Little-endian fields, one after the other."""

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
    """The checksums of a data section's chunks, one after the other."""
    return b"".join(struct.pack("<Q", xxh3(data[at : at + MEBIBYTE]))
                    for at in range(0, len(data), MEBIBYTE))


def read_sections(data):
    """[(kind, bytes)] of a file, without the section of checksums."""
    head = Fields(data)
    assert head.bytes(8) == b"PQINDEX\0"
    version, count, file_bytes, checksum = head.get("IIQQ")
    assert version in (1, 2, 3) and file_bytes == len(data)
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


def has_levels(layout):
    """Whether a coordinate is a byte, which blocks split into its sign and its magnitude: those of
    files of version 3."""
    return not layout.stages and layout.file_version >= 3


def words_and_plane(state, layout):
    """Words of a row's signs, and those in the front, and bytes that blocks need not hold."""
    has_signs = has_levels(layout) or bool(layout.stages) and layout.stages[0].quadrant
    words = -(-state.dim // SEGMENT) if has_signs else 0
    plane = -(-state.dim // 8) if has_signs else 0
    if has_levels(layout):  # magnitudes of 7 bits are left, and they are whole bytes
        plane = state.dim // 8
    return words, min(SKETCH_WORDS, words), plane


def sketch_and_payload_bytes(state, layout):
    """Bytes of one row in its block's front, and after it."""
    words, sketch_words, plane = words_and_plane(state, layout)
    return (8 * sketch_words + 2 * layout.factor_type.itemsize,
            8 * (words - sketch_words) + layout.plane_bytes - plane)


def joined_levels(signs, magnitudes, dim):
    """Levels, (n, dim), of signs, 1 for negative, and fields of 7 bits."""
    bits = np.unpackbits(magnitudes, axis=1, bitorder="little")
    assert not bits[:, 7 * dim :].any()
    fields = bits[:, : 7 * dim].reshape(len(bits), dim, 7) @ (1 << np.arange(7))
    return np.where(signs == 1, 127 - fields, 128 + fields)


def unpack_blocks(sketches, payloads, rows, state, layout):
    """Codes in the row format, (rows, row_bytes)."""
    dim = state.dim
    words, sketch_words, plane = words_and_plane(state, layout)
    factors = 2 * layout.factor_type.itemsize
    payload_bytes = sketch_and_payload_bytes(state, layout)[1]
    codes = np.zeros((rows, layout.row_bytes), np.uint8)
    sketch_at = payload_at = 0
    for first in range(0, rows, BLOCK_ROWS):
        count = min(BLOCK_ROWS, rows - first)
        capacity = -(-count // GROUP_ROWS) * GROUP_ROWS
        sketch = sketches[sketch_at : sketch_at + capacity * (8 * sketch_words + factors)]
        sketch_at += len(sketch)
        payload = np.frombuffer(payloads[payload_at : payload_at + count * payload_bytes], np.uint8)
        payload_at += len(payload)
        payload = payload.reshape(count, payload_bytes)
        signs = np.frombuffer(sketch[: capacity * 8 * sketch_words], "<u8")
        signs = signs.reshape(capacity // GROUP_ROWS, sketch_words, GROUP_ROWS)
        signs = signs.transpose(0, 2, 1).reshape(capacity, sketch_words)[:count]
        row_factors = np.frombuffer(sketch[capacity * 8 * sketch_words :], np.uint8)
        row_factors = row_factors.reshape(capacity, factors)
        kept = 8 * (words - sketch_words)
        if words > 0:
            others = np.ascontiguousarray(payload[:, :kept]).view("<u8")
            bits = pair_order_to_coordinates(np.hstack([signs, others]), dim)
        if has_levels(layout):
            codes[first : first + count, :dim] = joined_levels(bits, payload[:, kept:], dim)
        else:
            if words > 0:
                codes[first : first + count, :plane] = np.packbits(bits, axis=1,
                                                                   bitorder="little")
            codes[first : first + count, plane : layout.plane_bytes] = payload[:, kept:]
        codes[first : first + count, layout.plane_bytes :] = row_factors[:count]
    assert sketch_at == len(sketches) and payload_at == len(payloads)
    return codes


class IndexFile:
    """What the C library keeps in front of an index, and the index's sections."""

    def __init__(self, data):
        self.sections = read_sections(data)
        (self.version,) = struct.unpack_from("<I", data, 8)
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
        self.layout.file_version = self.version
        if "FLTS" in found:
            self.floats = np.frombuffer(found["FLTS"], "<f4").reshape(self.rows, self.dim)
        elif lie_one_by_one:
            self.codes = np.frombuffer(found["ROWS"], np.uint8)
            self.codes = self.codes.reshape(self.rows, self.layout.row_bytes)
        else:
            sketches, payloads = found["FRNT"], found["REST"]
            self.codes = unpack_blocks(sketches[:-READ_AHEAD], payloads[READ_AHEAD:-READ_AHEAD],
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

    def __init__(self, capacity, levels, links):
        """capacity: of each level, how many links a row has on the levels below it."""
        assert capacity[0] == 0
        self.levels, self.by_row, at = levels, [], 0
        for count in levels.tolist():
            taken = links[at : at + capacity[count]]
            at += capacity[count]
            on_levels = [taken[capacity[level] : capacity[level + 1]] for level in range(count)]
            self.by_row.append([on_level[on_level >= 0] for on_level in on_levels])
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
        shares, capacity = head.array("<f8"), head.array("<i4")
        assert len(capacity) == len(shares) + 1 and head.at == len(sections[0][1])
        levels = np.frombuffer(sections[1][1], "<i4")
        assert len(levels) == graph[2]
        self.links = HnswLinks(capacity, levels, np.frombuffer(sections[2][1], "<i4"))
        self.read(sections[3:], codebooks)
        assert (self.dim, self.rows, self.is_trained) == (graph[0], graph[2], graph[3])


def flat_rows(data):
    """The rows of FAISS's flat index, (n, dim), from FAISS's bytes; of one under an HNSW graph too."""
    fields = Fields(data)
    kind = fields.bytes(4)
    dim, rows, _, _, _, _ = fields.get("iqqqBi")
    if kind == b"IHNf":
        shares, capacity, levels = fields.array("<f8"), fields.array("<i4"), fields.array("<i4")
        offsets, links = fields.array("<u8"), fields.array("<i4")
        assert len(capacity) == len(shares) + 1 and len(levels) == rows and len(offsets) == rows + 1
        HnswLinks(capacity, levels, links)
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
        self.layout.file_version = self.version
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
        sketch, payload_bytes = sketch_and_payload_bytes(self.state, self.layout)
        codes, at = [], READ_AHEAD
        assert not any(blocks[:READ_AHEAD]) and not any(blocks[-READ_AHEAD:])
        for size in self.sizes.tolist():
            tail = -(-(size % BLOCK_ROWS) // GROUP_ROWS) * GROUP_ROWS
            capacity = size // BLOCK_ROWS * BLOCK_ROWS + tail
            payload = at + capacity * sketch
            end = payload + size * payload_bytes
            codes.append(unpack_blocks(blocks[at:payload], blocks[payload:end], size, self.state,
                                       self.layout))
            at = -(-end // 64) * 64
            assert not any(blocks[end:at])
        assert at + READ_AHEAD == len(blocks)
        return np.concatenate(codes)
