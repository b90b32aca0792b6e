"""Pseudonyms that public software undoes: drawn from a small seed, or a hash of the id.

Until releases had a secret, sfumato drew pseudonyms by NumPy's generator (PCG64, seeded by its
`SeedSequence`), after the order of the rows. A million seeds are tried on all released pseudonyms
at once: of each the generator is set ahead to where pseudonyms must be, and sixteen letters are
compared. A hash without a salt is undone by hashing the ids that there can be.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Bools, Ints

Words = npt.NDArray[np.uint64]

SEEDS = 1_000_000
"""Largest seed that is tried: years, dates of six digits, what people count up to."""
NUMBERS = 1_000_000
"""Largest number that is tried as an id."""
WINDOWS = 16
"""Places of the generator that are looked at for all seeds; of more places fewer seeds are."""
SIGMAS = 6.0
"""Standard deviations about the mean number of draws for an order: beyond is 1 in 500 million."""
CHUNK = 1 << 15
"""Seeds at once: their arrays stay in the processor's cache."""
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
LENGTH, RAW = 16, 10
"""Letters of a pseudonym, and bytes of the first version's, which wrote them in base 32."""
_OWN = re.compile(r"[a-z2-7]{16}")
_HASH = re.compile(r"[0-9a-f]{8,64}|[0-9A-F]{8,64}")
"""Eight digits tell a million ids apart: two of them are alike for 1 in 4,000."""
_ID = re.compile(r"(.*?)([0-9]+)")
_HASHES = (hashlib.md5, hashlib.sha1, hashlib.sha256)


@dataclass(frozen=True, eq=False)
class Undone:
    """Pseudonyms that were undone.

    Attributes
    ----------
    code
        Of each, its place among the texts; shape (found,).
    rank
        The rank of its person in the original file, shape (found,); ``None`` for ids.
    ids
        The id of its person; empty where the rank is found.
    """

    code: Ints
    rank: Ints | None = None
    ids: tuple[str, ...] = ()


def is_own(texts: Sequence[str | None]) -> bool:
    """Whether texts look like pseudonyms that sfumato drew."""
    return bool(texts) and all(text is not None and _OWN.fullmatch(text) for text in texts)


def is_hashed(texts: Sequence[str | None]) -> bool:
    """Whether texts look like hashes in hexadecimal: all as long, with letters in some."""
    told = [text for text in texts if text is not None]
    alike = len({len(text) for text in told}) == 1 and all(map(_HASH.fullmatch, told))
    return alike and any(not text.isdecimal() for text in told)


