"""Put the released file together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.pseudonyms import keyed_pseudonyms, random_pseudonyms
from sfumato.release.released import ReleasedColumn
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]


def assemble(
    table: Table,
    released: Mapping[str, tuple[ReleasedColumn, ...]],
    class_of: Codes,
    pseudonyms: pa.Array | None,
    order: npt.NDArray[np.int64],
) -> pa.Table:
    """The released file: direct identifiers gone, the others in the file's order of columns.

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
        if name in table.schema.direct_identifiers:
            continue
        if name in released:
            for column in released[name]:
                columns[column.name] = _cells(column, class_of[order])
        elif name == table.schema.person and pseudonyms is not None:
            columns[name] = pa.DictionaryArray.from_arrays(
                pa.array(table.person[order]), pseudonyms
            )
        else:
            columns[name] = table.source.column(name).take(pa.array(order))
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
        return pa.array(random_pseudonyms(table.persons, rng))
    _, first = np.unique(table.person, return_index=True)
    ids = table.source.column(table.schema.person).take(pa.array(first))
    return pa.array(keyed_pseudonyms(pc.cast(ids, pa.string()).to_pylist(), key))


def _cells(column: ReleasedColumn, class_of: Codes) -> pa.Array:
    """The cells of the records; an empty cell is null, and in no dictionary."""
    texts = pa.array([text for text in column.texts if text is not None], type=pa.string())
    place = np.cumsum([text is not None for text in column.texts], dtype=np.int32) - 1
    empty = np.array([text is None for text in column.texts])
    of_record = column.text_of_class[class_of]
    indices = pa.array(place[of_record], mask=empty[of_record])
    if not column.is_number:
        return pa.DictionaryArray.from_arrays(indices, texts)
    whole = pc.all(pc.match_substring_regex(texts, r"^-?\d+$")).as_py()
    return texts.cast(pa.int64() if whole else pa.float64()).take(indices)
