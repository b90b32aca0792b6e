"""Put the released file together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.pseudonyms import keyed_pseudonyms, random_pseudonyms
from sfumato.release.released import ReleasedColumn
from sfumato.table.sources import from_numpy, from_texts, is_bytes
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]


def assemble(
    table: Table,
    released: Mapping[str, tuple[ReleasedColumn, ...]],
    class_of: Codes,
    pseudonyms: pa.Array | None,
    order: npt.NDArray[np.int64],
) -> pa.Table:
    """The released file, without direct identifiers and households, in the file's column order.

    Parameters
    ----------
    table
        The encoded records that are released.
    released
        The released columns of each quasi-identifier.
    class_of
        Class of each record.
    pseudonyms
        The pseudonym of each person; ``None`` without a person column.
    order
        The records in the order in which they leave.
    """
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name in table.columns:
        if name in table.schema.withheld():
            continue
        if name in released:
            for column in released[name]:
                columns[column.name] = _cells(column, class_of[order])
        elif name == table.schema.person and pseudonyms is not None:
            columns[name] = pa.DictionaryArray.from_arrays(
                from_numpy(table.person[order]), pseudonyms
            )
        else:
            columns[name] = table.source.column(name).take(from_numpy(order))
    return pa.table(columns)


def person_pseudonyms(table: Table, key: bytes | None, rng: np.random.Generator) -> pa.Array | None:
    """A pseudonym for each person: fresh random ones, or keyed ones where there is a key.

    Raises
    ------
    InputError
        If the key is too short.
    """
    if table.schema.person is None:
        return None
    if key is None:
        return from_texts(random_pseudonyms(table.persons, rng)).cast(pa.string())
    _, first = np.unique(table.person, return_index=True)
    return pseudonyms_of(table.source.column(table.schema.person).take(from_numpy(first)), key)


def pseudonyms_of(ids: pa.Array | pa.ChunkedArray, key: bytes) -> pa.Array:
    """The keyed pseudonym of each id: of its bytes, or of the text that it prints as.

    Parameters
    ----------
    ids
        Ids of any type that a person column may have.
    key
        The secret.

    Raises
    ------
    InputError
        If the key is too short.
    """
    if pa.types.is_floating(ids.type):
        ids = pc.add(ids, pa.scalar(0.0, ids.type))  # -0.0 and 0.0 are one person
    if not is_bytes(ids.type):
        ids = pc.cast(ids, pa.string())
    return from_texts(keyed_pseudonyms(ids.to_pylist(), key)).cast(pa.string())


def _cells(column: ReleasedColumn, class_of: Codes) -> pa.Array:
    """The cells of the records; an empty cell is null, and in no dictionary."""
    texts = from_texts(text for text in column.texts if text is not None).cast(pa.string())
    place = np.cumsum([text is not None for text in column.texts], dtype=np.int32) - 1
    empty = np.array([text is None for text in column.texts])
    of_record = column.text_of_class[class_of]
    indices = from_numpy(place[of_record], empty[of_record])
    if not column.is_number:
        return pa.DictionaryArray.from_arrays(indices, texts)
    whole = pc.all(pc.match_substring_regex(texts, r"^-?\d+$")).as_py()
    return texts.cast(pa.int64() if whole else pa.float64()).take(indices)
