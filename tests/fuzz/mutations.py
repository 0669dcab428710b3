"""Changes of bytes that know nothing of what the bytes mean."""

from __future__ import annotations

from random import Random

EXTREMES = [0, 1, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]


def mutated(content: bytes, other: bytes, rng: Random) -> bytes:
    """Bytes with one or a few changes: bits and numbers of one place, pieces deleted, repeated, moved, cut off, or
    taken from other bytes."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at, some = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 4, 8, 30, 300])
        if rng.random() < 0.5:  # formats describe themselves near their ends
            at = rng.choice([min(at, rng.randrange(200)), max(at, len(data) - rng.randrange(200)), at])
        match rng.randrange(8):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + some]
            case 2:
                data[at:at] = rng.randbytes(some)
            case 3:
                data[at:at] = data[at : at + some] * rng.choice([1, 1, 2, 50])
            case 4 if rng.random() < 0.3:
                del data[at:]
            case 5:
                start = rng.randrange(len(other))
                data[at : at + rng.choice([0, some])] = other[start : start + some]
            case 6:
                width = rng.choice([1, 2, 4, 8])
                number = rng.choice(EXTREMES) % 256**width
                data[at : at + width] = number.to_bytes(width, rng.choice(["little", "big"]))
            case _:
                data[at : at + some] = bytes([rng.randrange(256)]) * len(data[at : at + some])
    return bytes(data)