def by_seed(texts: Sequence[str], records: int) -> tuple[Undone | None, int]:
    """Undo pseudonyms of earlier versions, and say up to which seed was tried."""
    told = _Told(texts)
    places = _places(records, len(texts))
    most = SEEDS if len(places) <= WINDOWS else SEEDS * WINDOWS // len(places)
    for first in range(0, most + 1, CHUNK):
        seeds = np.arange(first, min(first + CHUNK, most + 1), dtype=np.uint32)
        state, increment = _seeded(seeds)
        for place in (0, *places):
            # A step of the generator gives two words of 32 bits.
            ahead = _ahead(state, increment, place // 2)
            for seed in seeds[told.shown_by(ahead, increment)].tolist():
                found = _confirmed(seed, texts, records if place else 0)
                if found is not None:
                    return found, most
    return None, most


def by_hash(texts: Sequence[str], known: Iterable[str]) -> Undone | None:
    """Undo hashes of ids without a salt: MD5, SHA-1 or SHA-256, whole or cut.

    Numbers in the form of the ids that the intruder holds are tried as well.
    """
    place = {text.lower(): code for code, text in enumerate(texts)}
    length, held = len(texts[0]), list(dict.fromkeys(known))
    # Ids that are held come first: where they explain most, no million numbers need be hashed.
    for ids in (held, _numbered(held)):
        found: list[dict[int, str]] = [{} for _ in _HASHES]
        for each in ids:
            for made, own in zip(_HASHES, found, strict=True):
                code = place.get(made(each.encode()).hexdigest()[:length])
                if code is not None:
                    own[code] = each
        best = max(found, key=len)
        # Short hashes are hit by chance, but never most of them.
        if 2 * len(best) > len(texts):
            return Undone(np.array([*best], dtype=np.int64), ids=tuple(best.values()))
    return None


def _numbered(held: Sequence[str]) -> Iterator[str]:
    """Numbers up to a million: alone, and in the form that most ids have which are held."""
    told = filter(None, map(_ID.fullmatch, held))
    forms = Counter((each[1], len(each[2]) if each[2][0] == "0" else 0) for each in told)
    for prefix, width in dict.fromkeys((("", 0), *(form for form, _ in forms.most_common(1)))):
        yield from (f"{prefix}{number:0{width}d}" for number in range(NUMBERS + 1))


class _Told:
    """What the released pseudonyms show of what was drawn: their parts of 40 bits."""

    def __init__(self, texts: Sequence[str]) -> None:
        letters = np.array([[LETTERS.index(sign) for sign in text] for text in texts], np.uint64)
        raw = [[*base64.b32decode(text.upper())] for text in texts]
        self._letters = _Parts(_codes(letters, 5, 8))
        self._bytes = _Parts(_codes(np.array(raw, dtype=np.uint64), 8, 5))

    def shown_by(self, state: _State, increment: _State) -> Bools:
        """Of which generators the next sixteen words show a part of a pseudonym.

        Eight letters from the first and from the ninth: one of the two is within one pseudonym,
        wherever that begins. So are five bytes from the first and from the sixth.
        """
        words: list[Words] = []
        for _ in range(8):
            state = _plus(_times(state, _MULTIPLIER), increment)
            drawn = _rotated(state)
            words += [drawn & _LOW, drawn >> np.uint64(32)]
        letters = [word >> np.uint64(27) for word in words]
        octets = [(words[at // 4] >> np.uint64(8 * (at % 4))) & np.uint64(255) for at in range(RAW)]
        shown = np.zeros(len(words[0]), dtype=np.bool_)
        for start in (0, 8):
            shown |= self._letters.hold(_code(letters[start : start + 8], 5))
        for start in (0, 5):
            shown |= self._bytes.hold(_code(octets[start : start + 5], 8))
        return shown


class _Parts:
    """A set of numbers of 40 bits; most others are told apart by their lowest bits."""

    def __init__(self, codes: Words) -> None:
        self._codes, self._rough = np.unique(codes), np.zeros(1 << 22, dtype=np.bool_)
        self._rough[codes & np.uint64(len(self._rough) - 1)] = True

    def hold(self, codes: Words) -> Bools:
        """Which numbers are in the set."""
        held: Bools = self._rough[codes & np.uint64(len(self._rough) - 1)]
        likely = codes[held]
        near = np.searchsorted(self._codes, likely).clip(max=len(self._codes) - 1)
        held[held] = self._codes[near] == likely
        return held


def _code(signs: Sequence[Words], bits: int) -> Words:
    """Signs of so many bits, one behind the other, as a number."""
    code = signs[0]
    for sign in signs[1:]:
        code = (code << np.uint64(bits)) | sign
    return code


def _codes(signs: Words, bits: int, length: int) -> Words:
    """Every part of so many signs of every text as a number; shape (parts,)."""
    parts = range(signs.shape[1] - length + 1)
    return np.concatenate([_code(list(signs[:, at : at + length].T), bits) for at in parts])


def _places(records: int, persons: int) -> list[int]:
    """Words of the generator, even, one of which is among the pseudonyms, whatever order was drawn.

    An order takes numbers below 2, 3, ..., each drawn again until it is in range from the next
    power of two: their number has a mean and a variance that are sums of geometric ones.
    """
    up_to = np.arange(1, max(records, 2), dtype=np.float64)
    share = (up_to + 1) / 2.0 ** np.ceil(np.log2(up_to + 1))
    mean, deviation = (1 / share).sum(), sqrt(float(((1 - share) / share**2).sum()))
    low, high = mean - SIGMAS * deviation, mean + SIGMAS * deviation
    # The first version took 2.5 words for a pseudonym, and sixteen words are looked at.
    step = max(2.5 * persons - 18, 2.0)
    count = max(1, ceil((high - low) / step))
    return [max(2, 2 * ceil((high - step * number) / 2)) for number in range(count)]


def _confirmed(seed: int, texts: Sequence[str], records: int) -> Undone | None:
    """The ranks of the pseudonyms if a seed gives most of them, after an order or without one."""
    place = {text: code for code, text in enumerate(texts)}
    for in_bytes in (False, True):
        rng = np.random.default_rng(seed)
        if records:
            # The order of the records was drawn before the pseudonyms, from the same generator.
            rng.permutation(records)
        if in_bytes:
            raw = rng.bytes(RAW * len(texts))
            drawn = base64.b32encode(raw).decode().lower() if len(raw) % 5 == 0 else ""
        else:
            signs = rng.integers(0, len(LETTERS), LENGTH * len(texts))
            drawn = "".join(LETTERS[sign] for sign in signs.tolist())
        names = [drawn[LENGTH * rank : LENGTH * (rank + 1)] for rank in range(len(texts))]
        ranks = [(place[name], rank) for rank, name in enumerate(names) if name in place]
        if 2 * len(ranks) > len(texts):
            code, rank = np.array(ranks, dtype=np.int64).T
            return Undone(code, rank=rank)
    return None


# NumPy's generator for many seeds at once: numbers of 128 bits are two of 64, the high one first.

_State = tuple[Words, Words]
_LOW = np.uint64(0xFFFFFFFF)
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
"""Of PCG64 (O'Neill 2014)."""


def _seeded(seeds: npt.NDArray[np.uint32]) -> tuple[_State, _State]:
    """State and increment of PCG64 for each seed, as `numpy.random.SeedSequence` gives them."""
    key = 0x43B0D7E5

    def hashed(value: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        nonlocal key
        value = value ^ np.uint32(key)
        key = key * 0x931E8875 & 0xFFFFFFFF
        value = value * np.uint32(key)
        return value ^ (value >> np.uint32(16))

    pool = [hashed(each) for each in (seeds, *(np.zeros_like(seeds) for _ in range(3)))]
    for number in range(4):
        for other in range(4):
            if number != other:
                mixed = np.uint32(0xCA01F9DD) * pool[other] - np.uint32(0x4973F715) * hashed(
                    pool[number]
                )
                pool[other] = mixed ^ (mixed >> np.uint32(16))
    words, key = [], 0x8B51F9DD
    for place in range(8):
        value = pool[place % 4] ^ np.uint32(key)
        key = key * 0x58F38DED & 0xFFFFFFFF
        value = value * np.uint32(key)
        words.append((value ^ (value >> np.uint32(16))).astype(np.uint64))
    start_high, start_low, high, low = (
        words[2 * place] | (words[2 * place + 1] << np.uint64(32)) for place in range(4)
    )
    odd = np.uint64(1)
    increment: _State = (high << odd) | (low >> np.uint64(63)), (low << odd) | odd
    return _plus(
        _times(_plus(increment, (start_high, start_low)), _MULTIPLIER), increment
    ), increment


def _ahead(state: _State, increment: _State, steps: int) -> _State:
    """The state after so many steps."""
    factor, total = 1, 0  # A to the power of the steps, and the sum of the lower powers
    power, part = _MULTIPLIER, 1
    # By squaring: the jump is as long as the order of all records took.
    while steps:
        if steps & 1:
            total = (total * power + part) % (1 << 128)
            factor = factor * power % (1 << 128)
        part = part * (power + 1) % (1 << 128)
        power = power * power % (1 << 128)
        steps >>= 1
    return _plus(_times(state, factor), _times(increment, total))


def _times(number: _State, constant: int) -> _State:
    """The product, modulo 2**128."""
    high, low = number
    of_high, of_low = np.uint64(constant >> 64), np.uint64(constant & 0xFFFFFFFFFFFFFFFF)
    shift = np.uint64(32)
    near, far = low & _LOW, low >> shift
    own_near, own_far = of_low & _LOW, of_low >> shift
    middle = far * own_near + ((near * own_near) >> shift)
    carried = near * own_far + (middle & _LOW)
    over = far * own_far + (middle >> shift) + (carried >> shift)
    return over + high * of_low + low * of_high, low * of_low


def _plus(one: _State, other: _State) -> _State:
    """The sum, modulo 2**128."""
    low = one[1] + other[1]
    return one[0] + other[0] + np.where(low < one[1], np.uint64(1), np.uint64(0)), low


def _rotated(state: _State) -> Words:
    """What PCG64 gives of a state: both halves in one, turned by the upper six bits (XSL-RR)."""
    high, low = state
    turn, mixed = high >> np.uint64(58), high ^ low
    # Where nothing is turned the shift would be one by 64, which is not defined.
    back = mixed << ((np.uint64(64) - turn) & np.uint64(63))
    return np.bitwise_or(mixed >> turn, back, dtype=np.uint64)
