"""All files of a series, read by somebody who knows when people came, and when they left.

The reader joins the written files by pseudonym. Who knows when a person came looks among those of
the same cells who came then; who knows that the person has left since a file, among those of them
whose further columns have not changed since. The referee learns from `release.series` who has left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Ints
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted, percent
from sfumato.release.assembly import pseudonyms_of
from sfumato.release.lasting_classes import SERIES_FILE
from sfumato.release.release_manifest import file_sha256, load_manifest
from sfumato.release.release_result import MANIFEST_FILE
from sfumato.release.series_files import Earlier
from sfumato.risk.verdict import EXIT_CODES, RELATIVE, Limits, State
from sfumato.schema import Schema
from sfumato.table.table_files import open_source


@dataclass(frozen=True)
class Month:
    """What is found in a file of a series with all files before it.

    Shares are by who knows when people came, and who left as well; `of_leavers` is ``None`` where
    nobody has, `person` is the highest chance of one, who is found among `fewest`.
    """

    file: int
    period: str
    people: int
    leavers: int
    came: float
    left: float
    of_leavers: float | None
    person: float
    fewest: int

    @property
    def label(self) -> str:
        """Its period, or else its number."""
        return self.period or f"{self.file}"


@dataclass(frozen=True)
class SeriesAttack:
    """What is found in each file of a series, beside limits."""

    months: tuple[Month, ...]
    limits: Limits

    @property
    def worst(self) -> Month:
        """The file in which most people are found."""
        return max(self.months, key=lambda month: (month.left, month.came))

    @property
    def least_hidden(self) -> Month:
        """The file in which one person has the highest chance."""
        return max(self.months, key=lambda month: month.person)

    @property
    def is_above(self) -> bool:
        """Whether more are found than a limit allows, or one person with a higher chance."""
        most = (self.worst.left, self.limits.found), (self.least_hidden.person, self.limits.person)
        return any(share > limit * RELATIVE for share, limit in most)

    @property
    def exit_code(self) -> int:
        """As of the command line; what is learned was not measured unless any share may be."""
        if self.is_above:
            return EXIT_CODES[State.ABOVE]
        return EXIT_CODES[State.NOT_MEASURED] if self.limits.learned < 1 else 0

    @property
    def sentence(self) -> str:
        """The worst of it."""
        worst, one = self.worst, self.least_hidden
        return (
            f"A reader who knows when people came and left finds {percent(worst.left)} of "
            f"{counted(worst.people, 'person')} of file {worst.label} (limit "
            f"{percent(self.limits.found)}). The highest chance of one person is "
            f"{percent(one.person)}, in file {one.label} (limit {percent(self.limits.person)}). By "
            f"when they came alone: {percent(max(month.came for month in self.months))} at most. "
            "What is learned of them is not measured by this attack."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "about": "series",
            "limits": {"found": self.limits.found, "person": self.limits.person},
            "not_measured": ["learned"],
            "above": self.is_above,
            "months": [asdict(month) for month in self.months],
        }


@dataclass
class _Reader:
    """What is known of each pseudonym so far; arrays of shape (pseudonyms,)."""

    number: dict[str, int] = field(default_factory=dict)
    said: dict[tuple[str | None, ...], int] = field(default_factory=dict)
    came: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    last: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    since: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def read(
        self, rows: Mapping[str, list[str | None]], schema: Schema, file: int
    ) -> tuple[Ints, Ints]:
        """Read the next file; the number of each row's pseudonym, and what it is among by cells."""
        assert schema.person is not None
        names = rows[schema.person]
        before = len(self.number)
        number = np.array([self.number.setdefault(str(n), len(self.number)) for n in names])
        new = len(self.number) - before
        self.came = np.append(self.came, np.full(new, file))
        self.last = np.append(self.last, np.full(new, -1))
        self.since = np.append(self.since, np.full(new, file))
        identifiers = [name for name in rows if name in schema.quasi_identifiers]
        further = {*rows} - {*identifiers, schema.person}
        values = [*zip(*(rows[name] for name in sorted(further)), strict=True)] or [()] * len(names)
        now = np.array([self.said.setdefault(each, len(self.said)) for each in values])
        changed = self.last[number] != now
        self.last[number], self.since[number[changed]] = now, file
        cells = [_codes(rows[name]) for name in identifiers]
        alike = np.column_stack([self.came[number], *cells])
        return number, np.unique(alike, axis=0, return_inverse=True)[1].ravel()


