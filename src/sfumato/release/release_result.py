"""A release: data, what was asked, what was measured before and after, manifest."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Ints
from sfumato.core.atomic import all_or_none, check_path, write_text, written_at
from sfumato.core.declaration import is_database
from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.notebook_parts import lead, notes
from sfumato.core.phrases import Phrase
from sfumato.core.secret_keys import FOR_REPEATING, Secret
from sfumato.release.codebook import codebook_name, codebook_text
from sfumato.release.event_dates import Dates, Dating
from sfumato.release.full_domain import Levels
from sfumato.release.history_utility import DIVIDED, UNCHANGED, written
from sfumato.release.lasting_classes import SERIES_FILE, LastingClasses
from sfumato.release.lost_columns import LostColumn, lost_events, named_only, nothing_left
from sfumato.release.population_register import PopulationRisk
from sfumato.release.promises.promise import Budget, Constraint, kept_by
from sfumato.release.release_manifest import Manifest, file_sha256, tables_sha256, what_repeats
from sfumato.release.tree import TreeClasses
from sfumato.release.utility_measures import Later, Utility
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.intruders import Findings, Found, SeveralFiles, measured
from sfumato.risk.learned_values import Share
from sfumato.risk.notebook_view import class_sizes_picture, measures_table
from sfumato.risk.shown_file import Dated, FurtherColumn, shown
from sfumato.risk.verdict import (
    PUBLIC,
    Acceptance,
    Cure,
    Held,
    Limits,
    Linkage,
    State,
    Verdict,
    check_answers,
    judge,
    unmeasured,
)
from sfumato.schema import Schema
from sfumato.table.databases import check_new_table, write_database
from sfumato.table.dependence import codes_of
from sfumato.table.sources import NO_LABELS, Labels
from sfumato.table.table import MISSING, Table
from sfumato.table.table_files import check_output_path, content_sha256, write_table

MANIFEST_FILE = "release.toml"
EARLIER_FILES = "holds earlier files of this series, which a ledger compares"
"""Why a file that continues a series is not judged by itself."""


def check_folder_asked(place: str | os.PathLike[str], tables: Mapping[str, object]) -> None:
    """Refuse a database for several tables."""
    if tables and is_database(place):
        raise InputError("output", "must be a folder for several tables", found="a database")


def check_beside(
    path: str | os.PathLike[str], manifest: str = "", secret: bytes | None = None
) -> None:
    """Refuse to write over the manifest of another release, which nothing else repeats.

    Manifests may be written over where they speak of the file that is written anew, unchanged
    since, or where they repeat the same release, their secret the same.

    Parameters
    ----------
    path
        Where a release is to be written, in this process.
    manifest
        The manifest that is to stand beside it, as TOML; empty where it is not known yet.
    secret
        Its secret; ``None`` where it is to be a fresh one.
    """
    target = Path(path)
    beside = target.with_name(MANIFEST_FILE)
    if not beside.is_file():
        return
    fields = _fields_of(beside)
    own = tomllib.loads(manifest)
    # The files of a series have everything but their number in common.
    same = (
        fields is not None
        and what_repeats(fields) == what_repeats(own)
        and fields.get("series", {}).get("file") == own.get("series", {}).get("file")
    )
    if manifest and same and not _is_other(target.with_name(FOR_REPEATING), secret):
        return
    released = _sha256_of(target)
    if released and _written(fields) == released:
        return
    raise InputError(
        f"output {target.name}",
        f"must not take the place of the {MANIFEST_FILE} of another file",
        found="one in its folder",
        advice="write each release to a folder of its own, or move that file away",
    )


def _sha256_of(target: Path) -> str:
    """The hash of a released file or of a folder of tables; empty where there is neither."""
    if target.is_dir():
        return tables_sha256({path.stem: path for path in target.glob("*.csv")})
    return file_sha256(target) if target.is_file() else ""


def _fields_of(path: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def written_hash(manifest: Path) -> Any:
    """The hash of the file that a manifest speaks of; ``None`` without one."""
    return _written(_fields_of(manifest))


def _written(fields: dict[str, Any] | None) -> Any:
    """The hash of the file that a manifest speaks of."""
    about = None if fields is None else fields.get("release")
    return about.get("output_sha256") if isinstance(about, dict) else None


def _is_other(path: Path, secret: bytes | None) -> bool:
    """Whether a file beside holds another secret than that of a release; none is no other."""
    try:
        return path.read_bytes().strip() != secret
    except FileNotFoundError:
        return False
    except OSError:
        return True


class Content(Protocol):
    """A released file, in this process or elsewhere."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns, in their order."""

    @property
    def data(self) -> Any:
        """It as a dataframe."""

    @property
    def original(self) -> Any:
        """The dataframe that it was made from, or ``None`` for a path."""

    @property
    def types(self) -> Mapping[str, pa.DataType | None]:
        """Its columns in their order, and their types where they are known."""

    @property
    def shown_labels(self) -> Labels:
        """Labels of its columns, and of those of their values that occur."""

    def arrow(self) -> pa.Table:
        """It as Arrow, in this process."""

    def records_per_person(self, person: str) -> Mapping[int, int]:
        """How many persons have each number of records, by the column of their pseudonyms."""

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write it, whole or not at all, and give the hash of what was written, if there is one."""

    def digests(self, path: str | os.PathLike[str]) -> Mapping[str, str]:
        """Of several tables that were written, the hash of the file of each."""

    def write_beside(self, path: str | os.PathLike[str], name: str, text: str) -> None:
        """Write a text to the folder of ``path``, whole or not at all."""


@dataclass(frozen=True, eq=False)
class ReleasedTable:
    """A released file in the memory of this process, beside its original; ``None`` for a path."""

    table: pa.Table = field(repr=False)
    original: Any = field(default=None, repr=False)
    shown_labels: Labels = NO_LABELS

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns, in their order."""
        return tuple(self.table.column_names)

    @property
    def types(self) -> Mapping[str, pa.DataType | None]:
        """Its columns in their order, and their types."""
        return {field.name: field.type for field in self.table.schema}

    @property
    def data(self) -> Any:
        """It as the kind of dataframe that it was made from; Arrow for a path."""
        from sfumato.table.dataframes import to_frame_like  # narwhals takes a while to load

        return to_frame_like(self.table, self.original)

    def arrow(self) -> pa.Table:
        """It as Arrow."""
        return self.table

    def records_per_person(self, person: str) -> Mapping[int, int]:
        """How many persons have each number of records."""
        column = self.table.column(person).combine_chunks()
        records = pc.value_counts(column).field("counts").to_numpy()
        found, persons = np.unique(records, return_counts=True)
        return dict(zip(found.tolist(), persons.tolist(), strict=True))

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write a file of one of `OUTPUT_SUFFIXES`, whole or not at all, and give its hash."""
        write_table(self.table, path, labels=self.shown_labels)
        return file_sha256(written_at(path))

    def digests(self, path: str | os.PathLike[str]) -> Mapping[str, str]:
        """It is one table."""
        return {}

    def write_beside(self, path: str | os.PathLike[str], name: str, text: str) -> None:
        """Write a text to the folder of ``path``, whole or not at all."""
        write_text(Path(path).with_name(name), text)


@dataclass(frozen=True, eq=False, repr=False)
class Disclosed:
    """What a release shows, beside who it shows it of; in no file and no JSON.

    Attributes
    ----------
    cells
        The columns that are released otherwise than they were, quasi-identifiers left out.
    pseudonyms
        By `pseudonym_of`, what stands in the place of the person's id; ``None`` without ids.
    again
        Makes the same release under a budget beside its promises; ``None`` where it cannot.
    withheld
        Columns of the table that are left out although their roles would let them out.
    dates
        How dates are written that a promise about events changed; ``None`` where it changed none.
    files
        Of a series that goes on, what all of its files say of each person.
    """

    table: Table
    class_of: npt.NDArray[np.integer[Any]]
    cells: Mapping[str, pa.Array]
    pseudonyms: pa.Array | None
    pseudonym_of: npt.NDArray[np.integer[Any]]
    again: Callable[[Budget], Release] | None = None
    withheld: frozenset[str] = frozenset()
    dates: Dates | None = None
    files: SeveralFiles | None = None

    @cached_property
    def found(self) -> Found:
        """What intruders find in the release, whatever it promises."""
        class_of, own = (each.astype(np.int32) for each in (self.class_of, self.pseudonym_of))
        file = shown(self.table, class_of, self._further, self.withheld, own)
        found = measured(file)
        return found if self.files is None else found.over(file, self.files)

    def _further(self, name: str) -> FurtherColumn:
        """A column that is no quasi-identifier, as its cells are released."""
        dates, cells = self.dates, self.cells.get(name)
        if dates is not None and dates.column.name == name and dates.scheme.moves:
            codes = np.where(dates.dated, dates.shown - dates.shown.min(), MISSING)
            dated = Dated.ORDERED if dates.scheme.dating is Dating.ORDER else Dated.MOVED
            return FurtherColumn(codes.astype(np.int32), dated)
        codes = codes_of(self.table.source.column(name) if cells is None else cells)
        if cells is not None:
            # What is left out of a cell tells nothing.
            codes[np.asarray(pc.fill_null(pc.equal(pc.cast(cells, pa.string()), "*"), False))] = (
                MISSING
            )
        return FurtherColumn(codes.astype(np.int32))


class Memory(Protocol):
    """Where releases are remembered."""

    def remember(self, release: Release, name: str) -> str:
        """Note a release that is being written: a draft, until it is handed over.

        Returns the head of the memory, which proves what was noted.
        """


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A released file with everything that was measured.

    Attributes
    ----------
    content
        The released file, in this process or on the cluster.
    schema
        What each column of the original is, kinds settled.
    constraints
        The promises that the release keeps; `Manifest.promised` says which rest on an estimate.
    assessed, risk
        What the original gives away, measured when it is asked for, and the release.
    utility
        What the release lost.
    tree
        The tree's own classes, before those with the same released cells became one.
    manifest
        What repeats the release, with its secret.
    levels
        The level of each quasi-identifier after full-domain recoding, else ``None``.
    warnings
        What the reader should know; publishable.
    population
        What the release gives away to somebody with a register of the population, where one or
        the number of its persons was given.
    source_rows
        Position in the original of each released record, shape (records,); in no file and no
        JSON, for it undoes the release. ``None`` on Spark, where records have no position.
    tried
        What tries to save the columns that are lost, on request; ``None`` where nothing can.
    cured
        What tries to bring a release below its limits; ``None`` where nothing can.
    cures
        What was tried for what is above its limit.
    disclosed
        Who is in the release and what it shows of them, for a memory of releases; ``None`` on
        Spark.
    limits
        What may be found and learned at most.
    accepted
        Who answers for what is above the limits.
    linkage
        How good the linkage is that its persons come from, where there was one.
    judged_in
        Where it stands whether the release may go out, if its own page and manifest must not say
        so: in a project more is accepted, and more is known of the recipient, than when it is made.
    lasting
        Of a series, what each person was shown, for the file that continues it; ``None`` elsewhere.
    secret
        What pseudonyms, order and offsets of dates come from; `anonymize` repeats the release
        with it. In no manifest, JSON, printout or pickle; ``None`` where it was pickled.

    Raises
    ------
    SfumatoError
        If the manifest names a promise that was not measured and kept.
    """

    content: Content
    schema: Schema
    constraints: tuple[Constraint | Budget, ...]
    assessed: Later[Risk]
    risk: Risk
    utility: Utility
    tree: TreeClasses
    manifest: Manifest
    warnings: tuple[str, ...]
    levels: Levels | None = None
    population: PopulationRisk | None = None
    source_rows: Ints | None = None
    tried: Callable[[], tuple[LostColumn, ...]] | None = field(default=None, repr=False)
    cured: Callable[[Release], tuple[Cure, ...]] | None = field(default=None, repr=False)
    cures: tuple[Cure, ...] = ()
    disclosed: Disclosed | None = field(default=None, repr=False)
    secret: Secret | None = field(default=None, repr=False)
    limits: Limits = PUBLIC
    accepted: tuple[Acceptance, ...] = ()
    linkage: Linkage | None = None
    judged_in: str = ""
    lasting: LastingClasses | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Give no release out whose manifest names a promise that was not measured and kept.

        What only an estimate keeps the manifest names as such, and the report holds it against it.

        Raises
        ------
        SfumatoError
            If there is such a promise: a mistake of ours, which nobody is to rely on.
        """
        for constraint in self.manifest.constraints:
            if self.manifest.promised(constraint) and not kept_by(
                constraint, self.risk, self.population
            ):
                raise SfumatoError(
                    f"no release is given out: that it keeps {constraint.name} was not found when "
                    "it was measured. This is a mistake of sfumato; please report it."
                )

    @property
    def risk_before(self) -> Risk:
        """What the original gives away."""
        return self.assessed.value

    @cached_property
    def verdict(self) -> Verdict:
        """What four intruders find in the release, held against its limits."""
        if self.disclosed is None:
            risk = self.risk
            stranger = Findings(Share.of(risk.marketer.value), Share.of(risk.prosecutor.value))
            held = Held(self.limits, self.accepted)
            released = [*self.schema.sensitive, *self.schema.insensitive]
            columns = [each for each in released if each not in self.manifest.options.withhold]
            return unmeasured(risk.persons, stranger, "not measured on Spark", columns, held)
        against = None
        if self.population is not None:
            found, least = self.population.marketer, self.population.k_map
            against = (Share.estimated(found), Share.of(1 / least.value))
        judged = judge(
            self.disclosed.found,
            self.limits,
            self.accepted,
            population=against,
            recipient=EARLIER_FILES if self.manifest.series.get("file", 1) > 1 else None,
            linkage=self.linkage,
        )
        return replace(judged, cures=self.cures)

    def judged(
        self,
        limits: str | Limits,
        accepted: Sequence[Acceptance] = (),
        linkage: Linkage | None = None,
        *,
        cured: bool = False,
    ) -> Release:
        """The same release under other limits.

        Parameters
        ----------
        limits
            The name of a preset, or `Limits`.
        cured
            Whether to try what would lower each row that is above, and at which price; it takes a
            minute at most.
        """
        limits = Limits(limits) if isinstance(limits, str) else limits
        if accepted:
            check_answers(accepted, self.schema.further)
        judged = replace(self, limits=limits, accepted=(*accepted,), linkage=linkage, cures=())
        if not cured or self.cured is None or judged.verdict.state is not State.ABOVE:
            return judged
        return replace(judged, cures=self.cured(judged))

    @cached_property
    def lost(self) -> tuple[LostColumn, ...]:
        """The columns of which more than half of the records show nothing, the worst first.

        With what would save them: each remedy is tried when this is first read.
        """
        found = named_only(self.utility.columns) if self.tried is None else self.tried()
        both = (*found, *lost_events(self.utility))
        return tuple(sorted(both, key=lambda each: -each.hidden))

    @property
    def promise_words(self) -> tuple[str, ...]:
        """Each promise with its numbers, and whether it is counted or estimated."""
        told = list[str]()
        for each in self.constraints:
            stated = ", ".join(f"{name} = {value}" for name, value in each.parameters().items())
            kept = Phrase("{name} ({numbers}): kept", name=each.name, numbers=stated)
            if not self.manifest.promised(each):
                kept = Phrase(
                    "{name} ({numbers}): estimated, not promised", name=each.name, numbers=stated
                )
            told.append(kept)
        return tuple(told)

    @property
    def nothing_left(self) -> str:
        """Names the columns of which no record shows anything, first in every summary."""
        columns = {column.column: column.hidden for column in self.utility.columns}
        return nothing_left(
            columns | {event.column: event.hidden for event in lost_events(self.utility)}
        )

    @property
    def data(self) -> Any:
        """The released file as the kind of dataframe that was passed in.

        Of a path Arrow; with Spark a dataframe of Spark, too.
        """
        return self.content.data

    @property
    def table(self) -> pa.Table:
        """The released file as Arrow; not of a release on Spark, which stays on the cluster.

        Raises
        ------
        InputError
            If the release is on Spark.
        """
        return self.content.arrow()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the released file's columns, in their order."""
        return self.content.names

    def records_per_person(self) -> Mapping[int, int] | None:
        """How many persons of the released file have each number of records.

        ``None`` where it names no persons.
        """
        person = self.schema.person
        if person is None or person in self.manifest.options.withhold:
            return None
        return self.content.records_per_person(person)

    @property
    def original(self) -> Any:
        """The dataframe that was passed in, or ``None`` for a path."""
        return self.content.original

    def write(
        self,
        path: str | os.PathLike[str],
        manifest: str | os.PathLike[str] | None = None,
        *,
        memory: Memory | None = None,
        secret: str | os.PathLike[str] | None = None,
    ) -> Release:
        """Write the release, its codebook and its manifest, all whole or none.

        The codebook stands beside the release as ``NAME.codebook.md`` and may go out with it; of
        tables it is in their folder, and manifest and secret stand beside that.

        Parameters
        ----------
        path
            A ``.csv``, ``.tsv`` or ``.parquet`` file, or with ``[formats]`` an ``.xlsx``, ``.dta``
            or ``.sav``; on Spark a folder of such a name, with a file per partition. The URL of a
            new table in a database, too: codebook and manifest are then written to this folder.
        manifest
            The manifest's file; beside the release as ``release.toml`` when not given. A
            folder takes one release then: the manifest of another is not written over (on Spark
            it is).
        memory
            A ledger of releases, which notes it as a draft.
        secret
            A file for the secret, which only its owner may read and which is never handed over;
            not written when not given.

        Returns
        -------
        Release
            The same release, its manifest with the hash of the file.

        Raises
        ------
        InputError
            If a file cannot be written, the manifest would take the place of another file's, or
            the secret is gone.
        """
        check_folder_asked(path, self.manifest.tables)
        if is_database(path):
            return self._into_database(str(path), manifest, memory, secret)
        check_path(path)
        if manifest is not None:
            check_path(manifest, "manifest")
        elif self.manifest.tables or isinstance(self.content, ReleasedTable):
            if not self.manifest.tables:
                check_output_path(path)
            check_beside(path, self.manifest.to_toml(), self.secret)
        # A release without its manifest could not be repeated, nor checked against its file.
        with all_or_none():
            digest = self.content.write(path)
            name = str(path).replace("\\", "/").rstrip("/").rpartition("/")[2]
            # That of several tables goes out within their folder.
            about = Path(path) / name if self.manifest.tables else path
            self.content.write_beside(about, codebook_name(name), self.codebook(name))
            written = self._noted(digest, name, memory, self.content.digests(path))
            if manifest is None:
                self.content.write_beside(path, MANIFEST_FILE, written.manifest.to_toml())
            else:
                written.manifest.write(manifest)
            self._keep(secret, Path(manifest or Path(path).with_name(MANIFEST_FILE)))
        return written

    def _keep(self, file: str | os.PathLike[str] | None, manifest: Path) -> None:
        """Write the secret to a file, where there is one, and what the next file needs."""
        if self.lasting is not None:
            self.lasting.write(manifest.with_name(SERIES_FILE))
            file = file or manifest.with_name(FOR_REPEATING)
        if file is None:
            return
        if self.secret is None:
            raise InputError("the release", "must have its secret", found="one that was pickled")
        self.secret.write(file)

    def _noted(
        self, digest: str, name: str, memory: Memory | None, digests: Mapping[str, str]
    ) -> Release:
        """The release with its verdict, the hashes of its files, and the head of a memory."""
        said = {} if self.judged_in else self.verdict.noted
        tables = {name: dict(table) for name, table in self.manifest.tables.items()}
        for table, own in digests.items():
            tables[table]["sha256"] = own
        manifest = replace(self.manifest, output_sha256=digest, verdict=said, tables=tables)
        noted = replace(self, manifest=manifest)
        if memory is None:
            return noted
        head = memory.remember(noted, name)
        return replace(noted, manifest=replace(noted.manifest, ledger_head=head))

    def _into_database(
        self,
        url: str,
        manifest: str | os.PathLike[str] | None,
        memory: Memory | None,
        secret: str | os.PathLike[str] | None,
    ) -> Release:
        """Write the release to a new table, its codebook and manifest to this folder."""
        table = check_new_table(url).table
        check_path(table, "table")
        beside = Path(manifest or MANIFEST_FILE)
        if manifest is None:
            check_beside(Path(table), self.manifest.to_toml(), self.secret)
        # A table has no bytes of a file that could be hashed.
        digest = content_sha256(self.table.column_names, self.table.to_batches())
        with all_or_none():
            write_text(beside.with_name(codebook_name(table)), self.codebook(table))
            written = self._noted(digest, table, memory, {})
            written.manifest.write(beside)
            self._keep(secret, beside)
            # The table last: if it fails, no file takes its place; a table that is written stays.
            write_database(self.table, url)
        return written

    @property
    def event_treatments(self) -> dict[str, str]:
        """By column that a promise about events changed, how its cells are written."""
        histories = self.utility.histories
        how = (
            {}
            if histories is None
            else {name: written(ways) for name, ways in histories.done.items()}
        )
        if histories is not None and histories.divided and self.schema.person is not None:
            how[self.schema.person] = DIVIDED
        return {name: words for name, words in how.items() if words != UNCHANGED}

    def codebook(self, name: str = "the release") -> str:
        """What each column is, what was done to it and how its cells are read, as Markdown.

        Parameters
        ----------
        name
            What the released file is called.
        """
        return codebook_text(
            name,
            self.content.types,
            self.schema,
            self.manifest.options,
            size=(self.risk.records, self.risk.persons),
            keyed=self.manifest.keyed or self.manifest.options.series is not None,
            levels=self.levels,
            preparation=self.manifest.preparation,
            treatments=self.event_treatments,
            labels=self.content.shown_labels,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values: the released file's measures, ``before``, ``utility``, ``manifest``.

        With a population ``marketer`` is the risk against it.
        """
        against = {} if self.population is None else self.population.marketer.to_json()
        return {
            "lost": [asdict(each) for each in self.lost],
            **self.risk.to_json(),
            **({"marketer": against} if against else {}),
            "tree": asdict(self.tree),
            **({} if self.levels is None else {"levels": self.levels.to_json()}),
            **({} if self.population is None else {"population": self.population.to_json()}),
            "before": self.risk_before.to_json(),
            "utility": self.utility.to_json(),
            "constraints": [
                {
                    "name": constraint.name,
                    "promised": self.manifest.promised(constraint),
                    **constraint.parameters(),
                }
                for constraint in self.constraints
            ],
            **({} if self.judged_in else {"verdict": self.verdict.to_json()}),
            "manifest": self.manifest.to_dict(),
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        """One table, the original beside the release, one picture, and what was lost."""
        files = {"original": self.risk_before, "release": self.risk}
        lost = [replace(row, name=f"loss: {row.name}") for row in self.utility.rows()]
        first = self.nothing_left
        return "".join(
            (
                notes((first,) if first else ()),
                lead(self._worst),
                measures_table(
                    "Release",
                    {
                        "original": self.risk_before.rows(),
                        "release": [*self.risk.rows(), *lost],
                    },
                ),
                class_sizes_picture({name: risk.shape for name, risk in files.items()}),
                notes(self.warnings),
            )
        )

    @property
    def _worst(self) -> str:
        return f"Judged in {self.judged_in}." if self.judged_in else self.verdict.worst

    def __repr__(self) -> str:
        return (
            f"Release({self._worst} {self.risk.records} records, "
            f"{self.risk.classes} classes, "
            f"max_gidr={float(self.risk.max_gidr):.4g}, ane={self.utility.ane:.4g})"
        )
