"""Pseudonyms and the order of records, from the seed and all that the file holds."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sfumato.core.optional_packages import needed
from sfumato.engines.spark.frames import column
from sfumato.engines.spark.names import OWN, PERSON
from sfumato.engines.spark.read import plain
from sfumato.engines.spark.session import said_plainly
from sfumato.engines.spark.table import SparkTable
from sfumato.engines.spark.tasks import WithoutValues
from sfumato.release.assembly import pseudonyms_of
from sfumato.table.sources import from_numpy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NUMBER, PSEUDONYM = f"{OWN}number", f"{OWN}pseudonym"
NUMBER_BYTES = 8


@dataclass(frozen=True)
class Secret:
    """What pseudonyms and the order are made with; whoever has it can undo them.

    Attributes
    ----------
    persons
        Key of the pseudonyms.
    order
        Key of the numbers by which the records are put into a new order.
    """

    persons: bytes = field(repr=False)
    order: bytes = field(repr=False)


def secret_of(table: SparkTable, seed: int, key: bytes | None) -> Secret:
    """The secret of a release, which follows from its seed and from every record of the file.

    So the same seed and file give the same records, in whatever partitions they were (their
    order is new where those are others), and somebody who knows or guesses the seed, but not
    the file, has nothing.

    Parameters
    ----------
    table
        The encoded file, with the columns that a release hands on.
    seed
        The seed of the manifest.
    key
        The custodian's secret for pseudonyms that are the same in every release; ``None`` for
        fresh ones.
    """
    content = _fingerprint(table)

    def made(purpose: bytes) -> bytes:
        return hmac.digest(seed.to_bytes(8), purpose + content, hashlib.sha256)

    return Secret(made(b"pseudonyms ") if key is None else key, made(b"order "))


def _fingerprint(table: SparkTable) -> bytes:
    """A text that depends on every record of the file and not on their order."""
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    frame, own = table.frame, table.schema.person is not None
    named = [column(name) for name in frame.columns if own or name != PERSON]
    sums = [
        f.sum(f.xxhash64(f.lit(place), *named).cast("decimal(38,0)")).cast("string")
        for place in range(4)
    ]
    with said_plainly("read the encoded file"):
        (row,) = frame.agg(*sums).collect()
    return "\n".join(row).encode()


def with_secrets(frame: DataFrame, secret: Secret, person: str | None) -> DataFrame:
    """Records with the pseudonym of their person and a secret number, the person left out.

    A pseudonym is that of the embedded engine with the same key: 120 bits of an HMAC-SHA-256 of
    the person's id, equal for no two persons but for a chance of 1 in 10**18 for a billion of
    them. The number is 64 bits of a keyed BLAKE2b of the place of the record.

    Parameters
    ----------
    frame
        The records with the ids of their persons, as in the file; its lineage cut.
    secret
        The keys.
    person
        The column of the ids; ``None`` where the records have no persons who are shown.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    types = needed("pyspark.sql.types", extra="spark", by="engine spark")
    names = frame.columns
    own = frame.toDF(*map(plain, range(len(names))))  # whatever letters the names have
    placed = own.withColumn(NUMBER, f.monotonically_increasing_id())
    ids = None if person is None else plain(names.index(person))
    fields = [each for each in own.schema.fields if each.name != ids]
    fields.append(types.StructField(NUMBER, types.LongType()))
    made = [NUMBER]
    if ids is not None:
        fields.append(types.StructField(PSEUDONYM, types.StringType()))
        made.append(PSEUDONYM)
    replaced = WithoutValues(_Replaced(secret, ids))
    with said_plainly("replace the ids"):
        found = placed.mapInArrow(replaced, types.StructType(fields))
        return found.toDF(*(name for name in names if name != person), *made)


@dataclass(frozen=True)
class _Replaced:
    """Puts pseudonyms and numbers in the place of persons, batch by batch, on the executors."""

    secret: Secret
    person: str | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            names = [name for name in batch.schema.names if name not in (self.person, NUMBER)]
            columns = [batch.column(name) for name in names]
            columns.append(_numbers(batch.column(NUMBER), self.secret.order))
            names.append(NUMBER)
            if self.person is not None:
                columns.append(_pseudonyms(batch.column(self.person), self.secret.persons))
                names.append(PSEUDONYM)
            yield pa.RecordBatch.from_arrays(columns, names=names)


def _numbers(places: pa.Array, key: bytes) -> pa.Array:
    drawn = b"".join(
        hashlib.blake2b(place.to_bytes(8), digest_size=NUMBER_BYTES, key=key).digest()
        for place in places.to_pylist()
    )
    return from_numpy(np.frombuffer(drawn, dtype=np.int64))


def _pseudonyms(persons: pa.Array, key: bytes) -> pa.Array:
    coded = persons.dictionary_encode()
    return pseudonyms_of(coded.dictionary, key).take(coded.indices)