def _codes(texts: list[str | None]) -> Ints:
    column = pa.array(texts, pa.string()).dictionary_encode()
    return np.asarray(pc.fill_null(column.indices.cast(pa.int64()), len(column.dictionary)))


def attack_series(folder: Path, schema: Schema, limits: Limits) -> SeriesAttack:
    """Attack all files of a series, each in a folder of its own with what was written beside it."""
    reader, months = _Reader(), list[Month]()
    for file, (place, earlier) in enumerate(_in_order(folder), 1):
        source = open_source(_released(place, earlier.manifest.output_sha256))
        rows = {
            name: pc.cast(
                pa.chunked_array([b.column(0) for b in source.batches([name])]), pa.string()
            ).to_pylist()
            for name in source.names
        }
        if schema.person is None or schema.person not in rows:
            raise InputError(
                "option --schema", "must name the column of pseudonyms", found="none in a file"
            )
        number, home = reader.read(rows, schema, file)
        months.append(_measured(reader, number, home, _left(earlier, reader.number), file, earlier))
    return SeriesAttack(tuple(months), limits)


def _measured(
    reader: _Reader, number: Ints, home: Ints, left: Mapping[int, int], file: int, earlier: Earlier
) -> Month:
    sizes = np.bincount(home)
    chance = 1 / sizes[home]
    gone = np.array([left.get(each, 0) for each in number.tolist()], dtype=np.int64)
    exit_chance = chance.copy()
    for last in np.unique(gone[gone > 0]).tolist():
        leaving = gone == last
        unchanged = reader.since[number] <= last
        exit_chance[leaving] = 1 / np.bincount(home[unchanged], minlength=len(sizes))[home[leaving]]
    leavers = exit_chance[gone > 0]
    return Month(
        file,
        earlier.manifest.series.get("period", ""),
        len(number),
        len(leavers),
        float(chance.mean()),
        float(exit_chance.mean()),
        float(leavers.mean()) if len(leavers) else None,
        float(exit_chance.max()),
        round(1 / exit_chance.max()),
    )


def _left(earlier: Earlier, number: Mapping[str, int]) -> dict[int, int]:
    """The file that each of those who have left was in last, by the number of their pseudonym."""
    lasting = earlier.lasting
    ids = lasting.records.column("(person)")
    key = earlier.secret.bound(b"series", lasting.name.encode())
    names = pseudonyms_of(ids, key).to_pylist()
    last = lasting.records.column("(last)").to_pylist()
    if not all(name in number for name in names):
        raise InputError(
            SERIES_FILE,
            "must be of people whom the files show",
            found="others, or other pseudonyms",
        )
    return {number[n]: file for n, file in zip(names, last, strict=True) if file < lasting.files}


def _in_order(folder: Path) -> Iterator[tuple[Path, Earlier]]:
    """The files of the series in a folder, the first one first."""
    places = [
        path
        for path in sorted(folder.rglob(MANIFEST_FILE))
        if "classes_sha256" in load_manifest(path).series
    ]
    files = []
    if all(path.with_name(SERIES_FILE).is_file() for path in places):
        files = [(path.parent, Earlier.of(path)) for path in places]
    files.sort(key=lambda each: each[1].lasting.files)
    before = None
    for number, (_, earlier) in enumerate(files, 1):
        series = earlier.manifest.series
        if series["file"] != number or series.get("continues_sha256") != before:
            files = []
            break
        before = earlier.manifest.output_sha256
    if not files:
        raise InputError(
            "option --series",
            "must name a folder with every file of one series, each in a folder with its "
            f"{MANIFEST_FILE}, release.secret and {SERIES_FILE}",
            found="none, one missing, or files of several",
        )
    yield from files


def _released(place: Path, sha256: str | None) -> Path:
    for path in sorted(place.iterdir()):
        if (
            path.is_file()
            and path.suffix in (".csv", ".parquet", ".tsv")
            and file_sha256(path) == sha256
        ):
            return path
    raise InputError(
        f"folder {place.name}", "must hold the released file as it was written", found="none"
    )
