"""How a file is measured, and what is known of its population: each option declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sfumato.core.declaration import (
    Count,
    EngineName,
    Layout,
    LayoutGiven,
    Parameter,
    Seed,
    Share,
    Threshold,
    check_fields,
)
from sfumato.core.errors import InputError
from sfumato.risk.population.estimator_protocol import AUTO

if TYPE_CHECKING:
    from sfumato.risk.population.population_size import Given
    from sfumato.risk.risk_thresholds import Preset
    from sfumato.risk.verdict import Limits


@dataclass(frozen=True)
class Measuring:
    """What is measured, beside what always is."""

    threshold: Threshold = 0.2
    ordered_distance: Annotated[
        tuple[str, ...],
        Parameter("Measure t-closeness of these numbers by ordered distance, too.", "COLUMN"),
    ] = ()
    special_uniques: Annotated[
        bool, Parameter("Look for people who stand out by few columns; costs time.")
    ] = False
    msu_size: Annotated[int, Parameter("Most columns of such a combination.", "N", Count(1))] = 3
    recursive_l: Annotated[
        tuple[int, ...],
        Parameter("Measure recursive (c, L)-diversity too, beside L = 2 and 3.", "L", Count(2)),
    ] = ()
    columns: Annotated[
        bool,
        Parameter(
            "Measure what each column beside the quasi-identifiers gives away: of "
            "them, of the person and of sensitive columns; who is found with it and without. With "
            "the extra 'attack' also what all of them tell together, cross-validated."
        ),
    ] = False
    counts: Annotated[
        bool,
        Parameter("The intruder who knows events also knows the number of records."),
    ] = False
    estimator: Annotated[
        str,
        Parameter(
            "How the population is estimated: auto, or accumulation, which reads no weights.",
            "NAME",
        ),
    ] = AUTO
    cluster: Annotated[
        str | None,
        Parameter(
            "Column of the areas, practices or households that were drawn, where people of the "
            "population were not drawn one by one.",
            "COLUMN",
        ),
    ] = None
    clusters: Annotated[
        int | None,
        Parameter(
            "Number of such clusters in the population, where some of their people were drawn; "
            "without it they were taken whole.",
            "N",
            Count(1),
        ),
    ] = None

    __post_init__ = check_fields  # type: ignore[misc] # mypy takes it for a static method


@dataclass(frozen=True)
class Circumstances(Layout):
    """What a file is measured with, and where."""

    population: Annotated[
        Any,
        Parameter(
            "What is known of the population behind the file: its number of people, the share of "
            "them in the file, the column with sampling weights, or a register. A register has "
            "all people with the same quasi-identifiers and exact values. It is a "
            "dataframe, or the path of a file; on Spark, one that Spark reads. With a register "
            "nothing is estimated, and δ-presence is measured."
        ),
    ] = None
    register: Annotated[Any, Parameter("The same as a register for ``population``.")] = None
    presets: Annotated[
        Sequence[Any],
        Parameter(
            "Thresholds that the measures are held against: names of built-in presets, or what "
            "`thresholds` gives."
        ),
    ] = ()
    limits: Annotated[
        Any,
        Parameter(
            "Limits that the file is judged by: the name of a preset, or `Limits`. Without them "
            "what intruders find is not measured."
        ),
    ] = None
    seed: Seed = None
    engine: EngineName = None


class AssessOptions(LayoutGiven, total=False):
    """The keywords of `sfumato.assess`; a test holds them to `Measuring` and `Circumstances`."""

    threshold: float
    ordered_distance: Sequence[str]
    special_uniques: bool
    msu_size: int
    recursive_l: Sequence[int]
    columns: bool
    counts: bool
    estimator: str
    cluster: str | None
    clusters: int | None
    population: Any
    register: Any
    presets: Sequence[str | Preset]
    limits: str | Limits | None
    seed: int | None
    engine: str | None


@dataclass(frozen=True)
class KnownPopulation:
    """What a command line or a project file says of the population; at most one of the four.

    In Python the one parameter ``population`` takes them all.
    """

    population: Annotated[
        int | None,
        Parameter("People of the population that the file is a sample of.", "N", Count(1)),
    ] = None
    fraction: Annotated[
        float | None,
        Parameter("Share of the population who are in the file.", "P", Share(zero=False, one=True)),
    ] = None
    weights: Annotated[
        str | None, Parameter("Column with each record's sampling weight.", "COLUMN")
    ] = None
    register: Annotated[
        str | None,
        Parameter(
            "The population itself, with the same columns: nothing is estimated; with --engine "
            "spark also a folder of files, or a URI that Spark reads.",
            "FILE",
            path=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        named = [name for name, value in vars(self).items() if value is not None]
        # Two sizes may disagree, and nobody has said which one is meant.
        if len(named) > 1:
            raise InputError(
                f"parameter {named[1]}",
                "must be the only one that says what the population is",
                found=f"{named[0]} beside it",
            )
        check_fields(self)

    @property
    def given(self) -> Given | None:
        """The one thing that is known, or nothing."""
        from sfumato.risk.population.population_size import Given, given_fraction, given_size

        if self.population is not None:
            return given_size(self.population)
        if self.fraction is not None:
            return given_fraction(self.fraction)
        if self.weights is None and self.register is None:
            return None
        # A path is not told from a column's name here, as each has an option of its own.
        return Given(weights=self.weights, register=self.register)


@dataclass(frozen=True)
class JudgedBy:
    """The limits that what intruders find is held against."""

    limits: Annotated[
        str,
        Parameter(
            "Limits of what intruders may find: public, contract, room, public-strict or cms. Take "
            "those of public where no controls are stated.",
            "NAME",
        ),
    ] = "public"


@dataclass(frozen=True)
class HeldAgainst:
    """The thresholds that a file is held against, or that a release meets."""

    presets: Annotated[
        tuple[str, ...],
        Parameter(
            "Hold the measures against the thresholds of a preset; 'sfumato presets' lists them.",
            "NAME",
            option="--preset",
        ),
    ] = ()
    thresholds: Annotated[
        Path | None,
        Parameter("Hold them against thresholds of your own too: TOML, as in the docs.", "FILE"),
    ] = None

    @property
    def chosen(self) -> tuple[Preset, ...]:
        """The presets, those of the file among them; none where neither is given."""
        if not self.presets and self.thresholds is None:
            return ()
        from sfumato.risk.risk_thresholds import thresholds
        from sfumato.risk.threshold_checks import check_numbers

        chosen = thresholds(*self.presets, file=self.thresholds)
        check_numbers(chosen)
        return chosen
