"""What an encoding is: which columns, cut into which tokens, into how many bits."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from sfumato.core.errors import InputError
from sfumato.linkage.spec.kinds import ColumnKind

COMPARISONS = ("ngram", "exact")
HASHES = ("blake", "double")
LONGEST = 1 << 16
"""Bits before folding, at most: a position is taken from 16 bits of a hash."""
MOST_FIELDS = 63
"""Fields whose keys HKDF with SHA-256 can give (RFC 5869: 255 blocks)."""


@dataclass(frozen=True, kw_only=True)
class FieldEncoding:
    """How one column goes into an encoding.

    Attributes
    ----------
    column
        Its name.
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

    Raises
    ------
    InputError
        If a rule for them is broken.
    """

    column: str
    comparison: str = "ngram"
    n: int = 2
    positional: bool = False
    bits: int = 60
    per: str = "value"
    kind: ColumnKind | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be encoded.

        Raises
        ------
        InputError
            If a rule for the fields is broken.
        """
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
    fields
        How each column goes in.
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

    Raises
    ------
    InputError
        If a rule for them is broken.
    """

    fields: tuple[FieldEncoding, ...]
    length: int = 1024
    folds: int = 0
    hash: str = "blake"
    salt: str = ""
    info: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be encoded.

        Raises
        ------
        InputError
            If a rule for the encoding is broken.
        """
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
