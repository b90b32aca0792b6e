"""A release: data, what was asked, what was measured before and after, manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.atomic import all_or_none
from sfumato.core.paths import check_path
from sfumato.release.beside import MANIFEST_FILE, check_beside
from sfumato.release.content import Content, ReleasedTable
from sfumato.release.full_domain import Levels
from sfumato.release.manifest import Manifest
from sfumato.release.population.measured import PopulationRisk
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.utility import Utility
from sfumato.risk.disclosure_risk import Risk
from sfumato.schema import Schema
from sfumato.table.table_files import check_output_path


@dataclass(frozen=True)
class TreeClasses:
    """The tree's own classes, before those with the same released cells became one.

    The published tables count these; a reader of the release sees the merged ones.

    Attributes
    ----------
    classes
        Number of classes.
    max_gidr, avg_gidr
        Largest and mean GIDR of a class (paper 003, Section 7).
    """

    classes: int
    max_gidr: float
    avg_gidr: float


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
    risk_before, risk
        What the original and the release give away.
    utility
        What the release lost.
    tree
        The tree's own classes, before those with the same released cells became one.
    manifest
        What repeats the release.
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
    """

    content: Content
    schema: Schema
    constraints: tuple[Constraint | Budget, ...]
    risk_before: Risk
    risk: Risk
    utility: Utility
    tree: TreeClasses
    manifest: Manifest
    warnings: tuple[str, ...]
    levels: Levels | None = None
    population: PopulationRisk | None = None
    source_rows: npt.NDArray[np.int64] | None = None

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
        return None if person is None else self.content.records_per_person(person)

    @property
    def original(self) -> Any:
        """The dataframe that was passed in, or ``None`` for a path."""
        return self.content.original

    def write(
        self, path: str | os.PathLike[str], manifest: str | os.PathLike[str] | None = None
    ) -> Release:
        """Write the release and its manifest, both whole or neither.

        Parameters
        ----------
        path
            A ``.csv``, ``.tsv`` or ``.parquet`` file; on Spark a folder of such a name, with a
            file per partition.
        manifest
            The manifest's file; beside the release as ``release.toml`` when not given. A
            folder takes one release then: the manifest of another is not written over (on Spark
            it is).

        Returns
        -------
        Release
            The same release, its manifest with the hash of the file.

        Raises
        ------
        InputError
            If a file cannot be written, or the manifest would take the place of another file's.
        """
        check_path(path)
        if manifest is not None:
            check_path(manifest, "manifest")
        elif isinstance(self.content, ReleasedTable):
            check_output_path(path)
            check_beside(path, self.manifest.to_toml())
        with all_or_none():
            digest = self.content.write(path)
            written = replace(self, manifest=replace(self.manifest, output_sha256=digest))
            if manifest is None:
                self.content.write_beside(path, MANIFEST_FILE, written.manifest.to_toml())
            else:
                written.manifest.write(manifest)
        return written

    def to_json(self) -> dict[str, Any]:
        """Plain values: the released file's measures, ``before``, ``utility``, ``manifest``.

        With a population ``marketer`` is the risk against it.
        """
        against = {} if self.population is None else self.population.marketer.to_json()
        return {
            **self.risk.to_json(),
            **({"marketer": against} if against else {}),
            "tree": asdict(self.tree),
            **({} if self.levels is None else {"levels": self.levels.to_json()}),
            **({} if self.population is None else {"population": self.population.to_json()}),
            "before": self.risk_before.to_json(),
            "utility": self.utility.to_json(),
            "constraints": [
                {
                    "name": each.name,
                    "promised": self.manifest.promised(each),
                    **each.parameters(),
                }
                for each in self.constraints
            ],
            "manifest": self.manifest.to_dict(),
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        return f"<h4>Release</h4>{self.risk._repr_html_()}{self.utility._repr_html_()}"

    def __repr__(self) -> str:
        return (
            f"Release({self.risk.records} records, {self.risk.classes} classes, "
            f"max_gidr={float(self.risk.max_gidr):.4g}, ane={self.utility.ane:.4g})"
        )
