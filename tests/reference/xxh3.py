# SPDX-License-Identifier: MIT
"""XXH3, 64 bits, seed 0, from its specification
(https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md): the checksum of stored bytes."""

MASK = (1 << 64) - 1
PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
           0x27D4EB2F165667C5)
MIX1, MIX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578"
    "825ad07dccff7221b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea3"
    "71644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931"
    "c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
STRIPE, STRIPES_PER_BLOCK = 64, 16


def word(data, at, size=8):
    return int.from_bytes(data[at : at + size], "little")


def avalanche(h):
    h ^= h >> 37
    h = h * MIX1 & MASK
    return h ^ h >> 32


def avalanche_64(h):
    h ^= h >> 33
    h = h * PRIME64[1] & MASK
    h ^= h >> 29
    h = h * PRIME64[2] & MASK
    return h ^ h >> 32


def fold(a, b):
    product = a * b
    return (product & MASK) ^ product >> 64


def mix(data, at, secret):
    return fold(word(data, at) ^ word(SECRET, secret), word(data, at + 8) ^ word(SECRET, secret + 8))


def rotate(h, bits):
    return (h << bits | h >> 64 - bits) & MASK


def short(data):
    """Up to 16 bytes."""
    n = len(data)
    if n == 0:
        return avalanche_64(word(SECRET, 56) ^ word(SECRET, 64))
    if n <= 3:
        combined = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return avalanche_64(combined ^ word(SECRET, 0, 4) ^ word(SECRET, 4, 4))
    if n <= 8:
        h = word(data, n - 4, 4) + (word(data, 0, 4) << 32) ^ word(SECRET, 8) ^ word(SECRET, 16)
        h ^= rotate(h, 49) ^ rotate(h, 24)
        h = h * MIX2 & MASK
        h ^= (h >> 35) + n & MASK
        h = h * MIX2 & MASK
        return h ^ h >> 28
    low = word(data, 0) ^ word(SECRET, 24) ^ word(SECRET, 32)
    high = word(data, n - 8) ^ word(SECRET, 40) ^ word(SECRET, 48)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return avalanche(n + swapped + high + fold(low, high) & MASK)


def middle(data):
    """17 to 240 bytes."""
    n = len(data)
    h = n * PRIME64[0]
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            h += mix(data, 16 * i, 32 * i) + mix(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & MASK)
    h += sum(mix(data, 16 * i, 16 * i) for i in range(8))
    h = avalanche(h & MASK) + mix(data, n - 16, 136 - 17)
    h += sum(mix(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
    return avalanche(h & MASK)


def accumulate(lanes, data, at, secret):
    for i in range(8):
        value = word(data, at + 8 * i)
        key = value ^ word(SECRET, secret + 8 * i)
        lanes[i ^ 1] = lanes[i ^ 1] + value & MASK
        lanes[i] = lanes[i] + (key & 0xFFFFFFFF) * (key >> 32) & MASK


def long(data):
    n = len(data)
    lanes = [PRIME32[2], *PRIME64[:4], PRIME32[1], PRIME64[4], PRIME32[0]]
    for stripe in range((n - 1) // STRIPE):
        accumulate(lanes, data, stripe * STRIPE, stripe % STRIPES_PER_BLOCK * 8)
        if stripe % STRIPES_PER_BLOCK == STRIPES_PER_BLOCK - 1:
            for i in range(8):
                lane = lanes[i] ^ lanes[i] >> 47 ^ word(SECRET, len(SECRET) - STRIPE + 8 * i)
                lanes[i] = lane * PRIME32[0] & MASK
    accumulate(lanes, data, n - STRIPE, len(SECRET) - STRIPE - 7)
    h = n * PRIME64[0]
    for i in range(4):
        h += fold(lanes[2 * i] ^ word(SECRET, 11 + 16 * i),
                  lanes[2 * i + 1] ^ word(SECRET, 19 + 16 * i))
    return avalanche(h & MASK)


def xxh3(data):
    data = bytes(data)
    return short(data) if len(data) <= 16 else middle(data) if len(data) <= 240 else long(data)
