"""Records as Bloom filters: the specification, keys, tokens, hashes.

Keys come from one secret that the owners share and the linkage unit lacks.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bytes, Ints, Words
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.linkage.link_spec import ColumnKind

COMPARISONS = ("ngram", "exact")
HASHES = ("blake", "double")
# BLAKE2b digests are read in words of two bytes, which reach no further.
LONGEST = 1 << 16
"""Bits before folding, at most: a position is taken from 16 bits of a hash."""
MOST_FIELDS = 63
"""Fields whose keys HKDF with SHA-256 can give (RFC 5869: 255 blocks)."""


@dataclass(frozen=True, kw_only=True)
class FieldEncoding:
    """How one column goes into an encoding.

    Attributes
    ----------
    comparison
        ``ngram``: values that share runs of characters share bits; ``exact``: equal or not.
    n
        Length of the runs; blanks are put before and behind where it is above 1.
    positional
        Whether a run counts only at its place, as for dates and numbers.
    bits
        Bits set, collisions apart: per value, shared by its tokens, or per token.
    per
        ``value``: short and long values weigh the same and set as many bits; ``token``: as in
        Schnell et al. (2009), where the number of bits tells the length of the values.
    kind
        What the column holds, by which its values are standardised before; ``None`` takes them
        as they come.
    """

    column: str
    comparison: str = "ngram"
    n: int = 2
    positional: bool = False
    bits: int = 60
    per: str = "value"
    kind: ColumnKind | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be encoded."""
        where = f"encoding of column {self.column!r}"
        if self.comparison not in COMPARISONS:
            raise InputError(where, "must have a known comparison", accepted=", ".join(COMPARISONS))
        if self.per not in {"value", "token"}:
            raise InputError(where, "must have its bits per something", accepted="value, token")
        if not 1 <= self.n <= 8:
            raise InputError(where, "must have n from 1 to 8", found=f"{self.n}")
        if not 1 <= self.bits <= LONGEST:
            raise InputError(where, "must set at least 1 bit", found=f"{self.bits}")


