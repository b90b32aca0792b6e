"""Tables of PostgreSQL and SQLite, by ADBC's drivers, with the extra ``[databases]``.

A place is a URL with the name of the table: ``postgresql://user:password@host/base?table=visits``
or ``sqlite:///folder/file.db?table=visits``. No message names more of it than the table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.table.sources import BATCH_ROWS, Source, check_names, plain_batch

ACCEPTED = (
    "postgresql://user:password@host:5432/base?table=visits (or schema.visits), "
    "sqlite:///folder/file.db?table=visits"
)
_FOUND = {
    "NOT_FOUND": "no such table or base",
    "ALREADY_EXISTS": "a table of that name",
    "IO": "no connection",
    "UNAUTHENTICATED": "no right to enter",
    "UNAUTHORIZED": "no right to do so",
}
"""What the drivers find, by the name of their status."""


@dataclass(frozen=True)
class DatabaseTable:
    """A table in a database, in that schema of PostgreSQL where one is given."""

    table: str
    group: str | None
    address: str = field(repr=False)
    module: str

    @classmethod
    def of(cls, url: str) -> DatabaseTable:
        """The table that a URL names."""
        try:
            parts = urlsplit(url)
            asked = parse_qsl(parts.query, keep_blank_values=True)
        except ValueError:
            # The parser's own error would quote the URL, and a password in it.
            raise _no_url() from None
        tables = [value for name, value in asked if name == "table"]
        if len(tables) != 1 or not tables[0] or "\0" in url:
            raise _no_url()
        rest = [(name, value) for name, value in asked if name != "table"]
        if parts.scheme == "sqlite":
            if rest or not unquote(parts.path).strip("/"):
                raise _no_url()
            path = unquote(parts.path).removeprefix("/")  # four slashes begin an absolute path
            return cls(tables[0], None, path, "adbc_driver_sqlite")
        group, _, table = tables[0].rpartition(".")
        address = urlunsplit(parts._replace(query=urlencode(rest)))
        return cls(table, group or None, address, "adbc_driver_postgresql")

    @property
    def subject(self) -> str:
        """How errors call it."""
        return f"table {self.table} of the database"

    @property
    def quoted(self) -> str:
        """Its name in SQL."""
        parts = (self.table,) if self.group is None else (self.group, self.table)
        return ".".join(map(_quoted, parts))

    @contextmanager
    def cursor(self) -> Iterator[tuple[Any, Any]]:
        """A connection and its cursor; errors of the driver are told without its words."""
        driver = needed(f"{self.module}.dbapi", extra="databases", by=self.subject)
        try:
            with driver.connect(self.address) as connection, connection.cursor() as cursor:
                yield connection, cursor
        except (driver.Error, pa.ArrowException, OSError) as error:
            status = getattr(getattr(error, "status_code", None), "name", "")
            text = str(error).partition(":")[0]
            found = _FOUND.get(status) or _FOUND.get(text) or "an error of the database"
            raise InputError(
                self.subject, "must be a table that can be reached", found=found, accepted=ACCEPTED
            ) from None


def located(url: str, folder: Path) -> str:
    """The URL of a table of which a file of that folder names the file; others stay."""
    place = DatabaseTable.of(url)
    if place.module != "adbc_driver_sqlite":
        return url
    return _sqlite_url(str((folder / place.address).resolve()), place.table)


def named_from(url: str, folder: Path) -> str:
    """The URL of a table as a file of that folder is to name it, for `located`.

    Without a password, which PostgreSQL takes from ``~/.pgpass`` or ``PGPASSWORD``.
    """
    place = DatabaseTable.of(url)
    if place.module == "adbc_driver_sqlite":
        return _sqlite_url(os.path.relpath(place.address, folder), place.table)
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    asked = [each for each in parse_qsl(parts.query) if each[0] not in ("password", "passfile")]
    return urlunsplit(
        parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}", query=urlencode(asked))
    )


def _sqlite_url(path: str, table: str) -> str:
    return f"sqlite:///{quote(path)}?{urlencode({'table': table})}"


def _no_url() -> InputError:
    return InputError("the URL of a database", "must name a base and one table", accepted=ACCEPTED)


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def open_database(url: str) -> Source:
    """Open a table, or a view, of a database; it is read anew whenever it is asked for columns.

    Texts of SQLite stay texts, dates among them; its columns take the type of their first values.
    """
    place = DatabaseTable.of(url)
    if place.module == "adbc_driver_sqlite" and not Path(place.address).is_file():
        raise InputError(place.subject, "must be in a file that is there", found="no such file")
    with place.cursor() as (_, cursor):
        cursor.execute(f"SELECT * FROM {place.quoted} LIMIT 1")  # noqa: S608
        names = check_names(cursor.fetch_record_batch().schema.names, place.subject)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        chosen = ", ".join(map(_quoted, columns))
        with place.cursor() as (_, cursor):
            if place.module == "adbc_driver_sqlite":
                # SQLite's columns hold values of any type: the driver takes the one that the first
                # batch shows, and a larger batch shows more.
                rows = {"adbc.sqlite.query.batch_rows": str(BATCH_ROWS)}
                cursor.adbc_statement.set_options(**rows)
            cursor.execute(f"SELECT {chosen} FROM {place.quoted}")  # noqa: S608
            for batch in cursor.fetch_record_batch():
                yield plain_batch(_stored(batch), columns)

    return Source.of_batches(place.subject, names, batches)


def _stored(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose columns are of Arrow's own types; numerics of PostgreSQL are texts."""
    arrays = [
        array.storage
        # A UUID keeps its type, by which `plain_column` knows that it has a text.
        if isinstance(array.type, pa.BaseExtensionType) and not isinstance(array.type, pa.UuidType)
        else array
        for array in batch.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def check_new_table(url: str) -> DatabaseTable:
    """Refuse a table that cannot be made, before work starts."""
    place = DatabaseTable.of(url)
    if place.module == "adbc_driver_sqlite":
        folder = Path(place.address).parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise InputError(place.subject, "must be in a folder that can be written", found="none")
        if not Path(place.address).exists():
            # A connection would make the file, which would stay behind if the work fails later.
            needed("adbc_driver_sqlite.dbapi", extra="databases", by=place.subject)
            return place
    with place.cursor() as (connection, _):
        there = _is_there(connection, place)
    if there:
        raise InputError(
            place.subject,
            "must be a new one",
            found="a table of that name",
            advice="drop it, or choose another name",
        )
    return place


def _is_there(connection: Any, place: DatabaseTable) -> bool:
    driver = needed(f"{place.module}.dbapi", extra="databases", by=place.subject)
    try:
        connection.adbc_get_table_schema(place.table, db_schema_filter=place.group)
    except driver.Error:
        return False
    return True


def write_database(table: pa.Table, url: str) -> None:
    """Make a table of a database, whole or not at all; none of that name may be there."""
    place = check_new_table(url)
    arrays = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    plain = pa.Table.from_arrays(arrays, names=table.column_names)
    with place.cursor() as (connection, cursor):
        cursor.adbc_ingest(place.table, plain, mode="create", db_schema_name=place.group)
        # Until here all is one transaction, so that an error leaves no part of a table behind.
        connection.commit()
