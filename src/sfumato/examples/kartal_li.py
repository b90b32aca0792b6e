"""The worked example of Kartal and Li (2020)."""

from __future__ import annotations

import pyarrow as pa

from sfumato.schema import Schema

_COLUMNS = ("admission_no", "name", "age", "gender", "zip", "disease")
_TABLE_3A = (
    (1001, "Ashley", 86, "Female", "20375", "Asthma"),
    (2001, "Ashley", 86, "Female", "20375", "Reflux"),
    (2002, "Bob", 85, "Male", "20375", "Reflux"),
    (1002, "Charlie", 69, "Male", "20048", "Pneumonia"),
    (1005, "Charlie", 70, "Male", "20048", "Pneumonia"),
    (1006, "Charlie", 71, "Male", "20048", "Pneumonia"),
    (2003, "Charlie", 71, "Male", "20048", "Gastritis"),
    (2005, "Charlie", 71, "Male", "20048", "Gastritis"),
    (2004, "Diana", 84, "Female", "20090", "Ulcer"),
    (2006, "Diana", 84, "Female", "20090", "Gastritis"),
    (1007, "Edward", 84, "Male", "20090", "Pneumonia"),
    (2007, "Edward", 84, "Male", "20090", "Gastritis"),
    (1008, "Fred", 78, "Male", "20400", "Pneumonia"),
    (2008, "Greg", 78, "Male", "20420", "Ulcer"),
    (1003, "Harry", 74, "Male", "20400", "Asthma"),
    (1004, "Harry", 75, "Male", "20400", "Bronchitis"),
    (1009, "Harry", 76, "Male", "20400", "Asthma"),
    (2009, "Harry", 74, "Male", "20400", "Ulcer"),
    (2010, "Harry", 76, "Male", "20400", "Ulcer"),
)


def worked_example() -> tuple[pa.Table, Schema]:
    """Table 3a of paper 003 (Kartal and Li 2020, Section 3) and its schema.

    19 made-up records of 8 persons in two clinics, in the order of the table. ZIP is text of
    five digits; age is an integer in years. The name says which person a record belongs to.
    """
    columns = zip(*_TABLE_3A, strict=True)
    table = pa.table(dict(zip(_COLUMNS, map(list, columns), strict=True)))
    schema = Schema(
        person="name",
        direct_identifiers=("admission_no",),
        quasi_identifiers={"age": "numeric", "gender": "categorical", "zip": "numeric"},
        sensitive=("disease",),
    )
    return table, schema
