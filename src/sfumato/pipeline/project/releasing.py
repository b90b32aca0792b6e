"""The sections about numbers and promises: ``[assess]`` and ``[release]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from sfumato.pipeline.project.frozen import Frozen, Names, Share, as_value_errors
from sfumato.release.coarsen_counts import Coarsening
from sfumato.release.constraints import BY_NAME, Budget, Constraint, DeltaPresence
from sfumato.release.options import Cut, Options, Recoding
from sfumato.release.released import Form
from sfumato.release.splits import Split
from sfumato.risk.population.estimation import AUTO, check_estimator
from sfumato.risk.risk_thresholds import thresholds
from sfumato.risk.threshold_checks import check_numbers
from sfumato.table.classification import Unclassified

PROMISES = (
    "g_balance",
    "h_affiliation",
    "k",
    "pid_k",
    "l",
    "marketer",
    "shared_counts",
    "t_closeness",
)
"""Keys of ``[release]`` that ask for one promise each, by the names of the command line."""
MAKING = (
    "cut",
    "split",
    "recoding",
    "values",
    "keep_order",
    "cap_records",
    "coarsen_counts",
    "suppress",
    "threshold",
    "unclassified",
)
"""Keys of ``[release]`` that say how a release is made, by the names of `sfumato.anonymize`."""
Persons = Annotated[int, Field(ge=1)]


class Assess(Frozen):
    """What is measured of the data before anything is changed.

    Attributes
    ----------
    threshold
        Risk above which a record counts as at risk.
    population, fraction, weights, register_file
        What is known of the population that the data is a sample of; at most one of them: its
        persons, the share of them in the data, the column of sampling weights, the file of all.
    estimator
        How the population is estimated.
    presets, thresholds
        What the measures are held against: names of presets, and a file of one's own.
    ordered_distance, special_uniques, msu_size, recursive_l
        As in ``sfumato assess``.
    """

    threshold: Share = 0.2
    population: Persons | None = None
    fraction: Share | None = None
    weights: str | None = None
    register_file: Annotated[Path | None, Field(alias="register")] = None
    estimator: str = AUTO
    presets: Names = ()
    thresholds: Path | None = None
    ordered_distance: Names = ()
    special_uniques: bool = False
    msu_size: Annotated[int, Field(ge=1)] = 3
    recursive_l: tuple[Annotated[int, Field(ge=2)], ...] = ()

    @model_validator(mode="after")
    def _one_population(self) -> Assess:
        known = {
            "population": self.population,
            "fraction": self.fraction,
            "weights": self.weights,
            "register": self.register_file,
        }
        named = [name for name, value in known.items() if value is not None]
        if len(named) > 1:
            raise ValueError(f"'{named[0]}' or '{named[1]}' can be given, not both")
        with as_value_errors("estimator"):
            check_estimator(self.estimator)
        _check_presets(self.presets)
        return self


class Release(Frozen):
    """What every class of the release keeps, and how the release is made.

    Attributes
    ----------
    g_balance, h_affiliation, k, pid_k, l, marketer, shared_counts, t_closeness, distance
        The promises, as in ``sfumato anonymize``; at least one, or presets.
    presence_low, presence_high
        How surely somebody of the register may be in the release.
    presets, thresholds
        Thresholds that the release meets too: names of presets, and a file of one's own.
    cut, split, recoding, values, keep_order, cap_records, coarsen_counts, suppress, threshold
        As in ``sfumato anonymize``.
    unclassified
        What becomes of columns that the schema does not name, as in ``sfumato anonymize``.
    register_file, population
        The population: all its persons as a file, or their number.
    pseudonym_key
        File of a key for pseudonyms that are the same in every release.
    """

    g_balance: float | None = None
    h_affiliation: float | None = None
    k: int | None = None
    pid_k: int | None = None
    l: int | None = None  # noqa: E741
    marketer: float | None = None
    shared_counts: int | None = None
    t_closeness: float | None = None
    distance: str = "equal"
    presence_low: float | None = None
    presence_high: float | None = None
    presets: Names = ()
    thresholds: Path | None = None
    cut: Cut | None = None
    split: Split = Split.BALANCE
    recoding: Recoding = Recoding.LOCAL
    values: Form = Form.RANGE
    keep_order: bool = False
    cap_records: int | None = None
    coarsen_counts: Coarsening | None = None
    suppress: float = 0.0
    threshold: float = 0.2
    unclassified: Unclassified = Unclassified.REFUSE
    register_file: Annotated[Path | None, Field(alias="register")] = None
    population: Persons | None = None
    pseudonym_key: Path | None = None

    @model_validator(mode="after")
    def _can_be_made(self) -> Release:
        for name in PROMISES:
            with as_value_errors(name):
                self._promise(name)
        if self.distance != "equal" and self.t_closeness is None:
            raise ValueError("'distance' is for 't_closeness'")
        with as_value_errors("presence_low, presence_high"):
            self._presence()
        with as_value_errors(""):
            Options(**self.making)
        _check_presets(self.presets)
        return self

    @property
    def promises(self) -> tuple[Constraint | Budget, ...]:
        """The promises that are named one by one; those of presets are not among them."""
        named = [self._promise(name) for name in PROMISES]
        return (*(each for each in named if each is not None), *self._presence())

    @property
    def making(self) -> dict[str, Any]:
        """How the release is made, by the parameters of `sfumato.anonymize`."""
        return {name: getattr(self, name) for name in MAKING}

    def _promise(self, name: str) -> Constraint | Budget | None:
        value = getattr(self, name)
        if value is None:
            return None
        beside = {"distance": self.distance} if name == "t_closeness" else {}
        made: Constraint | Budget = BY_NAME[name](value, **beside)
        return made

    def _presence(self) -> tuple[Constraint | Budget, ...]:
        low, high = self.presence_low, self.presence_high
        if low is None and high is None:
            return ()
        return (DeltaPresence(0.0 if low is None else low, 1.0 if high is None else high),)


def _check_presets(names: tuple[str, ...]) -> None:
    if names:
        with as_value_errors("presets"):
            check_numbers(thresholds(*names))