@dataclass(frozen=True, kw_only=True)
class EncodingSpec:
    """What all owners must agree on, the key apart; no value of the data is in it.

    Attributes
    ----------
    length
        Bits of an encoding as it is written, a multiple of 64.
    folds
        How often the filter is halved by XOR of its halves before it is written (Schnell and
        Borgs 2016, "XOR-Folding for Bloom Filter-based Encryptions for Privacy-preserving
        Record Linkage"); it is hashed into ``length * 2 ** folds`` bits.
    hash
        ``blake``: independent positions from keyed BLAKE2b; ``double``: h1 + i h2 with keyed
        HMAC-SHA-1 and HMAC-MD5 (Schnell, Bachteler and Reiher 2009), never with h2 = 0.
    salt, info
        Of the key derivation (HKDF, RFC 5869), in hexadecimal; not secret.
    """

    fields: tuple[FieldEncoding, ...]
    length: int = 1024
    folds: int = 0
    hash: str = "blake"
    salt: str = ""
    info: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be encoded."""
        subject = "encoding"
        if not 1 <= len(self.fields) <= MOST_FIELDS:
            raise InputError(subject, f"must have 1 to {MOST_FIELDS} fields")
        names = [field.column for field in self.fields]
        if len(set(names)) < len(names):
            raise InputError(subject, "must name each column once")
        if self.hash not in HASHES:
            raise InputError(subject, "must have a known hash", accepted=", ".join(HASHES))
        if self.folds < 0 or self.length < 64 or self.length % 64:
            raise InputError(
                subject, "must have a length that is a multiple of 64, and folds from 0"
            )
        # 16 bits modulo a power of two are uniform; modulo another number low positions would be
        # set oftener.
        if self.hash == "blake" and self.hashed_length & (self.hashed_length - 1):
            raise InputError(
                subject, "must have a length that is a power of two where the hash is blake"
            )
        if self.hashed_length > LONGEST:
            raise InputError(subject, f"must have at most {LONGEST} bits before folding")
        try:
            self.salt_bytes, self.info_bytes  # noqa: B018
        except ValueError:
            raise InputError(subject, "must have salt and info in hexadecimal") from None

    @property
    def hashed_length(self) -> int:
        """Bits before folding."""
        return int(self.length << self.folds)

    @property
    def salt_bytes(self) -> bytes:
        """The salt."""
        return bytes.fromhex(self.salt)

    @property
    def info_bytes(self) -> bytes:
        """The info."""
        return bytes.fromhex(self.info)

    def to_json(self) -> str:
        """The same as JSON, equal for equal specifications."""
        return json.dumps(asdict(self))


# clkhash derives keys of this size, so that encodings can be compared with its own.
KEY_SIZE = 64
"""Bytes of a key: the longest that BLAKE2b takes, the block of HMAC-SHA-1 and HMAC-MD5."""
# 128 bits, which cannot be tried one by one.
SHORTEST_SECRET = 16
_CHECK = b"sfumato: do two files have the same key?"
_SPEC_CHECK = b"sfumato: do two files have the same specification?"

FieldKeys = tuple[bytes, bytes]


def hkdf(secret: bytes, length: int, *, salt: bytes = b"", info: bytes = b"") -> bytes:
    """Key material, up to 8,160 bytes, from a secret: HKDF with SHA-256 (RFC 5869, Section 2).

    Salt and info are not secret.
    """
    # RFC 5869: a salt that is not given is as many zero bytes as the hash is long.
    extracted = hmac.digest(salt or bytes(32), secret, hashlib.sha256)
    material, block = b"", b""
    # T(i) = HMAC(PRK, T(i−1) | info | i), with i from 1 in one byte.
    for number in range(1, -(-length // 32) + 1):
        block = hmac.digest(extracted, block + info + bytes([number]), hashlib.sha256)
        material += block
    return material[:length]


def field_keys(secret: bytes, fields: int, *, salt: bytes, info: bytes) -> tuple[FieldKeys, ...]:
    """Two keys per field, as clkhash derives them from what the owners share."""
    check_secret(secret)
    material = hkdf(secret, fields * 2 * KEY_SIZE, salt=salt, info=info)
    keys = [material[at : at + KEY_SIZE] for at in range(0, len(material), KEY_SIZE)]
    return tuple(zip(keys[::2], keys[1::2], strict=True))


def key_check(secret: bytes) -> str:
    """Eight bytes in hexadecimal that are equal where the secrets are; they are no key."""
    return hkdf(secret, 8, info=_CHECK).hex()


def spec_check(secret: bytes, spec: EncodingSpec) -> str:
    """Eight bytes in hexadecimal that are equal where specifications under one secret are.

    Nobody without the secret can find the specification by trying.
    """
    digest = hashlib.sha256(spec.to_json().encode()).digest()
    # Under the secret, as specifications are few enough to be tried by anybody who sees a bare
    # hash.
    return hkdf(secret, 8, info=_SPEC_CHECK + digest).hex()


def check_secret(secret: object) -> None:
    """Refuse a secret that can be guessed."""
    if not isinstance(secret, bytes):
        raise InputError("the secret of the encoding", "must be bytes", found=type(secret).__name__)
    if len(secret) < SHORTEST_SECRET:
        raise InputError(
            "the secret of the encoding",
            f"must have at least {SHORTEST_SECRET} bytes",
            found=f"{len(secret)} bytes",
            advice="draw 32 random bytes and give them to the owners only",
        )


def tokens_of(value: str, field: FieldEncoding) -> list[str]:
    """The tokens of a standardised value; none where it is empty.

    Runs of ``n`` characters with n - 1 blanks put before and behind; a positional one begins
    with its place from 1 and a blank, as in clkhash.
    """
    if not value:
        return []
    if field.comparison == "exact":
        return [value]
    # Blanks make first and last characters count in as many runs as the others.
    n, blanks = field.n, " " * (field.n - 1)
    text = f"{blanks}{value}{blanks}"
    runs = [text[at : at + n] for at in range(len(text) - n + 1)]
    if field.positional:
        return [f"{place} {run}" for place, run in enumerate(runs, start=1)]
    return runs


def bits_of(count: int, field: FieldEncoding) -> list[int]:
    """How many positions each of ``count`` tokens sets; the first ones get what is left over."""
    if field.per == "token" or not count:
        return [field.bits] * count
    each, more = divmod(field.bits, count)
    # The sum is exactly `bits`, so that the number of bits set does not tell the length of a value.
    return [each + 1] * more + [each] * (count - more)


Positions = Ints
_PER_DIGEST = 32


def positions_of(token: str, count: int, keys: FieldKeys, spec: EncodingSpec) -> Positions:
    """The first ``count`` positions of a token in UTF-8; two of them may be equal."""
    raw = token.encode("utf-8")
    if spec.hash == "blake":
        return _blake(raw, count, keys[0], spec.hashed_length)
    return _double(raw, count, keys, spec.hashed_length)


def _blake(raw: bytes, count: int, key: bytes, length: int) -> Positions:
    """Independent positions: each two bytes of keyed BLAKE2b digests, salted 0, 1, ..."""
    digests = b"".join(
        hashlib.blake2b(raw, key=key, salt=str(number).encode("ascii")).digest()
        # A new salt for each digest, as one gives 32 positions only.
        for number in range(-(-count // _PER_DIGEST))
    )
    return np.frombuffer(digests, dtype="<u2")[:count].astype(np.int64) % length


def _double(raw: bytes, count: int, keys: FieldKeys, length: int) -> Positions:
    """(h1 + i h2) mod length; h2 is drawn again where it is 0, so that positions differ."""
    first = int.from_bytes(hmac.digest(keys[0], raw, "sha1"), "big") % length
    step = int.from_bytes(hmac.digest(keys[1], raw, "md5"), "big") % length
    again = 0
    # With h2 = 0 all positions of a token would be the same one.
    while step == 0:
        step = int.from_bytes(hmac.digest(keys[1], raw + chr(again).encode(), "md5"), "big")
        step %= length
        again += 1
    return (first + step * np.arange(count)) % length


@dataclass(frozen=True, eq=False)
class Encoded:
    """Bit patterns of records under one key.

    Attributes
    ----------
    bits
        The encodings, eight bits a byte, the first bit the highest; shape (records, length / 8).
    key_check
        Equal for the same secret; no key.
    spec_check
        Equal for the same specification under the same secret; it tells nothing else of it.
    """

    ids: pa.StringArray
    bits: Bytes
    key_check: str
    spec_check: str

    def __len__(self) -> int:
        """Number of records."""
        return len(self.bits)

    @property
    def length(self) -> int:
        """Bits of an encoding."""
        return int(self.bits.shape[1]) * 8

    @property
    def words(self) -> Words:
        """The same in words of 64 bits; shape (records, length / 64)."""
        return np.ascontiguousarray(self.bits).view(np.uint64)

    @property
    def counts(self) -> Ints:
        """Number of bits set in each encoding."""
        return np.asarray(np.bitwise_count(self.words).sum(axis=1, dtype=np.int64))


def check_comparable(one: Encoded, other: Encoded, names: str = "the two encodings") -> None:
    """Refuse to compare what was encoded differently or under different keys."""
    if one.key_check != other.key_check:
        raise InputError(
            names,
            "must have been made under the same key",
            found="different keys",
            advice="let the owners compare their keys and encode again",
        )
    if one.spec_check != other.spec_check or one.length != other.length:
        raise InputError(
            names,
            "must have been made with the same specification",
            found="different ones",
            advice="give all owners the same file and encode again",
        )


_AT_ONCE = 1 << 14


def encode(
    table: pa.Table,
    spec: EncodingSpec,
    secret: bytes,
    *,
    id_column: str,
    progress: Progress = silent,
) -> Encoded:
    """Encode each record into one Bloom filter: a cryptographic long-term key (CLK).

    Tokens of each column are hashed into one filter under keys of the column's own (Schnell,
    Bachteler and Reiher 2011, "A Novel Error-Tolerant Anonymous Linking Code"). A missing or
    empty value sets no bit. Equal values are hashed once.

    Parameters
    ----------
    table
        Standardised values: what differs in case, accents or format is different here.
    secret
        At least 16 random bytes that the owners share, and nobody else has.
    id_column
        The owner's id of each record; it leaves as it is, so it must say nothing of the person.
    """
    keys = field_keys(secret, len(spec.fields), salt=spec.salt_bytes, info=spec.info_bytes)
    ids = _text(table, id_column)
    if ids.null_count or len(ids.unique()) < len(ids):
        raise InputError(f"column {id_column!r}", "must hold a different id for every record")
    filters = np.zeros((len(table), spec.hashed_length // 8), np.uint8)
    for place, (field, key) in enumerate(zip(spec.fields, keys, strict=True)):
        progress("encode", place / len(keys))
        # Hashing is what takes the time: once for each value, not for each record.
        column = _text(table, field.column).dictionary_encode()
        values = _encoded_values(column.dictionary.to_pylist(), field, key, spec)
        there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        codes = column.indices.drop_null().to_numpy()
        for start in range(0, len(there), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            filters[there[part]] |= values[codes[part]]
    bits = folded(filters, spec.folds)
    return Encoded(ids, bits, key_check(secret), spec_check(secret, spec))


def folded(filters: Bytes, folds: int) -> Bytes:
    """Each filter halved ``folds`` times by XOR of its halves; shape (records, bytes)."""
    for _ in range(folds):
        half = filters.shape[1] // 2
        filters = filters[:, :half] ^ filters[:, half:]
    return filters


def _text(table: pa.Table, name: str) -> pa.StringArray:
    if name not in table.column_names:
        raise InputError(f"column {name!r}", "must be in the table that is encoded")
    column = table[name].combine_chunks()
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {name!r}", "must hold text, numbers or dates", found=str(column.type)
        ) from None


def _encoded_values(
    values: list[str], field: FieldEncoding, keys: FieldKeys, spec: EncodingSpec
) -> Bytes:
    """The filter of each of some different values of one column."""
    known: dict[str, Ints] = {}
    result = np.empty((len(values), spec.hashed_length // 8), np.uint8)
    for start in range(0, len(values), _AT_ONCE):
        part = values[start : start + _AT_ONCE]
        bits = np.zeros((len(part), spec.hashed_length), np.uint8)
        for row, value in zip(bits, part, strict=True):
            tokens = tokens_of(value, field)
            for token, count in zip(tokens, bits_of(len(tokens), field), strict=True):
                found = known.get(token)
                if found is None or len(found) < count:
                    found = known[token] = positions_of(token, count, keys, spec)
                row[found[:count]] = 1
        result[start : start + len(part)] = np.packbits(bits, axis=1)
    return result
