"""What was predicted: by the release itself, or measured on the released file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.reading.released_file import ReleasedFile, TextColumn
from sfumato.release.release_result import Release
from sfumato.risk.assessment import assess
from sfumato.risk.disclosure_risk import Risk
from sfumato.schema import Kind, QuasiIdentifier, Schema

CLASS, PERSON, SENSITIVE = "class", "person", "s"
"""Names of the columns of the table of codes that a released file is measured by."""


@dataclass(frozen=True)
class Claims:
    """The measures that attacks are held against.

    Attributes
    ----------
    measures
        By the name of what they are held against; those of a sensitive attribute as
        ``max_gsar:<column>``. For linked data, against a register, the risk of linkage anonymity
        stands in the place of ``marketer``, and 1 / k in that of ``journalist``.
    own
        Whether they come with the release; else they were measured on the released file, with
        its cells as labels.
    against_register
        What they say about somebody who holds a register instead, where that is something else.
    register_persons
        The fewest persons that this register has: those of the population.
    """

    measures: Mapping[str, Measure]
    own: bool
    against_register: Mapping[str, Measure] = field(default_factory=dict)
    register_persons: int = 1

    def for_register(self, persons: int) -> Claims:
        """The claims about somebody who holds a register of so many persons.

        With a smaller one, such as a list of who is in the release, no more is claimed than about
        an acquaintance.

        Parameters
        ----------
        persons
            Persons of the register; none for an acquaintance.
        """
        if persons < self.register_persons:
            return self
        return replace(self, measures={**self.measures, **self.against_register})

    def get(self, name: str, column: str | None = None) -> Measure | None:
        """The measure of this name, or ``None``.

        Parameters
        ----------
        name
            Its name.
        column
            The sensitive attribute that it is about.
        """
        return self.measures.get(name if column is None else f"{name}:{column}")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "made_by": "the release" if self.own else "measured on the released file",
            "measures": {name: each.to_json() for name, each in self.measures.items()},
        }


def claims_of_release(release: Release) -> Claims:
    """What a release says about itself, to somebody who knows who is in it.

    Parameters
    ----------
    release
        The release.
    """
    measures = _measures(release.risk)
    if release.population is None:
        return Claims(measures, own=True)
    against = {"marketer": release.population.marketer}
    return Claims(measures, True, against, release.population.persons)


def claims_of_file(
    file: ReleasedFile,
    *,
    population: int | None = None,
    threshold: float = 0.2,
    seed: int | None = None,
) -> Claims:
    """What `assess` measures on a released file, records with the same cells in one class.

    Parameters
    ----------
    file
        The file as an outsider reads it.
    population
        The number of persons of the population, where it is known: journalist and marketer risk
        are then estimated.
    threshold
        Risk above which a record counts as at risk.
    seed
        Seed of the estimator's draws.

    Raises
    ------
    InputError
        If the population is smaller than the file.
    """
    columns = {CLASS: pa.array(file.class_of)}
    if file.person is not None:
        columns[PERSON] = pa.array(file.person)
    names = {f"{SENSITIVE}{place}": column for place, column in enumerate(file.sensitive)}
    columns |= {name: _codes(column) for name, column in names.items()}
    schema = Schema(
        person=None if file.person is None else PERSON,
        quasi_identifiers={CLASS: QuasiIdentifier(kind=Kind.CATEGORICAL)},
        sensitive=tuple(names),
    )
    if population is not None and population < file.persons:
        raise InputError(
            "parameter population",
            "must be at least the number of persons of the released file",
            accepted=f"from {file.persons:,}",
        )
    risk = assess(pa.table(columns), schema, population=population, threshold=threshold, seed=seed)
    found = _measures(risk, {name: column.name for name, column in names.items()})
    return Claims(found, own=False)


def _codes(column: TextColumn) -> pa.Array:
    return pa.array(column.codes, mask=column.told < 0).cast(pa.string())


def _measures(risk: Risk, names: Mapping[str, str] | None = None) -> dict[str, Measure]:
    """The measures that an attack can exceed, by name."""
    own = ("prosecutor", "journalist", "marketer", "max_gidr", "avg_gidr")
    measures = {name: getattr(risk, name) for name in (*own, "max_count_risk", "avg_count_risk")}
    for column, of_column in risk.sensitive.items():
        shown = column if names is None else names[column]
        for measure in (of_column.max_gsar, of_column.avg_gsar):
            measures[f"{measure.name}:{shown}"] = measure
    return {name: replace(each, where=None) for name, each in measures.items()}
