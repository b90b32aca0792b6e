"""FEBRL data set 3 as published: where it lies, what its columns are."""

from __future__ import annotations

from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.review.anonymity.database import Database
from sfumato.review.attributes import Attribute, AttributeKind
from sfumato.studies.kartal_li.data.delimited import read_delimited

FILE, FOLDER = "dataset3.csv", "febrl"
SOURCE = "FEBRL data set 3 (Freely Extensible Biomedical Record Linkage, generated persons)"
PLACE = f"{FILE} in DIR or DIR/{FOLDER}"
_KINDS = {
    "given_name": AttributeKind.VARIABLE,
    "surname": AttributeKind.VARIABLE,
    "street_number": AttributeKind.VARIABLE,
    "address_1": AttributeKind.VARIABLE,
    "address_2": AttributeKind.VARIABLE,
    "suburb": AttributeKind.VARIABLE,
    "postcode": AttributeKind.FIXED,
    "state": AttributeKind.CATEGORY,
    "date_of_birth": AttributeKind.DATE,
    "soc_sec_id": AttributeKind.FIXED,
}
ATTRIBUTES = tuple(Attribute(name=name, kind=kind) for name, kind in _KINDS.items())


def find_febrl(data: Path) -> Path | None:
    """The file below the data folder; ``None`` where it is absent.

    Parameters
    ----------
    data
        The data folder.
    """
    paths = (data / FILE, data / FOLDER / FILE)
    return next((path for path in paths if path.is_file()), None)


def read_febrl(path: Path) -> Database:
    """Its records.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If the file is damaged or lacks a column.
    """
    names = [each.name for each in ATTRIBUTES]
    columns = ["rec_id", *names]
    table = read_delimited(path, columns, delimiter=",", names=columns)
    header = [table.column(name)[0].as_py() for name in columns]
    if header != columns or table.num_rows == 1:
        raise InputError(
            f"file {path.name}", "must have the columns as published", accepted=", ".join(columns)
        )
    return Database.of(ATTRIBUTES, [table.column(name).slice(1) for name in names])
